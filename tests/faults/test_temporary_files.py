"""A process that is ended leaves no copy of a table behind, by whatever signal can be handled."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import polars as pl
import pytest

SECRET = "Example Ann Invented"
# A query that takes long: numbers up to so many are counted before the table is read.
LONG = (
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {}) "
    "SELECT AGE, (SELECT count(*) FROM n) AS N FROM people"
)


def started(folder, *arguments):
    """Start Python in a folder, whose temporary files lie in tmp there."""
    (folder / "tmp").mkdir()
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"TMPDIR": str(folder / "tmp")},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        # Under nohup a process ignores SIGHUP, and so would this one.
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509
    )


def database(folder):
    """Make a database of people."""
    with closing(sqlite3.connect(folder / "people.db")) as connection:
        connection.execute("CREATE TABLE people (AGE INTEGER, NAME TEXT)")
        connection.executemany("INSERT INTO people VALUES (?, ?)", [(30, SECRET)] * 1_000)
        connection.commit()


def left(folder):
    """Name the files below a folder that hold something of the table."""
    return [path for path in folder.rglob("*") if path.is_file() and b"Ann" in path.read_bytes()]


def wait_for(process, what):
    """Wait until something is true while a process runs."""
    while process.poll() is None and not what():
        time.sleep(0.005)
    assert process.poll() is None


def test_no_copy_of_a_database_is_made(tmp_path):
    """While a SQLite file is read no temporary file is there: so whoever is ended leaves none."""
    database(tmp_path)
    asked = f"people.db?query={LONG.format(1_000_000)}"
    process = started(tmp_path, "-c", f"import microveil; microveil.read({asked!r})")
    while process.poll() is None:
        assert list((tmp_path / "tmp").iterdir()) == []
        time.sleep(0.005)
    assert process.returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_no_hidden_folder_of_a_release_is_left(tmp_path, number):
    """A release that is ended while it is written leaves neither itself nor its hidden folder."""
    pl.DataFrame({"AGE": [i % 90 for i in range(80_000)], "NAME": [SECRET] * 80_000}).write_csv(
        tmp_path / "people.csv"
    )
    asked = "protect people.csv --method ranking --k 5 --attributes AGE --keep NAME --no-linkage"
    process = started(tmp_path, "-m", "microveil", *asked.split(), "--format", "xlsx", "-o", "out")
    wait_for(process, lambda: list(tmp_path.glob(".out.*")))
    process.send_signal(number)
    assert process.wait(60) != 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv", "tmp"]
    assert left(tmp_path / "tmp") == []
