"""Distributions counted in one pass: of one attribute in order, of two attributes as codes."""

import numba


@numba.njit(cache=True, nogil=True)
def usable(values, missing, largest, found):
    """Write the values that are there, and of no more than ``largest`` either way, to ``found``.

    ``missing`` is empty where no value is. Returns how many they are.
    """
    count = 0
    for i in range(len(values)):
        value = float(values[i])
        if abs(value) <= largest and not (len(missing) and missing[i]):
            found[count] = value
            count += 1
    return count


@numba.njit(cache=True, nogil=True)
def count_pairs(one, other, counts):
    """Add to counts[a, b] how many records have code a in one and b in the other."""
    for i in range(len(one)):
        counts[one[i], other[i]] += 1


@numba.njit(cache=True, nogil=True)
def merged_sums(one, other):
    """Go once through two ascending arrays of n and m values, ties together, none missing.

    Returns the largest |i m - j n| after i values of one and j of the other; the sums of squares
    of ranks among all, ties sharing the average, less ranks among their own, of both; and of both
    the sums of Scholz and Stephens (1987), Equation 7, that Anderson and Darling's statistic is
    made of.
    """
    n, m = len(one), len(other)
    total = n + m
    i = j = largest = 0
    of_one = of_other = inner_one = inner_other = 0.0
    while i < n or j < m:
        value = one[i] if j == m or (i < n and one[i] <= other[j]) else other[j]
        before_i, before_j = i, j
        while i < n and one[i] == value:
            i += 1
        while j < m and other[j] == value:
            j += 1
        a, b = float(i - before_i), float(j - before_j)
        largest = max(largest, abs(i * m - j * n))
        rank = before_i + before_j + (a + b + 1) / 2
        of_one += _squares(rank - before_i, a)
        of_other += _squares(rank - before_j, b)
        below = before_i + before_j + (a + b) / 2
        scale = below * (total - below) - total * (a + b) / 4
        if scale > 0:
            weight = (a + b) / total / scale
            inner_one += weight * (total * (before_i + a / 2) - below * n) ** 2
            inner_other += weight * (total * (before_j + b / 2) - below * m) ** 2
    return largest, of_one, of_other, inner_one, inner_other


@numba.njit(cache=True, nogil=True)
def _squares(start, count):
    """Return the sum of (start - k)^2 over k = 1 to count."""
    sum_of_squares = count * (count + 1) * (2 * count + 1) / 6
    return count * start * start - start * count * (count + 1) + sum_of_squares


@numba.njit(cache=True, nogil=True)
def harmonic_sums(total):
    """Return the sums h and g of Scholz and Stephens (1987), Equation 4, of so many values."""
    tail = g = 0.0
    for i in range(total - 2, 0, -1):
        tail += 1 / (i + 1)
        g += tail / (total - i)
    return tail + 1, g
