"""Individual ranking: clusters that are runs of ranks of one attribute, and what is seen of them.

A method of ranked clusters sees their summary alone: how many records each has, their sum, and its
smallest and largest values. Who is in a cluster is needed again when cells are drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.kernels import ranking as kernel
from microveil.kernels import widening

Whole = NDArray[np.int64]

# Up to so many different values are counted: positions are written to as many places in turn, and
# of more no cache holds these.
COUNTED = 1 << 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Partition:
    """Records listed cluster by cluster.

    Attributes
    ----------
    order : integer array (n_members,)
        Positions of the records, the first cluster's first.
    sizes : int64 array (n_clusters,)
        How many of them each cluster takes.
    n_records : int
        Records of the table; more than ``n_members`` where some stand outside.
    """

    order: NDArray[np.integer]
    sizes: NDArray[np.int64]
    n_records: int

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return len(self.sizes)

    def among(self, present: NDArray[np.bool_]) -> "Partition":
        """Return the same clusters in a table where only some records are present."""
        # In as few bytes as the order has, where the table needs no more.
        kind = self.order.dtype if len(present) <= np.iinfo(self.order.dtype).max else np.int64
        positions = np.flatnonzero(present).astype(kind)
        return replace(self, order=positions[self.order], n_records=len(present))

    def within(self, present: NDArray[np.bool_]) -> "Partition":
        """Return what is left of the clusters where only some records are present."""
        there = present[self.order]
        cluster = np.repeat(np.arange(self.n_clusters), self.sizes)[there]
        places = np.cumsum(present) - 1
        return Partition(
            order=places[self.order[there]],
            sizes=np.bincount(cluster, minlength=self.n_clusters),
            n_records=int(np.count_nonzero(present)),
        )

    @property
    def labels(self) -> NDArray[np.int64]:
        """The cluster of each record, int64 (n_records,), counted from 0; -1 outside all."""
        labels = np.full(self.n_records, -1, dtype=np.int64)
        labels[self.order] = np.repeat(np.arange(self.n_clusters), self.sizes)
        return labels

    def broadcast(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return the value of its cluster for each record, 0 outside all: O(n), one column."""
        make = np.empty if len(self.order) == self.n_records else np.zeros
        out = make(self.n_records, dtype=values.dtype)
        kernel.broadcast(self.order, self.sizes, values, out)
        return out


def ranking(values: ArrayLike, k: int) -> Partition:
    """Partition records by individual ranking into clusters of k (one takes the rest).

    The values in ascending order, ties by record position, are cut into floor(n/k) runs
    of k; the middle run, number floor(n/k)//2 from 0, takes the remainder and so has k to
    2k - 1: sizes depend on n and k alone.

    Parameters
    ----------
    values : array_like (n_records,)
        One attribute, finite numbers.
    k : int
        The least cluster size, from 1 to n_records.

    Returns
    -------
    Partition
        Clusters in ascending order of value.

    Raises
    ------
    RequestError, DataError
        If an argument is not as above.

    Notes
    -----
    O(n log n) time, about two columns of memory. Source: IDP-2025 section 3.1.

    Examples
    --------
    >>> ranking([5, 1, 4, 2, 3], k=2).labels
    array([1, 0, 1, 0, 1])
    """
    column = np.asarray(values)
    if column.ndim != 1 or column.dtype.kind not in "biuf":
        raise DataError(
            "values", "a ranking takes one attribute of numbers", "pass a one-dimensional array"
        )
    if not np.isfinite(column).all():
        raise DataError("values", "missing or infinite values have no rank", "leave them out")
    check_size("values", len(column), k)
    if column.dtype.kind in "biu" and column.dtype != np.uint64:
        order, _ = rank_order(column.astype(np.int64))
    else:
        order = _float_order(column)
    sizes = ranking_sizes(len(column), int(k))
    return Partition(order=order, sizes=sizes, n_records=len(column))


