"""Optimal partitions against a search and the plain dynamic programme, in exact arithmetic."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.errors import DataError, RequestError
from microveil.partition.optimal import (
    noise_aware,
    noise_aware_sizes,
    optimal,
    optimal_sizes,
)
from reference import optimal as plain

FAR = 10**15

tied = st.integers(0, 4)
small = st.integers(-500, 500)
# Differences that squares of float64 would lose in prefix sums.
offset = small.map(lambda value: value + FAR)
# Clusters of near values, very far from each other: what is far must not drown what is near.
islands = st.builds(
    lambda island, value: island * FAR + value, st.integers(-3, 3), st.integers(0, 9)
)
wide = st.integers(-(2**63), 2**63 - 1)
near = st.one_of(*(st.lists(kind, min_size=1, max_size=12) for kind in (tied, small, offset)))
far = st.lists(islands, min_size=1, max_size=12)
penalties = st.one_of(st.integers(0, 20), st.integers(0, 10**6), st.floats(0, 1e32))

# A unit in the last place for each record, and to spare.
ROUNDING = Fraction(1, 2**48)


def data_sets(n):
    """Yield ascending whole numbers of many shapes, from fixed seeds."""
    random = np.random.Generator(np.random.PCG64(n))
    yield "lognormal", np.rint(np.exp(random.normal(10, 1.5, n)))
    yield "few values", random.integers(0, 12, n)
    yield "many ties", random.geometric(0.02, n)
    yield "uniform", random.integers(0, 10**9, n)
    yield "offset", FAR + random.integers(0, 100, n)
    yield "heavy tails", np.rint(np.clip(random.standard_cauchy(n) * 1e3, -1e15, 1e15))
    yield "magnitudes", random.choice([-1, 1], n) * 10 ** random.uniform(0, 15, n)
    yield "islands", random.integers(-5, 5, n) * FAR + random.integers(0, 50, n)


def ascending(n):
    """The same data, sorted and as int64."""
    return [pytest.param(np.sort(data.astype(np.int64)), id=name) for name, data in data_sets(n)]


def cost(in_order, sizes, penalty=0):
    """Cost of a partition in exact arithmetic."""
    return plain.cost_of_sizes(np.asarray(in_order).tolist(), sizes.tolist(), penalty)


@given(near, st.data())
def test_no_partition_has_a_smaller_sum_of_squares(values, data):
    """Sizes are k to 2k - 1, the sum of squares is the least of all partitions, exactly."""
    values.sort()
    k = data.draw(st.integers(1, len(values)))
    sizes = optimal_sizes(np.array(values), k)
    assert sizes.sum() == len(values)
    assert k <= sizes.min() <= sizes.max() <= 2 * k - 1
    least = plain.least_by_search(values, k, len(values))
    assert cost(values, sizes) == least == plain.least(values, k, 2 * k - 1)


@given(st.one_of(near, far), penalties, st.data())
def test_no_partition_has_a_smaller_expected_error(values, penalty, data):
    """Sizes are k or more, and the sum of squares and the noise are the least together."""
    values.sort()
    k = data.draw(st.integers(1, len(values)))
    sizes = noise_aware_sizes(np.array(values), k, penalty)
    assert sizes.sum() == len(values)
    assert k <= sizes.min()
    least = plain.least_by_search(values, k, len(values), penalty)
    assert least == plain.least(values, k, len(values), penalty)
    assert cost(values, sizes, penalty) <= least * (1 + ROUNDING)


@given(st.lists(wide, min_size=1, max_size=10), st.data())
def test_whole_numbers_of_64_bits_do_not_overflow(values, data):
    """Nor do their differences."""
    values.sort()
    k = data.draw(st.integers(1, len(values)))
    sizes = optimal_sizes(np.array(values), k)
    assert cost(values, sizes) <= plain.least_by_search(values, k, len(values)) * (1 + ROUNDING)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=10),
    st.floats(0, allow_infinity=False),
    st.data(),
)
def test_floats_of_any_magnitude(values, penalty, data):
    """No square overflows, no difference is lost that could matter."""
    values.sort()
    k = data.draw(st.integers(1, len(values)))
    # What is 2**-500 of the largest value counts for nothing.
    negligible = Fraction(max(map(abs, values))) ** 2 / 2**900
    sizes = optimal_sizes(np.array(values), k)
    least = plain.least_by_search(values, k, len(values))
    assert cost(values, sizes) <= least * (1 + ROUNDING) + negligible
    sizes = noise_aware_sizes(np.array(values), k, penalty)
    least = plain.least_by_search(values, k, len(values), penalty)
    assert cost(values, sizes, penalty) <= least * (1 + ROUNDING) + negligible


@pytest.mark.parametrize("in_order", ascending(2000))
@pytest.mark.parametrize("k", [2, 3, 10])
def test_sum_of_squares_of_the_plain_dynamic_programme(in_order, k):
    """Ties, heavy tails, an offset of 1e15, islands: equal in exact arithmetic."""
    assert cost(in_order, optimal_sizes(in_order, k)) == plain.least(
        in_order.tolist(), k, 2 * k - 1
    )


@pytest.mark.parametrize("in_order", ascending(90))
@pytest.mark.parametrize(("epsilon", "k"), [(0.5, 1), (16, 7), (4096, 1)])
def test_expected_error_of_the_plain_quadratic_dynamic_programme(in_order, k, epsilon):
    """From a few clusters to many, whatever the values."""
    width = int(in_order[-1] - in_order[0])
    penalty = 2 * float(width**2) / epsilon**2
    found = cost(in_order, noise_aware_sizes(in_order, k, penalty), penalty)
    assert found <= plain.least(in_order.tolist(), k, len(in_order), penalty) * (1 + ROUNDING)


@pytest.mark.parametrize("unit", [1e-300, 1, 1e150])
def test_an_overwhelming_penalty_joins_everybody(unit):
    """One cluster, whatever the magnitude of the values."""
    values = np.arange(20) * unit
    assert noise_aware(values, 2, 1e308).sizes.tolist() == [20]
    assert noise_aware(np.arange(20), 2, 10**307).sizes.tolist() == [20]


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_equal_values_do_not_make_clusters_of_2k(k):
    """Not even where they would lose nothing."""
    for n in range(k, 80):
        sizes = optimal_sizes(np.full(n, 7), k)
        assert k <= sizes.min() <= sizes.max() <= 2 * k - 1


@given(st.lists(tied, min_size=1, max_size=40), st.data())
def test_equal_values_keep_the_order_of_records(values, data):
    """Clusters are in ascending order of value, then of record position."""
    k = data.draw(st.integers(1, len(values)))
    for labels in (optimal(values, k).labels, noise_aware(values, k, 3).labels):
        by_value = sorted(range(len(values)), key=lambda record: (values[record], record))
        steps = np.diff(labels[by_value])
        assert set(steps.tolist()) <= {0, 1}
        assert labels[by_value[0]] == 0


def test_of_equally_good_cuts_the_leftmost_is_taken():
    """Equal values: the last cluster is as large as it may be."""
    assert optimal_sizes(np.full(11, 7), 3).tolist() == [3, 3, 5]
    assert optimal_sizes(np.full(7, 0.1), 2).tolist() == [2, 2, 3]
    assert noise_aware_sizes(np.full(11, 7), 3, 0.0).tolist() == [11]


@pytest.mark.slow  # the rival compiles all that it does anew in each process
@pytest.mark.parametrize("in_order", ascending(3000))
@pytest.mark.parametrize("k", [2, 5, 10, 100])
def test_never_worse_than_microagg1d(in_order, k):
    """In exact arithmetic, whichever of its exact methods and cost formulas is used."""
    import microagg1d

    ours = cost(in_order, optimal_sizes(in_order, k))
    for method, stable in itertools.product(("wilber", "galil_park", "staggered"), (0, 1, 2)):
        theirs = microagg1d.univariate_microaggregation(
            in_order.astype(np.float64), k, method=method, stable=stable
        )
        sizes = np.bincount(theirs)
        assert sizes.min() >= k
        assert ours <= cost(in_order, sizes)


@pytest.mark.parametrize(
    ("values", "k", "penalty", "error"),
    [
        *(([1, 2, 3], k, 1, RequestError) for k in (0, True, 1.5)),
        ([1, 2, 3], 4, 1, DataError),
        ([1.0, float("nan")], 1, 1, DataError),
        ([1.0, float("inf")], 1, 1, DataError),
        (["a", "b"], 1, 1, DataError),
        ([[1, 2], [3, 4]], 1, 1, DataError),
        *(
            ([1, 2, 3], 1, penalty, RequestError)
            for penalty in (-1, float("nan"), float("inf"), None, "1", True)
        ),
    ],
)
def test_bad_input_is_refused(values, k, penalty, error):
    """What cannot be partitioned gets an error of ours; a penalty is finite, and 0 or more."""
    with pytest.raises(error):
        noise_aware(values, k, penalty)
    if penalty == 1 and penalty is not True:
        with pytest.raises(error):
            optimal(values, k)


@pytest.mark.reference
@pytest.mark.parametrize(("k", "published"), [(3, 0.10291772), (5, 0.33134607), (10, 0.89056038)])
def test_information_loss_on_census(reference_data, k, published):
    """Percent of the sum of squares that is lost, mean over all 13 attributes of Census."""
    table = np.loadtxt(reference_data / "census.csv", delimiter=",", skiprows=1, dtype=np.int64)
    assert table.shape == (1080, 13)
    losses = []
    for column in np.sort(table, axis=0).T:
        lost = cost(column, optimal_sizes(column, k))
        losses.append(100 * lost / plain.cost(column.tolist()))
    assert float(sum(losses) / 13) == pytest.approx(published, abs=5e-9)
