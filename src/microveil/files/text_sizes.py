"""How much text the records of a table have: long text is written fewer records at a time."""

import polars as pl

from microveil.table.pages import relieve

__all__ = ["longest_word", "size_of", "text_of_a_record"]


def size_of(frame: pl.DataFrame) -> int:
    """Add up what a table takes: of text every cell is looked at."""
    size = 0
    for column in frame:
        for chunk in column.get_chunks():
            size += int(chunk.estimated_size())
            relieve()
    return size


def text_of_a_record(frame: pl.DataFrame) -> int:
    """Return how many bytes of text a record has, on average; 0 of a table without records.

    >>> text_of_a_record(pl.DataFrame({"A": ["x" * 100, "x" * 300], "B": [1, 2]}))
    200
    """
    return size_of(frame.select(pl.col(pl.String))) // max(1, frame.height)


def longest_word(column: pl.Series) -> int:
    """Return how many bytes the longest category that a column has takes: 0 where it has none.

    >>> longest_word(pl.Series(["a", "bcd"], dtype=pl.Categorical)), longest_word(pl.Series([1]))
    (3, 0)
    """
    if column.dtype not in (pl.Enum, pl.Categorical):
        return 0
    return max(column.unique().drop_nulls().cast(pl.String).str.len_bytes(), default=0)
