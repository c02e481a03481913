"""Partitions: records into clusters.

>>> from microveil import partition
>>> partition.ranking([30.0, 10.0, 20.0, 40.0], 2).labels
array([1, 0, 0, 1])
"""

from microveil.partition.clusters import Partition
from microveil.partition.ranking import rank_order, ranking, ranking_sizes, singletons

__all__ = ["Partition", "rank_order", "ranking", "ranking_sizes", "singletons"]
