"""Clusters that are runs of ranks of one attribute: their records, and what a method sees of them.

A method of ranked clusters sees the summary alone: how many records each cluster has, their sum,
and its smallest and largest values. Who is in a cluster is needed again when cells are drawn.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import ranking as kernel
from microveil.partition.clusters import Partition
from microveil.partition.optimal import noise_aware_sizes, optimal_sizes
from microveil.partition.ranking import rank_order, ranking_sizes, singletons
from microveil.partition.vector_aware import vector_aware_sizes
from microveil.partition.widening import widened_sizes

__all__ = [
    "Clusters",
    "Runs",
    "Widening",
    "by_rank",
    "lone_records",
    "noise_aware_runs",
    "optimal_runs",
    "summarised",
    "vector_aware_runs",
]

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Widening:
    """What it cost to merge clusters of equal values with their neighbours.

    Attributes
    ----------
    clusters_before : int
    squares_before : float
        Within-cluster sum of squares, in squared grid units.
    """

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


def by_rank(values: Whole, k: int, *, widen: bool = False) -> Runs:
    """Cluster by individual ranking: O(n log n), about two columns of memory.

    With ``widen``, clusters of equal values are merged with their neighbours until none is left,
    unless all values are equal.

    >>> by_rank(np.array([7, 1, 6, 2]), 2)[1].sums
    array([ 3, 13])
    """
    order, in_order = rank_order(values)
    sizes = ranking_sizes(len(values), k)
    joined = widened_sizes(in_order, sizes) if widen else sizes
    if len(joined) == len(sizes):
        return _cut(order, in_order, sizes)
    # Summaries of both are not at hand together: they take as much as the column.
    before = Widening(
        clusters_before=len(sizes),
        squares_before=float(summarised(in_order, sizes).squares.sum()),
    )
    partition, clusters = _cut(order, in_order, joined)
    return partition, replace(clusters, widening=before)


def optimal_runs(values: Whole, k: int) -> Runs:
    """Cluster with the least sum of squares of any clusters of k or more: O(n log n)."""
    order, in_order = rank_order(values)
    return _cut(order, in_order, optimal_sizes(in_order, k))


def noise_aware_runs(values: Whole, k: int, penalty: float) -> Runs:
    """Cluster with the least squares plus penalty over size, in clusters of k or more."""
    order, in_order = rank_order(values)
    return _cut(order, in_order, noise_aware_sizes(in_order, k, penalty))


def vector_aware_runs(values: Whole, k: int, share: float, *, exact_allowed: bool) -> Runs:
    """Cluster with little expected error under vector sensitivities; see `vector_aware_sizes`."""
    order, in_order = rank_order(values)
    return _cut(
        order, in_order, vector_aware_sizes(in_order, k, share, exact_allowed=exact_allowed)
    )


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


def _cut(order: NDArray[np.integer], in_order: Whole, sizes: Whole) -> Runs:
    """Cut ranked records, and their values in order, into clusters of so many each."""
    partition = Partition(order=order, sizes=sizes, n_records=len(order))
    return partition, summarised(in_order, sizes)


def summarised(in_order: Whole, sizes: Whole) -> Clusters:
    """Summarise clusters of so many values each, which follow each other in ascending order.

    >>> summarised(np.array([1, 2, 6]), np.array([2, 1])).sums
    array([3, 6])
    """
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
