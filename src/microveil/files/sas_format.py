"""SAS files, .sas7bdat and transport files .xpt: read, with the labels of columns.

Their missing values .A to .Z have no number, and are read as missing. Code lists are kept in
files of their own, and are not read.
"""

import re
from dataclasses import replace
from pathlib import Path

from microveil.errors import FileError
from microveil.files import statistical
from microveil.files.checking import broken
from microveil.files.formats import SAS, Opened
from microveil.files.statistical import Column, Package
from microveil.files.text import TextFormat
from microveil.files.typed import Outline

# From 1960-01-01: days, or seconds.
_DATE = Column(kind="date", origin=3_653.0)
_MOMENT = Column(kind="moment", origin=3_653.0 * 86_400)
# What columns are by the format that they are shown in: else they hold decimal numbers.
_MOMENTS = re.compile(
    r"(?:DATETIME|DTDATE|DTMONYY|DTWKDATX|DTYEAR|DTYYQC|TOD|E8601DT|B8601DT|IS8601DT|DATEAMPM|"
    r"MDYAMPM)[0-9.]*"
)
_DATES = re.compile(
    r"(?:DATE|DAY|DDMMYY|E8601DA|IS8601DA|JULDAY|JULIAN|MMDDYY|MMYY|MONYY|WEEKDATE|WEEKDATX|"
    r"WORDDATE|WORDDATX|YYMM|YYMMDD|YYMON|YYQ|B8601DA|YEAR|QTR|MONNAME|DOWNAME|NLDATE)"
    r"[BCDNPS]?[0-9]*"
)
_TIMES = re.compile(r"(?:TIME|HHMM|HOUR|MMSS|TIMEAMPM|E8601TM|IS8601TM|B8601TM)[0-9.]*")
_WHOLE = re.compile(r"(?:F|Z|COMMA)[0-9]+(?:[.]0)?")
_COLUMNS = {
    _MOMENTS: _MOMENT,
    _DATES: _DATE,
    _TIMES: Column(kind="time"),
    _WHOLE: Column(kind="whole"),
}
_BEGINS = b"HEADER RECORD*******"  # a transport file
# What a data set begins with, in files of versions 5 and 8; all begins at a multiple of 80 bytes.
_MEMBER = re.compile(rb"HEADER RECORD[*]{7}MEM(?:BER  |BV8  )HEADER RECORD!{7}")
_BLOCK = 80


def _column(storage: str, form: str | None) -> Column:
    if storage == "string":
        return Column(kind="text")
    shown = (form or "").upper()
    found = (column for shape, column in _COLUMNS.items() if shape.fullmatch(shown))
    return next(found, Column(kind="decimal"))


_SAS = Package(title="SAS", reader="read_sas7bdat", column=_column, carries=SAS)
_TRANSPORT = replace(_SAS, title="SAS transport", reader="read_xport", says_encoding=False)


def opened(path: Path, raw: bytes, text: TextFormat | None) -> Opened:
    """Read a file of either form: its first bytes say which."""
    if raw.startswith(_BEGINS):
        _check_blocks(path, raw)
        return statistical.opened(_TRANSPORT, path, raw, text)
    if path.name.lower().endswith(".xpt") and raw:
        raise broken(path, "whole SAS transport", remedy="export the table again")
    return statistical.opened(_SAS, path, raw, text)


def outlined(path: Path, text: TextFormat | None) -> Outline:
    """Read what a file of either form says of its columns."""
    with path.open("rb") as file:
        is_transport = file.read(len(_BEGINS)) == _BEGINS
    return statistical.outlined(_TRANSPORT if is_transport else _SAS, path, text)


def _check_blocks(path: Path, raw: bytes) -> None:
    """Refuse a transport file of which the library would read more than one data set."""
    if len(raw) % _BLOCK:
        # What follows a gap would be read as records, and a record that is cut off is lost.
        rule = f"a SAS transport file consists of blocks of {_BLOCK} bytes, and this one does not"
        raise FileError(str(path), rule, "copy or export it again, and not as text")
    n_tables = sum(found.start() % _BLOCK == 0 for found in _MEMBER.finditer(raw))
    if n_tables > 1:
        rule = f"a file must hold one data set, and this one has {n_tables}"
        raise FileError(str(path), rule, "export the one that is meant into a file of its own")
