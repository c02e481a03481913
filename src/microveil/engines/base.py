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

__all__ = ["ClusterSummary", "Engine", "Ranked", "Widening"]

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSummary:
    """What a method needs to know of each cluster, in whole grid units.

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
    """

    sizes: Whole
    sums: Whole
    squares: NDArray[np.float64]
    smallest: Whole
    largest: Whole


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
class Ranked:
    """A partition of one attribute into runs of consecutive ranks, ascending, summarised.

    Attributes
    ----------
    partition : Partition
    clusters : ClusterSummary
    widening : Widening or None
        None where no cluster was merged.
    """

    partition: Partition
    clusters: ClusterSummary
    widening: Widening | None = None


class Engine(Protocol):
    """Partition, summarise, broadcast."""

    def cluster_by_rank(self, values: Whole, k: int, *, widen: bool = False) -> Ranked:
        """Individual ranking of one column (n_records,).

        With ``widen``, clusters of equal values are merged with their neighbours until
        none is left, unless all values are equal.
        """
        ...

    def singletons(self, values: Whole) -> Ranked:
        """Every record its own cluster, in the order of the table."""
        ...

    def cluster_optimally(self, values: Whole, k: int) -> Ranked:
        """Optimal univariate microaggregation of one column."""
        ...

    def cluster_noise_aware(self, values: Whole, k: int, penalty: float) -> Ranked:
        """Least within-cluster squares plus penalty / size, clusters of k or more."""
        ...

    def cluster_vector_aware(
        self, values: Whole, k: int, share: float, *, exact_allowed: bool
    ) -> Ranked:
        """Clusters of k or more with little expected error under vector sensitivities."""
        ...

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[Whole],
        k: int,
        bounds: Sequence[tuple[int, int]],
    ) -> Partition:
        """Partition by several columns: "mdav", "v-mdav" or "mdav-insensitive"."""
        ...

    def moments(self, values: Whole, partition: Partition) -> tuple[Whole, NDArray[np.float64]]:
        """Exact sum of each cluster, and squared distances to its mean, both (n_clusters,)."""
        ...

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """One value per cluster (n_clusters,) to one per record (n_records,); 0 outside."""
        ...
