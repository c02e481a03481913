"""How near rows come to records of the original, beside how near a person left out comes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from microveil.measures import closest_records as module
from microveil.measures.closest_records import closest_records
from microveil.measures.values import median_of
from reference import attacks as oracle
from reference import mixed_linkage
from reference.record_linkage import reciprocal_variances

values = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 4), st.integers(0, 2)), min_size=2, max_size=12
)
KINDS = np.array([False, False, True])


def overlap(one, other):
    return max(one.interval[0], other.interval[0]) <= min(one.interval[1], other.interval[1])


def columns(records):
    return list(np.array(records, dtype=np.float64).T)


@given(values, values)
def test_distances_are_those_of_comparing_everybody(original, protected):
    """Rows with all records, each person with all others; numbers in standard deviations."""
    people = [list(map(float, record)) for record in original]
    weights = [*reciprocal_variances(people)[:2], mixed_linkage.scales(people, KINDS)[2][0]]
    to_row = [
        min(oracle.distances(row, people, weights, KINDS)) ** 0.5
        for row in [list(map(float, record)) for record in protected]
    ]
    to_others = [
        min(oracle.distances(person, people[:i] + people[i + 1 :], weights, KINDS)) ** 0.5
        for i, person in enumerate(people)
    ]
    found = closest_records(columns(original), columns(protected), KINDS)
    assert found.released.value == pytest.approx(np.median(to_row), rel=1e-12)
    assert found.left_out.value == pytest.approx(np.median(to_others), rel=1e-12)
    assert found.equal.value == to_row.count(0.0) / len(to_row)
    assert found.equal_left_out.value == to_others.count(0.0) / len(to_others)


def test_a_copy_is_nearer_than_people_are_to_one_another_and_an_independent_table_is_not():
    """All rows of a copy are equal to a record; of another sample the medians agree."""
    generator = np.random.default_rng(4)
    people, others = ([*generator.standard_normal((2, 3000))] for _ in range(2))
    numbers = np.array([False, False])
    copied = closest_records(people, people, numbers)
    assert (copied.released.value, copied.equal.value) == (0.0, 1.0)
    assert copied.left_out.interval[0] > 0
    apart = closest_records(people, others, numbers)
    assert apart.equal.value == 0.0
    assert overlap(apart.released, apart.left_out)


def test_records_with_a_missing_number_take_no_part():
    """Of either table; where fewer than two are left there is nothing to measure."""
    before = [np.array([1.0, np.nan, 3.0, 9.0]), np.array([0, 0, 1, 1])]
    after = [np.array([3.0, np.nan]), np.array([1, 1])]
    kinds = np.array([False, True])
    found = closest_records(before, after, kinds)
    assert (found.released.n, found.left_out.n, found.equal.value) == (1, 3, 1.0)
    assert closest_records(after, before, kinds) is None
    assert closest_records(before, [np.array([np.nan]), np.array([1])], kinds) is None


def test_large_tables_are_sampled_and_the_same_seed_asks_the_same(monkeypatch):
    """Fewer records stand for the original, for rows and people alike; figures stay near."""
    generator = np.random.default_rng(5)
    people, rows = ([*generator.standard_normal((2, 4000))] for _ in range(2))
    numbers = np.array([False, False])
    monkeypatch.setattr(module, "MOST_RECORDS", 2000)
    monkeypatch.setattr(module, "MOST_ASKED", 500)
    found = closest_records(people, rows, numbers)
    assert (found.released.n, found.left_out.n) == (500, 500)
    assert found == closest_records(people, rows, numbers)
    assert found != closest_records(people, rows, numbers, seed=1)
    assert overlap(found.released, found.left_out)


def test_the_interval_of_a_median_holds_that_of_the_law():
    """Of 400 samples of 60 each it does in 95 % or more, but for chance."""
    generator = np.random.default_rng(6)
    drawn = generator.exponential(size=(400, 60))
    held = [low <= np.log(2) <= high for low, high in (median_of(x).interval for x in drawn)]
    assert stats.binomtest(sum(held), 400, 0.95, "less").pvalue > 1e-3
    assert sum(held) < 400


def test_the_median_of_nothing_is_not_defined():
    """And has no interval."""
    nothing = median_of(np.empty(0))
    assert nothing.to_dict() == {"median": None, "interval": [None, None], "n": 0}
