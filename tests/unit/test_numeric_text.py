"""Text that looks like numbers is never taken as text in silence."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from command import run
from microveil.table import numeric_look_of, open_table
from microveil.table.numeric_text import numeric_look

# Ways in which a number is written that keep a column text, by the words that name them.
LOOKS = {
    "thousands separators": ["71,234", "1.234.567", "12.345,5", "7 654", "8'765.4", "3\u202f210"],
    "currency or percent signs": ["€ 71.5", "71 EUR", "$71", "-£71", "71 %"],
    "words among them": ["refused", "NA"],
    "leading zeros": ["00715", "0715"],
    "decimal commas": ["71,5", ",5"],
}
CASES = [(what, cell) for what, cells in LOOKS.items() for cell in cells]


@pytest.mark.parametrize(("what", "cell"), CASES)
def test_what_keeps_numbers_from_being_read_is_named(what, cell):
    """Among plain numbers each way of writing is named, alone, and without the cell."""
    found = numeric_look(["12", cell, "34.5", "18"])
    assert [name for name in LOOKS if name in found] == [what]
    assert cell not in found


@pytest.mark.parametrize(
    "cells",
    [
        ["north", "south", "north"],
        ["2020-01-02", "2021-11-30"],
        ["12-34", "AB12", "7b"],
        ["12", "north", "south", "east"],
        ["USD", "EUR"],
        ["", " "],
        [],
    ],
)
def test_text_is_left_alone(cells):
    """Words, dates, house numbers and a number alone among words look like no numbers."""
    assert numeric_look(cells) is None


@given(st.lists(st.text(max_size=80), max_size=12))
def test_no_cell_is_quoted(cells):
    """Whatever the cells are, there is one of a few answers, made of our words alone."""
    found = numeric_look(cells)
    assert found is None or not any(sign.isdigit() for sign in found)


AMOUNTS = ["1,234", "12,345", "999", "4,700", "81,234", "7,650"]


@pytest.mark.parametrize(
    "table",
    [
        {"INCOME": np.array(AMOUNTS), "AGE": np.arange(6)},
        pd.DataFrame({"INCOME": AMOUNTS, "AGE": range(6)}),
        pl.DataFrame({"INCOME": AMOUNTS, "AGE": range(6)}),
        pa.table({"INCOME": AMOUNTS, "AGE": range(6)}),
    ],
    ids=["arrays", "pandas", "polars", "pyarrow"],
)
def test_every_kind_of_frame_is_looked_at(table):
    """Such text is refused with the remedy, whatever library holds it and whatever is declared."""
    assert "thousands separators" in numeric_look_of(open_table(table), "INCOME")
    assert numeric_look_of(open_table(table), "AGE") is None
    for method in ("dp-um", "dp-synthetic"):
        k = 3 if method == "dp-um" else None
        for bounds in ({}, {"INCOME": (0, 9)}, {"INCOME": ("0", "9")}):
            with pytest.raises(mv.DataError, match="thousands separators") as refused:
                mv.protect(table, method=method, k=k, epsilon=1, attributes="INCOME", bounds=bounds)
            assert not any(cell in str(refused.value) for cell in AMOUNTS)


def test_listed_categories_may_look_like_numbers():
    """Text whose categories are declared is taken as they are, numbers or not."""
    table = {"CODE": np.array(["007", "042"] * 20), "YES": np.array(["0", "1"] * 20)}
    release = mv.protect(
        table,
        method="pram",
        epsilon=1,
        attributes=["CODE", "YES"],
        categories={"CODE": ["007", "042"]},
        bounds={"YES": ["0", "1"]},
    )
    assert set(release.data["CODE"]) <= {"007", "042"}


@pytest.fixture
def folder(tmp_path):
    """A folder with a file whose AGE are numbers and whose other columns are nearly so."""
    rows = ["AGE;INCOME;RENT;HOURS;ZIP"]
    for i in range(60):
        income = f"{1 + i % 9} {100 + i * 7:03d}"
        hours = "refused" if i % 4 == 0 else f"{20 + i % 17}"
        rows.append(f"{20 + i % 30};{income};€ {300 + i % 40};{hours};0{1000 + i * 91}")
    (tmp_path / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return tmp_path


NAMED = {
    "INCOME": "thousands separators",
    "RENT": "currency or percent signs",
    "HOURS": "words among them",
    "ZIP": "leading zeros",
}


def test_inspect_names_it_to_the_custodian(folder):
    """What keeps a column from being numbers: in the recipe where values are asked for alone."""
    # Where kinds are learnt "refused" is a missing value among numbers.
    asked = ["inspect", "people.csv", "--separator", ";", "--method", "idp-cbls"]
    told = run(*asked, folder=folder)
    assert all(what in " ".join(told.stderr.split()) for what in NAMED.values())
    assert not any(what in told.stdout for what in NAMED.values())
    shown = run(*asked, "--show-values", folder=folder).stdout
    for name, what in NAMED.items():
        part = shown.partition(f"[attributes.{name}]")[2].partition("[attributes.")[0]
        assert what in part.partition("type = ")[0]
    age = shown.partition("[attributes.AGE]")[2].partition("[attributes.")[0]
    assert "looks like" not in age


def test_protect_names_it_to_the_custodian_where_it_is_left_out(folder):
    """Where nobody named the attributes, each such column left out is named, to nobody else."""
    given = ["--method", "dp-um", "--k", "5", "--epsilon", "1", "--bounds", "AGE=0:120"]
    done = run("protect", "people.csv", *given, "--separator", ";", "-o", "out", folder=folder)
    assert done.returncode == 0, done.stderr
    own = done.stdout.partition("For the custodian, not for logs")[2]
    for name, what in NAMED.items():
        assert any(f"'{name}'" in line and what in line for line in own.splitlines())
    public = "".join(path.read_text("utf-8") for path in (folder / "out").iterdir())
    assert "looks like" not in public + done.stderr


def test_assess_names_it(folder):
    """The assessment of a file says which columns it took as text and why."""
    given = ["assess", "people.csv", "people.csv", "--separator", ";"]
    shown = " ".join(run(*given, folder=folder).stdout.split())
    for name, what in NAMED.items():
        assert f"taken as text: {name}; its text looks like numbers with {what}" in shown
    assert "taken as text: AGE" not in shown


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_codes_with_zeros_in_front_are_learnt_as_text(frame):
    """As those of a text file are; plain numbers that are text are refused."""
    ages, codes = [20, 30, 40, 50] * 250, ["01067", "80331"] * 500
    asked = {"epsilon": 3, "delta": 1e-9}
    released = mv.protect(frame({"AGE": ages, "CODE": codes}), **asked).data
    assert {*released["CODE"]} == {*codes}
    with pytest.raises(mv.MicroveilError, match="convert it to a column of numbers"):
        mv.protect(frame({"AGE": ages, "CODE": ["10", "20"] * 500}), **asked)
