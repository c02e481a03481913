"""The engine of one machine: numpy arrays and compiled kernels."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import ranking as kernel
from microveil.engines.base import ClusterSummary, Ranked, Widening
from microveil.partition import (
    Partition,
    insensitive_mdav,
    mdav,
    noise_aware_sizes,
    optimal_sizes,
    rank_order,
    ranking_sizes,
    singletons,
    v_mdav,
    vector_aware_sizes,
    widened_sizes,
)
from microveil.schema import Cells

__all__ = ["LocalEngine", "in_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Whole = NDArray[np.int64]


class LocalEngine:
    """Columns in memory; see `Engine` for what each step promises."""

    def rank(self, values: Whole) -> tuple[NDArray[np.integer], Whole]:
        """Rank one column: O(n log n), about two columns of memory."""
        return rank_order(values)

    def cluster_by_rank(self, values: Whole, k: int, *, widen: bool = False) -> Ranked:
        """Rank, cut into runs, summarise: O(n log n), about two columns of memory."""
        order, in_order = self.rank(values)
        ranked = _cut(order, in_order, ranking_sizes(len(values), k))
        if not widen:
            return ranked

        sizes = widened_sizes(in_order, ranked.partition.sizes)
        if len(sizes) == ranked.partition.n_clusters:
            return ranked
        before = Widening(
            clusters_before=ranked.partition.n_clusters,
            squares_before=float(ranked.clusters.squares.sum()),
        )
        return replace(_cut(order, in_order, sizes), widening=before)

    def singletons(self, values: Whole) -> Ranked:
        """Every record its own cluster: no memory but the order."""
        partition = singletons(len(values))
        thrice = np.broadcast_to(values, (3, len(values)))
        clusters = ClusterSummary(
            sizes=partition.sizes,
            sums=values,
            squares=np.broadcast_to(0.0, len(values)),
            smallest=thrice,
            largest=thrice,
        )
        return Ranked(partition=partition, clusters=clusters)

    def cluster_optimally(self, values: Whole, k: int) -> Ranked:
        """Sort, then the recurrence: O(n log n)."""
        order, in_order = self.rank(values)
        return _cut(order, in_order, optimal_sizes(in_order, k))

    def cluster_noise_aware(self, values: Whole, k: int, penalty: float) -> Ranked:
        """Sort, then the recurrence: O(n log^2 n) at worst."""
        order, in_order = self.rank(values)
        return _cut(order, in_order, noise_aware_sizes(in_order, k, penalty))

    def cluster_vector_aware(
        self, values: Whole, k: int, share: float, *, exact_allowed: bool
    ) -> Ranked:
        """Sort, then search among partitions; see `vector_aware_sizes`."""
        order, in_order = self.rank(values)

        sizes = vector_aware_sizes(in_order, k, share, exact_allowed=exact_allowed)
        return _cut(order, in_order, sizes)

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[Whole],
        k: int,
        bounds: Sequence[tuple[int, int]],
    ) -> Partition:
        """Partition the matrix of the columns; see the partitions for their cost."""
        matrix = np.column_stack([column.astype(np.float64) for column in columns])
        if name == "mdav-insensitive":
            return insensitive_mdav(matrix, k, bounds)
        return {"mdav": mdav, "v-mdav": v_mdav}[name](matrix, k)

    def moments(self, values: Whole, partition: Partition) -> tuple[Whole, NDArray[np.float64]]:
        """Gather and add: O(n)."""
        sums, squares = np.empty_like(partition.sizes), np.empty(partition.n_clusters)
        kernel.moments(values[partition.order], partition.sizes, sums, squares)
        return sums, squares

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """Scatter: O(n), one column of memory."""
        members = len(partition.order)
        make = np.empty if members == partition.n_records else np.zeros
        out = make(partition.n_records, dtype=values.dtype)
        kernel.broadcast(partition.order, partition.sizes, values, out)
        return out


def _cut(order: NDArray[np.integer], in_order: Whole, sizes: Whole) -> Ranked:
    clusters = ClusterSummary(
        sizes=sizes,
        sums=np.empty_like(sizes),
        squares=np.empty(len(sizes)),
        smallest=np.empty((3, len(sizes)), dtype=np.int64),
        largest=np.empty((3, len(sizes)), dtype=np.int64),
    )
    kernel.summarise(
        in_order, sizes, clusters.sums, clusters.squares, clusters.smallest, clusters.largest
    )
    return Ranked(
        partition=Partition(order=order, sizes=sizes, n_records=len(order)), clusters=clusters
    )


def in_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Work on attributes side by side: sorting and the kernels let go of the interpreter."""
    if len(items) == 1:
        return [work(items[0])]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(work, items))
