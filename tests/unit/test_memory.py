"""Memory: forecast before a table is read or protected, refused with the figures, never a crash."""

import json
import os
import resource
import subprocess
import sys

import numpy as np
import polars
import pytest

import microveil as mv
from command import run
from microveil.commands import files
from microveil.table import memory

N_RECORDS, N_ATTRIBUTES = 300_000, 5
# In a process of its own, whose peak is that of nothing else.
MEASURED = """
import json, sys
from pathlib import Path
import microveil as mv
from microveil.files.reading import read_file

def held(line):
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(entry for entry in lines if entry.startswith(line)).split()[1])

def grown(work):
    # The peak begins anew: compiling kernels may have taken more than all that follows.
    Path("/proc/self/clear_refs").write_text("5")
    before = held("VmRSS")
    found = work()
    return found, held("VmHWM") - before

# So much that nobody weighs what would do better.
request = dict(method="laplace", epsilon=1000, bounds={f"A{i}": (0, 200_000) for i in range(5)})
request["attributes"] = list(request["bounds"])
mv.protect(read_file(sys.argv[2]).frame, **request)
frame, reading = grown(lambda: read_file(sys.argv[1]).frame)
_, protecting = grown(lambda: mv.protect(frame, **request))
print(json.dumps([reading, protecting]))
"""


