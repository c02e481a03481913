"""Recipes that were opened: the page loses nothing that they say, changed or not."""

import tomllib
from dataclasses import replace

import pytest

from drafted import drafted, fields_of
from microveil.app.columns import as_sent, columns_of, declare_column, declare_rest
from microveil.app.drafts import Drafts, recipe_text
from microveil.app.pages import parsed_recipe
from microveil.app.promise import promise, promise_fields
from microveil.app.site import Form
from microveil.app.work import State
from visited import PROMISED, Instantly, declared, ended, on, opened, saved, version

COLUMNS = """
[attributes.AGE]
role = "confidential"
type = "whole number"
bounds = [0.0, 1.2e2]
missing_codes = []

[attributes.SEX]
role = "confidential"
type = "text"
categories = [" f", "m", "", "two\\nlines", "\\u2028"]
ordered = false

[attributes.PLACE]
role = "quasi-identifier"
type = "text"
categories = ["north ", "south"]
categories_from_data = true

[attributes.ID]
role = "identifier"
type = "whole number"

[attributes.NOT_HERE]
role = "identifier"
type = "text"
"""
RECIPES = {
    "whole": 'method = "dp-um"\nk = 5\nscope = "vector"\nepsilon = 1.0\ndelta = 0.0\n',
    "parts": 'scope = "vector"\n[[parts]]\nattributes = ["AGE"]\nmethod = "idp-vector"\nk = 5\n'
    'epsilon = 0.5\n[[parts]]\nattributes = ["SEX"]\nmethod = "pram"\nepsilon = 1.0\n',
    "unit": 'method = "pram"\nscope = "row"\nepsilon = 1e-1\nunit = "ID"\nmax_rows = 3\n'
    'unit_attributes = ["SEX"]\npopulation = "all"\n',
}


def walked(text, age=None, promised=None):
    """Open a recipe, and save each column and the promise as they are shown but for some fields."""
    written, contents = parsed_recipe("ours.toml", text.encode())
    entries = {name: contents["attributes"][name] for name in ("AGE", "SEX", "PLACE", "ID")}
    proposal = drafted(entries)[1].proposal
    draft = Drafts().new("people.csv", (written, contents))
    object.__setattr__(draft, "proposal", proposal)
    for column in columns_of(draft):
        changed = (age or {}) if column.name == "AGE" else {}
        form = Form(fields_of(column) | changed)
        draft, errors = declare_column(draft, as_sent(column, form))
        assert not errors
    draft, errors = promise(
        declare_rest(draft), Form({**promise_fields(draft), **(promised or {})})
    )
    assert not list(errors), [errors[name] for name in errors]
    return draft


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_that_is_saved_unchanged_is_equal_letter_by_letter(name):
    """Parts, units, codes and columns that the table has not: all stay as they were written."""
    text = "# ours\n" + RECIPES[name] + COLUMNS
    draft = walked(text)
    assert recipe_text(draft.recipe, draft.opened) == text


@pytest.mark.parametrize("name", RECIPES)
def test_one_change_changes_one_thing(name):
    """What a field cannot show, a space around a category for example, stays."""
    text = RECIPES[name] + COLUMNS
    draft = walked(text, age={"upper": "99"})
    expected = tomllib.loads(text)
    expected["attributes"]["AGE"]["bounds"] = [0, 99]
    assert tomllib.loads(recipe_text(draft.recipe, draft.opened)) == expected


def test_another_scope_leaves_no_step_of_the_method_before():
    """A step that the new method has not would be refused."""
    text = 'method = "idp-cbls"\nk = 5\nscope = "cluster"\nepsilon = 1\nisotonic = true\n'
    public = COLUMNS.replace("missing_codes = []\n", "").replace("categories_from_data = true", "")
    draft = walked(text + public, promised={"scope": "row", "method": ""})
    assert draft.recipe["method"] == "dp-synthetic"
    assert "isotonic" not in draft.recipe


