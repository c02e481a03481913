"""What a method may ask of an engine, and no more.

A method is written once over this protocol: partition a column, summarise its clusters,
give one value per cluster back to the records. Sensitivities, scales and noise are
elementwise on the summaries, so they are the same wherever the clusters live; an engine
cannot change what is promised.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.partition import Partition
from microveil.schema import Cells

__all__ = ["ClusterSummary", "Engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    """What a method needs to know of each cluster, in whole grid units.

    Attributes
    ----------
    sizes, sums : int64 arrays (n_clusters,)
    smallest : int64 array (3, n_clusters)
        The smallest values in ascending order, counting copies; a cluster of fewer than
        three repeats its last.
    largest : int64 array (3, n_clusters)
        The largest values in descending order, likewise.
    """

    sizes: NDArray[np.int64]
    sums: NDArray[np.int64]
    smallest: NDArray[np.int64]
    largest: NDArray[np.int64]


class Engine(Protocol):
    """Partition, summarise, broadcast."""

    def cluster_by_rank(
        self, values: NDArray[np.int64], k: int
    ) -> tuple[Partition, ClusterSummary]:
        """Individual ranking of one column (n_records,) with its clusters summarised."""
        ...

    def singletons(self, values: NDArray[np.int64]) -> tuple[Partition, ClusterSummary]:
        """Every record its own cluster."""
        ...

    def cluster_optimally(self, values: NDArray[np.int64], k: int) -> Partition:
        """Optimal univariate microaggregation of one column."""
        ...

    def cluster_noise_aware(self, values: NDArray[np.int64], k: int, penalty: float) -> Partition:
        """Least within-cluster squares plus penalty / size, clusters of k or more."""
        ...

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[NDArray[np.int64]],
        k: int,
        bounds: Sequence[tuple[int, int]],
    ) -> Partition:
        """Partition by several columns: "mdav", "v-mdav" or "mdav-insensitive"."""
        ...

    def sums(self, values: NDArray[np.int64], partition: Partition) -> NDArray[np.int64]:
        """Exact sum of each cluster, int64 (n_clusters,)."""
        ...

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """One value per cluster (n_clusters,) to one per record (n_records,); 0 outside."""
        ...
