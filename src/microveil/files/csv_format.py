"""CSV and TSV files: checked, then read quickly where that is safe, else value by value."""

import codecs
import io
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import IO, Any, TypeVar

import polars as pl

from microveil.errors import FileError
from microveil.files.checking import Misfit, fitting
from microveil.files.columns import convert, infer, late, mixture, spelling_of
from microveil.files.compression import beginning
from microveil.files.declared import Outline
from microveil.files.encoding import as_utf8, by_mark, check_readable, check_utf8
from microveil.files.file_bytes import FileBytes
from microveil.files.formats import Cells, format_of
from microveil.files.formulas import escaped
from microveil.files.structure import check_structure, names_in
from microveil.files.text import TextFormat, place
from microveil.table import Labels
from microveil.table.column_files import ColumnFiles, columns_of, height_of, side_by_side
from microveil.table.memory import check_reading
from microveil.table.threads import in_threads, made_ahead

N_SAMPLE = 10_000  # records that a column's type is read off
_HEAD = 1 << 20  # bytes in which the header is looked for
# Records turned into text at a time while those before are hashed and written, and cells of them.
# Fewer are of long text, by about so many bytes; the first ones show how long it is.
_BATCH, _CELLS, _BYTES, _FIRST = 1 << 16, 1 << 20, 1 << 22, 1 << 10
# polars raises its panics past Exception; they may quote a value like its errors.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OSError)

Found = TypeVar("Found")


def opened(path: Path, raw: bytes, text: TextFormat | None) -> "_Opened":
    """Check a file's structure."""
    text = by_mark(raw, text or TextFormat())
    found = _Opened(path, as_utf8(path, raw, text), text)
    check_reading(path, len(found.data), found.structure.n_records * len(found.names))
    return found


def opened_lazily(path: Path, text: TextFormat | None, beside: Path) -> "_OpenedLazily":
    """Check the structure of a file that is not to be held; its table waits in a file beside."""
    data = FileBytes(path)
    text = by_mark(data, text or TextFormat())
    if text.codec not in ("utf-8", "utf-8-sig"):
        rule = "a file larger than memory is read some records at a time, which wants UTF-8"
        raise FileError(f"{path}", rule, "write it in UTF-8, or allow more memory (--memory)")
    check_readable(path, data, text)
    if text.codec == "utf-8-sig":
        data = FileBytes(path, len(codecs.BOM_UTF8))
    return _OpenedLazily(path, data, text, beside)


def outlined(path: Path, text: TextFormat | None) -> Outline | None:
    """Read the names of the columns; what these hold only all of their values show."""
    with path.open("rb") as file:
        raw = file.read(_HEAD + 1)
    compression = format_of(path).compression
    is_whole = compression is None and len(raw) <= _HEAD
    head = raw if compression is None else beginning(path, raw, compression)
    if compression is not None and not head:
        return None
    text = by_mark(head, text or TextFormat())
    head = as_utf8(path, head[:_HEAD], text, is_whole=is_whole)
    names = names_in(path, head, text, is_whole=is_whole)
    return None if names is None else Outline(kinds=dict.fromkeys(names))


