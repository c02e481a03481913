"""k-anonymity counts people where a column says whose a row is, and says so where none does."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microveil as mv
from command import run
from microveil.methods import METHODS

K = 5
TOGETHER = ("mdav", "v-mdav", "mdav-insensitive")
REGIONS = ["north", "south", "east"]
NAMES = ["AGE", "PAY", "REGION"]
ASKED = {
    "k": K,
    "attributes": NAMES,
    "bounds": {"AGE": (0, 120), "PAY": (0, 1_000_000)},
    "categories": {"REGION": REGIONS},
}


def person_years(n_people=120, seed=1, lacking=0.0):
    """One to nine years of each person, who are like themselves; in random order."""
    random = np.random.Generator(np.random.PCG64(seed))
    person = np.repeat(np.arange(n_people), random.integers(1, 10, n_people))
    person = random.permutation(person)
    age, pay = random.integers(20, 70, n_people), random.lognormal(10, 0.7, n_people)
    table = pl.DataFrame(
        {
            "HHID": 9000 - person,
            "AGE": age[person] + random.integers(0, 3, len(person)),
            "PAY": (pay[person] * random.normal(1, 0.02, len(person))).astype(int),
            "REGION": np.array(REGIONS)[person % 3],
        }
    )
    gaps = random.random((len(table), 3)) < lacking
    return table.with_columns(
        pl.when(pl.Series(gaps[:, place])).then(None).otherwise(name).alias(name)
        for place, name in enumerate(NAMES)
    )


def people_in_classes(release, table, names=NAMES):
    """Different people in each class of equal rows, by another library."""
    whose = release.data.lazy().collect().with_columns(WHOSE=table["HHID"])
    return whose.group_by(names).agg(pl.col("WHOSE").n_unique())


@pytest.mark.parametrize("method", TOGETHER)
@pytest.mark.parametrize("missing", ["error", "keep", "protect"])
@pytest.mark.parametrize("is_lazy", [False, True])
def test_every_class_holds_k_different_people(method, missing, is_lazy):
    """With a unit, in memory or not, whatever is missing; by records alone most held fewer."""
    if (method, missing) == ("mdav-insensitive", "protect"):
        missing = "keep"
    table = person_years(lacking=0.0 if missing == "error" else 0.1)
    asked, given = {**ASKED, "method": method, "missing": missing}, table
    if is_lazy:
        given = table.lazy()
    counted = people_in_classes(mv.protect(given, **asked, unit="HHID"), table)
    if missing == "keep":  # records that lack a value are released without any, outside it
        counted = counted.filter(pl.any_horizontal(pl.col(NAMES).is_not_null()))
    assert counted["WHOSE"].min() >= K
    assert len(counted) > 120 / (3 * K)
    without = people_in_classes(mv.protect(given, **asked), table)
    assert (without["WHOSE"] < K).mean() > 0.5


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_no_small_table_has_a_class_of_fewer_people(data):
    """Any values, any people, any k that there are people for; else it is refused."""
    rows = data.draw(
        st.lists(st.tuples(st.integers(0, 6), st.integers(0, 9), st.sampled_from("abc")),
                 min_size=4, max_size=30)
    )  # fmt: skip
    k, method = data.draw(st.integers(1, 6)), data.draw(st.sampled_from(TOGETHER))
    person, number, letter = (list(column) for column in zip(*rows, strict=True))
    table = pl.DataFrame({"HHID": person, "N": number, "L": letter})
    asked = {
        "attributes": ["N", "L"],
        "categories": {"L": ["a", "b", "c"]},
        "bounds": {"N": (0, 9)},
    }
    if len(set(person)) < k or len(rows) < k:
        with pytest.raises(mv.DataError, match="fewer"):
            mv.protect(table, method=method, k=k, unit="HHID", **asked)
        return
    release = mv.protect(table, method=method, k=k, unit="HHID", **asked)
    assert people_in_classes(release, table, ["N", "L"])["WHOSE"].min() >= k


@pytest.mark.parametrize("shuffle", [False, True])
def test_the_release_says_how_many_people_and_holds_no_number_of_theirs(shuffle, tmp_path):
    """Guarantee, summary, statement and file name the people; a person's rows are not joined."""
    table = person_years()
    release = mv.protect(table, method="mdav", unit="HHID", shuffle=shuffle, **ASKED)
    guarantee = release.guarantee
    assert release.data.columns == NAMES
    people = "5 different people (HHID)"
    assert f"k = {people}" in guarantee.summary()
    assert f"finds records of at least {people} that fit equally well" in guarantee.statement()
    assert f"clusters of at least {people}" in guarantee.deed
    assert f"shared by records of at least {people}" in " ".join(guarantee.to_dict()["notes"])
    assert guarantee.to_dict()["unit"]["column"] == "HHID"
    assert "repeated-people" not in [condition.id for condition in guarantee.conditions]
    folder, _ = release.write(tmp_path / "release")
    assert mv.Guarantee.read(folder / "guarantee.json") == guarantee


