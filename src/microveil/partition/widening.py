"""Widening: ranked clusters of equal values joined with neighbours until none is left."""

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import widening as kernel

__all__ = ["widened_sizes"]


def widened_sizes(in_order: NDArray[np.integer], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Join neighbouring clusters, at the least loss, until none holds equal values only.

    A cluster of equal values has the cluster-based local sensitivity 0 and would be
    released as it is. Of all ways to join consecutive clusters so that every one holds two
    values or more, this one has the least sum of squares of the values around the means of
    their clusters.

    Parameters
    ----------
    in_order : integer array (n_records,)
        Values in ascending order.
    sizes : int64 array (n_clusters,)
        Records in each cluster, in the order of the values; 1 or more each.

    Returns
    -------
    int64 array (n_joined,)
        Sizes after joining: each the sum of consecutive ones given, and ``[n_records]`` where
        all values are equal, as nothing helps then. Depends on values and sizes alone.

    Notes
    -----
    The least but for rounding. Where cuts lose the same, the leftmost is taken; clusters that hold
    several values, and do not stand beside one of equal values, stay as they are.
    O(n_records + n_clusters log n_clusters) time. The reasons are given in the kernel.

    Examples
    --------
    >>> widened_sizes(np.array([4, 5, 5, 5, 5, 5, 6, 9]), np.array([2, 2, 2, 2]))
    array([6, 2])
    """
    # Of values only distances count: modulo 2**64 they are right, whatever the signs are.
    words = np.asarray(in_order, dtype=np.int64).view(np.uint64)
    starts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    joined = np.empty(len(sizes), dtype=np.int64)
    n_groups = kernel.least_joining(words, starts, joined)
    return joined[:n_groups].copy()
