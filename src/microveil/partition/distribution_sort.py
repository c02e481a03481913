"""Distribution sort: a column in order, and cells back to records, a part of them in memory.

Values go to at most 64 ranges of values, whose borders come from a sample (on these only speed
hangs), each range is sorted by itself, and all of them together are the column in order. Cells go
back the same way: first to ranges of records, then to their places. Arrays that are as long as the
column are made by who asks, on a disk for example, and are passed from one end to the other, at as
many places at a time as there are ranges.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import distribution as kernel
from microveil.partition.clusters import Partition
from microveil.partition.ranking import rank_order
from microveil.schema import Cells
from microveil.table import keeping
from microveil.table.sorting import sort

__all__ = ["broadcast_in_parts", "rank_in_parts", "sort_in_parts", "table_positions"]

Whole = NDArray[np.int64]
Empty = Callable[[int, "np.dtype[Any] | type"], NDArray[Any]]
# Ranges that values are distributed to at once, and values of the sample that says where they end.
RANGES, SAMPLE = 64, 1 << 13
# Equal parts of all values, by which a value's range is looked up.
CELLS = 1 << 12
# Fractions of its multiples are evenly spread, and in step with no period of the table's.
_STEP = (5**0.5 - 1) / 2


def rank_in_parts(
    values: Whole, empty: Empty, positions: NDArray[np.integer] | None = None
) -> tuple[NDArray[np.integer], Whole]:
    """Return what `rank_order` does, of a column that memory does not hold.

    Parameters
    ----------
    values : int64 array (n_records,)
    empty : callable
        Makes an array of a length and a type, in a place that holds all of it.
    positions : integer array (n_records,), optional
        Of the records, ascending; by default 0, 1, 2, ...

    Returns
    -------
    (integer array, int64 array)
        Positions of the records in ascending order of value, equal ones by position; the values
        in that order.

    Notes
    -----
    O(n log n) time; in memory 40 bytes for each of `keeping.PIECE` records.

    Examples
    --------
    >>> rank_in_parts(np.array([7, -2, 7]), np.empty)
    (array([1, 0, 2], dtype=int32), array([-2,  7,  7]))
    """
    width = np.int32 if positions is None and len(values) < 1 << 31 else np.int64
    order: NDArray[np.integer] = empty(len(values), width if positions is None else positions.dtype)
    in_order = empty(len(values), np.int64)
    given = np.empty(0, dtype=order.dtype) if positions is None else positions
    _rank(values, given, in_order, order, empty)
    return order, in_order


def sort_in_parts(values: NDArray[np.float64], empty: Empty) -> NDArray[np.float64]:
    """Return values in ascending order, of a column that memory does not hold.

    Parameters
    ----------
    values : float64 array (n_records,)
        Finite numbers.
    empty : callable
        See `rank_in_parts`.

    Notes
    -----
    O(n) time; in memory 16 bytes for each of `keeping.PIECE` values.

    Examples
    --------
    >>> sort_in_parts(np.array([2.5, -0.5, 1.0]), np.empty)
    array([-0.5,  1. ,  2.5])
    """
    out = empty(len(values), np.float64)
    _sort(values, out, empty)
    return out


def broadcast_in_parts(partition: Partition, cells: Cells, empty: Empty) -> Cells:
    """Give each record of a table the cell of its cluster; 0 outside all clusters.

    Parameters
    ----------
    partition : Partition
    cells : int64 or float64 array (n_clusters,)
    empty : callable
        See `rank_in_parts`.

    Returns
    -------
    int64 or float64 array (n_records,)

    Notes
    -----
    O(n) time; in memory the cells of `keeping.PIECE` records.

    Examples
    --------
    >>> order, sizes = np.array([2, 0, 3]), np.array([1, 2])
    >>> clusters = Partition(order=order, sizes=sizes, n_records=4)
    >>> broadcast_in_parts(clusters, np.array([5, 7]), np.empty)
    array([7, 0, 5, 7])
    """
    order, n_records = partition.order, partition.n_records
    width = min(keeping.PIECE, max(n_records, 1))
    counts = np.zeros(-(-n_records // width), dtype=np.int64)
    kernel.count_positions(order, width, counts)
    ends = np.cumsum(counts)
    where, held = empty(len(order), order.dtype), empty(len(order), cells.dtype)
    kernel.distribute_cells(
        order, partition.sizes, np.asarray(cells), width, ends - counts, where, held
    )
    out: Cells = empty(n_records, cells.dtype)
    for number, (start, end) in enumerate(zip(ends - counts, ends, strict=True)):
        first = number * width
        own = np.zeros(min(width, n_records - first), dtype=cells.dtype)
        kernel.scatter(where[start:end], held[start:end], first, own)
        out[first : first + len(own)] = own
    return out


def table_positions(missing: NDArray[np.bool_], n_present: int, empty: Empty) -> NDArray[Any]:
    """Return the positions of the records that have a value, ascending.

    >>> table_positions(np.array([False, True, False]), 2, np.empty)
    array([0, 2], dtype=int32)
    """
    width = np.int32 if len(missing) < 1 << 31 else np.int64
    positions = empty(n_present, width)
    kernel.positions_of(missing, positions)
    return positions


def _rank(
    values: Whole,
    positions: NDArray[np.integer],
    in_order: Whole,
    order: NDArray[np.integer],
    empty: Empty,
) -> None:
    """Write values in order, and their records; the values may be those to be written to."""
    if len(values) <= keeping.PIECE:
        _rank_at_once(values, positions, in_order, order)
        return
    ranges = _Ranges.of(values)
    counts = ranges.counts(values)
    places = np.cumsum(counts) - counts
    kernel.distribute_records(values, positions, *ranges, places, in_order, order)
    for own in _filled(counts):
        some, of_some = in_order[own], order[own]
        if some.min() == some.max():
            continue  # equal values are in the order of their records
        if len(some) > keeping.PIECE:
            apart = _copy(some, empty), _copy(of_some, empty)
            _rank(*apart, some, of_some, empty)
        else:
            _rank_at_once(some, of_some, some, of_some)


def _rank_at_once(
    values: Whole, positions: NDArray[np.integer], in_order: Whole, order: NDArray[np.integer]
) -> None:
    if not len(values):
        return
    by_value, ordered = rank_order(np.array(values))
    order[:] = positions[by_value] if len(positions) else by_value
    in_order[:] = ordered


def _sort(values: NDArray[np.float64], out: NDArray[np.float64], empty: Empty) -> None:
    if len(values) <= keeping.PIECE:
        copy = np.array(values)
        sort(copy)
        out[:] = copy
        return
    ranges = _Ranges.of(values)
    counts = ranges.counts(values)
    kernel.distribute_values(values, *ranges, np.cumsum(counts) - counts, out)
    for own in _filled(counts):
        some = out[own]
        if some.min() < some.max():
            _sort(_copy(some, empty) if len(some) > keeping.PIECE else some, some, empty)


class _Ranges(NamedTuple):
    """Ranges of like numbers of values.

    Attributes
    ----------
    starts : array (n_ranges - 1,)
        Where they start, but for the first.
    firsts : int64 array (CELLS + 1,)
        Of equal parts of the values the first range each may be in.
    least, scale : float
        Where the first part starts, and how many there are to a value of 1.
    """

    starts: NDArray[Any]
    firsts: Whole
    least: float
    scale: float

    @classmethod
    def of(cls, values: NDArray[Any]) -> "_Ranges":
        """Take a sample: a value that is more than a range of it has one of its own."""
        least, greatest = values.min(), values.max()
        n_ranges = min(RANGES // 2, 1 + 2 * len(values) // keeping.PIECE)
        places = (np.arange(1, SAMPLE + 1) * _STEP % 1 * len(values)).astype(np.int64)
        sample = np.sort(values[places])
        borders = sample[np.arange(1, n_ranges) * SAMPLE // n_ranges]
        borders, times = np.unique(borders, return_counts=True)
        often = borders[(times > 1) & (borders < greatest)]
        behind = often + 1 if values.dtype == np.int64 else np.nextafter(often, np.inf)
        starts = np.union1d(borders, behind)
        starts = starts[(starts > least) & (starts <= greatest)]
        if not len(starts) and least < greatest:
            starts = np.array([greatest])
        # Values too close for such parts are all in the first.
        width = float(greatest) - float(least)
        scale = CELLS / width if width > CELLS / np.finfo(np.float64).max else 0.0
        firsts = np.empty(CELLS + 1, dtype=np.int64)
        kernel.first_ranges(starts, float(least), scale, firsts)
        return cls(starts, firsts, float(least), scale)

    def counts(self, values: NDArray[Any]) -> Whole:
        """Count the values of each range."""
        counts = np.zeros(len(self.starts) + 1, dtype=np.int64)
        kernel.count_values(values, *self, counts)
        return counts


def _filled(counts: Whole) -> Iterator[slice]:
    """Return where each range is that holds anything."""
    ends = np.cumsum(counts)
    for start, end in zip(ends - counts, ends, strict=True):
        if start < end:
            yield slice(int(start), int(end))


def _copy(values: NDArray[Any], empty: Empty) -> NDArray[Any]:
    copy = empty(len(values), values.dtype)
    copy[:] = values
    return copy
