"""How far a distribution moved, by counting and by sorting few values, is what all values say."""

from collections import Counter
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microveil.kernels import counted_values as kernel
from microveil.table import threads
from microveil.utility import distribution_shift as module
from microveil.utility.distribution_shift import Values, distribution_shift
from reference import distributions as oracle

COMMON = 0.3
numbers = st.one_of(
    st.integers(-9, 9).map(float),
    st.sampled_from([0.0, -0.0, 5e-324, -5e-324, 1e308, -1e308, 1.0, 1.0000000000000002]),
    st.floats(allow_nan=False, allow_infinity=False),
)
columns = st.lists(numbers, min_size=1, max_size=40)


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """However few the values are, they are counted, in pieces that are made again."""
    monkeypatch.setattr(module, "FEW", 0)
    monkeypatch.setattr(module, "HELD", 0)
    monkeypatch.setattr(threads, "PIECE", 7)


def shift_of(before, after, taken=None):
    """Compare two columns; ``taken`` gets how many values of each were sorted."""

    def in_order(n_records, made, own=module._in_order):
        found = own(n_records, made)
        if taken is not None:
            taken.append(len(found))
        return found

    sides = (Values(len(side), np.array(side, dtype=float).__getitem__) for side in (before, after))
    with patch.object(module, "_in_order", in_order):
        return distribution_shift(*sides, common=COMMON)


def held_to_oracle(before, after, found):
    assert found.distance == float(oracle.kolmogorov_smirnov_distance(before, after))
    counts, counts_after = Counter(before), Counter(after)
    common = sorted(value for value in counts if counts[value] / len(before) > COMMON)
    assert found.shares.tolist() == [counts[value] / len(before) for value in common]
    assert found.shares_after.tolist() == [counts_after[value] / len(after) for value in common]


@pytest.mark.parametrize("fine", [1, 3, 15])
def test_the_distance_and_common_values_are_those_of_all_values(fine, monkeypatch):
    """Whatever the values, ties and both zeros among them, and however narrow the buckets are."""
    monkeypatch.setattr(module, "FINE", fine)

    @given(columns, columns)
    @example([0.0], [-0.0])
    @example([0.0, -0.0, 1.0], [5e-324, 0.0])
    @example([1.0, 1.0, 2.0], [np.nextafter(1.0, 2.0), 1.0])
    def holds(before, after):
        held_to_oracle(before, after, shift_of(before, after))

    holds()


def test_small_whole_numbers_are_counted_each_by_itself(monkeypatch):
    """Exactly, zeros of both signs and values at both ends among them; nothing is sorted then."""
    monkeypatch.setattr(module, "MANY", 0)
    monkeypatch.setattr(module, "SMALL", 4)
    ends = st.integers(-4, 3).map(float) | st.just(-0.0)

    @given(st.lists(ends, min_size=1, max_size=40), st.lists(ends, min_size=1, max_size=40))
    def holds(before, after):
        taken = []
        held_to_oracle(before, after, shift_of(before, after, taken))
        assert not taken

    holds()


@pytest.mark.parametrize("other", [4.0, -5.0, 0.5, -1e300, 1e300, 5e-324])
@pytest.mark.parametrize("side", [0, 1])
def test_a_value_that_is_no_small_whole_number_is_compared_too(other, side, monkeypatch):
    """On either side, and the last of many: whatever was counted until then is left."""
    monkeypatch.setattr(module, "MANY", 0)
    monkeypatch.setattr(module, "SMALL", 4)
    sides = [[1.0] * 20 + [2.0] * 9, [1.0] * 15 + [-3.0] * 9]
    sides[side].append(other)
    taken = []
    held_to_oracle(*sides, shift_of(*sides, taken))
    assert taken


@pytest.mark.parametrize("fine", [6, 15])
def test_of_many_values_few_are_sorted(fine, monkeypatch):
    """Smooth, with a share of zeros, or of few different values: the distance is exact."""
    monkeypatch.setattr(module, "FINE", fine)
    monkeypatch.setattr(threads, "PIECE", 1000)
    random = np.random.Generator(np.random.PCG64(4))
    smooth = np.round(random.lognormal(8, 1, 4000), 2)
    zeros = np.where(random.random(4000) < 0.4, 0, smooth)
    for before in (smooth, zeros, random.integers(0, 50, 4000).astype(float)):
        after = np.rint(before + random.laplace(0, before.std() / 5, 4000))
        taken = []
        found = shift_of(before, after, taken)
        points = np.concatenate([before, after])
        shares = [np.searchsorted(np.sort(side), points, side="right") for side in (before, after)]
        assert found.distance == np.abs(shares[0] - shares[1]).max() / 4000
        assert fine < 15 or sum(taken) < 800


def test_few_values_are_held_and_sorted_as_many_are_counted(monkeypatch):
    """Which way is taken changes nothing."""
    random = np.random.Generator(np.random.PCG64(5))
    before = random.integers(0, 4, 300) / 4
    after = np.append(before[:200], [9.5])
    counted = shift_of(before, after)
    assert counted.distance > 0
    for name, value in (("HELD", 300), ("FEW", 300), ("MANY", 0)):
        monkeypatch.setattr(module, name, value)
        other = shift_of(before, after)
        assert other.distance == counted.distance
        assert other.shares.tolist() == counted.shares.tolist()
        assert other.shares_after.tolist() == counted.shares_after.tolist()


@pytest.mark.parametrize(("few", "many"), [(0, 10), (10, 10), (0, 0)])
def test_without_values_there_is_no_distance(few, many, monkeypatch):
    """On either side, and whichever way is taken."""
    monkeypatch.setattr(module, "FEW", few)
    monkeypatch.setattr(module, "MANY", many)
    assert shift_of([], [1.0]) is None
    assert shift_of([1.0], []) is None


@given(columns, columns, st.sets(st.integers(0, 3)))
@example([1.0] * 11 + [5.0], [-2.0, -0.5, 7.0, 7.0], {0, 1, 3})
def test_distances_count_values_that_were_not_taken(before, after, wanted):
    """All that are in lower buckets, until the values taken of either side are used up."""
    # Four buckets: up to -1, below 0, below 2, and the others.
    places = np.searchsorted([0x4010, 0x8000, 0xC000], np.arange(1 << 16), side="right")

    def bucket_of(value):
        return int(value > -1) + int(value >= 0) + int(value >= 2)

    before, after = (sorted(value + 0.0 for value in side) for side in (before, after))
    sides = before, after
    taken = [[value for value in side if bucket_of(value) in wanted] for side in sides]
    below = [
        [sum(bucket_of(v) < at and bucket_of(v) not in wanted for v in side) for at in range(4)]
        for side in sides
    ]
    n, m = len(before), len(after)
    last = min(max(side, default=-np.inf) for side in taken)
    expected = [0]
    for value in {value for side in taken for value in side if value <= last}:
        i, j = (
            below[side][bucket_of(value)] + sum(other <= value for other in taken[side])
            for side in (0, 1)
        )
        expected.append(abs(i * m - j * n))
    one, other = (np.array(side, dtype=float) for side in taken)
    found = kernel.largest_distance(one, other, places, 0, np.array(below), n, m)
    assert found == max(expected)
