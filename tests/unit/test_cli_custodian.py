"""The custodian's commands: audit, attack, inspect with a request, compare."""

import json

import polars as pl
import pytest

import microveil as mv
from command import run

AGE_TAX = [
    "--attributes", "AGE,TAX", "--bounds", "AGE=0:120", "--bounds", "TAX=0:200000",
    "--resolution", "TAX=1",
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with people.csv, others.csv and a release."""
    path = tmp_path_factory.mktemp("people")
    mv.invented_people(300, seed=1).write_csv(path / "people.csv")
    mv.invented_people(200, seed=2).write_csv(path / "others.csv")
    done = run("protect", "people.csv", "--method", "auto", "--k", "auto", "--scope", "vector",
               "--epsilon", "1", *AGE_TAX, "-o", "out", folder=path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "note: Left to advice, chosen: " in done.stderr
    return path


def test_audit_prints_one_json_object_of_the_contracts_keys(folder):
    """Keys of the contract and nothing else on standard output."""
    asked = ("--method", "idp-cbls", "--k", "10", "--epsilon", "1", *AGE_TAX)
    done = run("audit", "people.csv", *asked, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found) == {"attributes", "vector_scope"}
    assert set(found["attributes"]) == {"AGE", "TAX"}
    keys = {"share", "vector_scope", "exact_cells", "clusters"}
    assert all(set(entry) == keys for entry in found["attributes"].values())
    told = run("audit", "people.csv", *asked, "--runs", "500", folder=folder)
    assert told.returncode == 0, told.stderr
    assert "true loss" in told.stdout
    assert "Lower bounds on epsilon" in told.stdout


def test_attack_says_success_beside_baseline_and_control(folder):
    """As text and as JSON; unknown columns are refused."""
    asked = ("people.csv", "out/data.csv", "--known", "AGE", "--secret", "TAX")
    done = run("attack", *asked, "--control", "others.csv", folder=folder)
    assert done.returncode == 0, done.stderr
    for word in ("success", "baseline", "control", "risk"):
        assert word in done.stdout
    parsed = json.loads(run("attack", *asked, "--json", folder=folder).stdout)
    assert parsed
    refused = run("attack", *asked[:2], "--known", "NOTHING", folder=folder)
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


def test_compare_writes_results_and_continues(folder):
    """A second call adds nothing; another grid in the same folder is refused."""
    asked = ("compare", "people.csv", "--methods", "laplace,dp-um", "--k", "5:20:15", "--epsilon",
             "1", "--runs", "2", "--seed", "3", *AGE_TAX, "-o", "results")  # fmt: skip
    first = run(*asked, folder=folder)
    assert first.returncode == 0, first.stderr
    assert "What does best" in first.stdout
    table = pl.read_parquet(folder / "results" / "results.parquet")
    assert run(*asked, folder=folder).returncode == 0
    assert pl.read_parquet(folder / "results" / "results.parquet").equals(table)
    other = run(*asked, "--exact-cells", "allow", "--runs", "4", folder=folder)
    assert other.returncode == 2


LEARNT = ("--classes", "INCOME", "--threshold", "30000", "--estimator",
          "sklearn.tree.DecisionTreeClassifier")  # fmt: skip


def test_assess_learns_regresses_and_tells_apart(folder):
    """Class attributes of the original, a formula and propensity, as text and as JSON."""
    asked = ("assess", "people.csv", "out/data.csv", *LEARNT, "--formula", "TAX ~ AGE",
             "--propensity")  # fmt: skip
    done = run(*asked, folder=folder)
    assert done.returncode == 0, done.stderr
    for word in ("Classes of INCOME", "<= 30000", "TAX ~ AGE; with", "Propensity"):
        assert word in done.stdout
    parsed = json.loads(run(*asked, "--json", folder=folder).stdout)
    assert parsed["classification"]["estimator"] == "DecisionTreeClassifier()"
    assert parsed["regression"]["model"] == "least squares"
    assert parsed["propensity"]["descriptive"] is True
    refused = run(*asked[:3], "--classes", "INCOME", "--estimator", "os.system", folder=folder)
    assert refused.returncode == 2
    assert "full name of a classifier" in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_compare_measures_what_is_asked_for(folder):
    """Numbers that are not protected are read as numbers; without linkage there is no frontier."""
    asked = ("compare", "people.csv", "--methods", "dp-um", "--k", "10", "--epsilon", "1", "--runs",
             "2", "--seed", "3", *AGE_TAX, *LEARNT, "--formula", "TAX ~ AGE + HOUSEHOLD", "--keep",
             "HOUSEHOLD", "--propensity", "--no-linkage", "-o", "learnt")  # fmt: skip
    done = run(*asked, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "F-measure" in done.stdout
    assert "Record linkage was not measured" in done.stdout
    table = pl.read_parquet(folder / "learnt" / "results.parquet")
    assert {"f_measure[<= 30000]", "f_measure_original[> 30000]", "coefficient_overlap",
            "propensity_ratio"} <= set(table.columns)  # fmt: skip
    assert "record_linkage" not in table.columns
    other = run(*asked, "--linkage", folder=folder)
    assert other.returncode == 2
    assert "what it measures" in other.stderr
