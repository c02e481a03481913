"""The page on a comparison: the map and what does best, then every configuration."""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from microveil.compare import Comparison
from microveil.compare.answer import MODELS, method_words, unlinked, why_no_loss, with_spread
from microveil.compare.columns import (
    GROUPS,
    RISK,
    Measures,
    conditions_in_common,
    own_conditions,
    risks_of,
)
from microveil.errors import stands_alone
from microveil.measures.registry import MEASURES
from microveil.report.comparison_map import comparison_chart
from microveil.report.drawing import own_file
from microveil.report.shell import page
from microveil.report.wording import percent, rounded_up
from microveil.text.document import Block, Code, Fold, Given, fold, items, tabulated
from microveil.text.figures import NOTHING

WARNING = (
    "For the custodian only. All figures on this page depend on the data: do not publish it, and "
    "keep it as the original is kept. Choosing by them is a use of the data."
)
SCOPES = {
    "row": "Epsilon bounds what one person can change in everything that is protected, also in "
    "which rows go together.",
    "vector": "Epsilon bounds what one person can change in all centroids of all attributes (in "
    "all values, where there are no clusters), the clusters formed anew. Which values go together "
    "in a row is not covered, nor who shares a cluster with whom: a model named there, DP or iDP, "
    "is that of the centroids.",
    "cluster": "Epsilon bounds what one person can change in one centroid while everybody stays "
    "in their cluster. When the clusters are formed anew more is lost: the exact loss at vector "
    "scope stands in the table, and a model named there is that of one centroid: no release is "
    "differential privacy with this epsilon.",
    "none": "Nothing is bounded by an epsilon. k-anonymity, where it is the model, bounds no "
    "probability.",
}
NO_RISK = "Record linkage was not measured, so there is no risk to hold loss against."
NO_POINT = "No configuration has both a finite loss and records that could be linked."

Row = Mapping[str, Any]


@stands_alone
def comparison_report(comparison: Comparison) -> str:
    """Write the page that shows a custodian what a comparison of methods has found."""
    risks = Measures.of(comparison.description).risks
    risk = RISK if RISK in risks or not risks else risks[0]
    chart = comparison_chart(comparison, risk, in_page=True) if risks else None
    why = why_no_loss(comparison.summary)
    no_map = NO_RISK if not risks else f"No configuration has a loss: {why}." if why else NO_POINT
    heads, rows = _table(comparison)
    methods = list(dict.fromkeys(method for method, *_ in rows))
    present = {scope for _, scope, *_ in rows}
    scopes = {scope: words for scope, words in GROUPS.items() if scope in present}
    return page(
        "comparison.html",
        interactive=True,
        own=[own_file("follow.js")],
        title="A comparison of methods on one table",
        warning=WARNING,
        map_title=f"Loss against {MEASURES[risk].label}",
        map_words=no_map if chart is None else unlinked(comparison.summary),
        chart=chart,
        answer=comparison.document.blocks,
        scopes=scopes if len(scopes) > 1 else {},
        methods=methods if len(methods) > 1 else [],
        table=(heads, rows),
        folds=[*_folds(comparison)],
    )


def _table(comparison: Comparison) -> tuple[Sequence[str], list[list[str]]]:
    """Tabulate every configuration that was not refused, the strongest guarantee first."""
    rows, order = comparison.summary.to_dicts(), list(GROUPS)
    common = conditions_in_common(rows)
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


def _folds(comparison: Comparison) -> Iterator[Fold]:
    """Yield what a reader may ask for: scopes and conditions, and what was compared."""
    rows = comparison.summary.to_dicts()
    present = {row["scope"] for row in rows}
    scopes = [(words, SCOPES[scope]) for scope, words in GROUPS.items() if scope in present]
    blocks: list[Block] = [tabulated(["scope", "what it means"], scopes)]
    common = conditions_in_common(rows)
    conditional = {
        (method_words(row, common), condition.text)
        for row in rows
        if row["scope"] is not None
        for condition in own_conditions(row, common)
    }
    blocks.append(items(condition.text for condition in common))
    if conditional:
        blocks.append(tabulated(["method", "condition"], sorted(conditional)))
    yield fold("How to read the scopes, and what epsilons are conditional on", blocks)
    yield fold(
        "What was compared", [tabulated(["what", "value"], _compared(comparison.description))]
    )


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
