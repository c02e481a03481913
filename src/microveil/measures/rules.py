"""How many records break the rules that were asked for."""

from collections.abc import Sequence
from typing import Any

from microveil.measures.base import Better, By, Entry, Figure, Group, Measure, Takes
from microveil.utility.rules import RuleOutcome, check_rules

__all__ = ["MEASURES", "RULES"]

RULES = Group(title="Rules, and the share of the records that break them")


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