class _Opened:
    """One CSV file on its way from bytes to a table, some megabytes after others."""

    def __init__(self, path: Path, data: bytes | FileBytes, text: TextFormat) -> None:
        self.path, self.data, self.text = path, data, text
        self.structure = check_structure(path, data, text)
        self.names = self.structure.names
        self.labels: Mapping[str, Labels] = {}  # the file has no place for them
        self._missing: dict[str, list[str]] = {}

    def read(self, cells: Cells) -> pl.DataFrame | pl.LazyFrame:
        """Read numbers as polars reads them, and where it may differ from our rules as text."""
        self._missing = {
            name: list(words)
            for name in self.names
            if not cells.as_text(name) and (words := cells.missing(name))
        }
        if not self.structure.is_ascii:
            check_utf8(self.path, self.data, self.text)
        sample = self._sample()
        dtypes = self._dtypes(sample, cells)
        frame = self._waiting(self._pieces(dtypes, sample))
        frame = self._with_late(frame, [name for name in self.names if dtypes[name] is None])
        self._refuse_mixtures(frame, cells)
        return self._table(frame)

    def _waiting(self, pieces: Iterator[pl.DataFrame]) -> pl.LazyFrame:
        """Keep pieces of the table, or columns of it, until all are there."""
        return pl.concat(list(pieces), rechunk=True).lazy()

    def _table(self, frame: pl.LazyFrame) -> pl.DataFrame | pl.LazyFrame:
        return frame.collect()

    def _dtypes(self, sample: pl.DataFrame, cells: Cells) -> dict[str, pl.DataType | None]:
        """Type of each column, None where it has no value among the first records."""
        found: dict[str, pl.DataType | Misfit | None] = {}
        for name, unlike in zip(self.names, self.structure.unlike_numbers, strict=True):
            if name in cells.decimals or cells.as_text(name):
                found[name] = pl.Float64() if name in cells.decimals else pl.String()
                continue
            found[name] = infer(sample[name], self.text)
            if unlike and not isinstance(found[name], pl.Date):  # of the first thousand years
                found[name] = pl.String()
        self._refuse_second_header(found)
        return self._fitting(found)

    def _refuse_second_header(self, found: Mapping[str, pl.DataType | Misfit | None]) -> None:
        """Refuse a second line of names: text above the numbers of every column that has any."""
        n = sum(isinstance(own, Misfit) and own.index == 0 for own in found.values())
        if n > 1 and not any(own in (pl.Int64, pl.Float64) for own in found.values()):
            rule = f"text stands above the numbers of {n} columns, like a second line of names"
            remedy = "delete line 1 or line 2, whichever has the names that you do not want"
            raise FileError(place(self.path, 2), rule, remedy)

    def _sample(self) -> pl.DataFrame:
        """Read the first records as text."""
        parts, wanted = list[pl.DataFrame](), N_SAMPLE
        for piece in self.structure.pieces():
            parts.append(self._as_text(self.data[piece], wanted))
            wanted -= parts[-1].height
            if wanted <= 0:
                break
        return pl.concat(parts)

    def _pieces(
        self, dtypes: Mapping[str, pl.DataType | None], sample: pl.DataFrame
    ) -> Iterator[pl.DataFrame]:
        """Read all records, each column by its type; one without any is text for now."""
        spellings = {
            name: spelling_of(sample[name])
            for name, dtype in dtypes.items()
            if isinstance(dtype, pl.Boolean)
        }

        def typed(column: pl.Series) -> pl.Series | Misfit:
            dtype = dtypes[column.name]
            if column.dtype != pl.String or dtype is None or dtype == pl.String:
                return column
            return convert(column, dtype, self.text, spellings.get(column.name))

        done = 0
        counted = zip(self.structure.pieces(), self.structure.counts(), strict=True)
        for records, n_records in counted:
            data = self.data[records]
            frame = self._with_numbers(data, dtypes, n_records)
            frame = self._as_text(data, None, n_records) if frame is None else frame
            columns = in_threads(typed, list(frame), frame.height * frame.width)
            yield pl.DataFrame(self._fitting(dict(zip(dtypes, columns, strict=True)), done))
            done += n_records

    def _with_numbers(
        self, data: bytes, dtypes: Mapping[str, pl.DataType | None], n_records: int
    ) -> pl.DataFrame | None:
        """Read numbers as polars reads them; None where our rules may say otherwise."""
        schema = {n: t if t in (pl.Int64, pl.Float64) else pl.String() for n, t in dtypes.items()}
        decimals = [name for name, dtype in schema.items() if dtype == pl.Float64]
        if decimals and self.text.decimal == "," and b"." in data:
            return None  # polars takes 1.234 for the decimal number, whatever the mark is
        if self.text.thousands:
            return None
        frame = self._parsed(data, schema, None)
        if frame is None or frame.height != n_records:
            return None
        # A sum is finite only if all its terms are: polars reads nan and inf as numbers.
        return frame if all(math.isfinite(frame[name].sum()) for name in decimals) else None

    def _as_text(
        self, data: bytes, n_first: int | None, n_records: int | None = None
    ) -> pl.DataFrame:
        frame = self._parsed(data, dict.fromkeys(self.names, pl.String()), n_first)
        if frame is None or n_records not in (None, frame.height):  # it sees others than we do
            rule = "the file must be a table"
            raise FileError(str(self.path), rule, "export the table again as CSV")
        return frame if n_first is None else frame.head(n_first)

    def _parsed(
        self, data: bytes, schema: Mapping[str, pl.DataType], n_first: int | None
    ) -> pl.DataFrame | None:
        """Read records, or the first of them; None where polars cannot."""
        if data.startswith(codecs.BOM_UTF8):  # of a value: polars drops one
            data = codecs.BOM_UTF8 + data
        try:
            frame = pl.read_csv(
                data,
                has_header=False,
                n_rows=n_first,
                schema=schema,
                separator=self.text.separator,
                # Without this a cell of two quotes is empty text; with it reading is slower.
                null_values="" if self.structure.has_quotes else None,
                decimal_comma=self.text.decimal == ",",
            )
        except _POLARS_ERRORS:
            return None
        return frame.with_columns(
            pl.when(~pl.col(name).is_in(words)).then(pl.col(name)).alias(name)
            for name, words in self._missing.items()
            if schema[name] == pl.String
        )

    def _with_late(self, frame: pl.LazyFrame, names: list[str]) -> pl.LazyFrame:
        """Give columns their types that have no value among the first records."""
        found: dict[str, pl.LazyFrame] = {}
        for name in names:
            column = late(_column(frame, name), self.text, N_SAMPLE)
            (fitting,) = self._fitting({name: column}).values()
            if fitting.dtype != pl.String:
                found[name] = self._waiting(iter([fitting.to_frame()]))
        if not found:
            return frame
        return side_by_side({name: found.get(name, frame) for name in self.names}, None)

    def _refuse_mixtures(self, frame: pl.LazyFrame, cells: Cells) -> None:
        schema = frame.collect_schema()

        def mixed(number: int) -> Misfit | None:
            name = self.names[number]
            if schema[name] != pl.String or cells.as_text(name) or not cells.of_one_kind(name):
                return None
            # A code makes a column text wherever it stands, other words at its beginning.
            n_first = None if self.structure.unlike_numbers[number] else N_SAMPLE
            return mixture(_column(frame, name), self.text, n_first)

        self._fitting({name: mixed(number) for number, name in enumerate(self.names)})

    def _fitting(self, found: Mapping[str, Found | Misfit], before: int = 0) -> dict[str, Found]:
        """Return what was found of each column; so many records are before those looked at."""
        return fitting(self.path, self.names, found, lambda at: self._line(before + at))

    def _line(self, record: int) -> str:
        return f"line {self.structure.line_of(self.data, self.text, record)}"


