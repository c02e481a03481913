"""The form of a CSV file, held to RFC 4180 before polars reads its values.

One regular expression says what a record is. Where a file stops to be records of that form, the
next one is looked at field by field, which finds what is wrong and where.
"""

import csv
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from microveil.errors import FileError
from microveil.files.text import CANDIDATES, TextFormat, other_encoding, place
from microveil.table.frames import PATTERN_RULE, pattern_among

_PIECE = 1 << 24  # bytes that are checked, and read into a table, together
_LONGEST = 1 << 26  # bytes of a record within which a broken rule is looked for
_LOOK = 1 << 16  # bytes, for seeing whether another separator was meant
_BLANK_LINE = re.compile(rb"\n\r?\n")
_QUOTED = re.compile(rb'"[^"]*"')
_BLANK_LINES = re.compile(rb"(?:\r?\n)*+")

_UNCLOSED = (
    "a quote that opens must close, and the one that opens here never does",
    "close it, or write it twice if it belongs to the value",
)
_AFTER_QUOTE = (
    "a quote that closes must end its field, and text follows",
    "write quotes inside a value twice",
)
_STRAY_QUOTE = (
    "a quote must stand at the beginning of a field, and one stands inside",
    "put the whole value in quotes and write quotes inside it twice",
)
_LONE_RETURN = (
    "a line must end with LF or CRLF, and one ends with a lone carriage return",
    "save the file with line ends LF or CRLF",
)
_BLANK = (
    "the line must hold a record, and it is blank",
    'remove it; in a file of one column write "" for a missing value',
)
_TITLED = "if a later line has the names, pass its number, for example --header 3"
_NUL = (
    "a CSV file must be text, and a byte here is 0",
    "export the table as CSV; if it is UTF-16 without a mark, pass --encoding utf-16-le",
)
_CTRL_Z = (
    "the file must end with its records, and a Ctrl-Z follows, which ended files once",
    "remove that byte, the last of the file",
)

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


class _BrokenError(Exception):
    """A rule is broken at a byte of a text."""

    def __init__(self, at: int, rule: tuple[str, str]) -> None:
        super().__init__(at, rule)
        self.at, self.rule = at, rule


def _field(separator: str) -> bytes:
    mark = re.escape(separator.encode())
    return rb'(?:"[^"\0]*+(?:""[^"\0]*+)*+"|[^"\r\n\0' + mark + rb"]*+)"


def record_form(separator: str, n_fields: int | None) -> "re.Pattern[bytes]":
    """Say what a record of so many fields is, or of any number; a blank line is none."""
    field, mark = _field(separator), re.escape(separator.encode())
    others = b"*+" if n_fields is None else b"{%d}" % (n_fields - 1)
    return re.compile(rb"(?!\r?\n)" + field + b"(?:" + mark + field + b")" + others + rb"\r?\n")


def header_of(
    path: Path, head: bytes, text: TextFormat, *, is_whole: bool
) -> tuple[list[str], int] | None:
    """Read the names of the columns off the beginning of a file, and where they end.

    None where the beginning does not reach.
    """
    head = ended(head) if is_whole else head
    above = re.match(rb"(?:[^\n]*+\n){%d}" % (text.header - 1), head)
    at = len(head) if above is None else above.end()
    if at == len(head) and is_whole:
        rule = "the line must name the columns, and the file ends before it"
        raise FileError(place(path, text.header), rule, "pass the number of the line that does")
    if at == len(head):
        return None
    _check_beginning(path, head[at:], text)
    found = record_form(text.separator, None).match(head, at)
    if found is not None:
        return names_of(path, found[0], text), found.end()
    try:
        _find_broken(head, at, text.separator, 0, is_cut=not is_whole)
    except _BrokenError as broken:
        raise FileError(place(path, head.count(b"\n", 0, broken.at) + 1), *broken.rule) from None
    return None


def ended(data: bytes) -> bytes:
    """Return the end of a file with the line end that its last record may lack."""
    return data if data.endswith((b"\r", b"\n")) else data + b"\n"


