"""The page on a comparison: the answer, the maps, loss against k, and every configuration."""

from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

from microveil.compare import Comparison
from microveil.compare.answer import answer_of, why_no_loss
from microveil.compare.measures import RISK, Measures, loss_of, of_class
from microveil.compare.pareto import unlinked_words
from microveil.compare.rows import conditions_in_common, own_conditions
from microveil.errors import stands_alone
from microveil.guarantee import Condition
from microveil.measures.information_loss import LOSS
from microveil.measures.learning import F_MAJORITY, F_MEASURE, F_ORIGINAL
from microveil.measures.registry import MEASURES, Measure
from microveil.report.axes import Axis, linear_axis
from microveil.report.chart import Spread
from microveil.report.comparison_map import NOBODYS, comparison_panels
from microveil.report.configurations import (
    GROUP_WORDS,
    Group,
    compared_section,
    configurations_section,
    groups_of,
    refused_section,
    spread_of,
)
from microveil.report.documents import written
from microveil.report.markup import element, fragment
from microveil.report.over_k import Curve, Curves, panels_over_k
from microveil.report.page import Part, page
from microveil.report.risk_utility import loss_axis
from microveil.report.sections import Section
from microveil.report.svg import in_rows
from microveil.report.tables import definitions
from microveil.schema import Kind

__all__ = ["comparison_report"]

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
    "scope stands in the tables, and a model named there is that of one centroid: no release is "
    "differential privacy with this epsilon.",
    "none": "Nothing is bounded by an epsilon. k-anonymity, where it is the model, bounds no "
    "probability.",
}
MAP_WORDS = (
    "Loss across, share of the records that an intruder links upward; lower is better on both. "
    "The intruder knows the original values of all protected attributes. Each mark is a "
    "configuration, its mean over the runs; bars are 95 % intervals of the mean. Filled marks are "
    "Pareto-optimal by these means: nothing of the same scope that guarantees at least as much (an "
    "epsilon no larger, a model no weaker, no condition that it has not itself) is better in one "
    "and no worse in the other. Where bars overlap, other runs can give another Pareto frontier; "
    "how many marks are sure stands under What does best. The line shows the least linkage to be "
    "had at each loss within the panel, by means, by whichever model and under whichever "
    "condition. All panels share their axes."
)
LOSS_WORDS = (
    "Means over the runs; bars are 95 % intervals of the mean, and lines only lead the eye from k "
    "to k. A method without k is drawn across. {read} All panels share their axes."
)
MEANS_ALONE = "At 100 % a release is as good as publishing the means alone."


@stands_alone
def comparison_report(comparison: Comparison) -> str:
    """Write the page that shows a custodian what a comparison of methods has found.

    Parameters
    ----------
    comparison : Comparison

    Returns
    -------
    str
        One page of HTML that depends on the original; below a megabyte for a thousand
        configurations.

    Notes
    -----
    Linear in the number of configurations.

    Examples
    --------
    >>> import numpy as np
    >>> from microveil.compare import compare
    >>> ages = {"AGE": np.arange(20, 80)}
    >>> found = compare(ages, methods="mdav,ranking", k=[3, 5], attributes="AGE")
    >>> "What does best" in comparison_report(found)
    True
    """
    groups = groups_of(comparison)
    common = conditions_in_common(comparison.summary.to_dicts())
    methods = tuple(dict.fromkeys(row["named"] for group in groups for row in group.rows))
    sections = (
        _answer_section(comparison),
        compared_section(comparison.description),
        _scopes_section(groups, common),
        _maps_section(comparison),
        _loss_section(groups, methods, loss_of(comparison.summary)),
        *_learning_sections(Measures.of(comparison.description).labels, groups, methods),
        configurations_section(comparison, groups),
        refused_section(comparison),
    )
    return page(
        "A comparison of methods on one table",
        warning=WARNING,
        parts=[Part(sections=tuple(section for section in sections if section is not None))],
        closing=f"Made by microveil {version('microveil')}. This page loads nothing and runs "
        "nothing.",
    )


def _answer_section(comparison: Comparison) -> Section:
    """Say what does best, in the words of the comparison; refusals have a section of their own."""
    answer = answer_of(comparison.summary, comparison.frontier, comparison.description)
    return Section(
        identifier="answer1",
        title="What does best",
        body=written(answer, level=2, prefix="answer"),
        heads_itself=True,
    )


def _scopes_section(groups: Sequence[Group], common: Sequence[Condition]) -> Section:
    present = dict.fromkeys(group.scope for group in groups)
    conditional = {
        row["named"]: " ".join(condition.text for condition in own_conditions(row, common))
        for group in groups
        for row in group.rows
        if own_conditions(row, common)
    }
    return Section(
        identifier="scopes",
        title="How to read the scopes",
        body=fragment(
            element(
                "p",
                "The same epsilon promises less at a weaker scope. Each picture and each table "
                "below holds one scope and one epsilon; an epsilon of one scope is never shown "
                "as if it were one of another.",
            ),
            definitions(
                "The scopes of this comparison, the most demanding first",
                ((GROUP_WORDS[scope], SCOPES[scope]) for scope in GROUP_WORDS if scope in present),
                heads=("scope", "what it means"),
                identifier="scopes-table",
            ),
            (element("p", condition.text) for condition in common),
            definitions(
                "What methods marked † keep of their scope is conditional on this",
                conditional.items(),
                heads=("method", "condition"),
                identifier="conditions-table",
            )
            if conditional
            else None,
        ),
    )


