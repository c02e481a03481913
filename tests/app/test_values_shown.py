"""The values of a column: shown to a person who asks for them, one column at a time."""

import html
import re
import tomllib

import pytest

from microveil.app.tasks import listed
from microveil.errors import DataError
from visited import on, opened, posted, version

pytestmark = pytest.mark.usefixtures("instantly")
HOSTILE = [
    "</textarea><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "=1+1",
]


@pytest.fixture
def folder(tmp_path):
    """A table with two columns of text, one of them somebody's secrets."""
    lines = ["ID,REGION,SECRET,NAME"]
    lines += [f"{n},{['north', 'south'][n % 2]},riddle{n % 3},person {n}" for n in range(1100)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


async def asked_for(ask, draft, number, **fields):
    """Ask for the values of a column; return the answer and the page after it."""
    shown = await ask("GET", f"{draft}/data")
    form = {"version": version(shown), "column": number, **fields}
    answer = await ask("POST", f"{draft}/values", form)
    number = number if answer.status == 303 else "0"
    return answer, await ask("GET", f"{draft}/data?open={number}")


def field(shown, name):
    """Return what stands in a field of several lines."""
    found = re.search(rf'<textarea id="{name}"[^>]*>\n(.*?)</textarea>', shown.text, re.DOTALL)
    return html.unescape(found[1])


def test_no_page_shows_a_value_unasked(folder):
    """Names, kinds and counts are shown, whatever step is looked at."""

    async def visit(ask):
        draft = await opened(ask)
        pages = [await ask("GET", f"{draft}/{step}") for step in ("data", "data?open=1", "promise")]
        return "".join(page.text for page in pages)

    shown = on(folder, visit)
    assert "REGION" in shown
    assert not re.search("north|riddle|person 1", shown)


def test_the_values_of_the_column_that_is_asked_for_are_shown_and_of_no_other(folder):
    """In its field, where a person confirms them; the recipe stays as it was."""

    async def visit(ask):
        draft = await opened(ask)
        await ask("GET", f"{draft}/data")  # which takes what was found of the table
        before = await ask("GET", f"{draft}/recipe.toml")
        answer, shown = await asked_for(ask, draft, "1", codes="none")
        return answer, shown, before.text == (await ask("GET", f"{draft}/recipe.toml")).text

    answer, shown, is_same = on(folder, visit)
    assert answer.status == 303
    assert field(shown, "categories").split() == ["north", "south"]
    assert 'name="source" value="public"' in shown.text
    assert field(shown, "codes") == "none"
    assert "riddle" not in shown.text
    assert is_same


def test_what_is_shown_is_declared_only_with_a_word_on_where_it_comes_from(folder):
    """By the pages: refused without, and with it the recipe says it."""

    async def visit(ask):
        draft = await opened(ask)
        _, shown = await asked_for(ask, draft, "1")
        form = {"column": "1", "role": "quasi-identifier", "type": "text",
                "categories": field(shown, "categories")}  # fmt: skip
        refused = await ask("POST", f"{draft}/column", {"version": version(shown), **form})
        empty = (await ask("GET", f"{draft}/recipe.toml")).text
        await posted(ask, draft, "column", {**form, "source": "data"})
        return refused, empty, tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text)

    refused, empty, recipe = on(folder, visit)
    assert refused.status == 422
    assert "Say where the list of categories comes from." in refused.text
    assert "north" not in empty
    assert recipe["attributes"]["REGION"]["categories_from_data"] is True


def test_of_too_many_values_none_is_shown(folder):
    """As `inspect` has it: how many there are is said."""

    async def visit(ask):
        draft = await opened(ask)
        return (await asked_for(ask, draft, "3"))[1].text

    shown = on(folder, visit)
    assert "1,100 different values" in shown
    assert "person 1" not in shown


def test_values_are_text_wherever_they_stand(folder):
    """Markup, script and a template's braces in a value are shown and never carried out."""
    cells = ['"' + value.replace('"', '""') + '"' for value in HOSTILE]
    (folder / "people.csv").write_text("ID,X\n" + "".join(f"1,{cell}\n" for cell in cells))

    async def visit(ask):
        draft = await opened(ask)
        _, shown = await asked_for(ask, draft, "1", role="confidential", categories="one\ntwo")
        _, filled = await asked_for(ask, await opened(ask), "1", role="confidential")
        return shown, filled

    beside, filled = on(folder, visit)
    for shown in (beside, filled):
        assert "<script>alert" not in shown.text
        assert "<img" not in shown.text
        assert "&lt;/textarea&gt;&lt;script&gt;alert(1)&lt;/script&gt;" in shown.text
        assert "{{7*7}}" in shown.text
    assert sorted(field(filled, "categories").splitlines()) == sorted(HOSTILE)


