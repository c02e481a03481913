"""The risk-utility map of a comparison: what methods lose against what could still be found."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from microveil.compare import Comparison
from microveil.compare.answer import MODELS, method_words, with_spread
from microveil.compare.columns import GROUPS, RISK, conditions_in_common, loss_of
from microveil.compare.results import ENDS
from microveil.files.disk import written_text
from microveil.measures.registry import MEASURES
from microveil.report.charts import layer, names, numbers, tip
from microveil.report.drawing import SERIES, file_of, var
from microveil.text.document import Chart

WIDTH, HEIGHT = 460, 360
# Beyond this ratio of the largest to the least the axis of losses is logarithmic.
WIDE = 20.0
SHAPES = ["circle", "square", "triangle-up", "diamond"]
ALL = "all"
CHOSEN = "!methods.length || indexof(methods, datum.method) >= 0"
BELOW = {"orient": "bottom", "title": None, "symbolFillColor": var("text")}
SHARES = [0, 1, 5, 10, 20, 40, 60, 80, 100]
AXIS = {"format": ".3~r", "labelOverlap": True, "tickCount": 6}

Point = dict[str, Any]


def comparison_chart(
    comparison: Comparison, risk: str = RISK, *, in_page: bool = False
) -> Chart | None:
    """Chart all configurations that have a loss and a risk; a page has controls of its own."""
    loss, points = loss_of(comparison.summary), _points(comparison, risk)
    if not points:
        return None
    least, most = (end(point["loss"] for point in points) for end in (min, max))
    bent = "linear" if most <= WIDE * least else "log" if least > 0 else "sqrt"
    ends = {"domain": [least, most], "nice": False, "padding": 10} if most > least else {}
    across = numbers("loss", title=loss.title, scale={"type": bent, **ends}, axis=AXIS)
    is_share = MEASURES[risk].unit == "%"
    upward = numbers(
        "risk",
        title=MEASURES[risk].title,
        scale={"type": "sqrt", "domainMin": 0},
        axis=AXIS | ({"values": SHARES} if is_share else {}),
    )
    methods = list(dict.fromkeys(point["method"] for point in points))
    scopes = [scope for scope in GROUPS if any(point["scope"] == scope for point in points)]
    colour, dashes = (
        names(
            "method",
            scale={"domain": methods, "range": [_look(what, at) for at in range(len(methods))]},
            legend={"columns": 3, "symbolType": "circle"},
        )
        for what in ("color", "strokeDash")
    )
    legend = BELOW | {"values": scopes} if len(scopes) > 1 else None
    by_method = {"name": "methods", "select": {"type": "point", "fields": ["method"]}}
    if_chosen = {"test": CHOSEN} if in_page else {"param": "methods"}
    line = {
        "stroke": colour,
        "strokeDash": dashes,
        "detail": [{"field": "k"}, {"field": "scope"}],
        "order": {"field": "epsilon"},
        "opacity": _opacity(if_chosen, 0.7, 0.08),
    }
    mark = {
        "stroke": colour,
        "fill": colour,
        "fillOpacity": {"condition": {"test": "datum.optimal", "value": 0.9}, "value": 0},
        "opacity": _opacity(if_chosen, 1, 0.08),
        "shape": names("scope", scale={"domain": list(GROUPS), "range": SHAPES}, legend=legend),
        "size": _size(points),
        "tooltip": [
            *map(tip, ("method", "k", "epsilon", "scope", "model")),
            tip("lost", loss.label),
            tip("found", MEASURES[risk].label),
            tip("optimal", "Pareto-optimal"),
        ],
    }
    spec: dict[str, Any] = {
        "width": WIDTH,
        "height": HEIGHT,
        "data": {"values": points},
        "params": [
            _by_scope(scopes if len(scopes) > 1 and not in_page else []),
            *([{"name": "methods", "value": []}] if in_page else []),
        ],
        "transform": [{"filter": f"scope == '{ALL}' || datum.scope == scope"}],
        "encoding": {"x": across, "y": upward},
        "layer": [
            layer("line", line, strokeWidth=1.5)
            | {"params": [] if in_page else [by_method | {"bind": "legend"}]},
            *_intervals(colour, _opacity(if_chosen, 0.3, 0.03)),
            layer("point", mark, strokeWidth=1.5, invalid=None),
            *_chance(comparison, risk),
        ],
    }
    return Chart(spec, _says(points, MEASURES[risk].label, loss.label))


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


def _by_scope(scopes: Sequence[str]) -> dict[str, Any]:
    chosen = {"name": "scope", "value": ALL}
    if not scopes:
        return chosen
    labels = [ALL, *(GROUPS[scope] for scope in scopes)]
    bound = {"input": "radio", "options": [ALL, *scopes], "labels": labels, "name": " "}
    return chosen | {"bind": bound}


def _opacity(if_chosen: Mapping[str, str], chosen: float, other: float) -> dict[str, Any]:
    return {"condition": {**if_chosen, "value": chosen}, "value": other}


def _intervals(colour: Mapping[str, Any], opacity: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Draw the 95 % intervals of the means, faintly."""
    looks = {"stroke": colour, "opacity": opacity}
    return [
        layer(
            "rule",
            {axis: numbers(f"{name}_low"), f"{axis}2": {"field": f"{name}_high"}} | looks,
            clip=True,
        )
        for axis, name in (("x", "loss"), ("y", "risk"))
    ]


def _size(points: Sequence[Point]) -> dict[str, Any]:
    """Let a mark be as large as k; what has none is small."""
    sizes = sorted({point["k"] for point in points if point["k"] is not None})
    if len(sizes) < 2:
        return {"value": 80}
    shown = list(dict.fromkeys([sizes[0], sizes[len(sizes) // 2], sizes[-1]]))
    return {
        "condition": {"test": "datum.k === null", "value": 60},
        **numbers("k", scale={"type": "sqrt", "domain": [sizes[0], sizes[-1]], "range": [40, 240]}),
        "legend": BELOW | {"title": "k", "values": shown, "symbolType": "circle"},
    }


def _chance(comparison: Comparison, risk: str) -> list[dict[str, Any]]:
    """Draw what blind guessing links, where that is known."""
    base = MEASURES[risk].use.baseline
    if base not in comparison.summary.columns or not comparison.summary[base].count():
        return []
    known = comparison.summary[base].drop_nulls()
    at = {"y": {"datum": known[0], "type": "quantitative"}, "x": {"value": WIDTH}}
    across = at | {"x": {"value": 0}, "x2": {"value": "width"}}
    words = {"text": "by chance", "align": "right", "dy": -5, "fill": var("quiet")}
    drawn = layer("rule", across, stroke=var("rule"), strokeDash=[3, 3]), layer("text", at, **words)
    return [{"data": {"values": [{}]}, **own} for own in drawn]


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
