"""Subgroups, and the records that break rules, for a terminal."""

import math
import textwrap
from typing import TYPE_CHECKING

from microveil.measures.layout import INDENT, TEXT_WIDTH, label, shown
from microveil.measures.rules import RULES
from microveil.measures.subgroups import SUBGROUPS
from microveil.text import aligned

if TYPE_CHECKING:
    from microveil.measures.assessment import Assessment
    from microveil.utility.rules import Violations
    from microveil.utility.subgroups import Subgroups

__all__ = ["rule_lines", "subgroup_lines"]

# More subgroups than a person reads are in the JSON alone.
MOST_GROUPS = 20
MEANS_BESIDE = 3
MEANS_WITH_MARGINS = 2
NOT_MEASURED = "*"


def subgroup_lines(assessment: "Assessment") -> list[str]:
    """Write counts and means of the largest subgroups, before and after."""
    found = assessment.subgroups
    if found is None:
        return []
    chosen = found.largest_first[:MOST_GROUPS]
    by = label(", ".join(found.by), 60)
    lines = [f"{SUBGROUPS.title} by {by}", *_count_lines(found, chosen)]
    attributes = [(a, name) for a, name in enumerate(assessment.attributes) if name not in found.by]
    beside = MEANS_BESIDE if found.margins is None else MEANS_WITH_MARGINS
    for start in range(0, len(attributes), beside):
        lines += ["", *_mean_lines(found, chosen, attributes[start : start + beside])]
    if len(chosen) < len(found.levels):
        lines.append(
            f"  ({len(chosen)} of {len(found.levels)} subgroups, the largest of the original; "
            "all of them are in to_dict(), --json)"
        )
    return lines + _margin_lines(found, chosen)


def _names(found: "Subgroups", chosen: list[int], width: int) -> list[str]:
    names = (f"{n} {', '.join(found.levels[g])}" for n, g in enumerate(chosen, start=1))
    return [label(name, width) for name in names]


def _count_lines(found: "Subgroups", chosen: list[int]) -> list[str]:
    """Write records and shares of subgroups, a line to each."""
    counts, percents, margins = found.counts, 100 * found.shares, found.margins
    own, shares = (("±",), ("±",)) if margins is not None else ((), ())
    heads = ("group", "records before", "after", *own, "% before", "after", *shares)
    rows: list[tuple[str, ...]] = [heads]
    for name, g in zip(_names(found, chosen, 44 if margins is None else 34), chosen, strict=True):
        if margins is not None:
            star = "" if margins.is_measured[g] else NOT_MEASURED
            own = (f"{_margin(found.count_margin(g))}{star}",)
            shares = (f"{shown(100 * margins.shares[g], 3)}{star}",)
        before, after = (str(counts[side, g]) for side in (0, 1))
        low, high = (shown(percents[side, g], 3) for side in (0, 1))
        rows.append((name, before, after, *own, low, high, *shares))
    return aligned(rows, widths=(20,), indent=INDENT)


def _mean_lines(
    found: "Subgroups", chosen: list[int], attributes: list[tuple[int, str]]
) -> list[str]:
    """Write means of a few attributes in subgroups, a line to each subgroup."""
    sign = () if found.margins is None else ("±",)
    heads = (head for _, name in attributes for head in (label(name, 11), "after", *sign))
    rows: list[tuple[str, ...]] = [("means", *heads)]
    for name, g in zip(_names(found, chosen, 20), chosen, strict=True):
        figures: list[str] = []
        for a, _ in attributes:
            figures += [shown(found.means[side, g, a], 5) for side in (0, 1)]
            if found.margins is not None:
                figures.append(_margin(found.margins.means[g, a]))
        rows.append((name, *figures))
    return aligned(rows, widths=(20, *(10,) * (len(rows[0]) - 1)), indent=INDENT)


def _margin(width: float | None) -> str:
    """Write half a width in three significant digits, or all those before the decimal mark."""
    digits = 3 if width is None or not math.isfinite(width) else len(str(int(width)))
    return shown(width, max(3, digits))


def _margin_lines(found: "Subgroups", chosen: list[int]) -> list[str]:
    """Say how margins are read, or why there are none."""
    margins = found.margins
    if margins is None:
        text = f"(no margin of noise: {found.without_margins})"
    else:
        text = (
            f"(± is how far noise and chance alone take a figure from the original's, at "
            f"{100 * margins.confidence:g} % each, by {margins.n_trials} trials on the "
            "measurements. What is beyond is what the release's model does not know: it can be "
            "with means"
        )
        if not margins.is_measured[chosen].all():
            text += f", and with counts that no table has by themselves ({NOT_MEASURED})"
        text += ")"
    return textwrap.wrap(text, TEXT_WIDTH, initial_indent=INDENT, subsequent_indent=INDENT + " ")


def rule_lines(assessment: "Assessment") -> list[str]:
    """Write how many records break each rule, before and after."""
    if not assessment.rules:
        return []
    rows = [("rule", "before", "%", "after", "%", "not counted")]
    rows += [
        (
            label(str(found.rule), 42),
            *_counted(found.original),
            *_counted(found.protected),
            f"{found.original.n_left_out}, {found.protected.n_left_out}",
        )
        for found in assessment.rules
    ]
    return [
        RULES.title,
        "  (a record with a missing side is not counted: how many are not, before and after)",
        *aligned(rows, widths=(20,), indent=INDENT),
    ]


def _counted(found: "Violations") -> tuple[str, str]:
    return str(found.count), shown(100 * found.share, 3)
