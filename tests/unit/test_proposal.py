"""The recipe that is proposed for a scope: filled in, protect follows it and covers that scope."""

import json
import re
import tomllib

import numpy as np
import pytest

import microveil as mv
from command import run
from microveil.release.proposal import propose_recipe
from microveil.release.recipe import read_recipe

PEOPLE = mv.invented_people(1500, seed=3)
SCOPES = ("cluster", "vector", "row")
BOUNDS = {
    "AGE": "[0, 120]",
    "HOUSEHOLD": "[1, 15]",
    "SINCE": "[1980-01-01, 2030-12-31]",
    "INCOME": "[0, 400000]",
    "TAX": "[0, 200000]",
    "SAVINGS": "[0, 2000000]",
    "VISITS": "[0, 100]",
}


def filled_in(recipe):
    """Fill a recipe in as a person does: bounds of their own, and what stands in comments."""
    text = re.sub(
        r"(\[attributes\.(\w+)\][^\[]*)# bounds = \[[^\n]*\]",
        lambda found: f"{found[1]}bounds = {BOUNDS.get(found[2], '[0, 10]')}",
        recipe,
    )
    lines = []
    for line in text.splitlines():
        listed = line.startswith(("# resolution =", "# categories = [  ", '#   "', "# ]"))
        lines.append(line.removeprefix("# ") if listed else line)
    return "\n".join(lines)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_recipe_for_a_scope_runs_once_it_is_filled_in_and_covers_it(scope):
    """Many people here share a value: 0, or an age."""
    recipe = filled_in(propose_recipe(PEOPLE, scope=scope, show_values=True))
    release = mv.protect(PEOPLE, recipe=tomllib.loads(recipe))
    assert release.guarantee.scopes[scope].keeps(1, release.guarantee.delta)
    assert ("REGION" in release.data.columns) == (scope == "row")
    assert len(release.guarantee.attributes) == (9 if scope == "row" else 8)
    assert release.guarantee.is_synthetic == (scope == "row")


@pytest.mark.parametrize("scope", SCOPES)
def test_another_method_in_the_recipe_is_refused_where_it_does_not_cover_the_scope(scope):
    """The scope stands in the recipe: editing the rest loses no promise unseen."""
    asked = read_recipe(tomllib.loads(propose_recipe(PEOPLE, scope=scope)))
    assert asked["scope"] == scope
    rest = {name: value for name, value in asked.items() if name not in ("partition", "isotonic")}
    request = {**rest, "method": "mdav", "k": 5, "attributes": ["AGE"], "types": {}, "delta": None}
    mv.plan(PEOPLE, **{**request, "scope": None})
    with pytest.raises(mv.RequestError, match=f"does not keep this epsilon at {scope} scope"):
        mv.plan(PEOPLE, **request)


@pytest.mark.parametrize("show_values", [False, True])
def test_at_row_scope_nothing_is_declared_that_was_seen_in_the_values(show_values):
    """Decimals, bounds and categories are comments: another table's recipe is the same but these.

    The lines that count are those of a table of the same columns and other values. (Which whole
    numbers look like an identifier is proposed, for a person who names the attributes by it.)
    """
    other = PEOPLE.with_columns(PEOPLE["INCOME"].round(1), REGION=PEOPLE["REGION"].str.head(1))
    proposed = [
        propose_recipe(table, scope="row", show_values=show_values) for table in (PEOPLE, other)
    ]
    read = [tomllib.loads(text) for text in proposed]
    assert read[0] == read[1]
    assert proposed[0] != proposed[1]
    assert {key for entry in read[0]["attributes"].values() for key in entry} == {"role", "type"}


def test_values_of_text_are_shown_at_row_scope_only_where_they_are_asked_for():
    """A recipe may be mailed around."""
    assert "North" not in propose_recipe(PEOPLE, scope="row")
    assert '#   "North",' in propose_recipe(PEOPLE, scope="row", show_values=True)


def test_what_no_new_table_can_have_is_not_proposed_for_one():
    """No column can be kept beside rows that are nobody's; what is no category is left out."""
    table = {"AT": np.array(["2020-01-01T10:00", "2021-03-01T10:00"] * 9, "datetime64[m]")}
    recipe = propose_recipe({**table, "AGE": np.arange(18) % 5}, scope="row")
    assert "non-confidential" not in recipe
    assert tomllib.loads(recipe)["attributes"]["AT"]["role"] == "identifier"
    filled = tomllib.loads(filled_in(recipe)) | {"epsilon": 60}
    assert list(mv.protect({**table, "AGE": np.arange(18) % 5}, recipe=filled).data) == ["AGE"]


def test_without_the_line_of_delta_the_recipe_asks_for_pure_differential_privacy():
    """As its comment says; the flag --delta 0 overrides the line too."""
    recipe = filled_in(propose_recipe(PEOPLE, scope="row")).replace("epsilon = 1.0", "epsilon = 20")
    assert mv.plan(PEOPLE, recipe=tomllib.loads(recipe)).guarantee.delta > 0
    without = re.sub(r"\ndelta = [^\n]*", "", recipe)
    pure = [
        mv.plan(PEOPLE, recipe=tomllib.loads(without)).guarantee,
        mv.plan(PEOPLE, recipe=tomllib.loads(recipe), delta="0").guarantee,
    ]
    assert [(each.delta, each.rho) for each in pure] == [(0, None)] * 2


def test_the_commands_that_inspect_prints_work(tmp_path):
    """A recipe for a scope, filled in, is weighed and followed as the last lines say."""
    PEOPLE.select("ID", "AGE", "TAX", "REGION").write_csv(tmp_path / "people.csv")
    done = run(
        "inspect", "people.csv", "--scope", "row", "--show-values", "-o", "r.toml", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "fill in the bounds, resolutions and categories" in done.stdout
    (tmp_path / "r.toml").write_text(filled_in((tmp_path / "r.toml").read_text()))
    commands = re.findall(r"^  microveil ([^\n]*?)(?:  .*)?$", done.stdout, flags=re.MULTILINE)
    assert [command.split()[0] for command in commands] == ["inspect", "protect"]
    for command in commands:
        done = run(*command.replace("FOLDER", "out").split(), folder=tmp_path)
        assert done.returncode == 0, done.stderr
    guarantee = json.loads((tmp_path / "out" / "guarantee.json").read_text())
    assert guarantee["scopes"]["row"] == {"covered": True, "epsilon": 1.0, "delta": 1e-9}
    assert list(guarantee["attributes"]) == ["AGE", "TAX", "REGION"]


def test_a_scope_that_there_is_not_is_refused_and_nothing_written(tmp_path):
    """The message names those that there are."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    done = run("inspect", "people.csv", "--scope", "rows", "-o", "r.toml", folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert "scope: it must be one of cluster, vector, row" in done.stderr
    assert not (tmp_path / "r.toml").exists()
