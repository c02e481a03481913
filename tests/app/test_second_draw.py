"""A second draw of one table: the server asks before it, and says what it costs."""

import html
import re

import pytest

from visited import PROMISED, declared, on, opened, saved, version

pytestmark = pytest.mark.usefixtures("instantly")


async def come(ask, **promised):
    """Come to the release of a table."""
    draft = await opened(ask)
    await declared(ask, draft)
    await saved(ask, draft, "promise", {**PROMISED, **promised})
    return draft


async def draw(ask, draft, folder, **form):
    """Send the form of a release as its page shows it now."""
    return await saved(ask, draft, "release", {"folder": folder, "no_linkage": "yes", **form})


def costs(answer):
    """Return what stands beside the box that a second draw needs."""
    return html.unescape(re.search(r'<label for="again">(.*?)</label>', answer.text)[1])


def releases(folder):
    return sorted(path.name for path in folder.iterdir() if path.is_dir())


def test_a_second_draw_is_asked_for_and_says_what_it_costs(folder):
    """Sent as before, by a reload or from an old page, nothing is drawn; it costs epsilon again."""

    async def visit(ask):
        draft = await come(ask, epsilon="0.1")
        old = version(await ask("GET", f"{draft}/release"))
        await draw(ask, draft, "one")
        again = {"folder": "two", "no_linkage": "yes", "version": old}
        refused = await ask("POST", f"{draft}/release", again)
        assert refused.status == 422
        assert "It spends epsilon 0.1 again: 0.2 in all." in costs(refused)
        assert releases(folder) == ["one", "one-custodian"]
        assert (await draw(ask, draft, "two", again="1")).status == 303
        # What was agreed to was a total of 0.2: a third is asked for anew.
        third = await draw(ask, draft, "three", again="1")
        assert third.status == 422
        assert "epsilon 0.1 again: 0.3 in all." in costs(third)

    on(folder, visit)
    assert releases(folder) == ["one", "one-custodian", "two", "two-custodian"]


def test_another_draft_of_the_table_is_asked_too(folder):
    """The people are the same in another tab; by another epsilon the total is the sum of both."""

    async def visit(ask):
        await draw(ask, await come(ask), "one")
        draft = await come(ask, epsilon="0.5")
        return await ask("GET", f"{draft}/release"), await draw(ask, draft, "two")

    for answer in on(folder, visit):
        assert "epsilon 0.5 again: 1.5 in all" in costs(answer)
    assert releases(folder) == ["one", "one-custodian"]


def test_a_first_draw_is_not_asked_about(folder):
    """Nor is one after a folder's name was refused: nothing was drawn by it."""

    async def visit(ask):
        draft = await come(ask)
        assert (await draw(ask, draft, "people.csv")).status == 422
        shown = (await ask("GET", f"{draft}/release")).text
        assert 'id="again"' not in shown
        assert "Draw and write: spends epsilon 1<" in shown
        return await draw(ask, draft, "one")

    assert on(folder, visit).status == 303


def test_the_rail_says_what_was_spent_on_every_screen(folder):
    """By draws in this program, and by the ledger of the folder once these people have a name."""

    async def visit(ask):
        draft = await come(ask)
        before = await ask("GET", f"{draft}/data")
        await draw(ask, draft, "one")
        after = [await ask("GET", f"{draft}/{step}") for step in ("data", "promise", "trade-off")]
        await saved(ask, draft, "promise", {**PROMISED, "scope": "row", "population": "ours"})
        named = await ask("GET", f"{draft}/data")
        await draw(ask, draft, "two", again="1")
        return before, after, named, await ask("GET", f"{draft}/data")

    before, after, named, counted = on(folder, visit)
    assert "Nothing was drawn of this table" in before.text
    for answer in after:
        assert "epsilon 1 in all" in answer.text
        assert "for each record, of values of columns without rows, by idp-vec" in answer.text
    assert "in the ledger of this folder" in named.text
    assert "Releases of the population" in counted.text
