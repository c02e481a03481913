"""Files of statistical packages: tables of 64 bit floats and text, with labels."""

import datetime
import io
import math
import re
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from microveil.errors import FileError, RequestError
from microveil.files.declared import Outline
from microveil.files.extras import of_extra
from microveil.files.text import TextFormat
from microveil.files.typed import UnwritableError, check_filled, to_publish
from microveil.schema import EPOCH, Code, GivenCode, Kind
from microveil.table import Labels
from microveil.table.memory import STATISTICAL, check_reading

__all__ = [
    "EXACT",
    "PERIODS",
    "Column",
    "LabelledFile",
    "as_code",
    "as_numbers",
    "fits",
    "opened_by",
    "outlined_by",
    "stored",
    "written_by",
]

EXACT = 2**53  # up to here a float tells whole numbers apart
# What a moment is counted in here; a date is counted in days.
_SECOND = 1000
_DAYS = -719_162, 2_932_897  # of the years 1 to 9999, since 1970-01-01
# Of moments the values say whether they are dates.
_KINDS = {"text": Kind.OTHER, "whole": Kind.WHOLE, "decimal": Kind.DECIMAL, "date": Kind.DATE}
_YEARS = "dates must lie in the years 1 to 9999"
_LONGEST_TIME = 10_000 * 366 * 86_400  # in seconds
PERIODS = {"w": 52, "m": 12, "q": 4, "h": 2}  # how many make a year, whose text says 1980m1
_UNSAID = "utf-8"  # what is tried where neither the file nor anybody says the encoding
_EACH_BYTE = "ISO-8859-1"  # a letter for each byte, so that the bytes can be had of the letters
_MOST_CODES = 1000  # of a range of missing codes: more are no list


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """How a file stores a column.

    Attributes
    ----------
    kind : {"text", "whole", "decimal", "date", "moment", "time", "unheld"} or one of `PERIODS`
        What the file says that it holds, whatever its values are; "unheld" is what no table of
        ours can hold.
    origin : float
        What stands for 1970-01-01, in its own unit.
    unit : float
        How many of a date's units make a day, of a moment's a second.
    """

    kind: str
    origin: float = 0.0
    unit: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledFile:
    """A file of a statistical package, whose numbers are floats yet."""

    path: Path
    frame: pl.DataFrame
    columns: Mapping[str, Column]
    labels: Mapping[str, Labels]
    ranges: Mapping[str, list[tuple[float, float]]] = field(default_factory=dict)
    text: TextFormat | None = None

    @property
    def names(self) -> list[str]:
        """The columns."""
        return self.frame.columns

    def read(
        self,
        decimals: Collection[str],
        as_text: Callable[[str], bool],
        of_one_kind: Callable[[str], bool],
        missing: Callable[[str], Collection[str]],  # noqa: ARG002 -- cells are empty by themselves
    ) -> pl.DataFrame:
        """Give the columns the types that the file says, whatever their values are."""
        return pl.DataFrame(
            [
                self._typed(
                    column,
                    number,
                    is_decimal=column.name in decimals,
                    is_strict=of_one_kind(column.name) and not as_text(column.name),
                )
                for number, column in enumerate(self.frame, start=1)
            ]
        )

    def _typed(
        self, column: pl.Series, number: int, *, is_decimal: bool, is_strict: bool
    ) -> pl.Series:
        stored = self.columns[column.name]
        if stored.kind == "text":
            return column.cast(pl.String).set(column == "", None)
        if stored.kind == "unheld":
            rule = "clocks with leap seconds and business calendars of Stata have no table here"
            remedy = "make them dates or moments in Stata, for example by cofC() or dofb()"
            raise FileError(f"{self.path}, column {number}", rule, remedy)
        values = column.cast(pl.Float64).fill_nan(None)
        listed = self.labels[column.name].missing_codes
        for lower, upper in self.ranges.get(column.name, ()):
            codes = [_counted(code, stored) for code in listed]
            missing = values.is_between(lower, upper) & ~values.is_in(codes)
            values = values.set(missing.fill_null(value=False), None)
        if stored.kind == "time" or (stored.kind == "moment" and not _are_days(values, stored)):
            # No code of these is held, so that the cells are missing by themselves.
            values = values.set(values.is_in([_counted(code, stored) for code in listed]), None)
        if stored.kind in ("date", "moment", "time", *PERIODS):
            return self._in_time(values, stored, number)
        if stored.kind == "decimal" or is_decimal:
            return values
        present = values.drop_nulls()
        if ((present == present.floor()) & (present.abs() <= EXACT)).all():
            return values.cast(pl.Int64)
        if is_strict:
            rule = (
                "the file shows the column without decimals, and a value has some or is too large"
            )
            remedy = (
                "declare its resolution, for example --resolution NAME=0.01 with the column's "
                "name, so that it is read as decimal"
            )
            raise FileError(f"{self.path}, column {number}", rule, remedy)
        return values

    def _in_time(self, values: pl.Series, stored: Column, number: int) -> pl.Series:
        if stored.kind == "time":
            beyond = values.abs() > _LONGEST_TIME
            self._refuse_beyond(beyond, number, "times must lie within 10,000 years")
            return (values * 1_000_000).round().cast(pl.Int64).cast(pl.Duration("us"))
        if stored.kind in PERIODS:
            years = values / PERIODS[stored.kind] + 1960
            self._refuse_beyond(~years.is_between(1, 10_000, closed="left"), number, _YEARS)
            return _in_words(values, stored.kind)
        since = (values - stored.origin) / stored.unit
        is_date = stored.kind == "date"
        whole = since.floor() if is_date else (since * _SECOND).round()
        days = whole if is_date else whole / (86_400 * _SECOND)
        self._refuse_beyond(~days.is_between(*_DAYS, closed="left"), number, _YEARS)
        if is_date:
            return whole.cast(pl.Int32).cast(pl.Date)
        return (whole.cast(pl.Int64) * 1000).cast(pl.Datetime("us"))

    def _refuse_beyond(self, beyond: pl.Series, number: int, rule: str) -> None:
        if beyond.any():
            place = f"{self.path}, column {number}, record {(beyond.arg_max() or 0) + 1}"
            raise FileError(place, f"{rule}, and one does not", "correct it")


