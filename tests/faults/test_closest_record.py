"""The closest record is a finding only where enough rows have no gap, and says how many have."""

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.report import custodian_report

RANDOM = np.random.default_rng(0)


def with_gaps(n, n_complete):
    """Two columns of numbers, of which some records have both."""
    table = pl.DataFrame({"AGE": RANDOM.integers(18, 90, n), "PAY": RANDOM.normal(size=n)})
    return table.with_columns(
        PAY=pl.when(pl.int_range(n) < n_complete).then(pl.col("PAY")),
    )


@pytest.mark.parametrize(("rows", "records"), [(1, 300), (99, 300), (300, 2), (300, 99)])
def test_a_median_of_few_rows_is_left_out(tmp_path, rows, records):
    """Where fewer than 100 rows or records have no gap the headline says so instead."""
    before, after = with_gaps(300, records), with_gaps(300, rows)
    before.write_csv(tmp_path / "before.csv")
    after.write_csv(tmp_path / "after.csv")
    done = run("assess", "before.csv", "after.csv", "--shuffled", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    told = " ".join(done.stdout.split())
    why = f"only {rows} released rows and {records} records have no gap, and it takes 100 of each"
    assert f"closest record: not measured: {why}" in told
    assert "standard deviations from" not in told
    figures = mv.assess(before, after, paired=False).to_dict()["closest_records"]
    assert (figures["n_rows"], figures["n_records"]) == (rows, records)


@pytest.mark.parametrize(
    ("n", "complete", "basis"), [(300, 100, "100"), (3000, 2500, "1,000 of 2,500")]
)
def test_a_median_says_on_how_many_rows_it_rests(n, complete, basis):
    """From 100 rows without a gap on it is shown, beside their number."""
    found = mv.assess(with_gaps(n, complete), with_gaps(n, complete), paired=False)
    told = " ".join(found.to_text().split())
    said = "standard deviations from a released row to a person (half of"
    assert f"{said} {basis} released rows without gaps are nearer; from one person" in told


def test_the_custodians_page_leaves_it_out_too():
    """A release whose rows nearly all have a gap shows no distance on its page."""
    people = with_gaps(200, 40)
    release = mv.protect(
        people, method="dp-synthetic", epsilon=20, delta=1e-9, seed=1, missing="protect",
        attributes=["AGE", "PAY"],
        bounds={"AGE": (0, 120), "PAY": (-5, 5)}, resolution={"PAY": 0.1},
    )  # fmt: skip
    complete = release.data.drop_nulls().height
    assert complete < 100
    page = custodian_report(release, people)
    assert f"only {complete} released rows and 40 records have no gap" in page
    assert "standard deviations from" not in page
