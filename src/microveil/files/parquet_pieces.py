"""A column of a Parquet file, some records after others."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import polars as pl

from microveil.files.text_sizes import longest_word
from microveil.table.keeping import BYTES, FIRST, PIECE, made_by_size
from microveil.table.scratch import Scratch

__all__ = ["column_of_pieces", "pieces_of"]

# pyarrow has a page of a column at a time at hand, and so many bytes of the file. polars has all
# that a row group holds, for each look at some records anew: no text of larger ones is read by it.
LARGE, _AHEAD = 1 << 25, 1 << 20


def column_of_pieces(n_records: int, pieces: Iterable[pl.Series], scratch: Scratch) -> pl.Series:
    """Put the cells of a column onto the disk.

    What pyarrow holds for cells that this thread reads next is given back: of 20 columns it was 50
    to 95 MB as long as the process lived.
    """
    column = scratch.joined(n_records, pieces)
    if "pyarrow" in sys.modules:
        sys.modules["pyarrow"].default_memory_pool().release_unused()
    return column


def pieces_of(path: Path, outline: pl.LazyFrame, name: str) -> Iterator[pl.Series]:
    """Yield the cells of a column, at most `PIECE` at a time, and of long ones fewer.

    Parameters
    ----------
    path : pathlib.Path
        Of the file.
    outline : polars.LazyFrame
        What it holds.
    name : str
        The column.

    Raises
    ------
    polars.exceptions.PolarsError, ValueError, OSError
        If the file is broken: also where it holds fewer cells than it says.
    """
    own = outline.select(name)
    n_records, done = own.select(pl.len()).collect().item(), 0
    in_pages = _in_pages(path, name, own.collect_schema()[name])

    def some(records: slice) -> pl.Series:
        return own.slice(records.start, records.stop - records.start).collect().to_series()

    for piece in in_pages or made_by_size(n_records, some, _size_as_read):
        done += len(piece)
        yield piece
    if done != n_records:
        raise ValueError("a column must have as many cells as the file has records")


def _opened(path: Path) -> Any:
    """Open a file by pyarrow; None where that is not installed."""
    try:
        from pyarrow import parquet
    except ImportError:
        return None
    return parquet.ParquetFile(path, pre_buffer=False, buffer_size=_AHEAD)


def _size_as_read(cells: pl.Series) -> int:
    """Return what cells took while they were read: those of categories were words."""
    return int(cells.estimated_size()) + len(cells) * longest_word(cells)


def _in_pages(path: Path, name: str, dtype: pl.DataType) -> Iterator[pl.Series] | None:
    """Yield the cells of a column, page by page; None where polars reads it.

    Of types alone that both libraries read as the same, numbers of which take pyarrow two thirds of
    polars' time; of text where a row group is large.
    """
    is_of_one_width = dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean
    if not is_of_one_width and dtype != pl.String:
        return None
    file = _opened(path)
    if file is None or not file.metadata.num_rows or (place := _place(file, name)) is None:
        return None
    of_a_cell = 1
    if dtype == pl.String:
        sizes = _sizes(file.metadata, place)
        if max(sizes) <= LARGE:
            return None
        # What a dictionary holds once is longer as cells: the first ones show how long.
        of_a_cell = max(1, sum(sizes) // file.metadata.num_rows)
    try:
        first = next(_batches(file, name, max(1, min(FIRST, BYTES // of_a_cell))), None)
    except NotImplementedError:
        return None
    if first is None or first.dtype != dtype:
        return None
    of_a_cell = max(of_a_cell, int(first.estimated_size()) // max(1, len(first)))
    return _batches(file, name, max(1, min(PIECE, BYTES // of_a_cell)))


def _batches(file: Any, name: str, at_once: int) -> Iterator[pl.Series]:
    for batch in file.iter_batches(batch_size=at_once, columns=[name], use_threads=False):
        # Text of a broken file may be none: polars takes for granted what it does not read itself.
        batch.validate(full=True)
        yield pl.Series(name, pl.from_arrow(batch.column(0)))


def _place(file: Any, name: str) -> int | None:
    """Return which of the file's columns has a name, and no other within it."""
    paths = [file.schema.column(place).path for place in range(len(file.schema))]
    return paths.index(name) if name in paths else None


def _sizes(metadata: Any, place: int) -> list[int]:
    """Return what each row group holds of a column, in bytes."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [group.column(place).total_uncompressed_size for group in groups]
