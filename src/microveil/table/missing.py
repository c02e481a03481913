"""Codes that stand for missing values: -9, 99999998, "refused"."""

import copy
import datetime
import math
import numbers
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.schema import EPOCH, Cells, Code, GivenCode, Kind
from microveil.table.labelled import Labels
from microveil.table.restore import Numbers, Reasons

__all__ = ["MissingCodes", "code_for", "without_codes"]

DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCodes:
    """What stands for a missing value in a table.

    Attributes
    ----------
    by_column : mapping of str to tuple of int, float, str or date
        The codes of a column, numbers also as text.
    of_text : tuple of str
        Text that stands for a missing value in every column of text.

    Examples
    --------
    >>> codes = MissingCodes(by_column={"INCOME": (-9,)}, of_text=("?",))
    >>> bool(codes), codes.of_column("INCOME"), codes.of_column("REGION")
    (True, (-9,), ())
    """

    by_column: Mapping[str, tuple[GivenCode, ...]] = field(default_factory=dict)
    of_text: tuple[str, ...] = ()

    @classmethod
    def of(cls, missing_codes: Any, missing_values: Any) -> "MissingCodes":
        """Read what a user gave.

        Parameters
        ----------
        missing_codes : dict of lists, or None
            By column one code or several: finite numbers, dates or text.
        missing_values : str or sequence of str, or None
            One entry may list several with commas.

        Raises
        ------
        RequestError
            If it is none of these.

        Examples
        --------
        >>> codes = MissingCodes.of({"INCOME": [-9, 99999998], "REGION": "refused"}, "NA,.")
        >>> codes.by_column, codes.of_text
        ({'INCOME': (-9, 99999998), 'REGION': ('refused',)}, ('NA', '.'))
        """
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
        """Return these and the codes of columns besides.

        >>> MissingCodes(by_column={"A": (-9,)}).and_of({"A": (-8,), "B": ("x",)}).by_column
        {'A': (-9, -8), 'B': ('x',)}
        """
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

        >>> MissingCodes(by_column={"A": (-9, "x", "-8")}, of_text=("?",)).words_of("A")
        ('x', '?')
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
    is_number = isinstance(given, numbers.Real) and not isinstance(given, bool)
    return is_number and math.isfinite(given)


