"""How far distributions moved: by quantiles, levels, pairs of levels and ranks, against oracles."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from microveil.measures.distributions import decile_levels, total_variation
from microveil.measures.goodness_of_fit import SORTED_ERROR, compare_distributions
from microveil.measures.moments import compare_rank_correlations, rank_correlations
from reference import distributions as oracle

whole = st.lists(st.integers(-4, 9), min_size=2, max_size=25)
cells = st.one_of(st.integers(0, 6), st.none())


def column(values):
    return np.array([math.nan if value is None else value for value in values], dtype=np.float64)


def matrix(*columns):
    return np.column_stack([column(values) for values in columns])


@st.composite
def tables(draw, most=20):
    """Two tables of two to four attributes with few values and missing cells."""
    n_attributes = draw(st.integers(2, 4))
    sizes = draw(st.tuples(st.integers(1, most), st.integers(1, most)))
    return tuple(
        [draw(st.lists(cells, min_size=n, max_size=n)) for _ in range(n_attributes)] for n in sizes
    )


@given(whole, whole)
def test_distances_of_quantiles_are_those_of_values_repeated_to_one_length(original, protected):
    """Wasserstein over the standard deviation, squared over the variance, of any two lengths."""
    found = compare_distributions(column(original), column(protected))
    absolute, squared = oracle.quantile_distances(original, protected)
    variance = float(np.var(original, ddof=1))
    if not variance:
        assert np.isnan([found.wasserstein, found.squared]).all()
        return
    assert found.wasserstein == pytest.approx(float(absolute) / variance**0.5)
    assert found.squared == pytest.approx(float(squared) / variance)
    scipys = stats.wasserstein_distance(original, protected)
    assert found.wasserstein == pytest.approx(scipys / variance**0.5)


def test_the_sorted_error_is_the_mean_over_attributes_that_vary():
    """A constant attribute, or one without values, has none and counts for nothing."""
    before = [1, 2, 3, 4], [0, 0, 0, 8], [5, 5, 5, 5], [1, 2, 3, 4]
    after = [2, 3, 4, 5], [8, 0, 0, 0], [6, 6, 6, 6], [None] * 4
    found = {
        str(place): compare_distributions(column(x), column(y))
        for place, (x, y) in enumerate(zip(before, after, strict=True))
    }
    assert [math.isnan(one.squared) for one in found.values()] == [False, False, True, True]
    assert SORTED_ERROR.figure(found) == pytest.approx((1 / (5 / 3) + 0) / 2)
    assert math.isnan(SORTED_ERROR.figure({}))


@given(st.lists(cells, min_size=1), st.lists(cells, min_size=1))
def test_levels_count_the_deciles_below_a_value(original, protected):
    """Equal deciles merged, whatever lies beyond them; a missing cell has a level of its own."""
    found = decile_levels(column(original), column(protected))
    for values, levels in zip((original, protected), found, strict=True):
        plain = oracle.decile_levels(original, values)
        missing = max((level for level in plain if level is not None), default=-1) + 1
        for level, expected in zip(levels.tolist(), plain, strict=True):
            assert level == expected if expected is not None else level >= missing
    everywhere = {*found[0][np.isnan(column(original))].tolist(),
                  *found[1][np.isnan(column(protected))].tolist()}  # fmt: skip
    assert len(everywhere) <= 1


@given(tables())
def test_total_variation_is_half_the_sum_of_all_differences_of_shares(sides):
    """Of each attribute and each pair of them, counted level by level."""
    before, after = sides
    names = [str(a) for a in range(len(before))]
    levels = [decile_levels(column(x), column(y)) for x, y in zip(before, after, strict=True)]
    plain = [
        [oracle.decile_levels(x, values) for x, values in zip(before, side, strict=True)]
        for side in (before, after)
    ]
    found = total_variation(
        dict(zip(names, (of[0] for of in levels), strict=True)),
        dict(zip(names, (of[1] for of in levels), strict=True)),
    )
    alone = [float(oracle.total_variation(x, y)) for x, y in zip(*plain, strict=True)]
    together = {
        (a, b): float(
            oracle.total_variation(*(list(zip(side[a], side[b], strict=True)) for side in plain))
        )
        for a, b in combinations(range(len(names)), 2)
    }
    assert found.of_attributes == pytest.approx(alone)
    assert found.one_way == pytest.approx(np.mean(alone))
    assert found.two_way == pytest.approx(np.mean(list(together.values())))
    for (a, b), distance in together.items():
        assert found.of_pairs[a, b] == found.of_pairs[b, a] == pytest.approx(distance)
        # A table says no less than its margins.
        assert distance >= max(alone[a], alone[b]) - 1e-12
    one, other, distance = found.worst_pair
    assert found.of_pairs[int(one), int(other)] == distance
    assert distance == pytest.approx(max(together.values()))


def test_a_single_attribute_has_no_pairs():
    """Its two-way total variation is not defined, its one-way is."""
    levels = {"A": np.array([0, 1, 1], np.uint16)}
    found = total_variation(levels, {"A": np.array([0, 0], np.uint16)})
    assert math.isnan(found.two_way)
    assert found.worst_pair is None
    assert found.one_way == pytest.approx(2 / 3)
    assert found.to_dict()["two_way"] is None


@given(tables())
def test_nothing_moves_between_a_table_and_its_copy_in_another_order(sides):
    """Every distance is 0, to the last digit."""
    before = matrix(*sides[0])
    after = np.random.default_rng(1).permutation(before)
    for x, y in zip(before.T, after.T, strict=True):
        found = compare_distributions(x, y)
        assert not np.nan_to_num([found.wasserstein, found.squared]).any()
    levels = [decile_levels(x, y) for x, y in zip(before.T, after.T, strict=True)]
    varied = total_variation(
        {str(a): of[0] for a, of in enumerate(levels)},
        {str(a): of[1] for a, of in enumerate(levels)},
    )
    assert varied.one_way == varied.two_way == 0.0
    change = compare_rank_correlations(before, after).largest_absolute_change
    assert math.isnan(change) or change == pytest.approx(0.0, abs=1e-12)


@given(tables())
def test_rank_correlations_are_those_of_the_records_that_have_both_values(sides):
    """Spearman's, ties by midranks: as scipy has them of the complete records of each pair."""
    values = matrix(*sides[0])
    found = rank_correlations(values)
    for a, b in combinations(range(values.shape[1]), 2):
        both = values[:, [a, b]]
        both = both[~np.isnan(both).any(axis=1)]
        constant = len(both) < 2 or (np.ptp(both, axis=0) == 0).any()
        expected = math.nan if constant else stats.spearmanr(both).statistic
        assert found[a, b] == pytest.approx(expected, abs=1e-12, nan_ok=True)
        assert found[b, a] == pytest.approx(found[a, b], nan_ok=True)


def test_changes_of_rank_correlations_are_over_pairs_defined_in_both():
    """A monotone curve changes none; a reversed attribute changes those that it is in."""
    table = np.random.default_rng(0).standard_normal((200, 3)).cumsum(axis=1)
    curved = compare_rank_correlations(table, np.exp(table))
    assert curved.largest_absolute_change == pytest.approx(0.0, abs=1e-12)
    turned = compare_rank_correlations(table, table * [1.0, 1.0, -1.0])
    before = np.abs(turned.original)
    assert turned.largest_absolute_change == pytest.approx(2 * max(before[0, 2], before[1, 2]))
    assert turned.mean_absolute_change == pytest.approx(2 * (before[0, 2] + before[1, 2]) / 3)
    constant = compare_rank_correlations(table, table * [1.0, 1.0, 0.0])
    assert len(constant.changes) == 1
    assert constant.to_dict()["protected"][0][2] is None
