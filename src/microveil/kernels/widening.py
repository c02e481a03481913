"""Clusters of equal values joined with their neighbours at the least loss.

A *block* is a longest row of clusters that hold one and the same value only; every other cluster
holds several values and may stay alone. Joining two groups never loses less than leaving them, so
in a best joining no group can be cut in two where both parts would hold several values: it is a
part of a block, then at most one cluster of several values or block of one cluster, then a part of
another block.

A block is cut at most once, as no group holds its value alone. With a of its records, m records
around a mean and b at another value, a group's sum of squares exceeds the middle's own by

    (a m (mean - lower)^2 + m b (upper - mean)^2 + a b (upper - lower)^2) / (a + m + b),

which is concave in a, as it is in b. So is the loss of both groups together in the place where a
block is cut: it is least where one of them gets as little of it as it may, nothing or a cluster.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _continues(in_order, starts, cluster):
    """Whether a cluster and the one before it are of one block."""
    if cluster <= 0 or cluster + 1 >= starts.shape[0]:
        return False
    return in_order[starts[cluster - 1]] == in_order[starts[cluster + 1] - 1]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _stretches(in_order, starts, ranks, means):
    """Write where each stretch that is not cut begins, the end, and means above first values."""
    count = 0
    for cluster in range(starts.shape[0]):
        inside = (
            _continues(in_order, starts, cluster - 1)
            and _continues(in_order, starts, cluster)
            and _continues(in_order, starts, cluster + 1)
        )
        if not inside:
            ranks[count] = starts[cluster]
            count += 1
    for stretch in range(count - 1):
        start, end = ranks[stretch], ranks[stretch + 1]
        total = 0.0
        if in_order[start] != in_order[end - 1]:
            for rank in range(start, end):
                total += float(in_order[rank] - in_order[start])
        means[stretch] = total / (end - start)
    return count - 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _loss(in_order, ranks, means, begin, end):
    """Return the squared distances of the means of some stretches to the mean of all."""
    first = in_order[ranks[begin]]
    total = squares = 0.0
    for stretch in range(begin, end):
        distance = float(in_order[ranks[stretch]] - first) + means[stretch]
        total += (ranks[stretch + 1] - ranks[stretch]) * distance
    mean = total / (ranks[end] - ranks[begin])
    for stretch in range(begin, end):
        distance = float(in_order[ranks[stretch]] - first) + means[stretch] - mean
        squares += (ranks[stretch + 1] - ranks[stretch]) * (distance * distance)
    return squares


@numba.njit(cache=True, nogil=True, error_model="numpy")
def least_joining(in_order, starts, sizes):
    """Write the sizes of the groups that lose least; return how many they are.

    ``best`` and ``before`` hold, for every place to cut, what the groups up to it lose at least and
    where the last of them begins; without any group that holds several values, one takes all.
    Values are words, of signed values in ascending order, as only distances count; ``starts`` are
    the rank at which each cluster begins, and n.
    """
    ranks = np.empty(starts.shape[0], np.int64)
    means = np.empty(starts.shape[0])
    n_stretches = _stretches(in_order, starts, ranks, means)
    best = np.full(n_stretches + 1, np.inf)
    before = np.zeros(n_stretches + 1, np.int64)
    best[0] = 0.0
    for end in range(1, n_stretches + 1):
        shortest = -1
        for begin in range(end - 1, -1, -1):
            first = in_order[ranks[begin]]
            if shortest >= 0 and first != in_order[ranks[shortest] - 1]:
                break  # what is before the shortest group can be a group of its own
            if first == in_order[ranks[end] - 1]:
                continue
            if shortest < 0:
                shortest = begin
            if best[begin] < np.inf:
                loss = best[begin] + _loss(in_order, ranks, means, begin, end)
                if loss <= best[end]:
                    best[end], before[end] = loss, begin
    n_groups, end = 0, n_stretches
    while end > 0:
        # From the last group on; put in ascending order below.
        sizes[n_groups] = ranks[end] - ranks[before[end]]
        n_groups += 1
        end = before[end]
    sizes[:n_groups] = sizes[:n_groups][::-1].copy()
    return n_groups
