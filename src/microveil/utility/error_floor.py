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

__all__ = ["SensitivityRule", "error_floor"]

# Rounding of sums in float64, many times over.
ROUNDING = 1e-8
# How finely scales are rounded up, relatively, but where sums would not fit 64 bits; how many
# bits are kept for these; and times the share of that by which an error may fall: see
# `error_floor`.
FINE, SUMS, FALL = 2.0**-20, 2.0**-59, 16.0


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
