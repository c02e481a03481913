"""Codebooks fill in what is publicly known of columns, and are refused for all that is wrong."""

import json
import tomllib

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run

CSV = """column,label,kind,lower,upper,resolution,codes
AGE,Age in years,whole number,16,110,,missing: -9=refused
SEX,,,,,,1=male; 2=female; 3
REGION,,text,,,,ordered: north=North; south=South
INCOME,"Net, a month",decimal,0,5000,0.01,missing: -1; missing: -2=unknown
BORN,,date,1900-01-01,2024-12-31,,
NOTE,,,,,,
"""
SCHEMA = {
    "fields": [
        {"name": "AGE", "type": "integer", "constraints": {"minimum": 16, "maximum": 110},
         "missingValues": ["", "-9"]},
        {"name": "SEX", "type": "integer", "categories": [
            {"value": 1, "label": "male"}, {"value": 2, "label": "female"}, {"value": 3}]},
        {"name": "REGION", "type": "string", "constraints": {"enum": ["north", "south"]}},
        {"name": "OF ANOTHER FILE", "type": "integer"},
    ]
}  # fmt: skip
DDI = """<?xml version="1.0"?>
<codeBook xmlns="ddi:codebook:2_5"><dataDscr>
<var name="AGE" intrvl="contin"><labl>Age</labl><valrng><range min="16" max="110"/></valrng>
<invalrng><range min="-9" max="-9"/></invalrng><catgry><catValu>110</catValu>
<labl>110 or more</labl></catgry><varFormat type="numeric"/></var>
<var name="SEX"><catgry><catValu>1</catValu><labl>male</labl></catgry>
<catgry><catValu>2</catValu></catgry><catgry><catValu>3</catValu></catgry>
<varFormat type="numeric"/></var>
<var name="REGION"><catgry><catValu>north</catValu></catgry>
<catgry><catValu>south</catValu></catgry>
<varFormat type="character"/></var>
<var name="INCOME" dcml="2"><valrng><range min="0" max="5000"/></valrng>
<invalrng><item VALUE="-1"/><item VALUE="-2"/></invalrng></var>
<var name="OF_ANOTHER_FILE"/></dataDscr></codeBook>
"""
KINDS = ["whole number", "whole number", "text", "decimal", "date"]
BY = ["--method", "dp-synthetic", "--epsilon", "900", "--delta", "1e-9", "--missing", "protect"]


def people():
    """Make a table that a codebook fits; two cells of AGE hold its code."""
    random = np.random.default_rng(3)
    n = 60
    born = random.integers(0, 20_000, n).astype("datetime64[D]")
    return pl.DataFrame(
        {
            "AGE": np.r_[-9, -9, random.integers(16, 90, n - 2)],
            "SEX": random.integers(1, 3, n),
            "REGION": random.choice(["north", "south"], n),
            "INCOME": random.integers(0, 400_000, n) / 100,
            "BORN": born,
            "NOTE": ["x"] * n,
        }
    )


def parameters(folder, name="out"):
    """Return the request that a manifest records."""
    manifest = next((folder / f"{name}-custodian").glob("*manifest*.json"))
    return json.loads(manifest.read_text())["parameters"]


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("book.csv", CSV, ["AGE", "SEX", "REGION", "INCOME", "BORN"]),
        ("book.json", json.dumps(SCHEMA), ["AGE", "SEX", "REGION"]),
        ("book.xml", DDI, ["AGE", "SEX", "REGION", "INCOME"]),
    ],
)
def test_a_codebook_declares_what_nobody_types(tmp_path, name, text, columns):
    """By a flag, in a recipe and in Python: each column's domain, step and missing codes."""
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / name).write_text(text)
    asked = [word for column in columns for word in ("--attributes", column)]
    done = run(
        "protect", "people.csv", *BY, *asked, "--codebook", name, "-o", "out", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    told = parameters(tmp_path)
    assert told["bounds"]["AGE"] == [16, 110]
    assert told["categories"]["SEX"] == [1, 2, 3]
    assert told["missing_codes"]["AGE"] == [-9]
    listed = told["categories"]["REGION"]
    assert listed == ({"ordered": ["north", "south"]} if name == "book.csv" else ["north", "south"])
    if "INCOME" in columns:
        assert told["missing_codes"]["INCOME"] == [-1, -2]
    guarantee = json.loads((tmp_path / "out" / "guarantee.json").read_text())
    assert "categories" not in {one["id"] for one in guarantee["conditions"]}
    recipe = "\n".join(
        ['method = "dp-synthetic"', "epsilon = 900", "delta = 1e-9", 'microveil = "0.2"',
         'missing = "protect"', f'codebook = "{name}"']
        + [f'[attributes.{column}]\nrole = "confidential"\ntype = "{kind}"'
           for column, kind in zip(columns, KINDS,
                                   strict=False)]
    )  # fmt: skip
    (tmp_path / "recipe.toml").write_text(recipe)
    done = run("protect", "people.csv", "--recipe", "recipe.toml", "-o", "two", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    again = parameters(tmp_path, "two")
    same = ("bounds", "categories", "missing_codes")
    assert [again[one] for one in same] == [told[one] for one in same]
    planned = mv.plan(
        people(), method="dp-synthetic", epsilon=900, delta=1e-9, missing="protect", seed=1,
        attributes=columns, codebook=tmp_path / name, bounds={"AGE": (0, 120)},
    )  # fmt: skip
    assert planned.guarantee is not None
    with pytest.raises(mv.RequestError, match="bounds"):  # what is said itself comes first
        mv.plan(
            people(), method="dp-um", k=3, epsilon=1, attributes=["AGE"],
            codebook=tmp_path / name, bounds={"AGE": (9, 0)},
        )  # fmt: skip


def test_all_that_is_wrong_with_a_codebook_is_said_by_line(tmp_path):
    """Unknown and doubled columns, bad kinds, bounds, steps and codes in one error."""
    bad = CSV + (
        "AGES,,,,,,\nAGE,,,,,,\nSEX2,,integer,,,,\n"
        "NOTE,,whole number,9,1,-1,\nNOTE,,whole number,soon,,,one=1\n"
    )
    (tmp_path / "book.csv").write_text(bad)
    with pytest.raises(mv.MicroveilError) as refused:
        mv.protect(people(), method="dp-um", codebook=tmp_path / "book.csv", scope="rows")
    lines = str(refused.value).splitlines()
    for number, rule in [
        (8, "no column 'AGES'"), (9, "'AGE' stands in it twice"), (10, "kind is none of"),
        (10, "no column 'SEX2'"), (11, "lower bound is above"), (11, "above 0"),
        (12, "'one' is none"), (12, "bounds are two"),
    ]:  # fmt: skip
        assert any(f"line {number}: " in line and rule in line for line in lines), (number, rule)
    # What the request lacks stands beside it.
    assert any(line.startswith("scope: ") for line in lines)
    assert {"  epsilon=...,", "  k=...,"} <= {*lines}


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("bomb.xml", '<!DOCTYPE x [<!ENTITY a "aaaa">]><codeBook>&a;</codeBook>',
         "document type"),
        ("broken.xml", "<codeBook><var", "no XML"),
        ("broken.json", '{"fields": 3}', "Table Schema"),
        ("headless.csv", "AGE,,\n", "first line"),
        ("open.csv", 'column\n"AGE\n', "line of a CSV"),
    ],
)  # fmt: skip
def test_what_is_no_codebook_is_refused(tmp_path, name, text, rule):
    """Nothing of another form is read as one, and no entity is expanded."""
    (tmp_path / name).write_text(text)
    with pytest.raises(mv.FileError, match=rule):
        mv.protect(people(), method="dp-um", k=3, epsilon=1, codebook=tmp_path / name)


