"""The bytes of a file of text turned into UTF-8, and what they must not be."""

import codecs
import re
from dataclasses import replace
from pathlib import Path

from microveil.errors import FileError
from microveil.files.csv_structure import undecodable
from microveil.files.text import TextFormat, place

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


def by_mark(head: bytes, text: TextFormat) -> TextFormat:
    """Return it with the encoding whose mark a file begins with, where another is not asked for."""
    if text.codec != "utf-8":
        return text
    if head.startswith(codecs.BOM_UTF8):
        return replace(text, encoding="utf-8-sig")
    if "encoding" in text.said or not head.startswith(_UTF16_MARKS):
        return text
    is_longer = head.startswith(codecs.BOM_UTF32_LE)  # it begins as that of UTF-16 does
    return replace(text, encoding="utf-32" if is_longer else "utf-16")


def as_utf8(path: Path, raw: bytes, text: TextFormat, *, is_whole: bool = True) -> bytes:
    """Turn a file's bytes, or its first ones, into UTF-8 without a mark; UTF-8 passes unseen."""
    check_readable(path, raw, text)
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


def check_readable(path: Path, head: bytes, text: TextFormat) -> None:
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
