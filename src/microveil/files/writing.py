"""Writing files of any format: a table is held against what the format carries before."""

import errno
import hashlib
import io
import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import log2
from pathlib import Path
from types import MappingProxyType

import polars as pl

from microveil.errors import FileError, one_error, refused_by_system, stands_alone
from microveil.files.checking import KnownError
from microveil.files.compression import packing
from microveil.files.formats import Carries, Format, format_of
from microveil.files.text import TextFormat, quoted
from microveil.files.typed import to_publish
from microveil.table import Labels
from microveil.table.column_files import height_of
from microveil.table.memory import check_held

# polars raises its panics past Exception; they may quote a value like its errors.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)

_OTHER = "write CSV or Parquet"


class UnwritableError(KnownError):
    """A table holds what a format cannot: of one column, or None for the table; others follow."""

    def __init__(self, column: str | None, rule: str, remedy: str) -> None:
        super().__init__(column, rule, remedy)
        self.column, self.rule, self.remedy = column, rule, remedy
        self.others: list[UnwritableError] = []


@stands_alone
def write_data(
    frame: pl.DataFrame | pl.LazyFrame,
    path: Path,
    *,
    text: TextFormat | None,
    escape_formulas: bool = False,
    form: Format | None = None,
    labels: Mapping[str, Labels] = MappingProxyType({}),
) -> str:
    """Write a table to a new file, to the disk itself, and give the file's digest.

    Only names, types and values are written: no metadata of the file that the table
    came from, and no category that no record has.
    """
    form = form or format_of(path)
    if not form.is_written_lazily:
        frame = collected(frame)
    how = {"text": form.text(text), "escape_formulas": escape_formulas, "labels": labels}
    write = partial(form.load().write, **how, name=form.name)
    try:
        file = path.open("xb+")
    except FileExistsError:
        rule, remedy = "the file must not exist", "remove it or choose another name"
        raise FileError(str(path), rule, remedy) from None
    except OSError as error:
        raise _unwritten(path, error) from None
    try:
        with file:
            with packing(file, form.compression) as packed:
                write(frame, packed)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except UnwritableError as error:
        refusal = one_error([_refusal(path, one) for one in (error, *error.others)])
    except UnicodeError:
        rule = "the encoding must hold every character, and one it does not"
        remedy = "write the input in UTF-8 and pass --encoding utf-8"
        refusal = FileError(_where(path, frame, write, UnicodeError), rule, remedy)
    except OSError as error:
        refusal = _unwritten(path, error)
    except _POLARS_ERRORS:
        rule = "columns must hold numbers, text, dates or truth values"
        remedy = "leave other columns out" + (" or write Parquet" if form.is_text else "")
        refusal = FileError(_where(path, frame, write, _POLARS_ERRORS), rule, remedy)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)
    raise refusal


def collected(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return a table in memory; refuse a lazy one that does not fit."""
    if isinstance(frame, pl.DataFrame):
        return frame
    check_held(height_of(frame), len(frame.collect_schema()))
    return frame.collect()


def _where(
    path: Path,
    frame: pl.DataFrame | pl.LazyFrame,
    write: Callable[..., None],
    refusals: type[Exception] | tuple[type[BaseException], ...],
) -> str:
    """Name the first column that cannot be written, where one alone cannot."""
    for name in frame.collect_schema().names():
        try:
            write(frame.select(name), io.BytesIO())
        except refusals:
            return f"{path}, column {quoted(name)}"
    return str(path)


def _refusal(path: Path, error: UnwritableError) -> FileError:
    where = "" if error.column is None else f", column {quoted(error.column)}"
    return FileError(f"{path}{where}", error.rule, error.remedy)


def _unwritten(path: Path, error: OSError) -> FileError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) and path.exists():
        written = path.stat().st_size / 1e6
        rule = f"there must be room for the file, and there was none after {written:.0f} MB of it"
        return FileError(str(path), rule, "make room, or name a folder on a larger disk")
    remedy = "check the folder, its rights and the space left"
    return refused_by_system(path, "the file must be writable", error, remedy)


def stored(frame: pl.DataFrame, carries: Carries) -> pl.DataFrame:
    """Return what a format stores of a table: in 64 bits, text, truth values, dates and moments."""
    records, columns = carries.records or frame.height, carries.columns or frame.width
    if frame.height > records or frame.width > columns:
        rule = f"a file has at most {records:,} records and {columns:,} columns"
        raise UnwritableError(None, rule, _OTHER)
    refused = list(_misnamed(frame.columns, carries))
    kept = []
    for column in to_publish(frame):
        try:
            kept.append(_stored(column, carries))
        except UnwritableError as error:
            refused.append(error)
    if refused:
        first, *first.others = refused
        raise first
    return pl.DataFrame(kept)


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
