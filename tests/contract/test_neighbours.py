"""Two neighbouring tables under equal randomness: nothing but data cells tells them apart."""

import os

import numpy as np
import pytest

import microveil as mv
from microveil.noise import expected_error

N = 60
NAMES = ["x", "y", "z"]
BOUNDS = {"x": (0, 1000), "y": (0, 1000), "z": (-50, 50)}


def neighbours():
    """A table, and the same with one record replaced by the ends of all domains."""
    random = np.random.Generator(np.random.PCG64(4))
    table = {
        "x": random.integers(1, 900, N),
        "y": random.integers(1, 900, N) % 7,
        "z": random.integers(-40, 40, N),
        "place": random.choice(["north", "south"], N),
    }
    other = {name: column.copy() for name, column in table.items()}
    other["x"][7], other["y"][7], other["z"][7] = 1000, 1000, -50
    return table, other


@pytest.fixture
def _equal_randomness(monkeypatch):
    """Whoever asks the system for randomness gets the same again and again."""
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(7, 7 + count)))


@pytest.fixture
def _few_simulations(monkeypatch):
    """The error to expect is simulated to fewer digits: both tables are shown the same or not."""
    monkeypatch.setattr(expected_error, "MOST_RUNS", expected_error.LEAST_RUNS)


def published(table, folder, **asked):
    """All that a release shows but its data cells: files, names, types, words."""
    release = mv.protect(table, **asked)
    public, _ = release.write(folder)
    files = {path.name: path.read_bytes() for path in public.iterdir()}
    rows = files.pop("data.csv").decode().splitlines()
    return {
        "files": files,
        "header": rows[0],
        "n_rows": len(rows),
        "decimals": any("." in cell for row in rows[1:] for cell in row.split(",")),
        "types": {name: column.dtype for name, column in release.data.items()},
        "notes": release.notes,
        "repr": repr(release),
        "summary": release.guarantee.summary(),
    }, rows


@pytest.mark.usefixtures("_equal_randomness", "_few_simulations")
@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("laplace", {}),
        ("laplace", {"keep": ["place"], "shuffle": "rows"}),
        ("dp-um", {}),
        ("dp-um", {"shuffle": "columns"}),
        ("dp-um", {"k": "auto", "isotonic": True}),
        ("kanon-dp", {"shuffle": True}),
        ("kanon-dp", {"composition": "parallel"}),
        ("kanon-dp", {"attributes": ["x"]}),
        ("record-dp", {"partition": "ranking"}),
        ("auto", {"scope": "row", "k": "auto"}),
        ("auto", {"scope": "row", "shuffle": "columns"}),
        ("pram", {"resolution": {"x": 10, "y": 10}}),
    ],
)
def test_neighbours_under_equal_randomness_differ_in_data_cells_alone(method, more, tmp_path):
    """Where the model is differential privacy no file, word, type or format shows the record."""
    asked = {"method": method, "k": 5, "epsilon": 50, "attributes": NAMES, "bounds": BOUNDS} | more
    (one, rows), (other, rows_of_other) = (
        published(table, tmp_path / name, **asked)
        for name, table in zip(("one", "other"), neighbours(), strict=True)
    )
    assert '"model": "dp"' in one["files"]["guarantee.json"].decode()
    assert one == other
    assert rows != rows_of_other
