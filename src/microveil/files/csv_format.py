"""CSV and TSV files: checked, then read quickly where that is safe, else value by value."""

import codecs
import io
import math
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import TypeVar, cast

import polars as pl

from microveil.errors import FileError
from microveil.files.columns import Misfit, convert, infer, mixture
from microveil.files.compression import beginning
from microveil.files.declared import Outline
from microveil.files.encoding import as_utf8, by_mark, check_utf8
from microveil.files.formats import format_of
from microveil.files.formulas import escaped
from microveil.files.structure import check_structure, names_in
from microveil.files.text import TextFormat, place
from microveil.files.text_sizes import text_of_a_record
from microveil.table import Labels
from microveil.table.memory import check_reading
from microveil.table.pieces import BYTES
from microveil.table.threads import in_threads, made_ahead

__all__ = ["batches", "opened", "outlined"]

N_SAMPLE = 10_000  # records that a column's type is read off
_HEAD = 1 << 20  # bytes in which the header is looked for
# Records turned into text at a time while those before are hashed and written, and cells of them.
_BATCH, _CELLS = 1 << 16, 1 << 20
# polars raises its panics past Exception; they may quote a value like its errors.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OSError)

Found = TypeVar("Found")


def opened(path: Path, raw: bytes, text: TextFormat | None) -> "_Opened":
    """Check a file's structure."""
    text = by_mark(raw, text or TextFormat())
    return _Opened(path, as_utf8(path, raw, text), text)


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
    """One CSV file on its way from bytes to a table."""

    def __init__(self, path: Path, data: bytes, text: TextFormat) -> None:
        self.path, self.data, self.text = path, data, text
        self.structure = check_structure(path, data, text)
        self.names = self.structure.names
        self.labels: Mapping[str, Labels] = {}  # the file has no place for them
        self._missing: dict[str, list[str]] = {}
        check_reading(path, len(data), self.structure.n_records * len(self.names))

    def read(
        self,
        decimals: Collection[str],
        as_text: Callable[[str], bool],
        of_one_kind: Callable[[str], bool],
        missing: Callable[[str], Collection[str]],
    ) -> pl.DataFrame:
        """Read numbers as polars reads them, and where it may differ from our rules all as text."""
        self._missing = {
            name: list(words)
            for name in self.names
            if not as_text(name) and (words := missing(name))
        }
        if not self.structure.is_ascii:
            check_utf8(self.path, self.data, self.text)
        dtypes = self._dtypes(decimals, as_text)
        frame = self._with_numbers(dtypes)
        frame = self._typed(self._as_text() if frame is None else frame, dtypes)
        self._refuse_mixtures(frame, lambda name: of_one_kind(name) and not as_text(name))
        return frame

    def _dtypes(
        self, decimals: Collection[str], as_text: Callable[[str], bool]
    ) -> dict[str, pl.DataType | None]:
        """Type of each column, None where it has no value among the first records."""
        sample = self._as_text(N_SAMPLE)
        found: dict[str, pl.DataType | Misfit | None] = {}
        for name, unlike in zip(self.names, self.structure.unlike_numbers, strict=True):
            if name in decimals or as_text(name):
                found[name] = pl.Float64() if name in decimals else pl.String()
                continue
            found[name] = infer(sample[name], self.text.decimal)
            if unlike and not isinstance(found[name], pl.Date):  # of the first thousand years
                found[name] = pl.String()
        return self._fitting(found)

    def _with_numbers(self, dtypes: Mapping[str, pl.DataType | None]) -> pl.DataFrame | None:
        """Read numbers as polars reads them; None where our rules may say otherwise."""
        schema = {n: t if t in (pl.Int64, pl.Float64) else pl.String() for n, t in dtypes.items()}
        decimals = [name for name, dtype in schema.items() if dtype == pl.Float64]
        if decimals and self.text.decimal == "," and b"." in self.data:
            return None  # polars takes 1.234 for the decimal number, whatever the mark is
        frame = self._parsed(schema)
        # A sum is finite only if all its terms are: polars reads nan and inf as numbers.
        sums = [] if frame is None else [frame[name].sum() for name in decimals]
        return frame if all(map(math.isfinite, sums)) else None

    def _as_text(self, n_first: int | None = None) -> pl.DataFrame:
        frame = self._parsed(dict.fromkeys(self.names, pl.String()), n_first)
        if frame is None:
            rule = "the file must be a table"
            raise FileError(str(self.path), rule, "export the table again as CSV")
        return frame

    def _parsed(
        self, schema: Mapping[str, pl.DataType], n_first: int | None = None
    ) -> pl.DataFrame | None:
        """Read all records, or the first ones, piece by piece; None where polars cannot."""
        pieces: dict[str, list[pl.Series]] = {name: [] for name in schema}
        n_records, wanted = 0, n_first or self.structure.n_records
        for piece in self.structure.pieces():
            frame = self._parsed_piece(self.data[piece], schema, n_first)
            if frame is None:
                return None
            for column in frame:
                pieces[column.name].append(column)
            n_records += frame.height
            if n_records >= wanted:
                break
        if n_first is None and n_records != wanted:  # it sees others than we do
            return None
        columns = [pl.concat(pieces.pop(name), rechunk=True) for name in schema]
        return pl.DataFrame(columns).head(wanted)

    def _parsed_piece(
        self, data: bytes, schema: Mapping[str, pl.DataType], n_first: int | None
    ) -> pl.DataFrame | None:
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

    def _typed(self, frame: pl.DataFrame, dtypes: Mapping[str, pl.DataType | None]) -> pl.DataFrame:
        """Give the columns that came as text their types."""
        decimal = self.text.decimal

        def typed(column: pl.Series) -> pl.Series | Misfit:
            if column.dtype != pl.String or dtypes[column.name] == pl.String:
                return column
            return convert(column, dtypes[column.name], decimal, N_SAMPLE)

        n_values = frame.height * frame.width
        columns = in_threads(typed, list(frame), n_values)
        return pl.DataFrame(self._fitting(dict(zip(dtypes, columns, strict=True))))

    def _refuse_mixtures(self, frame: pl.DataFrame, of_one_kind: Callable[[str], bool]) -> None:
        found = {}
        for column, unlike in zip(frame, self.structure.unlike_numbers, strict=True):
            if column.dtype == pl.String and of_one_kind(column.name):
                # A code makes a column text wherever it stands, other words at its beginning.
                n_first = None if unlike else N_SAMPLE
                found[column.name] = mixture(column, self.text.decimal, n_first)
        self._fitting(found)

    def _fitting(self, found: Mapping[str, Found | Misfit]) -> dict[str, Found]:
        """Return what was found of each column, or refuse the first record that does not fit."""
        misfits = {name: own for name, own in found.items() if isinstance(own, Misfit)}
        if not misfits:
            return cast("dict[str, Found]", found)
        name, first = min(misfits.items(), key=lambda pair: pair[1].index)
        line = self.structure.line_of(self.data, self.text, first.index)
        # By number: the names are a person's values where the file has no header.
        where = f"{place(self.path, line)}, column {self.names.index(name) + 1}"
        raise FileError(where, first.rule, first.remedy)


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,
    *,
    escape_formulas: bool,
    labels: Mapping[str, Labels],  # noqa: ARG001 -- it has no place for them
) -> Iterator[bytes | memoryview]:
    """Write a table, some ten thousand records at a time, of many columns or long text fewer."""
    text = text or TextFormat()
    encode = None if text.codec == "utf-8" else _encoder(text)
    letters = text_of_a_record(frame)
    at_once = max(1, min(_BATCH, _CELLS // max(1, frame.width), BYTES // max(1, letters)))

    # In a file of one column, a missing value would be a blank line.
    missing = '""' if frame.width == 1 else ""

    def written(start: int) -> memoryview:
        batch = frame.slice(start, at_once)
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

    for made in made_ahead(written, range(0, max(frame.height, 1), at_once)):
        yield made if encode is None else encode(bytes(made).decode())


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
