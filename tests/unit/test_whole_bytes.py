"""Files read whole: the bytes that stand in them, however large they are and whatever happens."""

import os
import threading

import numpy as np
import pytest

from microveil.files import whole_bytes
from microveil.files.whole_bytes import read_whole


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(whole_bytes, "LARGE", 1000)
    monkeypatch.setattr(whole_bytes, "_AT_ONCE", 300)


@pytest.fixture
def filled(monkeypatch):
    """The sizes of bytes that were made to be filled, in which something stood before."""
    sizes, make = [], whole_bytes._unfilled

    def unfilled(size):
        data, places = make(size)
        places[:] = b"#" * size
        sizes.append(size)
        return data, places

    monkeypatch.setattr(whole_bytes, "_unfilled", unfilled)
    return sizes


@pytest.mark.parametrize("size", [0, 1, 999, 1000, 1199, 1200, 1201, 1 << 20])
def test_all_bytes_are_read_at_any_size(tmp_path, size, filled):
    """The same as Python reads, as bytes that are like any others."""
    path = tmp_path / "people.csv"
    path.write_bytes(np.random.default_rng(size).bytes(size))
    data = read_whole(path)
    assert type(data) is bytes
    assert data == path.read_bytes()
    assert hash(data) == hash(path.read_bytes())
    assert filled == ([size] if size >= 1000 else [])


@pytest.mark.parametrize("change", [-700, -1, 1, 5000])
def test_a_file_that_changes_its_length_while_it_is_read_is_read_anew(
    tmp_path, monkeypatch, change, filled
):
    """What was never filled is seen by nobody."""
    path = tmp_path / "people.csv"
    path.write_bytes(b"x" * 2000)
    read = os.preadv

    def changed(descriptor, parts, start):
        path.write_bytes(b"y" * (2000 + change))
        return read(descriptor, parts, start)

    monkeypatch.setattr(os, "preadv", changed)
    assert read_whole(path) == b"y" * (2000 + change)
    assert filled == [2000]


def test_a_pipe_is_read_once(tmp_path):
    """It has no length, and what was read is gone from it."""
    path = tmp_path / "people.csv"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=[b"AGE" * 5000])
    writer.start()
    assert read_whole(path) == b"AGE" * 5000
    writer.join()
