"""The bytes of a file of text turned into UTF-8, and what they must not be."""

import codecs
import re
from dataclasses import replace
from pathlib import Path

from microveil.errors import FileError
from microveil.files.file_bytes import FileBytes
from microveil.files.text import TextFormat, other_encoding, place

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
_UTF8_MARK = codecs.BOM_UTF8
_UTF16_MARKS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_LONGEST = 8  # bytes of a character, which may be cut where the first bytes end
_LOOK = 1 << 12  # bytes by which another encoding is named
_VISIBLE = re.compile(rb"[^ \t\r\n\xef\xbb\xbf]")


def by_mark(raw: bytes | FileBytes, text: TextFormat) -> TextFormat:
    """Return it with the encoding whose mark a file begins with, where another is not asked for."""
    if text.codec != "utf-8":
        return text
    if raw.startswith(_UTF8_MARK):
        return replace(text, encoding="utf-8-sig")
    if "encoding" in text.said or not raw.startswith(_UTF16_MARKS):
        return text
    is_longer = raw.startswith(codecs.BOM_UTF32_LE)  # it begins as that of UTF-16 does
    return replace(text, encoding="utf-32" if is_longer else "utf-16")


def as_utf8(path: Path, raw: bytes, text: TextFormat, *, is_whole: bool = True) -> bytes:
    """Turn a file's bytes, or its first ones, into UTF-8 without a byte order mark."""
    check_readable(path, raw, text)
    if text.codec == "utf-8":
        return raw
    if text.codec == "utf-8-sig":
        return raw.removeprefix(_UTF8_MARK)
    try:
        return raw.decode(text.encoding).encode()
    except UnicodeError as error:
        start = getattr(error, "start", 0)
        if not is_whole and start > len(raw) - _LONGEST:
            return raw[:start].decode(text.encoding).encode()
        raise _undecodable(path, raw, text, start) from None


def check_readable(path: Path, raw: bytes | FileBytes, text: TextFormat) -> None:
    """Refuse a file that is no text, is empty, or begins with the mark of another encoding."""
    for magic, (rule, remedy) in _NO_TEXT.items():
        if raw.startswith(magic):
            raise FileError(str(path), f"a CSV file must be text, and this one {rule}", remedy)
    pieces = raw.pieces() if isinstance(raw, FileBytes) else [raw]
    if not any(map(_VISIBLE.search, pieces)):
        rule = "the file must hold a header and records, and it is empty"
        raise FileError(str(path), rule, "check that the table was exported")
    needed = ""
    if raw.startswith(_UTF8_MARK) and text.codec != "utf-8-sig":
        needed = "utf-8-sig"
    elif raw.startswith(_UTF16_MARKS) and text.codec not in ("utf-16", "utf-32"):
        needed = "utf-16"
    if needed:
        rule = f"the file begins with a byte order mark, which {text.codec} does not have"
        raise FileError(place(path, 1), rule, f"pass --encoding {needed}")


def check_utf8(path: Path, data: bytes | FileBytes, text: TextFormat) -> None:
    """Refuse bytes that are not UTF-8, with the line of the first."""
    step = 1 << 20
    start = 0
    while start < len(data):
        # A line feed is one byte and never part of another character.
        stop = data.find(b"\n", start + step) + 1 or len(data)
        try:
            data[start:stop].decode()
        except UnicodeDecodeError as error:
            raise _undecodable(path, data, text, start + error.start) from None
        start = stop


def _undecodable(path: Path, raw: bytes | FileBytes, text: TextFormat, start: int) -> FileError:
    if text.codec.startswith(("utf-16", "utf-32")):
        line = raw[:start].decode(text.encoding, "ignore").count("\n") + 1
    else:
        line = raw.count(b"\n", 0, start) + 1
    rule = f"the text must be {text.codec}, and a byte is not"
    other = other_encoding(raw[start : start + _LOOK], text.codec)
    return FileError(place(path, line), rule, f"pass the file's encoding, often --encoding {other}")
