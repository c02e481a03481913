"""Different records: each once, in order, and which of them a record is."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from microveil.measures.nearest import distinct_records

VALUES = st.sampled_from([-1e300, -2.0, -0.0, 0.0, 0.5, 1.0, np.nextafter(1.0, 2.0), np.nan])


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 4)), elements=VALUES))
def test_different_records_stand_once_and_in_order(matrix):
    """Ascending, the first attribute first; every record is equal to the one it is said to be."""
    first, which = distinct_records(matrix)
    as_known = np.where(np.isnan(matrix), np.inf, matrix)
    expected = sorted({tuple(row) for row in as_known.tolist()})
    assert [tuple(row) for row in as_known[first].tolist()] == expected
    assert (as_known[first][which] == as_known).all()
    assert all((which[:place] != which[place]).all() for place in first)
