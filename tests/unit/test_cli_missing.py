"""What stands for missing values in files: on the command line, in recipes, and proposed."""

import json
import re
import tomllib

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands.proposal import proposed_recipe
from microveil.protect.recipe import read_recipe

N = 60
HEADER = "AGE,HOURS,SEX,NOTE"


def lines():
    random = np.random.default_rng(2)
    for number in range(N):
        age = -9 if number in (3, 5) else random.integers(18, 80)
        hours = {4: "NA", 7: '"."', 9: "99999998"}.get(number, random.integers(10, 60))
        sex = {2: "refused", 8: "NA"}.get(number, random.choice(["m", "f"]))
        yield f"{age},{hours},{sex},{'NA' if number == 1 else 'x'}"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "people.csv").write_text("\n".join([HEADER, *lines()]) + "\n")
    return tmp_path


FLAGS = (
    "--missing-values", "NA,.", "--missing-codes", "AGE=-9", "--missing-codes", "HOURS=99999998",
    "--missing-codes", "SEX=refused",
)  # fmt: skip
REQUEST = (
    "--method", "pram", "--epsilon", "20", "--attributes", "AGE,HOURS,SEX", "--bounds",
    "AGE=18:80", "--bounds", "HOURS=10:60", "--categories", "SEX=m,f", "--keep", "NOTE",
)  # fmt: skip


def released(folder):
    return (folder / "out" / "data.csv").read_text().splitlines()[1:]


def check_linked(linkage):
    """Five records lack a number: the strongest linkage is of the others, or over all as such."""
    over_all = linkage["distances"] == "over all attributes"
    assert linkage["n_records"] == (N if over_all else N - 5)


def test_flags_say_what_is_missing_in_a_file(folder):
    """Words that stand for missing values make no column text, and codes are no values."""
    done = run(
        "protect", "people.csv", "-o", "out", *FLAGS, *REQUEST, "--missing", "keep", folder=folder
    )
    assert done.returncode == 0, done.stderr
    rows = [row.split(",") for row in released(folder)]
    empty = [[at for at in range(N) if rows[at][column] == ""] for column in range(3)]
    assert empty == [[3, 5], [4, 7, 9], [2, 8]]
    assert rows[1][3] == "NA"  # kept as it is
    manifest = json.loads((folder / "out-custodian/manifest.json").read_text())
    check_linked(manifest["findings"]["linkage"])
    parameters = manifest["parameters"]
    assert parameters["missing_values"] == ["NA", "."]
    assert parameters["missing_codes"] == {"AGE": ["-9"], "HOURS": ["99999998"], "SEX": ["refused"]}


def test_reasons_stand_in_the_file_and_its_next_reader_knows_them(folder):
    """With --missing-reasons codes come back, and assess takes them for missing cells."""
    done = run(
        "protect", "people.csv", "-o", "out", *FLAGS, *REQUEST, "--missing", "keep",
        "--missing-reasons", folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    manifest = json.loads((folder / "out-custodian/manifest.json").read_text())
    check_linked(manifest["findings"]["linkage"])
    rows = [row.split(",") for row in released(folder)]
    assert [rows[3][0], rows[4][1], rows[9][1], rows[2][2], rows[8][2]] == [
        "-9", "", "99999998", "refused", "",
    ]  # fmt: skip
    done = run("assess", "people.csv", "out/data.csv", "--json", *FLAGS, folder=folder)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["n_cells_compared"] == 2 * N - 2 - 3
    done = run("attack", "people.csv", "out/data.csv", "--json", *FLAGS, folder=folder)
    assert done.returncode == 0, done.stderr


def test_reading_from_python_knows_the_words_too(folder):
    """mv.read empties cells with words that are said to stand for missing values."""
    frame = mv.read(folder / "people.csv", missing_values="NA,.").frame
    assert frame.schema["HOURS"] == pl.Int64
    assert frame["HOURS"].null_count() == 2


def test_a_code_read_from_a_file_is_not_in_bounds_read_from_it(folder):
    """Bounds and decimals that are read from a file pass over its codes."""
    done = run(
        "protect", "people.csv", "-o", "out", *FLAGS, "--method", "dp-um", "--k", "5", "--epsilon",
        "1", "--attributes", "AGE,HOURS", "--bounds-from-data", "1", "--missing", "keep",
        folder=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    manifest = json.loads((folder / "out-custodian/manifest.json").read_text())
    for lower, upper in (manifest["attributes"][name]["bounds"] for name in ("AGE", "HOURS")):
        assert lower == 0
        assert upper <= 80


def test_inspect_proposes_codes_and_shows_them_only_where_asked(folder):
    """Without --show-values the custodian is told how many there are, and the recipe nothing."""
    done = run("inspect", "people.csv", "--missing-values", "NA,.", folder=folder)
    said = done.stdout
    assert 'missing_values = ["NA", "."]\n' in said
    assert "cells are missing" not in said
    assert "look like" not in said.partition("[attributes.")[2]
    assert done.stderr.count("1 value looks like a code for missing values.") == 3
    assert "Cells are missing in" in done.stderr
    assert "-9" not in said.partition("[attributes.")[2]
    assert "refused" not in said.partition("[attributes.")[2]
    shown = run(
        "inspect", "people.csv", "--missing-values", "NA,.", "--show-values", folder=folder
    ).stdout
    assert "# 2 of 60 cells are missing" in shown
    for codes in ("[-9]", "[99999998]", '["refused"]'):
        assert re.search(rf"# missing_codes = {re.escape(codes)} +# seen in the data", shown)
    assert tomllib.loads(shown)["missing_values"] == ["NA", "."]


def test_codes_that_are_declared_stand_in_the_proposed_recipe(folder):
    """What flags declare is written as a line of the recipe, which reads as it was meant."""
    written = run("inspect", "people.csv", *FLAGS, folder=folder).stdout
    recipe = read_recipe(tomllib.loads(written))
    assert recipe["missing_codes"] == {"AGE": [-9], "HOURS": [99999998], "SEX": ["refused"]}
    assert "look like codes" not in written.partition("[attributes.")[2]


LOOKS = [
    ([1, 2, 3, -9], (-9,)),
    ([1, 2, -1, -13], ()),
    ([20, 35, 99, 999], (999,)),
    ([1, 9, 8, 7], ()),
    ([300.5, 20.0, 99999998.0, -8.0], (-8, 99999998)),
    (["a", "Refused", "b", " NA"], (" NA", "Refused")),
]


@pytest.mark.parametrize(("cells", "codes"), LOOKS)
def test_only_what_stands_apart_looks_like_a_code(cells, codes):
    """A negative number among others, or 99 among numbers near it, is a value."""
    recipe = proposed_recipe(pl.DataFrame({"A": cells * 3}), show_values=True).text
    line = [line for line in recipe.splitlines() if line.startswith("# missing_codes = [")]
    assert bool(line) == bool(codes)
    for code in codes:
        assert str(code) in line[0]
