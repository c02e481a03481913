"""Medians of distances, never without an interval."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

__all__ = ["Median", "median_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Median:
    """A median, and how sure it is.

    Parameters
    ----------
    value : float
        NaN of nothing.
    interval : tuple[float, float]
        Where the median of others drawn alike would lie.
    n : int
        How many there are.
    """

    value: float
    interval: tuple[float, float]
    n: int

    def __str__(self) -> str:
        """Write the median with its interval.

        >>> str(median_of(np.array([1.0, 2.0, 6.0])))
        '2 (1 to 6)'
        """
        low, high = self.interval
        return f"{self.value:.3g} ({low:.3g} to {high:.3g})" if self.n else "-"

    def to_dict(self) -> dict[str, Any]:
        """Return the median as JSON knows it: None instead of NaN.

        >>> median_of(np.array([1.0, 2.0, 6.0])).to_dict()
        {'median': 2.0, 'interval': [1.0, 6.0], 'n': 3}
        """
        value, *ends = (
            None if math.isnan(figure) else figure for figure in (self.value, *self.interval)
        )
        return {"median": value, "interval": ends, "n": self.n}


def median_of(values: NDArray[np.float64], confidence: float = 0.95) -> Median:
    """Return the median of independent values with its interval.

    Parameters
    ----------
    values : ndarray of float64
    confidence : float
        Between 0 and 1.

    Returns
    -------
    Median
        The ends are the values whose ranks lie z/2 roots of n from the middle one, rounded
        outwards, z the standard normal quantile; the extremes where there are few.

    Examples
    --------
    >>> median_of(np.arange(101.0)).interval
    (40.0, 60.0)
    """
    in_order, n = np.sort(values), len(values)
    if not n:
        return Median(value=math.nan, interval=(math.nan, math.nan), n=0)
    middle, reach = (n - 1) / 2, float(scipy.special.ndtri((1 + confidence) / 2)) * math.sqrt(n) / 2
    low, high = max(math.floor(middle - reach), 0), min(math.ceil(middle + reach), n - 1)
    ends = float(in_order[low]), float(in_order[high])
    return Median(value=float(np.median(in_order)), interval=ends, n=n)
