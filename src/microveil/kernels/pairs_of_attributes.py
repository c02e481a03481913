"""Moments and rank correlations of pairs of attributes over the records that have both values.

Columns hold NaN where a cell is missing. Sums run over the records in their order.
"""

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count(columns, counts, sums, lowest, highest):
    """Add the records that have both values, and of each attribute's values in them the sum.

    ``columns`` has an attribute to a row. Row a and column b of what is added to is about the
    values of a in the records that have b too; ends are lowered and raised to theirs.
    """
    for a in range(columns.shape[0]):
        for b in range(a):
            n, one, other = 0, 0.0, 0.0
            one_lowest = other_lowest = np.inf
            one_highest = other_highest = -np.inf
            for i in range(columns.shape[1]):
                x, y = columns[a, i], columns[b, i]
                if not (np.isnan(x) or np.isnan(y)):
                    n += 1
                    one += x
                    other += y
                    one_lowest = min(one_lowest, x)
                    one_highest = max(one_highest, x)
                    other_lowest = min(other_lowest, y)
                    other_highest = max(other_highest, y)
            counts[a, b] += n
            counts[b, a] += n
            sums[a, b] += one
            sums[b, a] += other
            lowest[a, b] = min(lowest[a, b], one_lowest)
            lowest[b, a] = min(lowest[b, a], other_lowest)
            highest[a, b] = max(highest[a, b], one_highest)
            highest[b, a] = max(highest[b, a], other_highest)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def multiply(columns, means, squares, products):
    """Add squared deviations from the means, and products of the deviations of two attributes.

    ``means[a, b]`` is that of a in the records that have b too, and so are ``squares[a, b]``.
    """
    for a in range(columns.shape[0]):
        for b in range(a):
            one_mean, other_mean = means[a, b], means[b, a]
            one, other, both = 0.0, 0.0, 0.0
            for i in range(columns.shape[1]):
                x, y = columns[a, i], columns[b, i]
                if not (np.isnan(x) or np.isnan(y)):
                    x -= one_mean
                    y -= other_mean
                    one += x * x
                    other += y * y
                    both += x * y
            squares[a, b] += one
            squares[b, a] += other
            products[a, b] += both
            products[b, a] += both


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _centre(counts, n):
    """Turn each value's count into twice its average rank, less twice the mean of all ranks.

    Returns four times the sum of the squares. Whole numbers of 32 bits, as counts are: what is
    looked up for every record should be small.
    """
    below = 0
    squares = 0.0
    for value in range(counts.shape[0]):
        copies = np.int64(counts[value])
        # Ranks from below + 1 to below + copies, of n whose mean is (n + 1) / 2.
        deviation = 2 * below + copies - n
        squares += copies * (float(deviation) * float(deviation))
        counts[value] = deviation
        below += copies
    return squares


@numba.njit(cache=True, nogil=True, error_model="numpy")
def correlate_ranks(one, other, n_one, n_other):
    """Return how many records have both values, and the moments of the ranks of these.

    ``one`` and ``other`` hold numbers of the values of an attribute each, as they ascend from 0,
    -1 where missing: ranks are the same whatever the values. They are among the records that have
    both, fewer than 2^31, equal values sharing the average of theirs. Returned are the number of
    records, the sums of the squared deviations of either attribute's ranks from their mean, and
    that of the products.
    """
    one_counts = np.zeros(n_one, np.int32)
    other_counts = np.zeros(n_other, np.int32)
    n = 0
    for i in range(one.shape[0]):
        if one[i] >= 0 and other[i] >= 0:
            one_counts[one[i]] += 1
            other_counts[other[i]] += 1
            n += 1
    one_squares = _centre(one_counts, n)
    other_squares = _centre(other_counts, n)
    products = 0.0
    for i in range(one.shape[0]):
        if one[i] >= 0 and other[i] >= 0:
            products += float(one_counts[one[i]]) * float(other_counts[other[i]])
    return n, one_squares / 4, other_squares / 4, products / 4
