"""A lower bound of the error to expect of clusters, found without planning them.

Advice weighs hundreds of requests to recommend one. What cannot be the best need not be planned:
its error is bounded from below, by the formula that a plan's is found by (`expected_error`), and
the sum is given up as soon as it is beyond what others have.
"""

import math
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import error_floor as kernel

__all__ = [
    "SensitivityRule",
    "error_floor",
    "error_floor_of_any_runs",
    "error_floor_of_ends",
    "vector_loss",
]

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
    return _error_floor(values, len(values), k, rule, domain, share, limit)


def error_floor_of_ends(
    nearest: NDArray[np.int64],
    farthest: NDArray[np.int64],
    n_records: int,
    k: int,
    rule: SensitivityRule,
    domain: tuple[int, int] | None,
    share: float,
    limit: float,
    *,
    loss: float = 0.0,
) -> float:
    """Return a lower bound as `error_floor` does, from the first and the last values alone.

    Parameters
    ----------
    nearest, farthest : int64 array
        The first and the last values in the order of the clusters, at most a quarter of all each.
    n_records : int
        How many there are in all.
    k, rule, domain, share, limit
        As for `error_floor`.
    loss : float
        By the rule VECTOR the kernel's `vector_loss` of all runs: no part of them tells it.

    Returns
    -------
    float
        In squared grid units.

    Notes
    -----
    Runs are of k from either end as far as the middle one. Those that an end holds whole err by
    what they err in all. What is left of an end is less than k, and so in one run: its squared
    distances are above those of that part to its own mean, and of a run that both ends hold in
    part, above the sum of these two.

    Examples
    --------
    >>> ends = np.array([0, 4]), np.array([90, 96])
    >>> none = SensitivityRule.NONE
    >>> round(error_floor_of_ends(*ends, 8, 2, none, (0, 99), 1.0, np.inf), 3)
    26.0
    >>> round(error_floor_of_ends(*ends, 8, 8, none, (0, 99), 1.0, np.inf), 3)
    26.0
    """
    total = 0.0
    for values, is_last in ((farthest, True), (nearest, False)):
        # A quarter of all does not reach the middle run: from its end on these are runs of k.
        whole, n = len(values) // k * k, len(values)
        outer = values[n - whole :] if is_last else values[:whole]
        inner = values[: n - whole] if is_last else values[whole:]
        if len(outer):
            total += _error_floor(outer, n_records, k, rule, domain, share, limit - total, loss)
        if len(inner) > 1 and total <= limit:
            nothing = SensitivityRule.NONE
            total += _error_floor(inner, n_records, len(inner), nothing, None, share, limit)
        if total > limit:
            break
    return total


def vector_loss(values: NDArray[np.int64], k: int) -> float:
    """Return what all runs of k of ascending values have in common by the rule VECTOR.

    Their scales are a multiple of it, see `mechanism.shifts.least_vector_scales`. O(n_records / k).

    >>> vector_loss(np.array([1, 2, 3]), 3) > 0
    True
    """
    return float(kernel.vector_loss(values, k))


def _error_floor(
    values: NDArray[np.int64],
    n_records: int,
    k: int,
    rule: SensitivityRule,
    domain: tuple[int, int] | None,
    share: float,
    limit: float,
    loss: float = 0.0,
) -> float:
    """Bound the error of runs, which may be some of those of so many records."""
    if domain is None:
        rule, domain = SensitivityRule.NONE, (0, 0)
    width, largest = float(domain[1] - domain[0]), 2.0 * k
    coarse = max(FINE, SUMS * width * max(share * largest, 24.0 * _room(n_records, k, rule)))
    margin = max(0.0, 1 - ROUNDING - FALL * coarse)
    if margin == 0:
        return 0.0
    found = kernel.error_floor(
        values,
        k,
        int(rule),
        *domain,
        1 / share if share > 0 else 0.0,
        limit / margin,
        loss,
    )
    return margin * found if math.isfinite(found) else 0.0


def _room(n_records: int, k: int, rule: SensitivityRule) -> int:
    """Return the order of how many times its sensitivity over the share a scale can be.

    Where each cluster's noise follows from its own sensitivity it is 1; where scales share out
    an epsilon over the clusters, their number at most, but for a factor that stands before it.
    """
    apart = rule in (SensitivityRule.NONE, SensitivityRule.GLOBAL, SensitivityRule.CLUSTER_LOCAL)
    return 1 if apart else max(1, n_records // k)


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
    firsts = (values[starts] - domain[0]).astype(np.float64)
    lasts = (values[starts + counts - 1] - domain[0]).astype(np.float64)
    sums, squares = np.empty(len(starts)), np.empty(len(starts))
    kernel.sum_groups(values, counts, domain[0], float(np.mean(values) - domain[0]), sums, squares)
    found: float = kernel.any_runs(
        firsts,
        lasts,
        counts,
        sums,
        squares,
        k,
        0.0,
        float(domain[1] - domain[0]),
        1 / share,
    )
    return max(0.0, (1 - ROUNDING) * found - ROUNDING * float(squares.sum()))
