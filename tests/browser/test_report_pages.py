"""Reports in a browser: read by everybody, by keyboard, on paper, and pictures that are whole."""

import numpy as np
import polars
import pytest

import microveil as mv
from command import run
from microveil.report import (
    comparison_report,
    custodian_report,
    draw_map,
    publishable_report,
)
from microveil.report.plots import first_picture
from page_look import look
from steward import Page

pytestmark = pytest.mark.browser
IS_DRAWN = IS_REPORTED = True  # pages are looked at as everybody gets them

LONG = "Household members who earn more than 9,999 a year"
TOWNS = ["Wwwwwwwwwwww Wwwwwwwwwwww upon Wwwwwwwwwww", "south"]
BOUNDS = {LONG: (0, 120), "INCOME": (0, 400_000), "TOWN": TOWNS}
# What of a picture is drawn beyond its edges.
CUT = """() => [...document.querySelectorAll('svg')].flatMap((svg) => {
  const edge = svg.getBoundingClientRect(), room = 0.5;
  return [...svg.querySelectorAll('text')].filter((text) => {
    const box = text.getBoundingClientRect();
    return box.width && (box.left < edge.left - room || box.right > edge.right + room
      || box.top < edge.top - room || box.bottom > edge.bottom + room);
  }).map((text) => text.textContent);
})"""
# A4 within the margins of a printer, in pixels.
PAPER = {"width": 718, "height": 1047}


@pytest.fixture(scope="module")
def people():
    made = mv.invented_people(400, seed=2).rename({"AGE": LONG})
    return made.with_columns(polars.Series("TOWN", np.array(TOWNS)[np.arange(400) % 3 // 2]))


@pytest.fixture(scope="module")
def compared(people):
    return mv.compare(
        people, methods=["dp-um", "laplace", "idp-cbls", "mdav"], k=[5, 20], epsilon=[0.5, 2],
        runs=2, attributes=[LONG, "INCOME"], exact_cells="allow", resolution={"INCOME": 1},
        bounds={name: BOUNDS[name] for name in (LONG, "INCOME")},
    )  # fmt: skip


@pytest.fixture(scope="module")
def pages(people, compared):
    release = mv.protect(
        people, method="dp-synthetic", epsilon=4, delta=1e-6, attributes=list(BOUNDS),
        bounds=BOUNDS, resolution={"INCOME": 1},
    )  # fmt: skip
    assessment = mv.assess(people, release)
    return {
        "comparison": comparison_report(compared),
        "custodian": custodian_report(release, people, assessment),
        "public": publishable_report(release),
    }


@pytest.fixture
def shown(browser, tmp_path):
    """Open a page from disk, without a network."""
    contexts = []

    def one(html, name="page.html"):
        contexts.append(browser.new_context(viewport={"width": 1280, "height": 900}, offline=True))
        opened = Page(contexts[-1].new_page())
        (tmp_path / name).write_text(html, encoding="utf-8")
        opened.page.goto((tmp_path / name).as_uri())
        return opened

    yield one
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", ["comparison", "custodian", "public"])
def test_every_report_can_be_read_by_everybody(pages, shown, name):
    """By axe, light and dark, at 1280, 640 and 390 pixels, with all parts unfolded."""
    opened = shown(pages[name])
    opened.page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)")
    if name != "public":
        opened.page.wait_for_selector(".chart .vega-embed")
    assert look(opened, f"report-{name}") == []
    assert not opened.troubles


@pytest.mark.parametrize("name", ["comparison", "custodian", "public"])
def test_every_report_can_be_printed(pages, shown, name):
    """On A4 nothing is wider than the paper, and folded parts and figures are there in whole."""
    page = shown(pages[name]).page
    page.emulate_media(media="print")
    page.set_viewport_size(PAPER)
    assert page.evaluate("document.documentElement.scrollWidth") <= PAPER["width"]
    hidden = "[...document.querySelectorAll('details table')].filter((one) => !one.offsetHeight)"
    assert page.evaluate(f"{hidden}.length") == 0
    cut = (
        "[...document.querySelectorAll('td, th')].filter((c) => c.scrollWidth > c.clientWidth + 1)"
    )
    assert page.evaluate(f"{cut}.map((one) => one.textContent)") == []
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_the_first_screen_of_the_demonstration_stands_in_one_row(shown, tmp_path):
    """Its report says what is promised, and shows three charts one next to the other."""
    done = run("demo", "-o", "demo", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    html = (tmp_path / "demo" / "release-custodian" / "report.html").read_text("utf-8")
    page = shown(html).page
    for chart in page.locator(".first .chart").all():
        chart.locator(".vega-embed svg").wait_for()
    sections = [one.bounding_box() for one in page.locator(".first > section").all()]
    assert len({box["y"] for box in sections}) == 1
    assert [box["x"] for box in sections] == sorted({box["x"] for box in sections})
    assert page.locator(".promise").inner_text().startswith("Promised: differential privacy")


def test_what_the_map_shows_is_chosen_by_keyboard(pages, shown):
    """Every scope and method has a control with a name, which map and table follow."""
    page = shown(pages["comparison"]).page
    page.wait_for_selector(".choose:not([hidden])")
    rows = page.locator("#all tbody tr:visible")
    everything = rows.count()
    page.get_by_role("radio", name="all").focus()
    page.keyboard.press("ArrowDown")
    assert page.get_by_role("radio", name="Row scope").is_checked()
    assert {row.split("\t")[1] for row in rows.all_inner_texts()} == {"row"}
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "method"
    page.keyboard.press("Space")
    first = page.evaluate("document.activeElement.value")
    assert {row.split("\t")[0] for row in rows.all_inner_texts()} == {first}
    faint = page.locator(".chart .mark-symbol path[opacity='0.08']")
    faint.first.wait_for(state="attached")
    page.keyboard.press("Space")
    faint.first.wait_for(state="detached")
    assert rows.count() == everything


@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_that_stand_alone_are_whole(people, compared, shown, tmp_path, width):
    """No letter of the map, nor of what a notebook shows, lies beyond an edge."""
    release = mv.protect(
        people, method="laplace", epsilon=0.1, attributes=[LONG, "INCOME"],
        bounds={name: BOUNDS[name] for name in (LONG, "INCOME")}, resolution={"INCOME": 1},
    )  # fmt: skip
    pictures = [draw_map(compared, tmp_path / "map.svg").read_text(encoding="utf-8")]
    pictures.append(first_picture(mv.assess(people, release)))
    pictures.append(first_picture(mv.assess(people, release, paired=False)))
    for picture in pictures:
        page = shown(f'<meta charset="utf-8"><body style="margin: 0">{picture}').page
        page.set_viewport_size({"width": width, "height": 900})
        assert page.locator("svg text").count() > 5
        assert page.evaluate(CUT) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
