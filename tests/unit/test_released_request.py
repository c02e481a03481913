"""The folder of a release says what was asked of it: audited, assessed and attacked by that."""

import json
import shutil
from fractions import Fraction

import polars
import pytest

import microveil as mv
from command import run
from microveil.commands.files import protect_file
from microveil.commands.measuring import assess_files, attack_files, audit_release

PEOPLE = mv.invented_people(300)
REGIONS = sorted(set(PEOPLE["REGION"]))
TWO = {
    "attributes": ["AGE", "INCOME"],
    "bounds": {"AGE": (0, 120), "INCOME": (0, 500_000.5)},
    "resolution": {"INCOME": 0.01},
}
REQUESTS = {
    "kanon-dp": {"method": "kanon-dp", "k": 30, "epsilon": 1, "shuffle": "rows", **TWO},
    "idp-cbls": {"method": "idp-cbls", "k": 30, "epsilon": 0.1, "budget": {"AGE": 2}, **TWO},
    "auto": {"method": "auto", "scope": "vector", "epsilon": 1, **TWO},
    "k auto, seeded": {"method": "dp-um", "k": "auto", "epsilon": 0.1, "seed": 3, **TWO},
    "read off the data": {
        "method": "dp-um", "k": 10, "epsilon": 0.1, "attributes": ["INCOME"], "bounds_alpha": 1.5,
        "decimals_from_data": True,
    },
    "a matrix": {
        "method": "pram", "epsilon": Fraction(1, 3), "attributes": ["REGION", "EMPLOYED"],
        "categories": {"REGION": mv.ordered(*REGIONS)}, "matrix": {"EMPLOYED": "invariant"},
    },
    "a width": {"method": "k-noise", "width": 3.5, "every": "average", "noise": "gaussian", **TWO},
    "dates and kept": {
        "method": "laplace", "epsilon": 1, "attributes": ["SINCE"], "keep": ["REGION"],
        "bounds": {"SINCE": ("1950-01-01", "2030-12-31")}, "outside": "clamp",
    },
    "a new table": {
        "method": "dp-synthetic", "epsilon": 5, "delta": 1e-9, "target": {"INCOME": 30_000}, **TWO
    },
}  # fmt: skip
RECIPE = """
microveil = "0.2"
method = "mdav"
k = 5
[attributes.ID]
role = "identifier"
type = "whole number"
[attributes.AGE]
role = "quasi-identifier"
type = "whole number"
[attributes.INCOME]
role = "confidential"
type = "decimal"
[attributes.TAX]
role = "confidential"
type = "decimal"
"""


@pytest.fixture
def folder(tmp_path):
    PEOPLE.write_csv(tmp_path / "people.csv")
    return tmp_path


@pytest.mark.parametrize("name", REQUESTS)
def test_a_release_is_audited_as_it_was_asked_for(folder, name):
    """The audit of its folder is the one that was made with it, by the guarantee that it has."""
    protect_file(folder / "people.csv", folder / "r", linkage=False, **REQUESTS[name])
    manifest = json.loads((folder / "r-custodian" / "manifest.json").read_text("utf-8"))
    found, attacked = audit_release(folder / "r")
    assert found.to_dict() == manifest["audit"]
    assert attacked is None


def test_a_release_is_not_audited_on_another_table_or_by_another_request(folder):
    """Refused: what is shown would be of another release."""
    protect_file(folder / "people.csv", folder / "r", linkage=False, **REQUESTS["idp-cbls"])
    PEOPLE.head(299).write_csv(folder / "others.csv")
    with pytest.raises(mv.FileError, match=r"not the table that .* was made of"):
        audit_release(folder / "r", original=folder / "others.csv")
    done = run("audit", "people.csv", "r", "--epsilon", 3, folder=folder)
    assert done.returncode == 2
    assert "leave out the flags" in done.stderr
    path = folder / "r-custodian" / "manifest.json"
    manifest = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(manifest | {"parameters": manifest["parameters"] | {"k": 31}}))
    with pytest.raises(mv.FileError, match="another guarantee than it has"):
        audit_release(folder / "r")


@pytest.mark.parametrize("contents", ["", "{}", '{"parameters": {}}', '{"parameters": []}', "[1]"])
def test_a_manifest_that_says_nothing_is_an_error_of_ours(folder, contents):
    """With what to do; so is one that is not there."""
    protect_file(folder / "people.csv", folder / "r", linkage=False, **REQUESTS["idp-cbls"])
    (folder / "r-custodian" / "manifest.json").write_text(contents)
    with pytest.raises(mv.FileError):
        audit_release(folder / "r")
    shutil.rmtree(folder / "r-custodian")
    with pytest.raises(mv.FileError, match="side by side"):
        audit_release(folder / "r")


def test_a_table_that_is_gone_is_asked_for(folder):
    """By the command that names it."""
    protect_file(folder / "people.csv", folder / "r", linkage=False, **REQUESTS["idp-cbls"])
    (folder / "people.csv").unlink()
    with pytest.raises(mv.FileError, match=r"name the table first: microveil audit TABLE"):
        audit_release(folder / "r")


# Roles --------------------------------------------------------------------------------


@pytest.fixture
def made_by_recipe(folder):
    (folder / "recipe.toml").write_text(RECIPE)
    protect_file(
        folder / "people.csv",
        folder / "r",
        recipe=folder / "recipe.toml",
        resolution={"INCOME": 0.01, "TAX": 0.01},
        linkage=False,
    )
    return folder


