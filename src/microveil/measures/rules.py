"""Rules between columns, and how many records break them before and after protection."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from microveil.measures.base import Better, By, Figure, Group, Measure, Measured, Takes, figures
from microveil.measures.models import Attributes, checked_attributes, of_one_kind
from microveil.measures.values import plain
from microveil.table.record_rules import RecordRule
from microveil.text.document import Block, paragraph, tabulated
from microveil.text.figures import figure


@dataclass(frozen=True, slots=True, kw_only=True)
class Violations:
    """How many records of one table break a rule, of those that have both sides."""

    count: int
    n_records: int
    n_left_out: int

    @property
    def share(self) -> float:
        """Of the records that have both sides; NaN where none has."""
        return self.count / self.n_records if self.n_records else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON knows them; what is undefined is None."""
        left_out = {"n_records": self.n_records, "n_left_out": self.n_left_out}
        return {"violations": self.count, "share": plain(self.share), **left_out}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """A rule, and who breaks it before and after."""

    rule: RecordRule
    original: Violations
    protected: Violations

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values."""
        sides = {"original": self.original.to_dict(), "protected": self.protected.to_dict()}
        return {"rule": str(self.rule), **sides}


def columns_of(rules: Iterable[RecordRule]) -> list[str]:
    """Name the columns of rules, each once."""
    return list(dict.fromkeys(name for rule in rules for name in rule.columns))


def check_rules(
    original: Mapping[str, ArrayLike],
    protected: Mapping[str, ArrayLike],
    *,
    rules: Sequence[RecordRule],
) -> tuple[RuleOutcome, ...]:
    """Count the records of two tables that break each rule: dates are days, yes and no 1 and 0."""
    before = checked_attributes(original, "original data")
    after = checked_attributes(protected, "protected data")
    for name, column in before.items():
        of_one_kind(name, column, after[name])
    return tuple(
        RuleOutcome(
            rule=rule, original=_violations(before, rule), protected=_violations(after, rule)
        )
        for rule in rules
    )


def _violations(table: Attributes, rule: RecordRule) -> Violations:
    present, broken = rule.broken(table)
    return Violations(
        count=int(np.count_nonzero(broken)),
        n_records=len(broken),
        n_left_out=len(present) - len(broken),
    )


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show how many records break each rule, before and after."""
    ours = [one for one in found if one.measure.function is check_rules]
    others = figures([one for one in found if one not in ours])
    if not ours:
        return others
    rows = []
    for one in ours[0].result:
        sides = one.original, one.protected
        counts = [cell for own in sides for cell in (figure(own.count), figure(100 * own.share))]
        rows.append((str(one.rule), *counts, ", ".join(f"{own.n_left_out:,}" for own in sides)))
    return (
        paragraph("A record with a missing side is not counted."),
        tabulated(("rule", "before", "%", "after", "%", "not counted"), rows),
        *others,
    )


def _shares(found: Sequence[RuleOutcome]) -> dict[str, Figure]:
    return {
        str(one.rule): Figure(value=one.protected.share, beside=one.original.share) for one in found
    }


MEASURES = (
    Measure(
        id="rule_violations",
        label="share of the records that break a rule",
        explanation="closer to the original's keeps the rule",
        function=check_rules,
        figure=_shares,
        takes=Takes(lambda own: own.columns(columns_of(own.asked["rules"]))),
        needs_pairs=False,
        highest=1.0,
        better=Better.UNCHANGED,
        by=By.RULE,
        group=Group(title="Rules, and the records that break them", show=_show),
        entry="rules",
        asked_by="rules",
        arguments=("rules",),
    ),
)
