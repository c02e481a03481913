"""SPSS files, .sav and compressed .zsav, with labels, code lists and missing codes."""

import datetime
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

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
from microveil.files.typed import UnwritableError
from microveil.schema import EPOCH, GivenCode
from microveil.table import Labels

__all__ = ["batches", "kept", "opened", "outlined"]

# Seconds from 1582-10-14, midnight.
_ORIGIN = 12_219_379_200.0
_DATE = Column(kind="date", origin=_ORIGIN, unit=86_400)
_MOMENT = Column(kind="moment", origin=_ORIGIN)
_DATES = ("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "QYR", "MOYR", "WKYR")
_MOMENTS = ("DATETIME", "YMDHMS")
_TIME = Column(kind="time")
_TIMES = ("TIME", "DTIME", "MTIME")
_WHOLE = ("F", "N", "COMMA", "DOT", "DOLLAR")
_NARROW = -9_999_999, 99_999_999  # what eight characters show
_FORMAT = re.compile(r"([A-Z]+)[0-9]*(?:[.]([0-9]+))?")
_NAMES = re.compile(
    r"(?!(?:ALL|AND|BY|EQ|GE|GT|LE|LT|NE|NOT|OR|TO|WITH)$)[^\W\d_](?:[\w.@#$]{0,62}[\w@#$])?",
    flags=re.IGNORECASE,
)
_NAMING = (
    "a column's name in SPSS is a letter and up to 63 letters, digits, _ . @ # and $, of 64 bytes "
    "in all (an accented letter takes two), no word of its language, and another but for capitals"
)
# In bytes of UTF-8.
_LONGEST_NAME, _LONGEST_TEXT, _LONGEST_LABEL, _LONGEST_TITLE = 64, 32_767, 120, 256
_LONGEST_MISSING = 8


def opened(path: Path, raw: bytes, text: TextFormat | None) -> LabelledFile:
    """Read a file; codes of missing answers stay values, and the labels say which they are."""
    return opened_by("read_sav", path, raw, "SPSS", _stored, text, user_missing=True)


def outlined(path: Path, text: TextFormat | None) -> Outline:
    """Read what a file says of its columns."""
    return outlined_by("read_sav", path, "SPSS", _stored, text)


def _stored(storage: str, form: str | None) -> Column:
    if storage == "string":
        return Column(kind="text")
    found = _FORMAT.fullmatch(form or "")
    name, decimals = (found[1], int(found[2] or 0)) if found else ("", 0)
    if name in _DATES:
        return _DATE
    if name in _MOMENTS:
        return _MOMENT
    if name in _TIMES:
        return _TIME
    return Column(kind="whole" if name in _WHOLE and decimals == 0 else "decimal")


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],
    is_packed: bool = False,
) -> Iterator[bytes]:
    """Write a table with its labels, in one part."""
    table = stored(
        frame, names=_NAMES, naming=_NAMING, largest=sys.float_info.max,
        longest_name=_LONGEST_NAME, longest_text=_LONGEST_TEXT,
    )  # fmt: skip
    labels = {name: kept(said) for name, said in labels.items()}
    formats, columns, codes, missing = {}, [], {}, {}
    measures = {
        name: "ordinal" for name in table.columns if name in labels and labels[name].is_ordinal
    }
    for name, column in zip(table.columns, table, strict=True):
        said = labels.get(name, Labels())
        numbers = column
        if column.dtype == pl.Int64:
            formats[name] = "F8.0" if column.drop_nulls().is_between(*_NARROW).all() else "F17.0"
        elif column.dtype == pl.Date:
            formats[name], numbers = "DATE11", as_numbers(column, _DATE)
        elif column.dtype == pl.Datetime:
            formats[name], numbers = "DATETIME23.3", as_numbers(column, _MOMENT)
        columns.append(column if column.dtype == pl.String else numbers.cast(pl.Float64))
        if said.codes:
            codes[name] = {_cell(code): text for code, text in said.codes.items()}
        if said.missing_codes:
            missing[name] = _ranges(name, said.missing_codes)
    yield from written_by(
        "write_sav", pl.DataFrame(columns), labels, "SPSS",
        variable_format=formats, variable_value_labels=codes, missing_ranges=missing,
        variable_measure=measures,
        compress=is_packed, row_compress=not is_packed,
    )  # fmt: skip


def kept(labels: Labels) -> Labels:
    """Return what of a column's labels a file holds whole: longer ones would be cut."""
    column = labels.column if fits(labels.column or "", _LONGEST_TITLE) else None
    codes = {code: text for code, text in labels.codes.items() if fits(text, _LONGEST_LABEL)}
    return replace(labels, column=column, codes=codes)


def _cell(code: GivenCode) -> float | str:
    if isinstance(code, datetime.date):
        return (code - EPOCH).days * _DATE.unit + _DATE.origin
    return code if isinstance(code, str) else float(code)


def _ranges(name: str, codes: tuple[GivenCode, ...]) -> list[Any]:
    """Declare missing codes: three at most, or a run of them and one more."""
    if not all(fits(code, _LONGEST_MISSING) for code in codes if isinstance(code, str)):
        rule = f"SPSS takes missing codes of text of up to {_LONGEST_MISSING} bytes"
        raise UnwritableError(name, rule, "declare shorter ones, or write another format")
    if len(codes) <= 3:
        return [_cell(code) for code in codes]
    listed = sorted(code for code in codes if isinstance(code, int))
    if len(listed) == len(codes):
        for run, others in ((listed, []), (listed[1:], listed[:1]), (listed[:-1], listed[-1:])):
            if run[-1] - run[0] == len(run) - 1:
                ends = {"lo": float(run[0]), "hi": float(run[-1])}
                return [ends, *(float(code) for code in others)]
    rule = "SPSS takes three missing codes of a column, or whole numbers in a row and one more"
    raise UnwritableError(name, rule, "declare fewer, or write another format")
