"""The whole way over the page, from a table to a release, in Chromium."""

import json
import shutil
import time

import numpy as np
import polars as pl
import pytest

from command import run
from steward import Keyboard, Mouse
from steward_way import COLUMNS, begin, draw, go_on, open_column, people, promise, survey, way

pytestmark = pytest.mark.browser


@pytest.fixture
def folder(tmp_path):
    """A folder with a table of invented people."""
    folder = tmp_path / "tables"
    folder.mkdir()
    people(folder / "people.csv")
    return folder


def downloaded(page, path):
    """Download the recipe, as it stands, to a path."""
    with page.expect_download() as download:
        page.click("text=Download the recipe")
    download.value.save_as(path)
    return path


def guarantee(release):
    """Read what a release promises."""
    return json.loads((release / "guarantee.json").read_text())


@pytest.mark.parametrize(
    ("hands", "scripts"), [(Mouse, True), (Mouse, False), (Keyboard, True)],
    ids=["mouse", "without scripts", "keyboard"],
)  # fmt: skip
def test_the_whole_way_from_nothing(folder, opened, hands, scripts, record_property):
    """By mouse, by keys alone and without scripts; its recipe gives an equal guarantee again."""
    shown = opened(folder, java_script_enabled=scripts)
    steward = hands(shown.page)
    for _ in way(steward, unit="HOUSEHOLD"):
        pass
    record_property("clicks and fields from nothing", steward.n_actions)
    print(f"all declared: {steward.n_clicks} clicks and {steward.n_fields} fields")  # noqa: T201
    assert not shown.elsewhere
    assert not shown.troubles
    recipe = downloaded(shown.page, folder / "recipe.toml") if scripts else None
    if recipe is not None:
        done = run("protect", "people.csv", "--recipe", recipe, "-o", "again", folder=folder)
        assert done.returncode == 0, done.stderr
        assert guarantee(folder / "again") == guarantee(folder / "release")


def test_a_finished_recipe_takes_few_clicks(folder, opened, tmp_path):
    """A recipe that is opened in the page comes back equal, and leads to an equal release."""
    first = Mouse(opened(folder).page)
    for _ in way(first):
        pass
    recipe = downloaded(first.page, folder / "monthly.toml")
    steward = Mouse(opened(folder).page)
    steward.choose("#recipe", "monthly.toml")
    begin(steward)
    go_on(steward)
    steward.press("text=Save and go on")
    draw(steward, "release-2")
    assert steward.n_actions <= 9
    assert guarantee(folder / "release-2") == guarantee(folder / "release")
    assert downloaded(steward.page, tmp_path / "back.toml").read_text() == recipe.read_text()


def wide(path, n_records=100_000):
    """Write a table of sixty columns of numbers and text."""
    draw_of = np.random.default_rng(3)
    numbers = {f"Q{n:02}": draw_of.integers(0, 7, n_records) for n in range(30)}
    words = {
        f"W{n:02}": np.array(list("abcd"))[draw_of.integers(0, 4, n_records)] for n in range(30)
    }
    pl.DataFrame({**numbers, **words}).write_csv(path)


@pytest.mark.parametrize("table", ["survey.sav", "wide.csv", "adult.csv"])
def test_a_table_is_released_in_few_clicks_and_no_field(tmp_path, opened, table, request):
    """Nothing has to be filled in: what the file declares is accepted, all else is learnt."""
    folder = tmp_path / "tables"
    folder.mkdir()
    if table == "adult.csv":
        shutil.copy(request.getfixturevalue("reference_data") / table, folder)
    else:
        {"survey.sav": survey, "wide.csv": wide}[table](folder / table)
    shown = opened(folder)
    steward, began, times = Mouse(shown.page), time.monotonic(), {}
    begin(steward, table)
    times["data"] = time.monotonic() - began
    if table == "survey.sav":
        steward.press("text=Accept what the file declares")
        shown.page.wait_for_selector("text=accepted from the file")
    for step, go in (("promise", go_on), ("trade-off", promise), ("release", draw)):
        began = time.monotonic()
        go(steward)
        times[step] = time.monotonic() - began
    said = ", ".join(f"{step} {seconds:.1f} s" for step, seconds in times.items())
    print(f"{table}: {steward.n_clicks} clicks, {said}")  # noqa: T201
    assert steward.n_fields == 0
    assert steward.n_actions <= 12
    assert not shown.troubles
    assert not shown.elsewhere
    recipe = downloaded(shown.page, folder / "recipe.toml")
    done = run("protect", table, "--recipe", recipe, "-o", "again", folder=folder)
    assert done.returncode == 0, done.stderr
    assert guarantee(folder / "again") == guarantee(folder / "release")


def shown_by(page):
    """What a page shows, and what stands in its fields but for those that are hidden."""
    page.wait_for_load_state()  # text without its style breaks lines elsewhere
    if page.locator("#methods").count():
        page.wait_for_selector("#methods table")
    fields = page.eval_on_selector_all(
        "input:not([type=hidden]), select, textarea",
        "all => all.map(one => [one.id, one.type, one.value, one.checked === true])",
    )
    return page.url, page.inner_text("main"), fields


def test_back_forward_and_reload_lose_nothing(folder, opened):
    """At every step the page that is come back to says what it said."""
    page = opened(folder).page
    steward = Mouse(page)
    for step in way(steward, unit="HOUSEHOLD"):
        page.reload()
        before = shown_by(page)
        page.reload()
        assert shown_by(page) == before, step
        if step != "1-file":
            page.go_back()
            page.go_forward()
            assert shown_by(page) == before, step
    for step in ("Release", "Trade-off", "Promise", "Data"):
        page.click(f"header nav >> text={step}")
        after = shown_by(page)
        page.reload()
        assert shown_by(page) == after
    # The columns are as they were declared: what had been filled in is there.
    for number, fields in enumerate(COLUMNS.values()):
        open_column(steward, number)
        for name, value in fields.items():
            found = page.locator(f"#{name}")
            assert found.is_checked() if value is True else found.input_value() == value, name


def test_a_change_is_undone_by_a_press(folder, opened):
    """And columns are found by their names, and set together."""
    page = opened(folder).page
    begin(Mouse(page))
    page.fill("#search", "aGe")
    page.wait_for_selector("#column-0", state="detached")
    page.select_option("#all-role", "identifier")
    page.click("text=Set for all 2 shown")
    page.wait_for_selector("#column-3:has-text('left out')")
    page.click("header nav >> text=Data")
    assert "left out" in page.inner_text("#column-4")
    assert "left out" not in page.inner_text("#column-5")
    page.click("text=Undo the last change")
    page.wait_for_selector("#column-3:has-text('will be learnt')")
