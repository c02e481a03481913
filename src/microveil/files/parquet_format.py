"""Parquet files."""

import io
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from microveil.errors import FileError
from microveil.files.columns import plain
from microveil.files.text import TextFormat

__all__ = ["batches", "opened"]

# polars raises its panics past Exception; they may quote a value like its errors.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException, ValueError, OSError)


@dataclass(frozen=True, slots=True)
class _Opened:
    """A table that comes with its types."""

    frame: pl.DataFrame
    text: None = None

    @property
    def names(self) -> list[str]:
        """The columns."""
        return self.frame.columns

    def read(
        self,
        decimals: Collection[str],  # noqa: ARG002 -- the file says what its columns are
        as_text: Callable[[str], bool],  # noqa: ARG002
        of_one_kind: Callable[[str], bool],  # noqa: ARG002
    ) -> pl.DataFrame:
        """Give the table."""
        return self.frame


def opened(path: Path, raw: bytes, text: TextFormat | None) -> _Opened:  # noqa: ARG001
    """Read a file: its bytes say all."""
    if not raw:
        rule = "the file must hold a table, and it is empty"
        raise FileError(str(path), rule, "check that the table was exported")
    try:
        frame = pl.read_parquet(io.BytesIO(raw))
    except _POLARS_ERRORS:
        rule = "the file must be whole Parquet, and it is broken or something else"
        remedy = "export the table again; name it .csv if it is text"
        raise FileError(str(path), rule, remedy) from None
    if frame.height == 0 or frame.width == 0:
        rule = "the file must hold records, and there are none"
        raise FileError(str(path), rule, "check that the table was exported")
    return _Opened(pl.DataFrame([plain(column) for column in frame]))


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
) -> Iterator[bytes | memoryview]:
    """Write a table in one part: names, types and values alone."""
    narrowed = [
        column.cast(_used(column, column.dtype)) if isinstance(column.dtype, pl.Enum) else column
        for column in map(plain, frame)
    ]
    buffer = io.BytesIO()
    pl.DataFrame(narrowed).write_parquet(buffer)
    yield buffer.getbuffer()


def _used(column: pl.Series, dtype: pl.Enum) -> pl.Enum:
    """Leave out the categories that no record has: the file would list them all."""
    present = set(column.unique().cast(pl.String))
    return pl.Enum([category for category in dtype.categories if category in present])