def _maps_section(comparison: Comparison) -> Section:
    """Draw a map for each way of linking: one in view, the others can be folded away."""
    risks = sorted(Measures.of(comparison.description).risks, key=lambda risk: risk != RISK)
    panels = {risk: comparison_panels(comparison, risk) for risk in risks}
    maps = {
        risk: in_rows(own, f"map-{risk.replace('_', '-')}-") for risk, own in panels.items() if own
    }
    if not maps:
        body = element("p", _why_no_map(comparison))
        return Section(identifier="maps", title="Risk-utility maps", body=body)
    first, *others = maps
    rows = [row for group in groups_of(comparison) for row in group.rows]
    nobodys = list(dict.fromkeys(row["named"] for row in rows if row["is_synthetic"]))
    unlinked = unlinked_words(comparison.summary, first)
    return Section(
        identifier="maps",
        title="Risk-utility maps",
        body=fragment(
            element("p", MAP_WORDS),
            element("p", NOBODYS.format(methods=", ".join(nobodys))) if nobodys else None,
            element("p", unlinked) if unlinked else None,
            element("h3", f"Against {MEASURES[first].label}"),
            maps[first],
            (
                element(
                    "details",
                    element("summary", f"The same against {MEASURES[risk].label}"),
                    maps[risk],
                    # What is folded away does not reach paper.
                    open=True,
                    class_="printed",
                )
                for risk in others
            ),
        ),
    )


def _why_no_map(comparison: Comparison) -> str:
    """Say why no configuration can be drawn on a map."""
    if not Measures.of(comparison.description).risks:
        return "Record linkage was not measured, so there is no risk to hold loss against."
    if why := why_no_loss(comparison.summary):
        return f"No configuration has a loss to draw: {why}."
    return "No configuration has both a finite loss and records that could be linked."


def _loss_section(groups: Sequence[Group], methods: Sequence[str], loss: Measure) -> Section:
    level = () if loss.compared is None else (loss.compared.level,)
    curves = _curves(groups, loss.id, lambda _rows: tuple(filter(None, level)))
    name = f"{loss.label[0].upper()}{loss.label[1:]}"
    read = MEANS_ALONE if loss is LOSS else f"{loss.explanation}."

    def scale(spreads: Sequence[Spread], length: float) -> Axis:
        return loss_axis(loss.title, spreads, length, upright=True)

    return Section(
        identifier="loss",
        title=f"{name} against k",
        body=fragment(
            element("p", LOSS_WORDS.format(read=read)),
            in_rows(
                panels_over_k(curves, title=name, scale=scale, methods=methods),
                "loss-",
            ),
        )
        if curves
        else element("p", "No configuration has a loss to draw."),
    )


def _curves(groups: Sequence[Group], measure: str, levels: Any) -> list[Curves]:
    """Lay a measure out: a panel to each guarantee, a curve to each method."""
    found = []
    for group in groups:
        curves: dict[str, list[tuple[int | None, Spread]]] = {}
        for row in sorted(group.rows, key=lambda row: row["k"] or 0):
            spread = spread_of(row, measure)
            if spread is not None:
                curves.setdefault(row["named"], []).append((row["k"], spread))
        if curves:
            drawn = tuple(Curve(method=m, points=tuple(points)) for m, points in curves.items())
            found.append(
                Curves(title=group.title, curves=drawn, levels=levels(group.rows), row=group.scope)
            )
    return found


def _learning_sections(
    labels: Sequence[str], groups: Sequence[Group], methods: Sequence[str]
) -> list[Section]:
    """Draw the F-measure of every class that was learned, against k."""
    sections = []
    for place, label in enumerate(labels):
        name = of_class(F_MEASURE.id, label)
        curves = _curves(groups, name, lambda rows, of=label: _levels(rows, of))
        if curves:
            sections.append(_learning_section(f"learning-{place}", label, curves, methods))
    return sections


def _levels(rows: Sequence[Any], label: str) -> tuple[tuple[str, float], ...]:
    """Return what the F-measure is held against: the original's, and the majority's."""
    levels = []
    for measure, words in ((F_MAJORITY, "majority class"), (F_ORIGINAL, F_ORIGINAL.head)):
        column = of_class(measure.id, label)
        found = next((row[column] for row in rows if row.get(column) is not None), None)
        if found is not None:
            levels.append((words, found))
    return tuple(levels)


def _learning_section(
    identifier: str, label: str, curves: Sequence[Curves], methods: Sequence[str]
) -> Section:
    def scale(spreads: Sequence[Spread], length: float) -> Axis:
        lower = min(spread.lower for spread in spreads)
        upper = max(spread.upper for spread in spreads)
        room = 0.05 * (upper - lower)
        return linear_axis(F_MEASURE.title, lower - room, upper + room, Kind.DECIMAL, length)

    return Section(
        identifier=identifier,
        title=f"{F_MEASURE.label} of class {label} against k",
        body=fragment(
            element(
                "p",
                "How well a classifier that was trained on the release predicts records of the "
                "original; higher is better. The whole line is a classifier trained on the "
                "original, the dashed line one that always says the commonest class. Bars are "
                "95 % intervals over runs.",
            ),
            in_rows(
                panels_over_k(
                    curves,
                    title=f"{F_MEASURE.label} of class {label}",
                    scale=scale,
                    methods=methods,
                ),
                f"{identifier}-",
            ),
        ),
    )
