"""Stata files, with labels and code lists of whole numbers.

Its missing values .a to .z have no number, and are read as missing.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import polars as pl

from microveil.files.declared import Outline
from microveil.files.statistical import (
    Column,
    LabelledFile,
    as_numbers,
    opened_by,
    outlined_by,
    stored,
    written_by,
)
from microveil.files.text import TextFormat
from microveil.table import Labels

__all__ = ["batches", "opened", "outlined"]

# From 1960-01-01: days, or milliseconds.
_DATE = Column(kind="date", origin=3_653.0)
_MOMENT = Column(kind="moment", origin=3_653.0 * 86_400_000, unit=1_000)
_LONG = -2_147_483_647, 2_147_483_620  # what lies beyond stands for missing values
_LARGEST = 2.0**1023  # from here on too
_NAMES = re.compile(r"[^\W\d][\w]{0,31}")
_NAMING = (
    "a column's name in Stata is up to 32 letters, digits and _, no digit first, and another but "
    "for capitals"
)


def opened(path: Path, raw: bytes, text: TextFormat | None) -> LabelledFile:  # noqa: ARG001
    """Read a file."""
    return opened_by("read_dta", path, raw, "Stata", _stored)


def outlined(path: Path, text: TextFormat | None) -> Outline:  # noqa: ARG001
    """Read what a file says of its columns."""
    return outlined_by("read_dta", path, "Stata", _stored)


def _stored(storage: str, form: str | None) -> Column:
    if storage.startswith("string"):
        return Column(kind="text")
    shown = form or ""
    if shown.startswith(("%td", "%-td", "%d")):
        return _DATE
    if shown.startswith(("%tc", "%-tc")):
        return _MOMENT
    whole = storage.startswith("int") or re.fullmatch(r"%-?0?[0-9]+[.]0fc?", shown)
    return Column(kind="whole" if whole else "decimal")


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],
) -> Iterator[bytes]:
    """Write a table with its labels, in one part."""
    table = stored(frame, names=_NAMES, naming=_NAMING, largest=_LARGEST)
    formats, columns, codes = {}, [], {}
    for name, column in zip(table.columns, table, strict=True):
        numbers = column
        if column.dtype == pl.Int64:
            if column.drop_nulls().is_between(*_LONG).all():
                numbers = column.cast(pl.Int32)
            else:
                formats[name], numbers = "%20.0f", column.cast(pl.Float64)
        elif column.dtype == pl.Date:
            formats[name], numbers = "%td", as_numbers(column, _DATE)
        elif column.dtype == pl.Datetime:
            formats[name], numbers = "%tc", as_numbers(column, _MOMENT)
        columns.append(numbers)
        listed = labels.get(name, Labels()).codes
        if listed and all(isinstance(code, int) for code in listed):
            codes[name] = dict(listed)
    yield from written_by(
        "write_dta", pl.DataFrame(columns), labels, "Stata",
        variable_format=formats, variable_value_labels=codes,
    )  # fmt: skip
