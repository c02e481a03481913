"""A table is opened in a browser: names and kinds at once, then what is proposed."""

import polars as pl
import pytest

from page_look import look
from steward import Mouse
from steward_way import begin, people, wait

pytestmark = pytest.mark.browser
RECIPE = """
microveil = "0.2"
[attributes.AGE]
role = "quasi-identifier"
type = "whole number"
bounds = [16, 110]
[attributes.GONE]
role = "identifier"
type = "text"
"""


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_names_and_kinds_are_seen_before_the_table_is_read(tmp_path, opened, form):
    """And the proposal without a press, once it is."""
    table = pl.read_csv(people(tmp_path / "people.csv", n_records=300), try_parse_dates=True)
    table.write_parquet(tmp_path / "people.parquet")
    shown = opened(tmp_path)
    page, reading = shown.page, "**/progress/*"
    page.route(reading, lambda request: request.fulfill(status=204))  # as if it went on
    page.click(f"text=Take people.{form}")
    page.wait_for_selector("#outline")
    names = [one.inner_text() for one in page.locator("#outline ~ table tbody th").all()]
    kinds = {one.inner_text() for one in page.locator("#outline ~ table tbody td").all()}
    assert names == table.columns
    assert kinds == (
        {"known when the table is read"}
        if form == "csv"
        else {"whole numbers", "decimals", "dates", "text", "yes or no"}
    )
    wrong = look(shown, f"2-data-reading-{form}")
    assert not wrong, "\n".join(wrong)
    page.unroute(reading)
    wait(Mouse(page), "table.grid")
    assert not page.locator("#outline").count()
    assert not shown.troubles
    assert not shown.elsewhere


def test_a_column_that_the_table_lacks_is_taken_out_by_a_press(tmp_path, opened):
    """Beside the refusal, on the page that it was said on."""
    people(tmp_path / "people.csv", n_records=300)
    (tmp_path / "recipe.toml").write_text(RECIPE)
    shown = opened(tmp_path)
    page, steward = shown.page, Mouse(shown.page)
    steward.choose("#recipe", "recipe.toml")
    begin(steward)
    page.click("header nav >> text=Release")
    wrong = look(shown, "5-release-lacking")
    assert not wrong, "\n".join(wrong)
    assert "no such column" in page.inner_text("main .errors >> nth=0")
    steward.press("text=Take GONE out of the recipe")
    page.wait_for_url("**/release")
    assert "no such column" not in page.inner_text("main")
    page.click("header nav >> text=Data")
    assert not page.locator("text=Take GONE").count()
    assert "16 to 110" in page.inner_text("#column-3")
    assert not shown.troubles
