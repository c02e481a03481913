"""How far the distribution of an attribute moved: its values are counted, and few are sorted.

Small whole numbers are counted each by itself, other values in buckets. The two empirical
distribution functions are known where buckets of values end. Within a bucket their distance can be
no larger than what it is where the bucket begins and the shares of both that fall into it allow:
only buckets of several values where that could be the largest are looked into.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import counted_values as kernel
from microveil.table.threads import pieces

__all__ = ["DistributionShift", "Values", "distribution_shift", "held"]

Made = Callable[[slice], NDArray[np.float64]]
Whole = NDArray[np.int64]

# Of up to so many records all are sorted: to count takes longer.
FEW = 1 << 15
# Of up to so many the values are held, 16 MB of them; of more they are made again for each look.
HELD = 1 << 21
# Coarse buckets are divided into up to 2^15 fine ones in all.
FINE = 15
# Ages, codes, years, most wages: from so many records on whole numbers that are smaller, either
# way, are counted each by itself. Of other values the first ones show that they are none.
MANY, SMALL = 1 << 17, 1 << 18


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """The values of an attribute, made of some records after others.

    Attributes
    ----------
    n_records : int
    of : callable
        Makes those that there are of some records, finite float64; several times.
    """

    n_records: int
    of: Made

    def pieces(self) -> Iterator[NDArray[np.float64]]:
        """Make all of them, in pieces."""
        return map(self.of, pieces(self.n_records))


@dataclass(frozen=True, slots=True, eq=False)
class DistributionShift:
    """What became of a distribution.

    Attributes
    ----------
    distance : float
        Kolmogorov and Smirnov's statistic: the largest distance between the two empirical
        distribution functions.
    values, shares, shares_after : float64 array (n_common,)
        The common values, ascending; of each its share before, and after.
    """

    distance: float
    values: NDArray[np.float64]
    shares: NDArray[np.float64]
    shares_after: NDArray[np.float64]


def distribution_shift(before: Values, after: Values, *, common: float) -> DistributionShift | None:
    """Compare the values of an attribute before and after.

    Parameters
    ----------
    before, after : Values
    common : float
        A value of a larger share is a common one.

    Returns
    -------
    DistributionShift or None
        None where there is no value on one side. Exact: no value is left out of a count.

    Notes
    -----
    O(n) time, and what it takes to sort the values of a few buckets. Buckets are runs of
    the words that ascend as floats do, so that they are narrow where values are small.

    Examples
    --------
    >>> before, after = np.array([0.0, 0.0, 0.0, 4.0]), np.array([0.0, 1.0, 2.0])
    >>> shift = distribution_shift(
    ...     Values(4, before.__getitem__),
    ...     Values(3, after.__getitem__),
    ...     common=0.5,
    ... )
    >>> shift.distance, shift.shares, shift.shares_after
    (0.416..., array([0.75]), array([0.33333333]))
    """
    sides = held(before), held(after)
    counts = _counts_of_whole(sides)
    if counts is not None:
        return _shift_of_counts(counts, common)
    is_small = max(side.n_records for side in sides) <= FEW
    buckets = _all_in_one() if is_small else _fine(sides, common)
    if buckets is None:
        return None
    taken = [_in_order(side.n_records, _taking(side, buckets)) for side in sides]
    n, m = buckets.totals or map(len, taken)
    if not n or not m:
        return None
    x, y = taken
    inside = kernel.largest_distance(x, y, buckets.places, buckets.finer, buckets.left, n, m)
    # A value of more than a share fills some place at each such step.
    candidates = np.unique(x[:: max(1, int(common * n))])
    values = np.concatenate([buckets.alone, candidates])
    shares, shares_after = (
        np.concatenate([own, _counts(candidates, side)]) / total
        for own, side, total in zip(buckets.counts_alone, (x, y), (n, m), strict=True)
    )
    is_common = np.argsort(values)
    is_common = is_common[shares[is_common] > common]
    return DistributionShift(
        distance=max(buckets.largest, int(inside)) / (n * m),
        values=values[is_common],
        shares=shares[is_common],
        shares_after=shares_after[is_common],
    )


def _counts_of_whole(sides: tuple[Values, Values]) -> Whole | None:
    """Count small whole numbers, from -`SMALL` on; None where there are others, or few records.

    Both zeros are one.
    """
    if max(side.n_records for side in sides) < MANY:
        return None
    counts = np.zeros((2, 2 * SMALL), dtype=np.int64)
    for side, own in zip(sides, counts, strict=True):
        if not all(kernel.count_whole(values, -SMALL, own) for values in side.pieces()):
            return None
    return counts


def _shift_of_counts(counts: Whole, common: float) -> DistributionShift | None:
    """Compare values of which all are counted."""
    n, m = (int(total) for total in counts.sum(axis=1))
    if not n or not m:
        return None
    lower = np.cumsum(counts, axis=1)
    is_common = counts[0] > common * n
    return DistributionShift(
        distance=int(np.abs(lower[0] * m - lower[1] * n).max()) / (n * m),
        values=np.flatnonzero(is_common).astype(np.float64) - SMALL,
        shares=counts[0, is_common] / n,
        shares_after=counts[1, is_common] / m,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Buckets:
    """Which values are looked into, and what is known of the others.

    A distance is |i m - j n| where i of n values before, and j of m after, are at or below.
    """

    places: Whole  # of a coarse bucket the first fine one, or -1
    finer: int  # bits that divide a coarse bucket
    wanted: NDArray[np.bool_]  # (n_buckets,)
    left: Whole  # (2, n_buckets): how many values in lower buckets are not looked into
    largest: int  # of the distances where buckets end
    alone: NDArray[np.float64]  # values that have a bucket for themselves
    counts_alone: Whole  # (2, n_alone)
    totals: tuple[int, int] | None


def held(side: Values) -> Values:
    """Make the values once, where they are few enough to be held."""
    if side.n_records > HELD:
        return side
    values = side.of(slice(0, side.n_records))
    return Values(len(values), values.__getitem__)


def _all_in_one() -> _Buckets:
    return _Buckets(
        places=np.zeros(1 << kernel.UPPER, dtype=np.int64),
        finer=0,
        wanted=np.ones(1, dtype=np.bool_),
        left=np.zeros((2, 1), dtype=np.int64),
        largest=0,
        alone=np.empty(0),
        counts_alone=np.zeros((2, 0), dtype=np.int64),
        totals=None,
    )


def _fine(sides: tuple[Values, Values], common: float) -> _Buckets | None:
    """Count in coarse buckets, and in fine ones of those that matter; say which matter still."""
    coarse = np.zeros((2, 1 << kernel.UPPER), dtype=np.int64)
    for side, own in zip(sides, coarse, strict=True):
        for values in side.pieces():
            kernel.count_coarsely(_bits(values), own)
    n, m = (int(total) for total in coarse.sum(axis=1))
    if not n or not m:
        return None
    lower = np.cumsum(coarse, axis=1) - coarse
    largest, most = _distances(lower, coarse, n, m)
    divided = np.flatnonzero((most > largest) | (coarse[0] > common * n))
    finer = max(0, FINE - len(divided).bit_length())
    places = np.full(1 << kernel.UPPER, -1, dtype=np.int64)
    places[divided] = np.arange(len(divided)) << finer
    fine = np.zeros((2, len(divided), 1 << finer), dtype=np.int64)
    words = np.zeros(len(divided) << finer, dtype=np.uint64)
    differ = np.zeros(len(words), dtype=np.bool_)
    for side, own in zip(sides, fine.reshape(2, -1), strict=True):
        for values in side.pieces():
            kernel.count_finely(_bits(values), places, finer, own, words, differ)
    lower = (lower[:, divided, np.newaxis] + np.cumsum(fine, axis=2) - fine).reshape(2, -1)
    counts = fine.reshape(2, -1)
    inner, most = _distances(lower, counts, n, m)
    largest = max(largest, inner)
    matters = (most > largest) | (counts[0] > common * n)
    wanted, alone = matters & differ, matters & ~differ
    looked_into = counts * wanted
    return _Buckets(
        places=places,
        finer=finer,
        wanted=wanted,
        left=lower - (np.cumsum(looked_into, axis=1) - looked_into),
        largest=largest,
        alone=_floats(words[alone]),
        counts_alone=counts[:, alone],
        totals=(n, m),
    )


def _distances(lower: Whole, counts: Whole, n: int, m: int) -> tuple[int, Whole]:
    """Return the largest distance where a bucket ends, and the most there could be within each."""
    start = lower[0] * m - lower[1] * n
    up, down = counts[0] * m, counts[1] * n
    most = np.where(counts.any(axis=0), np.maximum(np.abs(start + up), np.abs(start - down)), 0)
    return int(np.abs(start + up - down).max(initial=0)), most


def _bits(values: NDArray[np.float64]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(values).view(np.uint64)


def _floats(words: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Turn words back that ascend as floats do."""
    sign = np.uint64(1 << 63)
    return np.where(words & sign, words ^ sign, ~words).view(np.float64)


def _in_order(n_records: int, made: Made) -> NDArray[np.float64]:
    """Make the values of so many records, in pieces, and put them in order."""
    values = np.concatenate([made(piece).copy() for piece in pieces(n_records)] or [np.empty(0)])
    values.sort()
    return values


def _taking(side: Values, buckets: _Buckets) -> Made:
    """Make those of the values that are looked into."""

    def made(records: slice) -> NDArray[np.float64]:
        values = side.of(records)
        found = np.empty_like(values)
        count = kernel.take(
            _bits(values), buckets.places, buckets.finer, buckets.wanted, found.view(np.uint64)
        )
        return found[:count]

    return made


def _counts(values: NDArray[np.float64], in_order: NDArray[np.float64]) -> Whole:
    """Count each value among those that were taken."""
    first, last = (np.searchsorted(in_order, values, side=side) for side in ("left", "right"))
    return np.asarray(last - first, dtype=np.int64)
