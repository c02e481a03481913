"""Dates that are written otherwise than YYYY-MM-DD are seen, and named with the remedy."""

import polars as pl
import pytest

import microveil as mv
from command import run

WAYS = {
    "points": "{d:02d}.{m:02d}.{y}",
    "no zeros": "{d}.{m}.{y}",
    "slashes": "{d:02d}/{m:02d}/{y}",
    "month first": "{m}/{d}/{y}",
    "hyphens": "{d:02d}-{m:02d}-{y}",
    "year first": "{y}/{m:02d}/{d:02d}",
    "with a time": "{d:02d}.{m:02d}.{y} 12:30",
}
NAMED = "looks like dates that are not written YYYY-MM-DD"


def born(way):
    return [way.format(d=1 + i % 28, m=1 + i % 12, y=1950 + i % 40) for i in range(60)]


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_dates_of_other_ways_are_named(tmp_path, way):
    """`inspect`, `protect` and `assess` say that text looks like dates, and how to write them."""
    dates = born(way)
    pl.DataFrame({"AGE": [20 + i % 30 for i in range(60)], "BORN": dates}).write_csv(
        tmp_path / "people.csv"
    )
    assert NAMED in " ".join(run("inspect", "people.csv", folder=tmp_path).stderr.split())
    asked = ["--method", "dp-um", "--k", "5", "--epsilon", "1", "--bounds", "AGE=0:120"]
    bounds = ["--attributes", "AGE,BORN", "--bounds", "BORN=1900-01-01:2020-12-31"]
    done = run("protect", "people.csv", *asked, *bounds, "-o", "out", folder=tmp_path)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert "'BORN'" in done.stderr
    assert NAMED in done.stderr
    assert not any(date in done.stderr for date in dates)
    done = run("protect", "people.csv", *asked, "-o", "out", folder=tmp_path)
    assert NAMED in done.stdout.partition("For the custodian, not for logs")[2]
    done = run("assess", "people.csv", "people.csv", folder=tmp_path)
    assert NAMED in " ".join(done.stdout.split())


@pytest.mark.parametrize("method", ["dp-um", "dp-synthetic"])
def test_dates_in_a_frame_are_named(method):
    """A frame's text with such dates is refused too, whatever bounds are declared."""
    table, k = pl.DataFrame({"BORN": born(WAYS["points"])}), 5 if method == "dp-um" else None
    for bounds in ({}, {"BORN": ("1900-01-01", "2020-12-31")}, {"BORN": ("1.1.1900", "1.1.2020")}):
        with pytest.raises(mv.DataError, match=NAMED):
            mv.protect(table, method=method, k=k, epsilon=1, attributes="BORN", bounds=bounds)


@pytest.mark.parametrize(
    "words",
    [["1.2.3", "4.10.12345"], ["12-34", "10.1"], ["192.168.1.10", "10.0.0.1"], ["1/2", "3/4"]],
)
def test_other_words_are_no_dates(tmp_path, words):
    """Version numbers, house numbers and addresses are not taken for dates."""
    pl.DataFrame({"AGE": [20, 30], "T": words}).write_csv(tmp_path / "people.csv")
    assert NAMED not in " ".join(run("inspect", "people.csv", folder=tmp_path).stderr.split())


def test_dates_that_come_out_otherwise_are_named(tmp_path):
    """A release writes YYYY-MM-DD: a note says so of files that have them in another order."""
    table = pl.DataFrame({"AGE": [20 + i % 30 for i in range(60)], "BORN": born(WAYS["points"])})
    table.write_csv(tmp_path / "people.csv")
    asked = ["--dates", "DMY", "--method", "mdav", "--k", "5", "--attributes"]
    said = "Dates are written as YYYY-MM-DD and not as in the file (DMY), in: BORN."
    done = run("protect", "people.csv", *asked, "AGE,BORN", "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert said in done.stderr
    assert pl.read_csv(tmp_path / "out" / "data.csv", try_parse_dates=True).dtypes[1] == pl.Date
    for more in (["AGE", "-o", "none"], ["AGE,BORN", "--format", "parquet", "-o", "typed"]):
        done = run("protect", "people.csv", *asked, *more, folder=tmp_path)
        assert done.returncode == 0, done.stderr
        assert "Dates are written" not in done.stderr
