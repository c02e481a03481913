"""Categories on the command line and in recipes, and where NAME=VALUES is cut."""

import json
import tomllib

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands.naming import split_pair
from microveil.commands.proposal import proposed_recipe
from microveil.errors import RequestError
from microveil.protect.settling import merged

LEVELS = ["none", "school", "degree"]
INCOME = ["<=50K", ">50K"]
RANDOM = np.random.Generator(np.random.PCG64(3))
N = 90
PEOPLE = pl.DataFrame(
    {
        "E": [LEVELS[k % 3] for k in RANDOM.integers(0, 9, N)],
        "income": [INCOME[k] for k in RANDOM.integers(0, 2, N)],
        "CODE": [int(k) for k in RANDOM.choice([1, 2, 9], N)],
        "c": [int(k) for k in RANDOM.integers(-9, 9, N)],
        "c=d": [int(k) for k in RANDOM.integers(-9, 9, N)],
    }
)


@pytest.fixture(params=["people.csv", "people.parquet"])
def file(request, tmp_path):
    """The table in either format, in a folder of its own."""
    path = tmp_path / request.param
    (PEOPLE.write_csv if path.suffix == ".csv" else PEOPLE.write_parquet)(path)
    return path


def protected(file, *flags):
    """Protect the file; the released table and its guarantee."""
    done = run("protect", file.name, "-o", "out", "--overwrite", *flags, folder=file.parent)
    assert done.returncode == 0, done.stderr
    out = file.parent / "out"
    guarantee = json.loads((out / "guarantee.json").read_text())
    read = pl.read_csv if file.suffix == ".csv" else pl.read_parquet
    return read(out / f"data{file.suffix}"), guarantee


def test_flags_declare_categories_and_their_order(file):
    """Of text, of text that looks like an operator, and of codes; by any method that can."""
    data, guarantee = protected(
        file, "--method", "pram", "--epsilon", "1", "--attributes", "income,CODE,E",
        "--categories", "income=<=50K,>50K", "--categories", "CODE=9,1,2",
        "--ordered", "E=none,school,degree",
    )  # fmt: skip
    assert guarantee["kinds"] == {"E": "ordinal", "income": "nominal", "CODE": "nominal"}
    assert guarantee["attributes"]["income"]["domain"] == INCOME
    assert set(data["income"]) <= set(INCOME)
    assert set(data["CODE"]) <= {1, 2, 9}
    assert set(data["E"]) <= set(LEVELS)
    data, guarantee = protected(
        file, "--method", "dp-um", "--k", "5", "--epsilon", "1", "--attributes", "CODE,E",
        "--ordered", "CODE=9,1,2", "--ordered", "E=none,school,degree",
    )  # fmt: skip
    assert guarantee["kinds"] == {"E": "ordinal", "CODE": "ordinal"}
    assert set(data["CODE"]) <= {1, 2, 9}
    assert set(data["E"]) <= set(LEVELS)


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (["nothing=1:2"], "column 'nothing': the table has no such column"),
        (["INCOME=1:2"], "write 'income'"),
        (["income"], "it wants a column and a value"),
        (["=1:2"], "it wants a column and a value"),
    ],
)
def test_an_entry_that_names_no_column_is_refused(entries, message):
    """In a sentence that says which; of two entries for one column the last counts."""
    pairs = [split_pair(one, "--bounds", PEOPLE.columns) for one in ("c=1:2", "c=d=0:1", "c=1:3")]
    assert dict(pairs) == {"c": "1:3", "c=d": "0:1"}
    with pytest.raises(RequestError, match=message):
        [split_pair(entry, "--bounds", PEOPLE.columns) for entry in entries]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--categories", "E=none,,school"], "a category is empty"),
        (["--ordered", "E="], "a category is empty"),
        (["--categories", "E=none"], "two categories or more"),
        (["--categories", "E=a,b", "--ordered", "E=b,a"], "given already"),
        (["--categories", "E=a,b", "--bounds", "E=a:b"], "bounds and categories are both given"),
        (["--bounds", "E=none"], "bounds are two values"),
        (["--ordered", "E=none,school"], "values are none of the declared categories"),
        (["--categories", "E=none,school,degree", "--method", "dp-um", "--k", "3"], "choose pram"),
    ],
)
def test_what_is_wrong_with_a_list_is_said_and_nothing_written(file, flags, message):
    """By exit code 2, without a value of the table."""
    asked = ["--method", "pram", "--epsilon", "1", "--attributes", "E", *flags]
    done = run("protect", file.name, "-o", "out", *asked, folder=file.parent)
    assert done.returncode == 2
    assert message in " ".join(done.stderr.split())
    assert "degree" not in done.stderr
    assert not (file.parent / "out").exists()


