"""Parquet files."""

import io
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from microveil.files.text import TextFormat
from microveil.files.typed import TypedTable, opened_by, to_publish
from microveil.table import Labels

__all__ = ["batches", "opened"]


def opened(path: Path, raw: bytes, text: TextFormat | None) -> TypedTable:  # noqa: ARG001
    """Read a file."""
    return opened_by(pl.read_parquet, path, raw, "Parquet", pl.scan_parquet)


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],  # noqa: ARG001 -- it has no place for them
) -> Iterator[bytes | memoryview]:
    """Write a table in one part: names, types and values alone."""
    buffer = io.BytesIO()
    to_publish(frame).write_parquet(buffer)
    yield buffer.getbuffer()
