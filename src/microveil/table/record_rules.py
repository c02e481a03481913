"""Rules that every record is to hold: how they are written, and which records break one."""

import datetime
import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.schema import EPOCH, Attribute, Kind

Mask = NDArray[np.bool_]
# The longer signs first: "<=" begins with "<".
COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "<=": operator.le,
    "!=": operator.ne,
    ">=": operator.ge,
    "==": operator.eq,
    "<": operator.lt,
    "=": operator.eq,
    ">": operator.gt,
}
SIGN = re.compile("|".join(COMPARISONS))
# Digits behind a zero, as postcodes have it.
CODE = re.compile(r"0\d+$")
IMPLIES = re.compile(r"\s+implies\s+")
# What a sum is made of beside columns, and what may stand behind each part of it.
NUMBER = re.compile(r"(?P<date>\d{4}-\d{2}-\d{2})|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
GOES_ON = re.compile(r"\s*(?:[+-]|$)")
ORDERLESS = ("=", "!=")
REMEDY = (
    'write it as "TAX <= INCOME", "AGE >= 18", "AGE == YEAR - BIRTH" or '
    '"AGE < 16 implies WAGE == 0", with <, <=, ==, !=, >= or >'
)
# Sums of decimals are floats, and not exact: what is left of a difference that is none.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A column, and what it is compared with: a sum of columns and a constant, or a word.

    ``others`` are the columns on the right, each added (1) or taken off (-1). Dates are days since
    1970-01-01, yes and no 1 and 0. ``constant`` is text where words are compared: the word, or
    empty beside another column.
    """

    column: str
    sign: str  # <, <=, =, !=, >= or >
    others: tuple[tuple[str, int], ...] = ()
    constant: Fraction | str = Fraction(0)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it compares, each once."""
        return tuple(dict.fromkeys((self.column, *(name for name, _ in self.others))))

    def holds(self, table: Mapping[str, NDArray[Any]]) -> Mask:
        """Find the records that hold it, of columns without missing values."""
        left, compared = table[self.column], COMPARISONS[self.sign]
        if isinstance(self.constant, str):
            right = table[self.others[0][0]] if self.others else self.constant
            return np.asarray(compared(left, right), dtype=np.bool_)
        if not self.others:
            return np.asarray(compared(left, float(self.constant)), dtype=np.bool_)
        if len(self.others) == 1 and not self.constant and self.others[0][1] == 1:
            return np.asarray(compared(left, table[self.others[0][0]]), dtype=np.bool_)
        terms = [left, *(-times * table[name] for name, times in self.others)]
        terms.append(np.full(len(left), -float(self.constant)))
        off, size = np.sum(terms, axis=0), np.sum(np.abs(terms), axis=0)
        return np.asarray(compared(np.where(np.abs(off) <= ROUNDING * size, 0.0, off), 0.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRule:
    """A comparison that every record is to hold, or every one that holds a condition.

    A record that lacks a value in one of its columns does not break it.
    """

    comparison: Comparison
    condition: Comparison | None
    text: str  # in one way of writing

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that it is about."""
        of_condition = () if self.condition is None else self.condition.columns
        return tuple(dict.fromkeys((*of_condition, *self.comparison.columns)))

    def broken(self, table: Mapping[str, NDArray[Any]]) -> tuple[Mask, Mask]:
        """Find the records with a value in each of its columns, and which of these break it."""
        sides = [table[name] for name in self.columns]
        present = np.logical_and.reduce(
            [side != "" if side.dtype.kind == "U" else ~np.isnan(side) for side in sides]
        )
        own = {name: side[present] for name, side in zip(self.columns, sides, strict=True)}
        broken = ~self.comparison.holds(own)
        if self.condition is not None:
            broken &= self.condition.holds(own)
        return present, broken

    def __str__(self) -> str:
        return self.text


def parse_rule(text: str, kinds: Mapping[str, Kind]) -> RecordRule:
    """Read a rule: a comparison, or ``COMPARISON implies COMPARISON``.

    A comparison is a column, one of <, <=, == (or =), !=, >= and >, and a column, a constant (a
    number, a date as 2020-12-31, true or false, text, which may stand in quotes), or a sum of these
    with + and -. It is cut behind the longest column name that it begins with. What is a column's
    name on the right is this column; in quotes it is text.
    """
    place = f"rule '{text}'"
    if not isinstance(text, str):
        raise RequestError("rules", "each must be text", REMEDY)
    parts = IMPLIES.split(text.strip())
    if len(parts) > 2:
        raise RequestError(place, "one comparison implies one other", REMEDY)
    found = [_comparison(part, kinds, place) for part in parts]
    return RecordRule(
        comparison=found[-1][0],
        condition=found[0][0] if len(found) > 1 else None,
        text=" implies ".join(written for _, written in found),
    )


def kinds_of_rules(rules: str | Iterable[str], names: Sequence[str]) -> dict[str, Kind | None]:
    """Say what the columns hold that rules name, by what these compare them with.

    None of columns that are compared with each other alone: these may be numbers or dates.
    """
    listed = [rules] if isinstance(rules, str) else [one for one in rules if isinstance(one, str)]
    sides = [side for rule in listed for side in IMPLIES.split(rule.strip())]
    found = dict[str, Kind | None]()
    for with_columns in (False, True):
        for side in sides:
            known = {name: own for name, own in found.items() if own is not None}
            for kind in (Kind.DECIMAL, Kind.DATE, Kind.BOOLEAN, Kind.OTHER):
                with suppress(RequestError):
                    own, _ = _comparison(side, {**dict.fromkeys(names, kind), **known}, side)
                    is_shown = not own.others or not known.keys().isdisjoint(own.columns)
                    if with_columns or not own.others:
                        new = kind if is_shown else None
                        found |= {name: new for name in own.columns if name not in found}
                    break
    return found


def kind_in_rules(attribute: Attribute) -> Kind:
    """Return what an attribute holds as its column: that its values are listed makes no matter."""
    categories = attribute.categories
    if categories is None:
        return attribute.kind
    first = categories.values[0]
    if isinstance(first, bool):
        return Kind.BOOLEAN
    return Kind.OTHER if isinstance(first, str) else Kind.WHOLE


def comparable(kind: Kind, other: Kind) -> bool:
    """Whether values of two kinds may be compared: dates with dates, numbers with numbers."""
    dates = kind is Kind.DATE, other is Kind.DATE
    return kind.is_numeric == other.is_numeric and dates[0] == dates[1]


def _comparison(written: str, kinds: Mapping[str, Kind], place: str) -> tuple[Comparison, str]:
    """Read a comparison, and write it in one way."""
    begun = {
        name: found.group()
        for name in kinds
        if written.startswith(name) and (found := SIGN.match(written[len(name) :].lstrip()))
    }
    if not begun:
        raise RequestError(place, "it must begin with a column's name and a comparison", REMEDY)
    column = max(begun, key=len)
    right = written[len(column) :].lstrip()[len(begun[column]) :].strip()
    sign, kind = begun[column].replace("==", "="), kinds[column]
    if not kind.is_numeric and sign not in ORDERLESS:
        raise RequestError(
            place, f"'{column}' is text, which has no order", "compare with == or !="
        )
    others, constant = _right(right, column, kinds, place)
    comparison = Comparison(column=column, sign=sign, others=others, constant=constant)
    return comparison, f"{column} {sign} {right}"


def _right(
    right: str, column: str, kinds: Mapping[str, Kind], place: str
) -> tuple[tuple[tuple[str, int], ...], Fraction | str]:
    """Read what a column is compared with: the columns on the right, and the constant."""
    kind = kinds[column]
    if right in kinds:
        if not comparable(kinds[right], kind):
            raise RequestError(
                place,
                f"'{column}' and '{right}' are not of one kind: {kind} and {kinds[right]}",
                "compare numbers with numbers, dates with dates, text with text",
            )
        return ((right, 1),), Fraction(0) if kind.is_numeric else ""
    if not right:
        raise RequestError(place, "there is nothing to compare with", REMEDY)
    if not kind.is_numeric:
        return (), _word(right, place)
    if kind is not Kind.DATE and CODE.match(right):
        raise RequestError(
            place,
            f"'{right}' is a code: as a number it would lose its zeros",
            "put it in quotes and list the categories of the column, or write the number",
        )
    number = _number(right, kind)
    if number is not None:
        return (), number
    terms = _terms(right, kinds)
    n_dates = sum(times for _, is_date, times in terms or () if is_date)
    others = tuple((term, times) for term, _, times in terms or () if isinstance(term, str))
    is_of_kind = n_dates == (kind is Kind.DATE)
    if terms is None or not (others or is_of_kind):
        wanted = {Kind.DATE: "a date as 2020-12-31", Kind.BOOLEAN: "true or false"}
        raise RequestError(
            place,
            f"what stands on the right must be a column or {wanted.get(kind, 'a number')}, or a "
            "sum of these",
            REMEDY,
        )
    if not is_of_kind:
        raise RequestError(
            place,
            "its sides are not of one kind",
            "a date is a date and a number of days; a date less another one is a number of days",
        )
    return others, sum((one * n for one, _, n in terms if isinstance(one, Fraction)), Fraction(0))


def _word(right: str, place: str) -> str:
    if len(right) > 1 and right[0] == right[-1] and right[0] in "'\"":
        return right[1:-1]
    if SIGN.match(right):
        raise RequestError(place, "text that begins with a sign stands in quotes", REMEDY)
    return right


def _terms(right: str, kinds: Mapping[str, Kind]) -> list[tuple[str | Fraction, bool, int]] | None:
    """Read a sum: each column or number, whether it is a date, how often; None if it is none."""
    found, rest = list[tuple[str | Fraction, bool, int]](), right
    while rest:
        if rest[0] not in "+-" and found:
            return None
        times = -1 if rest[0] == "-" else 1
        rest = rest.removeprefix("-" if times < 0 else "+").lstrip()
        names = [n for n in kinds if rest.startswith(n) and GOES_ON.match(rest[len(n) :])]
        token = max(names, key=len, default="")
        kind: Kind = Kind.OTHER
        term: str | Fraction | None = None
        if names:
            kind, term = kinds[token], token
        elif number := NUMBER.match(rest):
            token = number.group()
            kind = Kind.DECIMAL if number["date"] is None else Kind.DATE
            term = _number(token, kind)
        if not token or term is None or not kind.is_numeric:
            return None
        found.append((term, kind is Kind.DATE, times))
        rest = rest[len(token) :].lstrip()
    return found


def _number(right: str, kind: Kind) -> Fraction | None:
    if kind is Kind.BOOLEAN:
        known = {"true": 1, "false": 0, "1": 1, "0": 0}.get(right.lower())
        return None if known is None else Fraction(known)
    try:
        if kind is Kind.DATE:
            return Fraction((datetime.date.fromisoformat(right) - EPOCH).days)
        return Fraction(right) if math.isfinite(float(right)) else None
    except ValueError:
        return None
