"""How far the distribution of each attribute moved: four tests of fit, and distances of quantiles.

The p-values describe, they prove nothing: they are computed as if both sets of values were drawn
independently (chi-squared: as if the original were the law), but each protected value was made from
an original one. A high p-value is no evidence that the law was kept.
"""

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used: stats takes the better part of a second

from microveil.kernels import sorted_values as kernel
from microveil.measures.base import NUMBER, RANKED, By, Measure
from microveil.measures.distributions import DISTRIBUTIONS, decile_ends
from microveil.measures.values import Floats, as_json, plain
from microveil.table.blocks import SMALLEST_VARIANCE, mean_and_variance
from microveil.table.sorting import InOrder, in_order
from microveil.table.threads import in_threads

NO_COUNTS = np.empty(0, dtype=np.int64)
# Of up to so many values there are exact p-values.
EXACT_KOLMOGOROV_SMIRNOV, EXACT_CRAMER_VON_MISES = 10_000, 20
# The usual rule for Pearson's statistic to follow its law: five values expected in a bin.
LEAST_EXPECTED = 5
# Scholz and Stephens (1987): percentage points of two samples, b0 + b1 + b2 of their Table 2.
PERCENTAGE_POINTS = {
    0.25: 0.325, 0.1: 1.226, 0.05: 1.961, 0.025: 2.718, 0.01: 3.752, 0.005: 4.592, 0.001: 6.546,
}  # fmt: skip
# Of the series of Cramer and von Mises's limiting law: beyond this it is 1 in float64, and before
# it so many terms leave out less than 1e-12. P-values below the last end are no digits of it.
LARGEST, TERMS, CRAMER_VON_MISES_FLOOR = 10.0, 20, 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class FitTest:
    """One test of fit."""

    statistic: float  # 0 or less where the two sides agree; larger is farther apart
    p_value: float  # descriptive only: the values are paired
    p_value_is: str = "computed"  # or "at most" and "at least", where tables and series end
    degrees_of_freedom: int | None = None  # bins less one; chi-squared only

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON knows it."""
        return {name: value for name, value in as_json(self).items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Distributions:
    """An attribute's values before and after protection; a test is None where it is not defined."""

    # Largest distance between the two empirical distribution functions, 0 to 1.
    kolmogorov_smirnov: FitTest | None = None
    # Sum of their squared distances, Anderson (1962), ties by midranks; 1/6 is what independent
    # samples of one law give on average.
    cramer_von_mises: FitTest | None = None
    # The same with more weight on the tails, Scholz and Stephens (1987), Equation 7, k = 2, ties by
    # midranks, less its mean and divided by its standard deviation: below 0 is closer than
    # independent samples of one law are on average.
    anderson_darling: FitTest | None = None
    chi_squared: FitTest | None = None  # Pearson's statistic on `decile_bins`
    wasserstein: float = math.nan  # as `quantile_distances` has them
    squared: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the tests as JSON knows them."""
        found = {
            "descriptive": True,
            "ks": self.kolmogorov_smirnov,
            "cvm": self.cramer_von_mises,
            "ad": self.anderson_darling,
            "chi2": self.chi_squared,
        }
        return dict(plain(found))


def compare_distributions(original: Floats, protected: Floats) -> Distributions:
    """Compare the values of an attribute before and after, in any order; NaN is missing.

    P-values of few values without ties are exact, others of limiting laws, with ties on the high
    side.
    """
    n_values = len(original) + len(protected)
    before, after = in_threads(in_order, [original, protected], n_values)
    n, m = len(before), len(after)
    if not n or not m:
        return Distributions()
    largest, squares, inner = merged_sums(before, after)
    variance, apart = mean_and_variance(original)[1], (math.nan, math.nan)
    if variance >= SMALLEST_VARIANCE:
        apart = quantile_distances(before, after, variance)
    has_variance = n + m > 3 and (largest or before.values[0] < before.values[-1])
    return Distributions(
        kolmogorov_smirnov=_kolmogorov_smirnov(before, after, largest / (n * m)),
        cramer_von_mises=_cramer_von_mises(before, after, squares) if min(n, m) > 1 else None,
        anderson_darling=_anderson_darling(n, m, inner) if has_variance else None,
        chi_squared=_chi_squared(before, after),
        wasserstein=apart[0],
        squared=apart[1],
    )


def merged_sums(before: InOrder, after: InOrder) -> tuple[int, float, float]:
    """Go once through the values of both, as the kernel of this name does."""
    one, other = (NO_COUNTS if of.counts is None else of.counts for of in (before, after))
    largest, squares, inner = kernel.merged_sums(before.values, one, after.values, other)
    return largest, squares, inner


def quantile_distances(before: InOrder, after: InOrder, variance: float) -> tuple[float, float]:
    """Return the integral of |F^-1 - G^-1| over the deviation, of its square over the variance."""
    n, m = len(before), len(after)
    widths: Any = 1 / n
    if n == m and before.counts is None and after.counts is None:
        apart = after.values - before.values
    else:
        # Probabilities in whole multiples of 1/(n m): they stay below 2^63 of three billion values.
        jumps = before.ends * m, after.ends * n
        ends = np.union1d(*jumps)
        one, other = (np.searchsorted(own, ends) for own in jumps)
        apart, widths = after.values[other] - before.values[one], np.diff(ends, prepend=0) / (n * m)
    squared = float(np.sum(apart * apart * widths)) / variance
    return float(np.sum(np.abs(apart) * widths)) / math.sqrt(variance), squared


def decile_bins(original: InOrder, n_protected: int) -> tuple[Floats, Floats]:
    """Divide at the original's deciles, merging upwards until five are expected: ends, expected."""
    n_records, ends = len(original), decile_ends(original)
    up_to = np.append(original.up_to(ends), n_records)
    kept, start = [], 0
    for end in up_to:
        if (end - start) * n_protected >= LEAST_EXPECTED * n_records:
            kept.append(end)
            start = end
    # The top of the last full bin is open, and what no bin was filled with belongs to it.
    inner = np.isin(up_to[:-1], kept[:-1])
    counts = np.diff(up_to[:-1][inner], prepend=0, append=n_records)
    return ends[inner], counts * n_protected / n_records


