"""Columns that are declared never to lack a value have none missing in a release."""

import sqlite3

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.methods import METHODS

N = 600
RANDOM = np.random.default_rng(7)
PEOPLE = pl.DataFrame(
    {
        "WAGE": RANDOM.integers(0, 10, N),
        "AGE": [None if record % 3 else int(record % 90) for record in range(N)],
        "SEX": RANDOM.choice(["f", "m"], N),
    }
)
DECLARED = {"bounds": {"WAGE": (0, 9), "AGE": (0, 90)}, "categories": {"SEX": ["f", "m"]}}
ASKED = {"attributes": ["WAGE", "AGE", "SEX"], "epsilon": 4, **DECLARED}
HIDING = ["pram", "dp-synthetic"]
RECIPE = """
microveil = "0.2"
method = "{method}"
epsilon = 4
missing = "protect"

[attributes.WAGE]
role = "confidential"
type = "whole number"
bounds = [0, 9]
missing = "never"

[attributes.AGE]
role = "confidential"
type = "whole number"
bounds = [0, 90]
"""


def lacking(data):
    """Return the columns that lack a value somewhere."""
    return {name for name in data.columns if data[name].null_count()}


@pytest.mark.parametrize("method", HIDING)
def test_a_declared_column_has_no_missing_cells_beside_others_that_have(method):
    """However it is declared: by a list, or by column where a recipe protects the others."""
    asked = {**ASKED, "method": method, "missing": "protect"}
    assert lacking(mv.protect(PEOPLE, **asked, never_missing=["WAGE", "SEX"]).data) == {"AGE"}
    recipe = {"missing": "protect"}
    asked["missing"] = {"WAGE": "never", "SEX": "never"}
    release = mv.protect(PEOPLE, recipe=recipe, **asked)
    assert lacking(release.data) == {"AGE"}
    assert "No cell of WAGE, SEX may be missing: such a table is refused." in (
        release.guarantee.notes
    )


def test_a_part_says_it_of_its_own_columns():
    """And the table of all of them."""
    parts = [
        mv.part(["WAGE", "AGE"], method="pram", epsilon=1),
        mv.part("SEX", method="pram", epsilon=1, missing="protect"),
    ]
    data = mv.protect(
        PEOPLE, parts=parts, missing="protect", never_missing=["WAGE"], **DECLARED
    ).data
    assert lacking(data) == {"AGE", "SEX"}


