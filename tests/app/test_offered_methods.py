"""The promise goes on with a method that can do what was chosen, and the next screen takes it."""

import html
import re
import tomllib

import pytest

from visited import declared, on, opened, posted, saved

pytestmark = pytest.mark.usefixtures("instantly")
TABLE = "ID,AGE,SEX\n" + "".join(f"{n // 2},{20 + n % 50},{'fm'[n % 3 > 1]}\n" for n in range(3000))
SEX = {"column": "2", "role": "confidential", "type": "text", "categories": "f\nm"}
WHO, MISSING = ("record", "unit"), ("", "keep", "protect")
SCOPES = "row", "vector", "cluster"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text(TABLE)
    return tmp_path


async def columns(ask, draft, kind):
    """Declare numbers, categories, both, or a column that is kept beside a number."""
    await declared(ask, draft)
    if kind in {"categories", "both"}:
        await posted(ask, draft, "column", SEX)
    if kind == "categories":
        await posted(ask, draft, "column", {"column": "1", "role": "identifier"})
    if kind == "kept beside":
        await posted(ask, draft, "column", {"column": "2", "role": "non-confidential"})


# Of all choices those in which each two come together once.
@pytest.mark.parametrize(
    ("kind", "who", "missing", "scope"),
    [
        (kind, WHO[(i + j) % 2], MISSING[j], SCOPES[(i + j) % 3])
        for i, kind in enumerate(("numbers", "categories", "both", "kept beside"))
        for j in range(3)
    ],
)
def test_the_next_screen_takes_what_the_promise_offers(folder, kind, who, missing, scope):
    """Whoever is protected, at every scope, however missing cells are treated."""
    form = {"who": who, "unit": "ID", "max_rows": "2", "missing": missing, "scope": scope,
            "epsilon": "1"}  # fmt: skip

    async def visit(ask):
        draft = await opened(ask)
        await columns(ask, draft, kind)
        answer = await saved(ask, draft, "promise", form)
        assert answer.status == 303, re.findall(r'class="wrong".*?>(.*?)<', answer.text)
        recipe = tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text)
        await ask("POST", f"{draft}/advice", {})
        shown = [await ask("GET", f"{draft}/{step}") for step in ("promise", "trade-off")]
        return recipe["method"], *shown

    method, promised, advised = on(folder, visit)
    assert f'value="{method}" checked' in promised.text
    assert "would be refused" not in advised.text
    assert re.findall(r'<label for="option-own">([\w-]+)', advised.text) == [method]


def test_what_cannot_be_combined_is_disabled_with_its_reason(folder):
    """Nothing is saved by looking; what no method can do is said beside the scope."""
    form = {"who": "record", "scope": "row", "epsilon": "1", "look": "yes"}

    async def visit(ask):
        draft = await opened(ask)
        await columns(ask, draft, "both")
        before = (await ask("GET", f"{draft}/recipe.toml")).text
        looked = await ask("POST", f"{draft}/promise", form)
        units = await ask("POST", f"{draft}/promise", {
            **form, "who": "unit", "unit": "ID", "max_rows": "2", "scope": "cluster",
            "missing": "protect"})  # fmt: skip
        refused = await saved(ask, draft, "promise", {**form, "look": "", "method": "dp-um"})
        return looked, units, refused, before == (await ask("GET", f"{draft}/recipe.toml")).text

    looked, units, refused, is_same = on(folder, visit)
    assert is_same
    disabled = dict(re.findall(
        r'value="([\w-]+)" disabled.*?<span class="hint"[^>]*>(.*?)</span>', looked.text, re.DOTALL
    ))  # fmt: skip
    assert "it is not covered" in disabled["dp-um"]
    assert 'value="dp-synthetic" checked' in looked.text
    assert 'value="idp-cbls" disabled' in units.text
    assert refused.status == 422
    assert "it is not covered" in re.search(r'id="method-wrong">(.*?)<', refused.text)[1]


def test_public_figures_stand_there_at_once(folder):
    """A chart against epsilon, the worst columns and each method by column: no value is seen."""

    async def visit(ask):
        draft = await opened(ask)
        await columns(ask, draft, "both")
        form = {"who": "record", "scope": "row", "epsilon": "1", "delta": "1e-9"}
        await saved(ask, draft, "promise", form)
        shown = await ask("GET", f"{draft}/trade-off?methods=yes")
        await saved(ask, draft, "promise", {**form, "epsilon": "2"})
        return shown, tomllib.loads((await ask("GET", f"{draft}/recipe.toml")).text)

    shown, recipe = on(folder, visit)
    assert shown.text.count("<polyline") == 2
    assert "No value was looked at" in shown.text
    assert "looked_at" not in recipe
    table = (
        html.unescape(shown.text).partition('<table class="options">')[2].partition("</table>")[0]
    )
    assert re.findall(r'<th scope="col">([\w-]+)', table) == [
        "Column", "pram", "dp-synthetic"
    ]  # fmt: skip
    assert re.search(r"AGE</th><td>.*?±[\d.]+ on each value</td>", table)
    assert re.search(r"SEX</th><td>[\d.]+ % of cells", table)


def test_bars_of_errors_end_at_2(folder):
    """Each is drawn as wide as its figure is of 2, the longest too."""

    async def visit(ask):
        draft = await opened(ask)
        await columns(ask, draft, "numbers")
        await saved(ask, draft, "promise", {"who": "record", "scope": "cluster", "epsilon": "1"})
        await ask("POST", f"{draft}/advice", {})
        return await ask("GET", f"{draft}/trade-off")

    bars = re.findall(r'<rect width="([\d.]+)".*?</svg> ([\d.e-]+)', on(folder, visit).text)
    assert len(bars) > 2
    assert all(abs(float(wide) - min(50 * float(error), 100)) < 0.1 for wide, error in bars), bars
    assert float(bars[0][0]) < 5
