"""Correlations before and after, what was lost, and what else was measured."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.measures import Assessment
from microveil.measures.base import Measured
from microveil.measures.categories import CATEGORIES
from microveil.measures.closest_records import CLOSEST_RECORDS
from microveil.measures.column_moves import COLUMN_MOVES
from microveil.measures.goodness_of_fit import DISTANCE
from microveil.measures.information_loss import INFORMATION_LOSS
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.measures.mean_errors import ERRORS
from microveil.measures.moments import CORRELATIONS, MOMENTS
from microveil.measures.neighbourhoods import NEIGHBOURHOODS
from microveil.measures.registry import FURTHER, By, Figure
from microveil.measures.relations import RELATIONS
from microveil.measures.weighted import WEIGHTED
from microveil.report.columns import NumberColumn
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section, Subject
from microveil.report.tables import table
from microveil.report.wording import NOTHING, named, number, shown
from microveil.schema import Kind
from microveil.utility.column_moves import HEADS, worst_rows

__all__ = [
    "correlations_section",
    "figures_section",
    "further_section",
    "kept_section",
    "loss_section",
    "moments_table",
]

MOST_CORRELATED = 20
MOST_PAIRS = 12
SHADED_FROM = (0.1, 0.3, 0.5, 0.7)
# What sections of their own show.
SHOWN = (
    INFORMATION_LOSS,
    ERRORS,
    RECORD_LINKAGE,
    CATEGORIES,
    NEIGHBOURHOODS,
    CLOSEST_RECORDS,
    COLUMN_MOVES,
    RELATIONS,
    MOMENTS,
    WEIGHTED,
    CORRELATIONS,
)


def correlations_section(subject: Subject) -> Section:
    """Set the correlations before and after side by side, and list what moved most."""
    assessment = subject.assessment
    identifier, title = subject.identify("correlations"), "Correlations before and after"
    moments = None if assessment is None else assessment.moments
    if assessment is None or moments is None or len(assessment.attributes) < 2:
        body = element("p", "There are no two attributes of numbers to correlate.")
        return Section(identifier=identifier, title=title, body=body)
    changes = assessment.of(CORRELATIONS)
    changed = ", ".join(f"{one.measure.head} {number(one.value, 3)}" for one in changes)
    intro = (
        f"Pearson's correlations: {changed} ({changes[0].measure.explanation}). "
        "Shades begin at 0.1, 0.3, 0.5 and 0.7 in size."
    )
    matrices = (moments.original.correlations, moments.protected.correlations)
    few = len(assessment.attributes) <= MOST_CORRELATED
    return Section(
        identifier=identifier,
        title=title,
        body=fragment(
            element("p", intro),
            _most_changed(subject, assessment.attributes, *matrices),
            (
                _matrix(subject, assessment, side, matrix)
                for side, matrix in zip(("original", "release"), matrices, strict=True)
            )
            if few
            else element("p", f"More than {MOST_CORRELATED} attributes: no matrix is shown."),
        ),
    )


def _most_changed(
    subject: Subject,
    names: Sequence[str],
    before: NDArray[np.float64],
    after: NDArray[np.float64],
) -> Markup:
    rows, columns = np.triu_indices(len(before), k=1)
    changes = np.nan_to_num(np.abs(after - before)[rows, columns], nan=-1.0)
    order = [
        pair for pair in np.argsort(-changes, kind="stable")[:MOST_PAIRS] if changes[pair] >= 0
    ]
    return table(
        f"The {len(order)} pairs whose correlation changed most"
        if len(order) < len(changes)
        else "Correlations by pair, the largest change first",
        ("pair", "original", "release", "change"),
        (
            [
                f"{named(names[rows[pair]])} and {named(names[columns[pair]])}",
                *(_correlation(matrix[rows[pair], columns[pair]]) for matrix in (before, after)),
                _correlation(after[rows[pair], columns[pair]] - before[rows[pair], columns[pair]]),
            ]
            for pair in order
        ),
        identifier=subject.identify("pairs-table"),
    )


def _matrix(
    subject: Subject, assessment: Assessment, side: str, matrix: NDArray[np.float64]
) -> Markup:
    names = [named(name, 18) for name in assessment.attributes]
    return table(
        f"Correlations in the {side}",
        ("attribute", *names),
        (
            [name, *(_shaded(float(value)) for value in row)]
            for name, row in zip(names, matrix, strict=True)
        ),
        identifier=subject.identify(f"correlations-{side}"),
        class_="matrix",
    )


def _shaded(value: float) -> Markup:
    text = _correlation(value)
    shade = sum(abs(round(value, 2)) >= least for least in SHADED_FROM)
    sign = "m" if value < 0 else "p"
    return element("td", text, class_=f"{sign}{shade}" if shade else None)


def _correlation(value: float) -> str:
    """Write two decimals, with a sign that is seen."""
    if math.isnan(value):
        return NOTHING
    return f"{value:.2f}".replace("-0.00", "0.00").replace("-", "\u2212")


def kept_section(subject: Subject) -> Section | None:
    """Tabulate the five worst columns, and say how many relations are kept."""
    assessment = subject.assessment
    rows = [] if assessment is None else worst_rows(assessment.column_moves)
    if assessment is None or not rows:
        return None
    relations = assessment.relations
    return Section(
        identifier=subject.identify("kept"),
        title="What was kept: the worst columns, and relations",
        body=fragment(
            table(
                "The columns that fare worst, original and release: mean, standard deviation "
                "(dates in days), share of the commonest value, distance of the distributions",
                HEADS,
                rows,
                identifier=subject.identify("worst-table"),
            ),
            (element("p", line) for line in (() if relations is None else relations.lines)),
        ),
    )


def loss_section(subject: Subject) -> Section:
    """Tabulate what was lost, over all and by attribute, beside what was to be expected."""
    identifier = subject.identify("loss")
    found = () if subject.assessment is None else subject.assessment.of(INFORMATION_LOSS)
    if subject.assessment is None or not found:
        why = (
            "No attribute of numbers was protected."
            if subject.assessment is None or not subject.assessment.attributes
            else "The release is in random order, or of records that are nobody's; these measures "
            "need the order of the original."
        )
        body = element("p", why)
    else:
        body = fragment(
            _figures_table("Over all attributes", found, subject.identify("loss-table")),
            _errors_table(subject, subject.assessment),
        )
    return Section(identifier=identifier, title=INFORMATION_LOSS.title, body=body)


def _figures_table(caption: str, found: Sequence[Measured], identifier: str) -> Markup:
    """Tabulate figures of the whole table, each with what it means and what it is held against."""
    held = [None if one.figure is None else one.figure.beside for one in found]
    is_held = any(beside is not None for beside in held)
    rows = [
        (
            one.measure.label,
            _with_interval(one.figure),
            *((number(beside, 4),) if is_held else ()),
            one.measure.meaning,
        )
        for one, beside in zip(found, held, strict=True)
    ]
    return table(
        caption,
        ("measure", "value", *(("held against",) if is_held else ()), "what it means"),
        rows,
        identifier=identifier,
        words=True,
    )


def _with_interval(figure: Figure | None) -> str:
    if figure is None:
        return NOTHING
    ends = figure.interval
    spread = "" if ends is None else f" ({number(ends[0], 4)} to {number(ends[1], 4)})"
    return f"{number(figure.value, 4)}{spread}"


def _errors_table(subject: Subject, assessment: Assessment) -> Markup | None:
    found = assessment.of(ERRORS)
    expected = subject.manifest.get("expected_error") or {}
    squared = assessment.measured["mse"].figures
    variances = assessment.measured["variance"].figures
    rows = []
    for name in assessment.attributes:
        variance = variances[name].beside
        relative = squared[name].value / variance if variance else None
        foreseen = (expected.get(name) or {}).get("over_variance")
        rows.append(
            [
                name,
                *(number(one.figures[name].value, 4) for one in found),
                number(relative, 3),
                number(foreseen, 3),
            ]
        )
    return table(
        "Errors of single values, in the units of the data (dates in days), and the mean squared "
        "error over the variance of the original: 1 is as good as publishing the mean",
        ("attribute", *(one.measure.label for one in found), "over variance", "as expected"),
        rows,
        identifier=subject.identify("errors-table"),
    )


def further_section(subject: Subject) -> Section | None:
    """Tabulate what was measured and no other section shows; None where there is nothing."""
    if subject.assessment is None:
        return None
    found = [one for one in subject.assessment.measured.values() if one.measure.tabulated]
    return figures_section(
        [one for one in found if one.measure.group not in SHOWN], subject.identify("further")
    )


def figures_section(found: Sequence[Measured], identifier: str) -> Section | None:
    """Tabulate some measures, a table to each group; None where there are none."""
    groups = dict.fromkeys(one.measure.group for one in found)
    tables = []
    for place, group in enumerate(groups):
        own = [one for one in found if one.measure.group == group]
        whole = [one for one in own if one.measure.by is By.TABLE]
        if whole:
            tables.append(_figures_table(group.title, whole, f"{identifier}-{place}-table"))
        tables += [
            _keyed_table(one, f"{identifier}-{one.measure.id}-table")
            for one in own
            if one.measure.by is not By.TABLE
        ]
    if not tables:
        return None
    return Section(identifier=identifier, title=FURTHER.title, body=fragment(tables))


def _keyed_table(found: Measured, identifier: str) -> Markup:
    """Tabulate a figure of every attribute or class."""
    return table(
        f"{found.measure.title} ({found.measure.meaning})",
        (str(found.measure.by), found.measure.head),
        ([name, _with_interval(figure)] for name, figure in found.figures.items()),
        identifier=identifier,
    )


def moments_table(subject: Subject) -> Markup | None:
    """Tabulate means, standard deviations and distances of the distribution functions."""
    if subject.assessment is None or not subject.assessment.attributes:
        return None
    moments, distances = subject.measured["moments"], subject.measured[DISTANCE.id]
    kinds = {column.name: column for column in subject.columns}
    rows = []
    for name in subject.assessment.attributes:
        column = kinds.get(name)
        dates = isinstance(column, NumberColumn) and column.kind is Kind.DATE
        mean, variance = moments[name]["mean"], moments[name]["variance"]
        rows.append(
            [
                name,
                *(
                    shown(mean[side], Kind.DATE) if dates else number(mean[side], 5)
                    for side in ("original", "protected")
                ),
                *(
                    number(None if variance[side] is None else variance[side] ** 0.5, 5)
                    for side in ("original", "protected")
                ),
                number(distances[name], 3),
            ]
        )
    return table(
        f"Means, standard deviations (of dates in days), and the {DISTANCE.label} "
        f"(Kolmogorov-Smirnov: {DISTANCE.explanation})",
        (
            "attribute",
            "mean, original",
            "mean, release",
            "standard deviation, original",
            "standard deviation, release",
            "distance",
        ),
        rows,
        identifier=subject.identify("moments-table"),
    )
