"""Values drawn among those of a record's own cluster, with replacement or by a permutation."""

import numpy as np
from numpy.typing import NDArray

from microveil.noise.noise import RandomSource, uniform
from microveil.partition import Partition

__all__ = ["drawn_within"]

Whole = NDArray[np.int64]


def drawn_within(
    in_order: Whole, partition: Partition, source: RandomSource, *, permute: bool
) -> Whole:
    """Give every record a value of its cluster, drawn with replacement or by a permutation.

    ``in_order`` holds the values cluster after cluster; the source serves nothing else.

    >>> pairs = Partition(order=np.array([2, 0, 1, 3]), sizes=np.array([2, 2]), n_records=4)
    >>> values, source = np.array([5, 5, 9, 9]), RandomSource.seeded(1)
    >>> drawn_within(values, pairs, source, permute=False)
    array([5, 9, 5, 9])
    """
    sizes, order = partition.sizes, partition.order
    if permute:
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        chosen = np.lexsort((source.words(len(order)), cluster))
    else:
        starts = np.cumsum(sizes) - sizes
        chosen = np.repeat(starts, sizes) + uniform(np.repeat(sizes, sizes), source)
    drawn = np.empty_like(in_order)
    drawn[order] = in_order[chosen]
    return drawn