def test_no_kanonymity_is_unconditional_where_nobody_says_whose_a_row_is():
    """Every method and every part that states it carries the condition, wherever that is shown."""
    table = person_years().with_columns(pl.col("PAY") % 900).drop("REGION")
    bounds = {"AGE": (0, 120), "PAY": (0, 900)}
    asked = {"k": K, "bounds": bounds, "epsilon": 1, "exact_cells": "allow"}
    stating = set()
    for method in METHODS:
        for attributes in (["AGE"], ["AGE", "PAY"]):
            guarantee = mv.plan(table, method=method, attributes=attributes, **asked).guarantee
            if guarantee.model == "k-anonymity":
                stating.add((method, len(attributes)))
                assert "a person with several rows is counted several times" in guarantee.summary()
                assert [c.id for c in guarantee.conditions] == ["repeated-people"]
                assert "several rows" in guarantee.statement()
    assert stating >= {(method, n) for method in TOGETHER for n in (1, 2)} | {("ranking", 1)}
    parts = [
        mv.part(["AGE"], method="mdav", k=K),
        mv.part(["PAY"], method="laplace", epsilon=1),
    ]
    whole = mv.plan(table, parts=parts, bounds=bounds).guarantee
    assert whole.parts[0].model == "k-anonymity"
    assert "repeated-people" in [condition.id for condition in whole.conditions]


def test_a_file_of_an_earlier_version_is_read_with_the_condition():
    """It states k-anonymity of records and left unsaid that these may be one person's."""
    guarantee = mv.plan(person_years(), method="mdav", **ASKED).guarantee
    earlier = guarantee.to_dict()
    earlier["conditions"], earlier["notes"] = [], list(guarantee.remarks)
    read = mv.Guarantee.from_dict(json.loads(json.dumps(earlier)))
    assert [condition.id for condition in read.conditions] == ["repeated-people"]
    assert read == guarantee
    assert mv.Guarantee.from_dict(read.to_dict()) == read


def test_parts_beside_each_other_count_no_people():
    """They are not k-anonymous together; one part alone is."""
    table, parts = person_years(), [mv.part(["AGE", "PAY"], method="mdav", k=K)]
    alone = mv.protect(table, parts=parts, unit="HHID")
    assert people_in_classes(alone, table, ["AGE", "PAY"])["WHOSE"].min() >= K
    parts.append(mv.part(["REGION"], method="pram", epsilon=1))
    with pytest.raises(mv.RequestError, match="unit: the part of AGE, PAY counts the people"):
        mv.protect(table, parts=parts, unit="HHID", categories={"REGION": REGIONS})


