"""The structure of a CSV file, held to RFC 4180 before polars reads its values.

Blocks of whole lines are checked by masks, one entry a byte. A block that breaks a rule is
scanned again record by record, which finds the line.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, pairwise
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from microveil.errors import FileError
from microveil.files.file_bytes import FileBytes
from microveil.files.header import check_beginning, names_of
from microveil.files.text import TextFormat, place

# Bytes that are checked together, whose masks fit a cache, and read into a table together.
_BLOCK, _PIECE = 3 << 14, 1 << 24
_LONGEST = 1 << 26  # bytes of a record within which a broken rule is looked for
_BLANK_LINE, _LINE_END = re.compile(rb"\r?\n"), re.compile(rb"\r?\n|\Z")
_LINE_FEED, _RETURN, _QUOTE = b'\n\r"'
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
_NUL = (
    "a CSV file must be text, and a byte here is 0",
    "export the table as CSV; if it is UTF-16 without a mark, pass --encoding utf-16-le",
)

Mask = NDArray[np.bool_]


class _BrokenError(Exception):
    """A rule is broken at a byte of a text."""

    def __init__(self, at: int, rule: tuple[str, str]) -> None:
        super().__init__(at, rule)
        self.at, self.rule = at, rule


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """What a sound CSV file holds."""

    names: list[str]
    # Bytes and records up to the end of the header, and of each piece of the file behind it.
    ends: list[tuple[int, int]]
    unlike_numbers: list[bool]  # whether a value of a column is written as no number: 00123, +49
    is_ascii: bool
    has_quotes: bool  # below the header

    @property
    def n_records(self) -> int:
        """Records, the header not counted."""
        return self.ends[-1][1]

    def pieces(self) -> Iterator[slice]:
        """Yield where the records are, some megabytes at a time."""
        return (slice(start, stop) for (start, _), (stop, _) in pairwise(self.ends))

    def counts(self) -> Iterator[int]:
        """Yield how many records are in each of these."""
        return (stop - start for (_, start), (_, stop) in pairwise(self.ends))

    def line_of(self, data: bytes | FileBytes, text: TextFormat, record: int) -> int:
        """Line of the file on which a record begins, both as counted here: 0 and 1 first."""
        pieces = pairwise(self.ends)
        (start, before), (stop, _) = next(two for two in pieces if record < two[1][1])
        at = 0
        for at in islice(_records(data[start:stop], text), record - before):  # noqa: B007
            pass
        return data.count(b"\n", 0, start + at) + 1


def check_structure(path: Path, data: bytes | FileBytes, text: TextFormat) -> Structure:
    """Refuse text that is no table, with the line; else say what it holds."""
    check_beginning(path, data, text)
    if data[len(data) - 1 :] == b"\x1a":
        line = data.count(b"\n", 0, len(data)) + 1
        rule = "the file must end with its records, and a Ctrl-Z follows, which ended files once"
        raise FileError(place(path, line), rule, "remove that byte, the last of the file")
    try:
        header_end = _scanned(data, text, 0)
        names = names_of(path, data[:header_end], text)
        walk = _Walk(data, text, header_end, len(names))
        walk.to_the_end()
    except _BrokenError as broken:
        raise _refusal(path, data, broken) from None
    if walk.ends[-1][1] == 0:
        rule = "records must follow the header, and there are none"
        raise FileError(str(path), rule, "check that the table was exported")
    return Structure(
        names=names,
        ends=walk.ends,
        unlike_numbers=walk.unlike.tolist(),
        is_ascii=walk.is_ascii and data[:header_end].isascii(),
        has_quotes=walk.has_quotes,
    )


def names_in(path: Path, head: bytes, text: TextFormat, *, is_whole: bool) -> list[str] | None:
    """Read the names of the columns off the beginning of a file; None where it does not reach."""
    check_beginning(path, head, text)
    try:
        header_end = next(_records(head, text, is_cut=not is_whole), None)
    except _BrokenError as broken:
        raise _refusal(path, head, broken) from None
    return None if header_end is None else names_of(path, head[:header_end], text)


def _refusal(path: Path, data: bytes | FileBytes, broken: _BrokenError) -> FileError:
    return FileError(place(path, data.count(b"\n", 0, broken.at) + 1), *broken.rule)


class _Walk:
    """A walk over the records of a file, block by block: what it found so far."""

    def __init__(
        self, data: bytes | FileBytes, text: TextFormat, start: int, n_fields: int
    ) -> None:
        self.data, self.text, self.n_fields = data, text, n_fields
        self.ends = [(start, 0)]
        self.unlike = np.zeros(n_fields, dtype=np.bool_)
        self.is_ascii, self.has_quotes = True, False
        self._record = start  # where the record begins that is not ended yet
        self._n_records = self._n_marks = 0  # records ended, and separators behind them
        self._is_inside = False  # quotes

    def to_the_end(self) -> None:
        """Check all records, but for blank lines behind the last."""
        at, end = self._record, _end_of_records(self.data)
        while at < end:
            block = self.data[at : min(at + _BLOCK, end)]
            stop = at + block.rfind(b"\n") + 1
            if stop == at:  # a long line, or the last one
                stop = min(self.data.find(b"\n", at + len(block)) + 1 or end, end)
                block = self.data[at:stop]
            block = block[: stop - at]
            if not self._is_sound(block, at):
                _scanned(self.data, self.text, self._record, self.n_fields, stop)
            at = stop
            if not self._is_inside and (at - self.ends[-1][0] >= _PIECE or at == end):
                self.ends.append((at, self._n_records))
        if self._is_inside:
            _scanned(self.data, self.text, self._record, self.n_fields, end)

    def _is_sound(self, block: bytes, at: int) -> bool:
        """Check whole lines; what stands before them is a line feed, in quotes or not."""
        self.is_ascii = self.is_ascii and block.isascii()
        if b"\0" in block or block.endswith(b"\r"):
            return False
        text = np.frombuffer(block if block.endswith(b"\n") else block + b"\n", dtype=np.uint8)
        feeds, splits, returns = (
            text == byte for byte in (_LINE_FEED, ord(self.text.separator), _RETURN)
        )
        begins, ends = not self._is_inside, feeds | splits
        after_end = _behind(ends, first=begins)
        wrong = np.zeros(len(text), dtype=np.bool_)
        if self._is_inside or b'"' in block:
            self.has_quotes = True
            quotes = text == _QUOTE
            # An opening quote counts as inside, a closing one does not.
            inside = (np.cumsum(quotes, dtype=np.uint8) & 1).astype(np.bool_) ^ self._is_inside
            feeds, returns, ends = feeds & ~inside, returns & ~inside, ends & ~inside
            opens, after_close = quotes & inside, _behind(quotes & ~inside, first=False)
            after_end = _behind(ends, first=begins)
            wrong = opens & ~after_end & ~after_close | after_close & ~(ends | opens | returns)
            # Behind a quote that opens a field a value begins too.
            after_end |= _behind(opens & ~after_close, first=False)
            self._is_inside = bool(inside[-1])
        wrong |= _behind(feeds, first=begins) & (feeds | returns)  # a blank line
        wrong[:-1] |= returns[:-1] & ~feeds[1:]
        marks = np.flatnonzero(ends)
        self._see_codes(text, after_end & ~ends, marks)
        return not wrong.any() and self._are_full(text, marks, at)

    def _are_full(self, text: NDArray[np.uint8], marks: NDArray[np.int64], at: int) -> bool:
        """Count records by the marks behind their fields; False where one has too few or many."""
        lines = np.flatnonzero(text[marks] == _LINE_FEED)
        widths = np.diff(lines, prepend=-1 - self._n_marks)
        self._n_marks += len(marks)
        if len(lines) and (widths == self.n_fields).all():
            self._n_records += len(lines)
            self._record = at + int(marks[lines[-1]]) + 1
            self._n_marks = len(marks) - 1 - int(lines[-1])
        return bool((widths == self.n_fields).all())

    def _see_codes(self, text: NDArray[np.uint8], fresh: Mask, marks: NDArray[np.int64]) -> None:
        """Find values that begin, after spaces, with 0 or + and a digit: 00123, +49."""
        begins = (text == ord("0")) | (text == ord("+"))
        begins[:-1] &= text[1:] - np.uint8(ord("0")) < 10  # below it the byte wraps around
        blank = (text == ord(" ")) | (text == ord("\t"))
        found = fresh & begins
        places = np.flatnonzero(fresh & blank)
        while len(places):
            places += 1
            found[places] |= begins[places]
            places = places[blank[places]]
        if found.any():
            before = self._n_marks + np.searchsorted(marks, np.flatnonzero(found))
            self.unlike[before % self.n_fields] = True


def _behind(mask: Mask, *, first: bool) -> Mask:
    """Mask of the bytes behind those of a mask."""
    behind = np.empty_like(mask)
    behind[0], behind[1:] = first, mask[:-1]
    return behind


def _end_of_records(data: bytes | FileBytes) -> int:
    """Byte behind the line of the last record: blank lines may follow."""
    size = _BLOCK
    while True:
        tail = data[max(0, len(data) - size) :]
        rest = tail[len(tail.rstrip(b"\r\n")) :]
        if len(rest) < len(tail) or size >= len(data):
            break
        size *= 2
    if not re.fullmatch(rb"(?:\r?\n)*", rest):
        return len(data)
    return len(data) - len(rest) + rest.find(b"\n") + 1


def _scanned(
    data: bytes | FileBytes, text: TextFormat, start: int, n_fields: int = 0, stop: int = 0
) -> int:
    """Scan records from one on: the end of the first that ends at ``stop`` or behind it."""
    size = max(_BLOCK, stop - start)
    while True:
        is_cut = start + size < len(data) and size < _LONGEST
        try:
            for end in _records(data[start : start + size], text, n_fields, is_cut=is_cut):
                if start + end >= stop:
                    return start + end
        except _BrokenError as broken:
            raise _BrokenError(start + broken.at, broken.rule) from None
        if not is_cut:
            return len(data)
        size *= 2


def _records(
    data: bytes, text: TextFormat, n_fields: int = 0, *, is_cut: bool = False
) -> Iterator[int]:
    """Yield where each record ends, up to the first broken rule or where text is cut."""
    mark = text.separator.encode()
    field = re.compile(rb'"[^"\0]*+(?:""[^"\0]*+)*+"|[^"\r\n\0' + re.escape(mark) + rb"]*+")
    at, blank = 0, -1
    while at < len(data):
        if line := _BLANK_LINE.match(data, at):
            blank = at if blank < 0 else blank
            at = line.end()
            continue
        start, n_found = at, 0
        while True:
            found = cast("re.Match[bytes]", field.match(data, at))  # be it empty
            at, n_found = found.end(), n_found + 1
            if data[at : at + 1] != mark:
                break
            at += 1
        end = _LINE_END.match(data, at)
        if end is None:
            broken = _broken(data, found)
            if is_cut and (broken.rule is _UNCLOSED or broken.at == len(data) - 1):
                return
            raise broken
        if is_cut and not end[0]:
            return
        if blank >= 0:
            raise _BrokenError(blank, _BLANK)
        if n_fields not in (0, n_found):
            rule = f"a record must have {n_fields} fields as the header has, and this one has "
            remedy = "correct the record; put a value that holds the separator in quotes"
            raise _BrokenError(start, (f"{rule}{n_found}", remedy))
        at = end.end()
        yield at


def _broken(data: bytes, found: re.Match[bytes]) -> _BrokenError:
    """Say what is wrong behind a field, or with one that a quote opens."""
    at = found.end()
    byte = data[at]
    if byte == _QUOTE and not found[0]:
        nul = data.find(b"\0", at)
        return _BrokenError(at, _UNCLOSED) if nul < 0 else _BrokenError(nul, _NUL)
    rules = {_QUOTE: _STRAY_QUOTE, _RETURN: _LONE_RETURN, 0: _NUL}
    return _BrokenError(at, rules.get(byte, _AFTER_QUOTE))
