"""Distributions counted in one pass: of one attribute in order, of two attributes as codes."""

import numba


@numba.njit(cache=True, nogil=True)
def largest_distance(one, other):
    """Return the largest |i m - j n| after i values of one and j of the other, ties together.

    Both ascend, of n and m values, none missing; over n m it is Kolmogorov and Smirnov's statistic.
    """
    n, m = len(one), len(other)
    i = j = largest = 0
    while i < n and j < m:
        value = min(one[i], other[j])
        while i < n and one[i] == value:
            i += 1
        while j < m and other[j] == value:
            j += 1
        largest = max(largest, abs(i * m - j * n))
    return largest


@numba.njit(cache=True, nogil=True)
def count_pairs(one, other, counts):
    """Add to counts[a, b] how many records have code a in one and b in the other."""
    for i in range(len(one)):
        counts[one[i], other[i]] += 1