def check_size(place: str, n_records: int, k: Any) -> None:
    """Refuse a k that is no whole number of 1 or more, or more than there are records."""
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise RequestError("k", "k must be a whole number of 1 or more", "pass for example k=10")
    if n_records < k:
        raise DataError(place, "there are fewer records than k", "choose a smaller k")


def ranking_sizes(n_records: int, k: int) -> NDArray[np.int64]:
    """Cluster sizes of individual ranking: k, but for the middle one, which takes the rest.

    >>> ranking_sizes(11, 3)
    array([3, 5, 3])
    """
    n_clusters = n_records // k
    sizes = np.full(n_clusters, k, dtype=np.int64)
    middle = n_clusters // 2
    sizes[middle : middle + 1] += n_records - n_clusters * k
    return sizes


def rank_order(values: NDArray[np.int64]) -> tuple[NDArray[np.integer], NDArray[np.int64]]:
    """Record positions in ascending order of value, ties by position, and the sorted values.

    Value and position are packed in one 64-bit word, which numpy sorts many times faster than
    an index sort; where they do not fit, numpy's stable index sort serves.
    Where few values can occur they are counted, in a third of that time.

    >>> rank_order(np.array([7, -2, 7]))
    (array([1, 0, 2], dtype=int32), array([-2,  7,  7]))
    """
    n_records = len(values)
    position_bits = max(n_records - 1, 1).bit_length()
    minimum, maximum = int(values.min()), int(values.max())
    order: NDArray[np.integer] = np.empty(n_records, np.int32 if position_bits < 32 else np.int64)
    if maximum - minimum < min(COUNTED, n_records):
        counts = np.zeros(maximum - minimum + 1, dtype=np.int64)
        kernel.count(values, minimum, counts)
        kernel.rank_by_counts(values, minimum, np.cumsum(counts) - counts, order)
        return order, np.repeat(minimum + np.arange(len(counts)), counts)
    value_bits = (maximum - minimum).bit_length()
    if position_bits + value_bits > 64:
        by_value: NDArray[np.integer] = np.argsort(values, kind="stable")
        return by_value, values[by_value]
    packed = np.empty(n_records, dtype=np.uint64)
    kernel.pack(values, minimum, position_bits, packed)
    packed.sort()
    in_order = packed.view(np.int64)
    kernel.unpack(packed, minimum, position_bits, in_order, order)
    return order, in_order


def _float_order(values: NDArray[Any]) -> NDArray[np.integer]:
    """Sort floats by index, ties by position: unstable and fast, then put ties right."""
    order: NDArray[np.integer] = np.argsort(values)
    in_order = values[order]
    run = np.cumsum(np.append(False, in_order[1:] != in_order[:-1]), dtype=np.uint64)
    position_bits = np.uint64(max(len(values) - 1, 1).bit_length())
    keys = (run << position_bits) | order.astype(np.uint64)
    keys.sort()
    return (keys & ((np.uint64(1) << position_bits) - np.uint64(1))).astype(np.int64)


