"""Partitions for vector sensitivities, against a search and every ranking by a fixed size."""

import functools
import math
import statistics
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from microveil.errors import DataError, RequestError
from microveil.kernels import vector_aware as kernel
from microveil.partition import ranking_sizes, vector_search
from microveil.partition.vector_search import vector_aware, vector_aware_sizes
from reference import vector_aware as plain

ROUNDING = 1e-9

tied = st.integers(0, 4)
small = st.integers(-500, 500)
# Distances that float64 holds exactly, of values far from 0 on both sides.
wide = st.integers(-(2**51), 2**51).map(lambda value: value * 2**10)
islands = st.builds(
    lambda island, value: island * 10**9 + value, st.integers(-3, 3), st.integers(0, 9)
)
skewed = st.floats(0, 30).map(lambda power: int(2**power))
kinds = (tied, small, wide, islands, skewed)
shares = st.floats(-4, 4).map(lambda power: 10.0**power)


def tables(most):
    """Lists of whole numbers of one kind, not all equal, in ascending order."""
    lists = [st.lists(kind, min_size=3, max_size=most) for kind in kinds]
    return st.one_of(*lists).map(sorted).filter(lambda values: values[0] < values[-1])


@functools.cache
def data_sets(n):
    """Ascending whole numbers of many shapes, from fixed seeds."""
    random = np.random.Generator(np.random.PCG64(n))
    data = {
        "normal": np.rint(random.normal(0, 1e6, n)),
        "lognormal": np.rint(np.exp(random.normal(10, 1.5, n))),
        "uniform": random.integers(0, 10**9, n),
        "ties": random.geometric(0.02, n),
        "few values": random.integers(0, 100, n),
        "heavy tails": np.rint(np.clip(random.standard_cauchy(n) * 1e3, -1e12, 1e12)),
        "islands": random.integers(0, 5, n) * 10**7 + random.integers(0, 50, n),
    }
    return {name: np.sort(values.astype(np.int64)) for name, values in data.items()}


def measured(values, sizes, share):
    """The objective in floating point, for many values."""
    values = (values - values[0]).astype(float)
    totals = np.empty(4)
    kernel.cut_totals(values, np.concatenate([[0], np.cumsum(sizes)]), totals)
    return totals[0] + 2 / share**2 * totals[1] * max(totals[2], totals[3]) ** 2


def scale_limits_down(monkeypatch, n):
    """Search a table of n records as one a little above the limits of a search of all pairs."""
    part = n / (vector_search._ALL_PAIRS + 100)
    for name, power in (("_COARSE", 1), ("_PAIRS", 2), ("_MOST_REACH", 1)):
        limit = getattr(vector_search, name)
        monkeypatch.setattr(vector_search, name, int(limit * part**power))
    monkeypatch.setattr(vector_search, "_ALL_PAIRS", n - 1)


@given(tables(60), st.integers(3, 6), shares, st.booleans())
def test_never_worse_than_a_fixed_size_or_one_cluster(values, k, share, exact_allowed):
    """Sizes are k or more, and no allowed ranking by a fixed size has a smaller objective."""
    assume(len(values) >= k)
    sizes = vector_aware_sizes(np.array(values), k, share, exact_allowed=exact_allowed).tolist()
    assert sum(sizes) == len(values)
    assert min(sizes) >= k
    assert plain.allowed(values, sizes, exact_allowed=exact_allowed)
    ours = plain.objective(values, sizes, share)
    for size in range(k, len(values) + 1):
        others = ranking_sizes(len(values), size).tolist()
        if plain.allowed(values, others, exact_allowed=exact_allowed):
            assert ours <= plain.objective(values, others, share) * (1 + ROUNDING)


@pytest.mark.parametrize("exact_allowed", [True, False])
@pytest.mark.parametrize("share", [0.1, 10, 1000])
@pytest.mark.parametrize("name", data_sets(3))
def test_never_worse_than_a_fixed_size_among_many_records(name, share, exact_allowed, monkeypatch):
    """Nor where only some of the positions are candidates."""
    scale_limits_down(monkeypatch, 600)
    values = data_sets(300)[name]
    sizes = vector_aware_sizes(values, 3, share, exact_allowed=exact_allowed)
    assert sizes.sum() == len(values)
    assert sizes.min() >= 3
    ours = measured(values, sizes, share)
    ends = np.cumsum(sizes)
    assert exact_allowed or (values[ends - sizes] < values[ends - 1]).all()
    for size in range(3, len(values) + 1):
        others = ranking_sizes(len(values), size)
        ends = np.cumsum(others)
        if exact_allowed or (values[ends - others] < values[ends - 1]).all():
            assert ours <= measured(values, others, share) * (1 + ROUNDING)


