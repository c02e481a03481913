"""dp-synthetic from the command line: its flags, its recipe, its measurements and the ledger."""

import json
from unittest.mock import patch

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands import files

PLACES = ["North", "South", "East", "West"]
OF_COLUMNS = [
    "--attributes", "AGE,TAX,REGION", "--bounds", "AGE=0:120", "--bounds", "TAX=0:200000",
    "--resolution", "TAX=0.01", "--categories", f"REGION={','.join(PLACES)}",
]  # fmt: skip
REQUEST = [*OF_COLUMNS, "--method", "dp-synthetic", "--epsilon", "3", "--delta", "1e-9"]


@pytest.fixture
def folder(tmp_path):
    """A folder with people.csv."""
    mv.invented_people(300, seed=1).write_csv(tmp_path / "people.csv")
    return tmp_path


def manifest(folder, output):
    return json.loads((folder / f"{output}-custodian" / "manifest.json").read_text())


def test_every_argument_of_it_has_a_flag_that_works(folder):
    """Delta, structure, number of records, missing cells and a target that is cut in two."""
    flags = ["--structure", "tree", "--n-records", "250", "--missing", "protect"]
    done = run(
        "protect", "people.csv", *REQUEST, *flags, "--target", "TAX=20000", "-o", "out",
        folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "epsilon 3, delta 1e-09" in done.stdout
    table = pl.read_csv(folder / "out" / "data.csv")
    assert table.height == 250
    assert set(table["REGION"].drop_nulls()) <= set(PLACES)
    asked = manifest(folder, "out")["parameters"]
    assert (asked["delta"], asked["structure"], asked["n_records"]) == ("1/1000000000", "tree", 250)
    assert (asked["missing"], asked["target"]) == ("protect", "TAX=20000")


def test_measurements_go_with_a_release_where_they_are_asked_for(folder):
    """What was drawn is published under the same guarantee, and only on request."""
    for output, flags in (("plain", []), ("both", ["--with-measurements"])):
        done = run("protect", "people.csv", *REQUEST, *flags, "-o", output, folder=folder)
        assert done.returncode == 0, done.stderr
        assert ("measurements.json" in done.stdout) == bool(flags)
    assert not (folder / "plain" / "measurements.json").exists()
    found = json.loads((folder / "both" / "measurements.json").read_text())
    guarantee = json.loads((folder / "both" / "guarantee.json").read_text())
    for name in ("method", "epsilon", "delta", "rho", "conditions"):
        assert found[name] == guarantee[name]
    assert set(found["attributes"]) == {"AGE", "TAX", "REGION"}
    assert found["tables"]
    # A release with them is one that may be overwritten, by one without them too.
    done = run("protect", "people.csv", *REQUEST, "-o", "both", "--overwrite", folder=folder)
    assert done.returncode == 0, done.stderr
    assert not (folder / "both" / "margins.json").exists()


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        ([*REQUEST, "--seed", "1"], "a seed draws the noise"),
        (
            ["--method", "laplace", "--epsilon", "1", "--attributes", "AGE", "--bounds", "AGE=0:9"],
            "laplace draws its release from the table",
        ),
    ],
)
def test_measurements_are_refused_before_any_work(folder, request_, reason):
    """From a seed noise can be taken off again, and other methods have none: nothing is planned."""
    with patch.object(files, "plan_and_draw", side_effect=AssertionError):
        done = run(
            "protect", "people.csv", *request_, "--with-measurements", "-o", "out", folder=folder
        )
    assert done.returncode == 2
    assert reason in done.stderr
    assert not (folder / "out").exists()


def test_the_ledger_adds_deltas_to_deltas(folder):
    """Two releases come to twice the epsilon and twice the delta, at row scope too."""
    for number in (1, 2):
        done = run(
            "protect", "people.csv", *REQUEST, "--population", "all", "-o", f"out{number}",
            folder=folder,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "Their epsilons and deltas add up" in done.stdout
    assert "row scope: epsilon 6, delta 2e-09 in all, over 2 releases." in done.stdout


def test_compare_holds_it_against_others(folder):
    """With a delta for those that take it, and a map whose row scope has inhabitants."""
    done = run(
        "compare", "people.csv", "--methods", "dp-synthetic,dp-synthetic:structure=tree,laplace",
        "--attributes", "AGE,TAX", "--bounds", "AGE=0:120", "--bounds", "TAX=0:200000",
        "--resolution", "TAX=0.01", "--outside", "clamp", "--epsilon", "3", "--delta", "1e-9",
        "--runs", "2", "--seed", "1", "--jobs", "1", "-o", "found", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "Rows of dp-synthetic follow nobody" in done.stdout
    assert "Pareto-optimal" in done.stdout
    assert "Refused" not in done.stdout
    assert (folder / "found" / "map.svg").exists()
