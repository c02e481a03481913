"""The pages together: from a file to a release, and what they say where something is wrong."""

import html
import json
import re
import tomllib

import polars
import pytest

from microveil.commands.files import protect_file
from microveil.commands.proposal import proposed_recipe
from visited import AGE, PROMISED, declared, ended, on, opened, posted, saved, version

HOSTILE = '<img src=x onerror=alert(1)>"{{77*77}}'


@pytest.mark.usefixtures("instantly")
def test_the_release_is_that_of_the_command_line_with_the_downloaded_recipe(folder):
    """The guarantee of the page's release and that of the recipe it hands out are equal."""

    async def visit(ask):
        draft = await opened(ask)
        assert (await declared(ask, draft)).location == f"{draft}/promise"
        assert (await saved(ask, draft, "promise", PROMISED)).location == f"{draft}/trade-off"
        await ask("POST", f"{draft}/advice", {})
        await ended(ask, draft, "advise")
        shown = await ask("GET", f"{draft}/trade-off")
        assert "idp-vector" in shown.text
        await ask("POST", f"{draft}/trade-off", {"version": version(shown), "option": "own"})
        await saved(ask, draft, "release", {"folder": "out", "public_report": "yes"})
        await ended(ask, draft, "protect")
        recipe = await ask("GET", f"{draft}/recipe.toml")
        public = await ask("GET", f"{draft}/documents/public")
        assert "sandbox" in public.headers["content-security-policy"]
        shown = await ask("GET", f"{draft}/release")
        assert "microveil protect" in shown.text
        data = await ask("GET", f"{draft}/files/data.csv")
        assert data.text == (folder / "out" / "data.csv").read_text()
        rows = re.findall(r"<td>(.*?)</td>", shown.text.partition('<table class="rows">')[2])
        assert rows == data.text.splitlines()[1:11]
        for name in ("manifest.json", "..%2fpeople.csv", "gone.csv"):
            assert (await ask("GET", f"{draft}/files/{name}")).status == 404
        return recipe

    (folder / "recipe.toml").write_text(on(folder, visit).text)
    protect_file(folder / "people.csv", folder / "again", recipe=folder / "recipe.toml")
    ours, again = (
        json.loads((folder / name / "guarantee.json").read_text()) for name in ("out", "again")
    )
    assert ours == again
    assert {path.name for path in (folder / "out").iterdir()} >= {"data.csv", "report.html"}


@pytest.mark.usefixtures("instantly")
def test_the_name_of_a_column_is_text_and_nothing_else(tmp_path):
    """Markup, script and a template's braces in a header are shown and never carried out."""
    quoted = HOSTILE.replace('"', '""')
    (tmp_path / "people.csv").write_text(f'"{quoted}"\n1\n2\n3\n')

    async def visit(ask):
        draft = await opened(ask)
        forms = ({"column": "0", "lower": "x"}, {"column": "0", "role": "confidential"})
        return [
            await ask("GET", f"{draft}/data?open=0"),
            await posted(ask, draft, "column", forms[0]),
            await posted(ask, draft, "data", {})
            and await saved(ask, draft, "promise", {**PROMISED, "who": "unit"}),
        ]

    for answer in on(tmp_path, visit):
        assert "<img src=x" not in answer.text
        assert "5929" not in answer.text
        assert "&lt;img src=x onerror=alert(1)&gt;" in answer.text


@pytest.mark.usefixtures("instantly")
def test_of_two_tabs_the_second_is_told_and_changes_nothing(folder):
    """What the first saved stays."""

    async def visit(ask):
        draft = await opened(ask)
        first = version(await ask("GET", f"{draft}/data"))
        await ask("POST", f"{draft}/column", {**AGE, "version": first})
        changed = {**AGE, "upper": "99"}
        second = await ask("POST", f"{draft}/column", {**changed, "version": first})
        return second, await ask("GET", f"{draft}/recipe.toml")

    second, recipe = on(folder, visit)
    assert second.status == 409
    assert "another tab" in second.text
    assert "120" in recipe.text
    assert "99" not in recipe.text


@pytest.mark.parametrize(
    ("table", "sentence"),
    [("../people.csv", "a path must lead downwards"), ("https://example.org/a.csv", "other mach"),
     ("", "no table is chosen"), ("absent.csv", "absent.csv"), ("file:///etc/passwd", "path"),
     ("../../people.db?table=a", "a path must lead downwards")],
)  # fmt: skip
def test_what_is_not_below_the_folder_is_not_opened(folder, table, sentence):
    """Neither by a path, nor by an address, nor as a database in a file; nothing is downloaded."""
    answer = on(folder, lambda ask: ask("POST", "/", {"table": table}))
    assert answer.status == 422
    assert sentence in answer.text


