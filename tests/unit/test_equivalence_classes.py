"""k-anonymity of any table by given attributes, against counts of another library."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from command import run
from microveil.measures.anonymity import equivalence_classes

NAMES = ["AGE", "SEX", "BORN", "TAX"]


def people(n=60, seed=1):
    random = np.random.Generator(np.random.PCG64(seed))
    return pl.DataFrame(
        {
            "AGE": pl.Series(random.integers(30, 34, n)).replace({33: None}),
            "SEX": pl.Series(random.choice(["f", "m", ""], n)).replace({"": None}),
            "BORN": pl.Series(np.datetime64("1990-01-01") + random.integers(0, 2, n)),
            "TAX": pl.Series(random.integers(0, 2, n) / 4.0),
        }
    )


def counted(table, names):
    """By polars, which takes a missing cell for a value like another."""
    sizes = table.group_by(names).len()["len"]
    below = {str(size): int(sizes.filter(sizes < size).sum()) for size in (2, 3, 5)}
    return {"n_records": len(table), "n_classes": len(sizes), "smallest": sizes.min(),
            "records_in_classes_under": below}  # fmt: skip


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=1, max_size=40))
def test_classes_are_those_of_a_plain_count(rows):
    """Every record is in one class, of as many as are equal to it in all columns."""
    found = equivalence_classes([np.array(column) for column in zip(*rows, strict=True)])
    sizes = [rows.count(row) for row in rows]
    assert found.n_classes == len(set(rows))
    assert found.smallest == min(sizes)
    assert dict(found.below) == {bound: sum(size < bound for size in sizes) for bound in (2, 3, 5)}


def test_many_columns_of_many_values_do_not_outgrow_64_bits():
    """Products of their numbers of values would: 5000^8 is far beyond."""
    column = np.random.Generator(np.random.PCG64(2)).permutation(5000)
    columns = [np.roll(column, place) for place in range(8)]
    assert equivalence_classes(columns).smallest == 1
    doubled = [np.concatenate([one, one]) for one in columns]
    assert equivalence_classes(doubled).to_dict()["records_in_classes_under"]["3"] == 10_000


@pytest.mark.parametrize("names", [["AGE"], ["SEX", "AGE"], NAMES])
def test_an_assessment_counts_numbers_dates_text_and_missing_cells(names):
    """Of both tables, also where the release has other cells missing."""
    before, after = people(), people(seed=2)
    found = mv.assess(before, after, ["TAX"], quasi_identifiers=names).to_dict()["k_anonymity"]
    assert found["original"] == found["original_in_released"] == counted(before, names)
    assert found["protected"] == counted(after, names)
    assert found["quasi_identifiers"] == found["released"] == names


def test_a_known_table_has_the_counts_that_were_published():
    """Capobianchi, Polettini and Lucarelli's eight records; sdcMicro prints 2 2 2 1 1 1 1 2."""
    keys = {
        "Key1": [1, 1, 1, 3, 4, 4, 6, 1],
        "Key2": [2, 2, 2, 3, 3, 3, 2, 2],
        "Key3": [5, 1, 1, 1, 1, 1, 1, 5],
        "Key4": [1, 1, 1, 5, 4, 1, 5, 1],
    }
    published = [2, 2, 2, 1, 1, 1, 1, 2]
    table = pl.DataFrame(keys)
    counts = mv.assess(table, table, quasi_identifiers=list(keys)).to_dict()["k_anonymity"]
    assert counts["original"]["n_records"] == len(published)
    assert counts["original"]["smallest"] == min(published)
    assert counts["original"]["n_classes"] == sum(1 / size for size in published)
    below = counts["original"]["records_in_classes_under"]
    assert below == {str(n): sum(size < n for size in published) for n in (2, 3, 5)}


@pytest.mark.reference
def test_of_adult_every_count_is_that_of_another_library(reference_data):
    """The quasi-identifiers that papers take of Adult, text and numbers together."""
    adult = pl.read_csv(reference_data / "adult.csv")
    names = [name for name in adult.columns if name.lower() in {"age", "sex", "race", "education"}]
    found = equivalence_classes([adult[name].to_numpy() for name in names])
    assert found.to_dict() == counted(adult, names)
    assert len(names) == 4


def test_a_column_that_is_not_released_counts_for_the_original_alone():
    """And for a fair comparison the original is counted by what the release has too."""
    before, after = people(), people(seed=2).drop("TAX")
    found = mv.assess(before, after, quasi_identifiers=["SEX", "TAX"])
    contents = found.to_dict()["k_anonymity"]
    assert contents["original"] == counted(before, ["SEX", "TAX"])
    assert contents["original_in_released"] == counted(before, ["SEX"])
    assert contents["protected"] == counted(after, ["SEX"])
    assert "Not in the release: TAX" in found.to_text()


def test_without_asking_there_are_no_counts():
    """An assessment is as it was."""
    found = mv.assess(people(), people(seed=2))
    assert "k_anonymity" not in found.to_dict()
    assert "k-anonymity by" not in found.to_text()


@pytest.mark.parametrize("names", [["NOTHING"], ["SEX", "NOTHING"]])
def test_a_column_that_is_not_there_is_refused(names):
    """Of the original; and where the release has none of them."""
    with pytest.raises(mv.MicroveilError, match="NOTHING"):
        mv.assess(people(), people(), quasi_identifiers=names)
    with pytest.raises(mv.MicroveilError, match="protected"):
        mv.assess(people(), people().drop("SEX"), quasi_identifiers=["SEX"])


def test_mixed_mdav_shows_its_k_to_the_command_line(tmp_path):
    """Protected by all of them, no record is in a class of fewer than k."""
    table = people(200).drop_nulls()
    table.write_csv(tmp_path / "people.csv")
    asked = {"method": "mdav", "k": 5, "attributes": NAMES, "categories": {"SEX": ["f", "m"]},
             "resolution": {"TAX": 0.25}}  # fmt: skip
    release = mv.protect(table, **asked)
    release.write(tmp_path / "out")
    arguments = ["assess", "people.csv", "out/data.csv", "--quasi-identifiers", "AGE,SEX,BORN,TAX"]
    found = json.loads(run(*arguments, "--json", folder=tmp_path).stdout)["k_anonymity"]
    assert found["protected"]["smallest"] >= 5
    assert found["protected"]["records_in_classes_under"] == {"2": 0, "3": 0, "5": 0}
    assert found["original"] == counted(table, NAMES)
    assert found["original"]["records_in_classes_under"]["5"] > 0
    text = run(*arguments, folder=tmp_path).stdout
    assert "k-anonymity by AGE, SEX, BORN, TAX" in text
