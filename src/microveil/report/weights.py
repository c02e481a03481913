"""Figures by a survey's weights, where an assessment has them."""

from collections.abc import Iterator

from microveil.measures import Assessment
from microveil.measures.weighted import WEIGHTED
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section, Subject
from microveil.report.tables import table
from microveil.report.wording import NOTHING, named, number, percent
from microveil.utility.weighted import WeightedComparison, WeightedShares

__all__ = ["weighted_section"]

# More categories than a person reads are in the JSON alone.
MOST_CATEGORIES = 20
HEADS = ("original", "release", "original, weighted", "release, weighted")


def weighted_section(subject: Subject) -> Section | None:
    """Set means and shares by weights beside those of the records; None without weights."""
    assessment = subject.assessment
    weights = None if assessment is None else assessment.weights
    if assessment is None or weights is None:
        return None
    if not weights.are_usable:
        whose = f"There are none: {weights.reason}."
    elif weights.protected is None:
        whose = f"The release cannot be weighted: {weights.reason}."
    elif weights.are_its_own:
        whose = "The release is weighted by its own column of that name."
    else:
        whose = (
            "The release has no such column: it is weighted by the original's, record by record."
        )
    return Section(
        identifier=subject.identify("weighted"),
        title=WEIGHTED.title,
        body=fragment(
            element("p", f"Each record counts as often as {named(weights.column)} says. {whose}"),
            _means_table(subject, assessment),
            _shares_tables(subject, assessment),
        ),
    )


def _means_table(subject: Subject, assessment: Assessment) -> Markup | None:
    found: WeightedComparison | None = assessment.result("weighted_mean")
    records = assessment.moments
    if found is None or records is None:
        return None
    sides = (records.original, records.protected, found.original, found.protected)
    return table(
        "Means of the records and by weights (of dates in days), and how far the weighted total "
        "moved, in percent of its size",
        ("attribute", *HEADS, "total moved"),
        (
            [
                name,
                *(NOTHING if of is None else number(float(of.means[place]), 5) for of in sides),
                percent(float(found.total_errors[place])),
            ]
            for place, name in enumerate(assessment.attributes)
        ),
        identifier=subject.identify("weighted-means-table"),
    )


def _shares_tables(subject: Subject, assessment: Assessment) -> Iterator[Markup]:
    found: dict[str, WeightedShares] = assessment.result("weighted_total_variation") or {}
    for place, (name, shares) in enumerate(found.items()):
        sides = (
            shares.original,
            shares.protected,
            shares.weighted_original,
            shares.weighted_protected,
        )
        more = len(shares.categories) - MOST_CATEGORIES
        yield table(
            f"Shares of {named(name)} in percent: total variation "
            f"{number(shares.total_variation, 3)}, weighted "
            f"{number(shares.weighted_total_variation, 3)}"
            + (f" (the first {MOST_CATEGORIES} categories, {more} more)" if more > 0 else ""),
            ("category", *HEADS),
            (
                [
                    category or "missing",
                    *(NOTHING if of is None else percent(float(of[one])) for of in sides),
                ]
                for one, category in enumerate(shares.categories[:MOST_CATEGORIES])
            ),
            identifier=subject.identify(f"weighted-{place}-table"),
        )
