"""The engine of one machine: numpy arrays and compiled kernels."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import ranking as kernel
from microveil.engines.base import ClusterSummary
from microveil.partition import Partition, rank_order, ranking_sizes, singletons
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
