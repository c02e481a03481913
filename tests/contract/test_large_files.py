"""Tables larger than memory, by small ones that are taken for such: the same as in memory."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import polars
import pytest
from polars.testing import assert_frame_equal

import microveil as mv
from microveil.commands import files
from microveil.files import csv_structure, text_columns
from microveil.table import memory

N = 12_500
ASKED = {
    "method": "dp-um",
    "k": 10,
    "epsilon": 1,
    "attributes": ["AGE", "WAGE", "LATE"],
    "keep": ["PLACE", "OWNS", "SEEN"],
    "bounds": {"AGE": (0, 120), "WAGE": (0, 100_000), "LATE": (0, 30_000)},
    "resolution": {"WAGE": 0.01},
    "missing": "keep",
    "outside": "clamp",
    "seed": 3,
}


def people():
    random = np.random.default_rng(1)
    late = [None if number < 11_000 else number for number in range(N)]
    return polars.DataFrame(
        {
            "AGE": random.integers(0, 100, N),
            "WAGE": np.round(random.lognormal(8, 1, N), 2),
            "PLACE": random.choice(["north", "south, east", 'o"west'], N),
            "OWNS": random.random(N) < 0.5,
            "SEEN": polars.Series(random.integers(0, 20_000, N)).cast(polars.Date),
            "LATE": late,
        }
    )


@pytest.fixture
def large(monkeypatch):
    """Take every file that can be lazy for larger than memory; no page, which takes it whole."""

    def begin():
        monkeypatch.setattr(memory, "OF_FILE", 10**12)

    monkeypatch.setattr(files, "REPORTED_RECORDS", 0)
    # Several pieces of a file of text, and several blocks of records.
    monkeypatch.setattr(csv_structure, "_PIECE", 1 << 15)
    return begin


def written(name, folder):
    frame = people()
    if name == "people.csv":
        frame.write_csv(folder / name)
    elif name == "people.parquet":
        frame.write_parquet(folder / name, row_group_size=1000)
    else:
        (folder / name).mkdir()
        for number in range(3):
            part = frame.slice(number * 5000, 5000)
            part.write_parquet(folder / name / f"part-{number}.parquet")
    return folder / name


def protected(path, folder, **asked):
    release = files.protect_file(path, folder, **{**ASKED, **asked})
    manifest = json.loads(
        (folder.with_name(f"{folder.name}-custodian") / "manifest.json").read_text()
    )
    table = next(folder.glob("data.*"))
    read = polars.read_csv if table.suffix == ".csv" else polars.read_parquet
    return release, manifest, read(table), json.loads((folder / "guarantee.json").read_text())


@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("people.csv", {}),
        ("people.csv", {"shuffle": True}),
        ("people.parquet", {"method": "laplace", "k": None}),
        ("people", {"shuffle": True}),
    ],
)
def test_a_large_file_is_protected_as_a_small_one(large, tmp_path, name, asked):
    """Data, guarantee, and what the custodian's manifest finds are the same."""
    path = written(name, tmp_path)
    release, manifest, data, guarantee = protected(path, tmp_path / "small", **asked)
    assert isinstance(release.data, polars.DataFrame)
    large()
    lazy, found, after, promised = protected(path, tmp_path / "large", **asked)
    assert isinstance(lazy.data, polars.LazyFrame)
    assert_frame_equal(after, data)
    assert promised == guarantee
    for one in (manifest, found):
        del one["created"], one["output"]
    assert found == manifest
    assert lazy.notes == release.notes
    del lazy  # whose table waits beside it
    assert [entry for entry in os.listdir(tmp_path) if entry.startswith(".")] == []


def test_what_a_format_writes_whole_is_collected(large, tmp_path):
    """Arrow files are written in one part."""
    large()
    path = written("people.parquet", tmp_path)
    files.protect_file(path, tmp_path / "release", format="arrow", **ASKED)
    assert polars.read_ipc(tmp_path / "release" / "data.arrow").height == N


