"""The engine of one machine: numpy arrays and compiled kernels."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import ranking as kernel
from microveil.engines.base import ClusterSummary
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
)
from microveil.schema import Cells

__all__ = ["LocalEngine", "in_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")


class LocalEngine:
    """Columns in memory; see `Engine` for what each step promises."""

    def cluster_by_rank(
        self, values: NDArray[np.int64], k: int
    ) -> tuple[Partition, ClusterSummary]:
        """Rank, cut into runs, summarise: O(n log n), about two columns of memory."""
        order, in_order = rank_order(values)
        sizes = ranking_sizes(len(values), k)
        summary = ClusterSummary(
            sizes=sizes,
            sums=np.empty_like(sizes),
            smallest=np.empty((3, len(sizes)), dtype=np.int64),
            largest=np.empty((3, len(sizes)), dtype=np.int64),
        )
        kernel.summarise(in_order, sizes, summary.sums, summary.smallest, summary.largest)
        return Partition(order=order, sizes=sizes, n_records=len(values)), summary

    def singletons(self, values: NDArray[np.int64]) -> tuple[Partition, ClusterSummary]:
        """Every record its own cluster: no memory but the order."""
        partition = singletons(len(values))
        thrice = np.broadcast_to(values, (3, len(values)))
        summary = ClusterSummary(
            sizes=partition.sizes, sums=values, smallest=thrice, largest=thrice
        )
        return partition, summary

    def cluster_optimally(self, values: NDArray[np.int64], k: int) -> Partition:
        """Sort, then the linear-time recurrence: O(n log n)."""
        order, in_order = rank_order(values)
        sizes = optimal_sizes(in_order, k)
        return Partition(order=order, sizes=sizes, n_records=len(values))

    def cluster_noise_aware(self, values: NDArray[np.int64], k: int, penalty: float) -> Partition:
        """Sort, then the recurrence: O(n log n)."""
        order, in_order = rank_order(values)
        sizes = noise_aware_sizes(in_order, k, penalty)
        return Partition(order=order, sizes=sizes, n_records=len(values))

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[NDArray[np.int64]],
        k: int,
        bounds: Sequence[tuple[int, int]],
    ) -> Partition:
        """Partition the matrix of the columns; see the partitions for their cost."""
        matrix = np.column_stack([column.astype(np.float64) for column in columns])
        if name == "mdav-insensitive":
            return insensitive_mdav(matrix, k, bounds)
        return {"mdav": mdav, "v-mdav": v_mdav}[name](matrix, k)

    def sums(self, values: NDArray[np.int64], partition: Partition) -> NDArray[np.int64]:
        """Gather and add: O(n)."""
        starts = np.cumsum(partition.sizes) - partition.sizes
        return np.add.reduceat(values[partition.order], starts)

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """Scatter: O(n), one column of memory."""
        members = len(partition.order)
        make = np.empty if members == partition.n_records else np.zeros
        out = make(partition.n_records, dtype=values.dtype)
        kernel.broadcast(partition.order, partition.sizes, values, out)
        return out


def in_threads(work: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
    """Work on attributes side by side: sorting and the kernels let go of the interpreter."""
    if len(items) == 1:
        return [work(items[0])]
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(work, items))