@dataclass(slots=True, kw_only=True)
class Records:
    """The records of a CSV file behind its header: a walk over them, and where they were."""

    path: Path
    text: TextFormat
    n_fields: int
    start: int  # the byte behind the header
    line: int  # the line there
    # Records, bytes and lines before each piece of the file, and at its end.
    ends: list[tuple[int, int, int]] = field(default_factory=list)

    def pieces(self, file: IO[bytes]) -> Iterator[bytes]:
        """Yield whole records, some megabytes at a time; refuse text that is no table by line."""
        form = record_form(self.text.separator, self.n_fields).pattern
        many = re.compile(b"(?:" + form + b")*+")
        self.ends = [(0, self.start, self.line)]
        file.seek(self.start)
        data, is_cut = b"", True
        while is_cut:
            more = file.read(_PIECE)
            is_cut = len(more) == _PIECE
            data += more
            if not is_cut:
                data = self._ended(data)
            whole = data[: data.rfind(b"\n") + 1]
            if not _is_plain(whole, self.text.separator, self.n_fields):
                whole = cast("re.Match[bytes]", many.match(data))[0]
            if whole:
                yield self._piece(whole)
                data = data[len(whole) :]
            self._check_rest(data, is_cut=is_cut)
        if self.ends[-1][0] == 0:
            rule = "records must follow the header, and there are none"
            raise FileError(str(self.path), rule, "check that the table was exported")

    def _piece(self, data: bytes) -> bytes:
        """Note where a piece ends, and look that it is UTF-8."""
        n_records, at, line = self.ends[-1]
        if not data.isascii():
            try:
                data.decode()
            except UnicodeDecodeError as error:
                line += data.count(b"\n", 0, error.start)
                raise undecodable(self.path, line, data[error.start :], self.text) from None
        n_lines = n_ends = data.count(b"\n")
        if b'"' in data:  # lines inside of values end no record
            n_ends = len(_QUOTED.sub(b"", _only(data, b'"\n').replace(b'""', b"")))
        n_records += n_ends
        self.ends.append((n_records, at + len(data), line + n_lines))
        return data

    def _ended(self, data: bytes) -> bytes:
        if data.endswith(b"\x1a"):
            raise FileError(place(self.path, self.ends[-1][2] + data.count(b"\n")), *_CTRL_Z)
        return ended(data) if data else data

    def _check_rest(self, data: bytes, *, is_cut: bool) -> None:
        """Refuse what is no record, unless it may become one or is blank lines at the end."""
        try:
            is_cut = is_cut and len(data) < _LONGEST
            _find_broken(data, 0, self.text.separator, self.n_fields, is_cut=is_cut)
        except _BrokenError as broken:
            line = self.ends[-1][2] + data.count(b"\n", 0, broken.at)
            rule, remedy = broken.rule
            if broken.rule is _BLANK and line == self.text.header + 1:  # above it may be a title
                remedy = f"{remedy}; {_TITLED}"
            raise FileError(place(self.path, line), rule, remedy) from None

    def line_of(self, file: IO[bytes], record: int) -> int:
        """Return the line on which a record begins, the first of which is 0."""
        (before, at, line), (_, stop, _) = next(
            two for two in itertools.pairwise(self.ends) if record < two[1][0]
        )
        file.seek(at)
        data = ended(file.read(stop - at))
        found = record_form(self.text.separator, self.n_fields).finditer(data)
        start = next(itertools.islice(found, record - before, None)).start()
        return line + data.count(b"\n", 0, start)


