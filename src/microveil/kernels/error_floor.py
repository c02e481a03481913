"""The least squared error to expect of noisy centroids of runs, given up beyond a limit.

What `utility.expected_error` says of clusters that were planned is here said of values in the
order of their clusters, one run after another, and as soon as the sum is beyond a limit no run
more is looked at: an error is never below 0, so that what was summed up is a lower bound.
"""

import math

import numba
import numpy as np

from microveil.kernels.expected_error import added_by_noise, without_noise
from microveil.kernels.ranking import squared_distances

# Sensitivity rules, as `utility.error_floor` numbers them.
NONE, GLOBAL, LOCAL, CLUSTER_LOCAL, VECTOR = range(5)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def error_floor(values, k, rule, lower, upper, rate, limit, loss=0.0):
    """Sum the expected squared error over runs of k values, the middle one with the remainder.

    Parameters
    ----------
    values : int64 array (n_records,), run after run; ascending where ends of runs count
    k : int, 3 or more where ends of runs count
    rule : int, by which sensitivity the noise is scaled
    lower, upper : int, the domain
    rate : float, scale of the noise on a sum over its sensitivity
    limit : float
    loss : float, that of `vector_loss` where these are some of the runs; 0 to find it of these
    """
    n_runs = values.shape[0] // k
    rest = values.shape[0] - n_runs * k
    if rule == VECTOR:
        rate *= loss if loss > 0.0 else vector_loss(values, k)
    total = 0.0
    for turn in range(n_runs):
        # From both ends inwards: where values lie far apart they do so there, as a rule.
        run = turn // 2 if turn % 2 else n_runs - 1 - turn // 2
        start = run * k + (rest if run > n_runs // 2 else 0)
        size = k + (rest if run == n_runs // 2 else 0)
        total += _run_error(values[start : start + size], rule, lower, upper, rate)
        if total > limit:
            break
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _run_error(run, rule, lower, upper, rate):
    """Return the expected squared error of one run, as `expected_centroid_error` has it."""
    size = run.shape[0]
    total = 0
    for rank in range(size):
        total += run[rank]
    within = squared_distances(run, total)
    winsorised = total
    if rule in (CLUSTER_LOCAL, VECTOR):
        winsorised += run[1] - run[0] + run[size - 2] - run[size - 1]
    offset = float(total - winsorised)
    within += offset * offset / size
    if rule == NONE:
        # Clamping and rounding can but bring the values nearer to their mean.
        return within - offset * offset / size
    centroid = winsorised / size
    error = without_noise(within, offset, size, centroid)
    scale = _scale(run, rule, lower, upper, rate) / size
    above, below = added_by_noise(offset, size, centroid, scale, lower, upper)
    return max(error + above + below, 0.0)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _scale(run, rule, lower, upper, rate):
    """Return the scale of the noise on the run's sum."""
    if rule == GLOBAL:
        return float(upper - lower) * rate
    if rule == LOCAL:
        # Where records are in another order than of this attribute the ends are anywhere.
        smallest, largest = run[0], run[0]
        for value in run:
            smallest, largest = min(smallest, value), max(largest, value)
        return float(max(upper - smallest, largest - lower)) * rate
    changes = max(_upwards(run), _downwards(run))
    if rule == CLUSTER_LOCAL:
        return changes * rate
    return np.cbrt(changes * run.shape[0]) * rate


@numba.njit(cache=True, nogil=True, error_model="numpy")
def vector_loss(values, k):
    """Largest sum of shifts over (M s)^(1/3), which the scales of `least_vector_scales` take."""
    n_runs = values.shape[0] // k
    rest = values.shape[0] - n_runs * k
    moved_up, moved_down, start = 0.0, 0.0, 0
    for number in range(n_runs):
        size = k + (rest if number == n_runs // 2 else 0)
        run = values[start : start + size]
        upwards, downwards = _upwards(run), _downwards(run)
        largest = max(upwards, downwards)
        if largest > 0.0:
            weight = np.cbrt(largest * size)
            moved_up += upwards / weight
            moved_down += downwards / weight
        start += size
    return max(moved_up, moved_down)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _upwards(run):
    last = run.shape[0] - 1
    return float((run[last] - run[1]) + (run[2] - run[1]) + (run[last] - run[last - 1]))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _downwards(run):
    last = run.shape[0] - 1
    return float((run[last - 1] - run[0]) + (run[last - 1] - run[last - 2]) + (run[1] - run[0]))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _cut_off(distance, scale):
    """Bound E min(X, distance)^2 of Laplace noise's upper half from below.

    That is scale^2 (1 - (1 + u) exp(-u)) for u = distance/scale, and exp(u) is above the first
    four terms of its series.
    """
    u = distance / scale
    terms = u * u * (0.5 + u / 6)
    return scale * scale * terms / (1 + u + terms)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def sum_groups(values, counts, lower, middle, sums, squares):
    """Write of each group the sum of its distances to one point, and that of their squares.

    The point lies so far above a lower bound, whose distance is a whole number.
    """
    start = 0
    for group in range(counts.shape[0]):
        total = squared = 0.0
        for place in range(start, start + counts[group]):
            distance = float(values[place] - lower) - middle
            total += distance
            squared += distance * distance
        sums[group] = total
        squares[group] = squared
        start += counts[group]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def any_runs(firsts, lasts, counts, sums, squares, k, lower, upper, rate):
    """Bound the expected squared error of noisy centroids of any runs of k or more from below.

    A cut between two runs lies in one group, or where it begins. A run between cuts in groups h
    and g holds the groups between them whole, and nothing beyond these two: so much is its sum of
    squares at least, and so little its noise. Of all chains of such pairs the cheapest is found.

    Parameters
    ----------
    firsts, lasts : float64 array (n_groups,), the least and the greatest value of each group
    counts : int64 array (n_groups,)
    sums, squares : float64 array (n_groups,), of the distances to any one point
    k : int, the least size of a run
    lower, upper : float, the domain
    rate : float, scale of the noise on a sum over the width of the domain
    """
    n_groups = counts.shape[0]
    below = np.zeros(n_groups + 1, np.int64)
    sums_below, squares_below = np.zeros(n_groups + 1), np.zeros(n_groups + 1)
    for g in range(n_groups):
        below[g + 1] = below[g] + counts[g]
        sums_below[g + 1] = sums_below[g] + sums[g]
        squares_below[g + 1] = squares_below[g] + squares[g]
    spread = rate * (upper - lower)
    # Up to a cut in group g; last the end, and the first run begins where the first group does.
    least = np.full(n_groups + 1, np.inf)
    for g in range(n_groups + 1):
        end = min(g, n_groups - 1)
        room_above = upper - lasts[end]
        for h in range(-1, g):
            cost = least[h] if h >= 0 else 0.0
            if cost >= least[g]:
                continue
            most = below[end + 1] - below[max(h, 0)]
            whole = below[g] - below[h + 1]
            if whole > 1:
                total = sums_below[g] - sums_below[h + 1]
                inner = squares_below[g] - squares_below[h + 1] - total * total / whole
                cost += max(inner, 0.0)
            if most < k or cost >= least[g]:
                continue
            room_below = firsts[max(h, 0)] - lower
            # In the size a side's error first grows and then falls: it is least at either end.
            fewest = max(whole, k)
            of_most, of_fewest = spread / most, spread / fewest
            noise = min(
                most * _cut_off(room_above, of_most), fewest * _cut_off(room_above, of_fewest)
            ) + min(most * _cut_off(room_below, of_most), fewest * _cut_off(room_below, of_fewest))
            # Rounding takes half a unit off a distance at most.
            least[g] = min(least[g], cost + noise * math.exp(-0.5 / of_most))
    return least[n_groups]
