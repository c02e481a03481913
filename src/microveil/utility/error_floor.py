"""A lower bound of the error to expect of clusters, found without planning them.

Advice weighs hundreds of requests to recommend one. What cannot be the best need not be planned:
its error is bounded from below, by the formula that a plan's is found by (`expected_error`), and
the sum is given up as soon as it is beyond what others have.
"""

import math
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import error_floor as kernel

__all__ = ["SensitivityRule", "error_floor", "error_floor_of_any_runs"]

# Rounding of sums in float64, many times over.
ROUNDING = 1e-8
# How finely scales are rounded up, relatively, but where sums would not fit 64 bits; how many
# bits are kept for these; and times the share of that by which an error may fall: see
# `error_floor`.
FINE, SUMS, FALL = 2.0**-20, 2.0**-59, 16.0
# Groups of values that a run holds whole or not: half of them alike many, half alike wide.
GROUPS = 256


class SensitivityRule(IntEnum):
    """By which rule the noise on a cluster's sum is scaled; of none there is no noise."""

    NONE = kernel.NONE
    GLOBAL = kernel.GLOBAL
    LOCAL = kernel.LOCAL
    CLUSTER_LOCAL = kernel.CLUSTER_LOCAL
    VECTOR = kernel.VECTOR


def error_floor(
    values: NDArray[np.int64],
    k: int,
    rule: SensitivityRule,
    domain: tuple[int, int] | None,
    share: float,
    limit: float,
) -> float:
    """Return a lower bound of the expected squared error of noisy centroids of runs.

    Parameters
    ----------
    values : int64 array (n_records,)
        In the order of their clusters, which are runs of k, the middle one with the remainder;
        ascending where the rule is CLUSTER_LOCAL or VECTOR.
    k : int
        From 1 to n_records; 3 or more for these rules.
    rule : SensitivityRule
        For CLUSTER_LOCAL and VECTOR of winsorised means.
    domain : (int, int) or None
        In grid units. Without one the noise is left out.
    share : float
        Above 0.
    limit : float
        Beyond it the bound need not be any closer.

    Returns
    -------
    float
        In squared grid units. At most the limit: never above the expected error. Beyond it:
        that error is beyond the limit too.

    Notes
    -----
    Scales are rounded up to the noise grid, relatively by no more than the margin below; the
    error of a mean grows with its scale, that of a winsorised mean can fall by a few times that
    part of itself, where clamping on one side brings it nearer to the mean.
    O(n_records), and some 50 ns a cluster.

    Examples
    --------
    >>> values = np.array([1, 2, 3, 7, 8, 9])
    >>> round(error_floor(values, 3, SensitivityRule.NONE, (0, 10), 1.0, np.inf), 3)
    4.0
    >>> error_floor(values, 3, SensitivityRule.GLOBAL, (0, 10), 1.0, np.inf) > 40
    True
    """
    if domain is None:
        rule, domain = SensitivityRule.NONE, (0, 0)
    width, largest = float(domain[1] - domain[0]), 2.0 * k
    coarse = max(FINE, SUMS * width * max(share * largest, 24.0 * len(values)))
    margin = max(0.0, 1 - ROUNDING - FALL * coarse)
    if margin == 0:
        return 0.0
    found = kernel.error_floor(
        values, k, int(rule), *domain, 1 / share if share > 0 else 0.0, limit / margin
    )
    return margin * found if math.isfinite(found) else 0.0


def error_floor_of_any_runs(
    values: NDArray[np.int64], k: int, domain: tuple[int, int], share: float
) -> float:
    """Return a lower bound of the expected squared error of noisy centroids of any runs.

    Parameters
    ----------
    values : int64 array (n_records,)
        Ascending.
    k : int
        Runs have so many values or more, from 1 to n_records.
    domain : (int, int)
        In grid units; the noise is scaled by the global sensitivity.
    share : float
        Above 0.

    Returns
    -------
    float
        In squared grid units: never above the expected error of a partition into runs, whatever
        it is chosen by.

    Notes
    -----
    Where the best runs hold many groups of values it is 0.7 of their error, and next to nothing
    where they hold less than one. O(n_records), and some milliseconds for the groups.

    Examples
    --------
    >>> values = np.arange(2000)
    >>> 0.5 < error_floor_of_any_runs(values, 2000, (0, 1999), 1.0) / (2000**3 / 12) < 1.0001
    True
    """
    n = len(values)
    by_rank = np.arange(0, n, max(1, 2 * n // GROUPS))
    by_value = np.searchsorted(values, np.linspace(values[0], values[-1], GROUPS // 2))
    starts = np.unique(np.concatenate([by_rank, by_value[by_value < n]]))
    counts = np.diff(starts, append=n)
    distances = (values - domain[0]).astype(np.float64)
    ends = distances[starts], distances[starts + counts - 1]
    distances -= distances.mean()
    squares = np.add.reduceat(distances**2, starts)
    found: float = kernel.any_runs(
        *ends,
        counts,
        np.add.reduceat(distances, starts),
        squares,
        k,
        0.0,
        float(domain[1] - domain[0]),
        1 / share,
    )
    return max(0.0, (1 - ROUNDING) * found - ROUNDING * float(squares.sum()))
