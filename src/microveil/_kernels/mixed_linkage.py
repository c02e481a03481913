"""Nearest originals among records of numbers and categories that may lack some of either.

The squared distance of two records is one float64 computation, the same everywhere::

    total = 0.0
    for each attribute, in order:
        total += 0.0                          if both lack it
        total += gap                          if one does
        total += weight if x != y else 0.0    of categories
        total += (x - y) * (x - y) * weight   of numbers

A value can be nearer to a missing one than to another value, as in no space that boxes could
divide: every original is looked at, until what is added up exceeds what is asked for.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count_at_radius(records, queries, radii, is_category, weights, gaps):
    """Count the originals at exactly the radius of each query; 0 if any is nearer.

    ``records`` is a pair: different originals, NaN where missing, and how many each stands for.
    """
    originals, multiplicities = records
    counts = np.zeros(queries.shape[0], np.int64)
    for q in range(queries.shape[0]):
        radius = radii[q]
        for i in range(originals.shape[0]):
            total = 0.0
            for a in range(queries.shape[1]):
                x, y = originals[i, a], queries[q, a]
                if np.isnan(x) or np.isnan(y):
                    total += 0.0 if np.isnan(x) and np.isnan(y) else gaps[a]
                elif is_category[a]:
                    total += weights[a] if x != y else 0.0
                else:
                    total += (x - y) * (x - y) * weights[a]
                if total > radius:
                    break
            if total < radius:
                counts[q] = 0
                break
            if total == radius:
                counts[q] += multiplicities[i]
    return counts
