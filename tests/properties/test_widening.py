"""Clusters of equal values joined with neighbours, against all joinings there are."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.partition import ranking_sizes
from microveil.partition.ranking import widened_sizes
from reference import widening as plain

ROUNDING = Fraction(1, 2**40)
FAR = 2**61


@st.composite
def clusterings(draw, most):
    """Ascending values, many equal, and sizes of clusters; not all values equal."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=1, max_size=most))
    steps = draw(
        st.sampled_from(
            [st.sampled_from([0, 0, 0, 1]), st.sampled_from([0, 0, 0, 0, 0, 0, 1, 10**9])]
        )
    )
    n = sum(sizes)
    gaps = draw(st.lists(steps, min_size=n, max_size=n).filter(lambda gaps: any(gaps[1:])))
    first = draw(st.integers(-FAR, FAR))
    return (first + np.cumsum(gaps)).astype(np.int64), np.array(sizes)


@st.composite
def rows(draw, most):
    """Clusters of 2 that hold one value or two, in an order drawn cluster by cluster."""
    values = [0]
    for same, step in draw(
        st.lists(
            st.tuples(st.booleans(), st.sampled_from([0, 0, 1, 3, 100])), min_size=1, max_size=most
        )
    ):
        start = values[-1] + step
        values += [start, start if same else start + 1]
    values = values[1:]
    if values[0] == values[-1]:
        values[-1] += 1
    return np.array(values), np.full(len(values) // 2, 2)


def assert_valid_and_least(values, sizes, joined, least):
    """The joined sizes are valid, and lose no more than the least."""
    assert joined.sum() == len(values)
    assert set(np.cumsum(joined).tolist()) <= set(np.cumsum(sizes).tolist())
    assert not plain.constant(values, joined.tolist())
    loss = plain.loss(values, joined.tolist())
    own = plain.loss(values, sizes.tolist())
    assert loss - own <= (least - own) * (1 + ROUNDING)


@given(st.one_of(clusterings(9), rows(9)))
def test_no_joining_of_all_loses_less(table):
    """No cluster of equal values is left, each is a union of old ones, the loss is the least."""
    values, sizes = table
    least = plain.least_by_search(values, sizes.tolist())
    assert least == plain.least(values, sizes.tolist())
    assert_valid_and_least(values, sizes, widened_sizes(values, sizes), least)


@pytest.mark.parametrize("n_values", [2, 3, 4, 20, 150])
@pytest.mark.parametrize("k", [3, 10])
def test_few_values_in_many_clusters(n_values, k):
    """Blocks of many clusters, in shares that differ, against the quadratic programme."""
    random = np.random.Generator(np.random.PCG64(n_values))
    values = np.sort(random.integers(0, n_values, 600) ** 2)
    sizes = ranking_sizes(len(values), k)
    assert_valid_and_least(
        values, sizes, widened_sizes(values, sizes), plain.least(values, sizes.tolist())
    )


@pytest.mark.parametrize("sizes", [[6], [3, 3], [1, 2, 3]])
def test_nothing_helps_where_all_values_are_equal(sizes):
    """All records are then one cluster."""
    assert widened_sizes(np.full(6, 3), np.array(sizes)).tolist() == [6]


@pytest.mark.parametrize("n_values", [2, 3, 4])
def test_a_million_clusters_of_few_values(n_values):
    """Not quadratic: this would not end."""
    values = np.repeat(np.arange(n_values), 2_400_000 // n_values)
    sizes = np.full(800_000, 3)
    sizes[0] += 1
    sizes[-1] -= 1
    joined = widened_sizes(values, sizes)
    starts = np.cumsum(joined) - joined
    assert (values[starts] < values[starts + joined - 1]).all()
    assert joined.sum() == len(values)


def test_the_least_of_the_ends_of_int64():
    """Distances of 64 bits do not overflow."""
    values = np.array([-(2**63), -(2**63), 2**63 - 2, 2**63 - 2, 2**63 - 1, 2**63 - 1])
    assert widened_sizes(values, np.array([2, 2, 2])).tolist() == [6]
