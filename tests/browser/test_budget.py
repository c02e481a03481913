"""The budget in a browser: nothing is drawn twice by mistake, and bars and methods are right."""

import pytest

from steward import Mouse
from steward_way import begin, declare, draw, go_on, people, promise, wait, way

pytestmark = pytest.mark.browser


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "tables"
    folder.mkdir()
    people(folder / "people.csv")
    return folder


def left(folder):
    return sorted(path.name for path in folder.iterdir())


DRAWN = ["people.csv", "release", "release-custodian"]


@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "without scripts"])
def test_a_second_draw_is_asked_for(folder, opened, scripts):
    """By the steps, the back button, a reload or another tab; with what it costs."""
    page = opened(folder, java_script_enabled=scripts).page
    steward = Mouse(page)
    for _ in way(steward, columns={}):
        pass
    assert page.url.endswith("/release")
    tab = page.context.new_page()

    def by_back():
        page.go_back()
        page.goto(page.url.rpartition("/")[0] + "/release")
        return page

    def by_the_steps():
        page.click("header nav >> text=Release")
        return page

    def by_reload():
        page.reload()
        return page

    def by_a_tab():
        tab.goto(page.url)
        return tab

    for come in (by_back, by_the_steps, by_reload, by_a_tab):
        shown = come()
        assert shown.url.endswith("/release"), come
        shown.fill("#folder", "second")
        shown.click("main button:has-text('Draw')")
        shown.wait_for_selector("#again-wrong")
        assert "It spends epsilon 1 again: 2 in all." in shown.inner_text("main")
        assert left(folder) == DRAWN, come
    page.screenshot(path=folder.parent / "asked.png", full_page=True)
    tab.check("#again")
    tab.click("main button:has-text('Draw')")
    tab.wait_for_selector("#again", state="detached")
    wait(Mouse(tab), "main li:has-text('tables/second')")
    assert "second" in left(folder)


def test_bars_are_as_wide_as_their_errors(folder, opened):
    """An error far below 2, where bars end, is a sliver and no full bar."""
    page = opened(folder).page
    steward = Mouse(page)
    begin(steward)
    declare(steward, {"PERSON": {}, "HOUSEHOLD": {}, "WEIGHT": {}, "AGE": {"lower": "16",
                      "upper": "110"}})  # fmt: skip
    for number in (4, 5):
        page.check(f"input[name=pick-{number}]")
    page.select_option("#all-role", "identifier")
    page.click("text=Set for the columns chosen")
    go_on(steward)
    promise(steward, scope="cluster", epsilon="50")
    page.click("main button:text-is('Look at the data')")
    wait(steward, "svg.error")
    bars = page.eval_on_selector_all(
        "table.options svg.error",
        """all => all.map(one => [
            one.firstElementChild.getBoundingClientRect().width / one.getBoundingClientRect().width,
            Number(one.parentElement.textContent)])""",
    )
    assert bars
    assert all(abs(width - min(error / 2, 1)) < 0.01 for width, error in bars), bars
    assert max(error for _, error in bars) < 1


def test_the_promise_of_units_goes_on_with_a_method_for_units(folder, opened):
    """Means of people alike protect one record: at their scope another method is offered."""
    page = opened(folder).page
    steward = Mouse(page)
    begin(steward)
    go_on(steward)
    promise(steward, unit="HOUSEHOLD", scope="cluster", method="dp-synthetic")
    assert "all records of one HOUSEHOLD together" in page.inner_text("aside")
    draw(steward)
    assert left(folder) == DRAWN