def _is_plain(lines: bytes, separator: str, n_fields: int) -> bool:
    """Whether lines are records without quotes: found in a tenth of the time of their form."""
    if b"\r" in lines and lines.count(b"\r") != lines.count(b"\r\n"):
        return False
    if n_fields == 1 and (lines[:1] in (b"\r", b"\n") or _BLANK_LINE.search(lines)):
        return False
    mark = separator.encode()
    marks = _only(lines, mark + b'\n"\0')
    return marks == (mark * (n_fields - 1) + b"\n") * (len(marks) // n_fields)


def _only(data: bytes, some: bytes) -> bytes:
    """Return the bytes that are some."""
    return data.translate(None, bytes({*range(256)} - {*some}))


def _find_broken(data: bytes, at: int, separator: str, n_fields: int, *, is_cut: bool) -> None:
    """Look at a record that is not of the form; go on where it may be cut, or nothing is left."""
    begin = cast("re.Match[bytes]", _BLANK_LINES.match(data, at)).end()
    if begin == len(data):
        return
    mark, field = separator.encode(), re.compile(_field(separator))
    start, n_found = begin, 0
    while True:
        found = cast("re.Match[bytes]", field.match(data, start))  # be it empty
        stop, n_found = found.end(), n_found + 1
        if data[stop : stop + 1] != mark:
            break
        start = stop + 1
    rest = data[stop : stop + 2]
    if is_cut and rest in (b"", b"\r"):
        return
    if rest[:1] not in (b"", b"\n") and rest != b"\r\n":
        broken = _broken(data, found)
        if is_cut and broken.rule is _UNCLOSED:
            return
        raise broken
    if begin > at:
        raise _BrokenError(at, _BLANK)
    rule = f"a record must have {n_fields} fields as the header has, and this one has {n_found}"
    remedy = "correct the record; put a value that holds the separator in quotes"
    raise _BrokenError(begin, (rule, remedy))


def _broken(data: bytes, found: "re.Match[bytes]") -> _BrokenError:
    """Say what is wrong behind a field, or with one that a quote opens."""
    at = found.end()
    byte = data[at : at + 1]
    if byte == b'"' and not found[0]:
        nul = data.find(b"\0", at)
        return _BrokenError(at, _UNCLOSED) if nul < 0 else _BrokenError(nul, _NUL)
    rules = {b'"': _STRAY_QUOTE, b"\r": _LONE_RETURN, b"\0": _NUL}
    return _BrokenError(at, rules.get(byte, _AFTER_QUOTE))


def undecodable(path: Path, line: int, some: bytes, text: TextFormat) -> FileError:
    """Return the error about text in another encoding, of which some bytes are given."""
    rule = f"the text must be {text.codec}, and a byte is not"
    other = other_encoding(some[: 1 << 12], text.codec)
    return FileError(place(path, line), rule, f"pass the file's encoding, often --encoding {other}")


def _check_beginning(path: Path, data: bytes, text: TextFormat) -> None:
    """Refuse a first line that names the separator, as Excel writes it, and another separator."""
    found = _NOTE.match(data[:_LOOK])
    if found is not None:
        shown = CANDIDATES.get(
            found[1].decode("utf-8", "replace"), "and the separator that it names"
        )
        rule = "the header must stand first, and before it is a line that names the separator"
        raise FileError(
            place(path, text.header), rule, f"remove that line, and pass --separator {shown}"
        )
    look = data[:_LOOK].decode("utf-8", "replace")
    if len(data) > _LOOK:
        look = look[: look.rfind("\n") + 1]
    is_record = record_form(text.separator, None).match(data) is not None
    if is_record and _widths(look, text.separator)[:1] != [1]:
        return
    for candidate, shown in CANDIDATES.items():
        widths = _widths(look, candidate)
        if candidate != text.separator and widths and widths[0] > 1 and len(set(widths)) == 1:
            rule = (
                f"the columns are separated by {shown}, not by {CANDIDATES.get(text.separator, '')}"
            )
            flags = [f"--separator {shown}", *_flags(look, candidate, data[:_LOOK], text)]
            raise FileError(place(path, text.header), rule, f"pass {' '.join(flags)}")


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
    """Read the names of the columns."""
    try:
        rows = csv.reader(io.StringIO(header.decode(), newline=""), delimiter=text.separator)
        names = next(rows)
    except UnicodeDecodeError:
        raise undecodable(path, text.header, header, text) from None
    except csv.Error:
        rule = "the line must hold the names of the columns"
        raise FileError(place(path, text.header), rule, "check that the file is a table") from None
    check_names(path, names, text.header)
    return names


def check_names(path: Path, names: list[str], header: int) -> None:
    """Refuse names that cannot be.

    A file without a header has a person's values there, so that errors show columns by number.
    """
    for number, name in enumerate(names, start=1):
        if wrong := _wrong_name(name, f"column {number}", len(names)):
            raise FileError(place(path, header), *wrong)
    if (pattern := pattern_among(names)) is not None:
        raise FileError(f"{place(path, header)}, column {pattern}", PATTERN_RULE, "rename it")
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if first.setdefault(name, number) != number:
            rule = (
                "the names of the columns must differ, "
                f"and columns {first[name]} and {number} have the same there"
            )
            remedy = "rename one of them, or add a line of names if the file has none"
            raise FileError(place(path, header), rule, remedy)


def _wrong_name(name: str, column: str, n_names: int) -> tuple[str, str] | None:
    """Rule and remedy where a name is none."""
    if not name.strip():
        rule = f"every column must have a name, and {column} of {n_names} has none"
        return rule, f"name it there; {_TITLED}"
    begins = f"this line must name the columns, and {column} has"
    if not any(map(str.isalpha, name)) or _EXPONENT.match(name):
        remedy = "add a line of names; a name that is a number or a sign wants a letter to it"
        return f"{begins} a number or signs there", remedy
    if name.strip() in _NO_NAMES:
        rule = f"{begins} a word there that stands for a truth value or a missing one"
        return rule, "add a line of names, or rename the column"
    return None
