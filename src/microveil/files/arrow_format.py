"""Arrow IPC files, which Feather files of version 2 are too."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from microveil.files.text import TextFormat
from microveil.files.typed import TypedTable, opened_by, to_publish
from microveil.table import Labels

__all__ = ["batches", "opened"]

_OF_A_FILE = b"ARROW1"  # what begins otherwise may be the same table as a stream


def opened(path: Path, raw: bytes, text: TextFormat | None) -> TypedTable:  # noqa: ARG001
    """Read a file, or the stream that is stored as one."""
    read = pl.read_ipc if raw.startswith(_OF_A_FILE) else pl.read_ipc_stream
    return opened_by(read, path, raw, "Arrow IPC")


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],  # noqa: ARG001 -- it has no place for them
) -> Iterator[bytes | memoryview]:
    """Write a table in one part, as every reader of Arrow knows its types."""
    buffer = io.BytesIO()
    present = pl.DataFrame([_without_hidden(column) for column in to_publish(frame)])
    present.write_ipc(buffer, compat_level=pl.CompatLevel.oldest())
    yield buffer.getbuffer()


def _without_hidden(column: pl.Series) -> pl.Series:
    """Clear the memory of missing cells: the file would hold what stood there before."""
    if column.null_count() == 0:
        return column
    places = pl.select(pl.when(column.is_not_null()).then(pl.int_range(len(column)))).to_series()
    return column.gather(places)
