"""The check of a table before it is written, common to formats that cannot hold everything."""

from collections.abc import Iterator
from math import log2

import polars as pl

from microveil.files.carries import Carries
from microveil.files.checking import KnownError
from microveil.files.typed import to_publish

__all__ = ["UnwritableError", "stored"]

_OTHER = "write CSV or Parquet"


class UnwritableError(KnownError):
    """A table holds what a format cannot: of one column, or None for the table; others follow."""

    def __init__(self, column: str | None, rule: str, remedy: str) -> None:
        super().__init__(column, rule, remedy)
        self.column, self.rule, self.remedy = column, rule, remedy
        self.others: list[UnwritableError] = []


def stored(frame: pl.DataFrame, carries: Carries) -> pl.DataFrame:
    """Return what a format stores of a table: in 64 bits, text, truth values, dates and moments."""
    _check_size(frame, carries)
    refused = list(_misnamed(frame.columns, carries))
    columns = []
    for column in to_publish(frame):
        try:
            columns.append(_stored(column, carries))
        except UnwritableError as error:
            refused.append(error)
    if refused:
        first, *first.others = refused
        raise first
    return pl.DataFrame(columns)


def _check_size(frame: pl.DataFrame, carries: Carries) -> None:
    records, columns = carries.records or frame.height, carries.columns or frame.width
    if frame.height > records or frame.width > columns:
        rule = f"a file has at most {records:,} records and {columns:,} columns"
        raise UnwritableError(None, rule, _OTHER)


def _misnamed(names: list[str], carries: Carries) -> Iterator[UnwritableError]:
    if carries.names is None:
        return
    seen: set[str] = set()
    for name in names:
        if not carries.names.hold(name) or name.upper() in seen:
            remedy = "rename it, or write another format"
            yield UnwritableError(name, carries.names.in_words, remedy)
        seen.add(name.upper())


def _stored(column: pl.Series, carries: Carries) -> pl.Series:
    dtype = column.dtype
    if dtype == pl.Boolean and carries.has_truths:
        return column
    if dtype.is_integer() or dtype == pl.Boolean:
        return _whole(column.cast(pl.Int128), carries.whole)
    if dtype.is_float() or dtype.is_decimal():
        numbers = column.cast(pl.Float64).fill_nan(None)
        if carries.decimal is not None:
            rule = (
                f"numbers must lie within {carries.decimal:.2g}, beyond which they would be missing"
            )
            _check(numbers, numbers.abs() < carries.decimal, rule, _OTHER)
        return numbers
    if dtype in (pl.String, pl.Enum, pl.Categorical, pl.Null):
        return _text(column.cast(pl.String), carries)
    if dtype == pl.Date or (isinstance(dtype, pl.Datetime) and dtype.time_zone is None):
        return _in_time(column, carries)
    rule = "columns must hold numbers, text, dates or truth values"
    raise UnwritableError(column.name, rule, "leave other columns out or write Parquet")


def _check(column: pl.Series, fits: pl.Series, rule: str, remedy: str) -> None:
    if not fits.all():
        raise UnwritableError(column.name, rule, remedy)


def _whole(column: pl.Series, most: int | None) -> pl.Series:
    most = most or 2**63
    rule = f"whole numbers must lie within 2^{log2(most):.0f}, beyond which they would change"
    _check(column, column.is_between(-most, min(most, 2**63 - 1)), rule, _OTHER)
    return column.cast(pl.Int64)


def _text(column: pl.Series, carries: Carries) -> pl.Series:
    most = carries.text
    if most is not None:
        lengths = column.str.len_bytes() if most.unit == "bytes" else column.str.len_chars()
        fits = (lengths <= most.length) & ~column.str.contains("\0", literal=True)
        rule = f"text must have at most {most} and no zero character, where it would end"
        _check(column, fits, rule, "shorten it, or write Parquet")
    return column


def _in_time(column: pl.Series, carries: Carries) -> pl.Series:
    rule = f"dates must lie in the years {carries.first_year} to 9999, and one does not"
    _check(column, column.dt.year().is_between(carries.first_year, 9999), rule, _OTHER)
    if column.dtype == pl.Date or carries.moments is None:
        return column
    kept = column.dt.cast_time_unit(carries.moments)
    words = {"ms": "milliseconds", "us": "microseconds"}[carries.moments]
    rule = f"moments must be whole {words}, and one is none"
    _check(column, kept.cast(column.dtype) == column, rule, "write Parquet")
    return column.cast(pl.Datetime("us"))