def _in_words(values: pl.Series, letter: str) -> pl.Series:
    """Write periods counted from 1960 as Stata shows them, 1980m1."""
    of_a_year = PERIODS[letter]
    whole = values.floor().cast(pl.Int64)
    year, period = whole // of_a_year + 1960, whole % of_a_year + 1
    return (year.cast(pl.String) + letter + period.cast(pl.String)).alias(values.name)


def as_code(value: Any) -> Code:
    """Take a whole number for one, whatever it is stored as.

    >>> as_code(-9.0), as_code(0.5), as_code("m")
    (-9, 0.5, 'm')
    """
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int | float) else str(value)


def opened_by(
    reader: str,
    path: Path,
    raw: bytes,
    title: str,
    stored: Callable[[str, str | None], Column],
    text: TextFormat | None = None,
    *,
    is_encoded: bool = True,
    **options: Any,
) -> LabelledFile:
    """Read a file by a function of pyreadstat.

    Parameters
    ----------
    reader : str
        Its name.
    path, raw, title
        The file, and what it is to be.
    stored : callable
        What a column is, by its storage and its format as the file has them.
    text : TextFormat, optional
        Says the encoding, where that is said.
    is_encoded : bool
        Whether the file itself says the encoding.
    **options
        For the function.

    Raises
    ------
    FileError
        If the file is broken or something else, or pyreadstat is not installed.
    """
    library = _library(path, title)
    check_filled(path, raw)
    codec = _codec(text, is_encoded=is_encoded)
    encoding = {} if codec is None else {"encoding": _EACH_BYTE}
    try:
        outline = getattr(library, reader)(
            io.BytesIO(raw), metadataonly=True, output_format="polars", **encoding
        )[1]
        cells = (outline.number_rows or 0) * outline.number_columns  # some files do not say it
        check_reading(path, 0, cells, STATISTICAL)
        frame, meta = getattr(library, reader)(
            # pandas output would make user-missing values 0.
            io.BytesIO(raw), output_format="polars", disable_datetime_conversion=True, **encoding,
            **options,
        )  # fmt: skip
        if codec is not None:
            frame = _decoded(path, frame, meta, codec, text)
        storage, formats = meta.readstat_variable_types, meta.original_variable_types
        columns = {name: stored(storage[name], formats[name]) for name in frame.columns}
    except (MemoryError, FileError):
        raise
    except Exception as error:  # noqa: BLE001 -- whatever it is, its words may hold a value
        raise _unreadable(path, title, error) from None
    if frame.height == 0 or frame.width == 0:
        rule = "the file must hold records, and there are none"
        raise FileError(str(path), rule, "check that the table was exported")
    labels, ranges = _labels(frame.columns, meta)
    labels = {name: _in_days(said, columns[name]) for name, said in labels.items()}
    said = text if text is not None and text.encoding else None
    return LabelledFile(
        path=path, frame=frame, columns=columns, labels=labels, ranges=ranges, text=said
    )