@pytest.mark.parametrize("n_tables", [100, pytest.param(300, marks=pytest.mark.slow)])
def test_hardly_worse_than_the_best_of_all_partitions(n_tables):
    """Of tables of up to 12 records 99 % get the best, and none 10 % more than that."""
    random = np.random.Generator(np.random.PCG64(12))
    ratios = []
    while len(ratios) < n_tables:
        n = int(random.integers(6, 13))
        values = [
            random.integers(0, 1000, n),
            random.integers(0, 6, n),
            np.rint(np.exp(random.normal(5, 2, n))).astype(np.int64),
            random.integers(0, 4, n) * 1000 + random.integers(0, 20, n),
        ][random.integers(4)]
        values = np.sort(values)
        if values[0] == values[-1]:
            continue
        share, exact_allowed = 10 ** random.uniform(-1, 2.5), bool(random.integers(2))
        sizes = vector_aware_sizes(values, 3, share, exact_allowed=exact_allowed)
        ours = plain.objective(values, sizes.tolist(), share)
        least = plain.least_by_search(values, 3, share, exact_allowed=exact_allowed)
        assert ours <= 1.1 * least
        ratios.append(ours / least if least else 1.0)
    assert statistics.mean(ratio <= 1 + ROUNDING for ratio in ratios) >= 0.99


@pytest.mark.parametrize("exact_allowed", [True, False])
@pytest.mark.parametrize(
    "share", [10, *(pytest.param(share, marks=pytest.mark.slow) for share in (0.1, 1, 100))]
)
@pytest.mark.parametrize("name", data_sets(3))
def test_few_candidates_find_nearly_what_all_find(name, share, exact_allowed, monkeypatch):
    """The search of large tables stays within 2 % of that over all pairs."""
    values = data_sets(1000)[name]
    scale_limits_down(monkeypatch, 1000)
    few = vector_aware_sizes(values, 3, share, exact_allowed=exact_allowed)
    monkeypatch.setattr(vector_search, "_ALL_PAIRS", 1000)
    every = vector_aware_sizes(values, 3, share, exact_allowed=exact_allowed)
    assert measured(values, few, share) <= 1.02 * measured(values, every, share)


@pytest.mark.parametrize("share", [1e-320, 1e-200, 1e200, 1.7e308])
def test_any_share(share):
    """With hardly any budget one cluster, with any amount of it many."""
    values = np.arange(100) ** 2
    n_clusters = len(vector_aware_sizes(values, 3, share))
    assert n_clusters == 1 if share < 1 else n_clusters > 20


@pytest.mark.parametrize("n", [3, 7, 100, 3000])
@pytest.mark.parametrize("exact_allowed", [True, False])
def test_equal_values_are_one_cluster(n, exact_allowed):
    """There is nothing to choose."""
    sizes = vector_aware_sizes(np.full(n, 7), 3, 1.0, exact_allowed=exact_allowed)
    assert sizes.tolist() == [n]


