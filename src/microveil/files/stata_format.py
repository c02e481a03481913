"""Stata files, with labels and code lists of whole numbers.

Its missing values .a to .z have no number, and are read as missing.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import polars as pl

from microveil.files import statistical
from microveil.files.formats import STATA, STATA_LONG, Opened
from microveil.files.statistical import Column, Package, as_numbers
from microveil.files.text import TextFormat
from microveil.files.typed import Outline
from microveil.table import Labels

# From 1960-01-01: days, or milliseconds.
_DATE = Column(kind="date", origin=3_653.0)
_MOMENT = Column(kind="moment", origin=3_653.0 * 86_400_000, unit=1_000)
_BEGINS = 64  # bytes in which it is said which format the file is of


def opened(path: Path, raw: bytes, text: TextFormat | None) -> Opened:
    """Read a file."""
    return statistical.opened(_package(raw), path, raw, text)


def outlined(path: Path, text: TextFormat | None) -> Outline:
    """Read what a file says of its columns."""
    with path.open("rb") as file:
        package = _package(file.read(_BEGINS))
    return statistical.outlined(package, path, text)


def _package(raw: bytes) -> Package:
    """Text is UTF-8 by the format from 118 on; before it is whatever the system had."""
    is_utf8 = raw.startswith(b"<stata_dta>") and b"<release>117" not in raw[:_BEGINS]
    return replace(_STATA, says_encoding=is_utf8)


def _column(storage: str, form: str | None) -> Column:
    if storage.startswith("string"):
        return Column(kind="text")
    shown = (form or "").replace("-", "", 1)
    if shown.startswith(("%td", "%d")):
        return _DATE
    if shown.startswith("%tc"):
        return _MOMENT
    if shown.startswith(("%tC", "%tb")):
        return Column(kind="unheld")
    if period := re.match("%t([wmqh])", shown):
        return Column(kind=period[1])
    whole = storage.startswith("int") or re.fullmatch(r"%0?[0-9]+[.]0fc?", shown)
    return Column(kind="whole" if whole else "decimal")


def _shown(column: pl.Series) -> tuple[str, pl.Series]:
    if column.dtype == pl.Int64 and column.drop_nulls().is_between(*STATA_LONG).all():
        return "", column.cast(pl.Int32)
    if column.dtype == pl.Int64:
        return "%20.0f", column.cast(pl.Float64)
    if column.dtype == pl.Date:
        return "%td", as_numbers(column, _DATE)
    if column.dtype == pl.Datetime:
        return "%tc", as_numbers(column, _MOMENT)
    return "", column


_STATA = Package(
    title="Stata", reader="read_dta", column=_column, carries=STATA, writer="write_dta",
    cell=int, shown=_shown,  # true and false are 1 and 0
)  # fmt: skip


def write(
    frame: pl.DataFrame, file: IO[bytes], *, labels: Mapping[str, Labels], **_how: Any
) -> None:
    """Write a table with its labels."""
    kept = {own: STATA.kept(said) for own, said in labels.items()}
    statistical.write(_STATA, frame, file, kept)
