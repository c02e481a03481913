"""A comparison that was stopped, however it was stopped, ends as one that was not."""

import fcntl
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars
import pytest
from polars.testing import assert_frame_equal

from microveil.compare import Comparison, compare, comparing, running, store
from microveil.errors import DataError, FileError
from microveil.files import disk

FILES = {"results.parquet", "comparison.json", "summary.csv", "frontier.csv", "answer.md", ".lock"}
GRID = {"methods": "laplace,dp-um,idp-cbls", "k": [2, 3, 8], "epsilon": [0.5, 2], "runs": 3}
N_REFUSED = 2 * GRID["runs"]
REQUEST = {"attributes": ["AGE"], "bounds": {"AGE": (0, 120)}, "exact_cells": "allow"}
PROCESS = """
import numpy
from microveil.compare import compare
compare({{"AGE": numpy.array({ages})}}, **{grid}, **{request}, seed=4, jobs=2, folder={folder!r},
        progress=lambda done, total: print(done, total, flush=True))
"""


def people():
    random = np.random.Generator(np.random.PCG64(8))
    return {"AGE": random.integers(18, 90, 50)}


@pytest.fixture(scope="module")
def whole():
    return compare(people(), **GRID, **REQUEST, seed=4)


def started(folder):
    ages = people()["AGE"].tolist()
    code = PROCESS.format(ages=ages, grid=GRID, request=REQUEST, folder=str(folder))
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)


@pytest.mark.parametrize(
    "runs", [pytest.param(1, marks=pytest.mark.slow), 23, pytest.param(38, marks=pytest.mark.slow)]
)
def test_a_killed_comparison_continues_to_the_same_table(whole, tmp_path, runs):
    """Killed at any point, it leaves whole rows, goes on from there, and ends the same."""
    folder = tmp_path / "compared"
    process = started(folder)
    for line in process.stdout:
        done, total = map(int, line.split())
        if done >= runs:
            break
    process.send_signal(signal.SIGKILL)
    process.stdout.close()
    assert process.wait() == -signal.SIGKILL
    with store.opened(folder, whole.description) as opened:
        left = polars.DataFrame(opened.rows, schema=whole.table.schema)
    there = whole.table.join(left, on=["configuration", "run"], how="semi", nulls_equal=True)
    assert_frame_equal(left.sort("configuration", "run"), there, check_exact=True)
    assert left["run"].count() >= done - N_REFUSED
    told = []
    found = compare(
        people(), **GRID, **REQUEST, folder=folder, progress=lambda *now: told.append(now)
    )
    assert done <= told[0][0] < total
    assert told[-1][:2] == (total, total)
    assert_frame_equal(found.table, whole.table, check_exact=True)
    assert (found.answer, found.description) == (whole.answer, whole.description)
    assert_frame_equal(polars.read_parquet(folder / "results.parquet"), whole.table)
    assert {path.name for path in folder.iterdir()} == FILES


@pytest.mark.parametrize("cut", [1, 40, 0])
def test_a_run_that_was_cut_short_is_done_again(whole, tmp_path, cut):
    """Of a line that is not whole nothing is read; what was written twice is there once."""
    folder = tmp_path / "compared"
    with store.opened(folder, whole.description) as opened:
        for row in whole.table.head(9).to_dicts():
            opened.add(row)
    journal = folder / store.JOURNAL
    written = journal.read_text()
    journal.write_text(written[: len(written) - cut])
    with store.opened(folder, whole.description) as opened:
        assert len(opened.rows) == (8 if cut else 9)
    assert not journal.exists()
    journal.write_text(written)  # as if it had not been taken away after the results were written
    found = compare(people(), **GRID, **REQUEST, folder=folder)
    assert_frame_equal(found.table, whole.table, check_exact=True)


