"""Files of statistical packages, by pyreadstat: 64 bit floats and text, with labels."""

import datetime
import io
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import polars as pl

from microveil.errors import FileError, RequestError
from microveil.files.checking import (
    Misfit,
    broken,
    check_filled,
    check_records,
    fitting,
    in_our_words,
    of_extra,
    within,
)
from microveil.files.formats import EXACT, Carries, Cells, Opened
from microveil.files.text import TextFormat
from microveil.files.typed import Outline
from microveil.files.writing import UnwritableError, stored
from microveil.schema import EPOCH, GivenCode, Kind
from microveil.table import Labels
from microveil.table.memory import STATISTICAL, check_reading

# What a moment is counted in here; a date is counted in days.
_SECOND = 1000
_DAYS = -719_162, 2_932_897  # of the years 1 to 9999, since 1970-01-01
# Of moments the values say whether they are dates.
_KINDS = {"text": Kind.OTHER, "whole": Kind.WHOLE, "decimal": Kind.DECIMAL, "date": Kind.DATE}
_YEARS = "dates must lie in the years 1 to 9999, and one does not"
_LONGEST_TIME = 10_000 * 366 * 86_400  # in seconds
_PERIODS = {"w": 52, "m": 12, "q": 4, "h": 2}  # how many make a year, whose text says 1980m1
_UNSAID = "utf-8"  # what is tried where neither the file nor anybody says the encoding
_EACH_BYTE = "ISO-8859-1"  # a letter for each byte, so that the bytes can be had of the letters
_MOST_CODES = 1000  # of a range of missing codes: more are no list
# What pyreadstat says of a file with text in it.
_SAID = (
    *("column_names", "column_names_to_labels", "variable_value_labels", "missing_ranges"),
    *("variable_measure", "readstat_variable_types", "original_variable_types"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How a file stores a column: what it holds by the file, and how moments and days are counted.

    A kind is text, whole, decimal, date, moment, time, or a period: w, m, q or h. "unheld" is what
    no table of ours can hold.
    """

    kind: str
    origin: float = 0.0  # what stands for 1970-01-01, in its own unit
    unit: float = 1.0  # how many make a day of a date, a second of a moment

    @property
    def day(self) -> float:
        """How much a date or a moment grows in a day."""
        return self.unit if self.kind == "date" else self.unit * 86_400

    def counted(self, code: Any) -> Any:
        """Return a code as the numbers of the file are; text as it is."""
        if isinstance(code, datetime.date):
            return (code - EPOCH).days * self.day + self.origin
        return code if isinstance(code, str) else float(code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """How files of a package are read by a function of pyreadstat, and written by another."""

    title: str
    reader: str
    column: Callable[[str, str | None], Column]
    carries: Carries
    says_encoding: bool = True
    options: Mapping[str, Any] = field(default_factory=dict)  # of the function that reads
    writer: str = ""
    cell: Callable[[Any], Any] = float  # a code that has a label, as it is written
    shown: Callable[[pl.Series], tuple[str, pl.Series]] = lambda column: ("", column)


def opened(package: Package, path: Path, raw: bytes, text: TextFormat | None) -> Opened:
    """Read a file; codes of missing answers stay values, and the labels say which they are."""
    check_filled(path, raw)
    _, meta, columns = _read(package, path, io.BytesIO(raw), text, metadataonly=True)
    cells = (meta.number_rows or 0) * len(columns)  # some files do not say it
    check_reading(path, 0, cells, STATISTICAL)
    frame, meta, columns = _read(package, path, io.BytesIO(raw), text, **package.options)
    check_records(path, frame.height * frame.width)
    labels, ranges = _labels(columns, meta)

    def read(cells: Cells) -> pl.DataFrame:
        found = {
            name: _typed(frame[name], how, labels[name].missing_codes, ranges.get(name, ()), cells)
            for name, how in columns.items()
        }
        return pl.DataFrame(fitting(path, frame.columns, found, lambda at: f"record {at + 1}"))

    said = text if text is not None and text.encoding else None
    return Opened(names=frame.columns, read=read, text=said, labels=labels)


def outlined(package: Package, path: Path, text: TextFormat | None) -> Outline:
    """Read what a file says of its columns."""
    _, meta, columns = _read(package, path, f"{path}", text, metadataonly=True)
    n_records = meta.number_rows  # some files do not say it
    return Outline(
        kinds={name: _KINDS.get(column.kind) for name, column in columns.items()},
        n_records=n_records if n_records and n_records > 0 else None,
    )


def _read(
    package: Package, path: Path, source: Any, text: TextFormat | None, **options: Any
) -> tuple[pl.DataFrame, Any, dict[str, Column]]:
    """Read a file by pyreadstat: numbers as they are stored, metadata, and how columns are."""
    purpose = f"{package.title} files are read"
    library = of_extra("pyreadstat", extra="files", place=str(path), purpose=purpose)
    codec = _codec(text, package)
    encoding = {} if codec is None else {"encoding": _EACH_BYTE}
    with in_our_words(lambda error: _unread(package, path, error)):
        frame, meta = getattr(library, package.reader)(
            # pandas output would make user-missing values 0.
            source, output_format="polars", disable_datetime_conversion=True, **encoding, **options,
        )  # fmt: skip
        if codec is not None:
            frame = _decoded(path, frame, meta, codec, text)
        storage, formats = meta.readstat_variable_types, meta.original_variable_types
        columns = {name: package.column(storage[name], formats[name]) for name in meta.column_names}
    return frame, meta, columns


def _unread(package: Package, path: Path, error: BaseException) -> FileError:
    if isinstance(error, UnicodeDecodeError) or "invalid byte sequence" in str(error):
        rule = "text must be in the encoding that the file says, and some is not"
        return FileError(str(path), rule, "pass another encoding, often --encoding cp1252")
    return broken(path, f"whole {package.title}", error, "export the table again")


def _codec(text: TextFormat | None, package: Package) -> str | None:
    """Return the encoding to decode a file's text by; None where the file says it."""
    if text is None or not text.encoding:
        return None if package.says_encoding else _UNSAID
    ascii_letters = bytes(range(128))
    if ascii_letters.decode(text.codec, "replace") != ascii_letters.decode("ascii"):
        rule = "text of SPSS, Stata and SAS is in an encoding that has ASCII in it"
        raise RequestError("encoding", rule, "pass for example --encoding cp1252")
    return text.codec


def _decoded(
    path: Path, frame: pl.DataFrame, meta: Any, codec: str, text: TextFormat | None
) -> pl.DataFrame:
    """Decode all text of a file of which each byte was read as a letter."""

    def decoded(value: Any) -> Any:
        if isinstance(value, dict):
            return {decoded(key): decoded(one) for key, one in value.items()}
        if isinstance(value, list):
            return [decoded(one) for one in value]
        return value.encode(_EACH_BYTE).decode(codec) if isinstance(value, str) else value

    place = f"{path}"
    try:
        for name in _SAID:
            setattr(meta, name, decoded(getattr(meta, name)))
        columns = []
        for number, column in enumerate(frame, start=1):
            place = f"{path}, column {number}"
            if column.dtype == pl.String:
                words = [word for word in column.unique() if word and not word.isascii()]
                column = column.replace({word: decoded(word) for word in words})  # noqa: PLW2901
            columns.append(column.alias(decoded(column.name)))
        return pl.DataFrame(columns)
    except UnicodeDecodeError as error:
        rule = f"text must be {codec}, and some is not"
        if text is None or not text.encoding:
            rule = "the file does not say the encoding of its text, which is not UTF-8"
        is_utf8 = "\ufffd" not in error.object.decode("utf-8", "replace")
        other = "utf-8" if is_utf8 else "cp1252" if codec == "utf-8" else "latin-1"
        raise FileError(place, rule, f"pass the encoding, often --encoding {other}") from None


def _labels(
    columns: Mapping[str, Column], meta: Any
) -> tuple[dict[str, Labels], dict[str, list[tuple[float, float]]]]:
    """Return the labels of columns, and ranges of missing codes: some are too long to list.

    Whole numbers in a range are listed; whatever else lies in it is missing without a code.
    """
    labels: dict[str, Labels] = {}
    ranges: dict[str, list[tuple[float, float]]] = {}
    for name, column in columns.items():
        listed = meta.variable_value_labels.get(name, {})
        is_ordinal = bool(listed) and meta.variable_measure.get(name) == "ordinal"
        # By its values where they have an order, in whatever order the file lists them.
        codes = {
            _code(code, column): str(listed[code])
            for code in (sorted(listed) if is_ordinal else listed)
        }
        missing: list[GivenCode] = []
        for part in meta.missing_ranges.get(name, ()):
            lower, upper = part["lo"], part["hi"]
            if isinstance(lower, str) or lower == upper:
                missing.append(_code(lower, column))
                continue
            ranges.setdefault(name, []).append((lower, upper))
            if 0 <= upper - lower < _MOST_CODES and max(-lower, upper) <= EXACT:
                whole = range(math.ceil(lower), math.floor(upper) + 1)
                missing += [_code(code, column) for code in whole]
        labels[name] = Labels(
            column=meta.column_names_to_labels.get(name) or None,
            codes=codes,
            missing_codes=tuple(dict.fromkeys(missing)),
            is_ordinal=is_ordinal,
            is_scale=meta.variable_measure.get(name) == "scale",
        )
    return labels, ranges


def _code(value: Any, column: Column) -> GivenCode:
    """Take a whole number for one, whatever it is stored as, and a whole day for a date."""
    if not isinstance(value, int | float):
        return str(value)
    if column.kind in ("date", "moment"):
        days = (value - column.origin) / column.day
        if days.is_integer() and _DAYS[0] <= days < _DAYS[1]:
            return EPOCH + datetime.timedelta(days=days)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _typed(
    column: pl.Series,
    how: Column,
    codes: Sequence[Any],
    ranges: Sequence[tuple[float, float]],
    cells: Cells,
) -> pl.Series | Misfit:
    """Give a column the type that the file says, whatever its values are."""
    if how.kind == "text":
        return column.cast(pl.String).set(column == "", None)
    if how.kind == "unheld":
        rule = "clocks with leap seconds and business calendars of Stata have no table here"
        remedy = "make them dates or moments in Stata, for example by cofC() or dofb()"
        return Misfit(index=-1, rule=rule, remedy=remedy)
    numbers = column.cast(pl.Float64).fill_nan(None)
    values = _without_ranges(numbers, how, [how.counted(code) for code in codes], ranges)
    if how.kind in ("date", "moment", "time", *_PERIODS):
        return _in_time(values, how)
    if how.kind == "decimal" or column.name in cells.decimals:
        return values
    whole = (values == values.floor()) & (values.abs() <= EXACT)
    if whole.all():
        return values.cast(pl.Int64)
    rule = "the file shows the column without decimals, and a value has some or is too large"
    remedy = (
        "declare its resolution, for example --resolution NAME=0.01 with the column's name, so "
        "that it is read as decimal"
    )
    is_strict = cells.of_one_kind(column.name) and not cells.as_text(column.name)
    return (within(whole, rule, remedy) if is_strict else None) or values


def _without_ranges(
    values: pl.Series, how: Column, codes: list[Any], ranges: Sequence[tuple[float, float]]
) -> pl.Series:
    """Make missing what lies in a range of missing codes and is none of those listed."""
    for lower, upper in ranges:
        missing = values.is_between(lower, upper) & ~values.is_in(codes)
        values = values.set(missing.fill_null(value=False), None)
    are_days = ((values - how.origin) % how.day == 0).all()
    if how.kind == "time" or (how.kind == "moment" and not are_days):
        # No code of these is held, so that the cells are missing by themselves.
        values = values.set(values.is_in(codes), None)
    return values


def _in_time(values: pl.Series, how: Column) -> pl.Series | Misfit:
    if how.kind == "time":
        beyond = within(values.abs() <= _LONGEST_TIME, "times must lie within 10,000 years")
        return beyond or (values * 1_000_000).round().cast(pl.Int64).cast(pl.Duration("us"))
    if how.kind in _PERIODS:
        years = values / _PERIODS[how.kind] + 1960
        beyond = within(years.is_between(1, 10_000, closed="left"), _YEARS)
        return beyond or _in_words(values, how.kind)
    since = (values - how.origin) / how.unit
    is_date = how.kind == "date"
    whole = since.floor() if is_date else (since * _SECOND).round()
    days = whole if is_date else whole / (86_400 * _SECOND)
    beyond = within(days.is_between(*_DAYS, closed="left"), _YEARS)
    if is_date:
        return beyond or whole.cast(pl.Int32).cast(pl.Date)
    return beyond or (whole.cast(pl.Int64) * 1000).cast(pl.Datetime("us"))


def _in_words(values: pl.Series, letter: str) -> pl.Series:
    """Write periods counted from 1960 as Stata shows them, 1980m1."""
    of_a_year = _PERIODS[letter]
    whole = values.floor().cast(pl.Int64)
    year, period = whole // of_a_year + 1960, whole % of_a_year + 1
    return (year.cast(pl.String) + letter + period.cast(pl.String)).alias(values.name)


def as_numbers(column: pl.Series, how: Column) -> pl.Series:
    """Count dates and moments as a file does."""
    if column.dtype == pl.Date:
        since = column.cast(pl.Int32).cast(pl.Float64)
    else:
        since = column.cast(pl.Int64).cast(pl.Float64) / 1_000_000
    return since * how.unit + how.origin


def write(
    package: Package,
    frame: pl.DataFrame,
    file: IO[bytes],
    labels: Mapping[str, Labels],
    **options: Any,
) -> None:
    """Write a table, with the labels of it that its file keeps."""
    title = package.title
    purpose = f"{title} files are written"
    library = of_extra("pyreadstat", extra="files", place=title, purpose=purpose)
    kept = {column.name: package.shown(column) for column in stored(frame, package.carries)}
    labels = {name: labels[name] for name in kept if name in labels}
    with tempfile.TemporaryDirectory() as folder:  # for its owner alone
        path = Path(folder, "data")
        rule = f"{title} must be able to hold the table and its labels, and it is not"
        remedy = "shorten text and labels, or write another format"
        with in_our_words(lambda _error: UnwritableError(None, rule, remedy)):
            getattr(library, package.writer)(
                pl.DataFrame([column.alias(name) for name, (_, column) in kept.items()]),
                path,
                column_labels={n: said.column for n, said in labels.items() if said.column},
                variable_format={name: shown for name, (shown, _) in kept.items() if shown},
                variable_value_labels={
                    name: {package.cell(code): word for code, word in said.codes.items()}
                    for name, said in labels.items()
                    if said.codes
                },
                **options,
            )
        file.write(path.read_bytes())
