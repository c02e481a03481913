"""`dp-synthetic` with a target, where a table of an attribute would be too large to measure."""

import json

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run

SIZES = {"A": 60, "B": 60, "C": 2000}
NAMES = ["T", *SIZES]
# Both of these attributes and the target make 2 * 60 * 2000 cells, more than a model takes.
LISTS = {
    "T": ["a", "b"],
    **{name: [f"{name}{one:04}" for one in range(size)] for name, size in SIZES.items()},
}


def people(n=4000):
    """Return records in which every category occurs; A follows the target."""
    number = np.arange(n)
    places = {"A": number % 60, "B": number * 7 // 11 % 60, "C": number % 2000}
    columns = {name: [LISTS[name][one] for one in own] for name, own in places.items()}
    return pl.DataFrame({"T": ["ab"[int(one % 60 < 30)] for one in number], **columns})


ASKED = {
    "method": "dp-synthetic",
    "epsilon": 500,
    "attributes": NAMES,
    "categories": LISTS,
    "target": "T",
}


@pytest.mark.parametrize("is_lazy", [False, True])
def test_tables_that_no_budget_can_be_spent_on_are_left_out(is_lazy):
    """Choosing stops: what joins is measured, and every attribute is released all the same."""
    release = mv.protect(people().lazy() if is_lazy else people(), **ASKED)
    data = release.data.lazy().collect()
    assert data.columns == NAMES
    assert all(set(data[name]) <= set(LISTS[name]) for name in NAMES)
    assert release.guarantee.epsilon == 500
    written = release.measurements.to_dict()["tables"]
    assert [table["attributes"] for table in written] == [["T", "A", "B"]]
    # The table that was measured tells of the target: in the original all are.
    a_of_a = data.filter(pl.col("T") == "a")["A"]
    assert (a_of_a >= "A0030").mean() > 0.95


def test_such_a_release_is_written_and_audited(tmp_path):
    """Its measurements name the one table, and the audit finds no more than the epsilon."""
    people().write_csv(tmp_path / "people.csv")
    lists = [f"--categories={name}={','.join(words)}" for name, words in LISTS.items()]
    made = run(
        "protect", "people.csv", "-o", "out", "--method", "dp-synthetic", "--epsilon", "500",
        "--attributes", ",".join(NAMES), *lists, "--target", "T", "--with-measurements",
        folder=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    measured = json.loads((tmp_path / "out" / "measurements.json").read_text())
    assert [table["attributes"] for table in measured["tables"]] == [["T", "A", "B"]]
    audit = run("audit", "people.csv", "out", "--json", folder=tmp_path)
    assert audit.returncode == 0, audit.stderr
    assert "epsilon 500" in run("audit", "people.csv", "out", folder=tmp_path).stdout


def test_choosing_goes_on_until_nothing_more_fits():
    """Of four attributes beside the target three have tables that fit: two tables join them."""
    table = people().with_columns(D=pl.Series([f"D{one // 5 % 50:04}" for one in range(4000)]))
    listed = {**LISTS, "D": [f"D{one:04}" for one in range(50)]}
    asked = {**ASKED, "attributes": [*NAMES, "D"], "categories": listed}
    measured = mv.protect(table, **asked).measurements.to_dict()["tables"]
    assert len(measured) == 2
    assert all("T" in one["attributes"] and "C" not in one["attributes"] for one in measured)
