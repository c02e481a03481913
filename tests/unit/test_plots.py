"""What a notebook shows of a release, an assessment and advice."""

import json
import pickle
import re

import altair
import numpy as np
import polars
import pytest

import microveil as mv
from microveil.errors import RequestError

CANARY = "canary-7391"
IS_DRAWN = True  # pictures are looked at here
N = 600


@pytest.fixture(scope="module")
def people():
    """Invented people; one town and one income are nobody else's, and a column is not released."""
    people = mv.invented_people(N)
    towns = np.array(["East", "West"])[np.arange(N) % 2].astype(object)
    income = people["INCOME"].to_numpy().copy()
    income[0] = 73_917_391.25
    return people.select("AGE", "HOUSEHOLD").with_columns(
        INCOME=polars.Series(income), TOWN=polars.Series(towns.tolist()), NOTE=polars.lit(CANARY)
    )


@pytest.fixture(scope="module")
def release(people):
    return mv.protect(
        people,
        method="dp-synthetic",
        epsilon=20,
        attributes=["AGE", "INCOME", "HOUSEHOLD", "TOWN"],
        bounds={
            "AGE": (0, 120), "INCOME": (0, 400_000), "HOUSEHOLD": (1, 10), "TOWN": ["East", "West"],
        },
        resolution={"INCOME": 0.01},
        outside="clamp",
    )  # fmt: skip


@pytest.fixture(scope="module")
def assessment(people, release):
    return mv.assess(people, release)


# A notebook's cells, each of whose last lines is shown.
CELLS = """
import microveil as mv
release
#
release.plot()
#
release.plot("AGE")
#
release.plot("AGE", "TOWN")
#
release.plot(original=people)
#
assessment
#
assessment.plot()
#
mv.advise(people, method="laplace", epsilon=1, attributes=["AGE"], bounds={"AGE": (0, 120)}).plot()
"""


def shown_by(value):
    """What a notebook takes of a value: HTML, or Vega-Lite."""
    if hasattr(value, "_repr_mimebundle_"):
        value.to_dict()  # as it is when it is shown: Altair checks it by the schema
        return json.dumps(value.to_dict())
    return value._repr_html_()


def test_the_cells_of_a_notebook_run_and_show_something(people, release, assessment):
    """Each of them ends with what is shown: a promise, charts of Altair's, a picture."""
    names = {"people": people, "release": release, "assessment": assessment}
    shown = []
    for cell in CELLS.split("\n#\n"):
        *lines, last = cell.strip().splitlines()
        exec("\n".join(lines), names)  # noqa: S102 -- as a notebook does
        shown.append(shown_by(eval(last, names)))  # noqa: S307
    promise, every, age, pair, moved, first, plotted, advised = shown
    assert "differential privacy" in promise
    assert len(json.loads(every)["concat"]) == 6
    assert "AGE" in age
    assert "TOWN" in pair
    assert "sampling" in moved
    assert "<svg" in first
    assert "Assessment of 600 records" in first
    assert len(json.loads(plotted)["concat"]) == 3
    assert "laplace" in advised


def test_a_release_shows_nothing_that_its_original_alone_holds(release):
    """Printed, shown or pickled: neither a value, nor a column, that was not released."""
    again = pickle.loads(pickle.dumps(release))  # noqa: S301 -- its own
    for own in (release, again):
        shown = [repr(own), own._repr_html_(), *(shown_by(own.plot(*names)) for names in (
            (), ("AGE",), ("INCOME", "TOWN")))]  # fmt: skip
        for text in shown:
            assert CANARY not in text
            assert "73917391" not in re.sub(r"[,. ]", "", text)
            assert "original" not in text.replace("noisy counts of the original", "")


def test_public_errors_are_drawn_where_they_are_known(release):
    """Around measured quantiles of a new table; without measurements there are none."""
    assert '"upper"' in shown_by(release.plot("AGE"))
    shuffled = mv.protect(
        {"AGE": np.arange(100)}, method="mdav", k=3, attributes="AGE", shuffle=True
    )
    assert '"upper"' not in shown_by(shuffled.plot("AGE"))


def test_a_pair_is_drawn_by_the_shares_of_its_records(release):
    """Of household sizes, which have a level each, and towns."""
    drawn = release.plot("HOUSEHOLD", "TOWN").to_dict()
    rows = drawn["data"].get("values") or drawn["datasets"][drawn["data"]["name"]]
    # Each share has six digits.
    assert sum(row["share"] for row in rows) == pytest.approx(100, abs=1e-3)
    for row in rows:
        size, town = int(row["one"].removeprefix("from ")), row["other"]
        own = release.data.filter((polars.col("HOUSEHOLD") == size) & (polars.col("TOWN") == town))
        share = 100 * len(own) / len(release.data)
        assert row["share"] == pytest.approx(share, rel=1e-5)


def test_what_cannot_be_plotted_is_refused_with_a_remedy(people, release):
    """Columns that are not released, three of them, or names with an original."""
    for names in (("NOTE",), ("AGE", "INCOME", "TOWN")):
        with pytest.raises(RequestError, match="choose from AGE, HOUSEHOLD, INCOME, TOWN"):
            release.plot(*names)
    with pytest.raises(RequestError, match="leave out the names"):
        release.plot("AGE", original=people)


def test_of_a_column_that_was_left_out_it_is_said_that_it_was_not_released(people):
    """The guarantee names it, as nothing was learnt of it."""
    notes = polars.Series([f"note {number}" for number in range(N)])
    table = people.select("AGE", NOTE=notes)
    release = mv.protect(table, epsilon=1, delta=1e-6, attributes=["AGE", "NOTE"])
    assert release.data.columns == ["AGE"]
    with pytest.raises(RequestError, match="not released: NOTE; choose from AGE"):
        release.plot("NOTE")


def test_a_missing_library_is_named_with_what_brings_it(monkeypatch, people, release, assessment):
    """A chart is an error that says so; a page is made without charts, and says so too."""
    monkeypatch.setitem(__import__("sys").modules, "altair", None)
    with pytest.raises(RequestError, match=r"altair, .*pip install 'microveil\[report\]'"):
        release.plot("AGE")
    monkeypatch.setattr("microveil.report.shell.can_draw", lambda: False)
    monkeypatch.setattr("microveil.report.plots.can_draw", lambda: False)
    from microveil.report import custodian_report

    page = custodian_report(release, people, assessment)
    assert "<svg" not in page
    assert "microveil[report]" in page
    assert "<svg" not in assessment._repr_html_()


def test_a_report_is_its_owners_alone(tmp_path, people, release, assessment):
    """It is the custodian's page, and nobody else can read it."""
    path = release.report(
        tmp_path / "page.html", original=people, assessment=assessment, units={"AGE": "years"}
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert "For the custodian only" in path.read_text("utf-8")
    assert "AGE (years)" in path.read_text("utf-8")
    assert isinstance(assessment.plot(), altair.TopLevelMixin)
