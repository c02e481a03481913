"""Names of columns on the terminal: nothing in them moves the cursor or turns the text."""

import polars as pl
import pytest

from command import run

# A bell, a mark that turns the direction of text, a line break, and what clears a screen.
NAME = "A\a\u202eB\nC\x1b[2J"


@pytest.fixture
def folder(tmp_path):
    """A folder with people.parquet and a release of it."""
    numbers = [i % 60 for i in range(100)]
    people = pl.DataFrame({NAME: numbers, "OTHER": numbers, "WORD": [NAME, "b"] * 50})
    people.write_parquet(tmp_path / "people.parquet")
    return tmp_path


BOUNDS = ["--bounds", f"{NAME}=0:100", "--attributes", NAME]
REQUEST = ["--method", "dp-um", "--k", "5", "--epsilon", "1", *BOUNDS]
LEARNER = ["--estimator", "sklearn.naive_bayes.GaussianNB"]
COMPARED = ["--methods", "dp-um", "--k", "5", "--epsilon", "1", *BOUNDS, "--runs", "2"]


@pytest.mark.parametrize(
    "command",
    [
        ["protect", "people.parquet", "-o", "out", "--method", "mdav", "--k", "5", "--keep", NAME],
        ["protect", "people.parquet", "-o", "out", *REQUEST, "--bounds-from-data", "1.5"],
        ["protect", "people.parquet", "-o", "out", *REQUEST[:-4], "--bounds", "OTHER=0:9"],
        ["inspect", "people.parquet"],
        ["inspect", "people.parquet", *REQUEST],
        ["audit", "people.parquet", *REQUEST],
        ["audit", "people.parquet", *REQUEST, "--json"],
        ["assess", "people.parquet", "people.parquet", "--classes", "WORD", *LEARNER],
        ["assess", "people.parquet", "people.parquet", "--attributes", f"{NAME}x"],
        ["attack", "people.parquet", "people.parquet"],
        ["compare", "people.parquet", "-o", "out", *COMPARED, "--classes", "WORD", *LEARNER],
    ],
)
def test_no_name_reaches_the_terminal_raw(folder, command):
    """Neither what is printed nor a message holds a control, and no name ends a line."""
    done = run(*command, folder=folder)
    for told in (done.stdout, done.stderr):
        assert all(letter.isprintable() or letter == "\n" for letter in told), told
        assert not any(line.startswith("C\ufffd") for line in told.splitlines()), told
