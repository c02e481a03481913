"""What inspect tells to do next works, and what a recipe loses is said."""

import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.files.writing import write_data
from microveil.table import Labels

N = 60


def following(done):
    """Return the words of the command that inspect ends with."""
    return done.stdout.rstrip().splitlines()[-1].partition(" protect ")[2].split()


def test_the_command_that_follows_works_once_what_it_names_is_typed(tmp_path):
    """It accepts what the file declares, keeps missing answers, and names the columns to type."""
    table = pl.DataFrame(
        {
            "Q1": [1, 2, 9, 3] * (N // 4),
            "Q2": [1, 2, 3, 9] * (N // 4),
            "PAY": [0.5 * number for number in range(N)],
        }
    )
    listed = Labels(codes={1: "no", 2: "some", 3: "yes", 9: "refused"}, missing_codes=(9,))
    write_data(table, tmp_path / "people.sav", text=None, labels={"Q1": listed, "Q2": listed})
    asked = ["--method", "mdav", "--k", "5", "-o", "recipe.toml"]
    done = run("inspect", "people.sav", *asked, folder=tmp_path)
    assert "Type resolution of PAY. Confirm its roles and types." in " ".join(done.stdout.split())
    words = following(done)
    assert words[3:-2] == ["--accept", "file", "--missing", "protect"]
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("resolution.PAY = 0.5\n" + recipe.read_text())
    told = run("protect", *words, folder=tmp_path)
    assert told.returncode == 0, told.stderr
    released = mv.Guarantee.read(tmp_path / words[-1] / "guarantee.json")
    assert [own.name for own in released.attributes] == ["Q1", "Q2", "PAY"]


@pytest.mark.parametrize(
    ("method", "since"),
    [("mdav", "nobody lists their categories"), ("ranking", "ranking takes numbers alone")],
)
def test_text_that_a_recipe_protects_and_a_release_lacks_is_said_last(method, since, tmp_path):
    """The command that inspect ends with runs without its categories; that is no small thing."""
    table = pl.DataFrame(
        {"AGE": range(N), "JOB": ["a", "b"] * (N // 2), "SEX": ["f", "m"] * (N // 2)}
    ).with_columns(AGE=pl.col("AGE") % 7)
    table.write_csv(tmp_path / "people.csv")
    asked = ["--method", method, "--k", "5", "-o", "recipe.toml"]
    done = run("inspect", "people.csv", *asked, folder=tmp_path)
    shown = " ".join(done.stdout.split())
    if method == "mdav":
        assert "Type categories of JOB, SEX." in shown
    else:
        assert "2 of 3 columns will not be released, since the method takes no categories" in shown
    told = run("protect", *following(done), folder=tmp_path)
    assert told.returncode == 0, told.stderr
    last = told.stderr.splitlines()[-1]  # above what was released
    assert last.startswith("note: 2 of 3 columns are not released")
    assert since in last
    assert "JOB, SEX" in last
    narrow = run("protect", *following(done), "--attributes", "AGE", "--overwrite", folder=tmp_path)
    assert narrow.returncode == 0, narrow.stderr
    assert "2 of 3 columns" not in narrow.stderr
