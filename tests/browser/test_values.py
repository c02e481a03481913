"""The values of a column and the recipe's file, asked for by whoever is at the page."""

import pytest

from page_look import look
from steward import Keyboard, Mouse
from steward_way import begin, people, wait

pytestmark = pytest.mark.browser

VALUES = "button[name=values][value='{number}']"
HOSTILE = ["</textarea><script>document.title='taken'</script>",
           "\"><img src=x onerror=\"document.title='taken'\">", "{{7*7}}"]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    """A folder with a table of invented people, whose columns 6 and 7 are text."""
    folder = tmp_path / "tables"
    folder.mkdir()
    people(folder / "people.csv", n_records=200)
    return folder


def open_more(hands, number):
    """Open what else there is of a column, where it is closed."""
    if not hands.page.locator(f"#categories-{number}").is_visible():
        hands.press(f"fieldset.column:nth-of-type({number + 1}) summary")


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
    steward.write("#lower-3", "16")
    open_more(steward, 6)
    steward.press(VALUES.format(number=6))
    wait(steward, "#source-6")
    assert page.input_value("#categories-6").split() == ["East", "North", "South", "West"]
    assert page.input_value("#lower-3") == "16"
    steward.tick("#right-6")
    steward.press("text=Save what is right")
    wait(steward, "#source-6 .wrong")
    steward.tick("#source-6-public")
    steward.press("text=Save what is right")
    page.wait_for_selector("text=Not declared yet")
    page.reload()
    assert page.is_checked("#right-6")
    assert page.is_checked("#source-6-public")
    assert not shown.troubles
    assert not shown.elsewhere


def test_enter_in_a_field_asks_for_no_values(folder, opened):
    """It saves what is right, as it does without any such button."""
    page = opened(folder).page
    begin(Mouse(page))
    page.fill("#lower-3", "16")
    with page.expect_response("**/columns") as answer:
        page.press("#lower-3", "Enter")
    assert answer.value.request.method == "POST"
    assert "North" not in page.content()
    assert page.input_value("#lower-3") == "16"


def test_values_are_text_in_a_browser(folder, opened):
    """Markup and script in a value run nowhere, in the field and in the list beside it."""
    cells = ['"' + value.replace('"', '""') + '"' for value in HOSTILE]
    (folder / "people.csv").write_text("X\n" + "\n".join(cells) + "\n")
    shown = opened(folder)
    page = shown.page
    for entered in ("", "one\ntwo"):
        page.goto(page.url.partition("/drafts")[0])
        begin(Mouse(page))
        open_more(Mouse(page), 0)
        page.fill("#categories-0", entered)
        page.click(VALUES.format(number=0))
        page.wait_for_selector("#source-0")
        assert "taken" not in page.title()
        assert not page.locator("img[src=x], main script").count()
        in_field = sorted(page.input_value("#categories-0").splitlines())
        beside = sorted(page.locator("ul.values li").all_inner_texts())
        assert sorted(HOSTILE) in (in_field, beside)
    assert not shown.troubles


def test_what_is_asked_for_can_be_read_by_everybody(folder, opened):
    """Values beside a list, what is wrong with it, and the recipe's own page."""
    shown = opened(folder)
    page = shown.page
    steward = Mouse(page)
    begin(steward)
    open_more(steward, 6)
    steward.write("#categories-6", "North\nElsewhere")
    for number in (6, 7):
        page.click(VALUES.format(number=number))
        page.wait_for_selector(f"#source-{number}")
    wrong = look(shown, "2-columns-values")
    page.click("button[name=all]")
    page.wait_for_selector("main .errors")
    wrong += look(shown, "2-columns-values-errors")
    page.click("text=Save it into the folder")
    page.wait_for_url("**/save")
    wrong += look(shown, "9-save")
    steward.write("#file", "people.csv")
    steward.press("button:text-is('Save')")
    page.wait_for_selector("main .errors")
    wrong += look(shown, "9-save-errors")
    steward.write("#file", "ours.toml")
    steward.press("button:text-is('Save')")
    page.wait_for_selector("text=It is saved")
    wrong += look(shown, "9-save-saved")
    assert (folder / "ours.toml").exists()
    assert not wrong, "\n".join(wrong)
    assert not shown.troubles
    assert not shown.elsewhere
