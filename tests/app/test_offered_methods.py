"""The promise goes on with a method that can do what was chosen, and the next page takes it."""

import re
import tomllib

import pytest

from visited import on, opened, saved

pytestmark = pytest.mark.usefixtures("instantly")
TABLE = "ID,AGE,SEX\n" + "".join(f"{n // 2},{20 + n % 50},{'fm'[n % 3 > 1]}\n" for n in range(3000))
UNSAID = {"role-0": "identifier", "type-0": "whole number", "all": "yes"}
AGE = {"role-1": "confidential", "type-1": "whole number", "lower-1": "0", "upper-1": "120"}
SEX = {"role-2": "confidential", "type-2": "text", "categories-2": "f\nm"}
LEFT_OUT = {"role-1": "identifier", "type-1": "whole number", "role-2": "identifier",
            "type-2": "text"}  # fmt: skip
COLUMNS = {
    "numbers": {**LEFT_OUT, **AGE},
    "categories": {**LEFT_OUT, **SEX},
    "both": {**AGE, **SEX},
    "kept beside": {**AGE, "role-2": "non-confidential", "type-2": "text"},
}
WHO, MISSING = ("record", "unit"), ("", "keep", "protect")
SCOPES = "row", "vector", "cluster"


async def advised(ask, draft):
    """Ask for advice as the next page does; return what it refuses, and the methods it shows."""
    answer = await ask("POST", f"{draft}/advice", {})
    refused = re.findall(r'role="alert">(.*?)</div>', answer.text, re.DOTALL)
    shown = await ask("GET", f"{draft}/trade-off")
    return refused, re.findall(r'<label for="option-own">([\w-]+)', shown.text)


# Of all choices those in which each two come together once.
@pytest.mark.parametrize(
    ("columns", "who", "missing", "scope"),
    [
        (columns, WHO[(i + j) % 2], MISSING[j], SCOPES[(i + j) % 3])
        for i, columns in enumerate(COLUMNS)
        for j in range(3)
    ],
)
def test_the_next_page_takes_what_the_promise_offers(tmp_path, columns, who, missing, scope):
    """Whoever is protected, at every scope, however missing cells are treated."""
    (tmp_path / "people.csv").write_text(TABLE)
    form = {"who": who, "unit": "ID", "max_rows": "2", "missing": missing, "scope": scope,
            "epsilon": "1"}  # fmt: skip

    async def visit(ask):
        draft = await opened(ask)
        await saved(ask, draft, "columns", {**UNSAID, **COLUMNS[columns]})
        answer = await saved(ask, draft, "promise", form)
        assert answer.status == 303, re.findall(r'class="wrong".*?>(.*?)<', answer.text)
        recipe = tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text)
        shown = await ask("GET", f"{draft}/promise")
        return recipe["method"], shown.text, await advised(ask, draft)

    method, shown, (refused, own) = on(tmp_path, visit)
    assert not refused
    assert own == [method]
    assert f"{method} (asked for by the recipe)" in shown


def test_a_method_that_was_chosen_gives_way_to_one_that_can(tmp_path):
    """To hide which cells are missing, said later, is more than a mean of people alike can."""
    (tmp_path / "people.csv").write_text(TABLE)
    form = {"who": "record", "scope": "vector", "epsilon": "1"}

    async def visit(ask):
        draft = await opened(ask)
        await saved(ask, draft, "columns", {**UNSAID, **COLUMNS["numbers"]})
        await saved(ask, draft, "promise", form)
        await saved(ask, draft, "promise", {**form, "missing": "protect"})
        return await advised(ask, draft)

    refused, own = on(tmp_path, visit)
    assert not refused
    assert own == ["dp-synthetic"]


def test_what_no_method_can_do_is_said_beside_the_scope(tmp_path):
    """Two things that go together with no method: the page stays, and says why."""
    (tmp_path / "people.csv").write_text(TABLE)
    form = {"who": "record", "scope": "row", "epsilon": "1", "missing": "keep", "delta": "1e-9"}

    async def visit(ask):
        draft = await opened(ask)
        await saved(ask, draft, "columns", {**UNSAID, **COLUMNS["both"]})
        return await saved(ask, draft, "promise", form)

    answer = on(tmp_path, visit)
    assert answer.status == 422
    assert "No method can do that" in re.search(r'id="scope-wrong">(.*?)<', answer.text)[1]


def test_bars_of_errors_end_at_2(tmp_path):
    """Each is drawn as wide as its figure is of 2, the longest too."""
    (tmp_path / "people.csv").write_text(TABLE)

    async def visit(ask):
        draft = await opened(ask)
        await saved(ask, draft, "columns", {**UNSAID, **COLUMNS["numbers"]})
        await saved(ask, draft, "promise", {"who": "record", "scope": "cluster", "epsilon": "1"})
        await advised(ask, draft)
        return await ask("GET", f"{draft}/trade-off")

    bars = re.findall(r'<rect width="([\d.]+)".*?</svg> ([\d.e-]+)', on(tmp_path, visit).text)
    assert len(bars) > 2
    assert all(abs(float(wide) - min(50 * float(error), 100)) < 0.1 for wide, error in bars), bars
    assert float(bars[0][0]) < 5
