"""How many records break the rules that were asked for."""

from collections.abc import Sequence
from typing import Any

from microveil.measures.base import Better, By, Entry, Figure, Group, Measure, Measured, Takes
from microveil.measures.showing import figures
from microveil.text.document import Block, paragraph, tabulated
from microveil.text.figures import figure
from microveil.utility.rules import RuleOutcome, Violations, check_rules

__all__ = ["MEASURES", "RULES"]


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show how many records break each rule, before and after."""
    ours = [one for one in found if one.measure.function is check_rules]
    others = figures([one for one in found if one not in ours])
    if not ours:
        return others
    rows = (
        (str(one.rule), *_counted(one.original), *_counted(one.protected),
         f"{one.original.n_left_out:,}, {one.protected.n_left_out:,}")
        for one in ours[0].result
    )  # fmt: skip
    return (
        paragraph("A record with a missing side is not counted."),
        tabulated(("rule", "before", "%", "after", "%", "not counted"), rows),
        *others,
    )


def _counted(found: Violations) -> tuple[str, str]:
    return figure(found.count), figure(100 * found.share)


RULES = Group(title="Rules, and the records that break them", show=_show)


def _shares(found: Sequence[RuleOutcome]) -> dict[str, Figure]:
    return {
        str(one.rule): Figure(value=one.protected.share, beside=one.original.share) for one in found
    }


def _write(found: Sequence[RuleOutcome], _: Sequence[str]) -> list[dict[str, Any]]:
    return [one.to_dict() for one in found]


MEASURES = (
    Measure(
        id="rule_violations",
        label="share of the records that break a rule",
        explanation="closer to the original's keeps the rule",
        function=check_rules,
        figure=_shares,
        takes=Takes.RULES,
        needs_pairs=False,
        highest=1.0,
        better=Better.UNCHANGED,
        by=By.RULE,
        group=RULES,
        entry=Entry(name="rules", write=_write),
        asked_by="rules",
        arguments=("rules",),
    ),
)