class _OpenedLazily(_Opened):
    """One CSV file whose table waits on the disk, in Arrow files."""

    def __init__(self, path: Path, data: FileBytes, text: TextFormat, beside: Path) -> None:
        super().__init__(path, data, text)
        self._files = ColumnFiles(beside)

    def read(self, cells: Cells) -> pl.DataFrame | pl.LazyFrame:
        """Read it as one in memory; nothing waits of a file that is refused."""
        try:
            return super().read(cells)
        except BaseException:
            self._files.close()
            raise

    def _waiting(self, pieces: Iterator[pl.DataFrame]) -> pl.LazyFrame:
        return self._files.put_all(pieces)

    def _table(self, frame: pl.LazyFrame) -> pl.LazyFrame:
        return self._files.held_by(frame)


def _column(frame: pl.LazyFrame, name: str) -> pl.Series:
    return columns_of(frame)[name].select(name).collect().to_series()


def write(
    frame: pl.DataFrame | pl.LazyFrame,
    file: IO[bytes],
    *,
    text: TextFormat | None,
    escape_formulas: bool,
    **_how: Any,  # it has no place for labels
) -> None:
    """Write a table, some ten thousand records at a time, of many columns or long text fewer."""
    text = text or TextFormat()
    encode = None if text.codec == "utf-8" else _encoder(text)
    first, n_records = frame.head(_FIRST).lazy().collect(), height_of(frame)
    letters = int(first.select(pl.col(pl.String)).estimated_size()) // max(1, first.height)
    at_once = max(1, min(_BATCH, _CELLS // max(1, first.width), _BYTES // max(1, letters)))

    # In a file of one column, a missing value would be a blank line.
    missing = '""' if first.width == 1 else ""

    def written(start: int) -> memoryview:
        batch = frame.slice(start, at_once).lazy().collect()
        batch = escaped(batch) if escape_formulas else batch
        buffer = io.BytesIO()
        batch.write_csv(
            buffer,
            include_header=start == 0,
            separator=text.separator,
            decimal_comma=text.decimal == ",",
            null_value=missing,
        )
        return buffer.getbuffer()

    with closing(made_ahead(written, range(0, max(n_records, 1), at_once))) as parts:
        for part in parts:
            file.write(part if encode is None else encode(bytes(part).decode()))


def _encoder(text: TextFormat) -> Callable[[str], bytes]:
    # Behind the first batch, no second byte order mark must come.
    encoder = codecs.getincrementalencoder(text.encoding)()
    decoder = codecs.getincrementaldecoder(text.encoding)()

    def encode(batch: str) -> bytes:
        encoded = encoder.encode(batch, final=True)  # a codec may hold characters back
        # Some write another character for one they lack: shift_jis a backslash for a yen sign.
        if decoder.decode(encoded, final=True) != batch:
            raise UnicodeError
        return encoded

    return encode
