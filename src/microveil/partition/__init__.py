"""Partitions: records into clusters, on arrays; what stands for a cluster is up to `methods`.

>>> from microveil import partition
>>> partition.ranking([30.0, 10.0, 20.0, 40.0], 2).labels
array([1, 0, 0, 1])
"""

from microveil.partition.intervals import Intervals, intervals
from microveil.partition.mdav import insensitive_mdav, mdav, v_mdav
from microveil.partition.optimal import noise_aware, noise_aware_sizes, optimal, optimal_sizes
from microveil.partition.ranking import (
    Partition,
    rank_order,
    ranking,
    ranking_sizes,
    singletons,
    widened_sizes,
)
from microveil.partition.vector_search import vector_aware, vector_aware_sizes

__all__ = [
    "Intervals",
    "Partition",
    "insensitive_mdav",
    "intervals",
    "mdav",
    "noise_aware",
    "noise_aware_sizes",
    "optimal",
    "optimal_sizes",
    "rank_order",
    "ranking",
    "ranking_sizes",
    "singletons",
    "v_mdav",
    "vector_aware",
    "vector_aware_sizes",
    "widened_sizes",
]