def test_roles_say_what_is_known_secret_and_dropped(made_by_recipe):
    """A recipe's quasi-identifiers are counted by and known, its confidential attributes secret."""
    folder = made_by_recipe
    tables = PEOPLE, PEOPLE.with_columns(polars.col("AGE") // 10)
    recipe = folder / "recipe.toml"
    assessed = mv.assess(*tables, recipe=recipe)
    assert assessed.anonymity.quasi_identifiers == ("AGE",)
    assert "ID" in assessed.left_out
    assert "ID" in mv.attack(*tables, recipe=recipe).left_out
    named = mv.assess(*tables, ["ID", "AGE"], recipe=recipe, quasi_identifiers=["REGION"])
    assert named.anonymity.quasi_identifiers == ("REGION",)
    assert "ID" not in named.left_out
    attacked = mv.attack(*tables, attributes=["ID", "AGE", "INCOME"], secret=["INCOME"])
    assert set(attacked.outcomes[0].known) == {"ID", "AGE"}


def test_a_release_brings_the_roles_of_its_recipe(made_by_recipe):
    """Assessed and attacked as if the recipe were named, and by another where one is."""
    pair = made_by_recipe / "people.csv", made_by_recipe / "r"
    assert assess_files(*pair, None, text=None).anonymity.quasi_identifiers == ("AGE",)
    attacked = attack_files(*pair)
    assert attacked.outcomes[0].known == ("AGE",)
    assert {o.secret for o in attacked.outcomes if o.attack == "inference"} == {"INCOME", "TAX"}
    other = {"attributes": {"TAX": {"role": "quasi-identifier", "type": "decimal"}}}
    assessed = assess_files(*pair, None, text=None, recipe=other)
    assert assessed.anonymity.quasi_identifiers == ("TAX",)
    shown = run("assess", *pair, "--recipe", made_by_recipe / "recipe.toml", folder=made_by_recipe)
    assert "k-anonymity by AGE" in shown.stdout
    # A table that is only beside it has nothing of it.
    shutil.copy(made_by_recipe / "r" / "data.csv", made_by_recipe / "r" / "copy.csv")
    copied = assess_files(pair[0], made_by_recipe / "r" / "copy.csv", None, text=None)
    assert copied.anonymity is None


def test_a_release_brings_what_stood_for_a_missing_value(tmp_path):
    """The commands that follow measure by its codes and words, unless others are named."""
    people = polars.DataFrame(
        {
            "AGE": [*range(20, 60), -9, -9],
            "VISITS": [*map(str, range(1, 41)), "NA", "NA"],
            "INCOME": range(42),
        }
    )
    people.write_csv(tmp_path / "people.csv")
    asked = {"missing_codes": {"AGE": [-9]}, "missing_values": ["NA"], "missing": "keep"}
    release = protect_file(
        tmp_path / "people.csv", tmp_path / "r", method="dp-um", k=5, epsilon=1, **asked,
        attributes=["AGE", "VISITS"], bounds={"AGE": (0, 99), "VISITS": (0, 99)}, linkage=False,
    )  # fmt: skip
    pair = tmp_path / "people.csv", tmp_path / "r"
    due = mv.assess(mv.read(pair[0], missing_values=["NA"]), release).to_dict()
    found = assess_files(*pair, None, text=None).to_dict()
    assert found["n_records_complete"] == 40
    assert {name: found[name] for name in ("sse", "attributes", "moments")} == {
        name: due[name] for name in ("sse", "attributes", "moments")
    }
    inferred = {
        outcome.secret: outcome.n_left_out
        for outcome in attack_files(*pair, known=["VISITS"]).outcomes
        if outcome.attack == "inference"
    }
    assert inferred["AGE"] == 2
    other = assess_files(*pair, None, text=None, missing_codes=["AGE=-8"]).to_dict()
    assert other["moments"]["AGE"] != due["moments"]["AGE"]
    assert other["moments"]["VISITS"] == due["moments"]["VISITS"]
    # Of a table that lacks the column nothing is declared.
    people.drop("AGE").write_csv(tmp_path / "few.csv")
    few = assess_files(tmp_path / "few.csv", tmp_path / "r", ["VISITS"], text=None)
    assert few.attributes == ("VISITS",)


def test_roles_without_a_quasi_identifier_in_the_release_count_nothing(made_by_recipe):
    """What nobody asked for by name is no error."""
    before = PEOPLE.select("AGE", "TAX")
    recipe = made_by_recipe / "recipe.toml"
    assert mv.assess(before, before.select("TAX"), recipe=recipe).anonymity is None
    with pytest.raises(mv.RequestError, match="column 'AGE'"):
        mv.assess(before, before.select("TAX"), quasi_identifiers=["AGE"])


def test_a_release_brings_how_its_files_are_written(folder):
    """Semicolons and decimal commas are said once, when the table is protected."""
    PEOPLE.write_csv(folder / "p.csv", separator=";", decimal_comma=True)
    flags = ["--attributes", "INCOME", "--resolution", "INCOME=0.01", "--decimal", ","]
    done = run("protect", "p.csv", "--method", "mdav", "--k", 5, *flags, "-o", "r", folder=folder)
    assert done.returncode == 0
    for command in (["audit", "r"], ["assess", "p.csv", "r"], ["attack", "p.csv", "r"]):
        done = run(*command, folder=folder)
        assert done.returncode == 0, done.stderr
        assert "INCOME" in done.stdout