@pytest.mark.parametrize("step", ["synced", "replace"])
def test_a_write_that_is_cut_short_loses_nothing(whole, tmp_path, monkeypatch, step):
    """Between writing, syncing and renaming the file of results every run is there."""

    class Cut(BaseException):
        pass

    folder, told = tmp_path / "compared", []
    owner = disk if step == "synced" else Path
    plain = getattr(owner, step)

    def cutting(path, *args):
        if "results" in str(path):
            raise Cut
        return plain(path, *args)

    with monkeypatch.context() as patch:
        patch.setattr(owner, step, cutting)
        with pytest.raises(Cut):
            compare(people(), **GRID, **REQUEST, seed=4, folder=folder)
    assert not (folder / "results.parquet").exists()
    found = compare(people(), **GRID, **REQUEST, folder=folder, progress=lambda *n: told.append(n))
    assert len(told) == 1
    assert_frame_equal(found.table, whole.table, check_exact=True)


def test_a_finished_comparison_is_read_back(whole, tmp_path, monkeypatch):
    """What is done is not done again: nothing is planned and nothing drawn."""
    written = whole.write(tmp_path / "compared")
    monkeypatch.setattr(running, "plan_of", None)
    told = []
    found = compare(
        people(), **GRID, **REQUEST, folder=written, progress=lambda *now: told.append(now)
    )
    assert told == [
        (whole.table["run"].count() + N_REFUSED, whole.table["run"].count() + N_REFUSED)
    ]
    assert_frame_equal(found.table, whole.table, check_exact=True)


def test_the_folder_holds_everything_and_only_its_owner_opens_it(whole, tmp_path):
    """Results, description, summary, frontier and answer, in a folder of mode 0700."""
    folder = tmp_path / "compared"
    compare(people(), **GRID, **REQUEST, seed=4, folder=folder)
    assert {path.name for path in folder.iterdir()} == FILES
    assert folder.stat().st_mode & 0o777 == 0o700
    assert json.loads((folder / "comparison.json").read_text()) == whole.description
    assert_frame_equal(polars.read_csv(folder / "summary.csv")
                       .select("configuration", "information_loss"),
                       whole.summary.select("configuration", "information_loss"))  # fmt: skip
    assert (folder / "answer.md").read_text() == whole.answer
    also = whole.write(tmp_path / "also")
    for name in FILES - {"results.parquet", ".lock"}:
        assert (also / name).read_bytes() == (folder / name).read_bytes()
    assert whole.write(folder) == folder


@pytest.mark.parametrize(
    ("changes", "told"),
    [({"seed": 5}, "its seed"), ({"runs": 7}, "its number of runs"), ({"k": [2, 3]}, "list of k"),
     ({"epsilon": 1}, "list of epsilon"), ({"methods": "dp-um"}, "its methods"),
     ({"bounds": {"AGE": (0, 130)}}, "its table"), ({"exact_cells": "widen"}, "other arguments"),
     ({"table": {"AGE": people()["AGE"][::-1]}}, "its table"),
     ({"attributes": ["SIZE"], "bounds": {"SIZE": (0, 120)},
       "table": {"SIZE": people()["AGE"]}}, "its attributes")],
)  # fmt: skip
def test_a_folder_of_another_comparison_is_refused(whole, tmp_path, changes, told):
    """Grid, seed, table and arguments must be those that were begun; nothing is changed."""
    folder = whole.write(tmp_path / "compared")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    asked = {"table": people(), **GRID, **REQUEST, "seed": 4, **changes}
    with pytest.raises(FileError, match=told) as refusal:
        compare(asked.pop("table"), **asked, folder=folder)
    assert "choose another folder" in refusal.value.remedy
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_another_version_does_not_continue(whole, tmp_path, monkeypatch):
    """Rows of two versions, which may draw differently, do not stand in one table."""
    folder = whole.write(tmp_path / "compared")
    monkeypatch.setattr(comparing, "version", lambda _name: "0.0.0")
    with pytest.raises(FileError, match="version of microveil"):
        compare(people(), **GRID, **REQUEST, seed=4, folder=folder)


