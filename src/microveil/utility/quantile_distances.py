"""How far the values of an attribute moved, whichever record they belong to.

Values are compared quantile by quantile. With as many values before as after, these are the values
in ascending order; else both quantile functions are evaluated at the same probabilities, all of
them: between two neighbouring ones at which either jumps, neither changes.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.kernels import distributions as kernel
from microveil.table.blocks import Matrix, varying
from microveil.table.sorting import InOrder
from microveil.table.threads import in_threads

__all__ = ["QuantileDistances", "distances_in_order", "quantile_distances"]

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class QuantileDistances:
    """Distances of quantile functions F^-1 before and G^-1 after, in read-only arrays.

    NaN where an attribute does not vary in the original, or has no value on one side.

    Parameters
    ----------
    wasserstein : ndarray of float64, shape (n_attributes,)
        The integral of |F^-1 - G^-1|, Wasserstein's distance, over the original's standard
        deviation.
    squared : ndarray of float64, shape (n_attributes,)
        The integral of (F^-1 - G^-1)^2 over the original's variance: with as many values on both
        sides the mean squared difference of the sorted values.
    """

    wasserstein: Float
    squared: Float

    @classmethod
    def of(cls, distances: ArrayLike) -> "QuantileDistances":
        """Return them of both distances of each attribute.

        >>> QuantileDistances.of([(0.5, 0.25), (1.0, 2.0)]).squared
        array([0.25, 2.  ])
        """
        found = np.array(distances, dtype=np.float64)
        found.setflags(write=False)
        return cls(wasserstein=found[:, 0], squared=found[:, 1])

    @property
    def sorted_error(self) -> float:
        """The mean of ``squared`` over the attributes that have it; NaN where none has."""
        found = self.squared[~np.isnan(self.squared)]
        return float(found.mean()) if len(found) else float("nan")


def quantile_distances(original: Matrix, protected: Matrix) -> QuantileDistances:
    """Compare the quantiles of every attribute.

    Parameters
    ----------
    original, protected : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        Not necessarily of as many records; NaN is a missing cell.

    Returns
    -------
    QuantileDistances
        In the order of the attributes.

    Raises
    ------
    DataError
        If the original is empty or holds an infinite value.

    Notes
    -----
    O(n log n) time for each attribute, attributes side by side.

    Examples
    --------
    >>> before, after = np.array([[1.0], [3.0]]), np.array([[5.0], [5.0], [1.0], [1.0]])
    >>> found = quantile_distances(before, after)
    >>> round(float(found.wasserstein[0]), 4), found.sorted_error
    (0.7071, 1.0)
    """
    varies = varying(original)
    distances = np.full((original.shape[1], 2), np.nan)

    def compare(a: int) -> None:
        before, after = (_in_order(side[:, a]) for side in (original, protected))
        if varies[a] and len(before) and len(after):
            variance = before.var(ddof=1)
            apart, widths = _apart(before, after)
            del before, after  # of millions of values, before as many products are held
            distances[a, 0] = np.sum(np.abs(apart) * widths) / np.sqrt(variance)
            distances[a, 1] = np.sum(apart * apart * widths) / variance

    in_threads(compare, range(original.shape[1]), original.size)
    return QuantileDistances.of(distances)


def distances_in_order(before: InOrder, after: InOrder, variance: float) -> tuple[float, float]:
    """Compare the quantiles of an attribute of many values that are in order.

    Parameters
    ----------
    before, after : InOrder
    variance : float
        The original's.

    Returns
    -------
    (float, float)
        As `QuantileDistances` has them; NaN where a side has no value.

    Notes
    -----
    O(n) time, of counted values O(different ones); no array as long as both sides where these have
    as many values.

    Examples
    --------
    >>> before, after = InOrder(values=np.array([1.0, 3.0])), InOrder(values=np.array([2.0, 6.0]))
    >>> distances_in_order(before, after, 4.0)
    (1.0, 1.25)
    """
    n, m = len(before), len(after)
    if not n or not m:
        return np.nan, np.nan
    if before.counts is not None and after.counts is not None:
        apart, widths = _apart_by_counts(before, after)
        absolute, squared = np.sum(np.abs(apart) * widths), np.sum(apart * apart * widths)
    elif n == m:
        sums = kernel.sums_apart(before.spread().values, after.spread().values)
        absolute, squared = (found / n for found in sums)
    else:
        apart, every = _apart(before.spread().values, after.spread().values)
        absolute, squared = np.sum(np.abs(apart) * every), np.sum(apart * apart * every)
    return float(absolute / np.sqrt(variance)), float(squared / variance)


def _apart_by_counts(before: InOrder, after: InOrder) -> tuple[Float, Float]:
    """Return differences of quantiles between jumps, and over how much probability each holds."""
    n, m = len(before), len(after)
    # Probabilities in whole multiples of 1/(n m): they stay below 2^63 of three billion values.
    jumps = before.ends * m, after.ends * n
    ends = np.union1d(*jumps)
    one, other = (np.searchsorted(own, ends, side="left") for own in jumps)
    return after.values[other] - before.values[one], np.diff(ends, prepend=0) / (n * m)


def _in_order(column: Float) -> Float:
    present: Float = column[~np.isnan(column)]
    present.sort()
    return present


def _apart(before: Float, after: Float) -> tuple[Float, Float | float]:
    """Return differences of quantiles, and over how much probability each holds."""
    n, m = len(before), len(after)
    if n == m:
        return after - before, 1 / n
    # Probabilities in whole multiples of 1/(n m), where one function or the other jumps: two
    # ascending runs, which a stable sort merges.
    jumps = np.arange(1, n + 1) * m, np.arange(1, m + 1) * n
    ends = np.sort(np.concatenate(jumps), kind="stable")
    last = ends - 1
    return after[last // n] - before[last // m], np.diff(ends, prepend=0) / (n * m)
