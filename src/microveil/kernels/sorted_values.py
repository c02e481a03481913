"""Passes over sorted values: intervals that hold k, windows, and two distributions at once."""

import numba


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _start(lowest, spread, n_intervals, interval):
    """Compute where an interval starts: same operations, same order as for the edges."""
    return lowest + spread * interval / n_intervals


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _label(value, lowest, spread, n_intervals):
    """Find the last interval that starts at or below the value."""
    label = min(int((value - lowest) / spread * n_intervals), n_intervals - 1)
    while label + 1 < n_intervals and _start(lowest, spread, n_intervals, label + 1) <= value:
        label += 1
    while label > 0 and _start(lowest, spread, n_intervals, label) > value:
        label -= 1
    return label


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _holds_one(below, above, lowest, spread, n_intervals):
    """Say whether an interval lies between two values."""
    after = _label(below, lowest, spread, n_intervals) + 2
    return after < n_intervals and _start(lowest, spread, n_intervals, after) <= above


@numba.njit(cache=True, nogil=True, error_model="numpy")
def most_intervals(below, above, kth, kth_last, lowest, spread, most):
    """Find the largest number of intervals, ``most`` at most, that all hold k values.

    ``below`` and ``above`` pair each value with the k-th after it in ascending order, the
    pairs that are farthest apart first; ``kth`` and ``kth_last`` are the k-th smallest and
    the k-th largest value. An interval with fewer than k values lies between the two values
    of some pair, or before ``kth``, or after ``kth_last``. As intervals of a number of pieces
    are all equally wide, only pairs farther apart than that can hold one, and those farthest
    apart are the likeliest: nearly every number is refused by the first pairs looked at.
    """
    for n_intervals in range(most, 1, -1):
        if kth >= _start(lowest, spread, n_intervals, 1):
            continue
        if kth_last < _start(lowest, spread, n_intervals, n_intervals - 1):
            continue
        # Edges are rounded: a pair counts as far apart when it is, but for a few units in the last
        # place of the largest number that takes part.
        width = spread / n_intervals - 1e-15 * (abs(lowest) + spread)
        holds = True
        for pair in range(below.shape[0]):
            if above[pair] - below[pair] < width:
                break
            if _holds_one(below[pair], above[pair], lowest, spread, n_intervals):
                holds = False
                break
        if holds:
            return n_intervals
    return 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def weighted_above(values, up_to, delta, out):
    """Add to ``out`` the weights of the values above each value.

    ``values`` ascend without ties; ``up_to[j]`` copies lie below value j, so that
    ``up_to[j + 1] - up_to[j]`` are copies of it. A copy at distance d delta counts 1 for d up
    to 1, (3 - d)/2 from there to 3, and 0 beyond.

    The distances to the values on the slope, from ``near`` up to ``far``, are kept as a sum.
    When the window moves, what leaves it is subtracted by its distance to the old value and
    what enters is added by its distance to the new one, so that no term is above 3 delta and
    roundings stay small beside the count, however large the values are.
    """
    n_values = values.shape[0]
    near = far = 0
    distances = 0.0
    for i in range(n_values):
        value = values[i]
        if near < far:
            before = values[i - 1]
            while near < far and values[near] - value <= delta:
                distances -= (up_to[near + 1] - up_to[near]) * (values[near] - before)
                near += 1
            distances -= (up_to[far] - up_to[near]) * (value - before)
        if near == far:
            # Nothing is left on the slope: no rounding either.
            distances = 0.0
            while near < n_values and values[near] - value <= delta:
                near += 1
            far = near
        while far < n_values and values[far] - value < 3 * delta:
            distances += (up_to[far + 1] - up_to[far]) * (values[far] - value)
            far += 1
        on_slope = up_to[far] - up_to[near]
        out[i] += up_to[near] - up_to[i + 1] + (3 * on_slope - distances / delta) / 2


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_within(centres, values, radius, closed, out):
    """Count the values nearer to each centre than the radius; ``closed``: or just as near.

    Centres and values ascend. What is compared is the computed difference of the two.
    """
    first = last = 0
    for i in range(centres.shape[0]):
        centre = centres[i]
        if closed:
            while first < values.shape[0] and centre - values[first] > radius:
                first += 1
            while last < values.shape[0] and values[last] - centre <= radius:
                last += 1
        else:
            while first < values.shape[0] and centre - values[first] >= radius:
                first += 1
            while last < values.shape[0] and values[last] - centre < radius:
                last += 1
        out[i] = last - first


@numba.njit(cache=True, nogil=True)
def merged_sums(one, one_counts, other, other_counts):
    """Go once through ascending values, none missing, and how often each occurs; none is once.

    Returns, of n and m values in all, the largest |i m - j n| where i and j are at or below one; n
    and m times the sums of squares of ranks among all, ties sharing the average, less ranks among
    their own; and the sum of Scholz and Stephens (1987), Equation 7, for both sides.
    """
    n = one_counts.sum() if len(one_counts) else len(one)
    m = other_counts.sum() if len(other_counts) else len(other)
    p = q = i = j = largest = 0
    of_one = of_other = inner_one = inner_other = 0.0
    while p < len(one) or q < len(other):
        is_of_one = q == len(other) or (p < len(one) and one[p] <= other[q])
        value = one[p] if is_of_one else other[q]
        a = b = 0
        while p < len(one) and one[p] == value:
            a += one_counts[p] if len(one_counts) else 1
            p += 1
        while q < len(other) and other[q] == value:
            b += other_counts[q] if len(other_counts) else 1
            q += 1
        largest = max(largest, abs((i + a) * m - (j + b) * n))
        rank = i + j + (a + b + 1) / 2
        of_one += _squares(rank - i, float(a))
        of_other += _squares(rank - j, float(b))
        below = i + j + (a + b) / 2
        scale = below * (n + m - below) - (n + m) * (a + b) / 4
        if scale > 0:
            weight = (a + b) / (n + m) / scale
            inner_one += weight * ((n + m) * (i + a / 2) - below * n) ** 2
            inner_other += weight * ((n + m) * (j + b / 2) - below * m) ** 2
        i += a
        j += b
    return largest, n * of_one + m * of_other, inner_one / n + inner_other / m


@numba.njit(cache=True, nogil=True)
def _squares(start, count):
    """Return the sum of (start - k)^2 over k = 1 to count."""
    sum_of_squares = count * (count + 1) * (2 * count + 1) / 6
    return count * start * start - start * count * (count + 1) + sum_of_squares
