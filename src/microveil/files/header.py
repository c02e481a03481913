"""The beginning of a CSV file: the names of its columns, and what must not stand before them."""

import csv
import io
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from microveil.errors import FileError
from microveil.files.file_bytes import FileBytes
from microveil.files.text import CANDIDATES, TextFormat, other_encoding, place
from microveil.table.frames import PATTERN_RULE, pattern_among

_EXPONENT = re.compile(r"\s*[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)[eE][+-]?[0-9]+\s*$")
# What stands for a truth value or a missing one, and hardly names a column.
_NO_NAMES = frozenset(
    [
        *("true", "True", "TRUE", "false", "False", "FALSE"),
        *("NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "null", "NULL"),
    ]
)
# Numbers with a decimal comma, with points between thousands too, and dates as 31.12.1980.
_COMMA = re.compile(r"[+-]?[0-9.]*[0-9],[0-9]+")
_POINTS = re.compile(r"[+-]?[0-9]{1,3}([.][0-9]{3})+,[0-9]+")
_DAY_FIRST = re.compile(r"[0-3]?[0-9][.][01]?[0-9][.][12][0-9]{3}")
_NOTE = re.compile(rb"\"?sep=(.)\"?\r?\n", re.IGNORECASE)
_LOOK = 1 << 16  # bytes, for seeing whether another separator was meant


def check_beginning(path: Path, data: bytes | FileBytes, text: TextFormat) -> None:
    """Refuse a first line that names the separator, as Excel writes it, and another separator."""
    found = _NOTE.match(data[:_LOOK])
    if found is not None:
        shown = CANDIDATES.get(
            found[1].decode("utf-8", "replace"), "and the separator that it names"
        )
        rule = "the header must stand first, and before it is a line that names the separator"
        raise FileError(place(path, 1), rule, f"remove that line, and pass --separator {shown}")
    look = data[:_LOOK].decode("utf-8", "replace")
    if len(data) > _LOOK:
        look = look[: look.rfind("\n") + 1]
    if _widths(look, text.separator)[:1] != [1]:
        return
    for candidate, shown in CANDIDATES.items():
        widths = _widths(look, candidate)
        if candidate != text.separator and widths and widths[0] > 1 and len(set(widths)) == 1:
            rule = (
                f"the columns are separated by {shown}, not by {CANDIDATES.get(text.separator, '')}"
            )
            flags = [f"--separator {shown}", *_flags(look, candidate, data[:_LOOK], text)]
            raise FileError(place(path, 1), rule, f"pass {' '.join(flags)}")


def _flags(look: str, separator: str, raw: bytes, text: TextFormat) -> Iterator[str]:
    """Guess by the first records what else has to be said of a file that another program wrote."""
    rows = itertools.islice(csv.reader(io.StringIO(look, newline=""), delimiter=separator), 1, 100)
    cells = [cell.strip() for row in rows for cell in row]
    if separator != "," and text.decimal == "." and any(map(_COMMA.fullmatch, cells)):
        yield "--decimal ,"
        yield from ["--thousands ."] if any(map(_POINTS.fullmatch, cells)) else []
    if not text.dates and any(map(_DAY_FIRST.fullmatch, cells)):
        yield "--dates DMY"
    if "\N{REPLACEMENT CHARACTER}" in look and text.codec == "utf-8":
        yield f"--encoding {other_encoding(raw, text.codec)}"


def _widths(look: str, separator: str) -> list[int]:
    """Fields in each of the first 100 records that are not blank; none where it is no CSV."""
    widths = []
    try:
        for row in csv.reader(io.StringIO(look, newline=""), delimiter=separator):
            if row:
                widths.append(len(row))
            if len(widths) == 100:
                break
    except csv.Error:
        return []
    return widths


def names_of(path: Path, header: bytes, text: TextFormat) -> list[str]:
    """Read the names of the columns.

    A file without a header has a person's values there, so that errors show columns by number.
    """
    try:
        rows = csv.reader(io.StringIO(header.decode(), newline=""), delimiter=text.separator)
        names = next(rows)
    except UnicodeDecodeError:
        rule = f"the text must be {text.codec}, and a byte is not"
        remedy = f"pass the file's encoding, often --encoding {other_encoding(header, text.codec)}"
        raise FileError(place(path, 1), rule, remedy) from None
    except csv.Error:
        rule = "the first line must hold the names of the columns"
        raise FileError(place(path, 1), rule, "check that the file is a table") from None
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if wrong := _wrong_name(name, f"column {number}", len(names)):
            raise FileError(place(path, 1), *wrong)
    if (pattern := pattern_among(names)) is not None:
        raise FileError(f"{place(path, 1)}, column {pattern}", PATTERN_RULE, "rename it")
    for number, name in enumerate(names, start=1):
        if name in first:
            rule = (
                "the names of the columns must differ, "
                f"and columns {first[name]} and {number} have the same there"
            )
            remedy = "rename one of them, or add a line of names if the file has none"
            raise FileError(place(path, 1), rule, remedy)
        first[name] = number
    return names


def _wrong_name(name: str, column: str, n_names: int) -> tuple[str, str] | None:
    """Rule and remedy where a name is none."""
    if not name.strip():
        rule = f"every column must have a name, and {column} of {n_names} has none"
        return rule, "name it there; if line 2 has the names, delete line 1"
    begins = f"the first line must name the columns, and {column} has"
    if not any(map(str.isalpha, name)) or _EXPONENT.match(name):
        remedy = "add a line of names; a name that is a number or a sign wants a letter to it"
        return f"{begins} a number or signs there", remedy
    if name.strip() in _NO_NAMES:
        rule = f"{begins} a word there that stands for a truth value or a missing one"
        return rule, "add a line of names, or rename the column"
    return None
