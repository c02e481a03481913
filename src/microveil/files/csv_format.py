"""CSV and TSV files: checked, then read quickly where that is safe, else value by value."""

import codecs
import io
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import polars as pl

from microveil.errors import FileError
from microveil.files.columns import Misfit, convert, infer, mixture
from microveil.files.compression import beginning
from microveil.files.declared import Outline
from microveil.files.file_bytes import FileBytes
from microveil.files.formats import format_of
from microveil.files.formulas import escaped
from microveil.files.structure import Structure, check_structure, names_in
from microveil.files.text import TextFormat, as_utf8, by_mark, check_readable, check_utf8, place
from microveil.files.text_sizes import longest_word, text_of_a_record
from microveil.table import Labels
from microveil.table.keeping import BYTES
from microveil.table.memory import check_reading
from microveil.table.threads import in_threads, made_ahead

__all__ = ["batches", "opened", "opened_on_disk", "outlined"]

N_SAMPLE = 10_000  # records that a column's type is read off
_HEAD = 1 << 20  # bytes in which the header is looked for
# Records turned into text at a time while those before are hashed and written, and cells of them.
_BATCH, _CELLS = 1 << 16, 1 << 20
# polars raises its panics past Exception; they may quote a value like its errors.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OSError)


def opened(path: Path, raw: bytes, text: TextFormat | None) -> "_Opened":
    """Check a file's structure."""
    text = by_mark(raw, text or TextFormat())
    return _Opened(path, as_utf8(path, raw, text), text)


def opened_on_disk(path: Path, text: TextFormat | None, scratch: Scratch) -> "_Opened":
    """Check a file's structure; its table is made in pieces, each of which stays on the disk.

    Raises
    ------
    FileError
        If its encoding is not UTF-8, or it breaks a rule.
    """
    data = FileBytes(path)
    text = by_mark(data, text or TextFormat())
    if text.codec not in ("utf-8", "utf-8-sig"):
        raise FileError(
            str(path),
            f"only UTF-8 can be read piece by piece, and the file is {text.codec}",
            "write it in UTF-8, or read it whole (--engine memory)",
        )
    check_readable(path, data, text)
    if text.codec == "utf-8-sig" and data.startswith(codecs.BOM_UTF8):
        data = FileBytes(path, skipped=len(codecs.BOM_UTF8))
    return _Opened(path, data, text, scratch)


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
    names = names_in(path, _head_as_utf8(path, head[:_HEAD], text), text, is_whole=is_whole)
    return None if names is None else Outline(kinds=dict.fromkeys(names))


def _head_as_utf8(path: Path, head: bytes, text: TextFormat) -> bytes:
    """Turn the beginning of a file into UTF-8: a character at its end may be cut."""
    if text.codec in ("utf-8", "utf-8-sig"):
        return as_utf8(path, head, text)
    decoder = codecs.getincrementaldecoder(text.encoding)()
    try:
        return decoder.decode(head).encode()
    except UnicodeError:
        return as_utf8(path, head, text)  # which says where


