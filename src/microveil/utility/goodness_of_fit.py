"""Goodness of fit: how well a protected attribute still follows the law of its original.

Four tests of the values before against the values after, whichever record they belong to:
Kolmogorov-Smirnov, Cramer-von Mises, Anderson-Darling, and chi-squared on the deciles of
the original.

The p-values describe, they prove nothing. Every one is computed as if the two sets of
values were drawn independently (chi-squared: as if the original were the law itself), but
each protected value was made from an original one: the two are paired, and far more alike
than independent samples would be. A high p-value is therefore no evidence that the law was
kept. Compare releases by the statistics.

Missing values (NaN) are left out of either side. A test that is not defined is None: too
few values, one single value throughout, or fewer than two bins.
"""

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used: stats takes the better part of a second
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError
from microveil.table.blocks import LARGEST_VALUE
from microveil.table.sorting import InOrder, in_order
from microveil.table.threads import in_threads
from microveil.utility.large_samples import large_sample_tests

__all__ = [
    "DecileBins",
    "FitTest",
    "GoodnessOfFit",
    "decile_bins",
    "decile_ends",
    "fit_of_many",
    "goodness_of_fit",
]

# Of more values than this the tests are taken in one pass over both in order.
MANY = 50_000
# The usual rule for Pearson's statistic to follow its law: five values expected in a bin.
LEAST_EXPECTED = 5
# Scholz and Stephens (1987), Table 2, ends at these p-values.
ANDERSON_DARLING_RANGE = 0.001, 0.25
# The series that gives Cramer-von Mises p-values is cut off where its terms are below 1e-7.
CRAMER_VON_MISES_FLOOR = 1e-6


