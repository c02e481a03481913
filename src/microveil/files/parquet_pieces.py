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
        If the file is broken.
    """
    own = outline.select(name)
    if (file := _opened(path)) is not None:
        in_pages = _in_pages(file, name, own.collect_schema()[name])
        if in_pages is not None:
            yield from in_pages
            return

    def some(records: slice) -> pl.Series:
        return own.slice(records.start, records.stop - records.start).collect().to_series()

    n_records = own.select(pl.len()).collect().item()
    yield from made_by_size(n_records, some, _size_as_read)


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


def _in_pages(file: Any, name: str, dtype: pl.DataType) -> Iterator[pl.Series] | None:
    """Yield the cells of a column, page by page; None where polars reads it.

    Of types alone that both libraries read as the same, and of text where a row group is large:
    of the others pyarrow takes two thirds of the time, and of text more.
    """
    if not (dtype.is_numeric() or dtype.is_temporal() or dtype in (pl.String, pl.Boolean)):
        return None
    sizes = _sizes(file.metadata, name)
    if not sizes or not file.metadata.num_rows or (dtype == pl.String and max(sizes) <= LARGE):
        return None
    # What a dictionary holds once is longer as cells: the first ones show how long.
    of_a_cell = max(1, sum(sizes) // file.metadata.num_rows)
    try:
        first = next(_batches(file, name, max(1, min(FIRST, BYTES // of_a_cell))))
    except NotImplementedError:
        return None
    of_a_cell = max(of_a_cell, int(first.estimated_size()) // max(1, len(first)))
    at_once = max(1, min(PIECE, BYTES // of_a_cell))
    return _batches(file, name, at_once) if first.dtype == dtype else None


def _batches(file: Any, name: str, at_once: int) -> Iterator[pl.Series]:
    for batch in file.iter_batches(batch_size=at_once, columns=[name], use_threads=False):
        # Text of a broken file may be none: polars takes for granted what it does not read itself.
        batch.validate(full=True)
        yield pl.Series(name, pl.from_arrow(batch.column(0)))


def _sizes(metadata: Any, name: str) -> list[int]:
    """Return what each row group holds of a column, in bytes; of none whose name is not one."""
    places = [
        place for place in range(metadata.num_columns) if metadata.schema.column(place).path == name
    ]
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [group.column(places[0]).total_uncompressed_size for group in groups if places]
