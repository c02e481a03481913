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


def pieces_of(path: Path, outline: pl.LazyFrame, name: str) -> Iterator[pl.Series]:
    """Yield the cells of a column, as many records at a time as `made_by_size` makes.

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
    if (in_pages := _in_pages(path, name, own.collect_schema()[name])) is not None:
        yield from in_pages
        return
    n_records = own.select(pl.len()).collect().item()

    def some(records: slice) -> pl.Series:
        return own.slice(records.start, records.stop - records.start).collect().to_series()

    yield from made_by_size(n_records, some, _size_as_read)


def _size_as_read(cells: pl.Series) -> int:
    """Return what cells took while they were read: those of categories were words."""
    return int(cells.estimated_size()) + len(cells) * longest_word(cells)


def _in_pages(path: Path, name: str, dtype: pl.DataType) -> Iterator[pl.Series] | None:
    """Yield the cells of a column with a large row group; None where there is none.

    Of types alone that both libraries read as the same.
    """
    if not (dtype.is_float() or dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Date)):
        return None
    try:
        from pyarrow import parquet
    except ImportError:
        return None
    file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=_AHEAD)
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
