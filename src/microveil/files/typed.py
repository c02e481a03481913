"""Tables whose files say what their columns are: read whole, and what of them is written."""

import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import polars as pl

from microveil.errors import FileError
from microveil.files.checking import broken, check_filled, check_records, in_our_words
from microveil.files.formats import Opened
from microveil.schema import Kind
from microveil.table.column_files import height_of
from microveil.table.frames import PATTERN_RULE, pattern_among
from microveil.table.memory import check_reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """The columns of a table, as its file declares them.

    A kind is None where only the values show it: of text, and of moments, which are dates where all
    of them are midnights. Values may make a column another that is declared as decimal, and is
    text where its digits are too many for a float; or as whole, and is decimal where a
    statistical package shows it without decimals.
    """

    kinds: Mapping[str, Kind | None]  # in the order of the columns
    n_records: int | None = None  # None where the file does not say it


def kind_of(dtype: pl.DataType) -> Kind | None:
    """Return what a column of a type holds; None where its values say it, or it is none of ours."""
    if dtype in (pl.Int128, pl.UInt64):  # text where a value has more than 63 bits
        return None
    if dtype.is_integer():
        return Kind.WHOLE
    if dtype.is_float() or dtype.is_decimal():
        return Kind.DECIMAL
    if dtype == pl.Boolean:
        return Kind.BOOLEAN
    if dtype == pl.Date:
        return Kind.DATE
    return Kind.OTHER if dtype in (pl.String, pl.Enum, pl.Categorical) else None


def typed(frame: pl.DataFrame | pl.LazyFrame, never_missing: tuple[str, ...] = ()) -> Opened:
    """Return a table that comes with its types: its file says what its columns are."""
    names = frame.collect_schema().names()
    return Opened(names=names, read=lambda _cells: frame, never_missing=never_missing)


def opened_by(
    read: Callable[[io.BytesIO], pl.DataFrame],
    path: Path,
    raw: bytes,
    title: str,
    scan: Callable[[io.BytesIO], pl.LazyFrame] | None = None,
) -> Opened:
    """Read a file with a reader of polars: its bytes say all."""
    check_filled(path, raw)
    with in_our_words(lambda error: broken(path, title, error)):
        if scan is not None:
            outline = scan(io.BytesIO(raw))
            cells = outline.select(pl.len()).collect().item() * len(outline.collect_schema())
            check_reading(path, len(raw), cells)
        frame = read(io.BytesIO(raw))
    return typed(without_metadata(path, frame))


def check_no_pattern(path: Path, names: Iterable[str]) -> None:
    """Refuse columns whose names would be taken for patterns."""
    if number := pattern_among(names):
        raise FileError(f"{path}, column {number}", PATTERN_RULE, "rename it")


Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def without_metadata(path: Path, frame: Frame) -> Frame:
    """Return the table of a file without what its types may hold beside values."""
    names = frame.collect_schema().names()
    check_records(path, height_of(frame) if names else 0)
    check_no_pattern(path, names)
    return _stored(frame)


def to_publish(frame: Frame) -> Frame:
    """Reduce a table to names, types and values that some record has."""
    stored = _stored(frame)
    schema = stored.collect_schema()
    enums = {name: own for name, own in schema.items() if isinstance(own, pl.Enum)}
    return stored.with_columns(
        pl.col(name).cast(_narrowed(stored.lazy(), name, dtype)) for name, dtype in enums.items()
    )


def _narrowed(frame: pl.LazyFrame, name: str, dtype: pl.Enum) -> pl.Enum:
    """Leave out the categories that no record has: the file would list them all."""
    present = {*frame.select(pl.col(name).unique()).collect().to_series()}
    return pl.Enum([own for own in dtype.categories if own in present])


def _stored(frame: Frame) -> Frame:
    """Take columns out of extension types, whose metadata may hold anything."""
    extension = getattr(pl, "BaseExtension", None)  # unknown to polars 1
    schema = frame.collect_schema()
    names = [n for n, dtype in schema.items() if extension and isinstance(dtype, extension)]
    return frame.with_columns(pl.col(name).ext.storage() for name in names)
