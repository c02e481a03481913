"""Sorted values cut into runs of least total cost, by dynamic programming.

The least cost of the first j values is the least cost of the first i and the cost of
the run between, at the best cut i. The ends j are taken in chunks of k, as no run lies
within a chunk, and chunks meet at the boundaries between them: at the boundary before
chunk c, cuts among as many chunks to its left as the greatest power of two in c are
tried for the ends among as many to its right. So every cut meets every end once, after
the least cost up to that cut is known (Fischer and Stockmeyer 1974).

A run across a boundary is two stretches that meet there, l values to the left and r to
the right. From the sums of squares around their means, and the means' distances to the
boundary (Chan, Golub and LeVeque 1979), the run's sum of squares is

    left squares + right squares + l r / (l + r) * (left distance + right distance)**2

Nothing is subtracted, so nothing cancels, wherever the values lie and whatever stands
between them: a sum of squares is off by a few units of rounding of itself for each of
its values. A cost up to a cut is kept in two float64, its leading part and the rest, and
costs are compared by their differences: what lies behind does not wash out what is
decided here. Only operations that IEEE 754 rounds are used: every machine cuts alike.
"""

import numba
import numpy as np

UNREACHED = 1e300  # the cost of the first 1 to k - 1 values: no run is that short


@numba.njit(cache=True, nogil=True, error_model="numpy")
def cheapest_runs(in_order, k, longest, penalty, sizes):  # noqa: PLR0915 - see below
    """Write the sizes of the cheapest runs; return how many they are.

    A run of s values costs its sum of squares and ``penalty / s``. For ascending ends the best cuts
    (the leftmost, where several are best) are ascending too, so at every boundary the middle end is
    served first, then the quarters, the eighths: each looks for its cut between those of its
    neighbours.

    Long, because a call that takes arrays counts a reference to each, which costs as much as a
    boundary. Positions of the innermost loop are unsigned, as one that might be negative is tested
    each time. Values ascend, float64 or uint64 of magnitude up to 1e30; ``longest`` is 2k - 1 or
    more, the penalty from 0 to 1e100, and ``sizes`` are (n_records // k,).
    """
    n = in_order.shape[0]
    room = min(longest, n) + 1
    left_squares = np.empty(room)
    left_distance = np.empty(room)
    right_squares = np.zeros(room)
    right_distance = np.zeros(room)
    chosen = np.empty(room, np.int64)
    leading = np.full(n + 1, UNREACHED)
    rest = np.zeros(n + 1)
    cuts = np.zeros(n + 1, np.int64)
    leading[0] = 0.0
    for boundary in range(k, n + 1, k):
        chunk = boundary // k
        reach = min((chunk & -chunk) * k, longest)
        first = max(boundary - reach, cuts[boundary - 1])
        n_ends = min(reach, n + 1 - boundary)

        # Both stretches, outwards from the boundary (Welford 1962).
        gap = 0.0
        if boundary < n:
            gap = float(in_order[boundary] - in_order[boundary - 1])
        total = mean = squares = 0.0
        for n_left in range(1, boundary - first + 1):
            distance = float(in_order[boundary - 1] - in_order[boundary - n_left])
            total += distance
            before, mean = mean, total / n_left
            squares += (distance - before) * (distance - mean)
            left_squares[n_left] = squares
            left_distance[n_left] = mean + gap
        total = mean = squares = 0.0
        for n_right in range(1, n_ends):
            distance = float(in_order[boundary + n_right - 1] - in_order[boundary])
            total += distance
            before, mean = mean, total / n_right
            squares += (distance - before) * (distance - mean)
            right_squares[n_right] = squares
            right_distance[n_right] = mean

        stride = 1
        while 2 * stride <= n_ends:
            stride *= 2
        while stride > 0:
            for n_right in range(stride - 1, n_ends, 2 * stride):
                end = boundary + n_right
                low = max(first, end - longest)
                high = min(boundary - 1, end - k)
                if n_right >= stride:
                    low = max(low, chosen[n_right - stride])
                if n_right + stride < n_ends:
                    high = min(high, chosen[n_right + stride])
                distance = right_distance[n_right]
                best = low
                best_leading, best_rest, best_run = UNREACHED, 0.0, UNREACHED
                for cut in range(low, high + 1):
                    before_cut, n_left = np.uint64(cut), np.uint64(boundary - cut)
                    apart = left_distance[n_left] + distance
                    run = left_squares[n_left] + (
                        (boundary - cut) * n_right * apart * apart + penalty
                    ) / (end - cut)
                    difference = (leading[before_cut] - best_leading) + (
                        (rest[before_cut] - best_rest) + (run - best_run)
                    )
                    if difference < 0.0:
                        best, best_run = cut, run
                        best_leading, best_rest = leading[before_cut], rest[before_cut]
                chosen[n_right] = best
                # The sum of the two is exact but for the last bits of the rest (Knuth).
                run = best_run + right_squares[n_right]
                cost = best_leading + run
                added = cost - best_leading
                below = (best_leading - (cost - added)) + (run - added) + best_rest
                if (cost - leading[end]) + (below - rest[end]) < 0.0:
                    leading[end] = cost + below
                    rest[end] = below - (leading[end] - cost)
                    cuts[end] = best
            stride //= 2

    n_runs = 0
    end = n
    while end > 0:
        # From the last run on; put in ascending order below.
        sizes[n_runs] = end - cuts[end]
        n_runs += 1
        end = cuts[end]
    sizes[:n_runs] = sizes[:n_runs][::-1].copy()
    return n_runs
