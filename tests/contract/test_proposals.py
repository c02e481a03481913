"""From a file to a release by way of `inspect`: for any method, with what the file declares."""

import re
import tomllib

import numpy as np
import polars as pl
import pyreadstat
import pytest

import microveil as mv
from command import run
from microveil.commands.files import inspect_file
from microveil.commands.proposal import left_to_type, n_left, proposed_recipe
from microveil.methods import METHODS
from microveil.protect.recipe import read_recipe

PEOPLE = mv.invented_people(400, seed=5).select("ID", "AGE", "REGION", "INCOME", "EMPLOYED")
TYPED = {"AGE": "[0, 120]", "INCOME": "[0, 400000]"}
OF_METHOD = {"dp-synthetic": ["--epsilon", "60"], "pram": ["--epsilon", "9"]}
REGIONS = sorted(PEOPLE["REGION"].unique())


def filled(recipe):
    """Type what is left to type: bounds, steps and lists, as publicly known."""
    for name, bounds in TYPED.items():
        before, own = recipe.split(f"[attributes.{name}]\n")
        own = own.replace("# bounds = [..., ...]", f"bounds = {bounds}", 1)
        recipe = f"{before}[attributes.{name}]\n{own}"
    recipe = recipe.replace("# resolution = ...", "resolution = 1000")
    listed = ", ".join(f'"{region}"' for region in REGIONS)
    return recipe.replace("# categories = [...]", f"categories = [{listed}]")


