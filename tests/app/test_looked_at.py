"""What was looked at: no choice after figures of a table leaves the page without saying so."""

import html
import re
import shlex
import tomllib

import pytest

from command import run
from drafted import drafted
from microveil.app.drafts import Drafts
from microveil.app.promise import promise
from microveil.app.site import Form
from visited import AGE, PROMISED, declared, on, opened, posted, saved, version

pytestmark = pytest.mark.usefixtures("instantly")
OTHER_BOUNDS = {**AGE, "upper": "100"}


async def promised(ask, **promise):
    """Write a recipe, up to its promise; return the address of the draft."""
    draft = await opened(ask)
    await declared(ask, draft)
    await saved(ask, draft, "promise", {**PROMISED, **promise})
    return draft


async def advised(ask, draft):
    """Have advice shown."""
    await ask("POST", f"{draft}/advice", {})
    return await ask("GET", f"{draft}/trade-off")


async def looked_at(ask, draft):
    """Return what the recipe of a draft says was looked at."""
    return tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text).get("looked_at")


@pytest.mark.parametrize(
    ("step", "form"),
    [("column", OTHER_BOUNDS), ("column", {**AGE, "role": "identifier"}),
     ("promise", {**PROMISED, "epsilon": "2"}), ("promise", {**PROMISED, "scope": "cluster"})],
)  # fmt: skip
def test_whatever_is_changed_after_advice_by_the_data_says_so(folder, step, form):
    """Bounds, and which attributes are protected, as much as a budget or a scope."""

    async def visit(ask):
        draft = await promised(ask)
        await advised(ask, draft)
        before = await looked_at(ask, draft)
        shown = await ask("GET", f"{draft}/data")
        await ask("POST", f"{draft}/{step}", {"version": version(shown), **form})
        return before, await looked_at(ask, draft)

    assert on(folder, visit) == (None, "data")


@pytest.mark.usefixtures("reported")
@pytest.mark.parametrize("shown", ["release", "documents/custodian"])
def test_a_choice_after_the_figures_of_a_release_says_so(folder, shown):
    """The custodian's figures come from the data, as those of advice do."""

    async def visit(ask):
        draft = await promised(ask)
        await saved(ask, draft, "release", {"folder": "out"})
        assert (await ask("GET", f"{draft}/{shown}")).status == 200
        await saved(ask, draft, "promise", {**PROMISED, "epsilon": "2"})
        return await looked_at(ask, draft)

    assert on(folder, visit) == "data"


def test_a_comparison_that_is_opened_by_its_address_is_seen(folder):
    """By whatever page figures are shown."""

    async def visit(ask):
        draft = await promised(ask)
        await advised(ask, draft)
        await ask("POST", f"{draft}/comparison", {})
        # Of another draft, so that the advice is not what is seen.
        assert (await ask("GET", f"{draft}/documents/comparison")).status == 200
        again = await promised(ask)
        return await looked_at(ask, again)

    assert on(folder, visit) == "data"


def test_a_page_that_refuses_an_option_notes_the_figures_that_it_shows(folder):
    """What is shown beside an error was shown."""

    async def visit(ask):
        draft = await promised(ask)
        shown = await ask("GET", f"{draft}/promise")
        await ask("POST", f"{draft}/advice", {})
        wrong = {"version": version(shown), "option": "9" * 5000}
        refused = await ask("POST", f"{draft}/trade-off", wrong)
        assert refused.status == 422
        await saved(ask, draft, "promise", {**PROMISED, "epsilon": "2"})
        return await looked_at(ask, draft)

    assert on(folder, visit) == "data"


def test_figures_that_were_shown_in_one_draft_were_seen_in_each_of_the_table(folder):
    """In one that was begun before, and in one that is begun after; not in one of another table."""
    (folder / "others.csv").write_text((folder / "people.csv").read_text())

    async def visit(ask):
        before = await promised(ask)
        await advised(ask, await promised(ask))
        await saved(ask, before, "promise", {**PROMISED, "epsilon": "2"})
        after = await promised(ask)
        other = await opened(ask, table="others.csv")
        await posted(ask, other, "column", AGE)
        return [await looked_at(ask, draft) for draft in (before, after, other)]

    assert on(folder, visit) == ["data", "data", None]


def test_a_query_of_a_database_may_show_any_of_its_tables():
    """And two tables of one database are two."""
    drafts = Drafts()
    first = drafts.new("people.db?table=people")
    drafts.show(first.id, "data")
    assert drafts.new("people.db?query=SELECT * FROM people").seen == {"data"}
    assert not drafts.new("people.db?table=houses").seen


def test_row_scope_after_figures_of_the_data_is_refused_beside_its_field():
    """The sentence of the command line, before anything is started; the recipe stays."""
    form = {"who": "record", "scope": "vector", "epsilon": "1"}
    draft, _ = promise(drafted()[1], Form(form))
    draft = draft.asking(looked_at="data")
    changed, errors = promise(draft, Form({**form, "scope": "row"}))
    assert list(errors) == ["scope"]
    assert "chosen by figures" in errors["scope"]
    assert changed is draft


def test_what_was_asked_for_can_be_chosen_again(folder):
    """The first of the options is what was asked for when advice was, whatever was chosen since."""

    async def visit(ask):
        draft = await promised(ask)
        await advised(ask, draft)
        methods = []
        for option in ("1", "own"):
            shown = await ask("GET", f"{draft}/trade-off")
            form = {"version": version(shown), "option": option}
            await ask("POST", f"{draft}/trade-off", form)
            recipe = tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text)
            methods.append((recipe["method"], recipe["k"], recipe.get("partition")))
        return methods

    chosen, own = on(folder, visit)
    assert own == ("idp-vector", 3, "noise-aware")
    assert chosen != own


def test_advice_on_another_promise_is_not_offered(folder):
    """Options for one scope are none for another: advice is to be asked for anew."""

    async def visit(ask):
        draft = await promised(ask)
        shown = await advised(ask, draft)
        await saved(ask, draft, "promise", {**PROMISED, "scope": "cluster"})
        return shown, await ask("GET", f"{draft}/trade-off")

    before, after = on(folder, visit)
    assert 'name="option"' in before.text
    assert 'name="option"' not in after.text


@pytest.mark.parametrize("no_linkage", [False, True])
def test_the_command_does_what_was_done_and_can_be_run_at_once(folder, no_linkage):
    """With its options, into a folder that is free, quoted for a shell."""

    async def visit(ask):
        draft = await promised(ask)
        chosen = {"public_report": "yes", **({"no_linkage": "yes"} if no_linkage else {})}
        await saved(ask, draft, "release", {"folder": "of May", **chosen})
        (folder / "recipe.toml").write_text((await ask("GET", f"{draft}/recipe.toml")).text)
        return (await ask("GET", f"{draft}/release")).text

    command = html.unescape(re.search(r"<pre>(microveil protect .*?)</pre>", on(folder, visit))[1])
    words = shlex.split(command)[1:]
    assert ("--no-linkage" in words) is no_linkage
    done = run(*words, folder=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "of May-2" / "report.html").exists()
