"""What is released can be written and read again: dates, people's numbers and words that lack."""

import datetime

import numpy as np
import polars as pl
import pyreadstat
import pytest

import microveil as mv

N = 40


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (datetime.date(1, 1, 1), datetime.date(300, 1, 1)),
        (datetime.date(1990, 1, 1), datetime.date(9999, 12, 31)),
    ],
)
def test_no_date_is_released_that_no_calendar_has(first, last):
    """Bounds that whole weeks widen to before the year 1 or after 9999 are refused."""
    table = pl.DataFrame({"BORN": [first, last] * N})
    asked = {"method": "laplace", "epsilon": 0.001, "attributes": ["BORN"]}
    asked["bounds"] = {"BORN": (first, last)}
    with pytest.raises(mv.RequestError, match="before the year 1 or after 9999"):
        mv.protect(table, **asked, resolution={"BORN": 7})
    released = mv.protect(table, **asked).data["BORN"]
    assert first <= released.min() <= released.max() <= last


@pytest.mark.parametrize("kind", ["csv", "parquet", "sqlite"])
def test_a_schema_beside_a_release_names_the_new_numbers_of_people(tmp_path, kind):
    """A labelled table of households is read again with its schema, new numbers included."""
    numbers = {"HOME": np.arange(N) // 2, "AGE": np.arange(N)}
    frame = pl.DataFrame(numbers).to_pandas().astype("int32")
    pyreadstat.write_dta(frame, str(tmp_path / "people.dta"), column_labels=["home", "age"])
    release = mv.protect(
        mv.read(tmp_path / "people.dta"), method="laplace", epsilon=1, attributes=["AGE"],
        bounds={"AGE": (0, 99)}, unit="HOME", max_rows=2,
    )  # fmt: skip
    public, _ = release.write(tmp_path / "out", format=kind)
    (data,) = public.glob("data.*")
    assert (public / "schema.json").exists()
    again = mv.read(data)
    assert sorted(again.frame.columns) == ["AGE", "HOME"]
    assert again.schema["AGE"].labels.column == "age"
    assert again.schema["HOME"].labels.column is None


@pytest.mark.parametrize("kind", ["csv", "parquet", "sqlite", "dta", "sav"])
def test_an_array_of_words_that_lacks_some_can_be_written(tmp_path, kind):
    """A dict's array of text holds None in empty cells, and every format takes it."""
    words = np.array(["north", None, "south", None] * N, dtype=object)
    release = mv.protect(
        {"REGION": words}, method="pram", epsilon=0.1, missing="protect", attributes=["REGION"],
        categories={"REGION": ["north", "south"]},
    )  # fmt: skip
    public, _ = release.write(tmp_path / "out", format=kind)
    (data,) = public.glob("data.*")
    read = mv.read(data).frame["REGION"].to_list()
    assert [cell or None for cell in read] == release.data["REGION"].tolist()
