"""Noisy counts, made such that none is negative."""

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

__all__ = ["falling_counts", "nearest_counts"]

Real = NDArray[np.float64]


def nearest_counts(counts: Real, total: float) -> Real:
    """Find the nearest counts, by least squares, that sum to a total and are nowhere negative.

    Cutting negative counts off alone would leave the noise of all others in: where most true
    counts are 0, as in the tail of a number, it would add records that nobody was.

    Parameters
    ----------
    counts : float64 array (n,)
    total : float
        At least 0.

    Returns
    -------
    float64 array (n,)
        The counts less one number, where that leaves something.

    Notes
    -----
    The projection on a simplex, O(n log n) (Held, Wolfe and Crowder 1974).

    Examples
    --------
    >>> nearest_counts(np.array([8.0, 3.0, -1.0, -2.0]), 10.0)
    array([7.5, 2.5, 0. , 0. ])
    """
    falling = np.sort(counts)[::-1]
    taken_off = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    n_left = int(np.count_nonzero(falling > taken_off)) if total > 0 else 0
    if not n_left:
        return np.zeros_like(counts)
    return np.asarray(np.maximum(counts - taken_off[n_left - 1], 0.0))


def falling_counts(counts: Real, total: float) -> Real:
    """Find counts near to noisy ones that sum to a total, are nowhere negative and never rise.

    For the last values of a number, of which all together hardly stand out of the noise: what
    there is of them is taken to lie near the rest.

    Examples
    --------
    >>> falling_counts(np.array([8.0, -3.0, 1.0, 2.0]), 8.0)
    array([8., 0., 0., 0.])
    """
    falling = scipy.optimize.isotonic_regression(counts, increasing=False).x
    return nearest_counts(falling, total)
