"""Counts of numbers that are multiples of a step, where few of them can occur."""

import math

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count(values, per_unit, lowest, counts):
    """Count how often each multiple of ``1 / per_unit`` occurs, from ``lowest`` multiples on.

    Say whether all values are among them, to the last bit; where one is not, what was counted is
    of no use. What is no number is left out.
    """
    for i in range(values.shape[0]):
        if np.isnan(values[i]):
            continue
        multiple = np.rint(values[i] * per_unit)
        place = np.int64(multiple) - lowest
        if multiple / per_unit != values[i] or place < 0 or place >= counts.shape[0]:
            return False
        if multiple == 0.0 and math.copysign(1.0, values[i]) < 0.0:
            return False
        counts[place] += 1
    return True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def look_up(values, per_unit, lowest, table, missing, found):
    """Write for each value what a table has at its multiple's place; ``missing`` of no number."""
    for i in range(values.shape[0]):
        if np.isnan(values[i]):
            found[i] = missing
        else:
            found[i] = table[np.int64(np.rint(values[i] * per_unit)) - lowest]