@pytest.mark.parametrize("method", METHODS)
def test_inspect_writes_a_recipe_for_any_method(tmp_path, method):
    """With what it says is left to type, protect follows it; what a method cannot take is left."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    asked = ["--method", method, *OF_METHOD.get(method, [])]
    asked += ["--width", "5"] if method in ("k-noise", "k-pram") else []
    done = run("inspect", "people.csv", *asked, "-o", "r.toml", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    learns = method == "dp-synthetic"
    assert ("bounds of 2 columns" in " ".join(done.stdout.split())) == (
        "bounds" in METHODS[method].needs and not learns
    )
    recipe = filled((tmp_path / "r.toml").read_text())
    (tmp_path / "r.toml").write_text(recipe)
    made = run("protect", "people.csv", "--recipe", "r.toml", "-o", "out", folder=tmp_path)
    assert made.returncode == 0, made.stderr
    released = pl.read_csv(tmp_path / "out" / "data.csv").columns
    assert ("REGION" in released) == ("categories" in METHODS[method].can)
    assert "ID" not in released


@pytest.mark.parametrize("scope", ["cluster", "vector", "row"])
def test_a_method_that_does_not_cover_the_scope_is_refused_with_those_that_do(scope):
    """Before a recipe is written."""
    with pytest.raises(mv.RequestError, match=r"scope: .*--scope, or choose .*dp-synthetic"):
        proposed_recipe(PEOPLE, method="mdav", k=5, scope=scope)


def test_a_unit_and_its_records_are_kept_and_asked_for():
    """By a method that protects units; how many records one has is left to type."""
    table = pl.DataFrame({"HH": np.arange(400) // 2, "AGE": PEOPLE["AGE"]})
    assert tomllib.loads(proposed_recipe(table, unit="HH").text)["method"] == "dp-synthetic"
    for asked, left in (({"unit": "HH"}, ("max_rows",)), ({"unit": "HH", "max_rows": 2}, ())):
        proposed = proposed_recipe(table, **asked, scope="vector")
        assert proposed.left == left
        read = read_recipe(tomllib.loads(proposed.text))
        assert {name: read.get(name) for name in asked} == asked
        assert (read["method"], read["attributes"]) == ("laplace", ["AGE"])
    assert tomllib.loads(proposed_recipe(table, unit="HH", method="mdav").text)["unit"] == "HH"


def test_flags_that_contradict_each_other_write_no_recipe(tmp_path):
    """As protect refuses them."""
    PEOPLE.write_csv(tmp_path / "people.csv")
    for flags, word in (
        (["--method", "mdav", "--isotonic"], "isotonic"),
        (["--method", "dp-um", "--unit", "ID"], "unit"),
        (["--bounds", "ADE=0:9"], "ADE"),
        (["--method", "none"], "no such method"),
        (["--accept", "file"], "declares nothing"),
    ):
        done = run("inspect", "people.csv", *flags, "-o", "r.toml", folder=tmp_path)
        assert done.returncode == 2
        assert word in done.stderr
        assert not (tmp_path / "r.toml").exists()


def test_how_many_values_there_are_is_said_where_values_are_asked_for():
    """Of numbers too, and which where they are few; else neither in the recipe nor beside it."""
    table = {"AGE": np.arange(20, 80), "CODE": np.arange(60) % 3 + 7}
    plain, shown = (proposed_recipe(table, show_values=show) for show in (False, True))
    assert "different values" not in plain.text
    assert "values" not in left_to_type(plain).to_text()
    assert re.search(r"# categories = \[7, 8, 9\] +# 3 different values seen", shown.text)
    assert "# 60 different values seen in the data\n" in shown.text
    assert "by the file" not in left_to_type(plain).to_text()
    said = left_to_type(shown, show_values=True).to_text()
    assert re.search(r"CODE .* 3\n", said)
    assert "[20" not in shown.text


def test_what_a_body_weighs_and_where_somebody_lives_is_said():
    """A remark names the role; a coordinate is a quasi-identifier."""
    table = {
        "weight": np.linspace(45, 110, 60),
        "height": np.linspace(150, 195, 60),
        "lat": np.linspace(46, 49, 60),
        "rb050": np.linspace(0.5, 2, 60),
    }
    proposed = proposed_recipe(table)
    roles = {name: column.role for name, column in proposed.columns.items()}
    assert roles == {
        "weight": "confidential",
        "height": "confidential",
        "lat": "quasi-identifier",
        "rb050": "weight",
    }
    told = " ".join(left_to_type(proposed).to_text().split())
    assert "weight: By its name, its range or the columns beside it, it is" in told


def test_names_and_free_text_are_left_out_whatever_the_method_lists():
    """Names that repeat are no categories; those of places and products are none of people."""
    table = {
        "Nachname": np.array(["Weber", "Wolf", "Klein"] * 20),
        "e-mail": np.array(["a@example.org", "b@example.org"] * 30),
        "Bemerkung": np.array(["", "keine", "siehe Akte"] * 20),
        "school_name": np.array(["north", "south"] * 30),
        "AGE": np.arange(60) % 7,
    }
    proposed = proposed_recipe(table, scope="row")
    roles = {name: column.role for name, column in proposed.columns.items()}
    assert roles == {
        "Nachname": "identifier",
        "e-mail": "identifier",
        "Bemerkung": "identifier",
        "school_name": "quasi-identifier",
        "AGE": "confidential",
    }
    assert proposed.columns["Nachname"].left == ()


def test_households_that_a_statistical_package_stores_as_floats_are_offered_as_the_unit():
    table = {"house": np.repeat(np.arange(40.0), 2), "AGE": np.arange(80) % 7}
    assert proposed_recipe(table).unit == "house"
    assert proposed_recipe({**table, "house": table["house"] + 0.5}).unit is None


# A survey whose file declares its columns.

N, COLUMNS = 3000, 30


@pytest.fixture(scope="module")
def survey(tmp_path_factory):
    """A labelled file of SPSS: questions with codes, a weight, a number of people, and numbers."""
    random = np.random.Generator(np.random.PCG64(3))
    path = tmp_path_factory.mktemp("survey") / "survey.sav"
    answers = {f"Q{n}": random.integers(1, 6, N) for n in range(COLUMNS)}
    for n, values in enumerate(answers.values()):
        values[random.random(N) < 0.05] = -8 if n % 2 else -9
    frame = pl.DataFrame({
        "caseid": np.arange(1, N + 1), "AGE": random.integers(18, 95, N),
        "INCOME": random.integers(0, 90_000, N), "HOURS": random.integers(0, 60, N),
        "pond": random.uniform(0.4, 3, N).round(3), **answers,
    })  # fmt: skip
    words = {1: "never", 2: "seldom", 3: "sometimes", 4: "often", 5: "always", -8: "?", -9: "no"}
    pyreadstat.write_sav(
        frame, str(path), variable_value_labels=dict.fromkeys(answers, words),
        missing_ranges={name: [{"lo": -9, "hi": -8}] for name in answers},
        variable_format={name: "F8.0" for name in frame.columns if name != "pond"},
        column_labels={"AGE": "Age in years"},
    )  # fmt: skip
    return path


def test_a_labelled_survey_asks_for_at_most_five_entries(survey, tmp_path):
    """The file's word on all questions is accepted at once; numbers get their bounds."""
    asked = {"accept": "file", "method": "dp-synthetic", "epsilon": 10.0, "domains": "declared"}
    _, proposed = inspect_file(survey, None, None, **asked)
    assert n_left(proposed) == 3
    assert re.search("by the file.*\n.*caseid", left_to_type(proposed).to_text())
    assert [name for name, column in proposed.columns.items() if column.left] == [
        "AGE", "INCOME", "HOURS",
    ]  # fmt: skip
    assert len(proposed.text.splitlines()) < 60 + 8 * (COLUMNS + 5)
    assert 'missing = "protect"' in proposed.text  # the file declares missing codes
    recipe = proposed.text
    for name, bounds in {"AGE": "[16, 120]", "INCOME": "[0, 99999]", "HOURS": "[0, 99]"}.items():
        before, own = recipe.split(f"[attributes.{name}]\n")
        own = own.replace("# bounds = [..., ...]", f"bounds = {bounds}", 1)
        recipe = f"{before}[attributes.{name}]\n{own}"
    (tmp_path / "r.toml").write_text(recipe)
    done = run("protect", survey, "--recipe", "r.toml", "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    made = mv.read(tmp_path / "out" / "data.sav")
    assert set(made.frame["Q1"].drop_nulls()) <= {1, 2, 3, 4, 5}
    assert made.schema["Q1"].labels.codes[1] == "never"
    assert {"caseid", "pond"}.isdisjoint(made.frame.columns)


def test_a_labelled_survey_needs_no_entry_where_domains_are_learnt(survey):
    """What the file does not declare is learnt; what the budget is enough for is said."""
    _, proposed = inspect_file(survey, None, None, accept="file", epsilon=10.0, scope="row")
    assert n_left(proposed) == 0
    assert "to have a count of its own" in left_to_type(proposed).to_text()


def test_nothing_is_said_of_learning_where_all_is_declared(tmp_path):
    """Neither categories nor numbers are left to learn: no sentence without a subject."""
    mv.invented_people(400).write_csv(tmp_path / "people.csv")
    asked = {"attributes": ["AGE", "REGION"], "bounds": {"AGE": (16, 110)}}
    asked["resolution"] = {"AGE": 1}
    asked["categories"] = {"REGION": ["North", "East", "South", "West"]}
    people = tmp_path / "people.csv"
    _, proposed = inspect_file(people, None, None, epsilon=9.0, delta=1e-9, **asked)
    assert "for so many columns" not in left_to_type(proposed).to_text()


def test_without_the_word_one_line_offers_it(survey):
    """In place of a page of commented lists; it counts as one entry that is left to type."""
    _, proposed = inspect_file(survey, None, None, method="dp-synthetic")
    assert '# accept = "file" ' in proposed.text
    assert f"of {COLUMNS} columns" in proposed.text
    assert "# categories = [" not in proposed.text
    assert "accept" in proposed.left
    assert "accept" not in tomllib.loads(proposed.text)


def test_codes_in_no_order_are_left_out_of_what_cannot_take_them(survey, tmp_path):
    """Averages of codes mean nothing: the custodian is told, and the recipe works."""
    done = run(
        "inspect", survey, "--accept", "file", "--missing", "keep", "--scope", "cluster",
        "-o", "r.toml", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "The file lists its codes in no order, and idp-cbls" in " ".join(done.stdout.split())
    done = run("protect", survey, "--recipe", "r.toml", "-o", "out", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert mv.read(tmp_path / "out" / "data.sav").frame.columns == ["AGE", "INCOME", "HOURS"]


def test_a_list_that_lacks_values_asks_for_bounds(tmp_path):
    """A scale of which the ends alone have words: it is told, and stands in no recipe."""
    frame = pl.DataFrame({"SCALE": [0, 3, 7, 10] * 20, "SEX": [1, 2] * 40})
    words = {"SCALE": {0: "not at all", 10: "wholly"}, "SEX": {1: "male", 2: "female"}}
    path = tmp_path / "s.sav"
    pyreadstat.write_sav(
        frame, str(path), variable_value_labels=words,
        variable_format=dict.fromkeys(words, "F8.0"),
    )  # fmt: skip
    _, proposed = inspect_file(path, None, None, accept="file", method="mdav", k=5)
    assert proposed.columns["SCALE"].left == ("bounds",)
    assert proposed.columns["SEX"].left == ()
    assert "lacks" not in proposed.text
    assert "values that the file's code list lacks" in " ".join(
        left_to_type(proposed).to_text().split()
    )


def test_numbers_that_may_be_codes_are_named_to_the_custodian():
    """Few whole numbers, of a method that calculates with them; the recipe tells nothing of it."""
    table = {"STATE": np.arange(60) % 7 + 1, "LIKES": np.arange(60) % 9 - 8 * (np.arange(60) > 50)}
    table["PAY"] = np.arange(60) * 31 % 59
    table["LIKES"] = np.where(np.arange(60) % 11 == 0, -8, table["LIKES"].clip(0))
    proposed = proposed_recipe(table, method="mdav", k=5)
    told = " ".join(left_to_type(proposed).to_text().split())
    assert "STATE: It holds few different whole numbers. If they are codes, list them" in told
    assert "PAY: It holds few" not in told
    assert "few different" not in proposed.text
    assert "LIKES: 1 value looks like a code for missing values" in told
    shown = proposed_recipe(table, method="mdav", k=5, show_values=True).text
    assert "# missing_codes = [-8]" in shown
    assert "few different values: if they are codes" in shown
    learnt = proposed_recipe(table, method="dp-synthetic")
    assert "few different" not in left_to_type(learnt).to_text()
    listed = proposed_recipe(table, method="mdav", k=5, categories={"STATE": [*range(1, 8)]})
    assert "STATE: It holds few" not in left_to_type(listed).to_text()
