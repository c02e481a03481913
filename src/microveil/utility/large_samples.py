"""Three tests of fit of many values by their limiting laws, in one pass over both in order.

The same statistics as `scipy.stats` has, which sorts all values anew for each and holds several
arrays as long as both sides together.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy  # which loads its parts when they are used: stats takes the better part of a second

from microveil.kernels import distributions
from microveil.table.sorting import InOrder

__all__ = ["LargeSampleTests", "large_sample_tests"]

# Scholz and Stephens (1987): percentage points of two samples, b0 + b1 + b2 of their Table 2.
PERCENTAGE_POINTS = {
    0.25: 0.325, 0.1: 1.226, 0.05: 1.961, 0.025: 2.718, 0.01: 3.752, 0.005: 4.592, 0.001: 6.546,
}  # fmt: skip
# Of the series of Cramer and von Mises's limiting law: beyond this it is 1 in float64, and before
# it so many terms leave out less than 1e-12.
LARGEST, TERMS = 10.0, 20


@dataclass(frozen=True, slots=True, kw_only=True)
class LargeSampleTests:
    """Statistic and p-value of each test, as if both sides were independent samples.

    Attributes
    ----------
    kolmogorov_smirnov, cramer_von_mises, anderson_darling : (float, float)
        The last p-value is interpolated between 0.001 and 0.25, and not to be read beyond.
    """

    kolmogorov_smirnov: tuple[float, float]
    cramer_von_mises: tuple[float, float]
    anderson_darling: tuple[float, float]


def large_sample_tests(before: InOrder, after: InOrder) -> LargeSampleTests:
    """Test whether many values follow the law of many others.

    Parameters
    ----------
    before, after : InOrder
        Thousands of each, not all equal.

    Returns
    -------
    LargeSampleTests

    Notes
    -----
    O(n) time, no memory beyond the values; of values that were counted as long as there are
    different ones.

    Examples
    --------
    >>> values = np.arange(20_000.0)
    >>> found = large_sample_tests(InOrder(values=values), InOrder(values=values + 0.5))
    >>> found.kolmogorov_smirnov
    (5e-05, 1.0)
    """
    n, m = len(before), len(after)
    largest, of_one, of_other, inner_one, inner_other = _merged_sums(before, after)
    distance = largest / (n * m)
    return LargeSampleTests(
        kolmogorov_smirnov=(
            distance,
            float(scipy.stats.kstwo.sf(distance, round(n * m / (n + m)))),
        ),
        cramer_von_mises=_cramer_von_mises(n, m, n * of_one + m * of_other),
        anderson_darling=_anderson_darling(n, m, inner_one / n + inner_other / m),
    )


def _merged_sums(before: InOrder, after: InOrder) -> tuple[int, float, float, float, float]:
    """Go once through the values of both, or through the different ones."""
    found: tuple[int, float, float, float, float]
    if before.counts is None or after.counts is None:
        found = distributions.merged_sums(before.spread().values, after.spread().values)
    else:
        found = distributions.merged_sums_of_counts(
            before.values, before.counts, after.values, after.counts
        )
    return found


@lru_cache(maxsize=32)
def _harmonic_sums(total: int) -> tuple[float, float]:
    """Return sums over as many numbers as there are values: attributes often have as many."""
    found: tuple[float, float] = distributions.harmonic_sums(total)
    return found


def _cramer_von_mises(n: int, m: int, squares: float) -> tuple[float, float]:
    """Return Anderson's (1962) statistic of two samples, and its p-value."""
    product, total = n * m, n + m
    statistic = squares / (product * total) - (4 * product - 1) / (6 * total)
    mean = (1 + 1 / total) / 6
    variance: float = (total + 1) * (4 * product * total - 3 * (n * n + m * m) - 2 * product)
    variance /= 45 * total**2 * 4 * product
    # By the mean and variance of the limiting law, 1/6 and 1/45.
    standard = 1 / 6 + (statistic - mean) / math.sqrt(45 * variance)
    if standard > LARGEST:
        return statistic, 0.0
    return statistic, 1.0 if standard < 0.003 else max(0.0, 1 - _limiting_law(standard))


def _limiting_law(x: float) -> float:
    """Return the limiting distribution function (Anderson and Darling 1952)."""
    k = np.arange(TERMS)
    squares = (4 * k + 1) ** 2 / (16 * x)
    coefficients = np.exp(scipy.special.gammaln(k + 0.5) - scipy.special.gammaln(k + 1))
    # kve is kv without its factor exp(-squares).
    terms = np.sqrt(4 * k + 1) * np.exp(-2 * squares) * scipy.special.kve(0.25, squares)
    return float(np.sum(coefficients * terms) / (math.pi**1.5 * math.sqrt(x)))


def _anderson_darling(n: int, m: int, sums: float) -> tuple[float, float]:
    """Return Scholz and Stephens's (1987) standardised statistic of midranks, and its p-value."""
    total = n + m
    statistic = sums * (total - 1) / total
    harmonic, g = _harmonic_sums(total)
    reciprocals = 1 / n + 1 / m
    # Their Equation 4, of two samples.
    a = (4 * g - 6) + (10 - 6 * g) * reciprocals
    b = 4 * (2 * g - 4) + 8 * harmonic + (2 * g - 14 * harmonic - 4) * reciprocals + 4 * g - 6
    c = 4 * (6 * harmonic + 2 * g - 2) + 2 * (4 * harmonic - 4 * g + 6)
    c += (2 * harmonic - 6) * reciprocals + 4 * harmonic
    d = 4 * (2 * harmonic + 6) - 8 * harmonic
    variance = a * total**3 + b * total**2 + c * total + d
    variance /= (total - 1) * (total - 2) * (total - 3)
    standard = (statistic - 1) / math.sqrt(variance)
    fitted = np.polyfit([*PERCENTAGE_POINTS.values()], np.log([*PERCENTAGE_POINTS]), 2)
    within = min(max(standard, PERCENTAGE_POINTS[0.25]), PERCENTAGE_POINTS[0.001])
    p_value = math.exp(np.polyval(fitted, within))
    if within != standard:
        p_value = 0.25 if standard < within else 0.001
    return standard, p_value
