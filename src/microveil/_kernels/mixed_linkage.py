"""Nearest originals among records of numbers and categories that may lack some of either.

The squared distance of two records is one float64 computation, the same everywhere::

    total = 0.0
    for each attribute, in order:
        total += 0.0                          if both lack it
        total += gap                          if one does
        total += weight if x != y else 0.0    of categories
        total += (x - y) * (x - y) * weight   of numbers

A value can be nearer to a missing one than to another value, as in no space that boxes could
divide: every original is looked at. So many at a time are measured with vector instructions, and
given up if every sum is beyond the radius already: terms only add.
"""

import numba
import numpy as np

AT_A_TIME = 256
CHECK_EVERY = 2


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _add(values, value, is_category, weight, gap, distances):
    """Add an attribute's terms for originals of such values."""
    if np.isnan(value):
        for i in range(np.uint64(values.shape[0])):
            distances[i] += 0.0 if np.isnan(values[i]) else gap
    elif is_category:
        for i in range(np.uint64(values.shape[0])):
            differing = weight if values[i] != value else 0.0
            distances[i] += gap if np.isnan(values[i]) else differing
    else:
        for i in range(np.uint64(values.shape[0])):
            difference = values[i] - value
            square = difference * difference * weight
            distances[i] += gap if np.isnan(values[i]) else square


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _some_within(distances, size, radius):
    """Whether any of the first distances is within the radius."""
    within = 0
    for i in range(np.uint64(size)):
        within += distances[i] <= radius
    return within > 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _count_for_one(records, query, radius, scale, distances):
    """Count the originals at exactly the radius of one query; -1 if any is nearer."""
    originals, multiplicities = records
    is_category, weights, gaps = scale
    n_attributes, n = originals.shape
    count = 0
    for start in range(0, n, AT_A_TIME):
        size = min(AT_A_TIME, n - start)
        distances[:size] = 0.0
        is_near = True
        for a in range(n_attributes):
            values = originals[a, start : start + size]
            _add(values, query[a], is_category[a], weights[a], gaps[a], distances)
            if (a + 1) % CHECK_EVERY == 0 and not _some_within(distances, size, radius):
                is_near = False
                break
        if is_near:
            for i in range(size):
                if distances[i] < radius:
                    return -1
                if distances[i] == radius:
                    count += multiplicities[start + i]
    return count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_at_radius(records, queries, radii, scale):
    """Count the originals at exactly the radius of each query; -1 if any is nearer.

    ``records`` is a pair: different originals attribute by attribute, NaN where missing, and how
    many each stands for; ``scale`` says of each attribute whether it is of categories, its weight
    and its gap.
    """
    counts = np.empty(queries.shape[0], np.int64)
    distances = np.empty(AT_A_TIME)
    for q in range(queries.shape[0]):
        counts[q] = _count_for_one(records, queries[q], radii[q], scale, distances)
    return counts
