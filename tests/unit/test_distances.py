"""Different records: each once, in order, and which of them a record is."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from microveil.risk import distances
from microveil.risk.distances import distinct_records

VALUES = st.sampled_from([-1e300, -2.0, -0.0, 0.0, 0.5, 1.0, np.nextafter(1.0, 2.0), 3e9])


@given(hnp.arrays(np.float64, st.tuples(st.integers(1, 60), st.integers(1, 4)), elements=VALUES))
def test_different_records_stand_once_and_in_order(matrix):
    """Ascending, the first attribute first; every record is equal to the one it is said to be."""
    distinct, which = distinct_records(matrix)
    by_sorting = distances._distinct_by_sorting(matrix)
    assert distinct.tolist() == by_sorting[0].tolist()
    assert which.tolist() == by_sorting[1].tolist()
    expected = sorted({tuple(row) for row in matrix.tolist()})
    assert [tuple(row) for row in distinct.tolist()] == expected
    assert (distinct[which] == matrix).all()


def test_records_of_many_values_are_told_apart_by_later_attributes():
    """Some by the first attribute, some by the last alone, and copies by none."""
    random = np.random.default_rng(8)
    matrix = np.column_stack(
        [
            random.integers(0, 50, 3000),
            random.normal(size=3000).round(1),
            random.integers(0, 9, 3000),
        ]
    )
    distinct, which = distinct_records(matrix)
    expected, inverse = np.unique(matrix, axis=0, return_inverse=True)
    assert (distinct == expected).all()
    assert (which == inverse.ravel()).all()
