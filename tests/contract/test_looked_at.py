"""What was looked at before a choice is said with the request, and the guarantee goes by it."""

import json
import tomllib

import pytest

import microveil as mv
from command import run
from microveil.commands.measuring import audit_release
from microveil.errors import RequestError
from microveil.guarantee import Scope

AGE = {"attributes": ["AGE"], "bounds": {"AGE": (0, 120)}}
# Each with what it covers by itself; every one spends a budget.
METHODS = {
    "dp-um": {"k": 10},
    "dp-um, shuffled": {"method": "dp-um", "k": 10, "shuffle": "rows"},
    "dp-um, k left to advice": {"method": "dp-um", "k": "auto"},
    "idp-cbls": {"k": 10, "exact_cells": "widen"},
    "laplace": {},
    "laplace of units": {"method": "laplace", "unit": "HOUSEHOLD", "max_rows": 4},
    "pram": {},
    "dp-synthetic": {"delta": 1e-9},
    "dp-synthetic of units": {
        "method": "dp-synthetic",
        "unit": "HOUSEHOLD",
        "max_rows": 4,
        "outside": "clamp",
    },
}
PARTS = {
    "parts": [
        mv.part(["AGE"], method="pram", epsilon=2),
        mv.part(["TAX"], method="laplace", epsilon=2),
    ],
    "bounds": {"AGE": (0, 120), "TAX": (0, 10**6)},
    "resolution": {"TAX": 0.01},
}


@pytest.fixture(scope="module")
def people():
    table = mv.invented_people(400)
    return table.with_columns(HOUSEHOLD=range(400)).with_columns(
        HOUSEHOLD=table["AGE"].rank("ordinal") // 2
    )


def guaranteed(people, name, **more):
    asked = {"method": name, "epsilon": 4, **AGE, **METHODS[name], **more}
    return mv.plan(people, **asked).guarantee


def covered(guarantee):
    return {scope for scope in Scope if guarantee.scopes[scope].covered}


def ids(guarantee):
    return [condition.id for condition in guarantee.conditions]


@pytest.mark.parametrize("name", METHODS)
def test_a_choice_by_the_data_is_a_condition_and_covers_no_row(people, name):
    """Individual at most, `parameters-chosen` at every scope, no row covered; the rest stands."""
    before, after = guaranteed(people, name), guaranteed(people, name, looked_at="data")
    assert after.model.value == "idp"
    assert covered(after) == covered(before) - {Scope.ROW}
    assert [after.scopes[s] for s in covered(after)] == [before.scopes[s] for s in covered(after)]
    assert set(ids(after)) == {*ids(before), "parameters-chosen"}
    chosen = [one for one in after.conditions if one.id == "parameters-chosen"]
    assert len(chosen) == 1
    assert "after a look at figures from this table" in chosen[0].text
    assert set(chosen[0].scopes) == set(Scope)
    assert "the choice of parameters" in after.summary()
    assert not any("reveals nothing" in remark for remark in after.remarks)


@pytest.mark.parametrize("name", METHODS)
def test_a_choice_by_public_figures_changes_no_promise(people, name):
    """The guarantee is the same but for one sentence: that somebody declares it."""
    before, after = guaranteed(people, name), guaranteed(people, name, looked_at="public")
    assert (after.model, after.scopes, ids(after)) == (before.model, before.scopes, ids(before))
    (said,) = set(after.remarks) - set(before.remarks)
    assert "declares" in said
    assert set(before.remarks) <= set(after.remarks)


@pytest.mark.parametrize("looked_at", ["data", "public"])
@pytest.mark.parametrize("name", METHODS)
def test_the_guarantee_can_be_read_again(people, tmp_path, name, looked_at):
    """As it was written, and what it says of the choice with it."""
    guarantee = guaranteed(people, name, looked_at=looked_at)
    path = tmp_path / "guarantee.json"
    path.write_text(json.dumps(guarantee.to_dict()))
    assert mv.Guarantee.read(path) == guarantee


@pytest.mark.parametrize("method", ["laplace", "pram", "dp-synthetic", "auto"])
def test_at_row_scope_a_choice_by_the_data_is_refused(people, method):
    """Whichever method it is, before the table is looked at; parts likewise."""
    with pytest.raises(RequestError) as refused:
        mv.protect(people, method=method, epsilon=4, scope="row", looked_at="data", **AGE)
    assert refused.value.place == "looked_at"
    with pytest.raises(RequestError) as refused:
        mv.protect(people, scope="row", looked_at="data", **PARTS)
    assert refused.value.place == "looked_at"
    assert Scope.ROW in covered(mv.plan(people, scope="row", looked_at="public", **PARTS).guarantee)


