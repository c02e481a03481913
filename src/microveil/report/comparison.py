"""The page on a comparison: its risk-utility map and what does best, then every configuration."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from microveil.compare import Comparison
from microveil.compare.answer import MODELS, method_words, unlinked, why_no_loss, with_spread
from microveil.compare.columns import (
    GROUPS,
    RISK,
    Measures,
    conditions_in_common,
    loss_of,
    own_conditions,
    risk_of,
    risks_of,
)
from microveil.compare.results import ENDS
from microveil.errors import stands_alone
from microveil.files.disk import written_text
from microveil.guarantee import Condition
from microveil.measures.registry import MEASURES
from microveil.report.charts import chart_of
from microveil.report.drawing import SERIES, file_of, own_file
from microveil.report.shell import page
from microveil.report.wording import percent, rounded_up
from microveil.text.document import Chart, Code, Given, tabulated
from microveil.text.figures import NOTHING

# Beyond this ratio of the largest to the least the axis of losses is logarithmic.
WIDE = 20.0

Row = Mapping[str, Any]
Point = dict[str, Any]


@stands_alone
def comparison_report(comparison: Comparison) -> str:
    """Write the page that shows a custodian what a comparison of methods has found."""
    risk = risk_of(comparison.summary.columns)
    chart = None if risk is None else comparison_chart(comparison, risk, in_page=True)
    summary = comparison.summary.to_dicts()
    common = conditions_in_common(summary)
    heads, rows = _table(comparison, summary, common)
    methods = list(dict.fromkeys(method for method, *_ in rows))
    present = {scope for _, scope, *_ in rows}
    conditional = {
        (method_words(row, common), condition.text)
        for row in summary
        if row["scope"] is not None
        for condition in own_conditions(row, common)
    }
    scopes = {scope: words for scope, words in GROUPS.items() if scope in present}
    return page(
        "comparison.html",
        interactive=True,
        own=[own_file("follow.js")],
        title="A comparison of methods on one table",
        map_title=f"Loss against {MEASURES[risk or RISK].label}",
        has_risks=risk is not None,
        why=why_no_loss(comparison.summary),
        unlinked=unlinked(comparison.summary),
        chart=chart,
        answer=comparison.document.blocks,
        methods=methods if len(methods) > 1 else [],
        table=(heads, rows),
        present=scopes,
        common=[condition.text for condition in common],
        conditional=sorted(conditional),
        compared=tabulated(["what", "value"], _compared(comparison.description)),
    )


def _table(
    comparison: Comparison, rows: Sequence[Row], common: Sequence[Condition]
) -> tuple[Sequence[str], list[list[str]]]:
    """Tabulate every configuration that was not refused, the strongest guarantee first."""
    order = list(GROUPS)
    columns = [
        column
        for column in Measures.of(comparison.description).all
        if column.measure.use.tabulated and comparison.summary[column.name].count()
    ]
    kept: dict[int, list[str]] = {}
    for configuration, risk in comparison.frontier.select("configuration", "risk").iter_rows():
        kept.setdefault(configuration, []).append(MEASURES[risk].head)
    n_risks = len(risks_of(comparison.summary.columns))
    heads = ["method", "scope", "epsilon", "model", "k", *(column.title for column in columns)]
    has_exact = any(row["exact_cells"] for row in rows)
    heads += ["exact cells, %"] if has_exact else []
    heads += ["loss at vector scope", *(["Pareto-optimal"] if n_risks else [])]

    def has_bound(row: Row) -> bool:
        return row["vector_loss"] is not None and math.isfinite(row["vector_loss"])

    def cells(row: Row) -> list[str]:
        optimal = kept.get(row["configuration"], [])
        return [
            method_words(row, common),
            row["scope"],
            NOTHING if row["epsilon"] is None else f"{row['epsilon']:g}",
            MODELS[row["model"]],
            NOTHING if row["k"] is None else str(row["k"]),
            *(with_spread(row, column.name) for column in columns),
            *([percent(row["exact_cells"] / max(row["n_cells"], 1))] if has_exact else []),
            rounded_up(row["vector_loss"]) if has_bound(row) else "no bound",
            *(["all" if len(optimal) == n_risks else ", ".join(optimal)] if n_risks else []),
        ]

    ready = [row for row in rows if row["scope"] is not None]
    ready.sort(key=lambda row: (order.index(row["scope"]), row["epsilon"] or 0.0))
    return heads, [cells(row) for row in ready]


def _compared(description: Row) -> Iterator[tuple[str, Given]]:
    """Yield what was asked for, entry by entry: the same request gives the same figures."""
    read = description.get("read_from_data", {})
    for name, value in description.items():
        if name == "read_from_data":
            continue
        inside = value.items() if isinstance(value, Mapping) else [("", value)]
        for key, own in inside:
            words = f"{name} {key}".strip().replace("_", " ")
            if key in read:
                words += f", read from the data for {', '.join(read[key])}"
            shown = ", ".join(map(str, own)) if isinstance(own, list) else own
            text = shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False)
            yield words, Code(text) if text else NOTHING


def comparison_chart(
    comparison: Comparison, risk: str = RISK, *, in_page: bool = False
) -> Chart | None:
    """Chart all configurations that have a loss and a risk; a page has controls of its own."""
    loss, points = loss_of(comparison.summary), _points(comparison, risk)
    if not points:
        return None
    present = {point["scope"] for point in points}
    methods = list(dict.fromkeys(point["method"] for point in points))
    colours, dashes = (
        [_look(w, at) for at in range(len(methods))] for w in ("color", "strokeDash")
    )
    least, most = (end(point["loss"] for point in points) for end in (min, max))
    # Losses that are far apart are seen by their logarithms.
    bent = "linear" if most <= WIDE * least else "log" if least > 0 else "sqrt"
    ends = {"domain": [least, most], "nice": False, "padding": 10} if most > least else {}
    base, summary = MEASURES[risk].use.baseline, comparison.summary
    chance: list[float] = summary[base].drop_nulls().to_list() if base in summary.columns else []
    return chart_of(
        "map",
        _says(points, MEASURES[risk].label, loss.label),
        points=points,
        in_page=in_page,
        loss=loss,
        risk=MEASURES[risk],
        across={"type": bent, **ends},
        groups=GROUPS,
        scopes={scope: words for scope, words in GROUPS.items() if scope in present},
        methods=methods,
        colours=colours,
        dashes=dashes,
        sizes=sorted({point["k"] for point in points if point["k"] is not None}),
        chance=chance[0] if chance else None,
    )


def _points(comparison: Comparison, risk: str) -> list[Point]:
    """Return a point for every configuration that has a finite loss and a risk."""
    loss, rows = loss_of(comparison.summary).id, comparison.summary.to_dicts()
    frontier = comparison.frontier
    kept = set(frontier.filter(frontier["risk"] == risk)["configuration"])
    common = conditions_in_common(rows)
    points = []
    for own in rows:
        # Where rows follow nobody, nobody is found again, by what linkage is.
        row = own | dict.fromkeys((risk + end for end in ENDS if own["is_synthetic"]), 0.0)
        if row.get(loss) is None or row.get(risk) is None or not math.isfinite(row[loss]):
            continue
        ends = {
            f"{name}{end}": row[measure + end]
            for name, measure in (("loss", loss), ("risk", risk))
            for end in ENDS
        }
        points.append(
            {
                **{name: row[name] for name in ("scope", "k", "epsilon")},
                **ends,
                "method": method_words(row, common),
                "model": MODELS[row["model"]],
                "optimal": row["configuration"] in kept,
                "lost": with_spread(row, loss),
                "found": with_spread(row, risk),
            }
        )
    return points


def _look(what: str, place: int) -> Any:
    """Return a method's own look: dashes come again later than colours do."""
    looks = SERIES[what]
    n_colours = len(SERIES["color"])
    return looks[(place + (place // n_colours if what != "color" else 0)) % len(looks)]


def _says(points: Sequence[Point], risk: str, loss: str) -> str:
    """Say where each method lies, to whoever does not see it."""
    methods: dict[str, list[Point]] = {}
    for point in points:
        methods.setdefault(point["method"], []).append(point)
    told = []
    for method, own in methods.items():
        ends = [f"{end(p[n] for p in own):.3g}" for n in ("loss", "risk") for end in (min, max)]
        told.append(f"{method}: {loss} {' to '.join(ends[:2])}, {risk} {' to '.join(ends[2:])}")
    return f"Map of {risk} against {loss}. {'; '.join(told)}."


def draw_map(comparison: Comparison, path: Path) -> Path | None:
    """Draw the map as an SVG that only its owner can read; None where there is none to draw."""
    chart = comparison_chart(comparison)
    if chart is None:
        return None
    written_text(path, file_of(chart))
    return path