def _codec(text: TextFormat | None, *, is_encoded: bool) -> str | None:
    """Return the encoding to decode a file's text by; None where the file says it."""
    if text is None or not text.encoding:
        return None if is_encoded else _UNSAID
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
        other = "utf-8" if _is_utf8(error.object) else "cp1252" if codec == "utf-8" else "latin-1"
        raise FileError(place, rule, f"pass the encoding, often --encoding {other}") from None


_SAID = (
    *("column_names", "column_names_to_labels", "variable_value_labels", "missing_ranges"),
    *("variable_measure", "readstat_variable_types", "original_variable_types"),
)


def _is_utf8(text: bytes) -> bool:
    try:
        return bool(text.decode())
    except UnicodeDecodeError:
        return False


def _unreadable(path: Path, title: str, error: Exception) -> FileError:
    """Return the error about a file that the library does not read, by what that says."""
    if isinstance(error, UnicodeDecodeError) or "invalid byte sequence" in str(error):
        rule = "text must be in the encoding that the file says, and some is not"
        return FileError(str(path), rule, "pass another encoding, often --encoding cp1252")
    return _broken(path, title)


def _day(stored: Column) -> float:
    """Return how much a file adds to a date or a moment for one day."""
    return stored.unit if stored.kind == "date" else stored.unit * 86_400


def _are_days(values: pl.Series, stored: Column) -> bool:
    return bool(((values - stored.origin) % _day(stored) == 0).all())


def _counted(code: GivenCode, stored: Column) -> float:
    """Return a code as the numbers of the file are, see `_in_days`."""
    if isinstance(code, datetime.date):
        return (code - EPOCH).days * _day(stored) + stored.origin
    return float(code)


def _in_days(labels: Labels, stored: Column) -> Labels:
    """Take the codes of dates and moments for dates, where they are whole days."""
    if stored.kind not in ("date", "moment"):
        return labels

    def dated(code: GivenCode) -> GivenCode:
        if isinstance(code, int | float):
            days = (code - stored.origin) / _day(stored)
            if days.is_integer() and _DAYS[0] <= days < _DAYS[1]:
                return EPOCH + datetime.timedelta(days=days)
        return code

    return replace(
        labels,
        codes={dated(code): text for code, text in labels.codes.items()},
        missing_codes=tuple(map(dated, labels.missing_codes)),
    )


