"""What a release would be refused for: said on every screen, with the command line's sentences."""

import html
import re
import tomllib
from dataclasses import replace

import pytest

from command import run
from drafted import drafted
from microveil.app.columns import without_column
from microveil.app.drafts import recipe_text
from microveil.app.rail import problems_of_draft
from visited import PROMISED, declared, on, opened, saved, version

pytestmark = pytest.mark.usefixtures("instantly")
HOSTILE = "<b>GONE</b>'\"& é"
RECIPE = """
microveil = "0.2"
method = "idp-vector"
scope = "vector"
epsilon = 1
k = 3
exact_cells = "widen"
[attributes.AGE]
role = "confidential"
type = "whole number"
bounds = [0, 120]
"""


def entry(name, role, kind="whole number"):
    """Write the entry of a column."""
    quoted = name.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'[attributes."{quoted}"]\nrole = "{role}"\ntype = "{kind}"\n'


def removal(answer):
    """Return what the form that takes a column out of a recipe sends."""
    _, _, form = answer.text.partition("/lacking")
    value = form.partition('name="column" value="')[2].partition('"')[0]
    return {"version": version(answer), "column": html.unescape(value)}


@pytest.mark.parametrize(
    ("role", "more", "name"),
    [("confidential", "bounds = [0, 9]\n", HOSTILE), ("identifier", "", "two\nlines"),
     ("non-confidential", "", "GONE"), ("quasi-identifier", "", "GONE")],
)  # fmt: skip
def test_the_sentence_is_that_of_the_command_line_with_a_way_out_beside_it(
    folder, role, more, name
):
    """Whatever the column is to be; where it is taken out, the command line takes the recipe."""
    (folder / "recipe.toml").write_text(RECIPE + entry(name, role) + more)

    async def visit(ask):
        draft = await opened(ask, recipe="recipe.toml")
        shown = [await ask("GET", f"{draft}/{step}") for step in ("data", "release")]
        form = {**removal(shown[0]), "step": "release"}
        form["column"] = form["column"].replace("\n", "\r\n")  # as browsers send lines
        answer = await ask("POST", f"{draft}/lacking", form)
        assert answer.location == f"{draft}/release"
        after = await ask("GET", f"{draft}/data")
        return shown, after, (await ask("GET", f"{draft}/recipe.toml")).text

    shown, after, recipe = on(folder, visit)
    said = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "out", folder=folder)
    assert said.returncode == 2
    sentence = " ".join(said.stderr.split()).removeprefix("microveil: ")
    for answer in shown:
        assert sentence in " ".join(html.unescape(answer.text).split())
        assert "<b>GONE" not in answer.text
    assert "/lacking" not in after.text
    assert list(tomllib.loads(recipe)["attributes"]) == ["AGE"]
    (folder / "recipe.toml").write_text(recipe)
    done = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "out", folder=folder)
    assert done.returncode == 0, done.stderr


def test_no_column_that_is_there_is_taken_out(folder):
    """Whoever sends its name; nor one that the recipe does not name."""

    async def visit(ask):
        (folder / "recipe.toml").write_text(RECIPE + entry("GONE", "identifier"))
        draft = await opened(ask, recipe="recipe.toml")
        shown = await ask("GET", f"{draft}/data")
        for name in ("AGE", "NOBODY", ""):
            form = {**removal(shown), "column": name, "step": "../../x"}
            assert (await ask("POST", f"{draft}/lacking", form)).location == f"{draft}/data"
        return (await ask("GET", f"{draft}/recipe.toml")).text

    assert list(tomllib.loads(on(folder, visit))["attributes"]) == ["AGE", "GONE"]


def test_of_two_tabs_the_second_takes_nothing_out(folder):
    """As with every change of a recipe; the same form once more is none."""

    async def visit(ask):
        both = entry("GONE", "identifier") + entry("LOST", "identifier")
        (folder / "recipe.toml").write_text(RECIPE + both)
        draft = await opened(ask, recipe="recipe.toml")
        form = removal(await ask("GET", f"{draft}/data"))
        statuses = [
            (await ask("POST", f"{draft}/lacking", {**form, "column": name})).status
            for name in ("GONE", "GONE", "LOST")
        ]
        return statuses, (await ask("GET", f"{draft}/recipe.toml")).text

    statuses, recipe = on(folder, visit)
    assert statuses == [303, 303, 409]
    assert list(tomllib.loads(recipe)["attributes"]) == ["AGE", "LOST"]


