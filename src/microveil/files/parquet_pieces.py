"""A column of a Parquet file, some records after others."""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from microveil.files.text_sizes import longest_word
from microveil.table.keeping import BYTES, FIRST, PIECE, made_by_size
from microveil.table.pages import give_back_freed
from microveil.table.scratch import Scratch

__all__ = ["FileInPieces", "column_of_pieces"]

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
    give_back_freed()
    return column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FileInPieces:
    """A file whose columns are read one by one, and what stands at its end: that is read once.

    Attributes
    ----------
    path : pathlib.Path
    outline : polars.LazyFrame
        What it holds.
    schema : polars.Schema
    n_records : int
        How many it says that it has.
    metadata : pyarrow.parquet.FileMetaData or None
        None where polars reads all of the columns.
    """

    path: Path
    outline: pl.LazyFrame
    schema: pl.Schema
    n_records: int
    metadata: Any

    @classmethod
    def of(cls, path: Path, outline: pl.LazyFrame) -> "FileInPieces":
        """Read the end of a file.

        Raises
        ------
        polars.exceptions.PolarsError, ValueError, OSError
            If it is broken.
        """
        schema = outline.collect_schema()
        return cls(
            path=path,
            outline=outline,
            schema=schema,
            n_records=int(outline.select(pl.len()).collect().item()),
            metadata=_metadata(path) if any(map(_read_in_pages, schema.values())) else None,
        )

    def column(self, name: str) -> Iterator[pl.Series]:
        """Yield the cells of a column, at most `PIECE` at a time, and of long ones fewer.

        Raises
        ------
        polars.exceptions.PolarsError, ValueError, OSError
            If the file is broken: also where it holds fewer cells than it says.
        """
        own, done = self.outline.select(name), 0
        in_pages = self._in_pages(name, self.schema[name])

        def some(records: slice) -> pl.Series:
            return own.slice(records.start, records.stop - records.start).collect().to_series()

        for piece in in_pages or made_by_size(self.n_records, some, _size_as_read):
            done += len(piece)
            yield piece
        if done != self.n_records:
            raise ValueError("a column must have as many cells as the file has records")

    def _in_pages(self, name: str, dtype: pl.DataType) -> Iterator[pl.Series] | None:
        """Yield the cells of a column, page by page; None where polars reads it.

        Of types alone that both libraries read as the same, numbers of which take pyarrow two
        thirds of polars' time; of text where a row group is large.
        """
        metadata = self.metadata
        if metadata is None or not metadata.num_rows or not _read_in_pages(dtype):
            return None
        place = _place(metadata.schema, name)
        if place is None:
            return None
        of_a_cell = 1
        if dtype == pl.String:
            sizes = _sizes(metadata, place)
            if max(sizes) <= LARGE:
                return None
            # What a dictionary holds once is longer as cells: the first ones show how long.
            of_a_cell = max(1, sum(sizes) // metadata.num_rows)
        file = _opened(self.path, metadata)
        try:
            first = next(_batches(file, name, max(1, min(FIRST, BYTES // of_a_cell))), None)
        except NotImplementedError:
            return None
        if first is None or first.dtype != dtype:
            return None
        of_a_cell = max(of_a_cell, int(first.estimated_size()) // max(1, len(first)))
        return _batches(file, name, max(1, min(PIECE, BYTES // of_a_cell)))


def _read_in_pages(dtype: pl.DataType) -> bool:
    """Whether pyarrow may read columns of a type: those of one width, and text."""
    return dtype.is_numeric() or dtype.is_temporal() or dtype in (pl.Boolean, pl.String)


def _metadata(path: Path) -> Any:
    """Read the end of a file by pyarrow; None where it lacks a type."""
    from pyarrow import parquet

    try:
        return parquet.read_metadata(path)
    except NotImplementedError:
        return None


def _opened(path: Path, metadata: Any) -> Any:
    from pyarrow import parquet

    return parquet.ParquetFile(path, metadata=metadata, pre_buffer=False, buffer_size=_AHEAD)


def _size_as_read(cells: pl.Series) -> int:
    """Return what cells took while they were read: those of categories were words."""
    return int(cells.estimated_size()) + len(cells) * longest_word(cells)


def _batches(file: Any, name: str, at_once: int) -> Iterator[pl.Series]:
    for batch in file.iter_batches(batch_size=at_once, columns=[name], use_threads=False):
        # Text of a broken file may be none: polars takes for granted what it does not read itself.
        batch.validate(full=True)
        yield pl.Series(name, pl.from_arrow(batch.column(0)))


def _place(schema: Any, name: str) -> int | None:
    """Return which of a file's columns has a name, and no other within it."""
    paths = [schema.column(place).path for place in range(len(schema))]
    return paths.index(name) if name in paths else None


def _sizes(metadata: Any, place: int) -> list[int]:
    """Return what each row group holds of a column, in bytes."""
    groups = map(metadata.row_group, range(metadata.num_row_groups))
    return [group.column(place).total_uncompressed_size for group in groups]
