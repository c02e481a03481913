"""Tables of a terminal: words to the left, numbers to the right, two spaces between columns."""

import shutil
import sys
import textwrap
from collections.abc import Collection, Iterable, Sequence
from itertools import zip_longest

BETWEEN = "  "
# Columns of words are not made narrower than this: a table is set row by row instead.
NARROWEST = 14


def aligned(
    rows: Iterable[Sequence[str]],
    *,
    widths: Sequence[int] = (),
    left: Collection[int] = (0,),
    indent: str = "",
) -> list[str]:
    """Set rows under each other, the head among them; columns to the ``left`` are words.

    On a terminal that is too narrow words go on in further lines, or each cell has lines of its
    own.
    """
    cells = [tuple(row) for row in rows]
    needed = [max(map(len, column)) for column in zip_longest(*cells, fillvalue="")]
    wide = [*map(max, zip(needed, widths, strict=False)), *needed[len(widths) :]]
    room = _room(indent)
    if room is None or _width(wide) <= room:
        return [indent + _line(row, wide, left) for row in cells]
    words = {place for place in left if place < len(needed)} or {0}
    least = {
        place: max(NARROWEST, *(_longest_word(row[place]) for row in cells if len(row) > place))
        for place in words
    }
    full = list(needed)
    while _width(needed) > room:
        wider = [place for place in words if needed[place] > least[place]]
        if not wider:
            return [_stacked(row, full, left, room, indent) for row in cells]
        needed[max(wider, key=needed.__getitem__)] -= 1
    return [_in_lines(row, needed, left, indent) for row in cells]


def lines_of_heads(
    heads: Sequence[str], rows: Iterable[Sequence[str]], indent: str = ""
) -> list[tuple[str, ...]]:
    """Return heads as rows of a table: several where a terminal is too narrow for one."""
    room = _room(indent)
    body = [max(map(len, column)) for column in zip(*rows, strict=True)] or [0] * len(heads)
    whole = [max(len(head), width) for head, width in zip(heads, body, strict=True)]
    if room is None or _width(whole) <= room:
        return [tuple(heads)]
    split = [
        _in_words(head, max(_longest_word(head), width))
        for head, width in zip(heads, body, strict=True)
    ]
    depth = max(map(len, split))
    return list(zip(*([""] * (depth - len(lines)) + lines for lines in split), strict=True))


def wrapped(text: str, indent: str = "") -> str:
    """Break a sentence into lines as wide as the terminal; one line where there is none."""
    room = _room("")
    if room is None:
        return indent + text
    return textwrap.fill(
        text,
        room,
        initial_indent=indent,
        subsequent_indent=2 * indent if text.startswith("- ") else indent,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _room(indent: str) -> int | None:
    """Return how wide a terminal is; None where there is none."""
    if not sys.stdout.isatty():
        return None
    return max(shutil.get_terminal_size().columns - len(indent), 2 * NARROWEST)


def _longest_word(text: str) -> int:
    return max(map(len, text.split()), default=0)


def _width(wide: Sequence[int]) -> int:
    return sum(wide) + len(BETWEEN) * (len(wide) - 1)


def _line(row: Sequence[str], wide: Sequence[int], left: Collection[int]) -> str:
    return BETWEEN.join(
        cell.ljust(wide[place]) if place in left else cell.rjust(wide[place])
        for place, cell in enumerate(row)
    ).rstrip()


def _in_words(text: str, width: int) -> list[str]:
    """Break a text into lines between its words; a longer word has a line of its own."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _in_lines(row: Sequence[str], wide: Sequence[int], left: Collection[int], indent: str) -> str:
    """Set one row, words in as many lines as they take."""
    split = [_in_words(cell, wide[place]) for place, cell in enumerate(row)]
    parts = zip_longest(*split, fillvalue="")
    return "\n".join(indent + _line(part, wide, left) for part in parts)


def _stacked(
    row: Sequence[str], wide: Sequence[int], left: Collection[int], room: int, indent: str
) -> str:
    """Set the first cell above the others, which keep their columns where these fit."""
    lines = _in_words(row[0], room)
    others, rest = row[1:], wide[1:]
    if len(BETWEEN) + _width(rest) <= room:
        words = {place - 1 for place in left}
        lines += [BETWEEN + _line(others, rest, words)] if others else []
    else:
        for cell in others:
            lines += [BETWEEN + line for line in _in_words(cell, room - len(BETWEEN))]
    return "\n".join(f"{indent}{line}" for line in lines)