@dataclass(frozen=True, slots=True, kw_only=True)
class FitTest:
    """One test of fit.

    Parameters
    ----------
    statistic : float
        0 or less where the two sides agree; larger is farther apart.
    p_value : float
        Descriptive only: the values are paired.
    p_value_is : {"computed", "at most", "at least"}
        Whether the p-value stands for itself, or for all below or above it, where the
        tables and series that it is computed from end.
    degrees_of_freedom : int or None
        Bins less one; chi-squared only.
    """

    statistic: float
    p_value: float
    p_value_is: str = "computed"
    degrees_of_freedom: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the test as JSON knows it.

        >>> FitTest(statistic=0.5, p_value=1.0).to_dict()
        {'statistic': 0.5, 'p_value': 1.0, 'p_value_is': 'computed'}
        """
        figures: dict[str, Any] = {
            "statistic": self.statistic,
            "p_value": self.p_value,
            "p_value_is": self.p_value_is,
        }
        if self.degrees_of_freedom is not None:
            figures["degrees_of_freedom"] = self.degrees_of_freedom
        return figures


@dataclass(frozen=True, slots=True, kw_only=True)
class GoodnessOfFit:
    """Four tests of fit between an attribute's values before and after protection.

    Parameters
    ----------
    kolmogorov_smirnov : FitTest or None
        Largest distance between the two empirical distribution functions, 0 to 1.
    cramer_von_mises : FitTest or None
        Sum of their squared distances, Anderson (1962), ties by midranks; 1/6 is what
        independent samples of one law give on average.
    anderson_darling : FitTest or None
        The same with more weight on the tails, Scholz and Stephens (1987), Equation 7,
        k = 2, ties by midranks, less its mean and divided by its standard deviation: below
        0 is closer than independent samples of one law are on average.
    chi_squared : FitTest or None
        Pearson's statistic on `decile_bins`.
    """

    kolmogorov_smirnov: FitTest | None
    cramer_von_mises: FitTest | None
    anderson_darling: FitTest | None
    chi_squared: FitTest | None

    def to_dict(self) -> dict[str, Any]:
        """Return the tests as JSON knows them, None where one is not defined.

        Returns
        -------
        dict
            ``descriptive`` (always true: p-values of paired values), and the tests under
            ``ks``, ``cvm``, ``ad`` and ``chi2``.
        """
        tests = {
            "ks": self.kolmogorov_smirnov,
            "cvm": self.cramer_von_mises,
            "ad": self.anderson_darling,
            "chi2": self.chi_squared,
        }
        return {
            "descriptive": True,
            **{name: None if test is None else test.to_dict() for name, test in tests.items()},
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DecileBins:
    """Bins between deciles of the original, in read-only arrays.

    Parameters
    ----------
    upper : ndarray of float64, shape (n_bins - 1,)
        Upper ends, ascending: a bin reaches from above the end before it up to its own,
        the end included. The first has no lower end, the last no upper one.
    expected : ndarray of float64, shape (n_bins,)
        Protected values expected in each bin: its share of the original values.
    """

    upper: NDArray[np.float64]
    expected: NDArray[np.float64]


def goodness_of_fit(original: ArrayLike, protected: ArrayLike) -> GoodnessOfFit:
    """Compare the values of an attribute before and after protection by four tests.

    Parameters
    ----------
    original, protected : array_like, shape (n_records,)
        Values of one attribute, in any order, not necessarily as many; NaN is missing.

    Returns
    -------
    GoodnessOfFit
        Statistics, and p-values that are descriptive only.

    Raises
    ------
    DataError
        If either is not one attribute, or holds an infinite value.

    Notes
    -----
    O(n log n) time, O(n) memory; of more than 50,000 values on both sides each is sorted once.
    Kolmogorov-Smirnov p-values are exact up to 10,000 values
    and Cramer-von Mises p-values up to 20, for values without ties; beyond, from the
    limiting laws. With ties they are on the high side.

    Examples
    --------
    >>> fit = goodness_of_fit([1.0, 2.0, 3.0, 4.0], [1.5, 1.5, 3.5, 3.5])
    >>> fit.kolmogorov_smirnov.statistic
    0.25
    >>> fit.chi_squared is None  # four values fill no bin with five expected
    True
    """
    before = _present(original, "original data")
    after = _present(protected, "protected data")
    if min(len(before), len(after)) > MANY:
        found = fit_of_many(*in_threads(in_order, [before, after]))
        if found is not None:
            return found
    return GoodnessOfFit(
        kolmogorov_smirnov=_kolmogorov_smirnov(before, after),
        cramer_von_mises=_cramer_von_mises(before, after),
        anderson_darling=_anderson_darling(before, after),
        chi_squared=_chi_squared(before, after),
    )


def fit_of_many(before: InOrder, after: InOrder) -> GoodnessOfFit | None:
    """Take the tests of values that are in order.

    Parameters
    ----------
    before, after : InOrder

    Returns
    -------
    GoodnessOfFit or None
        None where a side has no more than 50,000 values, or both are constant: `goodness_of_fit`
        then knows what is defined.

    Examples
    --------
    >>> values = InOrder(values=np.arange(60_000.0))
    >>> fit_of_many(values, values).kolmogorov_smirnov.statistic
    0.0
    >>> fit_of_many(values, InOrder(values=np.arange(10.0))) is None
    True
    """
    if min(len(before), len(after)) <= MANY:
        return None
    if all(side.values[0] == side.values[-1] for side in (before, after)):
        return None
    found = large_sample_tests(before, after)
    return GoodnessOfFit(
        kolmogorov_smirnov=FitTest(
            statistic=found.kolmogorov_smirnov[0], p_value=found.kolmogorov_smirnov[1]
        ),
        cramer_von_mises=_floored(*found.cramer_von_mises),
        anderson_darling=_in_range(*found.anderson_darling),
        chi_squared=_chi_squared_of_many(before, after),
    )


def decile_bins(original: ArrayLike, n_protected: int) -> DecileBins:
    """Divide the line at the original's deciles, with five or more expected in every bin.

    The ends are those of `decile_ends`, so ten bins are the most. From the lowest on, a bin with
    fewer than five expected is merged with the next; what is left at the top joins the last bin
    that has five.

    Parameters
    ----------
    original : array_like, shape (n_records,)
        Values of one attribute; NaN is missing.
    n_protected : int
        How many protected values will be counted in the bins.

    Returns
    -------
    DecileBins
        A single bin where no two have five expected.

    Raises
    ------
    DataError
        If the original is not one attribute, or holds an infinite value.

    Examples
    --------
    >>> bins = decile_bins([1, 1, 1, 1, 1, 1, 2, 2, 2, 3, 3, 9], n_protected=12)
    >>> bins.upper, bins.expected
    (array([1.]), array([6., 6.]))
    """
    return _bins(in_order(_present(original, "original data")), n_protected)


def _bins(original: InOrder, n_protected: int) -> DecileBins:
    n_records = len(original)
    if n_records == 0:
        return DecileBins(upper=np.empty(0), expected=np.array([float(n_protected)]))
    ends = decile_ends(original)
    up_to = np.append(original.up_to(ends), n_records)
    kept, start = [], 0
    for end in up_to:
        if (end - start) * n_protected >= LEAST_EXPECTED * n_records:
            kept.append(end)
            start = end
    # The top of the last full bin is open, and what no bin was filled with belongs to it.
    inner = np.isin(up_to[:-1], kept[:-1])
    counts = np.diff(up_to[:-1][inner], prepend=0, append=n_records)
    upper, expected = ends[inner], counts * n_protected / n_records
    upper.setflags(write=False)
    expected.setflags(write=False)
    return DecileBins(upper=upper, expected=expected)


def decile_ends(values: InOrder) -> NDArray[np.float64]:
    """Return the different deciles of an attribute, ascending.

    Decile d, for d = 1 to 9, is the least value with at least d tenths of the values at or below
    it. Equal deciles make one end.

    Parameters
    ----------
    values : InOrder

    Returns
    -------
    ndarray of float64, shape (n_ends,)
        Nine at most; none of no values.

    Examples
    --------
    >>> decile_ends(in_order(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 9.0])))
    array([1., 2., 3.])
    """
    n_values = len(values)
    if not n_values:
        return np.empty(0)
    # In whole numbers, so that no rounding of d/10 moves a decile: ceil(d n / 10) values
    # lie at or below decile d.
    return np.unique(values.at(np.array([(d * n_values + 9) // 10 - 1 for d in range(1, 10)])))


def _present(values: ArrayLike, place: str) -> NDArray[np.float64]:
    """Return the values that are present, as float64."""
    column = np.asarray(values, dtype=np.float64)
    if column.ndim != 1:
        raise DataError(place, "a test of fit takes one attribute", "pass its values as one array")
    column = column[~np.isnan(column)]
    if np.any(np.abs(column) > LARGEST_VALUE):
        raise DataError(
            place,
            "values must be finite and at most 1e140 in size",
            "leave such records out, or mark the cells as missing",
        )
    return column


def _kolmogorov_smirnov(before: NDArray[np.float64], after: NDArray[np.float64]) -> FitTest | None:
    if min(len(before), len(after)) < 1:
        return None
    with warnings.catch_warnings():
        # That an exact p-value could not be had and the limiting law stands in.
        warnings.simplefilter("ignore")
        test = scipy.stats.ks_2samp(before, after)
    return FitTest(statistic=float(test.statistic), p_value=float(test.pvalue))


def _cramer_von_mises(before: NDArray[np.float64], after: NDArray[np.float64]) -> FitTest | None:
    if min(len(before), len(after)) < 2:
        return None
    test = scipy.stats.cramervonmises_2samp(before, after)
    if max(len(before), len(after)) > 20:
        return _floored(float(test.statistic), float(test.pvalue))
    return FitTest(statistic=max(0.0, float(test.statistic)), p_value=float(test.pvalue))


def _floored(statistic: float, p_value: float) -> FitTest:
    # Two terms of the size of n cancel in the statistic: agreement can come out below 0.
    statistic = max(0.0, statistic)
    if p_value < CRAMER_VON_MISES_FLOOR:
        return FitTest(statistic=statistic, p_value=CRAMER_VON_MISES_FLOOR, p_value_is="at most")
    return FitTest(statistic=statistic, p_value=p_value)


def _anderson_darling(before: NDArray[np.float64], after: NDArray[np.float64]) -> FitTest | None:
    # Of fewer than four values the statistic has no variance.
    if min(len(before), len(after)) < 1 or len(before) + len(after) < 4:
        return None
    if min(before.min(), after.min()) == max(before.max(), after.max()):
        return None
    with warnings.catch_warnings():
        # That the p-value is beyond the ends of the table: said by `p_value_is`.
        warnings.simplefilter("ignore")
        test = _anderson_ksamp(before, after)
    return _in_range(float(test.statistic), float(test.pvalue))


def _in_range(statistic: float, p_value: float) -> FitTest:
    least, greatest = ANDERSON_DARLING_RANGE
    p_value = min(max(p_value, least), greatest)
    ends = {least: "at most", greatest: "at least"}
    return FitTest(statistic=statistic, p_value=p_value, p_value_is=ends.get(p_value, "computed"))


def _anderson_ksamp(before: NDArray[np.float64], after: NDArray[np.float64]) -> Any:
    """Take the midrank statistic, which allows for ties.

    scipy names it from 1.17 on, and before that has no name but its default for it.
    """
    test = scipy.stats.anderson_ksamp
    named = "variant" in inspect.signature(test).parameters
    return test([before, after], **({"variant": "midrank"} if named else {}))


def _chi_squared(before: NDArray[np.float64], after: NDArray[np.float64]) -> FitTest | None:
    bins = decile_bins(before, len(after))
    # side="left": a value equal to an upper end lies in the bin that the end closes.
    places = np.searchsorted(bins.upper, after, side="left")
    return _pearson(bins, np.bincount(places, minlength=len(bins.expected)))


def _chi_squared_of_many(before: InOrder, after: InOrder) -> FitTest | None:
    bins = _bins(before, len(after))
    return _pearson(bins, np.diff(after.up_to(bins.upper), prepend=0, append=len(after)))


def _pearson(bins: DecileBins, observed: NDArray[np.int64]) -> FitTest | None:
    degrees_of_freedom = len(bins.upper)
    if degrees_of_freedom < 1:
        return None
    statistic = float(np.sum((observed - bins.expected) ** 2 / bins.expected))
    return FitTest(
        statistic=statistic,
        p_value=float(scipy.special.chdtrc(degrees_of_freedom, statistic)),
        degrees_of_freedom=degrees_of_freedom,
    )
