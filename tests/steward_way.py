"""The whole way of a steward over the four screens, on tables invented for it."""

import datetime
import random
import time

from steward import SECONDS

__all__ = ["COLUMNS", "begin", "declare", "draw", "go_on", "people", "promise", "survey", "way"]

REGIONS = ("North", "East", "South", "West")
DEGREES = ("primary", "secondary", "degree")
MOST_IN_HOUSEHOLD = 3
# What is publicly known of the columns of `people`, by the fields of the page.
COLUMNS = {
    "PERSON": {"role": "identifier"},
    "HOUSEHOLD": {"role": "identifier"},
    "WEIGHT": {"role": "weight"},
    "AGE": {"role": "quasi-identifier", "lower": "16", "upper": "110"},
    "WAGE": {"lower": "0", "upper": "20000", "resolution": "0.01", "codes": "-9"},
    "ASKED": {"role": "quasi-identifier", "lower": "2024-01-01", "upper": "2024-12-31"},
    "REGION": {"categories": "\n".join(REGIONS)},
    "EDUCATION": {"categories": "\n".join(DEGREES), "ordered": True},
}


def people(path, n_records=3000, seed=5):
    """Write a table of invented people of households, with a weight, dates, text and a code."""
    draw = random.Random(seed)
    lines = [",".join([*COLUMNS, "CITIZEN"])]
    household = left = 0
    for person in range(n_records):
        if not left:
            household, left = household + 1, draw.randint(1, MOST_IN_HOUSEHOLD)
        left -= 1
        day = datetime.date(2024, 1, 1) + datetime.timedelta(days=draw.randrange(366))
        wage = "-9" if draw.random() < 0.05 else f"{draw.lognormvariate(7.5, 0.5):.2f}"
        cells = [person, household, f"{draw.uniform(50, 150):.1f}", draw.randint(16, 90), wage]
        cells += [day, draw.choice(REGIONS), draw.choice(DEGREES), draw.choice(["true", "false"])]
        lines.append(",".join(map(str, cells)))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def survey(path, n_records=6000):
    """Write the invented survey as SPSS does: with titles, value labels and codes for gaps."""
    import pyreadstat

    from microveil.datasets import survey as module

    frame = module.survey(n_records, 7)
    names = [name for name in module.LABELS if name in frame.columns]
    pyreadstat.write_sav(
        frame,
        f"{path}",
        column_labels={name: f"{name.capitalize()} of the person" for name in frame.columns},
        variable_value_labels={name: {**module.LABELS[name]} for name in names},
        missing_ranges={name: [*module.MISSING_CODES[name]] for name in names},
    )
    return path


def begin(hands, name="people.csv"):
    """Take a table, and wait until it was looked at."""
    hands.press(f"text=Take {name}")
    wait(hands, "table.grid")


def open_column(hands, number):
    """Open the column of a number, by its link in the grid."""
    hands.press(f"#column-{number} a")
    wait(hands, ".panel")


def declare(hands, columns=COLUMNS):
    """Declare columns, one after another; the others are learnt."""
    for number, (name, fields) in enumerate(columns.items()):
        open_column(hands, number)
        for field, value in fields.items():
            what = f"#{field}"
            summary = {"categories": "list of its", "codes": "Codes for"}.get(field, "")
            if summary and not hands.page.locator(what).is_visible():
                hands.press(f".panel summary:has-text('{summary}')")
            if field in {"role", "type"}:
                if hands.page.locator(what).input_value() != value:
                    hands.choose(what, value)
            elif value is True:
                hands.tick(what)
            else:
                hands.write(what, value)
        hands.press("text=Save this column")
        hands.page.wait_for_load_state()
        assert not hands.page.locator("main .errors").count(), name


def go_on(hands):
    """Go on with the columns as they stand, to the promise."""
    hands.press("text=This is right: go on")
    arrive(hands, "promise")


def promise(hands, unit=None, max_rows=3, scope="", epsilon="", method=""):
    """Say who is protected; what else is not said stays as it is proposed."""
    page = hands.page
    if unit is None:
        hands.tick("#who-record")
    else:
        hands.tick("#who-unit")
        if page.locator("noscript button >> visible=true").count():
            hands.press("noscript button[name=look] >> nth=0")
        page.wait_for_selector("#unit")
        hands.choose("#unit", unit)
        hands.write("#max_rows", f"{max_rows}")
    if scope:
        hands.tick(f"#scope-{scope}")
    if method:
        page.wait_for_selector(f"#method-{method}")
        hands.tick(f"#method-{method}")
    if epsilon:
        hands.write("#epsilon", epsilon)
    hands.press("text=Save and go on")
    arrive(hands, "trade-off")


def draw(hands, folder="release"):
    """Go on from the trade-off, draw and write; the result follows."""
    page = hands.page
    if not page.url.endswith("/release"):
        hands.press("main a:text-is('Go on')")
        arrive(hands, "release")
    if page.locator("#folder").input_value() != folder:
        hands.press("text=Folder and pages")
        hands.write("#folder", folder)
    hands.press("main button:has-text('Draw and write')")
    wait(hands, "#guarantee")


def arrive(hands, step):
    """Wait for the page of a step."""
    page = hands.page
    ends = time.monotonic() + SECONDS
    while not (page.url.endswith(f"/{step}") or page.locator("main .errors").count()):
        assert time.monotonic() < ends, page.url
        page.wait_for_timeout(50)
    page.wait_for_load_state()
    assert page.url.endswith(f"/{step}"), page.inner_text("main")


def wait(hands, what):
    """Wait for the end of work; without scripts by looking again, as the page says."""
    ended = hands.page.locator(what).or_(hands.page.locator("main .errors"))
    again = hands.page.locator("noscript a >> visible=true")  # where scripts are not run
    ends = time.monotonic() + SECONDS
    while not ended.count():
        assert time.monotonic() < ends, hands.page.inner_text("main")
        if again.count():
            again.click()
        hands.page.wait_for_timeout(200)
    assert hands.page.locator(what).count(), hands.page.inner_text("main")


def way(hands, table="people.csv", columns=COLUMNS, folder="release", **promised):
    """Go the whole way; yields the name of each state once it is shown."""
    yield "1-file"
    begin(hands, table)
    yield "2-data"
    declare(hands, columns)
    yield "2-data-declared"
    go_on(hands)
    yield "3-promise"
    promise(hands, **promised)
    yield "4-trade-off"
    draw(hands, folder)
    yield "5-release"
