"""The partition as a value: which records share a cluster."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import ranking as kernel


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
