"""Excel workbooks: one sheet, read as a file of text is, since any cell may hold anything.

Numbers are stored as 64 bit floats and written to 16 digits, dates begin in 1900. Of a formula
the value is read that was saved with it; what is written holds none.
"""

import copy
import datetime
import io
import logging
import re
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, Any

import polars as pl

from microveil.errors import FileError
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
from microveil.files.compression import check_fits
from microveil.files.csv_structure import check_names
from microveil.files.formats import EXACT, EXCEL, Cells, Opened
from microveil.files.text import TextFormat
from microveil.files.text_columns import text_table
from microveil.files.writing import UnwritableError, stored
from microveil.table.memory import check_reading

_TITLE = "a whole Excel workbook"
_MOST_WHOLE = 2.0**63
_MIDNIGHT = r"^[0-9]{4}-[0-9]{2}-[0-9]{2} 00:00:00$"
_DAY = 86_400_000  # milliseconds
_AS_NUMBER = "write times as numbers (hours, minutes) or as text, or leave the column out"
# A cell that shows an error, and a formula that no value was saved with: both would be missing.
# Programs may put a prefix before each element (x:c), and either quotes around values.
_UNSOUND = re.compile(
    rb"<(?:\w+:)?c\s[^>]*\bt\s*=\s*[\"']e[\"']"
    rb"|</(?:\w+:)?f\s*>\s*(?:<(?:\w+:)?v\s*/>|<(?:\w+:)?v\s*>\s*</(?:\w+:)?v\s*>)?\s*</(?:\w+:)?c\s*>"
    rb"|<(?:\w+:)?f(?:\s[^>]*)?/>\s*</(?:\w+:)?c\s*>"
)


def opened(path: Path, raw: bytes, text: TextFormat | None) -> Opened:
    """Read the cells of a workbook's only sheet."""
    library = of_extra("fastexcel", extra="files", place=str(path), purpose="Excel files are read")
    # It warns of columns by their names, which are a person's values in a sheet without a header.
    logging.getLogger("fastexcel").setLevel(logging.CRITICAL)
    text = text if text is not None and text.header > 1 else None
    header = 1 if text is None else text.header
    line_of = partial(_line, header)
    check_filled(path, raw)
    _check_cells(path, raw)
    with in_our_words(lambda error: broken(path, _TITLE, error)):
        book = library.read_excel(raw)
        sheets = [_cells(path, book, number, header) for number in range(len(book.sheet_names))]
    filled = [sheet for sheet in sheets if sheet.height]
    if len(filled) > 1:
        rule = f"a workbook must hold one sheet, and this one has {len(filled)} with something"
        remedy = "save the sheet with the table as a workbook of its own, or as CSV"
        raise FileError(str(path), rule, remedy)
    check_records(path, filled[0].height - 1 if filled else 0)
    cells = pl.DataFrame(_dates(filled[0]))
    check_reading(path, 0, cells.height * cells.width)
    names = [name or "" for name in cells.row(0)]
    check_names(path, names, header)
    # Empty text is no value, as in a file of text.
    held = cells.slice(1).select(pl.when(pl.all() != "").then(pl.all()))
    table = held.rename(dict(zip(cells.columns, names, strict=True)))
    sheet = text_table(path, table, text, line_of)
    return replace(sheet, read=partial(_read, path, sheet, line_of))


def _read(path: Path, sheet: Opened, line_of: Callable[[int], str], cells: Cells) -> pl.DataFrame:
    """Read a sheet as text is read; a whole number that no float holds is refused."""
    frame = sheet.read(cells).lazy().collect()
    rule = "whole numbers must lie within 2^53: beyond, Excel has changed them already"
    remedy = "export the table as CSV from where it came"
    found = {
        column.name: within(column.is_between(-EXACT, EXACT), rule, remedy)
        for column in frame
        if column.dtype == pl.Int64
    }
    fitting(path, sheet.names, found, line_of)
    # Whether all others are at midnight, too, does not matter.
    alone = [pl.col(name) for name in sheet.names if name in cells.untyped]
    midnights = (own.str.contains(_MIDNIGHT).fill_null(value=False) for own in alone)
    return frame.with_columns(
        pl.when(is_one).then(own.str.head(10)).otherwise(own)
        for own, is_one in zip(alone, midnights, strict=True)
    )


def _line(header: int, record: int) -> str:
    return f"line {header + record + 1}"


def _check_cells(path: Path, raw: bytes) -> None:
    """Refuse a workbook that is too large unpacked, or shows errors or formulas without a value."""
    with (
        in_our_words(lambda error: broken(path, _TITLE, error)),
        zipfile.ZipFile(io.BytesIO(raw)) as archive,
    ):
        parts = archive.infolist()
        check_fits(path, sum(part.file_size for part in parts))
        texts = (_unpacked(archive, part) for part in parts)
        # A sheet may be in any folder: the library finds it by the workbook's list.
        unsound = sum(b"sheetData" in text and bool(_UNSOUND.search(text)) for text in texts)
    if unsound:
        rule = "every formula must have a value, and one has none or shows an error"
        remedy = "open the workbook, correct it and save it, or save its values alone"
        raise FileError(str(path), rule, remedy)