def outlined_by(
    reader: str,
    path: Path,
    title: str,
    stored: Callable[[str, str | None], Column],
    text: TextFormat | None = None,
    *,
    is_encoded: bool = True,
) -> Outline:
    """Read what a file says of its columns by a function of pyreadstat, see `opened_by`.

    Raises
    ------
    FileError
        If the file is broken or something else, or pyreadstat is not installed.
    """
    library = _library(path, title)
    codec = _codec(text, is_encoded=is_encoded)
    options = {} if codec is None else {"encoding": _EACH_BYTE}
    try:
        meta = getattr(library, reader)(
            f"{path}", metadataonly=True, output_format="polars", **options
        )[1]
        if codec is not None:
            _decoded(path, pl.DataFrame(), meta, codec, text)
        storage, formats = meta.readstat_variable_types, meta.original_variable_types
        kinds = {
            name: _KINDS.get(stored(storage[name], formats[name]).kind)
            for name in meta.column_names
        }
    except FileError:
        raise
    except Exception as error:  # noqa: BLE001 -- whatever it is, its words may hold a value
        raise _unreadable(path, title, error) from None
    n_records = meta.number_rows  # some files do not say it
    return Outline(kinds=kinds, n_records=n_records if n_records and n_records > 0 else None)


def _library(path: Path, title: str) -> Any:
    return of_extra("pyreadstat", extra="stat", place=str(path), purpose=f"{title} files are read")


def _broken(path: Path, title: str) -> FileError:
    rule = f"the file must be whole {title}, and it is broken or something else"
    return FileError(str(path), rule, "export the table again")


def _labels(
    names: list[str], meta: Any
) -> tuple[dict[str, Labels], dict[str, list[tuple[float, float]]]]:
    """Return the labels of columns, and ranges of missing codes: some are too long to list.

    Whole numbers in a range are listed; whatever else lies in it is missing without a code.
    """
    labels: dict[str, Labels] = {}
    ranges: dict[str, list[tuple[float, float]]] = {}
    for name in names:
        codes: dict[GivenCode, str] = {
            as_code(code): str(text)
            for code, text in meta.variable_value_labels.get(name, {}).items()
        }
        is_ordinal = bool(codes) and meta.variable_measure.get(name) == "ordinal"
        if is_ordinal:  # by its values, in whatever order the file lists them
            codes = dict(sorted(codes.items()))
        missing: list[GivenCode] = []
        for part in meta.missing_ranges.get(name, ()):
            lower, upper = part["lo"], part["hi"]
            if isinstance(lower, str) or lower == upper:
                missing.append(as_code(lower))
                continue
            ranges.setdefault(name, []).append((lower, upper))
            if 0 <= upper - lower < _MOST_CODES and max(-lower, upper) <= EXACT:
                missing += range(math.ceil(lower), math.floor(upper) + 1)
        labels[name] = Labels(
            column=meta.column_names_to_labels.get(name) or None,
            codes=codes,
            missing_codes=tuple(dict.fromkeys(missing)),
            is_ordinal=is_ordinal,
        )
    return labels, ranges


def fits(text: str, longest: int) -> bool:
    """Whether text is held whole in so many bytes: what is behind a zero character is lost."""
    return len(text.encode()) <= longest and "\0" not in text


def stored(
    frame: pl.DataFrame,
    *,
    names: "re.Pattern[str]",
    naming: str,
    largest: float,
    longest_name: int,
    longest_text: int,
) -> pl.DataFrame:
    """Reduce a table to what a statistical package stores: whole numbers, floats, text, dates.

    Parameters
    ----------
    frame : polars.DataFrame
    names : pattern
        What a column's name must be.
    naming : str
        The same in words.
    largest : float
        Greater than every number that a file can hold.
    longest_name, longest_text : int
        How many bytes a column's name and a cell of text may take.

    Raises
    ------
    UnwritableError
        With the first column that a file cannot hold as it is.
    """
    seen: set[str] = set()
    for name in frame.columns:
        is_name = names.fullmatch(name) and fits(name, longest_name)
        if not is_name or name.upper() in seen:
            raise UnwritableError(name, naming, "rename it, or write another format")
        seen.add(name.upper())
    return pl.DataFrame([_stored(column, largest, longest_text) for column in to_publish(frame)])


