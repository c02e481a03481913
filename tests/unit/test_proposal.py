"""The recipe that is proposed for a scope: filled in, protect follows it and covers that scope."""

import json
import re
import shlex
import tomllib

import numpy as np
import polars as pl
import pytest

import microveil as mv
from command import run
from microveil.commands.proposal import left_to_type, proposed_recipe
from microveil.files.text import TextFormat

PEOPLE = mv.invented_people(1500, seed=3)
SCOPES = ("cluster", "vector", "row")
BOUNDS = {
    "AGE": "[0, 120]",
    "HOUSEHOLD": "[1, 15]",
    "SINCE": "[1980-01-01, 2030-12-31]",
    "INCOME": "[0, 400000]",
    "TAX": "[0, 200000]",
    "SAVINGS": "[0, 2000000]",
    "VISITS": "[0, 100]",
}


def filled_in(recipe):
    """Fill a recipe in as a person does: bounds of their own, and what stands in comments."""
    text = re.sub(
        r"(\[attributes\.(\w+)\][^\[]*)# bounds = \[\.\.\., \.\.\.\]",
        lambda found: f"{found[1]}bounds = {BOUNDS.get(found[2], '[0, 10]')}",
        recipe,
    )
    lines = []
    for line in text.splitlines():
        listed = line.startswith(("# resolution =", "# categories = [  ", '#   "', "# ]"))
        lines.append(line.removeprefix("# ") if listed else line)
    return "\n".join(lines)


@pytest.mark.parametrize("scope", SCOPES)
def test_a_recipe_for_a_scope_runs_once_it_is_filled_in_and_covers_it(scope):
    """Many people here share a value: 0, or an age."""
    recipe = filled_in(proposed_recipe(PEOPLE, scope=scope, show_values=True).text)
    release = mv.protect(PEOPLE, recipe=tomllib.loads(recipe))
    assert release.guarantee.scopes[scope].keeps(1, release.guarantee.delta)
    assert ("REGION" in release.data.columns) == (scope == "row")
    assert len(release.guarantee.attributes) == (9 if scope == "row" else 8)
    assert release.guarantee.is_synthetic == (scope == "row")


OTHERS = PEOPLE.with_columns(
    PEOPLE["INCOME"].round(1),
    REGION=PEOPLE["REGION"].str.head(1),
    AGE=pl.when(pl.int_range(pl.len()) % 9 == 0).then(-9).otherwise(PEOPLE["AGE"]),
    VISITS=pl.when(pl.int_range(pl.len()) % 5 == 0).then(None).otherwise(PEOPLE["VISITS"]),
)


@pytest.mark.parametrize("scope", [None, *SCOPES])
def test_a_recipe_holds_nothing_that_was_seen_in_the_values(scope):
    """Decimals, counts, missing cells and codes: that of other people is the same, word by word.

    (Which columns look like identifiers or weights is proposed by the roles.) What is told
    beside it differs.
    """
    one, other = (proposed_recipe(table, scope=scope) for table in (PEOPLE, OTHERS))
    assert one.text == other.text
    assert left_to_type(one).to_text() != left_to_type(other).to_text()


def test_at_row_scope_nothing_is_declared_that_was_seen_in_the_values():
    """Where values are asked for, they are comments: what counts is the same."""
    proposed = [
        proposed_recipe(table, scope="row", show_values=True).text for table in (PEOPLE, OTHERS)
    ]
    read = [tomllib.loads(text) for text in proposed]
    assert read[0] == read[1]
    assert proposed[0] != proposed[1]
    assert {key for entry in read[0]["attributes"].values() for key in entry} == {"role", "type"}


def test_values_of_text_are_shown_at_row_scope_only_where_they_are_asked_for():
    """A recipe may be mailed around."""
    assert "North" not in proposed_recipe(PEOPLE, scope="row").text
    assert '#   "North",' in proposed_recipe(PEOPLE, scope="row", show_values=True).text


def test_what_no_new_table_can_have_is_not_proposed_for_one():
    """No column can be kept beside rows that are nobody's; what is no category is left out."""
    table = {"AT": np.array(["2020-01-01T10:00", "2021-03-01T10:00"] * 9, "datetime64[m]")}
    recipe = proposed_recipe({**table, "AGE": np.arange(18) % 5}, scope="row").text
    assert "non-confidential" not in recipe
    assert tomllib.loads(recipe)["attributes"]["AT"]["role"] == "identifier"
    filled = tomllib.loads(filled_in(recipe)) | {"epsilon": 60}
    assert list(mv.protect({**table, "AGE": np.arange(18) % 5}, recipe=filled).data) == ["AGE"]


def follow(shown, folder):
    """Type the one command that inspect prints."""
    (command,) = re.findall(r"^  microveil (.*)$", shown, flags=re.MULTILINE)
    done = run(*shlex.split(command), folder=folder)
    assert done.returncode == 0, done.stderr


