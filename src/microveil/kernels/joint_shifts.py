"""Which values an arriving record can have, and the path of clusters that costs most.

The records of a domain (a grid of whole numbers) are in a total order: by the sum of
their squared distances from the lower bounds, each scaled by its domain's width, then by
their values, first attribute first. A record never comes earlier for one of its values
being raised. So with all other values at their bounds a bisection finds how far a value
could go at most, and a search over the other values need only look where their bounds do
not settle the matter.

To seek greatest values is to seek least ones in the reversed order. So there is one
search, and a side: 0 for the least value between a lower and an upper end, 1 for the
greatest. Positions count from the bound that the side starts from; ``bounds[side]`` are
the corner a search starts in and ``bounds[1 - side]`` the corner it goes to.
"""

import math

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def extreme_values(ends, seen, bounds, by_width, budget, found):
    """Write the least and the greatest value of each attribute between two ends.

    ``ends`` and ``seen``, int64 (2, n_ranges, n_attributes), are the first and last record of each
    range, and extremes that some records there attain; ``by_width`` lists attributes from the
    coarsest to the finest, ``budget`` is how many nodes are searched for each extreme. Returns how
    many are left undecided: no record attains more, but perhaps none attains as much.
    """
    n_ranges, n_attributes = ends.shape[1], ends.shape[2]
    point = np.empty(n_attributes, np.int64)
    others = np.empty(n_attributes - 1, np.int64)
    limits = np.empty((2, n_attributes), np.int64)
    keys = np.empty(2)
    undecided = 0
    for number in range(n_ranges):
        if np.array_equal(ends[0, number], ends[1, number]):
            # Nothing stands between a record and its copy but further copies.
            found[:, number] = ends[:, number]
            continue
        for side in range(2):
            limits[0] = ends[side, number]
            limits[1] = ends[1 - side, number]
            keys[0], keys[1] = _key(limits[0], bounds), _key(limits[1], bounds)
            for attribute in range(n_attributes):
                at = 0
                for other in by_width:
                    if other != attribute:
                        others[at] = other
                        at += 1
                last = _position(seen[side, number, attribute], attribute, side, bounds)
                reached, decided = _least(
                    attribute, last, limits, keys, side, bounds, (others, point), budget
                )
                undecided += not decided
                found[side, number, attribute] = _value(reached, attribute, side, bounds)
    return undecided


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _least(attribute, last, limits, keys, side, bounds, work, budget):
    """Return the least position of an attribute between the limits, at most ``last``."""
    others, point = work
    for other in others:
        point[other] = bounds[1 - side, other]
    position = _first(attribute, limits[0], keys[0], 0, side, bounds, point)
    if position >= last:
        return last, True
    point[attribute] = _value(position, attribute, side, bounds)
    if _compare(point, limits[1], keys[1], side, bounds) <= 0:
        return position, True
    while position < last:
        point[attribute] = _value(position, attribute, side, bounds)
        verdict, following, budget = _attained(
            attribute, limits, keys, side, bounds, others, point, budget
        )
        if verdict != 0:
            return position, verdict > 0
        position = following
    return last, True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _attained(attribute, limits, keys, side, bounds, others, point, budget):
    """Say whether other values bring the point between the limits, its attribute fixed.

    Depth first, from the coarsest attribute to the finest: of each the position nearest
    below the far limit first, as the rest, smaller, is then met in finer steps. Positions
    are given up where the finer attributes cannot make good what lacks.

    Returns 1 for yes, 0 for no, -1 where the budget was spent; where the answer is 0, the next
    position of the attribute to try; and what is left of the budget.
    """
    following = bounds[1, attribute] - bounds[0, attribute] + 1
    for other in others:
        point[other] = bounds[side, other]
    if _compare(point, limits[0], keys[0], side, bounds) >= 0:
        return 1, following, budget
    mine = point[attribute]
    n_levels = len(others)
    level = 0 if n_levels else -1
    entering = True
    while level >= 0:
        if budget == 0:
            return -1, following, budget
        budget -= 1
        other = others[level]
        if entering:
            beyond = _first(other, limits[1], keys[1], 1, side, bounds, point)
            point[other] = _value(beyond - 1, other, side, bounds)
            if _compare(point, limits[0], keys[0], side, bounds) >= 0:
                return 1, following, budget
        elif point[other] == bounds[side, other]:
            level -= 1
            continue
        else:
            point[other] += 2 * side - 1
        for finer in others[level + 1 :]:
            point[finer] = bounds[1 - side, finer]
        short = _compare(point, limits[0], keys[0], side, bounds) < 0
        if short:
            # From there on, and not before, these positions could do.
            enough = _first(attribute, limits[0], keys[0], 0, side, bounds, point)
            following = min(following, enough)
            point[attribute] = mine
        for finer in others[level + 1 :]:
            point[finer] = bounds[side, finer]
        if short:
            point[other] = bounds[side, other]
        level += -1 if short else 1
        entering = not short
    return 0, following, budget


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _first(attribute, limit, limit_key, sign, side, bounds, point):
    """Return the first position that brings the point to the limit, or with sign 1 past it.

    One more than the last position where none does. Overwrites the point's value.
    """
    last = bounds[1, attribute] - bounds[0, attribute]
    below, above = -1, last + 1
    rest = limit_key
    for other in range(len(point)):
        if other != attribute:
            rest -= _square(point[other], other, bounds)
    # What the key says but for rounding; from there in doubling steps, then by halves.
    probe = int(math.sqrt(min(max(rest, 0.0), 1.0)) * last)
    if side == 1:
        probe = last - probe
    step = 1
    while above - below > 1:
        point[attribute] = _value(probe, attribute, side, bounds)
        if _compare(point, limit, limit_key, side, bounds) >= sign:
            above = probe
            probe -= step
        else:
            below = probe
            probe += step
        step *= 2
        if not below < probe < above:
            probe = below + (above - below) // 2
    return above


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _compare(point, limit, limit_key, side, bounds):
    """Return -1, 0 or 1: the point before, at or after the limit, as seen from the side."""
    key = _key(point, bounds)
    before = 2 * side - 1
    if key != limit_key:
        return before if key < limit_key else -before
    for attribute in range(len(point)):
        if point[attribute] != limit[attribute]:
            return before if point[attribute] < limit[attribute] else -before
    return 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _key(point, bounds):
    """Return the squared distance from the corner, by the operations of the partition."""
    key = 0.0
    for attribute in range(len(point)):
        key += _square(point[attribute], attribute, bounds)
    return key


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _square(value, attribute, bounds):
    width = bounds[1, attribute] - bounds[0, attribute]
    distance = float(value - bounds[0, attribute]) / float(max(width, 1))
    return distance * distance


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _position(value, attribute, side, bounds):
    return bounds[1, attribute] - value if side else value - bounds[0, attribute]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _value(position, attribute, side, bounds):
    return bounds[1, attribute] - position if side else bounds[0, attribute] + position


