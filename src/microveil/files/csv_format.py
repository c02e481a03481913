"""CSV and TSV files: held to their form, read as text by polars, and typed column by column."""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

import polars as pl

from microveil.errors import FileError
from microveil.files.checking import in_our_words
from microveil.files.compression import beginning
from microveil.files.csv_structure import Records, header_of, undecodable
from microveil.files.formats import Opened, format_of
from microveil.files.formulas import escaped
from microveil.files.text import TextFormat, place
from microveil.files.text_columns import text_table
from microveil.files.typed import Outline
from microveil.table.column_files import ColumnFiles, height_of
from microveil.table.memory import check_reading

_HEAD = 1 << 20  # bytes in which the header is looked for first
# Records turned into text at a time, and cells of them.
# Fewer are of long text, by about so many bytes; the first ones show how long it is.
_BATCH, _CELLS, _BYTES, _FIRST = 1 << 16, 1 << 20, 1 << 22, 1 << 10

_NO_TEXT = {
    b"PAR1": ("is a Parquet file", "name it .parquet"),
    b"ARROW1": ("is an Arrow file", "name it .arrow"),
    b"$FL2": ("is an SPSS file", "name it .sav"),
    b"$FL3": ("is an SPSS file", "name it .zsav"),
    b"<stata_dta>": ("is a Stata file", "name it .dta"),
    b"HEADER RECORD*******": ("is a SAS transport file", "name it .xpt"),
    b"PK\x03\x04": ("is a zip archive or a workbook", "name a workbook .xlsx"),
    b"PK\x05\x06": ("is an empty zip archive", "export the table as CSV"),
    b"\x1f\x8b": ("is compressed", "name it .csv.gz"),
    b"\x28\xb5\x2f\xfd": ("is compressed", "name it .csv.zst"),
    b"\xd0\xcf\x11\xe0": ("is a workbook", "export the table as CSV"),
}
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST = 8  # bytes of a character, which may be cut where the first bytes end
_VISIBLE = re.compile(rb"[^ \t\r\n\xef\xbb\xbf]")


def opened(path: Path, raw: bytes, text: TextFormat | None) -> Opened:
    """Check a file's structure, and read its cells as text."""
    text = _by_mark(raw, text or TextFormat())
    data = _as_utf8(path, raw, text)
    file = _File(path, text, lambda: io.BytesIO(data))
    names, records = file.header(0)
    check_reading(path, len(data), data.count(b"\n") * len(names))
    frame = pl.concat(list(file.tables(names, records)))
    return text_table(path, frame, text, lambda at: file.line_of(records, at))


def opened_lazily(path: Path, text: TextFormat | None, beside: Path) -> Opened:
    """Check a file that is not to be held; its cells wait as text in a file beside."""
    with path.open("rb") as head:
        begins = head.read(_HEAD)
    text = _by_mark(begins, text or TextFormat())
    if text.codec not in ("utf-8", "utf-8-sig"):
        rule = "a file larger than memory is read some records at a time, which wants UTF-8"
        raise FileError(f"{path}", rule, "write it in UTF-8, or allow more memory (--memory)")
    _check_readable(path, begins, text)
    file = _File(path, text, lambda: path.open("rb"))
    names, records = file.header(len(codecs.BOM_UTF8) if text.codec == "utf-8-sig" else 0)
    files = ColumnFiles(beside)
    try:
        frame = files.put_all(file.tables(names, records))
    except BaseException:  # nothing waits of a file that is refused
        files.close()
        raise
    return text_table(path, frame, text, lambda at: file.line_of(records, at), files)


def outlined(path: Path, text: TextFormat | None) -> Outline | None:
    """Read the names of the columns; what these hold only all of their values show."""
    with path.open("rb") as file:
        raw = file.read(_HEAD + 1)
    compression = format_of(path).compression
    is_whole = compression is None and len(raw) <= _HEAD
    head = raw if compression is None else beginning(path, raw, compression)
    if compression is not None and not head:
        return None
    text = _by_mark(head, text or TextFormat())
    head = _as_utf8(path, head[:_HEAD], text, is_whole=is_whole)
    found = header_of(path, head, text, is_whole=is_whole)
    return None if found is None else Outline(kinds=dict.fromkeys(found[0]))


# The bytes of a file of text turned into UTF-8, and what they must not be.


