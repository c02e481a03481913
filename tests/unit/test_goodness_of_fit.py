"""Tests of fit: their definitions, ties, and what is not defined."""

import inspect
import json
import math
import warnings
from bisect import bisect_right
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from microveil.measures.goodness_of_fit import compare_distributions, decile_bins
from microveil.table.sorting import in_order

tied = st.lists(st.integers(0, 6).map(float), max_size=60)
columns = st.one_of(
    tied,
    st.lists(st.floats(-1e6, 1e6), max_size=60),
    st.lists(st.sampled_from([0.0, 0.0, 0.0, 5.0, math.nan]), max_size=60),
    st.integers(0, 30).map(lambda n: [1.0] * n),
)


def goodness_of_fit(original, protected):
    return compare_distributions(np.array(original, float), np.array(protected, float))


def bins_of(original, n_protected):
    return decile_bins(in_order(np.array(original, float)), n_protected)


def plain_bins(values, n_protected):
    """Upper ends and counts of the bins, one original value after the other."""
    n = len(values)
    ends = []
    for tenth in range(1, 10):
        decile = min(v for v in values if sum(x <= v for x in values) * 10 >= tenth * n)
        if decile not in ends:
            ends.append(decile)
    bins, lower = [], -math.inf
    for upper in [*ends, math.inf]:
        bins.append([upper, sum(lower < x <= upper for x in values)])
        lower = upper
    full = []
    held = 0
    for upper, count in bins:
        held += count
        if Fraction(held * n_protected, n) >= 5:
            full.append([upper, held])
            held = 0
    if full:
        full[-1] = [math.inf, full[-1][1] + held]
    else:
        full = [[math.inf, n]]
    return [upper for upper, _ in full[:-1]], [count for _, count in full]


def plain_anderson_darling(x, y):
    """A^2 of Scholz and Stephens (1987), Equation 7, for two samples, value by value."""
    pooled = x + y
    n_all = len(pooled)
    total = 0.0
    for sample in (x, y):
        inner = 0.0
        for value in sorted(set(pooled)):
            copies = pooled.count(value)
            below = sum(z < value for z in pooled) + copies / 2
            own = sum(z < value for z in sample) + sample.count(value) / 2
            spread = below * (n_all - below) - n_all * copies / 4
            inner += copies / n_all * (n_all * own - len(sample) * below) ** 2 / spread
        total += inner / len(sample)
    return (n_all - 1) / n_all * total


@given(st.one_of(tied, columns), columns)
def test_chi_squared_is_that_of_bins_counted_one_by_one(original, protected):
    """On data full of ties too: bins, merging, statistic and degrees of freedom."""
    original, protected = (
        [value for value in side if not math.isnan(value)] for side in (original, protected)
    )
    found = goodness_of_fit(original, protected).chi_squared
    if not original:
        assert found is None
        return
    uppers, counts = plain_bins(original, len(protected))
    expected = [Fraction(count * len(protected), len(original)) for count in counts]
    upper, shares = bins_of(original, len(protected))
    assert upper.tolist() == uppers
    assert shares == pytest.approx([float(number) for number in expected])
    if len(counts) < 2:
        assert found is None
        return
    observed = [0] * len(counts)
    for y in protected:
        observed[sum(y > upper for upper in uppers)] += 1
    statistic = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    assert found.statistic == pytest.approx(float(statistic), abs=1e-12)
    assert found.degrees_of_freedom == len(counts) - 1
    assert found.p_value == pytest.approx(stats.chi2(len(counts) - 1).sf(float(statistic)))


def test_thin_bins_are_merged_upwards():
    """Forty values give deciles of four: pairs of them hold eight, and no bin is left thin."""
    assert bins_of(np.arange(50), 50)[1].tolist() == [5.0] * 10
    upper, expected = bins_of(np.arange(1, 41), 40)
    assert upper.tolist() == [8, 16, 24, 32]
    assert expected.tolist() == [8.0] * 5
    # 27 values: the remainder at the top joins the bin below it.
    expected = bins_of(np.arange(1, 28), 27)[1]
    assert expected.min() >= 5
    assert expected.sum() == 27