def test_flag_and_recipe_count_people_and_assess_does(tmp_path):
    """The same classes from Python, the command line and a recipe; the count of them in people."""
    table = person_years()
    table.write_csv(tmp_path / "years.csv")
    release = mv.protect(table, method="mdav", k=K, attributes=["AGE", "PAY"], unit="HHID")
    flags = ("--method", "mdav", "--k", K, "--attributes", "AGE,PAY", "--unit", "HHID")
    (tmp_path / "years.toml").write_text(
        f'method = "mdav"\nk = {K}\nunit = "HHID"\n'
        + "".join(
            f'[attributes.{name}]\nrole = "confidential"\ntype = "whole number"\n'
            for name in ("AGE", "PAY")
        ),
        encoding="utf-8",
    )
    for number, how in enumerate((flags, ("--recipe", "years.toml"))):
        done = run("protect", "years.csv", *how, "-o", f"out{number}", folder=tmp_path)
        assert not done.returncode, done.stderr
        assert "5 different people (HHID)" in done.stdout + done.stderr
        assert pl.read_csv(tmp_path / f"out{number}" / "data.csv").equals(release.data)
    known = ("--quasi-identifiers", "AGE,PAY", "--json")
    done = run("assess", "years.csv", "out0/data.csv", *known, folder=tmp_path)
    found = json.loads(done.stdout)["k_anonymity"]
    counted = people_in_classes(release, table, ["AGE", "PAY"])["WHOSE"]
    assert (found["unit"], found["protected"]["smallest"]) == ("HHID", counted.min())
    before = table.group_by("AGE", "PAY").agg(pl.col("HHID").n_unique(), pl.len())
    alone = before.filter(pl.col("HHID") < 2)["len"].sum()
    assert found["original"]["records_in_classes_under"]["2"] == alone > 0


def test_what_clusters_of_people_have_no_use_for_is_a_note():
    """As with other arguments: a comparison gives each method the same."""
    table = person_years()
    more = {"max_rows": 2, "unit_attributes": ["REGION"]}  # most people have more records
    plain, told = (
        mv.protect(table, method="mdav", unit="HHID", **ASKED, **own) for own in ({}, more)
    )
    assert told.data.equals(plain.data)
    assert told.guarantee == plain.guarantee
    assert "mdav has no use for: max_rows, unit_attributes." in told.notes


def test_a_unit_that_a_method_cannot_take_is_one_error():
    """It said, too, that units have more records than the one that nobody asked for."""
    table = person_years()
    for asked, place in (({"method": "ranking", "k": K}, "unit"),
                         ({"method": "laplace", "epsilon": 1}, "max_rows")):  # fmt: skip
        with pytest.raises(mv.RequestError) as refused:
            mv.protect(table, attributes=["AGE"], unit="HHID", bounds={"AGE": (0, 120)}, **asked)
        assert [problem.place for problem in refused.value.problems] == [place]


def test_the_order_of_rows_that_may_show_whose_they_are_is_said(tmp_path):
    """On the terminal, with the flag; a recipe of inspect puts them in random order."""
    table = person_years().sort("HHID").select("HHID", "AGE", "PAY")
    table.write_csv(tmp_path / "people.csv")
    asked = ["--method", "mdav", "--k", str(K), "--unit", "HHID"]
    done = run("protect", "people.csv", *asked, "-o", "out", folder=tmp_path)
    assert "if it is sorted by HHID, they still show which rows are one unit's" in done.stderr
    done = run("protect", "people.csv", *asked, "--shuffle", "-o", "mixed", folder=tmp_path)
    assert "sorted by HHID" not in done.stderr
    assert run("inspect", "people.csv", *asked, "-o", "r.toml", folder=tmp_path).returncode == 0
    assert 'shuffle = "rows"' in (tmp_path / "r.toml").read_text()
    done = run("protect", "people.csv", "--recipe", "r.toml", "-o", "told", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert mv.Guarantee.read(tmp_path / "told" / "guarantee.json").shuffle == "rows"
