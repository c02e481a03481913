"""Codes that stand for missing values: -9, 99999998, "refused"."""

import datetime
import math
import numbers
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars

from microveil.errors import DataError, Problems, RequestError
from microveil.schema import EPOCH, Cells, Code, GivenCode, Kind
from microveil.table.table import Table

DIGITS = frozenset("0123456789")
# As questionnaires have them: -9, and as many nines, eights or sevens as fill a field, or such a
# number less one or two: 99999998.
NEGATIVE = tuple(-int(digit * n) for n in (1, 2, 3, 4) for digit in "123456789") + tuple(
    -(10**n - less) for n in (2, 3, 4) for less in (2, 3)
)
POSITIVE = tuple(int(digit * n) for n in range(2, 10) for digit in "789") + tuple(
    10**n - less for n in range(2, 10) for less in (2, 3)
)
# By itself it is a number like others: a balance, a temperature, a change.
ALONE = -1
# So many times larger than any other value: 99 among ages is one.
FAR = 2
WORDS = frozenset(
    {
        "na", "n/a", "#n/a", "n.a.", "<na>", "nan", "null", "none", "nil", "missing", ".", "..",
        "?", "-", "--", "*", "refused", "refusal", "no answer", "not answered", "don't know",
        "does not know", "do not know", "unknown", "not known", "does not apply", "not applicable",
        "inapplicable", "not stated", "keine angabe", "k. a.", "weiß nicht", "trifft nicht zu",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCodes:
    """What stands for a missing value in a table: in a column, or in every column of text."""

    by_column: Mapping[str, tuple[GivenCode, ...]] = field(default_factory=dict)
    of_text: tuple[str, ...] = ()

    @classmethod
    def of(cls, missing_codes: Any, missing_values: Any) -> "MissingCodes":
        """Read what a user gave: by column one code or several, and text, also with commas."""
        given = {} if missing_codes is None else missing_codes
        if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
            raise RequestError(
                "missing_codes",
                "it maps column names to codes",
                "pass missing_codes={'INCOME': [-9]}",
            )
        entries = () if missing_values is None else missing_values
        listed = (entries,) if isinstance(entries, str) else entries
        if not isinstance(listed, Iterable) or not all(isinstance(entry, str) for entry in listed):
            raise RequestError("missing_values", "they are text", "pass missing_values=['NA', '.']")
        words = [word for entry in listed for word in entry.split(",")]
        return cls(
            by_column={name: _checked(name, codes) for name, codes in given.items()},
            of_text=tuple(dict.fromkeys(word for word in words if word)),
        )

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self.by_column or self.of_text)

    def and_of(self, by_column: Mapping[str, tuple[GivenCode, ...]]) -> "MissingCodes":
        """Return these and the codes of columns besides."""
        names = dict.fromkeys((*self.by_column, *by_column))
        both = {
            name: {str(code): code for code in (*self.of_column(name), *by_column.get(name, ()))}
            for name in names
        }
        return replace(self, by_column={name: (*codes.values(),) for name, codes in both.items()})

    def of_column(self, name: str) -> tuple[GivenCode, ...]:
        """Return the codes of a column."""
        return self.by_column.get(name, ())

    def words_of(self, name: str) -> tuple[str, ...]:
        """Return the text that is missing in a column of a file of text, whatever its type.

        Codes with digits may be values of it: they are found once it has a type.
        """
        words = (code for code in self.of_column(name) if isinstance(code, str))
        return (*(word for word in words if not DIGITS & set(word)), *self.of_text)


def _checked(name: str, given: Any) -> tuple[GivenCode, ...]:
    place = f"missing codes of '{name}'"
    is_list = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
    codes = tuple(given) if is_list else (given,)
    if not codes or not all(_is_code(code) for code in codes):
        raise RequestError(
            place,
            "a code is a finite number, a date or text",
            "pass a list, for example [-9, 99999998]",
        )
    plain = tuple(code.item() if isinstance(code, np.generic) else code for code in codes)
    if len(set(map(str, plain))) < len(plain):
        raise RequestError(place, "a code is listed twice", "list it once")
    return plain


def _is_code(given: Any) -> bool:
    if isinstance(given, str):
        return bool(given)
    if isinstance(given, datetime.date):
        return not isinstance(given, datetime.datetime)
    if isinstance(given, bool) or not isinstance(given, numbers.Real):
        return False
    return isinstance(given, int) or math.isfinite(given)


def code_for(code: GivenCode, name: str, kind: Kind) -> Code | None:
    """Return a code as the values of a column of a kind are; None where none can equal it.

    Refused is what looks like a mistyped code of a column of numbers or dates, and any of one of
    yes and no: what was meant would be taken for a value.
    """
    if kind is Kind.OTHER:
        return code.isoformat() if isinstance(code, datetime.date) else str(code)
    place = f"missing codes of '{name}'"
    if kind is Kind.BOOLEAN:
        raise RequestError(
            place,
            "a column of yes and no has no value left to be a code",
            "leave its missing cells empty",
        )
    try:
        number = _days(code) if kind is Kind.DATE else _number(code)
    except (ValueError, TypeError, ZeroDivisionError):
        # A word is in no such column; what has digits was to be a number.
        if isinstance(code, str) and not DIGITS & set(code):
            return None
        raise RequestError(
            place, f"the column holds {kind.value}s, and a code is none", "write the code as one"
        ) from None
    if number.denominator == 1 and abs(number.numerator) < 1 << 63:
        return int(number)
    return float(number) if kind is Kind.DECIMAL else None


def _number(code: GivenCode) -> Fraction:
    if isinstance(code, datetime.date):
        raise TypeError
    # A float is the decimal number that it shows.
    return Fraction(code.strip() if isinstance(code, str) else str(code))


def _days(code: GivenCode) -> Fraction:
    if isinstance(code, str):
        code = datetime.date.fromisoformat(code)
    if not isinstance(code, datetime.date):
        raise TypeError
    return Fraction((code - EPOCH).days)


def codes_of_table(table: Table, codes: MissingCodes) -> dict[str, tuple[Code, ...]]:
    """Return the codes of each column that may hold some, as its values are."""
    found, problems = {}, Problems()
    for name in table.names:
        kind, own = table.kind(name), list[Code | None]()
        with problems.noted():
            own = [code_for(code, name, kind) for code in codes.of_column(name)]
        own += codes.of_text if kind is Kind.OTHER else []
        found[name] = tuple(dict.fromkeys(code for code in own if code is not None))
    problems.refuse()
    return {name: own for name, own in found.items() if own}


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingSeen:
    """How many cells of a column lack a value, and which values look like codes for that."""

    n_missing: int
    likely_codes: tuple[int | str, ...]


def missing_seen(table: Table, name: str) -> MissingSeen | None:
    """Look for missing values in a column, and for what may stand for them.

    A number is a code by its looks, -9 or 9999, if it is negative where no other value is, or
    more than twice as large as every other one. Text is one that says so: "refused", "NA". None
    of a column that holds neither.
    """
    if table.kind(name).is_numeric:
        numbers = table.numbers(name)
        missing, values = numbers.missing, numbers.values
        found: tuple[int | str, ...] = _likely(values if missing is None else values[~missing])
    else:
        try:
            missing, words = table.codes(name, ()).missing, table.words(name)
        except DataError:
            return None
        seen = np.unique(words).tolist()
        found = tuple(word for word in seen if word.strip().casefold() in WORDS)
    return MissingSeen(n_missing=0 if missing is None else int(missing.sum()), likely_codes=found)


def _likely(values: Cells) -> tuple[int, ...]:
    codes = np.array((*NEGATIVE, *POSITIVE), dtype=values.dtype)
    typical = polars.Series(values).is_in(codes).to_numpy()
    rest = values[~typical & np.isfinite(values)]
    if not len(rest):
        return ()
    lowest, highest = rest.min(), rest.max()
    seen = (int(value) for value in np.unique(values[typical]))
    found = tuple(
        code for code in seen if (lowest >= 0 if code < 0 else code > FAR * max(highest, 1))
    )
    return () if found == (ALONE,) else found
