"""Tables of a terminal."""

import contextlib
import os
import sys
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from microveil.text import aligned

CELLS = st.text(alphabet="ab1.", min_size=1, max_size=9)
ROWS = st.lists(st.lists(CELLS, min_size=1, max_size=5), min_size=1, max_size=6)
WIDTHS = st.lists(st.integers(0, 12), max_size=6)


@given(ROWS, WIDTHS, st.sets(st.integers(0, 5)))
def test_columns_never_run_together(rows, widths, left):
    """Split where there are two spaces or more, every line gives its cells back."""
    lines = aligned(rows, widths=widths, left=left, indent="  ")
    assert [line.split() for line in lines] == rows
    for line, row in zip(lines, rows, strict=True):
        assert line.startswith("  ")
        assert line == line.rstrip()
        place = 0
        for cell in row:
            found = line.index(cell, place)
            assert line[found - 2 : found] == "  "
            place = found + len(cell)


@given(ROWS, WIDTHS)
def test_numbers_end_and_words_begin_under_each_other(rows, widths):
    """In a column of words cells begin at one place, in one of numbers they end at one."""
    words = aligned(rows, widths=widths, left=range(5))
    numbers = aligned(rows, widths=widths, left=())
    for place in range(5):
        own = [i for i, row in enumerate(rows) if len(row) > place]
        assert len({_span(words[i], place)[0] for i in own}) <= 1
        assert len({_span(numbers[i], place)[1] for i in own}) <= 1


def _span(line, place):
    """Return where a cell begins and ends: cells of this test have no spaces."""
    end = 0
    for cell in line.split()[: place + 1]:
        begin = line.index(cell, end)
        end = begin + len(cell)
    return begin, end


def test_a_column_is_as_wide_as_asked_for_at_least():
    """Short cells take the width that is asked for; a long one takes what it needs."""
    assert aligned([("a", "1"), ("b", "12345")], widths=(3, 4)) == ["a        1", "b    12345"]
    assert aligned([("a", "1"), ("", "2")], widths=(3, 4)) == ["a       1", "        2"]


WORDS = st.lists(st.text(alphabet="ab", min_size=1, max_size=9), min_size=1, max_size=8).map(
    " ".join
)
TABLES = st.integers(1, 6).flatmap(
    lambda n: st.lists(
        st.tuples(WORDS, *[st.integers(0, 10**9).map(str)] * (n - 1)), min_size=1, max_size=5
    )
)


@contextlib.contextmanager
def terminal(columns):
    with (
        patch.object(sys.stdout, "isatty", lambda: True, create=True),
        patch.dict(os.environ, {"COLUMNS": str(columns)}),
    ):
        yield


@given(TABLES, st.integers(30, 90), st.lists(st.integers(0, 30), max_size=4))
def test_no_line_is_longer_than_a_terminal_and_none_of_its_words_is_lost(rows, columns, widths):
    """However narrow it is: every word comes, in its row, and no two run together."""
    with terminal(columns):
        entries = aligned(rows, widths=widths, indent=" ")
    assert len(entries) == len(rows)
    for entry, row in zip(entries, rows, strict=True):
        assert sorted(entry.split()) == sorted(" ".join(row).split())
        assert all(len(line) <= columns for line in entry.split("\n"))
        assert all(line == line.rstrip() for line in entry.split("\n"))


def test_a_table_that_fits_is_the_same_on_a_terminal_and_in_a_pipe():
    """A column of words is made narrower first; then numbers stay under their heads."""
    rows = [("figure", "one way", "other"), ("distributions of all attributes", "0.11", "231")]
    piped = aligned(rows, widths=(40, 10, 10))
    with terminal(len(piped[0])):
        assert aligned(rows, widths=(40, 10, 10)) == piped
    with terminal(40):
        assert aligned(rows, widths=(40, 10, 10)) == [
            "figure                    one way  other",
            "distributions of all         0.11    231\nattributes",
        ]
    with terminal(28):
        assert aligned(rows) == [
            "figure\n  one way  other",
            "distributions of all\nattributes\n     0.11    231",
        ]
