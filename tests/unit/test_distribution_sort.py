"""Distribution sort: what is put in order part by part is what is put in order at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from microveil.partition import Partition, distribution_sort, rank_order
from microveil.partition.distribution_sort import group_in_parts, rank_in_parts, sort_in_parts
from microveil.partition.moving import broadcast_in_parts, moved_in_parts
from microveil.table import keeping
from microveil.table.keeping import IN_MEMORY, FillingInMemory
from microveil.table.scratch import Scratch
from reference import distribution_sort as oracle

PIECE = 5
FAR = 1 << 61
VALUES = {
    "ties": lambda random, n: random.integers(0, 4, n),
    "all equal": lambda _random, n: np.full(n, 7),
    "one bucket but for two": lambda _random, n: np.where(np.arange(n) % 50 == 3, [[-FAR], [FAR]],
                                                          0)[np.arange(n) % 2, np.arange(n)],
    "far apart": lambda random, n: random.integers(-FAR, FAR, n),
    "next to each other at a far end": lambda random, n: FAR - random.integers(0, 3, n),
    "descending": lambda _random, n: np.arange(n)[::-1].copy(),
    "in step with any period": lambda _random, n: np.arange(n) % 8,
    "long tail": lambda random, n: random.zipf(1.3, n).clip(0, FAR),
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """So few records are sorted at once that every table has ranges, and ranges of ranges."""
    monkeypatch.setattr(keeping, "PIECE", PIECE)
    monkeypatch.setattr(distribution_sort, "AT_ONCE", PIECE)


@pytest.fixture(params=["memory", "disk"])
def room(request, tmp_path, monkeypatch):
    """What is as long as a column is in memory, or in files."""
    monkeypatch.setattr("microveil.table.scratch.SMALL", 8)
    return IN_MEMORY if request.param == "memory" else Scratch(tmp_path)


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("n_records", [1, 2, PIECE, PIECE + 1, 2 * PIECE, 64 * PIECE, 997])
def test_ranks_are_those_of_a_sort_at_once(kind, n_records, room):
    """Positions, values and types, equal values by position; as the plain algorithm has them."""
    values = VALUES[kind](np.random.default_rng(n_records), n_records).astype(np.int64)
    order, in_order = rank_in_parts(values, room)
    expected = rank_order(values)
    assert np.array_equal(order, expected[0])
    assert order.dtype == np.int32
    assert np.array_equal(in_order, expected[1])
    borders = sorted({values[0].item(), values[n_records // 2].item()})
    assert oracle.distribution_sort(values.tolist(), borders) == (order.tolist(), in_order.tolist())


@pytest.mark.parametrize("kind", VALUES)
def test_records_without_a_value_keep_their_places(kind, room):
    """Positions are those of the table, whoever has a value, of none in a run of it too."""
    random = np.random.default_rng(3)
    for missing in (random.random(200) < 0.4, np.arange(200) < 30, np.arange(200) > 8):
        values = VALUES[kind](random, int((~missing).sum())).astype(np.int64)
        order, in_order = rank_in_parts(values, room, missing)
        expected = rank_order(values)
        assert np.array_equal(order, np.flatnonzero(~missing)[expected[0]])
        assert np.array_equal(in_order, expected[1])


@pytest.mark.parametrize("kind", VALUES)
def test_floats_come_in_order(kind, room):
    """As numpy sorts them, of as many as were filled in."""
    values = VALUES[kind](np.random.default_rng(1), 300) / 3
    filling = room.filling(310, np.float64)
    filling.write(0, values)
    assert np.array_equal(sort_in_parts(filling.read, 300, room), np.sort(values))


@given(some.lists(some.floats(-1e150, 1e150), min_size=1, max_size=60))
@settings(deadline=None)
def test_any_floats_come_in_order(values):
    """However close, small or far apart."""
    found = sort_in_parts(np.array(values).__getitem__, len(values), IN_MEMORY)
    assert found.tolist() == sorted(values)


@pytest.mark.parametrize("dtype", [np.int64, np.float64])
@pytest.mark.parametrize("n_records", [1, PIECE, 3 * PIECE + 2, 200])
def test_every_record_gets_the_cell_of_its_cluster(n_records, dtype, room):
    """Clusters longer than a part, and of one record; 0 where a record is in none."""
    random = np.random.default_rng(n_records)
    for n_members in {n_records, max(1, n_records - 3)}:
        order = random.permutation(n_records)[:n_members].astype(np.int32)
        cuts = np.unique(random.integers(0, n_members, 6))
        sizes = np.diff([0, *cuts[cuts > 0], n_members])
        cells = random.integers(1, 99, len(sizes)).astype(dtype)
        partition = Partition(order=order, sizes=sizes, n_records=n_records)
        found = broadcast_in_parts(partition, cells, room)
        assert found.dtype == dtype
        expected = oracle.broadcast(order.tolist(), sizes.tolist(), cells.tolist(), n_records)
        assert found.tolist() == expected


class _Watched(FillingInMemory):
    """A filling that says how much of it was read at once."""

    most = 0

    def read(self, places):
        _Watched.most = max(_Watched.most, places.stop - places.start)
        return super().read(places)


@pytest.mark.parametrize("kind", VALUES)
def test_no_more_than_a_part_is_in_memory(kind, monkeypatch):
    """Whatever the values: not a whole range of them, where they are all in one."""
    room, sorted_at_once = keeping.InMemory(), []

    def watched(values):
        sorted_at_once.append(len(values))
        return rank_order(values)

    monkeypatch.setattr(room, "filling", _Watched, raising=False)
    monkeypatch.setattr(_Watched, "most", 0)
    monkeypatch.setattr(distribution_sort, "rank_order", watched)
    values = VALUES[kind](np.random.default_rng(1), 997).astype(np.int64)
    order, _ = rank_in_parts(values, room)
    partition = Partition(order=order, sizes=np.array([997]), n_records=997)
    broadcast_in_parts(partition, np.array([4]), room)
    group_in_parts(values, lambda some: some // 3, room)
    sources = room.filling(997, order.dtype)
    sources.write(0, np.full(997, 3))
    moved_in_parts(values, sources, order, room)
    assert 0 < _Watched.most <= PIECE
    assert max(sorted_at_once, default=0) <= PIECE


@pytest.mark.parametrize("kind", VALUES)
@pytest.mark.parametrize("width", [1, 3, 1 << 40])
def test_records_of_one_key_stay_as_they_come(kind, width, room):
    """By the number of a range of values, however many are in one."""
    values = VALUES[kind](np.random.default_rng(2), 997).astype(np.int64)
    order, in_order = group_in_parts(values, lambda some: some // width, room)
    assert order.tolist() == np.argsort(values // width, kind="stable").tolist()
    assert in_order.tolist() == values[order].tolist()


@pytest.mark.parametrize("n_values", [1, PIECE, PIECE + 1, 997])
def test_values_are_moved_as_by_assignment(n_values, room):
    """From any places, some asked for often, to each place once: whatever the pieces are."""
    random = np.random.default_rng(n_values)
    values, targets = random.integers(-9, 9, n_values), random.permutation(n_values)
    for sources in (random.integers(0, n_values, n_values), np.full(n_values, n_values - 1)):
        filling = room.filling(n_values, np.int64)
        filling.write(0, sources)
        found = moved_in_parts(values, filling, targets, room)
        moves = zip(sources.tolist(), targets.tolist(), strict=True)
        assert found.tolist() == oracle.moved(values.tolist(), moves)


def test_there_are_no_more_than_64_ranges():
    """Also where every other value has one of its own."""
    for n_values in (100, 10_000):
        values = np.arange(n_values) // (n_values // 40)
        chunk = distribution_sort.Chunk(values, None)
        ranges = distribution_sort._Ranges.of(lambda: iter([chunk]), n_values, lambda keys: keys)  # noqa: B023
        assert 20 < len(ranges.starts) + 1 <= 64
