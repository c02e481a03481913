"""Draws among the values of a record's own cluster, of a column in parts as of one at hand."""

import numpy as np
import pytest

from microveil.noise.noise import RandomSource
from microveil.noise.within_clusters import drawn_within, drawn_within_in_parts
from microveil.partition import Partition, distribution_sort
from microveil.partition.clusters import runs_of_clusters
from microveil.table import keeping
from microveil.table.keeping import IN_MEMORY
from microveil.utility.expected_randomisation import expected_interval_error

SIZES = {
    "small": [1, 2, 3] * 20,
    "single": [1] * 60,
    "a piece": [7, 7, 14, 1, 6, 7],
    "one": [60],
    "large among small": [2, 1, 40, 3, 30, 1, 1],
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """A few values are a piece."""
    monkeypatch.setattr(keeping, "PIECE", 7)
    monkeypatch.setattr(distribution_sort, "AT_ONCE", 11)


def clusters(kind):
    sizes = np.array(SIZES[kind])
    random = np.random.default_rng(1)
    order = random.permutation(int(sizes.sum()))
    values = random.integers(0, 1000, len(order)) + np.repeat(np.arange(len(sizes)), sizes) * 1000
    return values, Partition(order=order, sizes=sizes, n_records=len(order))


@pytest.mark.parametrize("permute", [False, True])
@pytest.mark.parametrize("kind", SIZES)
def test_a_column_in_parts_is_drawn_as_one_at_hand(kind, permute):
    """By the same words, also where a cluster is larger than a piece."""
    values, partition = clusters(kind)
    for seed in range(5):
        sources = RandomSource.seeded(seed), RandomSource.seeded(seed)
        found = drawn_within_in_parts(values, partition, sources[0], IN_MEMORY, permute=permute)
        expected = drawn_within(values, partition, sources[1], permute=permute)
        assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("permute", [False, True])
@pytest.mark.parametrize("kind", SIZES)
def test_every_record_gets_a_value_of_its_own_cluster(kind, permute):
    """All of them once each, where they are permuted."""
    values, partition = clusters(kind)
    drawn = drawn_within_in_parts(
        values, partition, RandomSource.seeded(1), IN_MEMORY, permute=permute
    )
    for number in range(partition.n_clusters):
        own = values[np.repeat(np.arange(partition.n_clusters), partition.sizes) == number]
        given = drawn[partition.labels == number]
        assert set(given) <= set(own)
        if permute:
            assert sorted(given) == sorted(own)


def test_clusters_come_in_runs_of_a_piece():
    """All of them, in order; larger ones alone."""
    for kind, sizes in SIZES.items():
        found = list(runs_of_clusters(np.array(sizes)))
        assert [one for run, _ in found for one in range(run.start, run.stop)] == [
            *range(len(sizes))
        ], kind
        start = 0
        for run, members in found:
            held = sum(sizes[run])
            assert members == slice(start, start + held)
            assert held <= keeping.PIECE or run.stop - run.start == 1
            start += held


@pytest.mark.parametrize("kind", SIZES)
def test_the_error_to_expect_is_added_up_in_parts(kind, monkeypatch):
    """As of all values at once, but for the last digits."""
    values, partition = clusters(kind)
    found = expected_interval_error(values, partition.sizes)
    monkeypatch.setattr(keeping, "PIECE", 1000)
    assert found == pytest.approx(expected_interval_error(values, partition.sizes), rel=1e-12)
