"""Exact decimals of databases as floating-point numbers, where these tell them apart, and back."""

import decimal
import math
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from microveil.schema import Cells

__all__ = [
    "MOST_DIGITS",
    "decimals_of_objects",
    "decimals_of_series",
    "written_decimals",
]

# Two decimals of so many digits never have the same nearest float64.
MOST_DIGITS = 15
_TOLD_APART = 10**MOST_DIGITS


def decimals_of_objects(cells: Iterable[Any]) -> NDArray[np.float64] | None:
    """Return Python's decimals as floats, NaN where missing.

    None where a cell is something else, or where the column as a whole has more than 15 digits,
    from its largest number's first to the last decimal in use.

    >>> decimals_of_objects([decimal.Decimal("0.10"), None])
    array([0.1, nan])
    >>> decimals_of_objects([decimal.Decimal("1e9"), decimal.Decimal("1e-9")]) is None
    True
    """
    values, places, largest = [], 0, decimal.Decimal(0)
    for cell in cells:
        if not isinstance(cell, decimal.Decimal):
            if not _is_missing(cell):
                return None
            values.append(math.nan)
        elif cell.is_nan():
            values.append(math.nan)
        elif cell.is_infinite():
            return None
        else:
            values.append(float(cell))
            largest = max(largest, cell.copy_abs())
            shown = format(cell, "f").partition(".")[2].rstrip("0")
            places = max(places, len(shown))
    if places > MOST_DIGITS or largest.scaleb(places) > _TOLD_APART:
        return None
    return np.array(values, dtype=np.float64)


def decimals_of_series(series: Any) -> NDArray[np.float64] | None:
    """Return a polars series of decimals as floats; see `decimals_of_objects`.

    >>> decimals_of_series(polars.Series([decimal.Decimal("0.10"), None]))
    array([0.1, nan])
    """
    if not len(series) - series.null_count():
        return np.full(len(series), np.nan)
    places = series.dtype.scale
    # Both are exact in what they divide, so the quotient is the nearest float.
    units = series.to_physical()
    largest = max(abs(int(units.min())), abs(int(units.max())))
    if places <= MOST_DIGITS and largest <= _TOLD_APART:
        whole: NDArray[np.float64] = units.cast(polars.Float64).to_numpy()
        scaled: NDArray[np.float64] = whole / 10.0**places
        return scaled
    texts = series.cast(polars.String)
    values: NDArray[np.float64] = texts.cast(polars.Float64).to_numpy()
    shown = texts.str.extract(r"\.(.*[1-9])").str.len_bytes().max()
    exact = decimal.Decimal(float(np.nanmax(np.abs(values)))).scaleb(shown or 0) <= _TOLD_APART
    return values if exact and (shown or 0) <= MOST_DIGITS else None


def _is_missing(cell: Any) -> bool:
    return cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType")  # noqa: PLR0124


def written_decimals(values: Cells, precision: int, places: int) -> tuple[NDArray[np.float64], int]:
    """Clip floats to what a type of so many digits and decimals holds, as they are to be written.

    They are 0 where not finite, and to be rounded to so many decimals before they get those of the
    type: more than these were given to none of them.

    >>> written_decimals(np.array([24039.02, np.nan]), 38, 18)
    (array([24039.02,     0.  ]), 10)
    >>> written_decimals(np.array([-2000.0]), 5, 2)
    (array([-999.99]), 2)
    """
    limit = min((10**precision - 1) / 10**places, math.nextafter(10.0 ** (precision - places), 0))
    held = np.clip(np.where(np.isfinite(values), values, 0.0), -limit, limit)
    # Up to a power of ten itself, the numbers below it say how many digits there are.
    below = max(0, math.ceil(np.abs(held).max(initial=0.0)) - 1)
    return held, max(0, min(places, MOST_DIGITS - len(str(below))))
