"""Tables of a terminal."""

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