def table(n_records):
    random = np.random.default_rng(1)
    columns = {f"A{i}": random.integers(0, 200_000, n_records) for i in range(N_ATTRIBUTES)}
    return polars.DataFrame(columns)


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is read from /proc")
def test_a_forecast_is_at_least_what_is_taken_and_not_far_above(tmp_path):
    """At most two and a half times it, of reading a file and of protecting its table."""
    paths = [tmp_path / "large.csv", tmp_path / "small.csv"]
    for path, n_records in zip(paths, (N_RECORDS, 2000), strict=True):
        table(n_records).write_csv(path)
    command = [sys.executable, "-c", MEASURED, *map(str, paths)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    read, protected = json.loads(done.stdout)
    size = paths[0].stat().st_size
    for taken, forecast in (
        (read, memory.to_read(2 * size, N_RECORDS * N_ATTRIBUTES)),
        (protected, memory.to_protect(N_RECORDS, N_ATTRIBUTES, one_by_one=True)),
    ):
        assert taken <= forecast <= 2.5 * taken, (taken, forecast)


def free(monkeypatch, size):
    monkeypatch.setattr(memory, "free_memory", lambda: size)


def request(method="laplace", **arguments):
    names = [f"A{i}" for i in range(N_ATTRIBUTES)]
    bounds = dict.fromkeys(names, (0, 200_000))
    return {"method": method, "epsilon": 1, "attributes": names, "bounds": bounds, **arguments}


@pytest.mark.parametrize("verb", [mv.protect, mv.plan, mv.audit])
def test_what_does_not_fit_is_refused_with_what_it_takes_and_what_there_is(monkeypatch, verb):
    """Of what is free four fifths are taken; and with how many columns would fit: so many do."""
    whole = table(100_000)
    free(monkeypatch, 20_000_000)
    with pytest.raises(mv.DataError) as refused:
        verb(whole, **request())
    assert str(refused.value) == (
        "table: protecting 5 columns of 100000 records takes about 20 MB of memory, and 16 MB can "
        "be had; pass a lazy frame, whose columns wait on the disk: pl.scan_parquet(...), or name "
        "at most 4 of the 5 columns (--attributes), or use a machine with more memory."
    )
    assert verb(whole, **request(attributes=["A0", "A1", "A2", "A3"])) is not None
    # Of a lazy one a column is at hand at a time.
    assert verb(whole.lazy(), **request()) is not None


def test_what_is_asked_for_goes_before_what_is_free(monkeypatch):
    """It counts the libraries too, and to allow more is a remedy then."""
    free(monkeypatch, 1)
    monkeypatch.setattr(memory, "LIBRARIES", 440_000_000)
    assert mv.plan(table(50_000), **request(memory="450MB"))
    with pytest.raises(mv.DataError, match=r"20 MB .* and 10 MB .*allow more \(--memory\)"):
        mv.plan(table(100_000), **request(memory="450MB"))


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.sav"])
def test_a_file_that_does_not_fit_is_refused_before_its_table_is_made(monkeypatch, tmp_path, name):
    """By its size, and where that is small for its table by its records and columns."""
    people = polars.DataFrame({"A": [1] * 20_000, "B": [1] * 20_000})
    if name == "t.parquet":
        people.write_parquet(tmp_path / name)
    else:
        from microveil.files import format_of
        from microveil.files.writing import write_data

        write_data(people, tmp_path / name, text=None, form=format_of(tmp_path / name))
    free(monkeypatch, 700_000)
    with pytest.raises(mv.FileError, match=r"reading it takes about 1 MB|about 2 MB"):
        mv.read(tmp_path / name)
    free(monkeypatch, 3_000_000)
    assert mv.read(tmp_path / name).frame.height == 20_000


def test_memory_that_runs_out_is_an_error_of_ours_and_writes_nothing(monkeypatch, tmp_path):
    """Exit code 2, wherever it happens."""

    def exhausted(*_arguments, **_named):
        raise MemoryError("SECRET77")

    table(50).write_csv(tmp_path / "people.csv")
    flags = ["--attributes", "A0", "--bounds", "A0=0:200000", "--method", "laplace"]
    monkeypatch.setattr(files, "release_findings", exhausted)
    done = run("protect", "people.csv", *flags, "--epsilon", 1, "-o", "r", folder=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("microveil: memory: the table ")
    assert "SECRET77" not in done.stderr
    assert os.listdir(tmp_path) == ["people.csv"]
    with pytest.raises(mv.DataError) as refused:
        files.protect_file(tmp_path / "people.csv", tmp_path / "r", **request())
    assert refused.value.__context__ is None
    monkeypatch.setattr("microveil.cli.application.print_text", exhausted)
    assert run("methods", folder=tmp_path).returncode == 2


# What there is ------------------------------------------------------------------------


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with 8 MB, whose groups and limits a test makes."""
    (tmp_path / "meminfo").write_text("MemTotal: 9000 kB\nMemAvailable:    8000 kB\n")
    (tmp_path / "own").write_text("4:cpu,memory:/inner\n0::/outer/inner\n")
    monkeypatch.setattr(memory, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "_OWN_GROUP", tmp_path / "own")
    monkeypatch.setattr(memory, "_GROUPS", tmp_path)
    return tmp_path


def limited(folder, files, limit, used=1_000_000, given_back=400_000):
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in zip((*files[:2], "memory.stat"), (limit, used, given_back), strict=True):
        text = f"cache 1\n{files[2]} {value}\n" if name == "memory.stat" else f"{value}\n"
        (folder / name).write_text(text)


@pytest.mark.parametrize(
    ("group", "version"),
    [("outer/inner", 2), ("outer", 2), (".", 2), ("memory/inner", 1), ("memory", 1)],
)
def test_a_group_limits_what_is_free_for_those_in_it(machine, group, version):
    """A container's limit, also one around it: less what is taken, but for cached files."""
    files_of = {1: memory._VERSION_1, 2: memory._VERSION_2}[version]
    limited(machine / group, files_of, 5_000_000)
    assert memory.free_memory() == 4_400_000


def test_a_limit_of_the_process_is_what_is_free(machine, monkeypatch):
    """Less what it has of it (ulimit -v)."""
    (machine / "statm").write_text("10 5 3 1 0 2 0\n")
    monkeypatch.setattr(memory, "_SIZE", machine / "statm")
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (3_000_000, 9_000_000))
    assert memory.free_memory() == 3_000_000 - 10 * resource.getpagesize()


def test_where_the_system_says_nothing_nothing_is_refused(machine, monkeypatch):
    """No forecast is held against memory that nobody knows."""
    for name in ("meminfo", "own"):
        (machine / name).unlink()
    monkeypatch.delattr(os, "sysconf")
    assert memory.free_memory() is None
    assert mv.plan(table(50), **request())
