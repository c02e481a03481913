"""Rank correlations of pairs of attributes over the records that have both values."""

import numba
import numpy as np


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
