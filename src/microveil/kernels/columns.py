"""Sums over columns, in one pass and without arrays beside them; NaN where a cell is missing.

Sums are of runs of records first, then of the runs' sums: what rounding leaves is of the size that
pairwise summation leaves.
"""

import numba
import numpy as np

RUN = 256


@numba.njit(cache=True, nogil=True, error_model="numpy")
def sums(values):
    """Return how many values there are, their sum, the lowest and the highest."""
    n, total = 0, 0.0
    lowest, highest = np.inf, -np.inf
    for start in range(0, values.shape[0], RUN):
        of_run = 0.0
        for i in range(start, min(start + RUN, values.shape[0])):
            value = values[i]
            if not np.isnan(value):
                n += 1
                of_run += value
                lowest = min(lowest, value)
                highest = max(highest, value)
        total += of_run
    return n, total, lowest, highest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def squares(values, mean):
    """Return the sum of the squared deviations from a mean."""
    total = 0.0
    for start in range(0, values.shape[0], RUN):
        of_run = 0.0
        for i in range(start, min(start + RUN, values.shape[0])):
            deviation = values[i] - mean
            if not np.isnan(deviation):
                of_run += deviation * deviation
        total += of_run
    return total