def code_for(code: GivenCode, name: str, kind: Kind) -> Code | None:
    """Return a code as the values of a column of a kind are; None where none can equal it.

    Parameters
    ----------
    code : int, float, str or date
    name : str
        Of the column.
    kind : Kind
        Dates become days since 1970-01-01.

    Raises
    ------
    RequestError
        If the column is one of numbers or dates and the code looks like a mistyped one, or if
        it is yes/no: what was meant would be taken for a value.

    Examples
    --------
    >>> code_for("-9", "AGE", Kind.WHOLE), code_for(-9, "SEX", Kind.OTHER)
    (-9, '-9')
    >>> code_for("refused", "AGE", Kind.WHOLE) is None
    True
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


class _Coded(Protocol):
    """What is asked of a table here: see `frames.Table`."""

    names: tuple[str, ...]
    n_records: int
    has_index: bool
    labels: Mapping[str, Labels]
    of_few: frozenset[str]

    def kind(self, name: str) -> Kind: ...
    def has_single_precision(self, name: str) -> bool: ...
    def numbers(self, name: str, *, shared: bool = False) -> Numbers: ...
    def check_kept(self, name: str) -> None: ...
    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers: ...
    def listed(self, name: str) -> tuple[str, ...] | None: ...
    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]: ...
    def coded_words(
        self, name: str, most: int
    ) -> tuple[NDArray[np.int32], tuple[str, ...]] | None: ...
    def counted_words(self, name: str) -> Counter[str]: ...
    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]: ...
    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]: ...
    def is_plain(self, name: str) -> bool: ...
    def is_text(self, name: str) -> bool: ...
    def floats_as_they_are(self, name: str) -> NDArray[np.float64] | None: ...
    def taken(self, rows: NDArray[np.int64]) -> "_Coded": ...
    def part(self, records: slice) -> "_Coded": ...
    def restored(self, name: str, numbers: Numbers) -> Any: ...
    def numbered(self, name: str, values: NDArray[np.int64]) -> Any: ...
    def kept(self, name: str, order: NDArray[np.int64] | None) -> Any: ...
    def assembled(self, columns: Mapping[str, Any]) -> Any: ...


def without_codes(table: _Coded, codes: MissingCodes) -> "_WithoutCodes":
    """See a table as one whose codes for missing values are missing values.

    Raises
    ------
    RequestError
        If a code cannot be one of its column.
    """
    return _WithoutCodes(table, codes)


class _WithoutCodes:
    """A table whose codes are missing values; columns that are kept stay as they are."""

    def __init__(self, table: _Coded, codes: MissingCodes) -> None:
        self._table = table
        self.names, self.n_records = table.names, table.n_records
        self.has_index, self.labels, self.of_few = table.has_index, table.labels, table.of_few
        self._codes: dict[str, tuple[Code, ...]] = {}
        for name in self.names:
            kind = table.kind(name)
            given = codes.of_column(name)
            found = [code_for(code, name, kind) for code in given]
            found += codes.of_text if kind is Kind.OTHER else []
            own = tuple(dict.fromkeys(code for code in found if code is not None))
            if own:
                self._codes[name] = own

    def kind(self, name: str) -> Kind:
        return self._table.kind(name)

    def has_single_precision(self, name: str) -> bool:
        return self._table.has_single_precision(name)

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        numbers = self._table.numbers(name, shared=shared)
        own = self._codes.get(name)
        if own is None:
            return numbers
        which = np.full(len(numbers.values), -1, dtype=np.int16)
        for place, code in enumerate(own):
            which[self._equal(name, numbers.values, code)] = place
        return _marked(numbers, Reasons(codes=own, which=which))

    def _equal(self, name: str, values: Cells, code: Code) -> NDArray[np.bool_]:
        if self._table.has_single_precision(name):
            # The column holds the nearest number of its own type.
            return np.asarray(values == np.float64(np.float32(float(code))))
        return np.asarray(values == code)

    def check_kept(self, name: str) -> None:
        self._table.check_kept(name)

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        numbers = self._table.codes(name, categories)
        reasons = self._of_text(name)
        return numbers if reasons is None else _marked(numbers, reasons)

    def _of_text(self, name: str) -> Reasons | None:
        own = tuple(str(code) for code in self._codes.get(name, ()))
        if not own:
            return None
        which = self._table.codes(name, own).values.astype(np.int16)
        return Reasons(codes=own, which=which)

    def listed(self, name: str) -> tuple[str, ...] | None:
        listed = self._table.listed(name)
        if listed is None:
            return None
        return tuple(word for word in listed if word not in self._codes.get(name, ()))

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        words = self._table.words(name, first=first)
        reasons = self._of_text(name) if self.kind(name) is Kind.OTHER else None
        if reasons is None:
            return words
        return np.where(reasons.which[: len(words)] >= 0, "", words)

    def coded_words(self, name: str, most: int) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
        own = {str(code) for code in self._codes.get(name, ())}
        if not own or self.kind(name) is not Kind.OTHER:
            return self._table.coded_words(name, most)
        found = self._table.coded_words(name, most + len(own))
        if found is None:
            return None
        codes, words = found
        kept = sorted({"" if word in own else word for word in words})
        if len(kept) > most:
            return None
        places = [kept.index("" if word in own else word) for word in words]
        return np.array(places, dtype=np.int32)[codes], tuple(kept)

    def counted_words(self, name: str) -> Counter[str]:
        counted = self._table.counted_words(name)
        if self.kind(name) is Kind.OTHER:
            for code in self._codes.get(name, ()):
                counted.pop(str(code), None)
        return counted

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        return self._table.texts_beginning(name, signs)

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        alike, absent = self._table.alike(name)
        numeric = self.kind(name).is_numeric
        reasons = self.numbers(name).reasons if numeric else self._of_text(name)
        return alike, absent if reasons is None else absent | (reasons.which >= 0)

    def is_plain(self, name: str) -> bool:
        return self._table.is_plain(name)

    def is_text(self, name: str) -> bool:
        return self._table.is_text(name)

    def floats_as_they_are(self, name: str) -> NDArray[np.float64] | None:
        return None if self._codes.get(name) else self._table.floats_as_they_are(name)

    def taken(self, rows: NDArray[np.int64]) -> "_WithoutCodes":
        fewer = copy.copy(self)
        fewer._table = self._table.taken(rows)  # noqa: SLF001 -- a copy of this very table
        fewer.n_records = len(rows)
        return fewer

    def part(self, records: slice) -> "_WithoutCodes":
        fewer = copy.copy(self)
        fewer._table = self._table.part(records)  # noqa: SLF001 -- a copy of this very table
        fewer.n_records = fewer._table.n_records  # noqa: SLF001
        return fewer

    def restored(self, name: str, numbers: Numbers) -> Any:
        return self._table.restored(name, numbers)

    def numbered(self, name: str, values: NDArray[np.int64]) -> Any:
        return self._table.numbered(name, values)

    def kept(self, name: str, order: NDArray[np.int64] | None) -> Any:
        return self._table.kept(name, order)

    def assembled(self, columns: Mapping[str, Any]) -> Any:
        return self._table.assembled(columns)


def _marked(numbers: Numbers, reasons: Reasons) -> Numbers:
    """Make the cells that hold a code missing ones."""
    which, missing = reasons.which, numbers.missing
    if missing is not None:
        which = np.where(missing, np.int16(-1), which)
    is_code = which >= 0
    if not is_code.any():
        return numbers
    values = numbers.values.copy()
    values[is_code] = np.nan if values.dtype.kind == "f" else 0
    return replace(
        numbers,
        values=values,
        missing=is_code if missing is None else missing | is_code,
        reasons=replace(reasons, which=which),
    )
