"""Noisy counts brought to what counts can be: none negative, of a known sum, or falling."""

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

Real = NDArray[np.float64]
# Records that a bin is taken to have at least: no distribution has a mass of 0 or less.
LEAST = 0.5


def positive_shares(total: Real, weight: Real) -> Real:
    """Shrink counts, sums of measurements over their weights, towards 0, and make them shares."""
    # James and Stein's rule for one number: of a count that is noise nearly nothing is left.
    noise = np.sqrt(weight) / np.maximum(total, np.sqrt(weight))
    counts = np.maximum(total / weight * (1 - noise**2), LEAST)
    return np.asarray(counts / counts.sum())


def nearest_counts(counts: Real, total: float) -> Real:
    """Find the nearest counts, by least squares, that sum to a total and are nowhere negative.

    Cutting negative counts off alone would leave the noise of all others in: where most true
    counts are 0, as in the tail of a number, it would add records that nobody was. The projection
    on a simplex, O(n log n) (Held, Wolfe and Crowder 1974).
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
    """
    falling = scipy.optimize.isotonic_regression(counts, increasing=False).x
    return nearest_counts(falling, total)