@pytest.mark.parametrize("number", ["0", "9", "-1", "x", "1" * 5000])
def test_a_forged_column_shows_nothing(folder, number):
    """Numbers of no column, of one without text and what is no number: a sentence, no value."""

    async def visit(ask):
        draft = await opened(ask)
        return await asked_for(ask, draft, number)

    answer, shown = on(folder, visit)
    assert answer.status == 422
    assert "no column of this number" in answer.text or "columns of text alone" in answer.text
    assert "north" not in shown.text


def test_of_two_tabs_the_second_shows_nothing(folder):
    """A page that was shown for another version of the recipe asks for nothing."""

    async def visit(ask):
        draft = await opened(ask)
        stale = version(await ask("GET", f"{draft}/data"))
        await posted(ask, draft, "column", {"column": "0", "role": "confidential"})
        answer = await ask("POST", f"{draft}/values", {"version": stale, "column": "1"})
        return answer, await ask("GET", f"{draft}/data")

    answer, shown = on(folder, visit)
    assert answer.status == 409
    assert "north" not in shown.text


def test_a_code_for_a_missing_value_is_none_of_the_values(folder):
    """As it is declared beside it."""

    async def visit(ask):
        draft = await opened(ask)
        return (await asked_for(ask, draft, "2", codes="riddle1"))[1]

    assert field(on(folder, visit), "categories").split() == ["riddle0", "riddle2"]


def test_a_column_that_is_gone_is_refused_by_name(folder):
    """The table may have changed since it was looked at."""
    with pytest.raises(DataError, match="columns of text"):
        listed({"path": f"{folder / 'people.csv'}", "column": "GONE"}, lambda _said: None)


def test_while_values_are_listed_anew_a_list_beside_them_wants_its_source(folder):
    """In two tabs of one recipe: one asks once more, the other saves the list meanwhile."""

    async def visit(ask):
        draft = await opened(ask)
        _, shown = await asked_for(ask, draft, "1")
        form = {"column": "1", "role": "confidential", "type": "text",
                "categories": field(shown, "categories"), "version": version(shown)}  # fmt: skip
        await ask("POST", f"{draft}/values", form)
        answer = await ask("POST", f"{draft}/column", form)
        return answer, (await ask("GET", f"{draft}/recipe.toml")).text

    answer, recipe = on(folder, visit)
    assert answer.status == 422
    assert "Say where the list of categories comes from." in answer.text
    assert "north" not in recipe


def test_a_list_of_an_opened_recipe_that_was_emptied_wants_its_source_when_it_is_back(folder):
    """It was taken from the table, and is still when somebody writes it once more."""
    (folder / "recipe.toml").write_text(
        '[attributes.REGION]\nrole = "confidential"\ntype = "text"\n'
        'categories = ["north", "south"]\ncategories_from_data = true\n'
    )
    both = {"column": "1", "type": "text"}
    emptied = {**both, "role": "identifier", "categories": "", "source": "data"}

    async def visit(ask):
        draft = await opened(ask, recipe="recipe.toml")
        await posted(ask, draft, "column", emptied)
        back = {**both, "role": "confidential", "categories": "north\nsouth"}
        return await posted(ask, draft, "column", back)

    answer = on(folder, visit)
    assert answer.status == 422
    assert "Say where the list of categories comes from." in answer.text


def test_a_list_longer_than_a_form_can_send_is_not_shown(tmp_path):
    """Fifty letters or a thousand: what stands in a field can be saved."""
    for letters, shown in ((50, 60), (1000, 0)):
        path = tmp_path / f"{letters}.csv"
        words = [f"{number:02}" + "x" * letters for number in range(60)]
        path.write_text("WORD\n" + "\n".join(words) + "\n")
        found = listed({"path": str(path), "column": "WORD"}, lambda _said: None)
        assert found["n_values"] == 60
        assert len(found["values"]) == shown
