"""Neighbourhood counts against every pair of records, and Theorem 1."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.measures.neighbourhoods import (
    expected_neighbours,
    neighbourhoods,
    observed_neighbours,
    original_neighbours,
)
from reference import neighbourhoods as plain

eighths = st.integers(-80, 80).map(lambda number: number / 8)
columns = st.one_of(
    st.lists(eighths, min_size=1, max_size=40),
    st.lists(st.integers(0, 6), min_size=1, max_size=40),
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.lists(st.floats(-10, 10).map(lambda value: 1e3**value), min_size=1, max_size=30),
)
deltas = st.one_of(st.integers(1, 40).map(lambda number: number / 8), st.floats(1e-3, 1e6))


@given(columns, deltas)
def test_the_closed_form_is_the_sum_over_all_pairs(values, delta):
    """Sliding sums give T_i as adding up the weights of every pair does."""
    found = expected_neighbours(values, delta)
    assert found == pytest.approx(plain.expected(values, delta), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("offset", [0.0, 1e9, -1e12])
@pytest.mark.parametrize("delta", [0.003, 0.25, 40.0])
def test_large_values_cost_no_accuracy(offset, delta):
    """What is summed are distances: values far from 0 lose nothing but their own digits."""
    values = offset + np.random.default_rng(2).exponential(size=2000)
    differences = np.abs(values[:, np.newaxis] - values) / delta
    expected = np.clip((3 - differences) / 2, 0, 1).sum(axis=1)
    assert np.allclose(expected_neighbours(values, delta), expected, rtol=1e-12, atol=1e-11)


@given(columns, deltas)
def test_theorem_1_holds_on_any_data(values, delta):
    """T_i is above half the original count, the record itself included, by a half at least."""
    counts = neighbourhoods(values, delta=delta, k=1000)
    assert (counts.expected > counts.original / 2).all()
    assert (counts.expected - counts.original / 2 >= 0.5 - 1e-9).all()
    assert counts.to_dict()["expected"]["share_above_half_of_original"] == 1.0


def test_what_is_expected_is_the_mean_over_draws_of_noise():
    """Over 4000 draws for all records no mean strays by more than six standard errors."""
    random = np.random.default_rng(4)
    values, delta, runs = random.exponential(10.0, 150).round(1), 2.0, 4000
    counts = np.zeros((runs, 150))
    for run in range(runs):
        noised = values + random.uniform(-delta, delta, 150)
        counts[run] = observed_neighbours(values, noised, delta)
    allowed = 6 * counts.std(axis=0) / runs**0.5 + 1e-9
    assert (np.abs(counts.mean(axis=0) - expected_neighbours(values, delta)) <= allowed).all()
    # The same test notices an answer for a delta five percent off, either way.
    for factor in (0.95, 1.05):
        off = expected_neighbours(values, factor * delta)
        assert (np.abs(counts.mean(axis=0) - off) > allowed).any()


@given(columns, columns, deltas)
def test_counts_are_those_of_all_pairs(values, protected, delta):
    """Original counts end before 2 delta, observed ones at it, to the last bit."""
    assert original_neighbours(values, delta).tolist() == plain.original(values, delta)
    observed = observed_neighbours(values, protected, delta).tolist()
    assert observed == plain.observed(values, protected, delta)


def test_the_summary_counts_records():
    """Least, mean and shares are over the records; JSON holds them as they are."""
    counts = neighbourhoods([20, 21, 22, 23, 40], delta=2.5, k=4, protected=[18, 21, 24, 26, 29])
    assert counts.original.tolist() == [4, 4, 4, 4, 1]
    assert counts.observed.tolist() == [3, 4, 4, 4, 0]
    figures = counts.to_dict()
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures
    assert figures["original"] == {"min": 1, "mean": 3.4, "share_at_least_k": 0.8}
    assert figures["expected"]["min"] == 1.0
    assert figures["expected"]["share_at_least_k"] == 0.4
    assert figures["observed"] == {
        "min": 0,
        "mean": 3.0,
        "share_at_least_k": 0.6,
        "share_above_half_of_original": 0.8,
    }
    assert neighbourhoods([1, 2], delta=1, k=1).to_dict()["observed"] is None


def test_a_count_that_is_k_but_for_a_rounding_is_k():
    """Steps of a tenth and delta a quarter: ten neighbours each, but for seven at each end."""
    values = [0.1 * step for step in range(100)]
    counts = neighbourhoods(values, delta=0.25, k=10)
    assert counts.expected[7:-7] == pytest.approx([10.0] * 86)
    assert (counts.expected[7:-7] < 10.0).any()
    assert counts.to_dict()["expected"]["share_at_least_k"] == 0.86


def test_a_record_alone_has_one_neighbour_exactly():
    """What rounding left behind in a crowd does not follow the window out of it."""
    crowd = np.random.default_rng(8).exponential(size=2000)
    counts = expected_neighbours([*-crowd, *crowd, -1e4, 1e4], 0.7)
    assert counts[-2:].tolist() == [1.0, 1.0]


def test_a_neighbourhood_is_open_before_noise_and_closed_after():
    """Originals at 2 delta are outside, noised records at 2 delta inside, on either side."""
    assert original_neighbours(range(7), 1.0).tolist() == [2, 3, 3, 3, 3, 3, 2]
    assert observed_neighbours(range(7), range(7), 1.0).tolist() == [3, 4, 5, 5, 5, 4, 3]
