"""Stata files, with labels and code lists of whole numbers.

Its missing values .a to .z have no number, and are read as missing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

import polars as pl

from microveil.files import statistical
from microveil.files.carries import STATA, STATA_LONG
from microveil.files.declared import Outline
from microveil.files.statistical import Column, LabelledFile, Package, as_numbers
from microveil.files.storing import stored
from microveil.files.text import TextFormat
from microveil.schema import GivenCode
from microveil.table import Labels

__all__ = ["batches", "opened", "outlined"]

# From 1960-01-01: days, or milliseconds.
_DATE = Column(kind="date", origin=3_653.0)
_MOMENT = Column(kind="moment", origin=3_653.0 * 86_400_000, unit=1_000)
_BEGINS = 64  # bytes in which it is said which format the file is of


def opened(path: Path, raw: bytes, text: TextFormat | None) -> LabelledFile:
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


_STATA = Package(title="Stata", reader="read_dta", column=_column)


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],
) -> Iterator[bytes]:
    """Write a table with its labels, in one part."""
    labels = {name: STATA.kept(said) for name, said in labels.items() if name in frame.columns}
    formats, columns = {}, []
    for column in stored(frame, STATA):
        name, numbers = column.name, column
        if column.dtype == pl.Int64 and column.drop_nulls().is_between(*STATA_LONG).all():
            numbers = column.cast(pl.Int32)
        elif column.dtype == pl.Int64:
            formats[name], numbers = "%20.0f", column.cast(pl.Float64)
        elif column.dtype == pl.Date:
            formats[name], numbers = "%td", as_numbers(column, _DATE)
        elif column.dtype == pl.Datetime:
            formats[name], numbers = "%tc", as_numbers(column, _MOMENT)
        columns.append(numbers)
    yield from statistical.written(
        "write_dta", columns, labels, "Stata", variable_format=formats,
        variable_value_labels={
            name: {_cell(code): word for code, word in said.codes.items()}
            for name, said in labels.items() if said.codes
        },
    )  # fmt: skip


def _cell(code: GivenCode) -> int:
    return int(cast("int", code))  # no other is kept; true and false are 1 and 0
