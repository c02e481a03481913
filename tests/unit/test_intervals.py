"""Equal-width intervals against exact arithmetic, and the search for how many there may be."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microveil.errors import DataError, MicroveilError, RequestError
from microveil.partition.intervals import intervals
from reference import intervals as plain

quarters = st.integers(-200, 200).map(lambda number: number / 4)
clumps = st.sampled_from([0, 0, 0, 1, 1, 2, 5, 5, 7, 30])
columns = st.one_of(
    st.lists(st.integers(0, 12), min_size=2, max_size=40),
    st.lists(clumps, min_size=2, max_size=60),
    st.lists(st.integers(-(10**9), 10**9), min_size=2, max_size=40),
    st.lists(quarters, min_size=2, max_size=40),
).filter(lambda values: min(values) < max(values))


def sizes_in_floats(values, n_intervals):
    """How many values lie between the edges that are published, one m by itself."""
    lowest, highest = values.min(), values.max()
    starts = lowest + (highest - lowest) * np.arange(n_intervals) / n_intervals
    labels = np.searchsorted(starts[1:], values, side="right")
    return np.bincount(labels, minlength=n_intervals)


def most_in_floats(values, k):
    """The largest m with k values in every interval, by trying them all."""
    return next(m for m in range(len(values) // k, 0, -1) if sizes_in_floats(values, m).min() >= k)


@given(columns, st.data())
def test_labels_are_those_of_exact_arithmetic(values, data):
    """A value on an edge belongs above it, the largest to the last interval."""
    k = data.draw(st.integers(1, len(values)))
    result = intervals(values, k=k, every="average")
    assert result.n_intervals == len(values) // k
    assert result.labels.tolist() == plain.labels(values, result.n_intervals)
    assert result.sizes.tolist() == plain.sizes(values, result.n_intervals)


@given(columns, st.data())
@example([0, 0, 2, 3, 5, 5], None)
def test_every_group_gives_the_largest_number_that_serves(values, data):
    """No larger number of intervals up to floor(n/k) has k records in each."""
    k = data.draw(st.integers(1, len(values))) if data else 2
    result = intervals(values, k=k)
    assert result.n_intervals == plain.most_intervals(values, k)
    assert result.sizes.min() >= k


def test_the_kth_value_on_an_edge_is_no_longer_below_it():
    """An edge belongs to the interval above it: the one below then lacks a record."""
    assert intervals([0, 5, 6, 10], k=2).n_intervals == 1
    assert intervals([0, 4, 6, 10], k=2).n_intervals == 2
    assert intervals([0, 4, 5, 10], k=2).n_intervals == 2


@pytest.mark.parametrize(
    "seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 3))]
)
@pytest.mark.parametrize("k", [1, 2, 5, 30])
@pytest.mark.parametrize(
    "draw",
    [
        lambda generator: generator.uniform(size=600),
        lambda generator: generator.exponential(size=600),
        lambda generator: generator.normal(size=600) * 1e-200,
        lambda generator: 1e15 + generator.integers(0, 60, 600) / 8,
        lambda generator: generator.integers(0, 40, 600) / 10,
        lambda generator: np.append(np.arange(27), generator.integers(0, 27, 3)) * 0.1,
        lambda generator: np.repeat(np.arange(60.0), 10) + generator.uniform(0, 0.3, 600),
    ],
)
def test_real_numbers_are_grouped_as_by_trying_every_number(draw, k, seed):
    """However edges round, the answer is that of counting the groups of every m."""
    values = draw(np.random.default_rng(seed))
    result = intervals(values, k=k)
    assert result.n_intervals == most_in_floats(values, k)
    assert result.sizes.tolist() == sizes_in_floats(values, result.n_intervals).tolist()


@given(columns, st.randoms(use_true_random=False))
def test_intervals_do_not_depend_on_the_order_of_records(values, random):
    """Permuted records keep their labels, ties included."""
    order = list(range(len(values)))
    random.shuffle(order)
    whole = intervals(values, k=2)
    permuted = intervals([values[place] for place in order], k=2)
    assert permuted.labels.tolist() == whole.labels[order].tolist()


@pytest.mark.parametrize(
    ("values", "width", "n_intervals"),
    [
        ([24, 79], 5, 11),
        ([0, 10], 3, 4),
        ([0, 10], 10, 1),
        ([0, 10], 50, 1),
        ([0.1, 0.2, 0.3, 0.4], 0.1, 3),  # 3.0000000000000004 widths
        ([0, 3], 0.3, 10),
        ([0, 10], np.float64(2.5), 4),
        ([0, 10], 2.4999, 5),
    ],
)
def test_a_width_gives_the_fewest_intervals_no_wider(values, width, n_intervals):
    """There are max(1, ceil(range/width)), and they fill the range exactly."""
    result = intervals(values, width=width)
    assert result.n_intervals == n_intervals
    assert result.width == pytest.approx((max(values) - min(values)) / n_intervals)
    assert result.edges[-1] == max(values)


@pytest.mark.parametrize("kind", ["even", "grid", "gaps"])
def test_a_long_search_ends(kind):
    """Data made to look nearly right for every m: even spacing, alone or with small gaps."""
    n_records = 20_000
    values = np.arange(n_records, dtype=np.float64)
    if kind == "even":
        values += np.random.default_rng(1).uniform(0, 1e-6, n_records)
    elif kind == "gaps":
        values[n_records // 2 :] += 1.5
    result = intervals(values, k=5)
    assert result.sizes.min() >= 5
    for more in range(result.n_intervals + 1, min(result.n_intervals + 50, n_records // 5)):
        assert sizes_in_floats(values, more).min() < 5


@pytest.mark.parametrize(
    ("values", "arguments"),
    [
        ([1, 2, 3], {}),
        ([1, 2, 3], {"k": 1, "width": 1}),
        ([1, 2, 3], {"k": 0}),
        ([1, 2, 3], {"k": True}),
        ([1, 2, 3], {"k": 1.5}),
        ([1, 2, 3], {"width": 0}),
        ([1, 2, 3], {"width": -1.0}),
        ([1, 2, 3], {"width": math.inf}),
        ([1, 2, 3], {"width": math.nan}),
        ([1, 2, 3], {"width": True}),
        ([1, 2, 3], {"width": "5"}),
        ([1, 2, 3], {"width": 1e-9}),
        ([1, 2, 3], {"k": 1, "every": "cluster"}),
    ],
)
def test_bad_requests_are_refused(values, arguments):
    """A request that means nothing gets an error of ours."""
    with pytest.raises(RequestError):
        intervals(values, **arguments)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [7, 7, 7],
        [1, 2],
        [1.0, math.nan, 3.0],
        [1.0, math.inf, 3.0],
        [-1e300, 1e300, 0.0],
        ["a", "b", "c"],
        [[1, 2], [3, 4]],
        [0, 1, 2**60],
    ],
)
def test_bad_data_are_refused(values):
    """What cannot be cut into intervals of three records gets an error that shows no value."""
    with pytest.raises(DataError) as refused:
        intervals(values, k=3)
    assert isinstance(refused.value, MicroveilError)
    assert "7" not in str(refused.value)
