"""What becomes of a column that is written in a format and read again: tried, not declared."""

import datetime
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import polars as pl

import microveil as mv
from microveil.errors import FileError
from microveil.files import Format
from microveil.files.table_schema import table_schema
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from microveil.table import Labels

__all__ = ["COLUMNS", "LABELS", "fate", "fate_of_labels"]

DATES = [datetime.date(1, 1, 1), datetime.date(1582, 10, 15), datetime.date(1899, 12, 31)]
MOMENTS = [datetime.datetime.fromisoformat("1899-12-31T23:59"), None, None]
# By what is shown of each; every column has three records.
COLUMNS: Mapping[str, pl.Series] = {
    "whole numbers, one missing": pl.Series([1, None, -3]),
    "whole numbers beyond 2^53, to the limits of 64 bits": pl.Series(
        [2**53 + 1, 2**63 - 1, -(2**63)]
    ),
    "whole numbers beyond 2^63": pl.Series([2**64 - 1, 0, 1], dtype=pl.UInt64),
    "whole numbers of 8 bits": pl.Series([1, None, -128], dtype=pl.Int8),
    "decimal numbers, one missing": pl.Series([0.1, None, -2.5]),
    "decimal numbers, all of them whole": pl.Series([1.0, 2.0, 3.0]),
    "the largest and the smallest decimal numbers": pl.Series(
        [1.7976931348623157e308, 5e-324, -0.0]
    ),
    "decimal numbers of 17 digits": pl.Series([0.1 + 0.2, 0.7 + 0.1, -1234605616436508552.0]),
    "decimal numbers of 32 bits": pl.Series([0.1, None, -2.5], dtype=pl.Float32),
    "database decimals": pl.Series([Decimal("0.10"), None, Decimal("-2.50")]),
    "yes and no, one missing": pl.Series([True, None, False]),
    "dates before 1900": pl.Series(DATES),
    "moments, some missing": pl.Series(MOMENTS),
    "text with separators, quotes, line ends and letters of any script": pl.Series(
        ['a,"b";\t', "é\r\nか", " x "]
    ),
    "text, one missing": pl.Series(["y", None, "x"]),
    "empty text": pl.Series(["", None, "x"]),
    "text of digits with leading zeros": pl.Series(["007", None, "012"]),
    "text that looks like whole numbers": pl.Series(["7", None, "12"]),
    "words such as NA": pl.Series(["NA", None, "nan"]),
    "categories with a list": pl.Series(["low", None, "high"], dtype=pl.Enum(["low", "high"])),
    "categories without a list": pl.Series(["low", None, "high"], dtype=pl.Categorical()),
    "a column without values": pl.Series([None, None, None], dtype=pl.Int64),
}

# Of each of these a column, and what is said of it.
LABELS: Mapping[str, tuple[pl.Series, Labels]] = {
    "a column": (pl.Series([1, 2, 3]), Labels(column="Years at the firm")),
    "whole numbers that are codes": (
        pl.Series([1, 2, 9]),
        Labels(codes={1: "male", 2: "female"}),
    ),
    "text that is codes": (pl.Series(["m", "1", "9"]), Labels(codes={"m": "male", "1": "one"})),
    "codes of missing answers": (
        pl.Series([1, -9, -8]),
        Labels(codes={-9: "refused"}, missing_codes=(-9, -8)),
    ),
    "codes of missing answers, ten in a row and one more": (
        pl.Series([1, -90, 999]),
        Labels(missing_codes=(999, *range(-99, -89))),
    ),
}

_NAMES = {
    pl.Int64: "whole numbers of 64 bits",
    pl.Float64: "decimal numbers of 64 bits",
    pl.String: "text",
}


def fate(column: pl.Series, form: Format) -> str:
    """Say what becomes of a column: "kept", or what it is afterwards."""
    frame = pl.DataFrame({"A": column, "B": ["x", "y", "z"]})
    text = None if form.separator is None else TextFormat(separator=form.separator)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"t{form.suffixes[0]}")
        try:
            write_data(frame, path, text=text)
            again = mv.read(path).frame["A"]
        except FileError:
            return "refused"
    if again.dtype != column.dtype:
        return f"as {_NAMES[again.dtype.base_type()]}"
    if again.null_count() > column.null_count():
        return "as missing"
    if repr(again.to_list()) == repr(column.to_list()):  # by which -0.0 is not 0.0
        return "kept"
    return next(
        (said for said, seen in CHANGES.items() if again.to_list() == seen(column)), "other"
    )


CHANGES: Mapping[str, Callable[[pl.Series], list[object]]] = {
    "without the sign of 0": lambda column: column.to_list(),
    "without spaces at the end": lambda column: [str(cell).rstrip(" ") for cell in column],
    "to 16 digits": lambda column: [float(f"{cell:.16g}") for cell in column],
}


def fate_of_labels(column: pl.Series, labels: Labels, form: Format) -> str:
    """Say what becomes of a column's labels: "kept", or where they are to be found."""
    frame = pl.DataFrame({"A": column, "B": ["x", "y", "z"]})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"t{form.suffixes[0]}")
        write_data(frame, path, text=None, labels={"A": labels})
        if _same(mv.read(path).schema["A"].labels, labels):
            return "kept"
        written = mv.read(path).schema
        schema = {**written, "A": replace(written["A"], labels=labels)}
        Path(folder, "schema.json").write_text(json.dumps(table_schema(schema)), "utf-8")
        again = mv.read(path)
        kept = _same(again.schema["A"].labels, labels) and again.frame["A"].equals(column)
    return "in schema.json" if kept else "lost"


def _same(one: Labels, other: Labels) -> bool:
    return (one.column, one.codes, {*one.missing_codes}) == (
        other.column,
        other.codes,
        {*other.missing_codes},
    )
