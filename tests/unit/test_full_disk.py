"""A disk that is full, or a limit of the process, while a release or a scratch file is written."""

import errno
import os
import subprocess
import sys
import threading

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.files import parquet_format, writing
from microveil.files.text import TextFormat
from microveil.files.writing import write_data

TABLE = pl.DataFrame({"A": np.random.default_rng(1).normal(size=1_200_000)})


@pytest.mark.parametrize("name", ["data.parquet", "data.csv", "data.csv.gz"])
def test_a_full_disk_ends_the_writing(name, tmp_path, monkeypatch):
    """With an error that says how much fitted; no thread waits on, and no file is left."""
    monkeypatch.setattr(parquet_format, "LARGE", 1 << 16)
    monkeypatch.setattr(parquet_format, "_WAITING", 1)
    write, written = os.write, []

    def full(descriptor, data):
        if written:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written.append(write(descriptor, data))
        return written[0]

    monkeypatch.setattr(writing.os, "write", full)
    with pytest.raises(mv.FileError, match=r"there must be room.*none after \d+ MB of it"):
        write_data(TABLE, tmp_path / name, text=TextFormat())
    assert written
    assert os.listdir(tmp_path) == []
    assert not [one for one in threading.enumerate() if one.name == "parquet"]


def test_who_makes_batches_is_told_that_none_is_wanted(monkeypatch):
    """A large Parquet file that a program stops taking ends its thread."""
    monkeypatch.setattr(parquet_format, "LARGE", 1 << 16)
    monkeypatch.setattr(parquet_format, "_WAITING", 1)
    batches = parquet_format.batches(TABLE, None, escape_formulas=False, labels={})
    next(batches)
    assert [one for one in threading.enumerate() if one.name == "parquet"]
    batches.close()
    assert not [one for one in threading.enumerate() if one.name == "parquet"]


@pytest.mark.parametrize(
    ("limit", "size", "said"),
    [
        ("FSIZE", 100_000_000, None),
        ("FSIZE", 1_000_000, "ulimit -f"),
        ("AS", 10_000_000, "ulimit -v"),
        ("NOFILE", 0, "ulimit -n"),
    ],
)
def test_a_limit_of_the_process_is_named(limit, size, said, tmp_path):
    """Not taken for a full disk; files are no larger than they must be where the limit is."""
    if sys.platform != "linux":
        pytest.skip("limits are set otherwise elsewhere")
    code = (
        "import resource, signal, sys, numpy as np\n"
        "from microveil.errors import FileError\n"
        "from microveil.table.scratch import Scratch\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "scratch, array = Scratch(sys.argv[1]), np.arange(5_000_000)\n"
        "name, size = sys.argv[2], int(sys.argv[3])\n"
        "taken = 1024 * int(open('/proc/self/statm').read().split()[0]) * 4\n"
        "size = size + taken if name == 'AS' else size\n"
        "size = size or len(__import__('os').listdir('/proc/self/fd')) - 1\n"
        "resource.setrlimit(getattr(resource, 'RLIMIT_' + name), (size, size))\n"
        "try:\n"
        "    print(int(scratch.array(array)[-1]))\n"
        "except FileError as error:\n"
        "    print(error)\n"
    )
    run = [sys.executable, "-c", code, str(tmp_path), limit, str(size)]
    found = subprocess.run(run, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    if said is None:
        assert found.stdout == "4999999\n"
    else:
        assert "the process must be allowed" in found.stdout
        assert said in found.stdout