@pytest.mark.parametrize("n", [30, 3000])
def test_clusters_of_equal_values_cost_nothing(n):
    """Where they are allowed and many are equal, nothing else is formed."""
    values = np.repeat(np.array([1, 5, 6, 1000]), n // 3)
    sizes = vector_aware_sizes(values, 3, 1e-3)
    assert plain.objective(values, sizes.tolist(), 1e-3) == 0
    joined = vector_aware_sizes(values, 3, 1e3, exact_allowed=False)
    assert plain.allowed(values, joined.tolist(), exact_allowed=False)


def test_near_values_are_told_apart_beside_far_ones():
    """Near values are told apart although another is a billion times farther away."""
    values = np.array([0, 0, 1, 1000, 1001, 1001, 10**12, 10**12, 10**12 + 1])
    assert vector_aware_sizes(values, 3, 1.0).tolist() == [3, 3, 3]


def cuts_of(before, last):
    """Places of a path, the last first."""
    cuts = [last]
    while cuts[-1] > 0:
        cuts.append(int(before[cuts[-1]]))
    return cuts


@given(tables(30), st.integers(3, 5), st.booleans(), st.data())
def test_paths_are_the_shortest(values, k, exact_allowed, data):
    """The kernel's path costs what the plain programme finds; a limit that it keeps hides none."""
    n = len(values)
    assume(n >= k)
    values = [value - values[0] for value in values]
    unit = 10.0 ** data.draw(st.integers(-3, 3)) * values[-1] ** (4 / 3)
    weights = np.array(data.draw(st.lists(st.floats(0, 1), min_size=6, max_size=6)))
    weights = weights.reshape(3, 2) * unit
    places = np.array(sorted({0, n, *data.draw(st.sets(st.integers(0, n)))}))
    last = len(places) - 1
    pieces, ends = np.empty((2, last)), np.empty((6, last + 1))
    in_order = np.array(values, dtype=float)
    kernel.measure(in_order, places, pieces, ends)
    before = np.zeros((2, last + 1), dtype=np.int32)
    reach = np.full(last + 1, last)
    unlimited = np.full(2, np.inf)
    kernel.shortest_paths(places, pieces, ends, reach, k, exact_allowed, weights, unlimited, before)
    limits = np.full(2, np.inf)
    for number, path in enumerate(before):
        totals, cuts = np.empty(4), np.empty(n + 1, dtype=np.int64)
        kernel.path_totals(places, pieces, ends, path, totals, cuts)
        limits[number] = totals @ [1, *weights[:, number]] * (1 + ROUNDING)
    limited = np.zeros_like(before)
    kernel.shortest_paths(places, pieces, ends, reach, k, exact_allowed, weights, limits, limited)
    assert [cuts_of(path, last) for path in limited] == [cuts_of(path, last) for path in before]
    for path, three in zip(before, weights.T.tolist(), strict=True):
        totals, again, cuts = np.empty(4), np.empty(4), np.empty(n + 1, dtype=np.int64)
        n_runs = kernel.path_totals(places, pieces, ends, path, totals, cuts)
        cuts = cuts[n_runs::-1].copy()
        assert set(cuts.tolist()) <= set(places.tolist())
        assert plain.allowed(values, np.diff(cuts).tolist(), exact_allowed=exact_allowed)
        kernel.cut_totals(in_order, cuts, again)
        assert again == pytest.approx(totals, rel=1e-12)
        least = plain.shortest_path(values, k, three, places.tolist(), exact_allowed=exact_allowed)
        assert totals @ [1, *three] == pytest.approx(least, rel=1e-11)


def test_sizes_hang_on_no_unit_and_no_origin():
    """Whole numbers and floats of any size and sign are cut alike, in batches or at once."""
    for values in data_sets(60).values():
        expected = vector_aware_sizes(values, 3, 1.0).tolist()
        others = [values * unit + origin
                  for unit, origin in ((1, -(2**62)), (1, 2**62), (3, 0), (10**6, -5))]  # fmt: skip
        others += [np.ldexp((values - values[end]).astype(float), power)
                   for end in (0, -1) for power in (-1000, 900)]  # fmt: skip
        with patch.object(vector_search, "BATCH", 4):
            found = [vector_aware_sizes(other, 3, 1.0).tolist() for other in others]
        assert found == [expected] * len(others)


def test_labels_are_in_the_order_of_values():
    """The partition of records in any order, ties by position."""
    part = vector_aware([7, 1, 8, 2, 9, 3], k=3, share=100.0)
    assert part.labels.tolist() == [1, 0, 1, 0, 1, 0]


@pytest.mark.parametrize(
    ("k", "share", "error"),
    [
        (2, 1.0, RequestError),
        (True, 1.0, RequestError),
        (3.0, 1.0, RequestError),
        (3, 0, RequestError),
        (3, -1.0, RequestError),
        (3, math.inf, RequestError),
        (3, math.nan, RequestError),
        (3, True, RequestError),
        (3, "1", RequestError),
        (7, 1.0, DataError),
    ],
)
def test_bad_requests_are_refused(k, share, error):
    """With an error of ours."""
    with pytest.raises(error):
        vector_aware([7, 1, 8, 2, 9, 3], k, share)