def _kolmogorov_smirnov(before: InOrder, after: InOrder, distance: float) -> FitTest:
    n, m = len(before), len(after)
    if max(n, m) > EXACT_KOLMOGOROV_SMIRNOV:
        p_value = scipy.stats.kstwo.sf(distance, round(n * m / (n + m)))
    else:
        with warnings.catch_warnings():
            # That an exact p-value could not be had and the limiting law stands in.
            warnings.simplefilter("ignore")
            p_value = scipy.stats.ks_2samp(before.spread().values, after.spread().values).pvalue
    return FitTest(statistic=distance, p_value=float(p_value))


def _cramer_von_mises(before: InOrder, after: InOrder, squares: float) -> FitTest:
    """Return Anderson's (1962) test of two samples."""
    n, m = len(before), len(after)
    product, total = n * m, n + m
    statistic = squares / (product * total) - (4 * product - 1) / (6 * total)
    # Two terms of the size of n cancel in the statistic: agreement can come out below 0.
    shown = max(0.0, statistic)
    if max(n, m) <= EXACT_CRAMER_VON_MISES:
        sides = before.spread().values, after.spread().values
        p_value = float(scipy.stats.cramervonmises_2samp(*sides).pvalue)
        return FitTest(statistic=shown, p_value=p_value)
    mean = (1 + 1 / total) / 6
    variance = (total + 1) * (4 * product * total - 3 * (n * n + m * m) - 2 * product)
    # By the mean and variance of the limiting law, 1/6 and 1/45.
    standard = 1 / 6 + (statistic - mean) / math.sqrt(variance / (total**2 * 4 * product))
    p_value = 1.0 if standard < 0.003 else 1 - _limiting_law(standard)
    if p_value < CRAMER_VON_MISES_FLOOR:
        return FitTest(statistic=shown, p_value=CRAMER_VON_MISES_FLOOR, p_value_is="at most")
    return FitTest(statistic=shown, p_value=p_value)


def _limiting_law(x: float) -> float:
    """Return the limiting distribution function (Anderson and Darling 1952)."""
    if x > LARGEST:
        return 1.0
    k = np.arange(TERMS)
    squares = (4 * k + 1) ** 2 / (16 * x)
    coefficients = np.exp(scipy.special.gammaln(k + 0.5) - scipy.special.gammaln(k + 1))
    # kve is kv without its factor exp(-squares).
    terms = np.sqrt(4 * k + 1) * np.exp(-2 * squares) * scipy.special.kve(0.25, squares)
    return float(np.sum(coefficients * terms) / (math.pi**1.5 * math.sqrt(x)))


