"""Counts of values near values, by windows that slide over sorted values."""

import numba


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