def singletons(n_records: int) -> Partition:
    """Every record its own cluster, in the order of the table.

    >>> singletons(3).labels
    array([0, 1, 2])
    """
    return Partition(
        order=np.arange(n_records),
        sizes=np.broadcast_to(np.int64(1), n_records),
        n_records=n_records,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Widening:
    """What clusters were, and lost in squared grid units, before those of equal values merged."""

    clusters_before: int
    squares_before: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Clusters:
    """What a method sees of clusters of ranks, in whole grid units, in ascending order.

    Attributes
    ----------
    sizes, sums : int64 arrays (n_clusters,)
    squares : float64 array (n_clusters,)
        Sum of squared distances of the cluster's values to their mean.
    smallest : int64 array (3, n_clusters)
        The smallest values in ascending order, counting copies; a cluster of fewer than
        three repeats its last.
    largest : int64 array (3, n_clusters)
        The largest values in descending order, likewise.
    widening : Widening or None
        None where no cluster was merged to hide equal values.
    """

    sizes: Whole
    sums: Whole
    squares: NDArray[np.float64]
    smallest: Whole
    largest: Whole
    widening: Widening | None = None


# The records of each cluster, and the summary.
Runs = tuple[Partition, Clusters]


def runs(values: Whole, sizes_of: Callable[[Whole], Whole]) -> Runs:
    """Cut records, ranked by value, into clusters whose sizes follow from the sorted values."""
    order, in_order = rank_order(values)
    sizes = sizes_of(in_order)
    partition = Partition(order=order, sizes=sizes, n_records=len(order))
    return partition, summarised(in_order, sizes)


def by_rank(values: Whole, k: int, *, widen: bool = False) -> Runs:
    """Cluster by individual ranking: O(n log n), about two columns of memory.

    With ``widen``, clusters of equal values are merged with their neighbours until none is left,
    unless all values are equal.
    """
    order, in_order = rank_order(values)
    sizes = ranking_sizes(len(values), k)
    joined = widened_sizes(in_order, sizes) if widen else sizes
    clusters = summarised(in_order, joined)
    if len(joined) < len(sizes):
        squares = float(summarised(in_order, sizes).squares.sum())
        widening = Widening(clusters_before=len(sizes), squares_before=squares)
        clusters = replace(clusters, widening=widening)
    return Partition(order=order, sizes=joined, n_records=len(order)), clusters


def widened_sizes(in_order: NDArray[np.integer], sizes: Whole) -> Whole:
    """Join neighbouring clusters, at the least loss, until none holds equal values only.

    A cluster of equal values has the cluster-based local sensitivity 0 and would be
    released as it is. Of all ways to join consecutive clusters so that every one holds two
    values or more, this one has the least sum of squares of the values around the means of
    their clusters, but for rounding. Of cuts that lose the same, the leftmost is taken.

    Parameters
    ----------
    in_order : integer array (n_records,)
        Values in ascending order.
    sizes : int64 array (n_clusters,)
        Records in each cluster, in the order of the values; 1 or more each.

    Returns
    -------
    int64 array (n_joined,)
        Sizes after joining: each the sum of consecutive ones given, and ``[n_records]`` where
        all values are equal, as nothing helps then. Depends on values and sizes alone.

    Notes
    -----
    O(n_records + n_clusters log n_clusters) time. The reasons are given in the kernel.

    Examples
    --------
    >>> widened_sizes(np.array([4, 5, 5, 5, 5, 5, 6, 9]), np.array([2, 2, 2, 2]))
    array([6, 2])
    """
    # Of values only distances count: modulo 2**64 they are right, whatever the signs are.
    words = np.asarray(in_order, dtype=np.int64).view(np.uint64)
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    joined = np.empty(len(sizes), dtype=np.int64)
    return joined[: widening.least_joining(words, starts, joined)].copy()


def lone_records(values: Whole) -> Runs:
    """Every record its own cluster, in the order of the table: no memory but the order."""
    partition = singletons(len(values))
    thrice = np.broadcast_to(values, (3, len(values)))
    return partition, Clusters(
        sizes=partition.sizes,
        sums=values,
        squares=np.broadcast_to(0.0, len(values)),
        smallest=thrice,
        largest=thrice,
    )


def summarised(in_order: Whole, sizes: Whole) -> Clusters:
    """Summarise clusters of so many values each, which follow each other in ascending order."""
    clusters = Clusters(
        sizes=sizes,
        sums=np.empty_like(sizes),
        squares=np.empty(len(sizes)),
        smallest=np.empty((3, len(sizes)), dtype=np.int64),
        largest=np.empty((3, len(sizes)), dtype=np.int64),
    )
    kernel.summarise(
        in_order, sizes, clusters.sums, clusters.squares, clusters.smallest, clusters.largest
    )
    return clusters