def test_a_folder_with_something_else_is_refused(tmp_path):
    """Nobody's files are mixed with results, and nothing is added to them or changed."""
    tmp_path.chmod(0o755)
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(FileError, match="something else"):
        compare(people(), **GRID, **REQUEST, folder=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"letter.txt"}
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    with pytest.raises(FileError, match="must be writable"):
        compare(people(), **GRID, **REQUEST, folder=tmp_path / "letter.txt")
    with pytest.raises(FileError, match="must be writable"):
        compare(people(), **GRID, **REQUEST, folder=tmp_path / "missing" / "compared")


def test_an_empty_folder_that_was_there_becomes_its_owners_alone(whole, tmp_path):
    """A comparison begun in a folder that others could open closes it; files are closed too."""
    folder = tmp_path / "compared"
    folder.mkdir(mode=0o755)
    whole.write(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}


def test_what_was_refused_is_not_planned_again(tmp_path):
    """Cells that are refused stay one row each, however often a comparison is continued."""
    ages = {"AGE": np.repeat(np.arange(20, 40), 5)}
    grid = {"methods": "idp-cbls,dp-um", "k": [4, 50], "epsilon": 1, "runs": 3, "seed": 1}
    asked = {**grid, "attributes": "AGE", "bounds": {"AGE": (0, 120)}, "folder": tmp_path / "c"}
    begun = compare(ages, **asked)
    assert begun.table["refused"].drop_nulls().len() == 1
    told = []
    again = compare(ages, **asked, progress=lambda *now: told.append(now))
    assert told == [(12, 12)]
    assert_frame_equal(again.table, begun.table, check_exact=True)


def test_a_folder_of_refused_cells_stays_as_it_is(tmp_path):
    """A comparison of nothing but refusals is an error also where it is read back."""
    ages = {"AGE": np.repeat(np.arange(20, 40), 5)}
    asked = {"methods": "idp-cbls", "k": [4, 5], "epsilon": 1, "runs": 3, "seed": 1,
             "attributes": "AGE"}  # fmt: skip
    allowed = compare(ages, **asked, exact_cells="allow")
    description = {**allowed.description, "arguments": {"attributes": "AGE"}}
    rows = [{"configuration": cell, "method": "idp-cbls", "steps": "", "k": k, "epsilon": 1.0,
             "refused": "why"} for cell, k in enumerate((4, 5))]  # fmt: skip
    folder = Comparison.of(rows, description).write(tmp_path / "c")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(DataError, match="all 2 configurations are refused"):
        compare(ages, **asked, folder=folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_two_processes_do_not_write_at_once(whole, tmp_path):
    """While one process is at work in a folder, another is refused; afterwards it is not."""
    folder = whole.write(tmp_path / "compared")
    lock = os.open(folder / ".lock", os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    with pytest.raises(FileError, match="another process"):
        compare(people(), **GRID, **REQUEST, folder=folder)
    os.close(lock)
    compare(people(), **GRID, **REQUEST, folder=folder)


@pytest.mark.parametrize("name", ["results.parquet", "comparison.json"])
def test_spoilt_files_are_refused(whole, tmp_path, name):
    """A file that somebody cut or replaced is told by name, not guessed at."""
    folder = whole.write(tmp_path / "compared")
    (folder / name).write_bytes((folder / name).read_bytes()[:-40])
    with pytest.raises(FileError, match=name):
        compare(people(), **GRID, **REQUEST, folder=folder)
    polars.DataFrame({"configuration": [1]}).write_parquet(folder / "results.parquet")
    (folder / "comparison.json").write_text(json.dumps(whole.description))
    with pytest.raises(FileError, match=r"results\.parquet"):
        compare(people(), **GRID, **REQUEST, folder=folder)


def test_an_interrupt_keeps_what_was_done(whole, tmp_path):
    """Ctrl-C writes the runs that are done before it ends the work."""
    folder = tmp_path / "compared"

    def progress(done, _total):
        if done >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare(people(), **GRID, **REQUEST, seed=4, folder=folder, progress=progress)
    rows = polars.read_parquet(folder / "results.parquet")
    assert 15 <= rows.height <= 20
    found = compare(people(), **GRID, **REQUEST, folder=folder)
    assert isinstance(found, Comparison)
    assert_frame_equal(found.table, whole.table, check_exact=True)
