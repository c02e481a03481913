"""Figures by a survey's weights, for a terminal."""

import textwrap
from typing import TYPE_CHECKING

from microveil.measures.layout import INDENT, TEXT_WIDTH, label, shown
from microveil.measures.weighted import WEIGHTED
from microveil.text import aligned

if TYPE_CHECKING:
    from microveil.measures.assessment import Assessment
    from microveil.measures.moments import MomentComparison
    from microveil.utility.weighted import WeightedComparison, WeightedShares

__all__ = ["weighted_lines"]

# More categories than a person reads are in the JSON alone.
MOST_CATEGORIES = 20
MISSING = "missing"


def weighted_lines(assessment: "Assessment") -> list[str]:
    """Write means, variances and shares by weights beside those of the records."""
    weights = assessment.weights
    if weights is None:
        return []
    if not weights.are_usable:
        title = f"{WEIGHTED.title}: none ({weights.reason})"
        return textwrap.wrap(title, TEXT_WIDTH, subsequent_indent=INDENT)
    if weights.protected is None:
        whose = f"the release cannot be weighted: {weights.reason}"
    elif weights.are_its_own:
        whose = "the release by its own column of that name"
    else:
        whose = "the release, which has no such column, by the original's, record by record"
    title = f"{WEIGHTED.title}, by {label(weights.column, 24)} ({whose})"
    lines = textwrap.wrap(title, TEXT_WIDTH, subsequent_indent=INDENT)
    found: WeightedComparison | None = assessment.result("weighted_mean")
    if found is not None and assessment.moments is not None:
        lines += _moment_lines(assessment.attributes, assessment.moments, found)
    shares: dict[str, WeightedShares] = assessment.result("weighted_total_variation") or {}
    for name, one in shares.items():
        lines += ["", *_share_lines(name, one)]
    return lines


def _moment_lines(
    names: tuple[str, ...], records: "MomentComparison", found: "WeightedComparison"
) -> list[str]:
    """Write a table of means and one of variances: of the records, then by weights."""
    before, after = found.original, found.protected
    lines = []
    for moment in ("mean", "variance"):
        errors = ("total moved",) if moment == "mean" else ()
        rows = [("attribute", f"{moment} before", "after", "weighted", "after", *errors)]
        for place, name in enumerate(names):
            sides = (records.original, records.protected, before, after)
            figures = (
                None if side is None else float(getattr(side, f"{moment}s")[place])
                for side in sides
            )
            moved = (_percent(float(found.total_errors[place])),) if errors else ()
            rows.append((label(name, 21), *(shown(figure) for figure in figures), *moved))
        lines += [*aligned(rows, widths=(22, 16, 11, 11, 11, 13), indent=INDENT), ""]
    return lines[:-1]


def _share_lines(name: str, found: "WeightedShares") -> list[str]:
    """Write the shares of an attribute's categories: of the records, then by weights."""
    rows: list[tuple[str, ...]] = [
        ("category", "% before", "after", "weighted", "after"),
    ]
    sides = (found.original, found.protected, found.weighted_original, found.weighted_protected)
    for place, category in enumerate(found.categories[:MOST_CATEGORIES]):
        figures = (None if side is None else 100 * float(side[place]) for side in sides)
        rows.append((label(category or MISSING, 21), *(shown(one, 4) for one in figures)))
    title = (
        f"  Shares of {label(name, 24)}: total variation {shown(found.total_variation, 3)}, "
        f"weighted {shown(found.weighted_total_variation, 3)}"
    )
    lines = textwrap.wrap(title, TEXT_WIDTH, subsequent_indent=INDENT)
    lines += aligned(rows, widths=(22, 16, 11, 11, 11), indent=INDENT)
    if len(found.categories) > MOST_CATEGORIES:
        lines.append(
            f"  (the first {MOST_CATEGORIES} of {len(found.categories)} categories; all of them "
            "are in to_dict(), --json)"
        )
    return lines


def _percent(error: float) -> str:
    """Write a relative error in percent, with its sign.

    >>> _percent(-0.0123), _percent(float("nan"))
    ('-1.23 %', '-')
    """
    return "-" if shown(error) == "-" else f"{100 * error:+.3g} %"