@pytest.mark.usefixtures("instantly")
def test_what_parts_cannot_be_asked_is_said(folder):
    """Neither an option for the whole table nor a comparison is for parts: a sentence says so."""
    attributes = tomllib.loads(COLUMNS)["attributes"]
    del attributes["AGE"]["missing_codes"], attributes["NOT_HERE"], attributes["PLACE"]
    attributes["SEX"]["categories"] = ["f", "m"]
    parts = {**tomllib.loads(RECIPES["parts"]), "attributes": attributes}
    (folder / "ours.toml").write_text(recipe_text(parts))

    async def visit(ask):
        draft = await opened(ask, recipe="ours.toml")
        await ask("POST", f"{draft}/advice", {})
        shown = await ask("GET", f"{draft}/trade-off")
        assert 'id="option-own"' in shown.text
        chosen = await saved(ask, draft, "trade-off", {"option": "own"})
        option = await saved(ask, draft, "trade-off", {"option": "0"})
        return chosen.status, option, await ask("POST", f"{draft}/comparison", {})

    status, option, compared = on(folder, visit)
    assert status == 303
    assert (option.status, compared.status) == (422, 422)
    assert "each part has a method of its own" in option.text
    assert "each part has one of its own" in compared.text


@pytest.mark.usefixtures("instantly")
@pytest.mark.parametrize("listed", [True, False])
def test_a_comparison_is_offered_where_categories_are_declared(folder, listed):
    """Those that are learnt cannot be compared: the page says so, and has no button for it."""
    attributes = {"SEX": {"role": "confidential", "type": "text"}}
    if listed:
        attributes["SEX"]["categories"] = ["f", "m"]
    asked = {"method": "dp-synthetic", "scope": "row", "epsilon": 1, "delta": 1e-9}
    (folder / "ours.toml").write_text(recipe_text({**asked, "attributes": attributes}))

    async def visit(ask):
        draft = await opened(ask, recipe="ours.toml")
        await ask("GET", f"{draft}/data")
        await ask("POST", f"{draft}/advice", {})
        shown = await ask("GET", f"{draft}/trade-off")
        return shown, await ask("POST", f"{draft}/comparison", {})

    shown, compared = on(folder, visit)
    assert ("<button>Compare</button>" in shown.text) is listed
    assert ("those of SEX are learnt" in shown.text) is not listed
    assert compared.status == (303 if listed else 422)


@pytest.mark.usefixtures("instantly")
def test_advice_waits_until_a_scope_is_said(folder):
    """A recipe that says none leads to the promise, and to no advice by default."""
    recipe = 'method = "dp-um"\nk = 5\nepsilon = 1\n[attributes.AGE]\nrole = "confidential"\n'
    (folder / "ours.toml").write_text(recipe + 'type = "whole number"\nbounds = [0, 120]\n')

    async def visit(ask):
        draft = await opened(ask, recipe="ours.toml")
        first = await ask("POST", f"{draft}/advice", {})
        await saved(ask, draft, "promise", PROMISED)
        await ask("POST", f"{draft}/advice", {})
        return first.location, await ask("GET", f"{draft}/trade-off")

    location, advice = on(folder, visit)
    assert location.endswith("/promise")
    assert "dp-um" in advice.text


class AtIt(Instantly):
    """Work of which a release is not over before it is said to be."""

    is_over = False

    def get(self, name):
        work = super().get(name)
        is_over = work is None or work.kind != "protect" or self.is_over
        return work if is_over else replace(work, state=State.RUNNING)


def test_a_form_that_is_sent_twice_draws_once(folder, monkeypatch):
    """A double click neither draws a second table nor hides the release that the first made."""
    monkeypatch.setattr("microveil.app.pages.Works", AtIt)
    monkeypatch.setattr(AtIt, "is_over", False)

    async def visit(ask):
        draft = await opened(ask)
        await declared(ask, draft)
        await saved(ask, draft, "promise", PROMISED)
        await saved(ask, draft, "release", {"folder": "out"})
        await saved(ask, draft, "promise", {**PROMISED, "epsilon": "2"})
        shown = version(await ask("GET", f"{draft}/promise"))
        await ask("POST", f"{draft}/release", {"folder": "out", "version": shown})
        AtIt.is_over = True
        await ended(ask, draft, "protect")
        recipe = await ask("GET", f"{draft}/documents/recipe.toml")
        return await ask("GET", f"{draft}/release"), tomllib.loads(recipe.text)

    result, recipe = on(folder, visit)
    assert str(folder / "out-custodian") in result.text
    assert recipe["epsilon"] == 1


@pytest.mark.usefixtures("instantly")
def test_a_table_whose_look_was_forgotten_is_looked_at_again(folder, monkeypatch):
    """Of many tasks the oldest are forgotten: no page is left without a way on."""

    def remembered(works, name):
        return None if name == "0" else works._works.get(name)

    async def visit(ask):
        draft = await opened(ask)
        monkeypatch.setattr("visited.Instantly.get", remembered)
        await ask("GET", f"{draft}/data")
        return await ask("GET", f"{draft}/data")

    assert 'id="column-0"' in on(folder, visit).text
