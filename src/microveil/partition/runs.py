"""Clusters that are runs of ranks of one attribute: their records, and what a method sees of them.

A method of ranked clusters sees the summary alone: how many records each cluster has, their sum,
and its smallest and largest values. Who is in a cluster is needed again when cells are drawn.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import ranking as kernel
from microveil.kernels import widening
from microveil.partition.ranking import Partition, rank_order, ranking_sizes, singletons

Whole = NDArray[np.int64]


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
    sizes, before = ranking_sizes(len(values), k), None

    def sizes_of(in_order: Whole) -> Whole:
        nonlocal before
        joined = widened_sizes(in_order, sizes) if widen else sizes
        if len(joined) < len(sizes):
            squares = float(summarised(in_order, sizes).squares.sum())
            before = Widening(clusters_before=len(sizes), squares_before=squares)
        return joined

    partition, clusters = runs(values, sizes_of)
    return partition, replace(clusters, widening=before)


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
