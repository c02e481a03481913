"""The remembering engine gives what the plain one gives, and does it once."""

import threading
import time
import weakref
from dataclasses import replace

import numpy as np
import pytest

from microveil.engines import remembering
from microveil.engines.local import LocalEngine
from microveil.engines.remembering import RememberingEngine
from trial_engines import column_of

VALUES = [np.random.Generator(np.random.PCG64(i)).integers(0, 50, 60) for i in range(3)]
COLUMNS = [LocalEngine().column(column_of(values, bounds=(0, 50))) for values in VALUES]


def test_it_gives_what_the_plain_engine_gives():
    """Rankings and partitions are those of the local engine, column by column and k by k."""
    engine, plain = RememberingEngine(), LocalEngine()
    for _ in range(2):
        for column in COLUMNS:
            for mine, theirs in zip(engine.rank(column), plain.rank(column), strict=True):
                assert np.array_equal(mine, theirs)
        for k in (3, 5):
            for name in ("mdav", "v-mdav", "mdav-insensitive"):
                for columns in (COLUMNS, COLUMNS[:2]):
                    mine = engine.cluster_jointly(name, columns, k)
                    theirs = plain.cluster_jointly(name, columns, k)
                    assert np.array_equal(mine.labels, theirs.labels)


def test_what_is_searched_for_is_what_the_plain_engine_finds():
    """Clusters that a search chooses hang on k and on the noise: no other's are taken for them."""
    engine, plain = RememberingEngine(), LocalEngine()
    for _ in range(2):
        for column, k in ((COLUMNS[0], 3), (COLUMNS[0], 7), (COLUMNS[1], 3)):
            for noise in (0.5, 50.0):
                for exact_allowed in (True, False):
                    mine, theirs = (
                        one.cluster_vector_aware(column, k, noise, exact_allowed=exact_allowed)
                        for one in (engine, plain)
                    )
                    assert np.array_equal(mine.partition.labels, theirs.partition.labels)
                mine, theirs = (
                    one.cluster_noise_aware(column, k, noise) for one in (engine, plain)
                )
                assert np.array_equal(mine.partition.labels, theirs.partition.labels)


def test_a_search_is_made_once(monkeypatch):
    """The plan of what was weighed and found best searches no more; few are kept."""
    monkeypatch.setattr(remembering, "JOINT", 2)
    engine = RememberingEngine()
    found = engine.cluster_noise_aware(COLUMNS[0], 3, 1.0)
    assert engine.cluster_noise_aware(COLUMNS[0], 3, 1.0) is found
    for share in (1.0, 2.0, 3.0):
        engine.cluster_vector_aware(COLUMNS[0], 3, share, exact_allowed=True)
    assert len(engine._chosen) == 2


def test_complete_records_are_gathered_once():
    """What is found of them by one plan is so found again by the next."""
    engine = RememberingEngine()
    absent = VALUES[0] % 3 == 0
    gaps = replace(column_of(VALUES[0][~absent]), missing=absent)
    columns = [engine.column(gaps), COLUMNS[1]]
    mine, theirs = engine.complete(columns), LocalEngine().complete(columns)
    assert engine.complete(columns) is mine
    assert len(mine[1].grid.values) == np.count_nonzero(~absent) < len(absent)
    for one, other in zip(mine, theirs, strict=True):
        assert np.array_equal(one.grid.values, other.grid.values)


def test_threads_wait_for_what_one_is_at_work_on(monkeypatch):
    """Eight threads that ask for the same ranking get one, made once."""
    calls = []

    def slow(self, column):
        calls.append(threading.get_ident())
        time.sleep(0.05)
        return rank(self, column)

    rank = LocalEngine.rank
    monkeypatch.setattr(LocalEngine, "rank", slow)
    engine, found = RememberingEngine(), []
    threads = [
        threading.Thread(target=lambda: found.append(engine.rank(COLUMNS[0]))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert all(one is found[0] for one in found)


def test_a_failure_is_everybodys(monkeypatch):
    """Who waited for what could not be made is told the same error."""

    def broken(_self, _column):
        raise ZeroDivisionError

    monkeypatch.setattr(LocalEngine, "rank", broken)
    engine = RememberingEngine()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            engine.rank(COLUMNS[0])


def test_memory_is_bounded(monkeypatch):
    """No more partitions of several attributes are kept than said."""
    monkeypatch.setattr(remembering, "JOINT", 2)
    engine = RememberingEngine()
    for k in range(2, 9):
        engine.cluster_jointly("mdav", COLUMNS, k)
    assert len(engine._joint) == 2


def test_columns_that_come_and_go_are_never_taken_for_one_another(monkeypatch):
    """A new column may lie where an old one lay: it still gets its own ranking and partition."""
    monkeypatch.setattr(remembering, "JOINT", 2)
    engine, plain = RememberingEngine(), LocalEngine()
    for seed in range(20):
        values = np.random.Generator(np.random.PCG64(seed)).integers(0, 50, 40)
        column = engine.column(column_of(values))
        assert np.array_equal(engine.rank(column)[0], plain.rank(column)[0])
        # As where records with a missing value are left out, plan by plan.
        columns = [
            engine.column(column_of(part.copy(), bounds=(0, 50)))
            for part in (values[5:], values[:-5])
        ]
        mine = engine.cluster_jointly("mdav", columns, 3)
        theirs = plain.cluster_jointly("mdav", columns, 3)
        assert np.array_equal(mine.labels, theirs.labels)
        del values, column, columns


def test_columns_are_let_go_with_their_partition(monkeypatch):
    """Columns that were made for one plan are not kept for ever."""
    monkeypatch.setattr(remembering, "JOINT", 2)
    engine = RememberingEngine()
    values = VALUES[0].copy()
    columns = [engine.column(column_of(values))]
    kept = weakref.ref(values)
    engine.cluster_jointly("mdav", columns, 3)
    del values, columns
    assert kept() is not None
    for k in (3, 4):
        engine.cluster_jointly("mdav", COLUMNS, k)
    assert kept() is None
