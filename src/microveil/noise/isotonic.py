"""Isotonic regression of noisy centroids, whose true order is known."""

import itertools

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

__all__ = ["in_order"]


def in_order(means: NDArray[np.float64], scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace noisy centroids by the nearest non-decreasing sequence.

    The true centroids of a ranked partition do not fall, so the noisy ones may be moved to
    the nearest sequence that does not, with weights 1/scale**2 (Hay, Rastogi, Miklau and
    Suciu 2010). Post-processing: it costs no privacy at cluster and vector scope.

    A centroid whose noise has a scale of 0 stays as it is; each stretch between such centroids is
    fitted alone and clipped to them.

    >>> in_order(np.array([1.0, 3.0, 2.0, 9.0]), np.ones(4))
    array([1. , 2.5, 2.5, 9. ])
    """
    fitted = means.copy()
    fixed = np.flatnonzero(scales == 0)
    ends = np.concatenate([[-1], fixed, [len(means)]])
    for before, after in itertools.pairwise(ends):
        stretch = slice(before + 1, after)
        if after - before <= 1:
            continue
        weights = (scales[stretch].min() / scales[stretch]) ** 2
        fit = scipy.optimize.isotonic_regression(means[stretch], weights=weights).x
        lowest = means[before] if before >= 0 else -np.inf
        highest = means[after] if after < len(means) else np.inf
        fitted[stretch] = np.clip(fit, lowest, highest)
    return fitted
