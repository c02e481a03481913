"""Reports on columns that were learnt: as numbers and dates, and none of what is left out."""

import datetime

import numpy as np
import polars as pl
import pytest

from command import run
from html_page import read
from microveil.commands.files import protect_file
from microveil.commands.measuring import assess_files, attack_files
from microveil.noise.noise import RandomSource

BUDGET = {"epsilon": 3, "delta": 1e-9}
N = 1500


def people():
    """Invented people: a number that nobody shares, and a column of each kind."""
    random = np.random.Generator(np.random.PCG64(5))
    first = datetime.date(1935, 1, 1)
    return pl.DataFrame(
        {
            "TICKET": [f"S{number:05}" for number in range(N)],
            "HEIGHT": random.normal(1.69, 0.1, N).round(2),
            "BORN": [first + datetime.timedelta(int(day)) for day in random.integers(0, 25_000, N)],
            "OWNS": random.random(N) < 0.4,
            "SEX": random.choice(["f", "m"], N),
        }
    )


def written(folder, form):
    path = folder / f"people.{form}"
    table = people()
    table.write_csv(path) if form == "csv" else table.write_parquet(path)
    return path


@pytest.fixture(scope="module", params=["csv", "parquet"])
def released(request, tmp_path_factory):
    """A file, the folder of its release, and that: with every page that there is."""
    folder = tmp_path_factory.mktemp(request.param)
    path = written(folder, request.param)
    pages = {"public_report": True, "custodian_report": True, "with_measurements": True}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(RandomSource, "system", lambda: RandomSource.seeded(3))
        release = protect_file(path, folder / "out", **BUDGET, **pages)
    return path, folder / "out", release


def rows_under(page, *heads):
    """The rows of every table whose heads begin so."""
    found = ([[cell.text for cell in row.all("th", "td")] for row in table.all("tr")]
             for table in page.all("table"))  # fmt: skip
    return [row for first, *rows in found if first[: len(heads)] == [*heads] for row in rows]


def test_what_was_left_out_is_in_no_page_and_stops_none(released):
    """Its measurements are there, its cells are not: pages, charts and measures go without."""
    path, folder, release = released
    assert "TICKET" not in release.data.columns
    assert "TICKET" in release.margins().attributes
    names = [own.attribute.name for own in release.measurements.attributes]
    assert any(names.index("TICKET") in scope for scope in release.measurements.tables)
    custodian = read((folder.with_name("out-custodian") / "report.html").read_text())
    assert "Not released: TICKET." in custodian.text
    for page in (custodian, read((folder / "report.html").read_text())):
        measured = [row[0] for row in rows_under(page, "pair", "strength")]
        assert measured
        assert not [pair for pair in measured if "TICKET" in pair]
    charts = release.plot().to_dict()["concat"]
    assert len(charts) >= 4
    found = assess_files(path, folder, text=None, by=["SEX"])
    assert "TICKET" in found.left_out
    assert {*found.column_moves} == {"HEIGHT", "BORN", "OWNS", "SEX"}
    assert attack_files(path, folder).left_out == ("TICKET",)
    audited = run("audit", path, folder, folder=folder.parent)
    assert audited.returncode == 0
    assert "TICKET" in audited.stdout


def test_learnt_columns_are_reported_as_what_they_are(released):
    """Numbers by quantiles, dates by days of the calendar, in each file and on each page."""
    _, folder, release = released
    custodian = read((folder.with_name("out-custodian") / "report.html").read_text())
    rows = {row[0]: row for row in rows_under(custodian, "column", "values")}
    kinds = {name: rows[name][1] for name in release.data.columns}
    assert kinds == {"HEIGHT": "decimal", "BORN": "date", "OWNS": "categories", "SEX": "categories"}
    # Means before and after, and as it was measured.
    assert all(rows["BORN"][place].startswith("19") for place in (4, 5, -1))
    assert all(rows["HEIGHT"][place].startswith("1.") for place in (4, 5, -1))
    # Two samples of one law differ by about 1.36 * sqrt(2 / n) at most.
    for name in ("HEIGHT", "BORN"):
        assert 0.04 < float(rows[name][3]) < 0.06
    public = read((folder / "report.html").read_text())
    means = {row[0]: row[1:] for row in rows_under(public, "mean of")}
    assert {*means} == {"HEIGHT", "BORN"}
    assert all(cell.startswith("19") for cell in means["BORN"])
    for page in (custodian, public):
        heads = [next(table.all("th")).text for table in page.all("table")]
        assert heads.count("quantiles") == 2
        assert heads.count("measured: share below, %") == 2
        assert heads.count("records in a category, %") == 2
    axes = [str(chart["encoding"]["x"]) for chart in _charts(release.plot("BORN").to_dict())]
    assert any("date" in axis for axis in axes)


def _charts(spec):
    """The charts of a picture that have an axis."""
    below = [own for key in ("concat", "layer", "vconcat") for own in spec.get(key, ())]
    own = [spec] if "x" in spec.get("encoding", {}) else []
    return own + [chart for one in below for chart in _charts(one)]
