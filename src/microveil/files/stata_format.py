"""Stata files, with labels and code lists of whole numbers.

Its missing values .a to .z have no number, and are read as missing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from microveil.files.declared import Outline
from microveil.files.statistical import (
    Column,
    LabelledFile,
    as_numbers,
    fits,
    opened_by,
    outlined_by,
    stored,
    written_by,
)
from microveil.files.text import TextFormat
from microveil.schema import GivenCode
from microveil.table import Labels

__all__ = ["batches", "kept", "opened", "outlined"]

# From 1960-01-01: days, or milliseconds.
_DATE = Column(kind="date", origin=3_653.0)
_MOMENT = Column(kind="moment", origin=3_653.0 * 86_400_000, unit=1_000)
_LONG = -2_147_483_647, 2_147_483_620  # what lies beyond stands for missing values
_BEGINS = 64  # bytes in which it is said which format the file is of
_LARGEST = 2.0**1023  # from here on too
_NAMES = re.compile(
    r"(?!(?:_all|_b|byte|_coef|_cons|double|float|if|in|int|long|_n|_N|_pi|_pred|_rc|_skip|"
    r"str[0-9]+|strL|using|with)$)[^\W\d][\w]{0,31}"
)
_NAMING = (
    "a column's name in Stata is up to 32 letters, digits and _, no digit first, no word of its "
    "language (as using, in, int, _n and str5 are), and another but for capitals"
)
_LONGEST_NAME = 4 * 32  # bytes of 32 letters at most: these are counted
_LONGEST_TEXT = 2_000_000_000
_LONGEST_LABEL = 32_000  # in bytes
_LONGEST_TITLE = 80  # in letters


def opened(path: Path, raw: bytes, text: TextFormat | None) -> LabelledFile:
    """Read a file."""
    return opened_by("read_dta", path, raw, "Stata", _stored, text, is_encoded=_is_utf8(raw))


def outlined(path: Path, text: TextFormat | None) -> Outline:
    """Read what a file says of its columns."""
    with path.open("rb") as file:
        is_encoded = _is_utf8(file.read(_BEGINS))
    return outlined_by("read_dta", path, "Stata", _stored, text, is_encoded=is_encoded)


def _is_utf8(raw: bytes) -> bool:
    """Whether text is UTF-8 by its format: from 118 on; before it is whatever the system had."""
    return raw.startswith(b"<stata_dta>") and b"<release>117" not in raw[:_BEGINS]


def _stored(storage: str, form: str | None) -> Column:
    if storage.startswith("string"):
        return Column(kind="text")
    shown = form or ""
    if shown.startswith(("%td", "%-td", "%d")):
        return _DATE
    if shown.startswith(("%tc", "%-tc")):
        return _MOMENT
    if shown.startswith(("%tC", "%-tC", "%tb", "%-tb")):
        return Column(kind="unheld")
    period = re.match("%-?t([wmqh])", shown)
    if period is not None:
        return Column(kind=period[1])
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
    table = stored(
        frame, names=_NAMES, naming=_NAMING, largest=_LARGEST,
        longest_name=_LONGEST_NAME, longest_text=_LONGEST_TEXT,
    )  # fmt: skip
    labels = {name: kept(said) for name, said in labels.items()}
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
        if numbered := {int(code): text for code, text in listed.items() if isinstance(code, int)}:
            codes[name] = numbered
    yield from written_by(
        "write_dta", pl.DataFrame(columns), labels, "Stata",
        variable_format=formats, variable_value_labels=codes,
    )  # fmt: skip


def kept(labels: Labels) -> Labels:
    """Return what of a column's labels a file holds whole; of text that is codes it holds none."""
    title = labels.column or ""
    column = labels.column if len(title) <= _LONGEST_TITLE and "\0" not in title else None
    codes = {
        code: text
        for code, text in labels.codes.items()
        if isinstance(code, str) or (_is_whole(code) and fits(text, _LONGEST_LABEL))
    }
    return replace(labels, column=column, codes=codes)


def _is_whole(code: GivenCode) -> bool:
    return isinstance(code, int) and _LONG[0] <= code <= _LONG[1]
