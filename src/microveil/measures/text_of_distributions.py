"""Distributions, and distances to the closest record, for a terminal."""

import textwrap
from typing import TYPE_CHECKING

from microveil.measures.closest_records import CLOSEST, CLOSEST_RECORDS
from microveil.measures.distributions import DISTRIBUTIONS, TOTAL_VARIATION
from microveil.measures.goodness_of_fit import FIT
from microveil.measures.layout import INDENT, TEXT_WIDTH, label, shown
from microveil.measures.registry import By
from microveil.risk.closest_records import ClosestRecords
from microveil.text import aligned

if TYPE_CHECKING:
    from microveil.measures.assessment import Assessment
    from microveil.utility.total_variation import TotalVariation

__all__ = ["closest_lines", "distribution_lines"]


def distribution_lines(assessment: "Assessment") -> list[str]:
    """Write how far each distribution moved, a line to an attribute, and then those of pairs."""
    found = (*assessment.of(FIT), *assessment.of(DISTRIBUTIONS))
    single = [one for one in found if one.measure.by is By.ATTRIBUTE]
    whole = [one for one in found if one.measure.by is By.TABLE]
    lines = []
    if single:
        rows: list[tuple[str, ...]] = [("attribute", *(one.measure.head for one in single))]
        for name in (*assessment.attributes, *assessment.text_attributes):
            figures = (one.figures.get(name) for one in single)
            shares = (shown(None if one is None else one.value, 4) for one in figures)
            rows.append((label(name, 22), *shares))
        lines += aligned(rows, widths=(22, 10, 12, 10), indent=INDENT)
    table = [(one.measure.label, shown(one.value), one.measure.meaning) for one in whole]
    variation: TotalVariation | None = assessment.result(TOTAL_VARIATION.id)
    if variation is not None and variation.worst_pair is not None:
        one, other, distance = variation.worst_pair
        pair = f"{label(one, 24)} and {label(other, 24)}"
        table.append(("worst pair", shown(distance), pair))
    lines += aligned(table, widths=(21, 12), left=(0, 2), indent=INDENT)
    return [DISTRIBUTIONS.title, *lines] if lines else []


def closest_lines(assessment: "Assessment") -> list[str]:
    """Write how near rows come to records, beside how near somebody left out comes."""
    found = assessment.of(CLOSEST_RECORDS)
    if not found:
        return []
    rows = [("", "release", "left out", "95 % interval")]
    for one in found:
        figure = one.figure
        ends = None if figure is None else figure.interval
        interval = "-" if ends is None else " to ".join(shown(end, 4) for end in ends)
        beside = None if figure is None else figure.beside
        rows.append((one.measure.title, shown(one.value, 4), shown(beside, 4), interval))
    near: ClosestRecords | None = assessment.result(CLOSEST.id)
    basis = "" if near is None else f"; rows without gaps: {near.basis}"
    return [
        CLOSEST_RECORDS.title,
        *textwrap.wrap(f"  ({CLOSEST.meaning}{basis})", TEXT_WIDTH, subsequent_indent="   "),
        *aligned(rows, widths=(30, 11, 11, 22), indent=INDENT),
    ]