def _unpacked(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
    """Unpack a part, and give up where it is larger than its header says."""
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile  # Excel uses no other, and Python unpacks others at once
    whole = copy.copy(part)
    whole.file_size = sys.maxsize  # else it would be unpacked as far as the header says
    with archive.open(whole) as file:
        content = file.read(part.file_size + 1)
    if len(content) != part.file_size:
        raise zipfile.BadZipFile
    return content


def _cells(path: Path, book: Any, number: int, header: int) -> pl.DataFrame:
    """Return a sheet's cells from the header on as text, or all where nothing follows that."""
    # Where the line is said, empty ones at the top count.
    asked = {"header_row": None, "skip_rows": None if header == 1 else 0}

    def cells_as(kind: str) -> pl.DataFrame:
        cells: pl.DataFrame = book.load_sheet(number, dtypes=kind, **asked).to_polars()
        return cells if cells.height <= header else cells.slice(header - 1)

    cells = cells_as("string")
    if cells.height < 2:
        return cells
    spans = cells_as("duration")
    found = {
        column.name: _unheld(
            column.slice(1), span.slice(1), partial(_has_durations, book, number, place)
        )
        for place, (column, span) in enumerate(zip(cells, spans, strict=True))
    }
    fitting(path, cells.columns, found, partial(_line, header))
    return pl.DataFrame(list(map(_as_written, cells, cells_as("float"))))


def _as_written(words: pl.Series, numbers: pl.Series) -> pl.Series:
    """Write the numbers that the library has shortened as a file of text has them."""
    shortened = words.cast(pl.Float64, strict=False) != numbers
    whole = (numbers == numbers.floor()) & (numbers.abs() < _MOST_WHOLE)
    return pl.select(
        pl.when(~shortened.fill_null(value=False) | (pl.int_range(len(words)) == 0))
        .then(words)
        .when(whole)
        .then(numbers.cast(pl.Int64, strict=False).cast(pl.String))
        .otherwise(numbers.cast(pl.String))
        .alias(words.name)
    ).to_series()


def _unheld(words: pl.Series, span: pl.Series, has_durations: Callable[[], bool]) -> Misfit | None:
    """Find times of day, durations and dates that do not exist; a span counts from day 0."""
    days = span.cast(pl.Int64) / _DAY
    if not days.count():
        return None
    if has_durations():
        rule = "a column of dates must hold nothing else, and this one holds durations"
        return Misfit(index=-1, rule=rule, remedy=_AS_NUMBER)
    beyond = words.is_null() | words.str.starts_with("+")
    absent = days.is_between(60, 61, closed="left") & words.str.starts_with("1900-")
    times = (days < 0) | days.is_between(0, 1, closed="none") | (words < "1900-01-01")
    return (
        within(~(beyond & days.is_not_null()), "a date must lie in the years 1900 to 9999")
        or within(~absent, "a date must exist, and 1900-02-29 exists in Excel alone")
        or within(
            ~times, "a date of Excel begins in 1900: this is a time of day or before", _AS_NUMBER
        )
    )


def _has_durations(book: Any, number: int, place: int) -> bool:
    """Whether a column of dates and times holds a duration: the library puts it with no other."""
    try:
        sheet = book.load_sheet(number, use_columns=[place], schema_sample_rows=None)
        return bool(sheet.to_polars().dtypes == [pl.Duration])
    except Exception as error:
        if type(error).__name__ == "UnsupportedColumnTypeCombinationError":
            return True
        raise


def _dates(cells: pl.DataFrame) -> list[pl.Series]:
    """Take the time of day off columns that hold midnights alone: they are dates."""
    return [
        pl.concat([column.head(1), column.slice(1).str.head(10)])
        if column.slice(1).count() and column.slice(1).str.contains(_MIDNIGHT).all()
        else column
        for column in cells
    ]


def write(
    frame: pl.DataFrame,
    file: IO[bytes],
    **_how: Any,  # text is written as text, and runs as no formula; labels have no place
) -> None:
    """Write a table as the one sheet of a workbook."""
    library = of_extra(
        "xlsxwriter", extra="files", place="Excel", purpose="Excel files are written"
    )
    table = stored(frame, EXCEL)
    if all(cell is None or cell == "" for cell in table.row(-1)):
        rule = "the last record must have a value: rows without any are none at the end of a sheet"
        raise UnwritableError(None, rule, "write CSV or Parquet")
    buffer = io.BytesIO()
    plain = {f"strings_to_{kind}": False for kind in ("formulas", "urls", "numbers")}
    book = library.Workbook(buffer, {"in_memory": True, **plain})
    # No time of its making: equal tables give equal bytes.
    book.set_properties({"created": datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC)})
    shown = {pl.Date: "yyyy-mm-dd", pl.Datetime: "yyyy-mm-dd hh:mm:ss.000"}
    formats = {kind: book.add_format({"num_format": said}) for kind, said in shown.items()}
    sheet = book.add_worksheet("data")
    for place, column in enumerate(table):
        sheet.write_string(0, place, column.name)
        form = formats.get(column.dtype.base_type())
        put = sheet.write_number
        if column.dtype in (pl.String, pl.Boolean):
            put = sheet.write_string if column.dtype == pl.String else sheet.write_boolean
        elif column.dtype.is_temporal():
            put = sheet.write_datetime
        for row, cell in enumerate(column, start=1):
            if cell is not None:
                put(row, place, cell, form)
    book.close()
    file.write(buffer.getbuffer())
