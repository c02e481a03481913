"""What the pages look like: accessible, within the window and in peace with their own policy."""

import pytest

from docs_pictures import STEPS, picture
from page_look import PICTURES, look
from steward import Mouse
from steward_way import begin, open_column, people, wait, way

pytestmark = pytest.mark.browser


def test_every_page_can_be_read_by_everybody(tmp_path, opened):
    """By axe, at 390 pixels, at twice the size, light and dark; nothing is asked elsewhere."""
    people(tmp_path / "people.csv")
    shown = opened(tmp_path)
    page, wrong = shown.page, []
    steward = Mouse(page)
    for step in way(steward):
        if step == "4-trade-off":
            page.wait_for_selector("#methods table")
        wrong += look(shown, step)
        if step == "2-data":
            open_column(steward, 4)
            wrong += look(shown, "2-data-open")
            page.fill("#lower", "x")
            page.click("text=Save this column")
            page.wait_for_selector("main .errors")
            wrong += look(shown, "2-data-errors")
        if step == "3-promise":
            page.check("#who-unit")
            page.wait_for_selector("#unit")
            page.click("text=Save and go on")
            page.wait_for_selector("main .errors")
            wrong += look(shown, "3-promise-errors")
        if step == "4-trade-off":
            page.click("main button:text-is('Look at the data')")
            wait(steward, "svg.error")
            page.click("button:text-is('Compare')")
            page.wait_for_selector(".work")
            wrong += look(shown, "4-trade-off-working")
            wait(steward, "text=The whole comparison")
            wrong += look(shown, "4-trade-off-compared")
    draft = page.url.rpartition("/")[0]
    for which in ("public", "custodian"):
        page.goto(f"{draft}/documents/{which}")
        PICTURES.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=PICTURES / f"7-{which}.png")
    page.goto(f"{draft}/nothing")
    wrong += look(shown, "8-no-such-page")
    page.goto(f"{draft.partition('/drafts')[0]}/")
    wrong += look(shown, "1-file-again")
    assert not wrong, "\n".join(wrong)
    assert not shown.troubles
    assert not shown.elsewhere


def test_every_step_has_a_picture_for_the_docs(tmp_path, opened):
    """Without a path of the machine that it was taken on, and small enough for a page of text."""
    folder = tmp_path / "tables"
    folder.mkdir()
    people(folder / "people.csv")
    (folder / "of-2025.toml").write_text('microveil = "0.2"\n')
    page = opened(folder).page
    for step in way(Mouse(page), columns={}):
        picture(page, step, folder)
        assert f"{tmp_path}" not in page.inner_text("body") or step not in STEPS
    taken = sorted((PICTURES / "docs").glob("*.png"))
    assert {path.stem for path in taken} == set(STEPS.values())
    assert max(path.stat().st_size for path in taken) < 200_000


def test_a_page_says_where_it_is_and_what_is_wrong(tmp_path, opened):
    """Titles name the step, the step is marked as current, and errors lead to their fields."""
    people(tmp_path / "people.csv", n_records=50)
    page = opened(tmp_path).page
    steward = Mouse(page)
    begin(steward)
    assert page.get_attribute("header nav [aria-current]", "aria-current") == "step"
    assert page.title().startswith(page.inner_text("h1"))
    open_column(steward, 4)
    for field in ("lower", "resolution"):
        page.fill(f"#{field}", "x")
    page.click("text=Save this column")
    page.wait_for_selector("main .errors a")
    assert page.locator("main .errors li a").count() == 2
    for link in page.locator("main .errors li a").all():
        field = page.locator(f"[id='{link.get_attribute('href')[1:]}']")
        assert field.count() == 1
        assert field.get_attribute("aria-invalid") == "true"
        described = field.get_attribute("aria-describedby").split()
        said = [page.inner_text(f"[id='{one}']") for one in described]
        assert any(words and words in link.inner_text() for words in said)
        link.click()
        assert field.evaluate("one => one === document.activeElement")


def test_letters_of_twice_the_size_fit(tmp_path, opened):
    """Text that a person made larger in the browser does not leave the window."""
    people(tmp_path / "people.csv")
    page = opened(tmp_path).page
    steward = Mouse(page)
    wide = {}
    for step in way(steward, columns={"PERSON": {}}):
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        wide[step] = page.evaluate("document.documentElement.scrollWidth")
        page.evaluate("document.documentElement.style.fontSize = ''")
    assert max(wide.values()) <= 1280, wide