@pytest.mark.parametrize("address", ["/drafts/00000000/data", "/nothing", "/drafts"])
def test_an_address_that_is_none_says_so(folder, address):
    """With the way back, and nothing of the address."""
    answer = on(folder, lambda ask: ask("GET", address))
    assert answer.status == 404
    assert "no such page" in answer.text


def test_an_error_of_our_own_shows_its_kind_alone(folder, monkeypatch):
    """The message of an unforeseen error may hold a value."""

    def fails(*_):
        raise ZeroDivisionError("secret 4711")

    monkeypatch.setattr("microveil.app.pages._page", fails)

    async def visit(ask):
        with pytest.raises(ZeroDivisionError):  # the server's own log gets it, and keeps nothing
            await ask("GET", "/")

    on(folder, visit)


@pytest.mark.usefixtures("instantly")
def test_what_is_drawn_is_what_was_shown(folder):
    """A release asked for on a page of an earlier version is refused, and nothing is drawn."""

    async def visit(ask):
        draft = await opened(ask)
        shown = version(await ask("GET", f"{draft}/release"))
        await declared(ask, draft)
        return await ask("POST", f"{draft}/release", {"folder": "out", "version": shown})

    answer = on(folder, visit)
    assert answer.status == 409
    assert not (folder / "out").exists()


@pytest.mark.usefixtures("instantly")
def test_what_was_seen_of_a_column_is_said_in_sentences(folder):
    """Those of the recipe that is proposed, for a reader who sees no recipe."""

    async def visit(ask):
        draft = await opened(ask)
        return [await ask("GET", f"{draft}/data?open={number}") for number in range(3)]

    proposed = proposed_recipe(polars.read_csv(folder / "people.csv"), scope="row").remarks
    for answer, sentences in zip(on(folder, visit), proposed.values(), strict=True):
        hint = html.unescape(re.search(r'<p class="hint">(It holds.*?)</p>', answer.text)[1])
        assert hint.endswith(" ".join(sentences))
        assert not re.search(r'[#="]', hint)


@pytest.mark.usefixtures("instantly")
def test_columns_are_searched_and_set_together(folder):
    """What is not shown is not set; a change is undone by a press."""

    async def visit(ask):
        draft = await opened(ask)
        shown = await ask("GET", f"{draft}/data?search=sE")
        fields = dict.fromkeys(re.findall(r'name="(shown-\d+)"', shown.text), "yes")
        form = {**fields, "set": "shown", "role": "identifier", "type": "", "search": "sE"}
        answer = await ask("POST", f"{draft}/data", {"version": version(shown), **form})
        recipe = tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text)
        await posted(ask, draft, "undo", {"step": "data"})
        return answer, recipe, tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text)

    answer, recipe, undone = on(folder, visit)
    assert answer.location.endswith("/data?search=sE")
    assert recipe["attributes"] == {"SEX": {"role": "identifier", "type": "text"}}
    assert "attributes" not in undone


def test_invented_people_are_written_once_and_taken(tmp_path):
    """Into a folder of their own, beside whatever is there."""

    async def visit(ask):
        return [(await ask("POST", "/", {"invented": "yes"})).status for _ in range(2)]

    assert on(tmp_path, visit) == [303, 303]
    assert [path.name for path in tmp_path.iterdir()] == ["invented-people"]


def test_what_a_file_declares_is_accepted_by_a_press(tmp_path):
    """Its lists and codes for missing values: nothing has to be typed, whatever the budget."""
    from steward_way import survey

    survey(tmp_path / "survey.sav")

    async def visit(ask):
        draft = (await ask("POST", "/", {"table": "survey.sav"})).location.rpartition("/")[0]
        await ended(ask, draft, "inspect")
        before = await ask("GET", f"{draft}/data")
        await posted(ask, draft, "data", {"accept": "yes"})
        after = await ask("GET", f"{draft}/data")
        await posted(ask, draft, "data", {})
        await saved(ask, draft, "promise", {**PROMISED, "scope": "row", "delta": "1e-9"})
        return before, after, await ask("GET", f"{draft}/release")

    before, after, last = on(tmp_path, visit)
    assert "Accept what the file declares" in before.text
    assert "Region of the person" in before.text
    assert after.text.count("accepted from the file") == 3
    assert "Accept what the file declares" not in after.text
    assert "would be refused" not in last.text
