"""Sorting by digits against Python's own sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.kernels import sorting as kernel
from microveil.table import sorting
from reference.sorting import by_bits

words = st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 300), st.sampled_from([0, 2**64 - 1]))
floats = st.one_of(st.floats(width=64), st.sampled_from([0.0, -0.0, 5e-324, -5e-324]))
whole = st.one_of(st.integers(-(2**63), 2**63 - 1), st.integers(-3, 3))


@given(st.lists(words, max_size=400), st.integers(0, 64), st.integers(0, 64))
def test_words_are_sorted_by_their_bits_and_equal_ones_stay_in_order(values, one, other):
    """Whatever bits are asked for, the order is that of a stable sort by them alone."""
    low, high = sorted([one, other])
    found = np.array(values, dtype=np.uint64)
    sorting.sort_words(found, low, high)
    assert found.tolist() == by_bits(values, low, high)


@given(st.lists(words, max_size=400), st.integers(1, 40))
def test_a_short_array_beside_it_suffices(values, n_other):
    """With little memory beside them all words come out in order."""
    found = np.array(values, dtype=np.uint64)
    kernel.sort(found, np.empty(n_other, dtype=np.uint64), 0, 64)
    assert found.tolist() == sorted(values)


@pytest.mark.parametrize("as_many_more", [sorting.AS_MANY_MORE, 0])
@given(st.lists(st.one_of(floats, whole.map(float)), min_size=16, max_size=200))
def test_floats_are_sorted_as_numpy_sorts_them(as_many_more, values):
    """Zeros of both signs, infinities, what is no number: as `numpy.sort` has them."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sorting, "MANY", 0)
        changed.setattr(sorting, "AS_MANY_MORE", as_many_more)
        found = sorting.sorted_values(np.array(values))
    np.testing.assert_array_equal(found, np.sort(np.array(values)))


@given(
    st.lists(st.integers(-99, 99), min_size=900, max_size=999),
    st.sampled_from([1, 2, 10, 100, 1000]),
    st.sampled_from([None, 0.5, -0.0, 1e-9, np.nan, np.inf, 1e300, 123456.75]),
    st.booleans(),
)
def test_few_whole_or_decimal_numbers_are_sorted_as_numpy_sorts_them(units, parts, odd, last):
    """To the last bit, and so if one value is none of them, which may be seen late."""
    values = np.array(units) / parts
    if odd is not None:
        values[-1 if last else 0] = odd
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sorting, "MANY", 0)
        found = sorting.sorted_values(values)
    np.testing.assert_array_equal(found, np.sort(values))
    assert np.signbit(found).sum() == np.signbit(values).sum()


def test_few_numbers_are_counted(monkeypatch):
    """Ages and cents are, and many different numbers are not: they are sorted by digits."""
    by_digits = []
    monkeypatch.setattr(kernel, "sort", lambda *_given: by_digits.append(1))
    units = np.random.Generator(np.random.PCG64(1)).integers(0, 999, 10_000)
    for values in (units * 1.0, units / 100, units - 500.0):
        found = sorting.sorted_values(values)
        assert np.array_equal(found, np.sort(values))
    assert not by_digits
    sorting.sort(units * 7.0)
    assert len(by_digits) == 1


@given(st.lists(whole, max_size=200))
def test_whole_numbers_are_sorted_from_the_least_to_the_greatest(values):
    """All of 64 bits, negative ones before the others."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sorting, "MANY", 0)
        found = sorting.sorted_values(np.array(values, dtype=np.int64))
    assert found.tolist() == sorted(values)


@pytest.mark.parametrize("n_values", [1_999, 2_000, 2_001, 65_536])
def test_many_values_are_sorted_as_few_are(n_values):
    """Long arrays, contiguous or not, of either byte order, and of other kinds, are in order."""
    random = np.random.Generator(np.random.PCG64(n_values))
    values = np.round(random.lognormal(10, 2, n_values) - 20_000, 2)
    kinds = [values, values[::-1], values[::3], values.astype(">f8"), values.astype(np.int64)]
    for kind in [*kinds, values.astype(np.float32), values.astype(str)]:
        np.testing.assert_array_equal(sorting.sorted_values(kind), np.sort(kind))


def test_of_many_values_little_memory_is_taken_beside_them(monkeypatch):
    """Beyond a bound a sixteenth as much is held beside the values."""
    taken = []
    sorted_by = kernel.sort
    monkeypatch.setattr(sorting, "AS_MANY_MORE", 10_000)
    monkeypatch.setattr(
        kernel,
        "sort",
        lambda words, other, low, high: (
            taken.append(len(other)),
            sorted_by(words, other, low, high),
        ),
    )
    for n_values in (10_000, 160_000):
        values = np.random.Generator(np.random.PCG64(1)).normal(size=n_values)
        sorting.sort(values)
        assert (np.diff(values) >= 0).all()
    assert taken == [10_000, 10_000]