@pytest.mark.parametrize("method", HIDING)
def test_recipes_and_flags_say_it_too(tmp_path, method):
    """Missing = "never" in a column's entry, --never-missing with commas; an audit asks alike."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    (tmp_path / "recipe.toml").write_text(RECIPE.format(method=method))
    done = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "one", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert lacking(mv.read(tmp_path / "one/data.csv").frame) == {"AGE"}
    flags = ("--bounds", "WAGE=0:9", "--bounds", "AGE=0:90", "--categories", "SEX=f,m")
    flags += ("--attributes", "WAGE,AGE,SEX", "--missing", "protect", "--epsilon", "4")
    flags += ("--never-missing", "WAGE,SEX", "--method", method)
    done = run("protect", "people.csv", *flags, "-o", "two", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert lacking(mv.read(tmp_path / "two/data.csv").frame) == {"AGE"}
    assert run("audit", "two", folder=tmp_path).returncode == 0


@pytest.mark.parametrize("method", HIDING)
@pytest.mark.parametrize("outside", ["error", "clamp"])
def test_a_table_that_lacks_such_a_value_is_refused(method, outside):
    """With place, rule and remedy, and no value: no missing cell has a nearest bound."""
    asked = {**ASKED, "method": method, "missing": "protect", "outside": outside}
    with pytest.raises(mv.DataError) as refused:
        mv.protect(PEOPLE, **asked, never_missing=["AGE"])
    assert str(refused.value) == (
        "attribute 'AGE', 400 records, the first record 2: a value is missing, and the column is "
        "declared never to lack one; complete it, or take the column out of never_missing "
        '(--never-missing; in a recipe the entry missing = "never").'
    )
    asked["bounds"] = {**DECLARED["bounds"], "WAGE": (1, 9)}
    codes = {"missing_codes": {"WAGE": 0}, "never_missing": ["WAGE"]}
    with pytest.raises(mv.DataError, match=r"attribute 'WAGE', .* declared never to lack one"):
        mv.protect(PEOPLE, **asked, **codes)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "dp-synthetic"])
def test_beside_kept_missing_cells_it_holds_or_is_refused(method):
    """Methods that empty whole records refuse it: a declared column never comes out with gaps."""
    asked = {"attributes": ["WAGE", "AGE"], "epsilon": 1, "bounds": DECLARED["bounds"]}
    asked |= {"exact_cells": "allow", "k": 5, "missing": "keep", "never_missing": ["WAGE"]}
    if METHODS[method].uses("blocks"):
        with pytest.raises(mv.RequestError, match="never_missing"):
            mv.protect(PEOPLE, method=method, **asked)
        return
    assert lacking(mv.protect(PEOPLE, method=method, **asked).data) == {"AGE"}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"missing": {"WAGE": "protect"}}, "by column it says that a value is never missing"),
        ({"missing": {"WAGGE": "never"}}, "column 'WAGGE': the table has no such column"),
        ({"never_missing": ["AGE"], "attributes": ["WAGE"]}, "it is no protected attribute"),
        ({"never_missing": "WAGE,AGE"}, "column 'WAGE,AGE': the table has no such column"),
        ({"never_missing": 3}, "columns are named by text"),
    ],
)
def test_what_cannot_be_meant_is_refused(wrong, said):
    """Another mode by column, a column that is not there, or that is not protected."""
    with pytest.raises(mv.RequestError, match=said):
        mv.protect(
            PEOPLE, method="pram", **{**ASKED, "categories": {}, "attributes": ["WAGE"], **wrong}
        )


def test_sqlite_says_it_by_not_null(tmp_path):
    """What a table declares NOT NULL never lacks a value: its release lacks none either."""
    with sqlite3.connect(tmp_path / "people.db") as database:
        database.execute("CREATE TABLE people (WAGE INTEGER NOT NULL, AGE INTEGER)")
        rows = PEOPLE.select("WAGE", "AGE").rows()
        database.executemany("INSERT INTO people VALUES (?, ?)", rows)
    database.close()
    flags = ("--bounds", "WAGE=0:9", "--bounds", "AGE=0:90", "--attributes", "WAGE,AGE")
    flags += ("--missing", "protect", "--epsilon", "1", "--method", "pram")
    done = run("protect", "people.db", *flags, "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert lacking(mv.read(tmp_path / "out/data.db").frame) == {"AGE"}
    assert "No cell of WAGE may be missing" in (tmp_path / "out/guarantee.md").read_text()
    assert run("audit", "out", folder=tmp_path).returncode == 0


@pytest.mark.parametrize("method", ["pram", "laplace", "mdav"])
def test_no_code_of_a_missing_answer_lies_in_a_domain_that_is_never_missing(method):
    """A mean or a draw that equals the code would be read as missing."""
    asked = {"method": method, "attributes": ["WAGE"], "bounds": {"WAGE": (0, 12)}}
    asked |= {"k": 3} if method == "mdav" else {"epsilon": 1}
    for code in (11, 12):
        with pytest.raises(mv.RequestError, match="would be read as missing"):
            mv.protect(PEOPLE, **asked, missing_codes={"WAGE": [code]}, never_missing=["WAGE"])
    release = mv.protect(PEOPLE, **asked, missing_codes={"WAGE": [-9]}, never_missing=["WAGE"])
    assert lacking(release.data) == set()
