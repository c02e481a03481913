"""RECORD-2018: at equal epsilon the noise-aware partition has the least expected error."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from microveil import partition


def expected_error(values, sizes_labels, penalty):
    """Sum of squares within clusters plus expected squared noise, penalty / size each."""
    total = 0.0
    for cluster in range(sizes_labels.max() + 1):
        members = values[sizes_labels == cluster]
        total += float(((members - members.mean()) ** 2).sum()) + penalty / len(members)
    return total


@given(
    st.lists(st.integers(0, 10**6), min_size=6, max_size=60),
    st.floats(1e-3, 1e3),
    st.integers(2, 6),
)
def test_no_other_partition_of_the_attribute_has_less_expected_error(values, epsilon, k):
    """Not any fixed-size ranking, not MDAV of the attribute, not the optimal partition."""
    column = np.array(values, dtype=float)
    penalty = 2 * 1.5 * (column.max() / epsilon) ** 2
    ours = expected_error(column, partition.noise_aware(column, k, penalty).labels, penalty)
    others = [partition.ranking(column, size).labels for size in range(k, len(values) + 1)]
    others.append(partition.optimal(column, k).labels)
    others.append(partition.mdav(column.reshape(-1, 1), k).labels)
    for labels in others:
        assert ours <= expected_error(column, labels, penalty) * (1 + 1e-9)
