"""From floating-point values to whole grid units, and noisy sums to means on the grid."""

import numba
import numpy as np

# Whole numbers of this size and more leave no room for sums.
HUGE = 4611686018427387904.0  # 2**62


@numba.njit(cache=True, nogil=True, error_model="numpy")
def to_grid(values, numerator, denominator, grid):
    """Round ``values * denominator / numerator`` to whole numbers, record by record.

    Returns the count of values that are not a number, infinite, and too large; each is
    written as 0.
    """
    n_missing = 0
    n_infinite = 0
    n_huge = 0
    for record in range(values.shape[0]):
        scaled = values[record] * denominator / numerator
        if abs(scaled) < HUGE:
            grid[record] = np.int64(np.rint(scaled))
            continue
        grid[record] = 0
        if np.isnan(values[record]):
            n_missing += 1
        elif np.isinf(values[record]):
            n_infinite += 1
        else:
            n_huge += 1
    return n_missing, n_infinite, n_huge


@numba.njit(cache=True, nogil=True, error_model="numpy")
def noisy_means(sums, sizes, noise, bits, lower, upper, whole, fraction):
    """Divide (sum * 2**bits + noise) by (size * 2**bits) into whole and fraction, clamped.

    The sum enters by its quotient and remainder, so that nothing overflows; the result is
    the floor and the rest of the noisy sum alone, whatever quotient it came from.
    """
    for cluster in range(sums.shape[0]):
        size = sizes[cluster]
        quotient = sums[cluster] // size
        divisor = size << bits
        total = ((sums[cluster] - quotient * size) << bits) + noise[cluster]
        carry = total // divisor
        mean = quotient + carry
        if mean >= upper:
            whole[cluster] = upper
            fraction[cluster] = 0.0
        elif mean < lower:
            whole[cluster] = lower
            fraction[cluster] = 0.0
        else:
            whole[cluster] = mean
            fraction[cluster] = (total - carry * divisor) / divisor
