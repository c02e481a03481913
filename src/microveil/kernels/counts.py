"""Counts of records by the bins that they are in."""

import numba

__all__ = ["cross_counts"]


@numba.njit(cache=True, error_model="numpy", nogil=True)
def cross_counts(first, second, counts):
    """Count pairs of bins.

    Parameters
    ----------
    first, second : unsigned arrays (n_records,)
    counts : int64 array (n_first, n_second), added to
    """
    for record in range(first.shape[0]):
        counts[first[record], second[record]] += 1