def _stored(column: pl.Series, largest: float, longest_text: int) -> pl.Series:
    dtype = column.dtype
    if dtype.is_integer() or dtype == pl.Boolean:
        whole = column.cast(pl.Int128)
        if not whole.drop_nulls().is_between(-EXACT, EXACT).all():
            rule = "whole numbers must lie within 2^53, beyond which they would change"
            raise UnwritableError(column.name, rule, "write Parquet or CSV")
        return whole.cast(pl.Int64)
    if dtype.is_float() or dtype.is_decimal():
        numbers = column.cast(pl.Float64).fill_nan(None)
        if not (numbers.drop_nulls().abs() < largest).all():
            rule = f"numbers must lie within {largest:.2g}, beyond which they would be missing"
            raise UnwritableError(column.name, rule, "write Parquet or CSV")
        return numbers
    if dtype in (pl.String, pl.Enum, pl.Categorical):
        return _text(column.cast(pl.String), longest_text)
    if dtype == pl.Date:
        return column
    if isinstance(dtype, pl.Datetime) and dtype.time_zone is None:
        moments = column.cast(pl.Datetime("us"))
        if not (moments.drop_nulls().cast(pl.Int64) % 1000 == 0).all():
            rule = "moments must be whole milliseconds, and one is none"
            raise UnwritableError(column.name, rule, "write Parquet")
        return moments
    if dtype == pl.Null:
        return column.cast(pl.String)
    rule = "columns must hold numbers, text, dates or truth values"
    raise UnwritableError(column.name, rule, "leave other columns out or write Parquet")


def _text(column: pl.Series, longest: int) -> pl.Series:
    is_longer = column.str.len_bytes() > longest
    if is_longer.any() or column.str.contains("\0", literal=True).any():
        rule = f"text must have at most {longest:,} bytes and no zero character, where it would end"
        raise UnwritableError(column.name, rule, "shorten it, or write Parquet")
    return column


def as_numbers(column: pl.Series, how: Column) -> pl.Series:
    """Count dates and moments as a file does."""
    if column.dtype == pl.Date:
        since = column.cast(pl.Int32).cast(pl.Float64)
    else:
        since = column.cast(pl.Int64).cast(pl.Float64) / 1_000_000
    return since * how.unit + how.origin


def written_by(
    writer: str, frame: pl.DataFrame, labels: Mapping[str, Labels], title: str, **options: Any
) -> Iterator[bytes]:
    """Write a file by a function of pyreadstat, in one part."""
    library = of_extra(
        "pyreadstat", extra="stat", place=title, purpose=f"{title} files are written"
    )
    described = {name: labels[name] for name in frame.columns if name in labels}
    with tempfile.TemporaryDirectory() as folder:  # for its owner alone
        path = Path(folder, "data")
        try:
            getattr(library, writer)(
                frame,
                path,
                column_labels={name: one.column for name, one in described.items() if one.column},
                **options,
            )
        except Exception:  # noqa: BLE001 -- whatever it is, its words may hold a value
            rule = f"{title} must be able to hold the column and its labels, and it is not"
            remedy = "rename the column, shorten text and labels, or write another format"
            name = _refused_column(writer, frame, labels, title, options)
            raise UnwritableError(name, rule, remedy) from None
        yield path.read_bytes()


def _refused_column(
    writer: str,
    frame: pl.DataFrame,
    labels: Mapping[str, Labels],
    title: str,
    options: Mapping[str, Any],
) -> str | None:
    """Find the first column that cannot be written by itself."""
    for name in frame.columns if frame.width > 1 else ():
        own = {
            key: {name: one[name]} if isinstance(one, dict) and name in one else one
            for key, one in options.items()
            if not isinstance(one, dict) or name in one
        }
        try:
            for _ in written_by(writer, frame.select(name), labels, title, **own):
                pass
        except UnwritableError:
            return name
    return frame.columns[0] if frame.width == 1 else None
