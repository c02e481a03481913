"""From floating-point values to whole grid units."""

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