def test_a_column_is_taken_out_wherever_the_recipe_names_it():
    """Parts and those that become empty, the unit with what hangs on it, the target."""
    parts = [{"attributes": ["AGE", "GONE"], "method": "dp-um"}, {"attributes": ["GONE"]}]
    _, draft = drafted(
        attributes={"AGE": {}, "GONE": {}}, parts=parts, target="GONE", scope="row",
        unit="GONE", max_rows=3, unit_attributes=["SEX", "GONE"],
    )  # fmt: skip
    changed = without_column(draft, "GONE")
    assert changed.recipe == {
        "attributes": {"AGE": {}},
        "parts": [{"attributes": ["AGE"], "method": "dp-um"}],
    }
    _, draft = drafted(attributes={}, unit="ID", unit_attributes=["SEX", "GONE"])
    assert without_column(draft, "GONE").recipe["unit_attributes"] == ["SEX"]


def test_what_is_taken_out_after_figures_was_chosen_by_them():
    """The recipe says so, as of every other change."""
    _, draft = drafted(attributes={"AGE": {}, "GONE": {}})
    seen = replace(draft, seen=frozenset({"data"}))
    assert without_column(seen, "GONE").recipe["looked_at"] == "data"


def test_without_its_unit_nothing_is_drawn_before_it_is_said_who_is_protected(folder):
    """A recipe for households must not become one for records by a press."""
    told = 'unit = "HOUSE"\nmax_rows = 3\n[attributes.AGE]'
    told = RECIPE.replace("[attributes.AGE]", told).replace('"idp-vector"', '"laplace"')
    told = told.replace('k = 3\nexact_cells = "widen"\n', "")
    (folder / "recipe.toml").write_text(told)

    async def visit(ask):
        draft = await opened(ask, recipe="recipe.toml")
        await ask("POST", f"{draft}/lacking", removal(await ask("GET", f"{draft}/data")))
        form = {"version": version(await ask("GET", f"{draft}/release")), "folder": "out"}
        return await ask("POST", f"{draft}/release", {**form, "no_linkage": "yes"})

    answer = on(folder, visit)
    assert answer.location.endswith("/promise")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"k": 2000}, "k"),
        ({"method": "dp-um", "scope": "row"}, "scope"),
        ({"bounds": None, "method": "dp-um", "exact_cells": None}, "bounds"),
        ({"unit": "ID"}, "unit"),
    ],
)
def test_all_that_is_wrong_is_said_before_anything_is_drawn(folder, changed, said):
    """The lines of the command line, on the screen that draws, without a look at the table."""
    entries = {name: value for name, value in changed.items() if name != "bounds" and value}
    recipe = {name: said for name, said in tomllib.loads(RECIPE).items() if name not in changed}
    if "bounds" in changed:
        del recipe["attributes"]["AGE"]["bounds"]
    recipe |= entries
    (folder / "recipe.toml").write_text(recipe_text(recipe))

    async def visit(ask):
        draft = await opened(ask, recipe="recipe.toml")
        return [await ask("GET", f"{draft}/{step}") for step in ("data", "promise", "release")]

    done = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "out", folder=folder)
    assert done.returncode == 2, said
    sentence = re.split(";|[.] ", " ".join(done.stderr.split()).removeprefix("microveil: "))[0]
    for answer in on(folder, visit):
        assert sentence in " ".join(html.unescape(re.sub("<[^>]*>", " ", answer.text)).split())


def test_a_budget_that_is_too_small_for_the_table_is_refused_before_the_draw(folder):
    """Of two hundred records nothing can be learnt by an epsilon of 1 over so many columns."""

    async def visit(ask):
        draft = await opened(ask)
        await declared(ask, draft, lower="", upper="")
        await saved(ask, draft, "promise", {**PROMISED, "scope": "row", "epsilon": "0.01",
                                            "delta": "1e-9"})  # fmt: skip
        return await ask("GET", f"{draft}/trade-off")

    shown = on(folder, visit)
    assert "its share of the budget is too small" in shown.text
    assert "There is nothing to expect" in shown.text


def test_nothing_is_asked_for_before_the_promise():
    """A table that was only chosen lacks nothing yet."""
    assert problems_of_draft(drafted()[1]) == ({}, [])
