"""Distributions counted in one pass: of one attribute in order, of two attributes as codes."""

import numba

from microveil.kernels.columns import RUN


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
def all_usable(values, largest):
    """Whether all values are numbers of no more than ``largest`` either way."""
    count = 0
    for i in range(len(values)):
        count += abs(values[i]) <= largest
    return count == len(values)


@numba.njit(cache=True, nogil=True)
def levels(values, ends, found):
    """Write how many of a few ends each value is above; one more than all of them for NaN."""
    for i in range(len(values)):
        value = values[i]
        level = 0
        for end in range(len(ends)):
            level += value > ends[end]
        found[i] = level if value == value else len(ends) + 1  # noqa: PLR0124 -- NaN is not


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
    i = j = largest = 0
    of_one = of_other = inner_one = inner_other = 0.0
    while i < n or j < m:
        value = one[i] if j == m or (i < n and one[i] <= other[j]) else other[j]
        before_i, before_j = i, j
        while i < n and one[i] == value:
            i += 1
        while j < m and other[j] == value:
            j += 1
        largest = max(largest, abs(i * m - j * n))
        terms = _terms(before_i, before_j, i - before_i, j - before_j, n, m)
        of_one += terms[0]
        of_other += terms[1]
        inner_one += terms[2]
        inner_other += terms[3]
    return largest, of_one, of_other, inner_one, inner_other


@numba.njit(cache=True, nogil=True)
def merged_sums_of_counts(one, one_counts, other, other_counts):
    """As `merged_sums`, of different ascending values and how often each occurs."""
    n, m = one_counts.sum(), other_counts.sum()
    p = q = i = j = largest = 0
    of_one = of_other = inner_one = inner_other = 0.0
    while p < len(one) or q < len(other):
        is_of_one = q == len(other) or (p < len(one) and one[p] <= other[q])
        value = one[p] if is_of_one else other[q]
        a = b = 0
        if p < len(one) and one[p] == value:
            a = one_counts[p]
            p += 1
        if q < len(other) and other[q] == value:
            b = other_counts[q]
            q += 1
        largest = max(largest, abs((i + a) * m - (j + b) * n))
        terms = _terms(i, j, a, b, n, m)
        of_one += terms[0]
        of_other += terms[1]
        inner_one += terms[2]
        inner_other += terms[3]
        i += a
        j += b
    return largest, of_one, of_other, inner_one, inner_other


@numba.njit(cache=True, nogil=True)
def _terms(before_i, before_j, n_one, n_other, n, m):
    """Return what a value adds to the sums that so many have, after so many lower ones."""
    total = n + m
    a, b = float(n_one), float(n_other)
    rank = before_i + before_j + (a + b + 1) / 2
    inner_one = inner_other = 0.0
    below = before_i + before_j + (a + b) / 2
    scale = below * (total - below) - total * (a + b) / 4
    if scale > 0:
        weight = (a + b) / total / scale
        inner_one = weight * (total * (before_i + a / 2) - below * n) ** 2
        inner_other = weight * (total * (before_j + b / 2) - below * m) ** 2
    return _squares(rank - before_i, a), _squares(rank - before_j, b), inner_one, inner_other


@numba.njit(cache=True, nogil=True)
def sums_apart(one, other):
    """Return the sums of the differences' sizes and squares, of as many values on both sides.

    Sums are of runs first, see `columns`.
    """
    absolute = squared = 0.0
    for start in range(0, len(one), RUN):
        absolute_of_run = squared_of_run = 0.0
        for i in range(start, min(start + RUN, len(one))):
            apart = other[i] - one[i]
            absolute_of_run += abs(apart)
            squared_of_run += apart * apart
        absolute += absolute_of_run
        squared += squared_of_run
    return absolute, squared


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
