"""A column of a Parquet file, some records after others."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from microveil.files.text_sizes import longest_word
from microveil.table.keeping import BYTES, FIRST, PIECE, made_by_size

__all__ = ["pieces_of"]

# polars has all that a row group holds of a column at hand, for each look at some records anew.
# Of a larger one pyarrow has a page at a time, and so many bytes of the file.
LARGE, _AHEAD = 1 << 25, 1 << 20


def pieces_of(path: Path, outline: pl.LazyFrame, name: str, at_once: int) -> Iterator[pl.Series]:
    """Yield the cells of a column, as many records at a time as `made_by_size` makes.

    Parameters
    ----------
    path : pathlib.Path
        Of the file.
    outline : polars.LazyFrame
        What it holds.
    name : str
        The column.
    at_once : int
        How many records of a row group may be read together, at least `PIECE`, where each cell
        takes a few bytes.

    Raises
    ------
    polars.exceptions.PolarsError, ValueError, OSError
        If the file is broken.
    """
    own = outline.select(name)
    dtype, metadata = own.collect_schema()[name], None
    if (file := _opened(path)) is not None:
        if (in_pages := _in_pages(file, name, dtype)) is not None:
            yield from in_pages
            return
        metadata = file.metadata

    def some(records: slice) -> pl.Series:
        return own.slice(records.start, records.stop - records.start).collect().to_series()

    if metadata is not None and metadata.num_rows and _is_of_one_width(dtype):
        yield from map(some, _by_groups(metadata, at_once))
        return
    n_records = own.select(pl.len()).collect().item()
    yield from made_by_size(n_records, some, _size_as_read)


def _is_of_one_width(dtype: pl.DataType) -> bool:
    return dtype.is_numeric() or dtype.is_temporal() or dtype == pl.Boolean


def _by_groups(metadata: Any, at_once: int) -> Iterator[slice]:
    """Cut records where row groups end, each of which is read for every look at a part of it.

    Small ones are taken together, and large ones cut.
    """
    lengths = (metadata.row_group(group).num_rows for group in range(metadata.num_row_groups))
    start = end = 0
    for length in lengths:
        if end > start and end + length - start > PIECE:
            yield slice(start, end)
            start = end
        end += length
        while end - start > at_once:
            yield slice(start, start + PIECE)
            start += PIECE
    if end > start:
        yield slice(start, end)


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
    """Yield the cells of a column with a large row group; None where there is none.

    Of types alone that both libraries read as the same.
    """
    if not (dtype.is_float() or dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Date)):
        return None
    sizes = _sizes(file.metadata, name)
    if max(sizes, default=0) <= LARGE or not file.metadata.num_rows:
        return None
    # What a dictionary holds once is longer as cells: the first ones show how long.
    of_a_cell = max(1, sum(sizes) // file.metadata.num_rows)
    first = next(_batches(file, name, max(1, min(FIRST, BYTES // of_a_cell))))
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
