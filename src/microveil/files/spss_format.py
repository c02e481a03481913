"""SPSS files, .sav and compressed .zsav, with labels, code lists and missing codes."""

import datetime
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from microveil.files import statistical
from microveil.files.carries import SPSS
from microveil.files.declared import Outline
from microveil.files.statistical import Column, LabelledFile, Package, as_numbers
from microveil.files.storing import UnwritableError, stored
from microveil.files.text import TextFormat
from microveil.schema import EPOCH, GivenCode
from microveil.table import Labels

__all__ = ["batches", "opened", "outlined"]

# Seconds from 1582-10-14, midnight.
_ORIGIN = 12_219_379_200.0
_DATE = Column(kind="date", origin=_ORIGIN, unit=86_400)
_MOMENT = Column(kind="moment", origin=_ORIGIN)
_COLUMNS = {
    **dict.fromkeys(("DATE", "ADATE", "EDATE", "SDATE", "JDATE", "QYR", "MOYR", "WKYR"), _DATE),
    **dict.fromkeys(("DATETIME", "YMDHMS"), _MOMENT),
    **dict.fromkeys(("TIME", "DTIME", "MTIME"), Column(kind="time")),
}
_WHOLE = ("F", "N", "COMMA", "DOT", "DOLLAR")
_FORMAT = re.compile(r"([A-Z]+)[0-9]*(?:[.]([0-9]+))?")
_NARROW = -9_999_999, 99_999_999  # what eight characters show


def opened(path: Path, raw: bytes, text: TextFormat | None) -> LabelledFile:
    """Read a file; codes of missing answers stay values, and the labels say which they are."""
    return statistical.opened(_SPSS, path, raw, text)


def outlined(path: Path, text: TextFormat | None) -> Outline:
    """Read what a file says of its columns."""
    return statistical.outlined(_SPSS, path, text)


def _column(storage: str, form: str | None) -> Column:
    if storage == "string":
        return Column(kind="text")
    found = _FORMAT.fullmatch(form or "")
    name, decimals = (found[1], int(found[2] or 0)) if found else ("", 0)
    is_whole = name in _WHOLE and decimals == 0
    return _COLUMNS.get(name) or Column(kind="whole" if is_whole else "decimal")


_SPSS = Package(
    title="SPSS", reader="read_sav", column=_column, options={"user_missing": True}
)  # fmt: skip


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],
    is_packed: bool = False,
) -> Iterator[bytes]:
    """Write a table with its labels, in one part."""
    labels = {name: SPSS.kept(said) for name, said in labels.items() if name in frame.columns}
    formats, columns = {}, []
    for column in stored(frame, SPSS):
        name, numbers = column.name, column
        if column.dtype == pl.Int64:
            formats[name] = "F8.0" if column.drop_nulls().is_between(*_NARROW).all() else "F17.0"
        elif column.dtype == pl.Date:
            formats[name], numbers = "DATE11", as_numbers(column, _DATE)
        elif column.dtype == pl.Datetime:
            formats[name], numbers = "DATETIME23.3", as_numbers(column, _MOMENT)
        columns.append(column if column.dtype == pl.String else numbers.cast(pl.Float64))
    yield from statistical.written(
        "write_sav", columns, labels, "SPSS", variable_format=formats,
        variable_value_labels={
            name: {_cell(code): word for code, word in said.codes.items()}
            for name, said in labels.items() if said.codes
        },
        missing_ranges={
            name: _ranges(name, said.missing_codes)
            for name, said in labels.items() if said.missing_codes
        },
        variable_measure={
            name: "ordinal" if said.is_ordinal else "scale"
            for name, said in labels.items() if said.is_ordinal or said.is_scale
        },
        compress=is_packed, row_compress=not is_packed,
    )  # fmt: skip


def _cell(code: GivenCode) -> float | str:
    if isinstance(code, datetime.date):
        return (code - EPOCH).days * _DATE.unit + _DATE.origin
    return code if isinstance(code, str) else float(code)


def _ranges(name: str, codes: tuple[GivenCode, ...]) -> list[Any]:
    """Declare missing codes: three at most, or a run of them and one more."""
    most = SPSS.labels["missing codes"]
    if most is not None and not all(most.holds(code) for code in codes if isinstance(code, str)):
        rule = f"SPSS takes missing codes of text of up to {most}"
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
