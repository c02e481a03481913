"""Two distributions merged in one pass, for three tests of fit."""

import numba


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
