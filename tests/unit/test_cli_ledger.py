"""The ledger from the command line and from a recipe: for the custodian, and nobody else."""

import json
import os
import re

import pytest

import microveil as mv
from command import run

REQUEST = [
    "--method", "dp-um", "--k", "5", "--attributes", "AGE", "--bounds", "AGE=0:120",
]  # fmt: skip
NAME = "household-survey-QX"


@pytest.fixture
def folder(tmp_path):
    """A folder with people.csv."""
    mv.invented_people(60, seed=1).write_csv(tmp_path / "people.csv")
    return tmp_path


def protect(folder, output, *arguments, epsilon="0.1"):
    asked = ("people.csv", *REQUEST, "--epsilon", epsilon, "-o", output)
    return run("protect", *asked, *arguments, folder=folder)


def test_json_and_the_public_folder_hold_nothing_of_it(folder):
    """Neither the name, nor a count, a digest or the ledger's place."""
    protect(folder, "out1", "--population", NAME)
    asked = ("--population", NAME, "--ledger", "elsewhere-QX", "--json", "--public-report")
    done = protect(folder, "out2", *asked)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert set(told) == {"folder", "custodian", "guarantee", "notes"}
    public = [path.read_text() for path in (folder / "out2").iterdir()]
    assert len(public) == 4
    for text in (done.stdout, done.stderr, *public):
        assert not re.search("QX|ledger.jsonl|population", text)
    assert "elsewhere-QX" in os.listdir(folder)


def test_two_ledgers_count_by_themselves(folder):
    """--ledger names the file; what another counts is not in its sums."""
    protect(folder, "out1", "--population", NAME)
    done = protect(folder, "out2", "--population", NAME, "--ledger", "other.jsonl")
    assert "this ledger was begun: 1." in done.stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--ledger", "book"], "--population NAME"),
        (["--population", ""], "1 to 200 printable characters"),
        (["--population", NAME, "--ledger", "out/book"], "must not lie within"),
        (["--population", NAME, "--ledger", "people.csv"], "ledger"),
        (["--population", NAME, "--ledger", "nowhere/book"], "must exist"),
    ],
)
def test_a_ledger_that_cannot_be_used_is_refused_before_anything_is_written(
    folder, arguments, told
):
    """One line with place, rule and remedy; the file that was named stays as it was."""
    (folder / "people.csv").chmod(0o600)
    before = (folder / "people.csv").read_bytes()
    done = protect(folder, "out", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1
    assert os.listdir(folder) == ["people.csv"]
    assert (folder / "people.csv").read_bytes() == before


RECIPE = """
method = "dp-um"
k = 5
epsilon = 0.25
population = "monthly"

[attributes.AGE]
role = "confidential"
type = "whole number"
bounds = [0, 120]
"""


def test_a_recipe_names_the_people_of_every_run(folder):
    """Each month counts; a name on the command line stands above the recipe's."""
    (folder / "recipe.toml").write_text(RECIPE)
    for month in ("january", "february"):
        done = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", month, folder=folder)
        assert done.returncode == 0, done.stderr
    assert "vector scope: epsilon 0.5 in all, over 2 releases." in done.stdout
    done = run("protect", "people.csv", "--recipe", "recipe.toml", "--population", "others",
               "-o", "march", folder=folder)  # fmt: skip
    assert "population 'others'" in done.stdout
    assert "a name that is spelled otherwise is another population" in done.stdout


def test_other_commands_pass_a_recipes_population_over(folder):
    """What stays with the custodian is recorded nowhere."""
    (folder / "recipe.toml").write_text(RECIPE)
    for command in (["audit"], ["inspect"],
                    ["compare", "--methods", "dp-um", "--runs", "1", "-o", "found"]):  # fmt: skip
        done = run(command[0], "people.csv", "--recipe", "recipe.toml", *command[1:],
                   *(["--k", "5", "--epsilon", "1"] if command[0] == "compare" else []),
                   folder=folder)  # fmt: skip
        assert done.returncode == 0, done.stderr
    assert "microveil-ledger.jsonl" not in os.listdir(folder)


def test_a_recipes_population_is_text():
    """A number is refused with its place."""
    with pytest.raises(mv.RequestError, match="entry 'population'"):
        mv.plan(mv.invented_people(20), recipe={"method": "dp-um", "population": 7})
