"""The structure of a CSV file, checked before anything reads its values."""

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from microveil.errors import FileError
from microveil.files.file_bytes import FileBytes
from microveil.files.text import CANDIDATES, TextFormat, place
from microveil.kernels import csv as kernel
from microveil.table.naming import PATTERN_RULE, pattern_among

__all__ = ["Structure", "check_structure", "names_in"]

_EXPONENT = re.compile(r"\s*[+-]?([0-9]+[.,]?[0-9]*|[.,][0-9]+)[eE][+-]?[0-9]+\s*$")
# What stands for a truth value or a missing one, and hardly names a column.
_NO_NAMES = frozenset(
    [
        *("true", "True", "TRUE", "false", "False", "FALSE"),
        *("NA", "N/A", "n/a", "#N/A", "<NA>", "nan", "NaN", "null", "NULL"),
    ]
)
# What a piece does not end with: what a value that is written as no number may begin with, and a
# carriage return, of which the byte behind it says what it is.
_NO_END = b" \t0+\r"
_PLACES = [kernel.PLACE, kernel.LINE_START, kernel.OPENED, kernel.END]
_NOTE = re.compile(rb"\"?sep=(.)\"?\r?\n", re.IGNORECASE)
_END_OF_FILE = b"\x1a"
_LOOK = 1 << 16  # bytes, for seeing whether another separator was meant
_RULES = {
    kernel.UNCLOSED: (
        "a quote that opens must close, and the one that opens here never does",
        "close it, or write it twice if it belongs to the value",
    ),
    kernel.AFTER_QUOTE: (
        "a quote that closes must end its field, and text follows",
        "write quotes inside a value twice",
    ),
    kernel.STRAY_QUOTE: (
        "a quote must stand at the beginning of a field, and one stands inside",
        "put the whole value in quotes and write quotes inside it twice",
    ),
    kernel.LONE_RETURN: (
        "a line must end with LF or CRLF, and one ends with a lone carriage return",
        "save the file with line ends LF or CRLF",
    ),
    kernel.BLANK: (
        "the line must hold a record, and it is blank",
        'remove it; in a file of one column write "" for a missing value',
    ),
    kernel.NUL: (
        "a CSV file must be text, and a byte here is 0",
        "export the table as CSV; if it is UTF-16 without a mark, pass --encoding utf-16-le",
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What a sound CSV file holds.

    Parameters
    ----------
    names : list of str
        The columns.
    n_records : int
        Records, the header not counted.
    header_end, end : int
        Bytes behind the header and behind the last record that is not blank.
    unlike_numbers : list of bool
        For each column, whether a value is written as no number is: 00123, +49.
    is_ascii : bool
        Whether all bytes below the header are ASCII.
    has_quotes : bool
        Whether a field below the header is in quotes.
    """

    names: list[str]
    n_records: int
    header_end: int
    end: int
    unlike_numbers: list[bool]
    is_ascii: bool
    has_quotes: bool

    def record_end(self, data: bytes | FileBytes, text: TextFormat, n_records: int) -> int:
        """Byte behind the first ``n_records`` records."""
        if n_records == 0:
            return self.header_end
        memory, _ = _walk(data, text, self.header_end, n_fields=0, limit=n_records)
        return self.header_end + int(memory[kernel.END])

    def pieces(self, data: bytes | FileBytes, text: TextFormat, n_records: int) -> Iterator[slice]:
        """Yield where the records are, so many at a time."""
        start, left = self.header_end, self.n_records
        while left > 0:
            memory, _ = _walk(data, text, start, n_fields=0, limit=min(n_records, left))
            end = self.end if left <= n_records else start + int(memory[kernel.END])
            yield slice(start, end)
            start, left = end, left - n_records

    def line_of(self, data: bytes | FileBytes, text: TextFormat, record: int) -> int:
        """Line of the file on which a record begins, both as counted here: 0 and 1 first."""
        return data.count(b"\n", 0, self.record_end(data, text, record)) + 1


def check_structure(path: Path, data: bytes | FileBytes, text: TextFormat) -> Structure:
    """Refuse text that is no table, with the line; else say what it holds."""
    _refuse_note(path, data)
    if data[len(data) - 1 :] == _END_OF_FILE:
        line = data.count(b"\n", 0, len(data)) + 1
        rule = "the file must end with its records, and a Ctrl-Z follows, which ended files once"
        raise FileError(place(path, line), rule, "remove that byte, the last of the file")
    _refuse_other_separator(path, data, text)
    memory, _ = _walk(data, text, 0, n_fields=0, limit=1)
    _refuse_broken(path, data, memory, 0, 0)
    header_end = int(memory[kernel.END])
    names = _names(path, data[:header_end], text)
    memory, numbered = _walk(data, text, header_end, n_fields=len(names), limit=0)
    _refuse_broken(path, data, memory, header_end, len(names))
    n_records = int(memory[kernel.RECORDS])
    if n_records == 0:
        rule = "records must follow the header, and there are none"
        raise FileError(str(path), rule, "check that the table was exported")
    blank = int(memory[kernel.BLANK_AT])
    return Structure(
        names=names,
        n_records=n_records,
        header_end=header_end,
        end=len(data) if blank < 0 else header_end + blank,
        unlike_numbers=[bool(flag) for flag in numbered],
        is_ascii=not memory[kernel.HIGH],
        has_quotes=bool(memory[kernel.OPENED] >= 0),
    )


def names_in(path: Path, head: bytes, text: TextFormat, *, is_whole: bool) -> list[str] | None:
    """Read the names of the columns off the beginning of a file.

    Parameters
    ----------
    path : pathlib.Path
    head : bytes
        In UTF-8, without a byte order mark.
    text : TextFormat
    is_whole : bool
        Whether it is all of the file.

    Returns
    -------
    list of str or None
        None where the header may end behind it.

    Raises
    ------
    FileError
        If the header is none, as for `check_structure`.
    """
    _refuse_note(path, head)
    _refuse_other_separator(path, head, text)
    lines = head if is_whole else head[: head.rfind(b"\n") + 1]
    if not is_whole and lines.count(b"\n") <= _header_lines(lines, text):
        return None
    return _names(path, lines, text)


def _header_lines(head: bytes, text: TextFormat) -> int:
    """Count the lines of the header: a quoted name may have several."""
    read = io.StringIO(head.decode("utf-8", "replace"), newline="")
    rows = csv.reader(read, delimiter=text.separator)
    try:
        next(rows, None)
    except csv.Error:  # a name of more than csv takes
        return head.count(b"\n")
    return rows.line_num


def _walk(
    data: bytes | FileBytes, text: TextFormat, start: int, *, n_fields: int, limit: int
) -> tuple[Any, Any]:
    """Walk over the bytes from a place on; what is found is counted from there."""
    memory = np.zeros(kernel.N_MEMORY, dtype=np.int64)
    memory[[kernel.BLANK_AT, kernel.OPENED]] = -1
    numbered = np.zeros(n_fields, dtype=np.uint8)
    if isinstance(data, FileBytes):
        _walk_in_pieces(data, text, start, limit, memory, numbered)
    else:
        view = np.frombuffer(data, dtype=np.uint8)[start:]
        kernel.walk(view, ord(text.separator), n_fields, limit, memory, numbered)
    return memory, numbered


def _walk_in_pieces(
    data: FileBytes, text: TextFormat, start: int, limit: int, memory: Any, numbered: Any
) -> None:
    """Walk over one piece after another, as if they were one."""
    done, blank, left = 0, -1, b""
    for piece in data.pieces(start):
        some, left = left + piece, b""
        if start + done + len(some) < len(data):
            whole = some.rstrip(_NO_END)
            some, left = whole, some[len(whole) :]
            memory[kernel.MORE] = 1
        else:
            memory[kernel.MORE] = 0
        if not some:
            continue
        memory[_PLACES] -= done
        view = np.frombuffer(some, dtype=np.uint8)
        kernel.walk(view, ord(text.separator), len(numbered), limit, memory, numbered)
        memory[_PLACES] += done
        if blank < 0 <= memory[kernel.BLANK_AT]:
            blank = done + int(memory[kernel.BLANK_AT])
        if memory[kernel.CODE] != kernel.SOUND or 0 < limit == memory[kernel.RECORDS]:
            break
        done += len(some)
    memory[kernel.BLANK_AT] = blank
    if memory[kernel.CODE] == kernel.BLANK:
        memory[kernel.PLACE] = blank


def _refuse_broken(
    path: Path, data: bytes | FileBytes, memory: Any, start: int, n_fields: int
) -> None:
    code = int(memory[kernel.CODE])
    if code == kernel.SOUND:
        return
    line = data.count(b"\n", 0, start + int(memory[kernel.PLACE])) + 1
    if code == kernel.RAGGED:
        found = int(memory[kernel.FOUND])
        rule = f"a record must have {n_fields} fields as the header has, and this one has {found}"
        remedy = "correct the record; put a value that holds the separator in quotes"
        raise FileError(place(path, line), rule, remedy)
    rule, remedy = _RULES[code]
    raise FileError(place(path, line), rule, remedy)


def _names(path: Path, header: bytes, text: TextFormat) -> list[str]:
    """Read the names of the columns.

    A file without a header has a person's values there, so that errors show columns by number.
    """
    try:
        rows = csv.reader(io.StringIO(header.decode(), newline=""), delimiter=text.separator)
        names = next(rows)
    except UnicodeDecodeError:
        rule = f"every byte must be {text.codec}, and one is not"
        remedy = "pass the file's encoding, often --encoding latin-1"
        raise FileError(place(path, 1), rule, remedy) from None
    except csv.Error:
        rule = "the first line must hold the names of the columns"
        raise FileError(place(path, 1), rule, "check that the file is a table") from None
    for number, name in enumerate(names, start=1):
        if not name.strip():
            rule = f"every column must have a name, and column {number} of {len(names)} has none"
            raise FileError(place(path, 1), rule, "name it in the header")
        if not any(map(str.isalpha, name)) or _EXPONENT.match(name):
            rule = (
                "the first line must name the columns, "
                f"and column {number} has a number or signs there"
            )
            remedy = "add a line of names; a name that is a number or a sign wants a letter to it"
            raise FileError(place(path, 1), rule, remedy)
        if name.strip() in _NO_NAMES:
            rule = (
                "the first line must name the columns, and column "
                f"{number} has a word there that stands for a truth value or a missing one"
            )
            raise FileError(place(path, 1), rule, "add a line of names, or rename the column")
    if (pattern := pattern_among(names)) is not None:
        raise FileError(f"{place(path, 1)}, column {pattern}", PATTERN_RULE, "rename it")
    _refuse_same(path, names)
    return names


def _refuse_same(path: Path, names: list[str]) -> None:
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in first:
            rule = (
                "the names of the columns must differ, "
                f"and columns {first[name]} and {number} have the same there"
            )
            remedy = "rename one of them, or add a line of names if the file has none"
            raise FileError(place(path, 1), rule, remedy)
        first[name] = number


def _refuse_note(path: Path, data: bytes | FileBytes) -> None:
    """Refuse a first line that Excel takes for its own: it names the separator."""
    found = _NOTE.match(data[:_LOOK])
    if found is not None:
        separator = found[1].decode("utf-8", "replace")
        shown = CANDIDATES.get(separator, "and the separator that it names")
        rule = "the header must stand first, and before it is a line that names the separator"
        raise FileError(place(path, 1), rule, f"remove that line, and pass --separator {shown}")


def _refuse_other_separator(path: Path, data: bytes | FileBytes, text: TextFormat) -> None:
    """Refuse a header of one field that another separator cuts, and cuts the records alike."""
    look = data[:_LOOK].decode("utf-8", "replace")
    if len(data) > _LOOK:
        look = look[: look.rfind("\n") + 1]
    if _widths(look, text.separator)[:1] != [1]:
        return
    for candidate, shown in CANDIDATES.items():
        widths = _widths(look, candidate)
        if candidate != text.separator and widths and widths[0] > 1 and len(set(widths)) == 1:
            rule = f"the header must be cut by the separator, and it is cut by {shown}"
            raise FileError(place(path, 1), rule, f"pass --separator {shown}")


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
