"""The values of a column and the recipe's file, asked for by whoever is at the page."""

import pytest

from page_look import look
from steward import Keyboard, Mouse
from steward_way import begin, open_column, people, wait

pytestmark = pytest.mark.browser

VALUES = "text=Show the values seen in the table"
HOSTILE = ["</textarea><script>document.title='taken'</script>",
           "\"><img src=x onerror=\"document.title='taken'\">", "{{7*7}}"]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with a table of invented people, whose columns 6 and 7 are text."""
    folder = tmp_path / "tables"
    folder.mkdir()
    people(folder / "people.csv", n_records=200)
    return folder


@pytest.mark.parametrize(
    ("hands", "scripts"), [(Mouse, True), (Mouse, False), (Keyboard, True)],
    ids=["mouse", "without scripts", "keyboard"],
)  # fmt: skip
def test_values_are_asked_for_confirmed_and_declared(folder, opened, hands, scripts):
    """By mouse, by keys alone and without scripts; what was entered meanwhile is not lost."""
    shown = opened(folder, java_script_enabled=scripts)
    page, steward = shown.page, hands(shown.page)
    begin(steward)
    assert "North" not in page.content()
    open_column(steward, 6)
    steward.press("summary:has-text('Codes for')")
    steward.write("#codes", "none")
    steward.press(VALUES)
    wait(steward, "#source")
    assert page.input_value("#categories").split() == ["East", "North", "South", "West"]
    assert page.input_value("#codes") == "none"
    steward.press("text=Save this column")
    wait(steward, "#source .wrong")
    steward.tick("#source-public")
    steward.press("text=Save this column")
    page.wait_for_selector("text=4 categories")
    open_column(steward, 6)
    assert page.is_checked("#source-public")
    assert not shown.troubles
    assert not shown.elsewhere


def test_enter_in_a_field_asks_for_no_values(folder, opened):
    """It saves the column, as it does without any such button."""
    page = opened(folder).page
    begin(Mouse(page))
    open_column(Mouse(page), 3)
    page.fill("#lower", "16")
    page.fill("#upper", "110")
    with page.expect_response("**/column") as answer:
        page.press("#lower", "Enter")
    assert answer.value.request.method == "POST"
    assert "North" not in page.content()
    page.wait_for_selector("text=16 to 110")


def test_values_are_text_in_a_browser(folder, opened):
    """Markup and script in a value run nowhere, in the field and in the list beside it."""
    cells = ['"' + value.replace('"', '""') + '"' for value in HOSTILE]
    (folder / "people.csv").write_text("X\n" + "\n".join(cells) + "\n")
    shown = opened(folder)
    page = shown.page
    for entered in ("", "one\ntwo"):
        page.goto(page.url.partition("/drafts")[0])
        begin(Mouse(page))
        open_column(Mouse(page), 0)
        page.select_option("#role", "confidential")
        page.click("text=Save this column")
        page.wait_for_selector("#categories")
        page.fill("#categories", entered)
        page.click(VALUES)
        page.wait_for_selector("#source")
        assert "taken" not in page.title()
        assert not page.locator("img[src=x], main script").count()
        in_field = sorted(page.input_value("#categories").splitlines())
        beside = sorted(page.locator("ul.values li").all_inner_texts())
        assert sorted(HOSTILE) in (in_field, beside)
    assert not shown.troubles


def test_what_is_asked_for_can_be_read_by_everybody(folder, opened):
    """Values beside a list, what is wrong with it, and the recipe's own page."""
    shown = opened(folder)
    page = shown.page
    steward = Mouse(page)
    begin(steward)
    for number in (6, 7):
        open_column(steward, number)
        steward.write("#categories", "North\nElsewhere")
        page.click(VALUES)
        page.wait_for_selector("#source")
    wrong = look(shown, "2-data-values")
    page.click("text=Save this column")
    page.wait_for_selector("main .errors")
    wrong += look(shown, "2-data-values-errors")
    page.click("header nav >> text=Release")
    steward.write("#file", "people.csv")
    steward.press("text=Save the recipe")
    page.wait_for_selector("main .errors")
    wrong += look(shown, "5-save-errors")
    steward.write("#file", "ours.toml")
    steward.press("text=Save the recipe")
    page.wait_for_selector("text=It is saved")
    wrong += look(shown, "5-save-saved")
    assert (folder / "ours.toml").exists()
    assert not wrong, "\n".join(wrong)
    assert not shown.troubles
    assert not shown.elsewhere
