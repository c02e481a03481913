"""Draws among the values of a record's own cluster."""

import numpy as np
import pytest

from microveil.noise.noise import RandomSource
from microveil.noise.transition import drawn_within
from microveil.partition import Partition

SIZES = {
    "small": [1, 2, 3] * 20,
    "single": [1] * 60,
    "a piece": [7, 7, 14, 1, 6, 7],
    "one": [60],
    "large among small": [2, 1, 40, 3, 30, 1, 1],
}


def clusters(kind):
    sizes = np.array(SIZES[kind])
    random = np.random.default_rng(1)
    order = random.permutation(int(sizes.sum()))
    values = random.integers(0, 1000, len(order)) + np.repeat(np.arange(len(sizes)), sizes) * 1000
    return values, Partition(order=order, sizes=sizes, n_records=len(order))


@pytest.mark.parametrize("permute", [False, True])
@pytest.mark.parametrize("kind", SIZES)
def test_every_record_gets_a_value_of_its_own_cluster(kind, permute):
    """All of them once each, where they are permuted."""
    values, partition = clusters(kind)
    drawn = drawn_within(values, partition, RandomSource.seeded(1), permute=permute)
    for number in range(partition.n_clusters):
        own = values[np.repeat(np.arange(partition.n_clusters), partition.sizes) == number]
        given = drawn[partition.labels == number]
        assert set(given) <= set(own)
        if permute:
            assert sorted(given) == sorted(own)