def _by_mark(head: bytes, text: TextFormat) -> TextFormat:
    """Return it with the encoding whose mark a file begins with, where another is not asked for."""
    if text.codec != "utf-8":
        return text
    if head.startswith(codecs.BOM_UTF8):
        return replace(text, encoding="utf-8-sig")
    if "encoding" in text.said or not head.startswith(_UTF16_MARKS):
        return text
    is_longer = head.startswith(codecs.BOM_UTF32_LE)  # it begins as that of UTF-16 does
    return replace(text, encoding="utf-32" if is_longer else "utf-16")


def _as_utf8(path: Path, raw: bytes, text: TextFormat, *, is_whole: bool = True) -> bytes:
    """Turn a file's bytes, or its first ones, into UTF-8 without a mark; UTF-8 passes unseen."""
    _check_readable(path, raw, text)
    if text.codec == "utf-8":
        return raw
    if text.codec == "utf-8-sig":
        return raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode(text.encoding).encode()
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        if not is_whole and start > len(raw) - _LONGEST:
            return raw[:start].decode(text.encoding).encode()
        before = raw[:start].decode(text.encoding, "ignore")
        raise undecodable(path, before.count("\n") + 1, raw[start:], text) from None


def _check_readable(path: Path, head: bytes, text: TextFormat) -> None:
    """Refuse a file that is no text, is empty, or begins with the mark of another encoding."""
    for magic, (rule, remedy) in _NO_TEXT.items():
        if head.startswith(magic):
            raise FileError(str(path), f"a CSV file must be text, and this one {rule}", remedy)
    if not _VISIBLE.search(head):
        rule = "the file must hold a header and records, and it is empty"
        raise FileError(str(path), rule, "check that the table was exported")
    needed = ""
    if head.startswith(codecs.BOM_UTF8) and text.codec != "utf-8-sig":
        needed = "utf-8-sig"
    elif head.startswith(_UTF16_MARKS) and text.codec not in ("utf-16", "utf-32"):
        needed = "utf-16"
    if needed:
        rule = f"the file begins with a byte order mark, which {text.codec} does not have"
        raise FileError(place(path, 1), rule, f"pass --encoding {needed}")


@dataclass(frozen=True, slots=True)
class _File:
    """A file of text in UTF-8, or its bytes, read piece by piece."""

    path: Path
    text: TextFormat
    open: Callable[[], IO[bytes]]

    def header(self, skipped: int) -> tuple[list[str], Records]:
        """Read the names of the columns, and find where the records begin."""
        size, found = _HEAD, None
        while found is None:
            with self.open() as file:
                file.seek(skipped)
                head = file.read(size)
            found = header_of(self.path, head, self.text, is_whole=len(head) < size)
            size *= 16
        names, end = found
        line = 1 + head.count(b"\n", 0, end)
        start = skipped + min(end, len(head))  # the header may lack its line end
        n_fields = len(names)
        return names, Records(
            path=self.path, text=self.text, n_fields=n_fields, start=start, line=line
        )

    def tables(self, names: list[str], records: Records) -> Iterator[pl.DataFrame]:
        """Read the records as text, some megabytes at a time; null where a cell is empty."""
        before = 0
        with self.open() as file:
            for data in records.pieces(file):
                n_records, before = records.ends[-1][0] - before, records.ends[-1][0]
                yield self._table(data, names, n_records)

    def _table(self, data: bytes, names: list[str], n_records: int) -> pl.DataFrame:
        # polars drops a byte order mark, which is a value's here.
        marked = codecs.BOM_UTF8 + data if data.startswith(codecs.BOM_UTF8) else data
        rule, remedy = "the file must be a table", "export the table again as CSV"
        other = FileError(str(self.path), rule, remedy)
        with in_our_words(lambda _error: other):
            frame = pl.read_csv(
                marked,
                has_header=False,
                schema=dict.fromkeys(names, pl.String()),
                separator=self.text.separator,
                # Without this a cell of two quotes is empty text; with it reading is slower.
                null_values="" if b'"' in data else None,
            )
        if frame.height != n_records:  # it sees others than we do
            raise other
        return frame

    def line_of(self, records: Records, record: int) -> str:
        """Say where in the file a record is."""
        with self.open() as file:
            return f"line {records.line_of(file, record)}"


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

    for start in range(0, max(n_records, 1), at_once):
        batch = frame.slice(start, at_once).lazy().collect()
        buffer = io.BytesIO()
        (escaped(batch) if escape_formulas else batch).write_csv(
            buffer,
            include_header=start == 0,
            separator=text.separator,
            decimal_comma=text.decimal == ",",
            null_value=missing,
        )
        file.write(buffer.getbuffer() if encode is None else encode(buffer.getvalue().decode()))


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
