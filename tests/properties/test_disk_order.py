"""Columns in another order, put into it piece by piece on the disk."""

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.engines import disk_order
from microveil.engines.disk_order import OrderOnDisk
from microveil.table import keeping, scratch
from microveil.table.keeping import IN_MEMORY
from microveil.table.kept_polars import kept_polars
from microveil.table.ordering import OrderInMemory
from microveil.table.scratch import Scratch

TEXTS = st.lists(st.none() | st.text(max_size=40), max_size=40)


@pytest.fixture(autouse=True, scope="module")
def small():
    """A piece is of few records, and all of it on the disk."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(keeping, "PIECE", 5)
        patched.setattr(keeping, "FIRST", 2)
        patched.setattr(scratch, "SMALL", 8)
        yield


def order_of(n_records, seed, at_once, holds_numbers, kind=np.int64):
    positions = np.random.default_rng(seed).permutation(n_records).astype(kind)
    order = OrderOnDisk(positions, Scratch(), at_once, holds_numbers=holds_numbers)
    return OrderInMemory(positions=positions), order


@given(TEXTS, st.integers(0, 99), st.integers(1, 2000), st.booleans())
def test_text_in_pieces_is_the_text_at_once(cells, seed, at_once, holds_numbers):
    """However many letters a cell has and a piece may have: cells, name and type."""
    column = pl.Series("TEXT", cells, dtype=pl.String)
    whole, parts = order_of(len(cells), seed, at_once, holds_numbers)
    for own in (column, column.cast(pl.Binary), column[::-1], column[1:]):
        if len(own) < len(cells):
            whole, parts = order_of(len(own), seed, at_once, holds_numbers)
        put = parts.arranged(own)
        assert put.dtype == own.dtype
        assert put.name == "TEXT"
        assert put.equals(whole.arranged(own), null_equal=True)


@given(st.integers(0, 60), st.integers(0, 99), st.booleans(), st.sampled_from([np.int32, np.int64]))
def test_numbers_in_parts_are_the_numbers_at_once(n_records, seed, holds_numbers, kind):
    """Of every type that a release has, by positions of either width."""
    whole, parts = order_of(n_records, seed, 100, holds_numbers, kind)
    drawn = np.random.default_rng(seed).integers(-99, 99, n_records)
    for values in (drawn, drawn / 7, drawn > 0, drawn.astype(np.int16)):
        assert parts.arranged(values).dtype == values.dtype
        assert np.array_equal(parts.arranged(values), whole.arranged(values))
        column = pl.Series("X", values).set(pl.Series(drawn % 5 == 0), None)
        assert parts.arranged(column).equals(whole.arranged(column), null_equal=True)


@given(st.lists(st.integers(1, 50), max_size=40), st.integers(1, 100), st.integers(1, 7))
def test_runs_are_as_long_as_they_may_be(sizes, most, length):
    """All records once, each run within what it may take or of one record, and none too short."""
    own = np.array(sizes, dtype=np.int64)
    cuts = disk_order._cuts((own[i : i + length] for i in range(0, len(own), length)), most)
    assert cuts[0] == 0
    assert cuts[-1] == len(sizes)
    ends = [0, *np.cumsum(own).tolist()]
    for start, stop in itertools.pairwise(cuts):
        assert ends[stop] - ends[start] <= most or stop == start + 1
        assert stop == len(sizes) or ends[stop + 1] - ends[start] > most


@given(st.permutations(["east", "north", "south", "west"]), st.permutations(range(4)))
def test_the_list_of_a_kept_type_says_nothing_of_the_order_of_records(words, positions):
    """What leaves lists categories in the order of words, or as they come in the release."""
    order = OrderInMemory(positions=np.array(positions))
    released = [words[place] for place in positions]
    for kind in (pl.Enum(words), pl.Categorical):
        column = pl.Series("PLACE", words, dtype=pl.String).cast(kind)
        kept = kept_polars(column, order, IN_MEMORY)
        assert kept.cast(pl.String).to_list() == released
        listed = isinstance(kept.dtype, pl.Enum)
        if listed:
            assert kept.dtype.categories.to_list() == sorted(words)
        else:
            assert kept.to_arrow().dictionary.to_pylist() == released
