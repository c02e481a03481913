"""Equal-width intervals of a column that memory does not hold.

One sort says how many intervals there can be, where all of them must hold k records: which pairs
of values, k ranks from each other, lie farthest apart decides that. A second one puts records in
order, interval by interval, those of each as they come; it is by the interval of each value, which
is computed wherever it is asked for, so that neither edges nor labels are held. Runs of equal
labels are then the intervals that hold records. Nothing that is in memory is as long as the column,
or as there are intervals.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import intervals as kernel
from microveil.partition.clusters import Partition
from microveil.partition.distribution_sort import group_in_parts, sort_in_parts
from microveil.partition.intervals import check_range, fitting_size, fitting_width
from microveil.table.keeping import Room, pieces

__all__ = ["delta_in_parts", "intervals_in_parts"]

Whole = NDArray[np.int64]
Reals = NDArray[np.float64]
# Pairs of values that are at hand, those farthest apart.
AT_HAND = 1 << 19


def delta_in_parts(
    values: Whole, room: Room, *, k: int | None, width: float | None, every: str
) -> float:
    """Return `Intervals.delta` of what `intervals` makes of the values, to the last digit.

    Parameters
    ----------
    values : int64 array (n_records,)
    room : Room
        For what is as long as the column.
    k, width, every
        See `intervals`.

    Raises
    ------
    RequestError, DataError
        As `intervals`.

    Notes
    -----
    O(n) time for a sort, where every interval is to hold k records; then one look at all values
    for each number of intervals that the pairs farthest apart do not decide, which is rare.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> delta_in_parts(np.array([4, 0, 2, 1, 3]), IN_MEMORY, k=None, width=2, every="group")
    1.0
    """
    cuts = _cut(values, room, k=k, width=width, every=every)
    return cuts.spread / cuts.n_intervals / 2


def intervals_in_parts(
    values: Whole, room: Room, *, k: int | None, width: float | None, every: str
) -> tuple[Partition, Whole]:
    """Return the records by interval, of intervals as `intervals` makes them.

    Parameters
    ----------
    values : int64 array (n_records,)
    room : Room
        For what is as long as the column.
    k, width, every
        See `intervals`.

    Returns
    -------
    (Partition, int64 array (n_records,))
        Those intervals that hold records as clusters, in ascending order, members of each as they
        come; the values in the order of the members.

    Raises
    ------
    RequestError, DataError
        As `intervals`.

    Notes
    -----
    O(n log n) time, beside that of `delta_in_parts`.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> ages = np.array([31, 20, 24, 33, 21])
    >>> found, in_order = intervals_in_parts(ages, IN_MEMORY, k=2, width=None, every="group")
    >>> found.sizes, in_order
    (array([3, 2]), array([20, 24, 21, 31, 33]))
    """
    cuts = _cut(values, room, k=k, width=width, every=every)
    order, in_order = group_in_parts(values, cuts.labels, room)
    sizes = _sizes(in_order, cuts, room)
    return Partition(order=order, sizes=sizes, n_records=len(values)), in_order


class _Cuts(NamedTuple):
    """Where intervals are."""

    lowest: float
    spread: float
    n_intervals: int

    def labels(self, values: Whole) -> Whole:
        """Return the interval of each value."""
        found = np.empty(len(values), dtype=np.int64)
        kernel.labels(values, *self, found)
        return found


def _cut(values: Whole, room: Room, *, k: int | None, width: float | None, every: str) -> _Cuts:
    """Cut the range of a column."""
    lowest, highest = float(values[0]), float(values[0])
    for some in pieces(len(values)):
        lowest = min(lowest, float(values[some].min()))
        highest = max(highest, float(values[some].max()))
        room.relieve()
    check_range(lowest, highest)
    if k is None:
        n_intervals = fitting_width(highest - lowest, width)
    else:
        n_intervals = fitting_size(len(values), k)
        if every == "group":
            n_intervals = _holding(_in_order(values, room), k, n_intervals, room)
    return _Cuts(lowest, highest - lowest, n_intervals)


def _sizes(in_order: Whole, cuts: _Cuts, room: Room) -> Whole:
    """Count the records of each interval that has some."""
    most = min(cuts.n_intervals, len(in_order))
    sizes, n_found, last, n_last = room.filling(most, np.int64), 0, -1, 0
    for some in pieces(len(in_order)):
        labels = cuts.labels(in_order[some])
        starts = np.flatnonzero(np.diff(labels, prepend=last))
        # What the interval that goes on has here, and then each that begins here.
        counts = np.diff(starts, prepend=0, append=len(labels))
        counts[0] += n_last
        if last < 0:
            counts = counts[1:]
        sizes.write(n_found, counts[:-1])
        n_found, last, n_last = n_found + len(counts) - 1, int(labels[-1]), int(counts[-1])
        room.relieve()
    sizes.write(n_found, np.array([n_last]))
    return sizes.array()[: n_found + 1]


def _in_order(values: Whole, room: Room) -> Reals:
    """Put the values in order."""
    return sort_in_parts(lambda some: values[some].astype(np.float64), len(values), room)


def _holding(in_order: Reals, k: int, most: int, room: Room) -> int:
    """Return the largest number of intervals, ``most`` at most, that all hold k values.

    An interval that holds fewer lies between a value and the k-th after it. The pairs that are
    farthest apart refuse nearly every number; where a number's intervals are so narrow that
    others may hold one, these are looked at too.
    """
    lowest, spread = float(in_order[0]), float(in_order[-1] - in_order[0])
    below, above, least = _farthest(in_order, k, room)
    ends = in_order[k - 1], in_order[-k]
    found = min(most, _n_different(in_order, room))
    while True:
        found = kernel.most_intervals(below, above, *ends, lowest, spread, found)
        is_certain = found == 1 or kernel.least_gap(lowest, spread, found) > least
        if is_certain or not any(
            kernel.any_holds_one(*pairs, lowest, spread, found)
            for pairs in _pairs(in_order, k, room)
        ):
            return int(found)
        found -= 1


def _farthest(in_order: Reals, k: int, room: Room) -> tuple[Reals, Reals, float]:
    """Return different pairs that are farthest apart, these first, and how far others are."""
    below, above, least = np.empty(0), np.empty(0), 0.0
    for more_below, more_above in _pairs(in_order, k, room):
        apart = more_above - more_below > least
        below = np.concatenate([below, more_below[apart]])
        above = np.concatenate([above, more_above[apart]])
        if len(below) > AT_HAND:
            chosen = np.argpartition(below - above, AT_HAND)
            below, above = below[chosen[:AT_HAND]], above[chosen[:AT_HAND]]
            least = float((above - below).min())
    by_gap = np.argsort(below - above, kind="stable")
    return below[by_gap], above[by_gap], least


def _pairs(in_order: Reals, k: int, room: Room) -> Iterator[tuple[Reals, Reals]]:
    """Yield each value with the k-th after it, equal pairs of some values once."""
    for some in pieces(len(in_order) - k):
        below, above = in_order[some], in_order[some.start + k : some.stop + k]
        is_new = np.ones(len(below), dtype=np.bool_)
        is_new[1:] = (below[1:] != below[:-1]) | (above[1:] != above[:-1])
        yield below[is_new], above[is_new]
        room.relieve()


def _n_different(in_order: Reals, room: Room) -> int:
    """Count the different values."""
    found = 1
    for some in pieces(len(in_order)):
        found += int(np.count_nonzero(np.diff(in_order[some.start : some.stop + 1])))
        room.relieve()
    return found