def _anderson_darling(n: int, m: int, inner: float) -> FitTest:
    """Return Scholz and Stephens's (1987) test, with the p-value interpolated in their table."""
    total = n + m
    h, g = _harmonic_sums(total)
    reciprocals = 1 / n + 1 / m
    # Their Equation 4, of two samples.
    a = (4 * g - 6) + (10 - 6 * g) * reciprocals
    b = 4 * (2 * g - 4) + 8 * h + (2 * g - 14 * h - 4) * reciprocals + 4 * g - 6
    c = 4 * (6 * h + 2 * g - 2) + 2 * (4 * h - 4 * g + 6) + (2 * h - 6) * reciprocals + 4 * h
    d = 4 * (2 * h + 6) - 8 * h
    variance = a * total**3 + b * total**2 + c * total + d
    variance /= (total - 1) * (total - 2) * (total - 3)
    statistic = (inner * (total - 1) / total - 1) / math.sqrt(variance)
    if statistic <= PERCENTAGE_POINTS[0.25]:
        return FitTest(statistic=statistic, p_value=0.25, p_value_is="at least")
    if statistic >= PERCENTAGE_POINTS[0.001]:
        return FitTest(statistic=statistic, p_value=0.001, p_value_is="at most")
    fitted = np.polyfit([*PERCENTAGE_POINTS.values()], np.log([*PERCENTAGE_POINTS]), 2)
    return FitTest(statistic=statistic, p_value=math.exp(np.polyval(fitted, statistic)))


@lru_cache(maxsize=32)
def _harmonic_sums(total: int) -> tuple[float, float]:
    """Return the sums h and g of Scholz and Stephens (1987), Equation 4: several attributes ask."""
    tails = np.arange(total - 1.0, 1.0, -1.0)
    np.cumsum(np.reciprocal(tails, out=tails), out=tails)
    h = float(tails[-1]) + 1
    tails /= np.arange(2.0, total)
    return h, float(tails.sum())


def _chi_squared(before: InOrder, after: InOrder) -> FitTest | None:
    upper, expected = decile_bins(before, len(after))
    if not len(upper):
        return None
    observed = np.diff(after.up_to(upper), prepend=0, append=len(after))
    statistic = float(np.sum((observed - expected) ** 2 / expected))
    p_value = float(scipy.special.chdtrc(len(upper), statistic))
    return FitTest(statistic=statistic, p_value=p_value, degrees_of_freedom=len(upper))


def _statistic(test: str, found: Distributions) -> float:
    measured: FitTest | None = getattr(found, test)
    return math.nan if measured is None else measured.statistic


def _sorted_error(found: Mapping[str, Distributions]) -> float:
    errors = [one.squared for one in found.values() if not math.isnan(one.squared)]
    return float(np.mean(errors)) if errors else math.nan


_measure = partial(
    Measure, function=compare_distributions, needs_pairs=False, by=By.ATTRIBUTE, group=DISTRIBUTIONS
)
_test = partial(_measure, takes=RANKED)
_further = partial(_test, tabulated=False, entry="goodness_of_fit")

# By which the worst attribute is known.
DISTANCE = _test(
    id="kolmogorov_smirnov",
    label="largest distance of the distribution functions",
    short="KS",
    explanation="0 = alike, 1 = apart",
    highest=1.0,
    figure=partial(_statistic, "kolmogorov_smirnov"),
)
# By which releases with pairs and without compare.
SORTED_ERROR = _measure(
    id="sorted_error",
    label="sorted-column error",
    scale="per variance, mean over attributes of numbers",
    explanation="0 = alike",
    takes=NUMBER,
    by=By.TABLE,
    figure=_sorted_error,
)

MEASURES = (
    _further(
        id="cramer_von_mises",
        label="Cramér-von Mises statistic",
        short="CvM",
        explanation="0 = alike, 1/6 = as independent samples of one law",
        figure=partial(_statistic, "cramer_von_mises"),
    ),
    _further(
        id="anderson_darling",
        label="Anderson-Darling statistic",
        short="AD",
        explanation="0 = as independent samples of one law, lower is closer",
        lowest=-math.inf,
        figure=partial(_statistic, "anderson_darling"),
    ),
    _further(
        id="chi_squared",
        label="chi-squared on the original's deciles",
        short="chi2",
        explanation="0 = alike",
        figure=partial(_statistic, "chi_squared"),
    ),
    DISTANCE,
    _measure(
        id="wasserstein",
        label="Wasserstein distance over the standard deviation",
        short="Wasserstein",
        explanation="0 = alike",
        takes=NUMBER,
        figure=lambda found: found.wasserstein,
    ),
    SORTED_ERROR,
)
