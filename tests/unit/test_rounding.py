"""Values that are rounded anew are, wherever they are looked at, those that would be kept."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.partition import rank_order
from microveil.schema import Attribute, Bounds, Kind, Source
from microveil.table import keeping, on_grid, open_table
from microveil.table.cells import floats
from microveil.table.gridding import numbers_of_attribute
from microveil.table.rounding import on_grid_anew

PLACE = st.none() | st.integers(-12, 12)
VALUES = st.lists(st.floats(-50, 50, width=32), min_size=2, max_size=10)


def pay(lower=-50, upper=50):
    return Attribute(
        name="PAY",
        kind=Kind.DECIMAL,
        resolution=Fraction(1, 100),
        resolution_source=Source.DECLARED,
        domain=Bounds(lower=Fraction(lower), upper=Fraction(upper), source=Source.DECLARED),
    )


def anew(values, attribute, *, clamp=False):
    table = open_table({"PAY": np.array(values)})
    return on_grid_anew(table, attribute, clamp=clamp, may_be_hidden=False)


def kept(values, attribute, *, clamp=False):
    numbers = numbers_of_attribute(open_table({"PAY": np.array(values)}), attribute)
    return on_grid(numbers, attribute, keep_missing=True, clamp=clamp)


@given(VALUES, PLACE, PLACE, st.integers(1, 4))
def test_each_look_at_values_rounded_anew_is_that_of_an_array(values, start, stop, at_once):
    """By places, one place, a list of places, as a whole, in order; clamped ones too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeping, "PIECE", at_once)
        attribute = pay(-20, 20)
        found, array = anew(values, attribute, clamp=True), kept(values, attribute, clamp=True)
        mine, whole = found.values, array.values
        assert (found.n_present, found.missing) == (array.n_present, array.missing)
        assert np.asarray(mine).tolist() == whole.tolist()
        assert mine[start:stop].tolist() == whole[start:stop].tolist()
        assert [int(mine[place]) for place in range(-len(whole), len(whole))] == [*whole, *whole]
        assert mine[np.array([0, -1])].tolist() == whole[[0, -1]].tolist()
        assert (mine.min(), mine.max()) == (whole.min(), whole.max())
        by_value = np.argsort(whole, kind="stable")
        order, in_order = rank_order(mine)
        assert order.tolist() == by_value.tolist()
        assert in_order.tolist() == whole[by_value].tolist()


@pytest.mark.parametrize("lacking", [np.nan, np.inf])
def test_a_column_that_lacks_a_value_is_not_rounded_anew(lacking):
    """Which records have none would have to be found each time: it is put on the disk."""
    assert anew([1.0, lacking], pay()) is None


def test_what_breaks_a_rule_is_refused_as_of_a_column_that_is_kept(monkeypatch):
    """Counted over all pieces, with the first record of the column; so is what is too wide."""
    monkeypatch.setattr(keeping, "PIECE", 2)
    for values in ([1.0, 2.0, 3.0, 70.0, 5.0, -60.0], [1.0, 1e300]):
        errors = []
        for made in (anew, kept):
            with pytest.raises(mv.DataError) as refused:
                made(values, pay())
            errors.append(str(refused.value))
        assert errors[0] == errors[1]


@given(st.lists(st.sampled_from([0.0, -1.5, np.inf, -np.inf, np.nan]), max_size=6))
def test_floats_that_are_no_number_are_missing(values):
    """Those, and no others; where all are numbers none is."""
    found = floats(np.array(values))
    expected = [np.isnan(value) for value in values]
    assert (found.missing is not None) == any(expected)
    assert found.missing is None or found.missing.tolist() == expected