@given(tied.filter(lambda values: len(values) >= 2), tied.filter(lambda values: len(values) >= 2))
def test_anderson_darling_is_the_midrank_statistic(original, protected):
    """Standardised by a mean of 1 and a deviation that depends on the numbers of values alone."""
    found = goodness_of_fit(original, protected).anderson_darling
    if len(set(original + protected)) < 2:
        assert found is None
        return
    n, m = len(original), len(protected)
    other = list(range(n)), [value + 0.5 for value in range(m)]
    at_other = goodness_of_fit(*other).anderson_darling.statistic
    scale = (plain_anderson_darling(*other) - 1) / at_other
    assert scale > 0
    expected = (plain_anderson_darling(original, protected) - 1) / scale
    assert found.statistic == pytest.approx(expected, rel=1e-6, abs=1e-6)


@given(tied.filter(bool), tied.filter(bool))
def test_kolmogorov_smirnov_is_the_largest_distance(original, protected):
    """Between the two shares of values at or below any point."""
    before, after = sorted(original), sorted(protected)
    distance = max(
        abs(bisect_right(before, point) / len(before) - bisect_right(after, point) / len(after))
        for point in before + after
    )
    found = goodness_of_fit(original, protected).kolmogorov_smirnov
    assert found.statistic == pytest.approx(distance)


@given(st.integers(2, 30), st.integers(2, 30), st.integers(0, 2**32))
def test_cramer_von_mises_is_the_sum_of_squared_distances(n, m, seed):
    """Without ties: nm/(n+m)^2 times the sum over all values of (F - G)^2."""
    generator = np.random.default_rng(seed)
    before, after = np.sort(generator.normal(size=n)), np.sort(generator.normal(size=m))
    pooled = np.concatenate([before, after])
    distances = (
        np.searchsorted(before, pooled, side="right") / n
        - np.searchsorted(after, pooled, side="right") / m
    )
    found = goodness_of_fit(before, after).cramer_von_mises
    expected = n * m / (n + m) ** 2 * (distances**2).sum()
    assert found.statistic == pytest.approx(expected, abs=1e-9)


@given(columns, columns)
def test_the_dictionary_is_json(original, protected):
    """Whatever is missing, constant or empty: no NaN, no warning, p-values within 0 and 1."""
    figures = goodness_of_fit(original, protected).to_dict()
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert list(figures) == ["descriptive", "ks", "cvm", "ad", "chi2"]
    assert figures["descriptive"] is True
    for name in ("ks", "cvm", "ad", "chi2"):
        test = figures[name]
        assert test is None or 0 <= test["p_value"] <= 1
        assert test is None or test["p_value_is"] in {"computed", "at most", "at least"}


def test_unchanged_values_fit():
    """Statistics of perfect agreement, p-values that say so, the table's end marked."""
    values = np.random.default_rng(0).normal(size=500)
    fit = goodness_of_fit(values, values)
    assert fit.kolmogorov_smirnov.statistic == fit.chi_squared.statistic == 0.0
    assert fit.cramer_von_mises.statistic == pytest.approx(0.0, abs=1e-9)
    assert fit.cramer_von_mises.statistic >= 0.0
    assert fit.anderson_darling.statistic < 0
    assert fit.kolmogorov_smirnov.p_value == fit.chi_squared.p_value == 1.0
    assert fit.anderson_darling.p_value == 0.25
    assert fit.anderson_darling.p_value_is == "at least"


@pytest.mark.parametrize("n_records", [300, 20_000])
def test_values_far_off_do_not_fit(n_records):
    """P-values are small; where tables and series end, they are marked as bounds."""
    values = np.random.default_rng(0).normal(size=n_records)
    fit = goodness_of_fit(values, values + 3.0)
    assert fit.kolmogorov_smirnov.p_value < 1e-6
    assert fit.chi_squared.p_value < 1e-6
    assert fit.anderson_darling.p_value == 0.001
    assert fit.anderson_darling.p_value_is == "at most"
    assert fit.cramer_von_mises.p_value == 1e-6
    assert fit.cramer_von_mises.p_value_is == "at most"