def test_the_command_that_inspect_prints_works(tmp_path):
    """A recipe for a scope, filled in, is followed as the last line says."""
    PEOPLE.select("ID", "AGE", "TAX", "REGION").write_csv(tmp_path / "people.csv")
    done = run(
        "inspect", "people.csv", "--scope", "row", "--show-values", "-o", "r.toml", folder=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert "No entry is left to type." in done.stdout
    (tmp_path / "r.toml").write_text(filled_in((tmp_path / "r.toml").read_text()))
    follow(done.stdout, tmp_path)
    guarantee = json.loads((tmp_path / "people-release" / "guarantee.json").read_text())
    assert guarantee["scopes"]["row"] == {"covered": True, "epsilon": 1.0, "delta": 1e-9}
    assert list(guarantee["attributes"]) == ["AGE", "TAX", "REGION"]


@pytest.fixture(scope="module")
def office(tmp_path_factory):
    """A file as an office keeps it: semicolons, decimal commas, a code page, cells left empty."""
    folder = tmp_path_factory.mktemp("office")
    header = "Name;Geburt;Alter;Einkommen;Region"
    lines = [
        f"Müller {n};19{40 + n % 60}-05-{1 + n % 28:02d};{'' if n % 19 == 0 else 18 + 7 * n % 70};"
        f"{1500 + n * n % 3000},{n % 100:02d};{('Nord', 'Süd')[n % 2]}"
        for n in range(120)
    ]
    (folder / "amt 1.csv").write_text("\n".join([header, *lines]), encoding="cp1252")
    return folder


@pytest.mark.parametrize("scope", ["cluster", "vector"])
def test_each_proposal_works_as_it_is_with_the_command_printed(office, scope):
    """The recipe says how the file is written; with the values seen nothing has to be typed."""
    name = f"{scope}.toml"
    done = run("inspect", "amt 1.csv", "--separator", ";", "--decimal", ",", "--encoding", "cp1252",
               "--show-values", "--scope", scope, "-o", name, folder=office)  # fmt: skip
    assert done.returncode == 0, done.stderr
    before = set(office.iterdir())
    follow(done.stdout, office)
    (release,) = {entry.name for entry in office.iterdir() if entry not in before} - {
        f"{entry.name}" for entry in office.iterdir() if entry.name.endswith("-custodian")
    }
    assert (office / release / "data.csv").read_text("cp1252").startswith("Geburt;Alter;Einkommen")


def test_flags_go_before_what_a_recipe_says_of_the_file(tmp_path):
    """The same table with commas and points is read by the recipe of the other."""
    recipe = proposed_recipe(
        PEOPLE.select("AGE", "VISITS"), text=TextFormat(separator=";", decimal=",")
    ).text
    (tmp_path / "r.toml").write_text(recipe)
    PEOPLE.select("AGE", "VISITS").write_csv(tmp_path / "p.csv", separator="|")
    done = run("protect", "p.csv", "--recipe", "r.toml", "-o", "out", folder=tmp_path)
    assert "the columns are separated by" in done.stderr
    done = run("protect", "p.csv", "--recipe", "r.toml", "--separator", "|", "-o", "out",
               folder=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_whole_numbers_with_gaps_are_proposed_as_whole_numbers():
    """A column that became floats, as cells are missing: steps of 1, never of a hundredth."""
    ages = np.array([31.0, np.nan, 45, 45, 62])
    for scope, mark in (("cluster", ""), (None, "# ")):
        recipe = proposed_recipe({"AGE": ages}, scope=scope, show_values=True).text
        assert f"\n{mark}resolution = 1 " in recipe
        assert "0.01" not in recipe.partition("[attributes.AGE]")[2]


@pytest.mark.parametrize("scope", [None, *SCOPES])
def test_missing_cells_are_kept_but_in_a_new_table_where_a_person_says_so(scope):
    """That there are some is seen: it is told, and stands in a recipe where values are shown."""
    whole, gaps = {"X": np.arange(9.0) % 4}, {"X": np.array([1.0, np.nan] * 5)}
    for show_values, of_gaps in ((True, "keep"), (False, "error")):
        found = [
            proposed_recipe(table, scope=scope, show_values=show_values) for table in (whole, gaps)
        ]
        if scope in (None, "row"):  # where being missing is one more value that is learnt
            assert {tomllib.loads(one.text)["missing"] for one in found} == {"protect"}
            assert {one.left for one in found} == {()}
            continue
        assert [tomllib.loads(one.text)["missing"] for one in found] == ["error", of_gaps]
        assert [one.left for one in found] == [(), ("missing",) if of_gaps == "error" else ()]


def test_bounds_are_asked_for_by_kind_and_cannot_be_left_as_they_are():
    """A line that is only uncommented is no TOML; identifiers and yes/no have none."""
    recipe = proposed_recipe(PEOPLE, scope="row").text
    entries = re.split(r"\n\[attributes\.(\w+)\]", recipe)[1:]
    asked = {
        name: entry.partition("# bounds")[2]
        for name, entry in zip(entries[::2], entries[1::2], strict=True)
    }
    assert "ages" in asked["AGE"]
    assert "incomes" in asked["TAX"]
    assert "births" in asked["SINCE"]
    assert not asked["ID"] + asked["EMPLOYED"] + asked["REGION"]
    with pytest.raises(tomllib.TOMLDecodeError):
        tomllib.loads(recipe.replace("# bounds", "bounds", 1))
