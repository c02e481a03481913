"""Arrow IPC files, which Feather files of version 2 are too."""

import io
from pathlib import Path
from typing import IO, Any

import polars as pl

from microveil.files.checking import broken, in_our_words
from microveil.files.formats import Opened
from microveil.files.text import TextFormat
from microveil.files.typed import Outline, kind_of, opened_by, to_publish

_OF_A_FILE = b"ARROW1"  # what begins otherwise may be the same table as a stream


def opened(path: Path, raw: bytes, text: TextFormat | None) -> Opened:  # noqa: ARG001
    """Read a file, or the stream that is stored as one."""
    read = pl.read_ipc if raw.startswith(_OF_A_FILE) else pl.read_ipc_stream
    return opened_by(read, path, raw, "whole Arrow IPC")


def outlined(path: Path, text: TextFormat | None) -> Outline:  # noqa: ARG001
    """Read the schema that a file, or a stream, begins with."""
    with in_our_words(lambda error: broken(path, "whole Arrow IPC", error)):
        with path.open("rb") as file:
            is_file = file.read(len(_OF_A_FILE)) == _OF_A_FILE
        schema = pl.read_ipc_schema(path) if is_file else pl.read_ipc_stream(path, n_rows=0).schema
    return Outline(kinds={name: kind_of(dtype) for name, dtype in schema.items()})


def write(frame: pl.DataFrame, file: IO[bytes], **_how: Any) -> None:
    """Write a table in one part, as every reader of Arrow knows its types."""
    present = pl.DataFrame([_without_hidden(column) for column in to_publish(frame)])
    buffer = io.BytesIO()
    present.write_ipc(buffer, compat_level=pl.CompatLevel.oldest())
    file.write(buffer.getbuffer())


def _without_hidden(column: pl.Series) -> pl.Series:
    """Clear the memory of missing cells: the file would hold what stood there before."""
    if column.null_count() == 0:
        return column
    places = pl.select(pl.when(column.is_not_null()).then(pl.int_range(len(column)))).to_series()
    return column.gather(places)
