"""MDAV and V-MDAV where being without a value is a value: plain forms, the distance, sizes."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.errors import DataError, RequestError
from microveil.partition.mdav import joint_partition, mdav, v_mdav
from reference import incomplete_mdav as plain
from reference import mixed_mdav


@st.composite
def requests(draw):
    """Records that lack numbers, with ties, copies and attributes that nobody has, and a k."""
    n_numbers, n_nominal = draw(st.integers(1, 3)), draw(st.integers(0, 2))
    value = draw(st.sampled_from([st.integers(0, 2).map(float), st.floats(-1e3, 1e3)]))
    record = st.tuples(
        st.lists(st.one_of(st.none(), value), min_size=n_numbers, max_size=n_numbers),
        st.lists(st.integers(0, 2), min_size=n_nominal, max_size=n_nominal),
    )
    records = draw(st.lists(record, min_size=1, max_size=18))
    copies = st.lists(st.integers(0, len(records) - 1), max_size=8)
    records += [records[copy] for copy in draw(copies)]
    n = len(records)
    k = draw(st.one_of(st.sampled_from([n, n // 2, n // 3, 2]), st.integers(1, n)))
    rows, categories = ([record[kind] for record in records] for kind in (0, 1))
    return rows, categories, min(max(k, 1), n)


def arrays(rows, categories):
    return np.array(rows, dtype=float), np.array(categories) if categories[0] else None


@settings(max_examples=60)
@given(requests(), st.sampled_from([0, 0.2, 1.1, 5.0]))
def test_clusters_are_those_of_the_plain_algorithms(request_, gamma):
    """Missing numbers, ties, copies, categories beside them: the same clusters, record by record.

    Where no number is missing, they are those of complete records.
    """
    rows, categories, k = request_
    matrix, codes = arrays(rows, categories)
    found = mdav(matrix, k, categories=codes, missing="protect")
    variable = v_mdav(matrix, k, gamma, categories=codes, missing="protect")
    lacks = any(value is None for row in rows for value in row)
    of = plain if lacks else mixed_mdav
    assert found.labels.tolist() == of.mdav(rows, categories, k)
    assert variable.labels.tolist() == of.v_mdav(rows, categories, k, gamma)
    for partition, most in ((found, 2 * k - 1), (variable, 3 * k - 2)):
        assert sorted(partition.order.tolist()) == list(range(len(rows)))
        assert k <= partition.sizes.min() <= partition.sizes.max() <= max(most, k)


@settings(max_examples=60)
@given(requests(), st.data())
def test_clusters_of_units_are_those_of_the_plain_algorithms(request_, data):
    """Whoever has how many records, complete or not: the same clusters, each of k units or more."""
    rows, categories, k = request_
    if data.draw(st.booleans()):
        rows = [[value or 0.0 for value in row] for row in rows]
    units = data.draw(st.lists(st.integers(-3, 5), min_size=len(rows), max_size=len(rows)))
    gamma = data.draw(st.sampled_from([0.2, 1.1, 5.0]))
    matrix, codes = arrays(rows, categories)
    asked = {"categories": codes, "missing": "protect", "units": np.array(units)}
    if len(set(units)) < k:
        with pytest.raises(DataError, match="fewer units than k"):
            mdav(matrix, k, **asked)
        return
    found, variable = mdav(matrix, k, **asked), v_mdav(matrix, k, gamma, **asked)
    lacks = any(value is None for row in rows for value in row)
    of = plain if lacks else mixed_mdav
    assert found.labels.tolist() == of.mdav(rows, categories, k, units)
    assert variable.labels.tolist() == plain.v_mdav(rows, categories, k, gamma, units)
    for partition in (found, variable):
        members = np.split(np.array(units)[partition.order], np.cumsum(partition.sizes)[:-1])
        assert all(len(set(own.tolist())) >= k for own in members)


@pytest.mark.parametrize(("n_records", "k"), [(301, 3), (260, 7)])
def test_larger_tables(n_records, k):
    """A hundred clusters: what rounding does to running sums is the same in both."""
    generator = np.random.Generator(np.random.PCG64(5))
    matrix = np.exp(generator.normal(size=(n_records, 3)) * 2)
    matrix[generator.random(matrix.shape) < (0.05, 0.3, 0.9)] = np.nan
    codes = generator.integers(0, 3, (n_records, 1))
    rows = [[None if np.isnan(value) else value for value in row] for row in matrix.tolist()]
    found = mdav(matrix, k, categories=codes, missing="protect").labels.tolist()
    assert found == plain.mdav(rows, codes.tolist(), k)
    found = v_mdav(matrix[:120], k, 1.1, categories=codes[:120], missing="protect").labels
    assert found.tolist() == plain.v_mdav(rows[:120], codes[:120].tolist(), k, 1.1)


columns = st.lists(st.one_of(st.none(), st.integers(-9, 9)), min_size=2, max_size=12)


@settings(max_examples=60)
@given(columns, st.data())
def test_the_distance_to_a_centroid_is_a_mean_of_distances(column, data):
    """By the definition, in rationals: mean over a set less half the mean within the set."""
    gap = Fraction(plain.gap_of(column))
    some = data.draw(st.lists(st.sampled_from(column), min_size=1, max_size=8))

    def apart(one, other):
        if one is None or other is None:
            return Fraction(0) if one is other else gap
        return Fraction(one - other) ** 2

    within = sum(apart(*pair) for pair in itertools.product(some, repeat=2)) / len(some) ** 2
    for value in {*column, None}:
        expected = sum(apart(value, other) for other in some) / len(some) - within / 2
        found = plain.to_centroid(value, plain.summed(some, len(some)), float(gap))
        assert found == pytest.approx(float(expected), rel=1e-9, abs=1e-9)


@settings(max_examples=30)
@given(columns)
def test_missing_is_as_far_from_a_value_as_values_are_on_average(column):
    """The mean squared difference over all ordered pairs of the standardised values there are."""
    scores = [value for value in plain.among_present(column) if value is not None]
    squares = [(a - b) ** 2 for a in scores for b in scores]
    if any(squares):
        assert plain.gap_of(column) == pytest.approx(sum(squares) / len(scores) ** 2)


def test_a_missing_category_is_one_more_category():
    """Records that lack it are alike in it, as by a code of its own."""
    ages, regions = np.array([1, 2, 1, 2, 1, 2]), np.array([0, 0, 1, 1, 0, 0])
    absent = np.array([False, False, False, False, True, True])
    found = joint_partition(
        "mdav", [ages, regions], 2, [(0, 9), (0, 1)], [True, False], [None, absent]
    )
    coded = mdav(ages[:, None], 2, categories=np.where(absent, 7, regions)[:, None])
    assert found.labels.tolist() == coded.labels.tolist()
    assert found.labels[4] == found.labels[5] != found.labels[0]


def test_missing_numbers_are_refused_unless_asked_for():
    """And so is another word for it, and infinity in any case."""
    with pytest.raises(DataError, match="missing or infinite"):
        mdav([[1.0], [np.nan]], 1)
    with pytest.raises(DataError, match="missing or infinite"):
        mdav([[1.0], [np.inf]], 1, missing="protect")
    with pytest.raises(RequestError, match="'error' or 'protect'"):
        v_mdav([[1.0], [np.nan]], 1, missing="keep")
