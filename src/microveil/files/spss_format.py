"""SPSS files, .sav and compressed .zsav, with labels, code lists and missing codes."""

import re
from collections.abc import Mapping
from functools import partial
from typing import IO, Any

import polars as pl

from microveil.files import statistical
from microveil.files.formats import SPSS
from microveil.files.statistical import Column, Package, as_numbers
from microveil.files.writing import UnwritableError
from microveil.schema import GivenCode
from microveil.table import Labels

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


def _column(storage: str, form: str | None) -> Column:
    if storage == "string":
        return Column(kind="text")
    found = _FORMAT.fullmatch(form or "")
    name, decimals = (found[1], int(found[2] or 0)) if found else ("", 0)
    is_whole = name in _WHOLE and decimals == 0
    return _COLUMNS.get(name) or Column(kind="whole" if is_whole else "decimal")


def _shown(column: pl.Series) -> tuple[str, pl.Series]:
    if column.dtype == pl.Int64:
        is_narrow = column.drop_nulls().is_between(*_NARROW).all()
        return "F8.0" if is_narrow else "F17.0", column.cast(pl.Float64)
    if column.dtype == pl.Date:
        return "DATE11", as_numbers(column, _DATE)
    if column.dtype == pl.Datetime:
        return "DATETIME23.3", as_numbers(column, _MOMENT)
    return "", column


_SPSS = Package(
    title="SPSS", reader="read_sav", column=_column, options={"user_missing": True},
    carries=SPSS, writer="write_sav", cell=_DATE.counted, shown=_shown,
)  # fmt: skip
opened, outlined = partial(statistical.opened, _SPSS), partial(statistical.outlined, _SPSS)


def write(
    frame: pl.DataFrame, file: IO[bytes], *, labels: Mapping[str, Labels], name: str, **_how: Any
) -> None:
    """Write a table with its labels; zsav packs its values."""
    kept = {own: SPSS.kept(said) for own, said in labels.items() if own in frame.columns}
    statistical.write(
        _SPSS,
        frame,
        file,
        kept,
        missing_ranges={
            own: _ranges(own, said.missing_codes)
            for own, said in kept.items()
            if said.missing_codes
        },
        variable_measure={
            own: "ordinal" if said.is_ordinal else "scale"
            for own, said in kept.items()
            if said.is_ordinal or said.is_scale
        },
        compress=name == "zsav",
        row_compress=name != "zsav",
    )


def _ranges(name: str, codes: tuple[GivenCode, ...]) -> list[Any]:
    """Declare missing codes: three at most, or a run of them and one more."""
    most = SPSS.labels["missing codes"]
    if most is not None and not all(most.holds(code) for code in codes if isinstance(code, str)):
        rule = f"SPSS takes missing codes of text of up to {most}"
        raise UnwritableError(name, rule, "declare shorter ones, or write another format")
    if len(codes) <= 3:
        return [_DATE.counted(code) for code in codes]
    listed = sorted(code for code in codes if isinstance(code, int))
    if len(listed) == len(codes):
        for run, others in ((listed, []), (listed[1:], listed[:1]), (listed[:-1], listed[-1:])):
            if run[-1] - run[0] == len(run) - 1:
                ends = {"lo": float(run[0]), "hi": float(run[-1])}
                return [ends, *(float(code) for code in others)]
    rule = "SPSS takes three missing codes of a column, or whole numbers in a row and one more"
    raise UnwritableError(name, rule, "declare fewer, or write another format")