class _Opened:
    """One CSV file on its way from bytes to a table."""

    def __init__(
        self, path: Path, data: bytes | FileBytes, text: TextFormat, scratch: Scratch | None = None
    ) -> None:
        self.path = path
        self.data = data
        self.text = text
        self._scratch = scratch
        self.structure: Structure = check_structure(path, data, text)
        if scratch is None:
            n_cells = self.structure.n_records * len(self.structure.names)
            check_reading(path, len(data), n_cells)
        self._missing: dict[str, list[str]] = {}

    @property
    def labels(self) -> dict[str, Labels]:
        """None: the file has no place for them."""
        return {}

    @property
    def names(self) -> list[str]:
        """The columns."""
        return self.structure.names

    def read(
        self,
        decimals: Collection[str],
        as_text: Callable[[str], bool],
        of_one_kind: Callable[[str], bool],
        missing: Callable[[str], Collection[str]],
    ) -> pl.DataFrame:
        """Read the table: numbers as polars reads them, where it may differ value by value."""
        self._missing = {
            name: list(words)
            for name in self.names
            if not as_text(name) and (words := missing(name))
        }
        if not self.structure.is_ascii:
            check_utf8(self.path, self.data, self.text)
        dtypes = self._dtypes(decimals, as_text)
        numbers = (pl.Int64, pl.Float64)
        schema = {n: dtype if dtype in numbers else pl.String() for n, dtype in dtypes.items()}
        frame = self._with_numbers(schema)
        if frame is None:
            frame = self._parsed(dict.fromkeys(dtypes, pl.String()))
        if frame is None:
            rule = "the file must be a table"
            raise FileError(str(self.path), rule, "export the table again as CSV")
        frame = self._convert(frame, dtypes)
        self._refuse_mixtures(frame, lambda name: of_one_kind(name) and not as_text(name))
        if isinstance(self.data, FileBytes):
            self.data.check_unchanged()
        return frame

    def _dtypes(
        self, decimals: Collection[str], as_text: Callable[[str], bool]
    ) -> dict[str, pl.DataType | None]:
        """Type of each column, None where it has no value among the first records."""
        sample = self._parsed(dict.fromkeys(self.names, pl.String()), N_SAMPLE)
        dtypes: dict[str, pl.DataType | None] = {}
        misfits = []
        for name, unlike in zip(self.names, self.structure.unlike_numbers, strict=True):
            if name in decimals or as_text(name) or sample is None:
                dtypes[name] = pl.Float64() if name in decimals else pl.String()
                continue
            dtype = infer(sample[name], self.text.decimal)
            if unlike:  # text, or dates of the first thousand years
                dtypes[name] = dtype if isinstance(dtype, pl.Date) else pl.String()
            elif isinstance(dtype, Misfit):
                misfits.append((dtype, name))
            else:
                dtypes[name] = dtype
        if misfits:
            self._refuse(misfits)
        return dtypes

    def _with_numbers(self, schema: Mapping[str, pl.DataType]) -> pl.DataFrame | None:
        """Read numbers as polars reads them; None where our rules may say otherwise."""
        decimals = [name for name, dtype in schema.items() if dtype == pl.Float64]
        if decimals and self.text.decimal == "," and b"." in self.data:
            return None  # polars takes 1.234 for the decimal number, whatever the mark is
        frame = self._parsed(schema)
        if frame is not None and decimals:
            # A sum is finite only if all its terms are: polars reads nan and inf as numbers.
            sums = frame.select(pl.col(decimals).sum()).row(0)
            if not pl.Series(sums, dtype=pl.Float64).is_finite().all():
                return None
        return frame

    def _parsed(
        self, schema: Mapping[str, pl.DataType], n_first: int | None = None
    ) -> pl.DataFrame | None:
        """Read all records, or the first ones, piece by piece; None where polars cannot."""
        scratch = self._scratch if n_first is None else None
        wanted = min(self.structure.n_records, n_first or self.structure.n_records)
        pieces: dict[str, list[pl.Series]] = {name: [] for name in schema}
        n_records = 0
        for piece in self.structure.pieces():
            frame = self._parsed_piece(self.data[piece], schema, n_first)
            if frame is None:
                return None
            n_records += frame.height
            for column in frame:
                pieces[column.name].append(column if scratch is None else scratch.column(column))
            if n_first is not None and n_records >= wanted:
                break
        if n_records != wanted and n_first is None:  # it sees others than we do
            return None
        joined = []
        for name in schema:
            own = pieces.pop(name)
            joined.append(scratch.joined(n_records, own) if scratch else pl.concat(own))
        return pl.DataFrame(joined).head(wanted)

    def _parsed_piece(
        self, data: bytes, schema: Mapping[str, pl.DataType], n_first: int | None
    ) -> pl.DataFrame | None:
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
        emptied = [
            pl.when(~pl.col(name).is_in(words)).then(pl.col(name)).alias(name)
            for name, words in self._missing.items()
            if frame.schema[name] == pl.String
        ]
        return frame.with_columns(emptied) if emptied else frame

    def _convert(self, frame: pl.DataFrame, dtypes: dict[str, pl.DataType | None]) -> pl.DataFrame:
        """Give the columns that came as text their types, several at a time."""
        columns: list[pl.Series | Misfit]
        typed = list(zip(frame, dtypes.values(), strict=True))
        if self._scratch is not None:
            columns = [self._converted_on_disk(*column, self._scratch) for column in typed]
        else:
            n_values = frame.height * frame.width
            columns = in_threads(lambda both: self._convert_one(*both), typed, n_values)
        misfits = [
            (column, name)
            for column, name in zip(columns, dtypes, strict=True)
            if isinstance(column, Misfit)
        ]
        if misfits:
            self._refuse(misfits)
        return pl.DataFrame([column for column in columns if isinstance(column, pl.Series)])

    def _converted_on_disk(
        self, column: pl.Series, dtype: pl.DataType | None, scratch: Scratch
    ) -> pl.Series | Misfit:
        found = self._convert_one(column, dtype)
        return found if found is column else scratch.kept(found)

    def _convert_one(self, column: pl.Series, dtype: pl.DataType | None) -> pl.Series | Misfit:
        if dtype is None:
            found = infer(column.drop_nulls().head(N_SAMPLE), self.text.decimal)
            if isinstance(found, Misfit):
                return replace(found, index=int(column.is_not_null().arg_true()[found.index]))
            dtype = found or pl.String()
        if column.dtype != pl.String:
            return column
        return convert(column, dtype, self.text.decimal)

    def _refuse_mixtures(self, frame: pl.DataFrame, of_one_kind: Callable[[str], bool]) -> None:
        misfits = []
        for column, unlike in zip(frame, self.structure.unlike_numbers, strict=True):
            if column.dtype != pl.String or not of_one_kind(column.name):
                continue
            present = column.drop_nulls()
            # A code makes a column text wherever it stands, other words at its beginning.
            values = present if unlike else present.head(N_SAMPLE)
            misfit = mixture(values, self.text.decimal)
            if misfit is not None:
                index = int(column.is_not_null().arg_true()[misfit.index])
                misfits.append((replace(misfit, index=index), column.name))
        if misfits:
            self._refuse(misfits)

    def _refuse(self, misfits: list[tuple[Misfit, str]]) -> NoReturn:
        first, name = min(misfits, key=lambda pair: pair[0].index)
        line = self.structure.line_of(self.data, self.text, first.index)
        # By number: the names are a person's values where the file has no header.
        where = f"{place(self.path, line)}, column {self.structure.names.index(name) + 1}"
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
    letters = text_of_a_record(frame) + sum(map(longest_word, frame))
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
