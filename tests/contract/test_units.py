"""Units, from a request to what is read back: who may have one, what is released, what is said."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microveil as mv
from microveil.commands.files import counted_releases, inspect_file, protect_file
from microveil.commands.measuring import assess_files, attack_files
from microveil.compare import compare
from microveil.methods import METHODS

H = 3
NUMBERS = np.arange(240)
# Households of one to four, in the order of the table; the fourth record is beyond the number.
OWNERS = np.array([f"h{number}" for number in np.repeat(np.arange(96), [1, 2, 3, 4] * 24)])
IS_REPORTED = True  # its page is looked for

PEOPLE = {"HOUSEHOLD": OWNERS, "AGE": NUMBERS * 7 % 100, "SEX": NUMBERS % 2}
ASKED = {"attributes": ["AGE"], "bounds": {"AGE": (0, 120), "SEX": (0, 1)}, "epsilon": 3}
UNIT = {"unit": "HOUSEHOLD", "max_rows": H, "outside": "clamp"}
FRAMES = {
    "arrays": lambda columns: columns,
    "polars": pl.DataFrame,
    "pandas": lambda columns: pd.DataFrame(columns, index=range(900, 900 + len(columns["AGE"]))),
    "arrow": lambda columns: pa.table({name: list(cells) for name, cells in columns.items()}),
}
TAKES = ("laplace", "pram", "dp-synthetic")
COUNT = ("mdav", "mdav-insensitive", "v-mdav")


def laplace(**asked):
    return {"method": "laplace", **ASKED, **UNIT, **asked}


def cells(data, name):
    return np.array(data[name].to_pylist() if isinstance(data, pa.Table) else data[name])


# Who may have a unit.


@pytest.mark.parametrize("method", METHODS)
def test_only_methods_whose_noise_adds_up_protect_a_unit(method):
    """Each other refuses, says why, and names those that would do."""
    asked = {**ASKED, **UNIT, "method": method, "k": 5}
    assert (METHODS[method].refuses_unit is None) == (method in {*TAKES, *COUNT})
    if method in COUNT:
        assert f"{method} has no use for: max_rows." in mv.plan(PEOPLE, **asked).notes
        return
    if method in TAKES:
        asked |= {"attributes": ["SEX"]} if method == "pram" else {}
        assert mv.plan(PEOPLE, **asked).guarantee.unit.max_rows == H
        return
    with pytest.raises(mv.RequestError) as refused:
        mv.plan(PEOPLE, **asked)
    assert refused.value.place == "unit"
    able = TAKES if "epsilon" in METHODS[method].needs else (*TAKES, *COUNT)
    assert all(name in refused.value.remedy for name in able)
    why = {"idp": "individual differential privacy"}
    assert why.get(method[:3], method) in str(refused.value)


@pytest.mark.parametrize(
    ("change", "place", "words"),
    [
        ({"max_rows": None}, "max_rows", "never read from the data"),
        ({"unit": None}, "max_rows", "no unit is named"),
        ({"max_rows": 0}, "max_rows", "1 or more"),
        ({"max_rows": True}, "max_rows", "1 or more"),
        ({"unit": 3}, "unit", "name of a column"),
        ({"unit": "HOME"}, "column 'HOME'", "no such column"),
        ({"keep": ["HOUSEHOLD"]}, "column 'HOUSEHOLD'", "new numbers"),
        ({"attributes": ["AGE", "HOUSEHOLD"]}, "column 'HOUSEHOLD'", "new numbers"),
        ({"outside": "error"}, "column 'HOUSEHOLD', 24 units", "more than the 3 records"),
    ],
)
def test_what_does_not_fit_a_unit_is_refused(change, place, words):
    """With the place and the rule, and never a value."""
    with pytest.raises(mv.MicroveilError) as refused:
        mv.protect(PEOPLE, **laplace(**change))
    assert refused.value.place == place
    assert words in refused.value.rule
    assert "h9" not in str(refused.value)


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("empty", [None, "", "  "])
def test_a_record_of_no_unit_is_refused(kind, empty):
    """Missing, or empty text: whose it is must be said, by its place and by no value."""
    owners = OWNERS.astype(object)
    owners[[6, 8]] = empty
    table = FRAMES[kind]({**PEOPLE, "HOUSEHOLD": owners})
    with pytest.raises(mv.DataError, match="2 records, the first is record 7: every record"):
        mv.protect(table, **laplace())


def test_a_missing_number_of_a_household_is_refused_too():
    """Of floats, where it is not a number."""
    numbers = np.repeat([1.0, 2.0, np.nan], 80)
    with pytest.raises(mv.DataError, match="80 records, the first is record 161"):
        mv.protect({**PEOPLE, "HOUSEHOLD": numbers}, **laplace())


@pytest.mark.parametrize("code", ["h9", -9])
def test_a_code_for_a_missing_value_is_no_unit(code):
    """Records that have it are of no unit; records left out take their codes with them."""
    owners = OWNERS if code == "h9" else np.where(NUMBERS < 5, -9, NUMBERS // 2)
    table = {**PEOPLE, "HOUSEHOLD": owners}
    with pytest.raises(mv.DataError, match="every record must be of a unit"):
        mv.protect(table, **laplace(missing_codes={"HOUSEHOLD": [code]}))
    ages = np.where(NUMBERS % 5 == 0, -9, PEOPLE["AGE"])
    asked = laplace(missing_codes={"AGE": [-9]}, missing="keep", missing_reasons=True, keep=["ROW"])
    release = mv.protect({**PEOPLE, "AGE": ages, "ROW": NUMBERS}, **asked)
    rows = release.data["ROW"]
    assert len(rows) == 216
    assert ((release.data["AGE"] == -9) == (ages[rows] == -9)).all()


# What is released.


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("shuffle", [False, True])
def test_rows_that_are_kept_have_new_numbers_of_their_units(kind, shuffle):
    """Whole numbers from 1, one for each household, in another order in each release."""
    table = FRAMES[kind]({**PEOPLE, "ROW": NUMBERS})
    releases = [mv.protect(table, **laplace(keep=["ROW"], shuffle=shuffle)) for _ in range(2)]
    maps = []
    for release in releases:
        numbers, rows = cells(release.data, "HOUSEHOLD"), cells(release.data, "ROW")
        assert numbers.dtype.kind == "i"
        assert len(rows) == release.guarantee.n_records == 216
        assert (list(rows) == sorted(rows)) != shuffle
        pairs = set(zip(numbers.tolist(), OWNERS[rows].tolist(), strict=True))
        assert {new for new, _ in pairs} == set(range(1, 97))
        assert len(pairs) == 96
        assert np.bincount(numbers).max() == H
        maps.append({old: new for new, old in pairs})
    assert maps[0] != maps[1]


def test_no_numbers_are_released_where_no_row_is_a_units():
    """Neither beside columns in orders of their own, nor in a new table, which says so."""
    apart = mv.protect(PEOPLE, **laplace(shuffle="columns"))
    assert list(apart.data) == ["AGE"]
    new = mv.protect(PEOPLE, **{**laplace(), "method": "dp-synthetic", "attributes": ["SEX"]})
    assert list(new.data) == ["SEX"]
    assert any(
        "no two rows of the synthetic table belong to one household" in n
        for n in new.guarantee.notes
    )


# What is said.


def test_the_guarantee_says_who_is_protected():
    """In JSON, summary, page and notes; it is read back as it was written."""
    guarantee = mv.protect(PEOPLE, **laplace()).guarantee
    written = json.loads(json.dumps(guarantee.to_dict()))
    assert written["unit"] == {"column": "HOUSEHOLD", "max_rows": H}
    assert mv.Guarantee.from_dict(written) == guarantee
    assert "epsilon 3 for all records of one unit (HOUSEHOLD, 3 at most)" in guarantee.summary()
    page = guarantee.statement()
    assert "were replaced by as many others, nothing" in page
    assert "It is not true of the program" not in page
    assert "One person" not in page
    assert "One record is taken to be one person" not in page
    assert [c.id for c in guarantee.conditions] == ["unit-sizes"]


def test_a_check_of_the_sizes_is_a_condition():
    """Where larger units are refused, that this table was not is taken as given."""
    asked = {**laplace(), "max_rows": 4, "outside": "error"}
    checked = mv.protect(PEOPLE, **asked).guarantee.conditions
    assert [c.id for c in checked] == ["unit-sizes", "outside-checked"]
    assert checked[1].short == "the check that no unit has more than 4 records"
    asked |= {"method": "dp-synthetic", "attributes": ["SEX"]}
    both = mv.protect(PEOPLE, **asked).guarantee.conditions[1]
    assert "inside its bounds and that no unit has more than 4 records" in both.short


def test_audits_speak_of_the_unit():
    """Shares and losses are those of all its records, and stay within epsilon."""
    found = mv.audit(PEOPLE, **laplace())
    assert found.attributes["AGE"].share == 3
    assert 2 < found.vector_scope <= 3
    assert (
        "at most what all records of one unit (HOUSEHOLD, 3 at most) can change" in found.to_text()
    )
    new = mv.audit(PEOPLE, **{**laplace(), "method": "dp-synthetic", "attributes": ["SEX"]})
    assert new.vector_scope == pytest.approx(3)
    assert "all records of one unit" in new.to_text()


@pytest.mark.parametrize("method", TAKES)
def test_attacks_on_a_unit_show_more_than_on_a_record_and_no_more_than_is_claimed(method):
    """All its records replaced: what is found is beyond a record's part, and within epsilon."""
    asked = {**laplace(), "method": method, "attributes": ["SEX"], "seed": 1}
    found = mv.empirical_audit(PEOPLE, **asked, runs=1500 if method == "dp-synthetic" else 20_000)
    assert not found.contradicted
    row = found.scopes["row"]
    assert row.claimed == pytest.approx(3)
    assert 1 < row.lower_bound <= row.exact <= row.claimed + 1e-9