def test_the_form_that_inspect_writes_has_kinds_and_nothing_seen(tmp_path):
    """Filled in as it stands it is a codebook."""
    people().write_csv(tmp_path / "people.csv")
    done = run("inspect", "people.csv", "--write-codebook", "book.csv", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    form = (tmp_path / "book.csv").read_text()
    assert form.splitlines() == [
        "column,label,kind,lower,upper,resolution,codes", "AGE,,whole number,,,,",
        "SEX,,whole number,,,,", "REGION,,text,,,,", "INCOME,,decimal,,,,", "BORN,,date,,,,",
        "NOTE,,text,,,,",
    ]  # fmt: skip
    assert (
        run("inspect", "people.csv", "--write-codebook", "book.csv", folder=tmp_path).returncode
        == 2
    )
    filled = form.replace("AGE,,whole number,,", "AGE,,whole number,-9,110").replace(
        "INCOME,,decimal,,,", "INCOME,,decimal,0,9000,0.01"
    )
    (tmp_path / "book.csv").write_text(filled)
    done = run(
        "protect", "people.csv", "--method", "dp-um", "--k", "3", "--epsilon", "1", "--attributes",
        "AGE,INCOME", "--codebook", "book.csv", "-o", "out", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_a_proposed_recipe_has_what_the_codebook_says(tmp_path):
    """Written out as declared: nothing of it is left to type."""
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "book.csv").write_text(CSV)
    command = "inspect", "people.csv", "--codebook", "book.csv", "--scope", "row", "-o", "r.toml"
    done = run(*command, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    entries = tomllib.loads((tmp_path / "r.toml").read_text())["attributes"]
    assert entries["AGE"]["bounds"] == [16, 110]
    assert entries["AGE"]["missing_codes"] == [-9]
    assert (entries["SEX"]["categories"], entries["INCOME"]["resolution"]) == ([1, 2, 3], 0.01)
    region = entries["REGION"]
    assert (region["categories"], region["ordered"]) == (["north", "south"], True)
    (tmp_path / "book.csv").write_text(CSV + "AGES,,,,,,\n")
    assert "no column 'AGES'" in run(*command, folder=tmp_path).stderr


def test_other_verbs_take_what_a_codebook_declares(tmp_path):
    """Advice, an audit and a comparison need no bounds beside it; without it they do."""
    people().write_csv(tmp_path / "people.csv")
    (tmp_path / "book.csv").write_text(CSV)
    asked = [
        "people.csv",
        "--method",
        "dp-um",
        "--k",
        "3",
        "--epsilon",
        "1",
        "--attributes",
        "INCOME",
    ]
    for command in ("advise", "audit"):
        told = run(command, *asked, "--codebook", "book.csv", folder=tmp_path)
        assert told.returncode == 0, told.stderr
        assert run(command, *asked, folder=tmp_path).returncode == 2
    found = mv.compare(
        people(), methods=["dp-um"], k=[3], epsilon=[1], runs=1, seed=1, linkage=False,
        attributes=["INCOME"], codebook=tmp_path / "book.csv",
    )  # fmt: skip
    assert len(found.summary) == 1


def test_a_codebook_that_is_not_there_is_said_to_be_missing(tmp_path):
    with pytest.raises(mv.FileError, match="no such codebook"):
        mv.protect(people(), method="dp-um", k=3, epsilon=1, codebook=tmp_path / "none.csv")
