"""Rules between columns, and how many records break them before and after protection."""

import datetime
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.measures.attributes import checked_attributes
from microveil.measures.base import Better, By, Entry, Figure, Group, Measure, Measured, Takes
from microveil.measures.showing import figures
from microveil.measures.undefined import none_if_undefined
from microveil.schema import EPOCH, Kind
from microveil.text.document import Block, paragraph, tabulated
from microveil.text.figures import figure

__all__ = [
    "MEASURES",
    "RULES",
    "Rule",
    "RuleOutcome",
    "check_rules",
    "comparable",
    "parse_rule",
]

# The longer signs first: "<=" begins with "<".
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "!=": operator.ne,
    ">=": operator.ge,
    "<": operator.lt,
    "=": operator.eq,
    ">": operator.gt,
}
SIGN = re.compile("|".join(COMPARISONS))
ORDERLESS = ("=", "!=")
REMEDY = 'write it as "TAX <= INCOME" or "AGE >= 18", with <, <=, =, !=, >= or >'


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A comparison that every record is to hold."""

    column: str  # on the left
    sign: str  # <, <=, =, !=, >= or >
    other: str | None  # the column on the right; None where it is a constant
    constant: float | str | None  # dates as days since 1970-01-01, yes and no as 1 and 0
    text: str  # the rule in one way of writing

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it compares."""
        return (self.column,) if self.other is None else (self.column, self.other)

    def __str__(self) -> str:
        return self.text


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
        return {"violations": self.count, "share": none_if_undefined(self.share), **left_out}


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleOutcome:
    """A rule, and who breaks it before and after."""

    rule: Rule
    original: Violations
    protected: Violations

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values."""
        sides = {"original": self.original.to_dict(), "protected": self.protected.to_dict()}
        return {"rule": str(self.rule), **sides}


def parse_rule(text: str, kinds: Mapping[str, Kind]) -> Rule:
    """Read a rule of a column and a column, or of a column and a constant.

    Parameters
    ----------
    text : str
        A column, one of <, <=, =, !=, >= and >, and a column or a constant: a number, a date as
        2020-12-31, true or false, or text, which may stand in quotes. The text is cut behind the
        longest column name that it begins with. What is a column's name on the right is this
        column; in quotes it is text.
    kinds : mapping of Kind
        What each column holds, by name.

    Examples
    --------
    >>> kinds = {"TAX": Kind.WHOLE, "NET INCOME": Kind.DECIMAL, "SINCE": Kind.DATE}
    >>> parse_rule("TAX<=NET INCOME", kinds).columns
    ('TAX', 'NET INCOME')
    >>> rule = parse_rule("SINCE >= 1970-01-31", kinds)
    >>> rule.constant, str(rule)
    (30.0, 'SINCE >= 1970-01-31')
    """
    place = f"rule '{text}'"
    if not isinstance(text, str):
        raise RequestError("rules", "each must be text", REMEDY)
    written = text.strip()
    begun = {
        name: found.group()
        for name in kinds
        if written.startswith(name) and (found := SIGN.match(written[len(name) :].lstrip()))
    }
    if not begun:
        raise RequestError(place, "it must begin with a column's name and a comparison", REMEDY)
    column = max(begun, key=len)
    sign = begun[column]
    right = written[len(column) :].lstrip()[len(sign) :].strip()
    kind = kinds[column]
    is_text = not kind.is_numeric
    if is_text and sign not in ORDERLESS:
        raise RequestError(place, f"'{column}' is text, which has no order", "compare with = or !=")
    other = right if right in kinds else None
    if other is not None:
        if not comparable(kinds[other], kind):
            raise RequestError(
                place,
                f"'{column}' and '{other}' are not of one kind: {kind} and {kinds[other]}",
                "compare numbers with numbers, dates with dates, text with text",
            )
        constant = None
    else:
        constant = _constant(right, kind, place)
    return Rule(
        column=column, sign=sign, other=other, constant=constant, text=f"{column} {sign} {right}"
    )


def check_rules(
    original: Mapping[str, ArrayLike],
    protected: Mapping[str, ArrayLike],
    *,
    rules: Sequence[Rule],
) -> tuple[RuleOutcome, ...]:
    """Count the records of two tables that break each rule.

    Columns are numbers or text: dates as days, yes and no as 1 and 0.

    Examples
    --------
    >>> rule = parse_rule("TAX <= INCOME", {"TAX": Kind.WHOLE, "INCOME": Kind.WHOLE})
    >>> before = {"TAX": [1, 2, 3], "INCOME": [9, 9, None]}
    >>> after = {"TAX": [9, 2, 3], "INCOME": [8, 9, 9]}
    >>> (found,) = check_rules(before, after, rules=[rule])
    >>> found.original.count, found.original.n_records, found.protected.count
    (0, 2, 1)
    """
    sides = [
        checked_attributes(table, f"{side} data")
        for side, table in (("original", original), ("protected", protected))
    ]
    for name, column in sides[0].items():
        if column.dtype.kind != sides[1][name].dtype.kind:
            raise DataError(
                f"column '{name}'",
                "it must be text in both tables or numbers in both",
                "write it the same way in both",
            )
    return tuple(
        RuleOutcome(
            rule=rule, original=_violations(sides[0], rule), protected=_violations(sides[1], rule)
        )
        for rule in rules
    )


def _violations(table: Mapping[str, NDArray[Any]], rule: Rule) -> Violations:
    sides = [table[name] for name in rule.columns]
    present = np.logical_and.reduce(
        [side != "" if side.dtype.kind == "U" else ~np.isnan(side) for side in sides]
    )
    left, *others = (side[present] for side in sides)
    right = others[0] if others else rule.constant
    broken = np.logical_not(COMPARISONS[rule.sign](left, right))
    return Violations(
        count=int(np.count_nonzero(broken)),
        n_records=len(left),
        n_left_out=len(present) - len(left),
    )


def comparable(kind: Kind, other: Kind) -> bool:
    """Whether values of two kinds may be compared: dates with dates, numbers with numbers.

    >>> comparable(Kind.WHOLE, Kind.DECIMAL), comparable(Kind.WHOLE, Kind.DATE)
    (True, False)
    """
    dates = kind is Kind.DATE, other is Kind.DATE
    return kind.is_numeric == other.is_numeric and dates[0] == dates[1]


def _constant(right: str, kind: Kind, place: str) -> float | str:
    """Read a constant as the column on its left has its values."""
    if not right:
        raise RequestError(place, "there is nothing to compare with", REMEDY)
    if not kind.is_numeric:
        if len(right) > 1 and right[0] == right[-1] and right[0] in "'\"":
            return right[1:-1]
        if SIGN.match(right):
            raise RequestError(place, "text that begins with a sign stands in quotes", REMEDY)
        return right
    number = _number(right, kind)
    if number is None:
        wanted = {Kind.DATE: "a date as 2020-12-31", Kind.BOOLEAN: "true or false"}
        raise RequestError(
            place,
            f"what stands on the right must be a column or {wanted.get(kind, 'a number')}",
            REMEDY,
        )
    return number


def _number(right: str, kind: Kind) -> float | None:
    if kind is Kind.BOOLEAN:
        return {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}.get(right.lower())
    try:
        if kind is Kind.DATE:
            return float((datetime.date.fromisoformat(right) - EPOCH).days)
        number = float(right)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


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
        entry=Entry(name="rules"),
        asked_by="rules",
        arguments=("rules",),
    ),
)
