"""The ends of the insensitive order, against the order of all."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.partition import corner, insensitive_mdav
from microveil.partition.corner import corner_ends


@st.composite
def tables(draw):
    """Columns within bounds, often with ties, and the part that an end is."""
    n_records = draw(st.integers(1, 60))
    widths = draw(st.lists(st.sampled_from([0, 1, 3, 1000]), min_size=1, max_size=3))
    lower = draw(st.integers(-1000, 1000))
    columns = [
        np.array(
            draw(
                st.lists(st.integers(lower, lower + width), min_size=n_records, max_size=n_records)
            )
        )
        for width in widths
    ]
    return columns, [(lower, lower + width) for width in widths], draw(st.integers(8, 32))


@pytest.mark.parametrize("sample", [4, 4096])
def test_ends_are_those_of_the_order_of_all(sample, monkeypatch):
    """Record for record, ties among them; and none holds more than a quarter."""
    monkeypatch.setattr(corner, "SAMPLE", sample)

    @given(tables())
    def holds(case):
        columns, bounds, part = case
        order = insensitive_mdav(np.column_stack(columns), 1, bounds).order
        nearest, farthest = corner_ends(columns, bounds, part)
        assert np.array_equal(nearest, order[: len(nearest)])
        assert np.array_equal(farthest, order[len(order) - len(farthest) :])
        assert max(len(nearest), len(farthest)) <= len(order) / 4

    holds()


def test_an_end_is_about_the_part_asked_for():
    """Of records that lie at different distances."""
    columns = [np.random.Generator(np.random.PCG64(2)).integers(0, 10**9, 10_000) for _ in range(2)]
    for end in corner_ends(columns, [(0, 10**9)] * 2, 20):
        assert 400 < len(end) < 600
