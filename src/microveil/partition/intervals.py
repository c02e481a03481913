"""Equal-width intervals: the range of one attribute cut into pieces of one width.

Biswal, Arbuckle and Kulik, "Disclosure metrics born from statistical evaluations of data
utility", section 2.3. The paper asks for k records in every interval "in expectation", and
m = floor(n/k) intervals are all that this gives under a uniform law; on skewed data many of
them then hold fewer than k. ``every="group"`` asks for k records in every interval as they
are counted, ``every="average"`` for the paper's m.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.kernels import sorted_values as kernel
from microveil.partition.ranking import check_size

# float64 tells all whole numbers apart up to here.
LARGEST_WHOLE = 1 << 53
LARGEST_VALUE = 1e140
# Beyond this many, edges alone fill the memory and nearly every interval is empty.
MOST_INTERVALS = 10_000_000
# A range of 0.3 in widths of 0.1 is three intervals, though float64 makes it a little more.
CLOSE_TO_WHOLE = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intervals:
    """Records grouped by equal-width intervals, in read-only arrays.

    Attributes
    ----------
    labels : int64 array (n_records,)
        The interval of each record, counted from 0 in ascending order.
    edges : float64 array (n_intervals + 1,)
        Interval i reaches from ``edges[i]``, included, to ``edges[i + 1]``, excluded; the
        last includes its end. They show the smallest and the largest value: for the
        custodian alone.
    sizes : int64 array (n_intervals,)
        How many records each interval holds; 0 may occur unless every group has k.
    """

    labels: NDArray[np.int64]
    edges: NDArray[np.float64]
    sizes: NDArray[np.int64]

    @property
    def n_intervals(self) -> int:
        """The number of intervals, m."""
        return len(self.sizes)

    @property
    def width(self) -> float:
        """The width of every interval, |G| = range/m."""
        return float(self.edges[-1] - self.edges[0]) / self.n_intervals

    @property
    def delta(self) -> float:
        """Half the width: k-noise moves a value by no more than this."""
        return self.width / 2


def intervals(
    values: ArrayLike, *, k: int | None = None, width: float | None = None, every: str = "group"
) -> Intervals:
    """Cut the range of an attribute into m half-open intervals of equal width, the last closed.

    Exactly one of k and width is given. With a width, m = max(1, ceil(range/width)), and the
    intervals are as much narrower than the width as it takes for m of them to fill the range.

    Parameters
    ----------
    values : array_like, shape (n_records,)
        One attribute, finite numbers, not all equal.
    k : int, optional
        How many records an interval must hold, from 1 to n_records.
    width : float, optional
        The greatest width of an interval.
    every : {"group", "average"}
        With k: whether every interval holds k records (the largest m for which that is so),
        or they do on average (m = floor(n/k)).

    Raises
    ------
    RequestError, DataError
        If an argument is not as above, or there are fewer values than k.

    Notes
    -----
    The edges are smallest + range i/m in float64, and values are compared with them as they
    stand. O(n log n) time. Which m give every interval k records has no order (m may serve
    and m - 1 not), so they are tried from floor(n/k) downwards; one is refused in O(1) by
    the widest gaps of the data, with few exceptions.

    Examples
    --------
    >>> ages = [20, 21, 22, 23, 24, 25, 40, 41, 42, 60]
    >>> intervals(ages, k=2).labels
    array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
    >>> intervals(ages, k=2, every="average").sizes
    array([6, 0, 3, 0, 1])
    """
    column = _checked(values)
    if (k is None) == (width is None):
        raise RequestError(
            "k and width", "intervals are made for one or the other", "pass k, or a width"
        )
    if every not in {"group", "average"}:
        raise RequestError(
            "every", "'group' and 'average' are the choices", 'pass for example every="group"'
        )
    in_order = np.sort(column)
    if in_order[0] == in_order[-1]:
        raise DataError(
            "values",
            "all values are equal, so there is no range to divide",
            "leave the attribute out",
        )
    if k is None:
        n_intervals = _fitting_width(float(in_order[-1] - in_order[0]), width)
    else:
        check_size("values", len(in_order), k)
        n_intervals = len(in_order) // int(k)
        if every == "group":
            n_intervals = _holding(in_order, int(k), n_intervals)
    lowest, highest = in_order[0], in_order[-1]
    # As in the kernel that counts: multiplied first, so that whole edges come out whole.
    edges = lowest + (highest - lowest) * np.arange(n_intervals + 1) / n_intervals
    edges[-1] = highest
    labels = np.searchsorted(edges[1:-1], column, side="right").astype(np.int64, copy=False)
    sizes = np.bincount(labels, minlength=n_intervals).astype(np.int64, copy=False)
    for array in (labels, edges, sizes):
        array.setflags(write=False)
    return Intervals(labels=labels, edges=edges, sizes=sizes)


def _checked(values: ArrayLike) -> NDArray[np.float64]:
    """Return one attribute of finite numbers as float64, none of them rounded."""
    column = np.asarray(values)
    if column.ndim != 1 or len(column) == 0 or column.dtype.kind not in "biuf":
        raise DataError(
            "values", "intervals divide one attribute of numbers", "pass a one-dimensional array"
        )
    if column.dtype.kind in "iu" and not -LARGEST_WHOLE <= column.min() <= column.max() <= (
        LARGEST_WHOLE
    ):
        raise DataError(
            "values", "whole numbers must be at most 2**53 in size", "choose a coarser unit"
        )
    numbers = column.astype(np.float64)
    if not np.abs(numbers).max() <= LARGEST_VALUE:
        raise DataError(
            "values",
            "values must be present, finite and at most 1e140 in size",
            "leave such records out",
        )
    return numbers


def _fitting_width(spread: float, width: float | None) -> int:
    """Return how many intervals of a width fill a range: max(1, ceil(range/width))."""
    if (
        not isinstance(width, int | float | np.integer | np.floating)
        or isinstance(width, bool)
        or not 0 < width < math.inf
    ):
        raise RequestError("width", "a width is a number above 0", "pass for example width=5")
    quotient = spread / float(width)
    if quotient > MOST_INTERVALS:
        raise RequestError(
            "width", "more than ten million intervals would fill the range", "pass a larger width"
        )
    nearest = round(quotient)
    is_whole = abs(quotient - nearest) <= CLOSE_TO_WHOLE * nearest
    return max(1, nearest if is_whole else math.ceil(quotient))


def _holding(in_order: NDArray[np.float64], k: int, most: int) -> int:
    """Return the largest number of intervals, ``most`` at most, that all hold k records."""
    below, above = in_order[:-k], in_order[k:]
    apart = np.flatnonzero(above > below)
    apart = apart[np.argsort((below - above)[apart], kind="stable")]
    # An interval that holds a record holds a value of its own.
    n_different = 1 + np.count_nonzero(np.diff(in_order))
    lowest, spread = in_order[0], in_order[-1] - in_order[0]
    ends = below[apart], above[apart], in_order[k - 1], in_order[-k]
    return int(kernel.most_intervals(*ends, lowest, spread, min(most, n_different)))
