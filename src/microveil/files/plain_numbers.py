"""Columns of a CSV file whose numbers are plain digits, read by a kernel several times as fast.

Parsers look for exponents, words for what is no number, and digits beyond what float64 holds. Where
each cell of a column is a few digits none of that is there, and its value is their quotient.
"""

import os
import sys
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from microveil.kernels import csv_numbers as kernel
from microveil.table.threads import in_threads

__all__ = ["plain_numbers"]

KINDS: Mapping[type[pl.DataType], int] = {pl.Float64: kernel.DECIMALS, pl.Int64: kernel.WHOLE}
# Bytes below which a file is not read in parts.
FEW = 1 << 20


def plain_numbers(
    data: bytes, start: int, schema: Mapping[str, pl.DataType], separator: str
) -> dict[str, pl.Series] | None:
    r"""Read the columns of numbers as polars reads them, or nothing where one is not plain.

    Parameters
    ----------
    data : bytes
        Records of sound structure and without quotes: see `Structure`.
    start : int
        Where they begin.
    schema : mapping
        Of all columns; those that are neither float64 nor int64 are gone over.
    separator : str
        One byte.

    Returns
    -------
    dict of polars.Series, or None
        None where a cell of one has more digits than float64 or int64 hold for certain, or is
        neither digits nor empty.

    Examples
    --------
    >>> schema = {"AGE": pl.Int64(), "CITY": pl.String(), "WAGE": pl.Float64()}
    >>> found = plain_numbers(b"41,Lyon,1200.5\n,Lille,-3\n", 0, schema, ",")
    >>> {name: column.to_list() for name, column in found.items()}
    {'AGE': [41, None], 'WAGE': [1200.5, -3.0]}
    >>> plain_numbers(b"41,Lyon,1.2e3\n", 0, schema, ",") is None
    True
    """
    if sys.byteorder != "little":  # a word's first byte is its lowest one
        return None
    parts = _parts(data, start)
    ends = np.cumsum([0, *in_threads(kernel.count_lines, parts)])
    n_records = int(ends[-1])
    kinds = np.array([KINDS.get(type(dtype), kernel.OTHER) for dtype in schema.values()])
    # Each by itself: a column that is let go leaves no other behind.
    values: dict[str, NDArray[Any]] = {
        name: np.empty(n_records, dtype=np.float64 if kind == kernel.DECIMALS else np.int64)
        for name, kind in zip(schema, kinds, strict=True)
        if kind != kernel.OTHER
    }
    addresses = np.array(
        [values[name].ctypes.data if name in values else 0 for name in schema], dtype=np.uint64
    )
    valid = np.empty((len(schema), n_records), dtype=np.bool_)

    def read(part: tuple[NDArray[np.uint8], int]) -> int:
        records, first = part
        return int(kernel.read_numbers(records, ord(separator), kinds, addresses, valid, first))

    # Fewer records than lines are those of a file that is changed meanwhile.
    if in_threads(read, list(zip(parts, ends[:-1].tolist(), strict=True))) != ends[1:].tolist():
        return None
    return {
        name: _column(name, values[name], valid[place])
        for place, name in enumerate(schema)
        if name in values
    }


def _parts(data: bytes, start: int) -> list[NDArray[np.uint8]]:
    """Cut at ends of lines, in as many parts as there are processors."""
    size = len(data) - start
    n_parts = 1 if size < FEW else os.cpu_count() or 1
    guesses = (start + number * size // n_parts for number in range(1, n_parts))
    cuts = [start, *(data.find(b"\n", guess) + 1 or len(data) for guess in guesses), len(data)]
    records = np.frombuffer(data, dtype=np.uint8)
    return [records[first:last] for first, last in pairwise(cuts)]


def _column(name: str, values: NDArray[Any], valid: NDArray[np.bool_]) -> pl.Series:
    column = pl.Series(name, values)
    return column if valid.all() else column.set(pl.Series(~valid), None)