def entry(**more):
    return {"role": "confidential", "type": "text", **more}


def test_a_recipe_keeps_the_mark_of_a_list_read_from_the_data():
    """As it does of bounds: the guarantee has the condition."""
    seen = mv.categories_from_data(PEOPLE)
    recipe = {"epsilon": 1, "attributes": {"E": entry(categories=seen["E"])}}
    planned = mv.plan(PEOPLE, recipe=recipe, method="pram", max_rows=1)
    assert [condition.id for condition in planned.guarantee.conditions] == ["categories"]


def test_a_domain_given_goes_before_the_one_of_the_recipe():
    """Whichever kind either is: an attribute has one domain."""
    recipe = {"bounds": {"A": (0, 9), "B": (0, 9)}, "categories": {"C": ["a", "b"]}}
    both = merged(recipe, {"categories": {"A": [1, 2]}, "bounds": {"C": ["x", "y"]}})
    assert both["bounds"] == {"B": (0, 9), "C": ["x", "y"]}
    assert both["categories"] == {"A": [1, 2]}
    assert merged(recipe, {"bounds": {"A": (0, 5)}})["bounds"] == {"A": (0, 5), "B": (0, 9)}


def test_inspect_writes_values_only_where_they_are_asked_for(file):
    """As comments, which a person makes lines of; how many there are is said then alone."""
    plain = run("inspect", file.name, folder=file.parent).stdout
    assert "# categories = [...]" in plain
    assert "different values" not in plain
    assert not any(word in plain for word in (*LEVELS, *INCOME))
    shown = run("inspect", file.name, "--show-values", folder=file.parent).stdout
    assert tomllib.loads(shown) == tomllib.loads(plain)
    lines = [line.removeprefix("# ") for line in shown.splitlines()]
    text = "\n".join(lines[lines.index("[attributes.E]") : lines.index("[attributes.income]")])
    found = tomllib.loads(text)["attributes"]["E"]
    assert found["categories"] == sorted(LEVELS)
    assert found["ordered"] is True
    (file.parent / "r.toml").write_text(plain)
    refused = run("inspect", file.name, "--show-values", "--recipe", "r.toml", folder=file.parent)
    assert refused.returncode == 2
    assert "--show-values" in refused.stderr


def test_no_category_leaves_its_comment():
    """Whatever it holds: quotes, line ends and controls are written as TOML escapes them."""
    words = ['a"b', "c\nd = 1", "e\\f", "\x1b[2J"]
    recipe = proposed_recipe({"W": np.array(words * 3)}, show_values=True).text
    assert "d" not in tomllib.loads(recipe)["attributes"]["W"]
    assert recipe.isprintable() or all(c.isprintable() or c == "\n" for c in recipe)
    listed = recipe[recipe.index("# categories = [") :]
    listed = "\n".join(line.removeprefix("# ") for line in listed.splitlines())
    assert tomllib.loads(listed)["categories"] == sorted(words)
    many = proposed_recipe({"W": np.arange(1001).astype(str)}, show_values=True).text
    assert "1001 different values seen in the data" in many