@pytest.mark.parametrize(
    ("column", "cell", "record"),
    [
        ("AGE", "4x", 12_000),
        ("WAGE", "inf", 11_999),
        ("WAGE", "1,5", 4),
        ("LATE", "x", 12_400),
    ],
)
def test_a_bad_cell_is_named_by_its_line_as_in_memory(large, tmp_path, column, cell, record):
    """Whichever piece of the file it is in."""
    rows = people().with_columns(polars.all().cast(polars.String))
    rows[record, column] = cell
    rows.write_csv(tmp_path / "people.csv")
    asked = {**ASKED, "keep": [], "attributes": [*ASKED["attributes"], "OWNS"]}
    asked["bounds"] = {**ASKED["bounds"], "OWNS": (0, 1)}

    def refused(folder):
        with pytest.raises(mv.FileError) as error:
            files.protect_file(tmp_path / "people.csv", tmp_path / folder, **asked)
        return str(error.value)

    in_memory = refused("small")
    large()
    assert refused("large") == in_memory
    assert f"line {record + 2}" in in_memory
    assert os.listdir(tmp_path) == ["people.csv"]


def test_other_encodings_are_read_whole_or_refused(large, tmp_path):
    """A file of text that is read some records at a time is UTF-8, with a mark or without."""
    path = tmp_path / "people.csv"
    people().write_csv(path, include_bom=True)
    large()
    files.protect_file(path, tmp_path / "release", **ASKED)
    path.write_bytes(path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode().encode("utf-16"))
    with pytest.raises(mv.FileError, match="wants UTF-8; write it in UTF-8, or allow more memory"):
        files.protect_file(path, tmp_path / "other", **ASKED)


def test_what_does_not_fit_either_way_is_refused_with_the_figure(monkeypatch, large, tmp_path):
    """One column has to fit, or all of them where a method takes them together."""
    path = written("people.parquet", tmp_path)
    large()
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    files.protect_file(path, tmp_path / "release", **ASKED)
    together = {**ASKED, "method": "mdav", "epsilon": None, "k": 5}
    with pytest.raises(
        mv.DataError, match="protecting 3 columns of 12500 records takes about 2 MB"
    ):
        files.protect_file(path, tmp_path / "other", **together)
    monkeypatch.setattr(memory, "free_memory", lambda: 100_000)
    with pytest.raises(
        mv.DataError, match="protecting 3 columns of 12500 records takes about 0 MB"
    ):
        files.protect_file(path, tmp_path / "other", **ASKED)
    assert not (tmp_path / "other").exists()


def test_records_are_linked_only_where_all_columns_fit(monkeypatch, large, tmp_path):
    """Else the manifest says why they were not."""
    path = written("people.parquet", tmp_path)
    large()
    monkeypatch.setattr(memory, "free_memory", lambda: 1_000_000)
    _, manifest, _, _ = protected(path, tmp_path / "release")
    assert manifest["findings"]["linkage"] is None
    assert manifest["findings"]["not_linked"] == files.TOO_LARGE


KILLED = """
import os, signal, sys, time
from microveil.cli.application import main
from microveil.commands import files
from microveil.table import memory

memory.OF_FILE = 10**12

def waits(*arguments, **more):
    print(*[entry for entry in os.listdir(".") if entry.startswith(".")], flush=True)
    time.sleep(60)

files.with_findings = waits
sys.argv = ["microveil", *sys.argv[1:]]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such signal")
def test_what_is_ended_by_a_signal_leaves_nothing(tmp_path):
    """While columns wait the folder beside the release is nobody else's; then it is gone."""
    people().write_parquet(tmp_path / "people.parquet")
    flags = ["--method", "dp-um", "--k", "10", "--epsilon", "1", "--attributes", "AGE"]
    command = [sys.executable, "-c", KILLED, "protect", "people.parquet", *flags]
    process = subprocess.Popen(
        [*command, "--bounds", "AGE=0:120", "-o", "release"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        (folder,) = process.stdout.readline().split()
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700
        if sys.platform == "linux":  # what is there leads nowhere once the process is gone
            assert all(entry.is_symlink() for entry in (tmp_path / folder).iterdir())
        process.send_signal(signal.SIGTERM)
    assert process.returncode == 128 + signal.SIGTERM
    assert os.listdir(tmp_path) == ["people.parquet"]


def test_pieces_are_typed_by_the_first_records_of_all(large, tmp_path, monkeypatch):
    """Not each by its own: a column that begins with whole numbers stays one of these."""
    monkeypatch.setattr(text_columns, "N_SAMPLE", 100)
    polars.DataFrame({"A": ["1"] * 5000 + ["2.5"]}).write_csv(tmp_path / "t.csv")
    large()
    with pytest.raises(mv.FileError, match=r"line 5002.*whole"):
        files.protect_file(
            tmp_path / "t.csv",
            tmp_path / "release",
            method="laplace",
            epsilon=1,
            attributes=["A"],
            bounds={"A": (0, 9)},
        )
