"""Places in scratch files: given out, taken back, and given out again."""

import gc
import os
import resource
import subprocess
import sys
import tempfile
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.table import extents as module
from microveil.table.extents import Extents
from microveil.table.scratch import SMALL, Scratch


def opened():
    """A file without a name."""
    return tempfile.TemporaryFile()


def unwatched(_pages):
    """Let a map be."""


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("take"), st.integers(0, 40_000)),
        st.tuples(st.just("let go"), st.integers(0, 30)),
    ),
    max_size=60,
)


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_a_place_is_one_array_s_alone(steps):
    """Whatever was let go before, what one holds is not changed by another."""
    own = pytest.MonkeyPatch()
    own.setattr(module, "SEGMENT", 1 << 16)
    maps = []
    extents = Extents(opened, maps.append)
    held = {}
    try:
        for number, (step, what) in enumerate(steps):
            if step == "take":
                array = extents.take(what).array()
                array[:] = number % 251
                held[number] = array
            elif held:
                del held[[*held][what % len(held)]]
            for which, array in held.items():
                assert (array == which % 251).all()
    finally:
        own.undo()


def test_a_place_that_was_let_go_is_taken_again():
    """The smallest that fits; neighbours are one place, and the rest of it is there still."""
    extents = Extents(opened, unwatched)
    one, two, three = (extents.take(10_000) for _ in range(3))
    assert one.is_fresh
    whole = one.array()
    del one, two
    other = extents.take(20_000)
    assert other.is_fresh  # as long as there is a view
    del whole
    again = extents.take(20_000)
    assert not again.is_fresh
    rest = extents.take(4_096)
    assert not rest.is_fresh
    assert extents.take(4_096).is_fresh
    del three, other


def test_threads_that_take_places_in_turn_have_files_of_their_own():
    """The system lets one at a time write to a file; more threads share what there is."""
    extents = Extents(opened, unwatched)
    with (
        ThreadPoolExecutor(1) as one,
        ThreadPoolExecutor(1) as other,
        ThreadPoolExecutor(1) as more,
    ):
        taken = [
            pool.submit(extents.take, 5_000).result() for pool in (one, other, one, other, more)
        ]
        again = one.submit(extents.take, 5_000).result()
    of_one, of_other = ({id(each._segment) for each in taken[i:4:2]} for i in (0, 1))
    assert len(of_one) == len(of_other) == 1
    assert of_one != of_other
    assert {id(each._segment) for each in (taken[4], again)} <= of_one | of_other


def test_files_without_a_place_that_is_taken_are_given_back():
    """Those alone: what is held is there still, and places are given out as before."""
    own = pytest.MonkeyPatch()
    own.setattr(module, "SEGMENT", 1 << 16)
    maps = []
    extents = Extents(opened, lambda pages: maps.append(weakref.ref(pages)))
    try:
        held = [extents.take(1 << 16) for _ in range(3)]
        held[1].write(0, memoryview(b"here"))
        partly = [extents.take(1 << 14) for _ in range(2)]
        del held[2], held[0], partly[0]
        extents.give_back()
        assert [each() is None for each in maps] == [True, False, True, False]
        assert bytes(held[0].array()[:4]) == b"here"
        assert not extents.take(1 << 14).is_fresh
        del held, partly
        extents.give_back()
        assert all(each() is None for each in maps)
        assert extents.take(1 << 14).is_fresh
    finally:
        own.undo()


def test_nothing_is_written_or_read_beyond_a_place():
    """There another array begins."""
    extents = Extents(opened, unwatched)
    extent = extents.take(10)
    for place, size in ((5, 6), (-1, 2), (11, 0)):
        with pytest.raises(ValueError, match="beyond its end"):
            extent.write(place, memoryview(bytes(size)))
        with pytest.raises(ValueError, match="beyond its end"):
            extent.read(place, memoryview(bytearray(size)))


@pytest.mark.parametrize("writes", [[], [(100, 5)], [(0, 3), (9_000, 2)], [(9_999, 1), (0, 2)]])
def test_what_is_not_filled_is_0(writes, tmp_path):
    """In a place that held something before, too."""
    scratch, n_values = Scratch(tmp_path), 10_000
    assert n_values * 8 >= SMALL
    for _ in range(2):  # the first is fresh
        filling, expected = scratch.filling(n_values, np.int64), np.zeros(n_values, np.int64)
        for start, count in writes:
            filling.write(start, np.full(count, 7))
            expected[start : start + count] = 7
            np.testing.assert_array_equal(filling.read(slice(start, n_values)), expected[start:])
        array = filling.array()
        np.testing.assert_array_equal(array, expected)
        array = filling = None
        gc.collect()
        scratch.array(np.full(n_values, -1))


def test_threads_take_places_and_let_go_of_them():
    """None is given to two of them."""
    extents = Extents(opened, unwatched)

    def work(number):
        kept = []
        for turn in range(300):
            array = extents.take(5_000 + 97 * (turn % 50)).array()
            array[:] = number
            kept.append(array)
            if turn % 3 == 0:
                del kept[: len(kept) // 2]
            assert all((own == number).all() for own in kept[-5:])
        return all((own == number).all() for own in kept)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))


def test_files_are_few(tmp_path):
    """A table of many columns takes as many open files as one of few."""
    code = (
        "import resource, sys, numpy as np, polars\n"
        "from microveil.table.scratch import Scratch\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
        "scratch = Scratch(sys.argv[1], 1 << 30)\n"
        "kept = [scratch.array(np.arange(10_000)) for _ in range(500)]\n"
        "text = [f'{i}' * 9 for i in range(10_000)]\n"
        "kept += [scratch.column(polars.Series('a', text)) for _ in range(100)]\n"
        "scratch.relieve()\n"
    )
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] > 64
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)


def test_files_are_closed_with_the_last_that_looks_at_them(tmp_path):
    """Not before: a column may be there longer than who made it."""
    descriptors = Path("/proc/self/fd")
    if not descriptors.exists():
        pytest.skip("the system does not say which files are open")

    def count():
        gc.collect()
        return sum(str(tmp_path) in os.path.realpath(place) for place in descriptors.iterdir())

    scratch = Scratch(tmp_path)
    array = scratch.array(np.arange(10_000))
    del scratch
    assert count() == 2
    assert array.sum() == 49_995_000
    del array
    assert count() == 0


def test_a_thread_goes_on_in_the_file_that_it_took_the_last_place_of():
    """Threads write to files of their own: the system lets one at a time write to a file."""
    maps = []
    extents = Extents(opened, maps.append)

    def file_of(extent):
        address = extent.array().__array_interface__["data"][0]
        firsts = [np.frombuffer(pages, dtype=np.uint8).ctypes.data for pages in maps]
        return [first <= address < first + module.SEGMENT for first in firsts].index(True)

    own, others = [extents.take(8)], []
    with ThreadPoolExecutor(1) as other:
        others += [other.submit(extents.take, 8).result() for _ in range(3)]
    own += [extents.take(8) for _ in range(2)]
    assert [file_of(extent) for extent in own] == [0, 0, 0]
    assert [file_of(extent) for extent in others] == [1, 1, 1]
