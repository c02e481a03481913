"""Correlations before and after, and what was lost."""

import math

import numpy as np
from numpy.typing import NDArray

from microveil.evaluation import LOSS_LABELS, Assessment
from microveil.report.columns import NumberColumn
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section, Subject
from microveil.report.tables import table
from microveil.report.wording import NOTHING, named, number, shown
from microveil.schema import Kind

__all__ = ["correlations_section", "loss_section", "moments_table"]

MOST_CORRELATED = 20
MOST_PAIRS = 12
SHADED_FROM = (0.1, 0.3, 0.5, 0.7)


def correlations_section(subject: Subject) -> Section:
    """Set the correlations before and after side by side, and list what moved most."""
    assessment = subject.assessment
    identifier, title = subject.identify("correlations"), "Correlations before and after"
    if assessment is None or len(assessment.attributes) < 2:
        body = element("p", "There are no two attributes of numbers to correlate.")
        return Section(identifier=identifier, title=title, body=body)
    moments = assessment.moments
    intro = (
        "Pearson's correlations. Those of the release are off by "
        f"{number(moments.mean_absolute_change, 3)} on average and by "
        f"{number(moments.largest_absolute_change, 3)} at most (0 is unchanged, 2 reversed). "
        "Shades begin at 0.1, 0.3, 0.5 and 0.7 in size."
    )
    matrices = (moments.original.correlations, moments.protected.correlations)
    few = len(assessment.attributes) <= MOST_CORRELATED
    return Section(
        identifier=identifier,
        title=title,
        body=fragment(
            element("p", intro),
            _most_changed(subject, assessment),
            (
                _matrix(subject, assessment, side, matrix)
                for side, matrix in zip(("original", "release"), matrices, strict=True)
            )
            if few
            else element("p", f"More than {MOST_CORRELATED} attributes: no matrix is shown."),
        ),
    )


def _most_changed(subject: Subject, assessment: Assessment) -> Markup:
    before = assessment.moments.original.correlations
    after = assessment.moments.protected.correlations
    rows, columns = np.triu_indices(len(before), k=1)
    changes = np.nan_to_num(np.abs(after - before)[rows, columns], nan=-1.0)
    order = [
        pair for pair in np.argsort(-changes, kind="stable")[:MOST_PAIRS] if changes[pair] >= 0
    ]
    names = assessment.attributes
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


def loss_section(subject: Subject) -> Section:
    """Tabulate what was lost, over all and by attribute, beside what was to be expected."""
    identifier, title = subject.identify("loss"), "Information loss"
    if subject.assessment is None or subject.assessment.paired is None:
        why = (
            "No attribute of numbers was protected."
            if subject.assessment is None
            else "The release is in random order; these measures need the order of the original."
        )
        return Section(identifier=identifier, title=title, body=element("p", why))
    rows = [
        (label, number(subject.measured[name], 4), meaning)
        for name, (label, meaning) in LOSS_LABELS.items()
    ]
    measures = table(
        "Over all attributes",
        ("measure", "value", "what it means"),
        rows,
        identifier=subject.identify("loss-table"),
        words=True,
    )
    return Section(
        identifier=identifier, title=title, body=fragment(measures, _errors_table(subject))
    )


def _errors_table(subject: Subject) -> Markup:
    measured = subject.measured
    expected = subject.manifest.get("expected_error") or {}
    rows = []
    for name, errors in measured["errors"].items():
        variance = measured["moments"][name]["variance"]["original"]
        relative = errors["mse"] / variance if variance and errors["mse"] is not None else None
        foreseen = (expected.get(name) or {}).get("over_variance")
        rows.append(
            [
                name,
                number(errors["bias"], 4),
                number(errors["rmse"], 4),
                number(relative, 3),
                number(foreseen, 3),
            ]
        )
    return table(
        "Errors of single values, in the units of the data (dates in days), and the mean squared "
        "error over the variance of the original: 1 is as good as publishing the mean",
        ("attribute", "mean error", "root mean squared error", "over variance", "as expected"),
        rows,
        identifier=subject.identify("errors-table"),
    )


def moments_table(subject: Subject) -> Markup | None:
    """Tabulate means, standard deviations and distances of the distribution functions."""
    if subject.assessment is None:
        return None
    moments, fits = subject.measured["moments"], subject.measured["goodness_of_fit"]
    kinds = {column.name: column for column in subject.columns}
    rows = []
    for name in subject.assessment.attributes:
        column, fit = kinds.get(name), fits[name]["ks"]
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
                number(None if fit is None else fit["statistic"], 3),
            ]
        )
    return table(
        "Means, standard deviations (of dates in days), and the largest distance of the two "
        "distribution functions (Kolmogorov-Smirnov: 0 is alike, 1 is apart)",
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
