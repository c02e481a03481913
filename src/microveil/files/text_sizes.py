"""How much text the records of a table have: long text is written fewer records at a time."""

import polars as pl

__all__ = ["size_of", "text_of_a_record"]


def size_of(frame: pl.DataFrame) -> int:
    """Add up what a table takes: of text every cell is looked at."""
    return int(frame.estimated_size())


def text_of_a_record(frame: pl.DataFrame) -> int:
    """Return how many bytes of text a record has, on average; 0 of a table without records.

    >>> text_of_a_record(pl.DataFrame({"A": ["x" * 100, "x" * 300], "B": [1, 2]}))
    200
    """
    return size_of(frame.select(pl.col(pl.String))) // max(1, frame.height)