def test_independent_samples_of_one_law_are_rejected_as_often_as_they_should_be():
    """At the 5 percent level, of 200 pairs, between 2 and 22: all others have chance < 1e-3."""
    generator = np.random.default_rng(7)
    rejected = np.zeros(3, dtype=int)
    for _ in range(200):
        fit = goodness_of_fit(*generator.normal(size=(2, 200)))
        tests = fit.kolmogorov_smirnov, fit.cramer_von_mises, fit.anderson_darling
        rejected += [test.p_value < 0.05 for test in tests]
    assert (rejected >= 2).all()
    assert (rejected <= 22).all()


@pytest.mark.parametrize(
    ("original", "protected", "undefined"),
    [
        ([], [], {"ks", "cvm", "ad", "chi2"}),
        ([1.0], [], {"ks", "cvm", "ad", "chi2"}),
        ([math.nan], [1.0, 2.0], {"ks", "cvm", "ad", "chi2"}),
        ([1.0], [2.0], {"cvm", "ad", "chi2"}),
        ([3.0] * 40, [3.0] * 40, {"ad", "chi2"}),
        ([3.0] * 40, [4.0] * 40, {"chi2"}),
        ([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0, 5.0], {"chi2"}),
        (list(range(100)), list(range(100)), set()),
    ],
)
def test_what_is_not_defined_is_none(original, protected, undefined):
    """One value throughout, too few values, too few bins."""
    figures = goodness_of_fit(original, protected).to_dict()
    assert {name for name, test in figures.items() if test is None} == undefined


@pytest.mark.slow
def test_a_million_equal_values_agree_to_the_last():
    """Terms the size of n cancel: what rounding leaves below 0 is 0."""
    values = np.arange(1_000_000) // 7
    fit = goodness_of_fit(values, values)
    assert fit.cramer_von_mises.statistic == fit.chi_squared.statistic == 0.0
    assert fit.cramer_von_mises.p_value == 1.0


@pytest.mark.parametrize(
    ("sizes", "shift", "digits"),
    [((12, 9), 0.0, 9), ((12_000, 12_000), 0.0, 9), ((900, 14_000), 0.03, 1),
     ((1200, 1100), 0.05, 0), ((11_000, 11_000), 5.0, 2)],
)  # fmt: skip
def test_tests_are_scipys(sizes, shift, digits):
    """In one pass over both in order, ties included: statistics and p-values are the same."""
    generator = np.random.default_rng(6)
    before, after = (generator.normal(size=size).round(digits) for size in sizes)
    after[0] = np.nan
    found = goodness_of_fit(before, after + shift)
    sides = before, after[1:] + shift
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = {
            "kolmogorov_smirnov": stats.ks_2samp(*sides),
            "cramer_von_mises": stats.cramervonmises_2samp(*sides),
            "anderson_darling": anderson_of(sides),
        }
    for name, test in expected.items():
        own = getattr(found, name)
        assert own.statistic == pytest.approx(test.statistic, rel=1e-6, abs=1e-12), name
        p_value = test.pvalue
        if own.p_value_is == "at most":
            assert p_value <= own.p_value * (1 + 1e-9)
        else:
            assert own.p_value == pytest.approx(p_value, rel=1e-6, abs=1e-12), name


def anderson_of(sides):
    """Take the midrank test, which scipy names from 1.17 on."""
    named = "variant" in inspect.signature(stats.anderson_ksamp).parameters
    return stats.anderson_ksamp(sides, **({"variant": "midrank"} if named else {}))


def test_equal_values_are_no_test_of_anderson_and_darling():
    """One value throughout has no statistic, however often it is there."""
    found = goodness_of_fit(np.ones(20), np.ones(30))
    assert found.anderson_darling is None
    assert found.kolmogorov_smirnov.statistic == 0
    # That the originals do not vary hides nothing of a release that does.
    assert goodness_of_fit(np.ones(20), np.arange(30.0)).kolmogorov_smirnov.statistic > 0.9
