"""Records of CSV whose cells need no quotes: numbers of few decimals as quickly as whole ones.

Most of the time that polars takes to write decimals goes into finding the shortest text of each.
Of a number on a decimal grid it is known: the digits of a whole number.
"""

import sys
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from microveil.kernels import csv_records as kernel

__all__ = ["plain_records"]

# Digits behind the point that are looked for; numbers of more have an exponent at times.
MOST_DECIMALS = 4
# Values by which the digits behind the point of a column are told before all are held to them.
N_SAMPLE = 100
_WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt16, pl.UInt32)
_TEXT = (pl.String, pl.Boolean, pl.Date, pl.Categorical, pl.Enum)

Mask = NDArray[np.bool_]


def plain_records(frame: pl.DataFrame, separator: str, missing: bytes) -> memoryview | None:
    r"""Return records as polars writes them, or None where that is not known to be quicker.

    Parameters
    ----------
    frame : polars.DataFrame (n_records, n_columns)
    separator : str
        One byte.
    missing : bytes
        What stands for a missing value: two at most.

    Returns
    -------
    memoryview or None
        None where more columns are text than decimals, where one of these has more than
        `MOST_DECIMALS` digits behind the point, or where a cell needs quotes.

    Examples
    --------
    >>> frame = pl.DataFrame({"WAGE": [1200.5, -3.0], "CITY": ["Lyon", None]})
    >>> bytes(plain_records(frame, ",", b""))
    b'1200.5,Lyon\n-3.0,\n'
    >>> plain_records(pl.DataFrame({"WAGE": [1 / 3]}), ",", b"") is None
    True
    """
    n_decimals = sum(dtype == pl.Float64 for dtype in frame.dtypes)
    n_texts = sum(dtype in _TEXT for dtype in frame.dtypes)
    is_quicker = frame.height and n_decimals >= max(1, n_texts)
    if not is_quicker or sys.byteorder != "little":  # a word's first byte is its lowest one
        return None
    numbers, valid = (_rows(frame, dtype) for dtype in (np.int64, np.bool_))
    decimals = np.full(frame.width, kernel.TEXT)
    texts: list[bytes] = []
    starts: list[NDArray[np.int64]] = []
    for place, column in enumerate(frame):
        valid[place] = True if column.null_count() == 0 else column.is_not_null().to_numpy()
        if column.dtype == pl.Float64:
            found = _decimals(column.to_numpy(), valid[place], numbers[place])
            if found is None:
                return None
            decimals[place] = found
        elif column.dtype in _WHOLE:
            decimals[place], numbers[place] = kernel.WHOLE, column.fill_null(0).to_numpy()
        elif column.dtype in _TEXT:
            words = column.cast(pl.String).fill_null("")
            letters = words.str.join().item()
            if any(mark in letters for mark in (separator, '"', "\n", "\r")):
                return None
            sizes = words.str.len_bytes().to_numpy()
            numbers[place] = len(starts)
            starts.append(sum(map(len, texts)) + np.concatenate(([0], np.cumsum(sizes))))
            texts.append(letters.encode())
        else:
            return None
    return _written(numbers, decimals, b"".join(texts), starts, valid, separator, missing)


def _rows(frame: pl.DataFrame, dtype: type) -> NDArray[Any]:
    """Return a row for each column, not a power of two apart: those share places in a cache."""
    return np.empty((frame.width, frame.height + 24), dtype=dtype)[:, : frame.height]


def _decimals(values: NDArray[np.float64], valid: Mask, found: NDArray[np.int64]) -> int | None:
    """Find how many digits behind the point a column has, and its values in units of the last."""
    first = slice(0, N_SAMPLE)
    for decimals in range(MOST_DECIMALS + 1):
        parts = float(10**decimals)
        if kernel.on_grid(values[first], valid[first], parts, found) and kernel.on_grid(
            values, valid, parts, found
        ):
            return decimals
    return None


def _written(
    numbers: NDArray[np.int64],
    decimals: NDArray[np.int64],
    texts: bytes,
    starts: list[NDArray[np.int64]],
    valid: NDArray[np.bool_],
    separator: str,
    missing: bytes,
) -> memoryview:
    n_columns, n_records = numbers.shape
    size = n_records * n_columns * (kernel.LONGEST + 1) + len(texts) + kernel.SLACK
    out = np.empty(size, dtype=np.uint8)
    written = kernel.write_records(
        numbers,
        decimals,
        np.frombuffer(texts, dtype=np.uint8),
        np.array(starts, dtype=np.int64).reshape(-1, n_records + 1),
        valid,
        ord(separator),
        int.from_bytes(missing, "little"),
        out,
    )
    return out.data[:written]
