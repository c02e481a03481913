"""SAS files, .sas7bdat and transport files .xpt: read, with the labels of columns.

Their missing values .A to .Z have no number, and are read as missing. Code lists are kept in
files of their own, and are not read.
"""

import re
from pathlib import Path

from microveil.errors import FileError
from microveil.files.declared import Outline
from microveil.files.statistical import Column, LabelledFile, opened_by, outlined_by
from microveil.files.text import TextFormat

__all__ = ["opened", "outlined"]

# From 1960-01-01: days, or seconds.
_DATE = Column(kind="date", origin=3_653.0)
_MOMENT = Column(kind="moment", origin=3_653.0 * 86_400)
_DATES = re.compile(
    r"(?:DATE|DAY|DDMMYY|E8601DA|IS8601DA|JULDAY|JULIAN|MMDDYY|MMYY|MONYY|WEEKDATE|WEEKDATX|"
    r"WORDDATE|WORDDATX|YYMM|YYMMDD|YYMON|YYQ|B8601DA)[BCDNPS]?[0-9]*"
)
_MOMENTS = re.compile(r"(?:DATETIME|E8601DT|B8601DT|IS8601DT|DATEAMPM|MDYAMPM)[0-9.]*")
_WHOLE = re.compile(r"(?:F|Z|COMMA)[0-9]+(?:[.]0)?")
_TRANSPORT = b"HEADER RECORD*******"


def opened(path: Path, raw: bytes, text: TextFormat | None) -> LabelledFile:  # noqa: ARG001
    """Read a file of either form: its first bytes say which."""
    if raw.startswith(_TRANSPORT):
        return opened_by("read_xport", path, raw, "SAS transport", _stored)
    if path.name.lower().endswith(".xpt") and raw:
        rule = "the file must be whole SAS transport, and it is broken or something else"
        raise FileError(str(path), rule, "export the table again")
    return opened_by("read_sas7bdat", path, raw, "SAS", _stored)


def outlined(path: Path, text: TextFormat | None) -> Outline:  # noqa: ARG001
    """Read what a file of either form says of its columns."""
    with path.open("rb") as file:
        is_transport = file.read(len(_TRANSPORT)) == _TRANSPORT
    if is_transport:
        return outlined_by("read_xport", path, "SAS transport", _stored)
    return outlined_by("read_sas7bdat", path, "SAS", _stored)


def _stored(storage: str, form: str | None) -> Column:
    if storage == "string":
        return Column(kind="text")
    shown = (form or "").upper()
    if _MOMENTS.fullmatch(shown):
        return _MOMENT
    if _DATES.fullmatch(shown):
        return _DATE
    return Column(kind="whole" if _WHOLE.fullmatch(shown) else "decimal")
