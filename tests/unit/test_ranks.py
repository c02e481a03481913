"""Ranks and numbers of values: what sorting them says, however near or far apart they are."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.table import sorting
from microveil.table.sorting import in_order, ranks_of
from reference.record_linkage import average_ranks

# Neighbours of 1, both zeros, and ends that leave few bits to tell the others apart.
NEAR = [1.0, np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 0.0, -0.0, 5e-324, -1.0]
FAR = [1.7976931348623157e308, -1.7976931348623157e308, np.inf, -np.inf]
CENTS = st.integers(-300, 300).map(lambda cents: cents / 100)
values = st.one_of(st.sampled_from(NEAR), st.sampled_from(FAR), st.integers(-3, 3).map(float))


@pytest.fixture(scope="module", params=[1, 10**9], ids=["counted", "sorted"])
def least_counted(request):
    """Of how many values on numbers are counted where few can occur."""
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sorting, "MANY", request.param)
        changed.setattr(sorting, "FEWER", 0.001)
        yield request.param


@pytest.mark.usefixtures("least_counted")
@given(st.lists(values | CENTS, min_size=1, max_size=60) | st.lists(CENTS, min_size=1))
def test_equal_values_share_the_average_of_their_ranks(column):
    """As counting the values below says, to the last bit of every value."""
    expected = [row[0] for row in average_ranks([[value] for value in column])]
    for narrow in (False, True):
        assert ranks_of(np.array(column), narrow=narrow).tolist() == expected


@given(
    st.lists(st.integers(-99, 99), min_size=100, max_size=150),
    st.sampled_from([1, 2, 10, 100, 1000]),
    st.sampled_from([None, 0.5, -0.0, 1e-9, np.nan, np.inf, 1e300, 123456.75]),
    st.booleans(),
)
def test_few_whole_or_decimal_numbers_are_counted_as_numpy_sorts_them(units, parts, odd, last):
    """To the last bit, and so if one value is none of them, which may be seen late."""
    values = np.array(units) / parts
    if odd is not None:
        values[-1 if last else 0] = odd
    with pytest.MonkeyPatch.context() as changed:
        changed.setattr(sorting, "MANY", 0)
        found = in_order(values)
    present = np.sort(values[~np.isnan(values)])
    np.testing.assert_array_equal(found.spread().values, present)
    assert np.signbit(found.spread().values).sum() == np.signbit(present).sum()
    assert found.counts is not None or odd is not None