def test_a_comparison_leaves_out_the_same_records_everywhere():
    """By its seed: the same comparison has the same figures, and those who refuse say so."""
    asked = {**ASKED, **UNIT, "methods": ["laplace", "dp-um", "pram"], "attributes": ["SEX"],
             "k": 5, "seed": 4, "runs": 2, "epsilon": [3]}  # fmt: skip
    found = [compare(PEOPLE, **asked) for _ in range(2)]
    tables = [one.table.drop("seconds", strict=False) for one in found]
    assert tables[0].equals(tables[1])
    refused = tables[0].filter(pl.col("refused").is_not_null())
    assert refused["method"].unique().to_list() == ["dp-um"]
    assert found[0].description["n_records"] == 216


# From file to file.


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A release of a file in which households lose their fourth records."""
    place = tmp_path_factory.mktemp("units")
    pl.DataFrame(PEOPLE).write_csv(place / "people.csv")
    release = protect_file(
        place / "people.csv", place / "release", **laplace(), population="people", linkage=False
    )
    return place, release


def test_a_file_is_released_without_what_is_beyond(written):
    """The custodian is shown how many records that is; nobody else is."""
    place, release = written
    data = pl.read_csv(place / "release" / "data.csv")
    assert data.columns == ["HOUSEHOLD", "AGE"]
    assert data["HOUSEHOLD"].n_unique() == 96
    assert any("24 of 240 records were left out" in n for n in release.manifest.custodian_notes)
    assert (place / "release-custodian" / "report.html").exists()
    for name in ("guarantee.json", "guarantee.md"):
        assert "240" not in (place / "release" / name).read_text()


def test_an_assessment_says_how_many_records_are_missing(written):
    """Without pairs, as nobody knows which; new numbers are no attribute."""
    place, _ = written
    found = assess_files(place / "people.csv", place / "release" / "data.csv", None, text=None)
    assert found.guarantee is not None
    assert "216 released records against 240 records of the original" in found.to_text()
    assert list(found.to_dict()["attributes"]) == ["AGE"]
    assert mv.assess(PEOPLE, mv.protect(PEOPLE, **laplace())).n_protected == 216
    report = attack_files(place / "people.csv", place / "release" / "data.csv", n_attacks=3)
    assert not any("linkage" in outcome.attack for outcome in report.outcomes)


def test_the_ledger_says_of_whom_its_sums_speak(written, tmp_path):
    """Of units where all releases protect the same, else of single records."""
    place, release = written
    said = "\n".join(counted_releases(release, place / "release")["in_words"])
    assert "Each of them protects all records of one unit together (HOUSEHOLD)." in said
    ledger = place / "microveil-ledger.jsonl"
    other = tmp_path / "ledger.jsonl"
    other.touch(mode=0o600)
    other.write_bytes(ledger.read_bytes())
    of_records = protect_file(
        place / "people.csv", tmp_path / "records", population="people", ledger=other,
        method="laplace", linkage=False, **ASKED,
    )  # fmt: skip
    said = "\n".join(counted_releases(of_records, tmp_path / "records", other)["in_words"])
    assert "1 of the 2 protect all records of one unit together" in said
    assert "of a whole unit they do not" in said


def test_a_recipe_asks_for_units(written, tmp_path):
    """By two entries; what inspect proposes is a comment, and the column is left out."""
    place, _ = written
    proposed = inspect_file(place / "people.csv", None, None, scope="row")[1].text
    assert '# unit = "HOUSEHOLD"' in proposed
    assert "# max_rows = ..." in proposed
    assert proposed.count("see unit") == 1
    assert "h9" not in proposed
    filled = {
        '# unit = "HOUSEHOLD"': 'unit = "HOUSEHOLD"',
        "# max_rows = ...": "max_rows = 3",
        "# bounds = [..., ...]": "bounds = [0, 120]",
    }
    recipe = proposed
    for line, confirmed in filled.items():
        recipe = recipe.replace(line, confirmed)
    path = tmp_path / "recipe.toml"
    path.write_text(recipe)
    plan = mv.plan(pl.read_csv(place / "people.csv"), recipe=path, epsilon=30, delta=0)
    assert plan.guarantee.to_dict()["unit"] == {"column": "HOUSEHOLD", "max_rows": 3}
    assert plan.guarantee.n_records == 216


def test_missing_cells_are_protected_where_clusters_count_people():
    """A column whose values are many people's is no column of few; one of one person's is."""
    table = {"A": np.arange(24) * 7 % 11, "U": np.arange(24) // 3}
    asked = {"method": "mdav", "k": 3, "unit": "U", "missing": "protect", "attributes": "A"}
    assert mv.plan(table, **asked).guarantee.k == 3
    lone = pl.DataFrame({"A": [1.0, 2.0, 3.0, *[None] * 21], "U": table["U"]})
    with pytest.raises(mv.DataError, match="in those of one unit"):
        mv.plan(lone, **asked, resolution={"A": 1})
