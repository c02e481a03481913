"""The whole way of a steward over the six steps, on a table invented for it."""

import datetime
import random
import time

from steward import SECONDS

__all__ = ["COLUMNS", "begin", "choose_option", "declare", "draw", "people", "promise", "way"]

REGIONS = ("North", "East", "South", "West")
DEGREES = ("primary", "secondary", "degree")
MOST_IN_HOUSEHOLD = 3
# What is publicly known of the columns of `people`, by the fields of the page.
COLUMNS = {
    "PERSON": {"role": "identifier"},
    "HOUSEHOLD": {"role": "identifier"},
    "WEIGHT": {"role": "weight"},
    "AGE": {"role": "quasi-identifier", "lower": "16", "upper": "110"},
    "WAGE": {
        "role": "confidential",
        "lower": "0",
        "upper": "20000",
        "resolution": "0.01",
        "codes": "-9",
    },
    "ASKED": {"role": "quasi-identifier", "lower": "2024-01-01", "upper": "2024-12-31"},
    "REGION": {"role": "quasi-identifier", "categories": "\n".join(REGIONS)},
    "EDUCATION": {"role": "confidential", "categories": "\n".join(DEGREES), "ordered": True},
    "CITIZEN": {"role": "confidential"},
}


def people(path, n_records=3000, seed=5):
    """Write a table of invented people of households, with a weight, dates, text and a code."""
    draw = random.Random(seed)
    lines = [",".join(COLUMNS)]
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


def begin(hands, name="people.csv"):
    """Take a table, and wait until it was looked at."""
    hands.press(f"text=Take {name}")
    wait(hands, "form fieldset.column")


def declare(hands, columns=COLUMNS):
    """Declare the columns, one field after another as they stand, all at once in the end."""
    for number, (_, fields) in enumerate(columns.items()):
        for field, value in fields.items():
            what = f"#{field}-{number}"
            if field in {"categories", "codes"} and not hands.page.locator(what).is_visible():
                hands.press(f"fieldset.column:nth-of-type({number + 1}) summary")
            if field in {"role", "type"}:
                if hands.page.locator(what).input_value() != value:
                    hands.choose(what, value)
            elif value is True:
                hands.tick(what)
            else:
                hands.write(what, value)
    hands.press("button[name=all]")
    arrive(hands, "promise")


def promise(hands, unit="HOUSEHOLD", max_rows=3, scope="row", epsilon="1", missing=""):
    """Say who is protected, what may be looked at and how much one may change."""
    if unit is None:
        hands.tick("#who-record")
    else:
        hands.tick("#who-unit")
        hands.choose("#unit", unit)
        hands.write("#max_rows", f"{max_rows}")
    if missing:
        hands.choose("#missing", missing)
    hands.tick(f"#scope-{scope}")
    hands.write("#epsilon", epsilon)
    hands.press("text=Save and go on")
    arrive(hands, "trade-off")


def advise(hands):
    """Ask what to expect."""
    hands.press("text=Work out what to expect")
    wait(hands, "table.options")


def choose_option(hands):
    """Go on with what was asked for."""
    hands.press("text=Take this one and go on")
    arrive(hands, "release")


def draw(hands, folder="release"):
    """Draw and write; the result follows."""
    if hands.page.locator("#folder").input_value() != folder:
        hands.write("#folder", folder)
    hands.press("text=Draw and write")
    wait(hands, "#guarantee")
    arrive(hands, "result")


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
    again = hands.page.locator("noscript a")  # there only where scripts are not run
    ends = time.monotonic() + SECONDS
    while not ended.count():
        assert time.monotonic() < ends, hands.page.inner_text("main")
        if again.count():
            again.click()
        hands.page.wait_for_timeout(200)
    assert hands.page.locator(what).count(), hands.page.inner_text("main")


def way(hands, table="people.csv", columns=COLUMNS, folder="release"):
    """Go the whole way; yields the name of each state once it is shown."""
    yield "1-file"
    begin(hands, table)
    yield "2-columns"
    declare(hands, columns)
    yield "3-promise"
    promise(hands, missing="protect")
    yield "4-trade-off"
    advise(hands)
    yield "4-trade-off-figures"
    choose_option(hands)
    yield "5-release"
    draw(hands, folder)
    yield "6-result"
