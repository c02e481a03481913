"""Distributions of an attribute of many values, put in order once for all that is asked of them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.table.blocks import SMALLEST_VARIANCE
from microveil.table.sorting import Counted, in_order
from microveil.table.threads import in_threads
from microveil.utility.goodness_of_fit import GoodnessOfFit, decile_ends, fit_of_many
from microveil.utility.quantile_distances import distances_in_order

__all__ = ["Distributions", "compare_in_order"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distributions:
    """How the values of an attribute are distributed before and after.

    Attributes
    ----------
    fit : GoodnessOfFit or None
        None where a side has too few values for `fit_of_many`.
    distances : (float, float)
        Those of `QuantileDistances`.
    ends : ndarray of float64
        The original's deciles, see `decile_ends`.
    """

    fit: GoodnessOfFit | None
    distances: tuple[float, float]
    ends: NDArray[np.float64]


def compare_in_order(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    variance: float,
    few: Sequence[Counted | None] = (None, None),
) -> Distributions:
    """Compare the values of an attribute, whichever record they belong to.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records,)
        Not necessarily as many; NaN is missing.
    variance : float
        Of the original.
    few : pair of Counted or None
        What `counted` says of either side, where that is known.

    Returns
    -------
    Distributions

    Notes
    -----
    O(n) time; memory of both sides again, of few different numbers none.

    Examples
    --------
    >>> found = compare_in_order(np.array([1.0, 3.0]), np.array([2.0, 6.0]), 2.0)
    >>> found.distances[1], found.ends
    (2.5, array([1., 3.]))
    """
    sides = list(zip((original, protected), few, strict=True))
    before, after = in_threads(lambda side: in_order(*side), sides)
    varies = variance >= SMALLEST_VARIANCE
    return Distributions(
        fit=fit_of_many(before, after),
        distances=distances_in_order(before, after, variance) if varies else (np.nan, np.nan),
        ends=decile_ends(before),
    )
