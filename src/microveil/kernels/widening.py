"""Clusters of equal values joined with their neighbours at the least loss.

A *block* is a longest row of clusters that hold one and the same value only; every other
cluster holds several values and may stay alone. Joining two groups never loses less than
leaving them, so in a best joining no group can be cut in two where both parts would hold
several values. The groups are then, with a part of a block being some of its clusters:

    a cluster of several values, with a part of the block before it, of that behind, or both
    parts of two blocks next to each other
    parts of two blocks, and between them a block of one cluster

so a block is cut at most once, and the best cuts of one block follow from those of the
block before. Of parts of a and b records at two values and m records around a mean between,
the joint sum of squares exceeds the middle's own by

    (a m (mean - lower)^2 + m b (upper - mean)^2 + a b (upper - lower)^2) / (a + m + b)

which is what is added up: nothing is subtracted. Sums of squares satisfy the quadrangle
inequality, so the best cuts of the first block ascend with those of the second.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def join_blocks(starts, low, high, middle, below, above, apart, best, before):
    """Let groups begin in block ``low`` and end in block ``high``, where that loses less.

    Blocks are pairs of their first cluster and the first behind them; ``middle`` records lie
    between, ``below`` is the distance from the lower value to their mean, ``above`` from there to
    the upper value, ``apart`` from the lower to the upper. Ends are taken from the middle one
    outwards, each looking for its beginning between those of its neighbours; of beginnings that
    lose the same, the leftmost is taken.
    """
    n_ends = high[1] - high[0]
    chosen = np.empty(n_ends, np.int64)
    stride = 1
    while 2 * stride <= n_ends:
        stride *= 2
    while stride > 0:
        for nth in range(stride - 1, n_ends, 2 * stride):
            end = high[0] + 1 + nth
            first, last = low[0], low[1] - 1
            if nth >= stride:
                first = chosen[nth - stride]
            if nth + stride < n_ends:
                last = chosen[nth + stride]
            n_above = float(starts[end] - starts[high[0]])
            least = np.inf
            chosen[nth] = first
            for cut in range(first, last + 1):
                n_below = float(starts[low[1]] - starts[cut])
                squares = n_below * middle * below * below + middle * n_above * above * above
                squares += n_below * n_above * apart * apart
                loss = best[cut] + squares / (n_below + middle + n_above)
                if loss < least:
                    least = loss
                    chosen[nth] = cut
            if least < best[end]:
                best[end] = least
                before[end] = chosen[nth]
        stride //= 2


@numba.njit(cache=True, nogil=True, error_model="numpy")
def mean_above_first(in_order, start, end):
    """Return the mean distance of values to the first of them."""
    total = 0.0
    for rank in range(start, end):
        total += float(in_order[rank] - in_order[start])
    return total / (end - start)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def find_blocks(in_order, starts, blocks):
    """Write the first cluster of each block, and each other, and the end; return their number."""
    n_blocks = 0
    for cluster in range(starts.shape[0] - 1):
        first = in_order[starts[cluster]]
        same = cluster > 0 and in_order[starts[cluster + 1] - 1] == first
        if not (same and in_order[starts[cluster - 1]] == first):
            blocks[n_blocks] = cluster
            n_blocks += 1
    blocks[n_blocks] = starts.shape[0] - 1
    return n_blocks


@numba.njit(cache=True, nogil=True, error_model="numpy")
def end_with_block(starts, mixed, end, size, above, best, before):
    """Let groups begin with a cluster of several values and end in the block behind it."""
    first = mixed + 1
    for cut in range(first + 1, end + 1):
        count = float(starts[cut] - starts[first])
        loss = best[mixed] + count * size / (count + size) * above * above
        if loss < best[cut]:
            best[cut] = loss
            before[cut] = mixed


@numba.njit(cache=True, nogil=True, error_model="numpy")
def end_with_mixed(starts, low, mixed, above, best, before):
    """Let a group begin in a block and end with the cluster of several values behind it."""
    size = float(starts[mixed + 1] - starts[mixed])
    for cut in range(low, mixed):
        count = float(starts[mixed] - starts[cut])
        loss = best[cut] + count * size / (count + size) * above * above
        if loss < best[mixed + 1]:
            best[mixed + 1] = loss
            before[mixed + 1] = cut


@numba.njit(cache=True, nogil=True, error_model="numpy")
def least_joining(in_order, starts, sizes):
    """Write the sizes of the groups that lose least; return how many they are.

    ``best`` and ``before`` hold, for every cluster, what the groups up to its beginning lose
    at least and where the last of them begins; without any group that holds several values,
    one group takes all. Values are words, of signed values in ascending order, as only distances
    count; ``starts`` are the rank at which each cluster begins, and n.
    """
    n_clusters = starts.shape[0] - 1
    best = np.full(n_clusters + 1, np.inf)
    before = np.zeros(n_clusters + 1, np.int64)
    best[0] = 0.0
    blocks = np.empty(n_clusters + 1, np.int64)
    n_blocks = find_blocks(in_order, starts, blocks)
    for block in range(n_blocks):
        first, end = blocks[block], blocks[block + 1]
        value = in_order[starts[first]]
        constant = value == in_order[starts[end] - 1]
        low = (blocks[max(block - 1, 0)], first)
        lower = in_order[starts[low[0]]]
        low_constant = block > 0 and lower == in_order[starts[first] - 1]
        if not constant:
            if low_constant:
                above = float(value - lower)
                above += mean_above_first(in_order, starts[first], starts[end])
                end_with_mixed(starts, low[0], first, above, best, before)
            if best[first] < best[end]:
                best[end] = best[first]
                before[end] = first
            continue
        if block == 0:
            continue
        size = float(starts[first] - starts[low[0]])
        mean = 0.0
        if not low_constant:
            mean = mean_above_first(in_order, starts[low[0]], starts[first])
        above = float(value - lower) - mean
        if block > 1 and (not low_constant or first - low[0] == 1):
            # Across the cluster between, from the block before that.
            under = (blocks[block - 2], low[0])
            lowest = in_order[starts[under[0]]]
            if lowest == in_order[starts[low[0]] - 1]:
                join_blocks(
                    starts, under, (first, end), size, float(lower - lowest) + mean, above,
                    float(value - lowest), best, before,
                )  # fmt: skip
        if low_constant:
            join_blocks(starts, low, (first, end), 0.0, 0.0, 0.0, above, best, before)
        else:
            end_with_block(starts, low[0], end, size, above, best, before)
    n_groups = 0
    end = n_clusters
    while end > 0:
        # From the last group on; put in ascending order below.
        sizes[n_groups] = starts[end] - starts[before[end]]
        n_groups += 1
        end = before[end]
    sizes[:n_groups] = sizes[:n_groups][::-1].copy()
    return n_groups
