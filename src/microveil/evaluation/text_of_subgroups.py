"""Subgroups, and the records that break rules, for a terminal."""

from typing import TYPE_CHECKING

from microveil.evaluation.layout import INDENT, label, shown
from microveil.evaluation.measures.rules import RULES
from microveil.evaluation.measures.subgroups import SUBGROUPS
from microveil.text import aligned

if TYPE_CHECKING:
    from microveil.evaluation.assessment import Assessment
    from microveil.utility.rules import Violations

__all__ = ["rule_lines", "subgroup_lines"]

# More subgroups than a person reads are in the JSON alone.
MOST_GROUPS = 20
MEANS_BESIDE = 3


def subgroup_lines(assessment: "Assessment") -> list[str]:
    """Write counts and means of the largest subgroups, before and after."""
    found = assessment.subgroups
    if found is None:
        return []
    chosen = found.largest_first[:MOST_GROUPS]
    names = [f"{n} {', '.join(found.levels[g])}" for n, g in enumerate(chosen, start=1)]
    counts, percents = found.counts, 100 * found.shares
    rows: list[tuple[str, ...]] = [("group", "records before", "after", "% before", "after")]
    rows += [
        (
            label(name, 44),
            *(str(counts[side, g]) for side in (0, 1)),
            *(shown(percents[side, g], 3) for side in (0, 1)),
        )
        for name, g in zip(names, chosen, strict=True)
    ]
    by = label(", ".join(found.by), 60)
    lines = [f"{SUBGROUPS.title} by {by}", *aligned(rows, widths=(20,), indent=INDENT)]
    attributes = [(a, name) for a, name in enumerate(assessment.attributes) if name not in found.by]
    for start in range(0, len(attributes), MEANS_BESIDE):
        beside = attributes[start : start + MEANS_BESIDE]
        heads = (head for _, name in beside for head in (label(name, 11), "after"))
        means: list[tuple[str, ...]] = [("means", *heads)]
        means += [
            (
                label(name, 20),
                *(shown(found.means[side, g, a], 5) for a, _ in beside for side in (0, 1)),
            )
            for name, g in zip(names, chosen, strict=True)
        ]
        lines += ["", *aligned(means, widths=(20, *(10,) * 2 * MEANS_BESIDE), indent=INDENT)]
    if len(chosen) < len(found.levels):
        lines.append(
            f"  ({len(chosen)} of {len(found.levels)} subgroups, the largest of the original; "
            "all of them are in to_dict(), --json)"
        )
    return lines


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
