"""Parquet files."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from microveil.files import parquet_folder
from microveil.files.declared import Outline, kind_of
from microveil.files.text import TextFormat
from microveil.files.typed import (
    POLARS_ERRORS,
    TypedTable,
    broken,
    opened_by,
    to_publish,
)
from microveil.table import Labels
from microveil.table.column_files import height_of

__all__ = ["LARGE", "batches", "opened", "opened_lazily", "outlined"]

# A table of more bytes is written row group by row group, and compressed as Spark and pandas do
# it: in three fifths of the time that zstd takes at its fastest, and a quarter larger.
LARGE = 1 << 26
# Records of a row group, and bytes of one of long text, by the first records.
ROWS, BYTES, FIRST = 1 << 18, 1 << 26, 1 << 10
# What every reader of Arrow knows.
_LEVEL = pl.CompatLevel.oldest()


def opened(path: Path, raw: bytes, text: TextFormat | None) -> TypedTable:  # noqa: ARG001
    """Read a file."""
    return opened_by(pl.read_parquet, path, raw, "Parquet", pl.scan_parquet)


def opened_lazily(path: Path, text: TextFormat | None, beside: Path) -> TypedTable:  # noqa: ARG001
    """Outline a file: a column is read when it is asked for."""
    return parquet_folder.opened_lazily([path], beside)


def outlined(path: Path, text: TextFormat | None) -> Outline:  # noqa: ARG001
    """Read what stands at the end of a file: its columns, and how many records it has."""
    try:
        outline = pl.scan_parquet(path, glob=False)
        kinds = {name: kind_of(dtype) for name, dtype in outline.collect_schema().items()}
        n_records = outline.select(pl.len()).collect().item()
    except POLARS_ERRORS as error:
        raise broken(path, "Parquet", error) from None
    return Outline(kinds=kinds, n_records=int(n_records))


def batches(
    frame: pl.DataFrame | pl.LazyFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],  # noqa: ARG001 -- it has no place for them
) -> Iterator[bytes | memoryview]:
    """Write a table, names, types and values alone: in one part, or a large one in many."""
    if isinstance(frame, pl.LazyFrame) or frame.estimated_size() > LARGE:
        published = to_publish(frame.lazy())
        yield from _row_groups(published, height_of(frame))
        return
    buffer = io.BytesIO()
    to_publish(frame).write_parquet(buffer)
    yield buffer.getbuffer()


def _row_groups(frame: pl.LazyFrame, n_records: int) -> Iterator[memoryview]:
    """Write some records after others: as many as are in memory at a time."""
    from pyarrow import ArrowException, parquet

    gathered = _Gathered()
    first = frame.head(FIRST).collect()
    together = max(1, min(ROWS, BYTES * FIRST // max(1, int(first.estimated_size()))))
    schema = first.clear().to_arrow(compat_level=_LEVEL).schema
    # Numbers hardly repeat: to list those that do takes longer than to write them.
    listed = [name for name, dtype in first.schema.items() if not dtype.is_numeric()]
    try:
        with parquet.ParquetWriter(
            gathered, schema, compression="snappy", use_dictionary=listed, write_statistics=False
        ) as writer:
            for start in range(0, n_records, together):
                records = frame.slice(start, together).collect()
                writer.write_table(records.to_arrow(compat_level=_LEVEL), row_group_size=together)
                yield gathered.taken()
    except ArrowException:
        raise pl.exceptions.ComputeError("a type that Parquet has no place for") from None
    yield gathered.taken()


class _Gathered(io.RawIOBase):
    """A file whose bytes are taken while it is written."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, part: "bytes | memoryview") -> int:  # type: ignore[override]
        self._bytes += part
        return len(part)

    def taken(self) -> memoryview:
        """Return what was written since."""
        taken, self._bytes = self._bytes, bytearray()
        return memoryview(taken)