def test_it_is_said_of_all_parts(people):
    """One condition for the whole, at iDP at most; a part cannot say it for itself."""
    before = mv.plan(people, **PARTS).guarantee
    after = mv.plan(people, looked_at="data", **PARTS).guarantee
    assert before.model.value == "dp"
    assert Scope.ROW in covered(before)
    assert after.model.value == "idp"
    assert {part.model.value for part in after.parts} == {"idp"}
    assert covered(after) == covered(before) - {Scope.ROW}
    assert ids(after).count("parameters-chosen") == 1
    with pytest.raises(RequestError, match="looked_at"):
        mv.part(["AGE"], method="pram", epsilon=2, looked_at="data")


def test_advice_by_the_table_is_no_public_choice(people):
    """Who declares public figures and leaves k to the table is not believed."""
    asked = {"method": "idp-cbls", "k": "auto", "epsilon": 4, "exact_cells": "widen", **AGE}
    guarantee = mv.plan(people, looked_at="public", **asked).guarantee
    assert "parameters-chosen" in ids(guarantee)
    assert not any("declares" in remark for remark in guarantee.remarks)
    parts = [
        mv.part(["AGE"], method="idp-cbls", k="auto", epsilon=2, exact_cells="widen"),
        mv.part(["TAX"], method="laplace", epsilon=2),
    ]
    guarantee = mv.plan(people, looked_at="public", **{**PARTS, "parts": parts}).guarantee
    assert "parameters-chosen" in ids(guarantee)
    assert not any("declares" in remark for remark in guarantee.remarks)


def test_a_look_before_does_not_open_the_table_to_advice(people):
    """Of a method of differential privacy k is weighed on a stand-in all the same."""
    asked = {"method": "dp-um", "k": "auto", "epsilon": 0.5, **AGE}
    skewed = people.with_columns(AGE=people["AGE"] // 40)
    chosen = [mv.plan(skewed, looked_at=said, **asked).guarantee.k for said in (None, "data")]
    assert chosen[0] == chosen[1]
    even = people.with_columns(AGE=people["AGE"] * 0)
    assert mv.plan(even, looked_at="data", **asked).guarantee.k == chosen[0]


def test_without_a_budget_it_is_a_remark(people):
    """k-anonymity stays what it is, and the page says that k was chosen by the data."""
    asked = {"method": "mdav", "k": 3, **AGE}
    before = mv.plan(people, **asked).guarantee
    after = mv.plan(people, looked_at="data", **asked).guarantee
    assert (after.model, ids(after)) == (before.model, ids(before))
    (said,) = set(after.remarks) - set(before.remarks)
    assert "after a look" in said


def test_options_of_advice_are_weighed_as_what_they_would_promise(people):
    """What would be better is not said to be more than iDP, once the data were looked at."""
    asked = {"method": "dp-um", "k": 10, "epsilon": 1, **AGE}
    models = {option.model for option in mv.advise(people, looked_at="data", **asked).options}
    assert not [model for model in models if model.startswith("differential")]
    assert "--looked-at data" in mv.advise(people, **asked).to_text()


RECIPE = """\
microveil = "0.2"
method = "pram"
epsilon = 4.0
looked_at = "data"
[attributes.AGE]
role = "confidential"
type = "whole number"
bounds = [0, 120]
"""
OF_PARTS = """\
microveil = "0.2"
looked_at = "data"
[[parts]]
attributes = ["AGE"]
method = "pram"
epsilon = 2.0
[[parts]]
attributes = ["TAX"]
method = "laplace"
epsilon = 2.0
[attributes.AGE]
role = "confidential"
type = "whole number"
bounds = [0, 120]
[attributes.TAX]
role = "confidential"
type = "decimal"
resolution = 0.01
bounds = [0, 1000000]
"""


@pytest.mark.parametrize("recipe", [RECIPE, OF_PARTS], ids=["one method", "parts"])
def test_recipe_flag_manifest_and_audit_say_the_same(people, tmp_path, recipe):
    """By recipe or flag one guarantee; the manifest keeps it, and an audit comes to it again."""
    people = people.select("AGE", "TAX")
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "said.toml").write_text(recipe)
    (tmp_path / "unsaid.toml").write_text(recipe.replace('looked_at = "data"\n', ""))
    for name, flags in (("said", ()), ("unsaid", ("--looked-at", "data"))):
        made = ("protect", "people.csv", "--recipe", f"{name}.toml", "-o", name, "--no-linkage")
        done = run(*made, *flags, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    said, unsaid = (
        json.loads((tmp_path / name / "guarantee.json").read_text()) for name in ("said", "unsaid")
    )
    assert said == unsaid
    assert said == mv.plan(people, recipe=tomllib.loads(recipe)).guarantee.to_dict()
    assert said["model"] == "idp"
    manifest = json.loads((tmp_path / "said-custodian" / "manifest.json").read_text())
    assert manifest["parameters"]["looked_at"] == "data"
    # Refused unless what is read back comes to the guarantee that was given.
    audit_release(tmp_path / "said")
    changed = {**manifest, "parameters": {**manifest["parameters"], "looked_at": None}}
    (tmp_path / "said-custodian" / "manifest.json").write_text(json.dumps(changed))
    with pytest.raises(mv.MicroveilError, match="another guarantee"):
        audit_release(tmp_path / "said")
