"""Counts and means in subgroups, before and after."""

import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.errors import DataError, RequestError
from microveil.measures.subgroups import MISSING, compare_subgroups

people = st.lists(
    st.tuples(
        st.sampled_from(["", "f", "m"]),
        st.one_of(st.none(), st.integers(1, 3)),
        st.one_of(st.none(), st.integers(-50, 50)),
    ),
    min_size=1,
    max_size=30,
)


def arrays(records):
    sex = np.array([record[0] for record in records], dtype=np.str_)
    rooms, income = (
        np.array([math.nan if record[a] is None else record[a] for record in records], float)
        for a in (1, 2)
    )
    return sex, rooms, income


@given(people, people)
def test_subgroups_are_counted_and_averaged_record_by_record(before, after):
    """Every combination that occurs in either table; missing cells are a level of their own."""
    one, other = arrays(before), arrays(after)
    found = compare_subgroups(
        one[2][:, np.newaxis],
        other[2][:, np.newaxis],
        by={"SEX": (one[0], other[0]), "ROOMS": (one[1], other[1])},
    )

    def named(record):
        return record[0] or MISSING, MISSING if record[1] is None else str(record[1])

    assert sorted(found.levels) == sorted({named(record) for record in (*before, *after)})
    for g, levels in enumerate(found.levels):
        for side, records in enumerate((before, after)):
            own = [record[2] for record in records if named(record) == levels]
            assert found.counts[side, g] == len(own)
            assert found.shares[side, g] == len(own) / len(records)
            present = [income for income in own if income is not None]
            mean = sum(present) / len(present) if present else math.nan
            assert found.means[side, g, 0] == pytest.approx(mean, nan_ok=True)
    shares = found.shares
    assert found.largest_change == np.abs(shares[0] - shares[1]).max()
    order = [tuple(-found.counts[:, g]) for g in found.largest_first]
    assert order == sorted(order)
    assert sorted(found.largest_first) == list(range(len(found.levels)))


def test_equal_tables_have_equal_subgroups():
    """No share and no mean changes."""
    table = mv.invented_people(200, seed=3)
    found = mv.assess(table, table, by=["REGION", "EMPLOYED"]).subgroups
    assert found.largest_change == 0.0
    assert np.array_equal(found.means[0], found.means[1])
    assert {level for _, level in found.levels} == {"true", "false"}


def test_an_assessment_has_every_subgroup_in_its_dictionary_and_the_largest_in_its_text():
    """With the columns' names, counts, shares and means; the text says how many it leaves out."""
    table = mv.invented_people(400, seed=3).with_columns(pl.col("AGE") // 2)
    release = table.head(150)
    found = mv.assess(table, release, ["INCOME", "AGE"], paired=False, by=["REGION", "AGE"])
    written = found.to_dict()["subgroups"]
    assert written["by"] == ["REGION", "AGE"]
    assert len(written["groups"]) == len(found.subgroups.levels) > 20
    assert sum(group["count"]["original"] for group in written["groups"]) == 400
    assert sum(group["share"]["protected"] for group in written["groups"]) == pytest.approx(1.0)
    assert all(set(group["means"]) == {"INCOME"} for group in written["groups"])
    first = found.subgroups.largest_first[0]
    group = written["groups"][first]
    own = table.filter(
        (pl.col("REGION") == group["group"]["REGION"])
        & (pl.col("AGE") == int(group["group"]["AGE"]))
    )
    assert group["count"]["original"] == own.height
    assert group["means"]["INCOME"]["original"] == pytest.approx(own["INCOME"].mean())
    text = found.to_text()
    assert f"The largest 20 of {len(written['groups'])} subgroups" in text
    lines = text.splitlines()
    line = lines[1 + next(n for n, line in enumerate(lines) if line.startswith("  REGION, AGE"))]
    assert line.split()[-4:-2] == [str(own.height), str(group["count"]["protected"])]


def test_dates_and_yes_no_make_subgroups_by_their_names():
    """ISO dates, true and false."""
    day = np.array(["2020-01-01", "2020-01-02", "2020-01-01"], dtype="datetime64[D]")
    table = {"DAY": day, "YES": np.array([True, False, True]), "X": np.array([1.0, 2.0, 3.0])}
    found = mv.assess(table, table, ["X"], by=["DAY", "YES"]).subgroups
    assert found.levels == (("2020-01-01", "true"), ("2020-01-02", "false"))


def test_columns_that_make_no_subgroups_are_refused():
    """One that a table does not have, one of too many values, one of another kind."""
    table = mv.invented_people(300, seed=2)
    with pytest.raises(RequestError, match="'NOBODY': the original table has no such column"):
        mv.assess(table, table, by="NOBODY")
    with pytest.raises(DataError, match="'INCOME': subgroups are made of columns of at most 100"):
        mv.assess(table, table, by=["REGION", "INCOME"])
    other = table.with_columns(pl.col("AGE").cast(str))
    with pytest.raises(DataError, match="'AGE': it must be text in both tables or numbers"):
        mv.assess(table, other, by=["AGE"])