@numba.njit(cache=True, nogil=True, error_model="numpy")
def worst_path(leaving, passing, arriving):
    """Return the cluster left and the cluster entered of the path upwards that costs most.

    A path from p to q > p costs ``leaving[p]``, ``passing`` of all between, ``arriving[q]``.
    Running costs are kept in two float64, as many are added and the differences decide.
    """
    start, worst_start, worst_end = 0, 0, 0
    leading, rest = 0.0, 0.0
    worst_leading, worst_rest = -1.0, 0.0
    for cluster in range(1, len(leaving)):
        passed, passed_rest = _sum(leading, rest, passing[cluster - 1])
        ahead = leaving[cluster - 1]
        if cluster == 1 or (ahead - passed) - passed_rest > 0.0:
            start, leading, rest = cluster - 1, ahead, 0.0
        else:
            leading, rest = passed, passed_rest
        cost, cost_rest = _sum(leading, rest, arriving[cluster])
        if (cost - worst_leading) + (cost_rest - worst_rest) > 0.0:
            worst_leading, worst_rest = cost, cost_rest
            worst_start, worst_end = start, cluster
    return worst_start, worst_end


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _sum(leading, rest, added):
    """Add a number to one kept in two parts (Knuth)."""
    total = leading + added
    back = total - leading
    return total, rest + ((leading - (total - back)) + (added - back))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def barrier(point, weights, positions, coefficients, limits, gradient, band):
    """Return an objective less the logs of the slacks of linear constraints; write derivatives.

    The objective is the sum of weights / v**2, where v is every third variable. Infinite,
    and the derivatives unfinished, where a v or a slack is not above 0. A constraint, a row of
    positions, coefficients and limits, joins up to three variables, whose sum stays below its
    limit; ``band[i - j, j]`` gets the second derivatives for i >= j.
    """
    gradient[:] = 0.0
    band[:] = 0.0
    value = 0.0
    for cluster in range(len(weights)):
        v = point[3 * cluster]
        if not v > 0.0:
            return np.inf
        part = weights[cluster] / (v * v)
        value += part
        gradient[3 * cluster] = -2.0 * part / v
        band[0, 3 * cluster] = 6.0 * part / (v * v)
    for row in range(len(limits)):
        slack = limits[row]
        for term in range(3):
            slack -= coefficients[row, term] * point[positions[row, term]]
        if not slack > 0.0:
            return np.inf
        value -= math.log(slack)
        for term in range(3):
            weight = coefficients[row, term] / slack
            if weight == 0.0:
                continue
            position = positions[row, term]
            gradient[position] += weight
            band[0, position] += weight * weight
            for other in range(term):
                across = abs(position - positions[row, other])
                column = min(position, positions[row, other])
                band[across, column] += weight * coefficients[row, other] / slack
    return value
