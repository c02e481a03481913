"""The whole way over the page, from a table to a release, in Chromium."""

import json
import shutil

import pytest

from command import run
from steward import Keyboard, Mouse
from steward_way import (
    COLUMNS,
    advise,
    begin,
    choose_option,
    draw,
    people,
    promise,
    wait,
    way,
)

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
    for _ in way(steward):
        pass
    # Eight fields of columns are left as proposed; each of the others is needed.
    assert (steward.n_clicks, steward.n_fields) <= (20, 25)
    record_property("clicks and fields from nothing", steward.n_actions)
    print(f"from nothing: {steward.n_clicks} clicks and {steward.n_fields} fields")  # noqa: T201
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
    steward.press("button[name=all]")
    steward.page.wait_for_url("**/promise")
    steward.press("text=Save and go on")
    advise(steward)
    choose_option(steward)
    draw(steward, "next")
    print(f"with a recipe: {steward.n_clicks} clicks and {steward.n_fields} fields")  # noqa: T201
    assert steward.n_actions <= 25
    assert guarantee(folder / "next") == guarantee(folder / "release")
    assert downloaded(steward.page, tmp_path / "back.toml").read_text() == recipe.read_text()


def shown_by(page):
    """What a page shows, and what stands in its fields but for those that are hidden."""
    page.wait_for_load_state()  # text without its style breaks lines elsewhere
    fields = page.eval_on_selector_all(
        "input:not([type=hidden]), select, textarea",
        "all => all.map(one => [one.id, one.type, one.value, one.checked === true])",
    )
    return page.url, page.inner_text("main"), fields


def test_back_forward_and_reload_lose_nothing(folder, opened):
    """At every step the page that is come back to says what it said."""
    page = opened(folder).page
    steward = Mouse(page)
    seen = {}
    for step in way(steward):
        page.reload()
        before = shown_by(page)
        page.reload()
        assert shown_by(page) == before, step
        if step != "1-file":
            page.go_back()
            page.go_forward()
            assert shown_by(page) == before, step
        seen[step] = before
    for step in ("release", "trade-off", "promise", "columns"):
        page.click(f"header nav >> text={step.capitalize()}")
        after = shown_by(page)
        page.reload()
        assert shown_by(page) == after
    # The columns are as they were declared: what had been filled in is there.
    values = {name: (value, checked) for name, _, value, checked in after[2]}
    for number, fields in enumerate(COLUMNS.values()):
        for name, value in fields.items():
            is_box = value is True
            assert values[f"{name}-{number}"] == ("yes" if is_box else value, is_box), name


def test_what_is_declared_by_part_stays(folder, opened):
    """Columns that were said to be right are kept, whatever the others still lack."""
    page = opened(folder).page
    steward = Mouse(page)
    begin(steward)
    steward.write("#lower-3", "16")
    steward.write("#upper-3", "110")
    steward.tick("#right-3")
    steward.press("text=Save what is right")
    page.wait_for_selector("text=Not declared yet")
    page.reload()
    assert page.input_value("#lower-3") == "16"
    assert page.is_checked("#right-3")
    assert not page.is_checked("#right-0")


@pytest.mark.reference
def test_the_whole_way_on_adult(reference_data, tmp_path, opened):
    """Adult, its numbers declared and its text left out: a release whose recipe gives it again."""
    folder = tmp_path / "tables"
    folder.mkdir()
    shutil.copy(reference_data / "adult.csv", folder)
    shown = opened(folder)
    page, steward = shown.page, Mouse(shown.page)
    begin(steward, "adult.csv")
    bounds = {"age": (0, 120), "education-num": (1, 20), "capital-gain": (0, 200_000),
              "capital-loss": (0, 10_000), "hours-per-week": (0, 120)}  # fmt: skip
    names = page.eval_on_selector_all(
        "fieldset.column legend", "all => all.map(one => one.firstChild.textContent.trim())"
    )
    for number, name in enumerate(names):
        if name in bounds:
            steward.write(f"#lower-{number}", f"{bounds[name][0]}")
            steward.write(f"#upper-{number}", f"{bounds[name][1]}")
        elif page.input_value(f"#type-{number}") == "text":
            steward.choose(f"#role-{number}", "identifier")
    steward.press("button[name=all]")
    page.wait_for_url("**/promise")
    promise(steward, unit=None)
    advise(steward)
    steward.press("button:text-is('Compare')")
    wait(steward, "text=The whole comparison")
    choose_option(steward)
    draw(steward)
    print(f"Adult: {steward.n_clicks} clicks and {steward.n_fields} fields")  # noqa: T201
    assert not shown.troubles
    assert not shown.elsewhere
    recipe = downloaded(page, folder / "recipe.toml")
    done = run("protect", "adult.csv", "--recipe", recipe, "-o", "again", folder=folder)
    assert done.returncode == 0, done.stderr
    assert guarantee(folder / "again") == guarantee(folder / "release")
