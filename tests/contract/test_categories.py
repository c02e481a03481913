"""Categories: declared as the domain of an attribute, ordered or not, and never as numbers."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import microveil as mv
from microveil.methods import METHODS
from microveil.noise import expected_error

LEVELS = ("none", "school", "degree", "doctorate")
ORDERED = {"E": mv.ordered(*LEVELS)}
N = 120
CODES = np.random.Generator(np.random.PCG64(4)).integers(0, len(LEVELS), N)
WORDS = np.array(LEVELS)[CODES]
AGES = np.random.Generator(np.random.PCG64(5)).integers(0, 90, N)
ASKED = {"k": 5, "epsilon": 1, "attributes": ["E"], "exact_cells": "allow"}
RANKING = [name for name, method in METHODS.items() if "categories" not in method.can]
# Methods over records, which represent ordered categories otherwise than numbers.
OVER_RECORDS = [name for name, method in METHODS.items() if method.uses("blocks")]
# A word that stands in the data and in no message.
SECRET = "Ulaanbaatar"


def frames(words):
    """The same column in every kind of frame."""
    words = list(words)
    return {
        "numpy": {"E": np.array(words, dtype=object)},
        "pandas": pd.DataFrame({"E": pd.Series(words, dtype=object)}),
        "pandas category": pd.DataFrame({"E": pd.Categorical(words)}),
        "polars": pl.DataFrame({"E": pl.Series(words, dtype=pl.String)}),
        "polars categorical": pl.DataFrame({"E": pl.Series(words, dtype=pl.Categorical)}),
        "polars enum": pl.DataFrame({"E": pl.Series(words, dtype=pl.Enum([SECRET, *LEVELS]))}),
        "pyarrow": pa.table({"E": words}),
    }


def cells(data):
    """The cells of the column, None where missing."""
    if isinstance(data, pa.Table):
        return data["E"].to_pylist()
    if isinstance(data, pd.DataFrame):
        return [None if pd.isna(cell) else cell for cell in data["E"]]
    return data["E"].to_list() if isinstance(data, pl.DataFrame) else data["E"].tolist()


@pytest.mark.parametrize(
    ("method", "isotonic"),
    [
        *((name, False) for name in METHODS if name not in OVER_RECORDS or name == "record-dp"),
        *((name, True) for name, method in METHODS.items() if "isotonic" in method.can),
    ],
)
def test_an_ordinal_attribute_is_the_whole_numbers_from_0(method, isotonic, monkeypatch):
    """Categories at the positions that would be released, and the same promise.

    Methods over whole records apart: see `test_mixed_records`.
    """
    # The error to expect is simulated to fewer digits: it decides nothing here.
    monkeypatch.setattr(expected_error, "MOST_RUNS", expected_error.LEAST_RUNS)
    asked = {**ASKED, "method": method, "isotonic": isotonic, "seed": 1}
    table = {"E": WORDS, "A": AGES}
    numbers = {"E": CODES, "A": AGES}
    asked = {**asked, "attributes": ["E", "A"]}
    if "new table" in METHODS[method].can:
        asked["epsilon"] = 100  # so few records need it
    bounds = {"A": (0, 90)}
    ranks = mv.protect(numbers, bounds={**bounds, "E": (0, 3)}, **asked)
    listed = mv.protect(table, bounds=bounds, categories=ORDERED, **asked)
    assert listed.data["E"].tolist() == [LEVELS[code] for code in ranks.data["E"]]
    assert listed.data["A"].tolist() == ranks.data["A"].tolist()
    del asked["seed"]
    promised = mv.plan(numbers, bounds={**bounds, "E": (0, 3)}, **asked).guarantee.to_dict()
    claimed = mv.plan(table, bounds=bounds, categories=ORDERED, **asked).guarantee.to_dict()
    assert claimed["attributes"]["E"].pop("domain") == list(LEVELS)
    assert promised["attributes"]["E"].pop("domain") == [0, 3]
    assert (claimed.pop("kinds")["E"], promised.pop("kinds")["E"]) == ("ordinal", "whole number")
    assert claimed == promised


@pytest.mark.parametrize("method", ["dp-um", "pram", "mdav", "k-noise"])
@pytest.mark.parametrize("kind", list(frames(WORDS)))
def test_every_kind_of_frame_gets_categories_back(kind, method):
    """In its own type, missing cells missing, and nothing that was not declared."""
    words = [None if place % 7 == 0 else word for place, word in enumerate(WORDS)]
    table = frames(words)[kind]
    release = mv.protect(table, method=method, categories=ORDERED, missing="keep", **ASKED)
    released = cells(release.data)
    assert type(release.data) is type(table)
    assert [cell is None for cell in released] == [word is None for word in words]
    assert set(released) - {None} <= set(LEVELS)
    if kind == "polars enum":
        assert release.data["E"].dtype == pl.Enum(LEVELS)
    if kind == "pandas category":
        assert list(release.data["E"].cat.categories) == list(LEVELS)


@pytest.mark.parametrize(
    "column",
    [
        np.array([9, 1, 4] * 40),
        pd.Series([9, None, 4] * 40, dtype="float64"),
        pl.Series([9, None, 4] * 40, dtype=pl.Int16),
        pl.Series([True, None, False] * 40),
    ],
)
@pytest.mark.parametrize("is_ordered", [True, False])
def test_codes_and_yes_no_are_categories_where_they_are_declared(column, is_ordered):
    """Whole numbers come back as codes of the list, in the column's own type."""
    listed = [False, True] if getattr(column, "dtype", None) == pl.Boolean else [9, 4, 1]
    table = {"E": column} if isinstance(column, np.ndarray) else None
    if table is None:
        frame = pd.DataFrame if isinstance(column, pd.Series) else pl.DataFrame
        table = frame({"E": column})
    given = mv.ordered(*listed) if is_ordered else listed
    method = "dp-um" if is_ordered else "pram"
    release = mv.protect(table, method=method, categories={"E": given}, missing="keep", **ASKED)
    assert release.data["E"].dtype == table["E"].dtype
    assert set(cells(release.data)) - {None} <= set(listed)
    assert release.guarantee.attributes[0].domain == tuple(listed)
    assert release.guarantee.attributes[0].kind == ("ordinal" if is_ordered else "nominal")
    assert f"{listed[0]}, {listed[1]}" in release.guarantee.statement()


def test_codes_are_taken_in_their_declared_order():
    """Not in the order of the numbers: between the first and the last lies the middle."""
    table = {"E": np.array([5] * 3 + [1] * 3)}
    release = mv.protect(
        table, method="ranking", k=6, attributes="E", categories={"E": mv.ordered(5, 9, 1)}
    )
    assert set(release.data["E"].tolist()) <= {5, 9, 1}
    assert len(set(release.data["E"].tolist())) == 1
    planned = mv.plan(
        table, method="ranking", k=6, attributes="E", categories={"E": mv.ordered(5, 9, 1)}
    )
    assert planned.attributes[0].sums.tolist() == [6]


@pytest.mark.parametrize("method", RANKING)
@pytest.mark.parametrize("argument", ["categories", "bounds"])
def test_categories_in_no_order_are_refused_where_values_are_ranked(method, argument):
    """With what would do: pram, a new table, a method over records, or an order."""
    able = "pram, dp-synthetic, or over whole records kanon-dp, mdav, mdav-insensitive, v-mdav"
    with pytest.raises(mv.RequestError, match=rf"no order; choose {able}; or.*--ordered E="):
        mv.protect({"E": WORDS}, method=method, **ASKED, **{argument: {"E": list(LEVELS)}})


BAD = {
    "both given": ({"bounds": {"E": ["a", "b"]}, "categories": ORDERED}, "both given"),
    "no list": ({"categories": {"E": "none"}}, "a list, of text"),
    "a mapping": ({"categories": {"E": {"none": 1, "school": 2}}}, "a list, of text"),
    "nothing in it": ({"categories": {"E": []}}, "two categories or more"),
    "an empty order": ({"categories": {"E": mv.ordered()}}, "two categories or more"),
    "one of them": ({"categories": {"E": ["none"]}}, "two categories or more"),
    "one twice": ({"categories": {"E": [*LEVELS, "none"]}}, "all different"),
    "numbers of text": ({"categories": {"E": [1, 2]}}, "a list, of text"),
    "text of numbers": (
        {"bounds": {}, "categories": {"A": ["a", "b"]}},
        "a list, of whole numbers",
    ),
    "decimals of numbers": (
        {"bounds": {}, "categories": {"A": [1.5, 2]}},
        "a list, of whole numbers",
    ),
    "codes beyond 64 bits": (
        {"bounds": {}, "categories": {"A": [1, 1 << 63]}},
        "a list, of whole numbers",
    ),
    "true among numbers": (
        {"bounds": {}, "categories": {"A": [True, 5]}},
        "a list, of whole numbers",
    ),
    "another column": ({"categories": {"nothing": ["a", "b"]}}, "no such column"),
    "no mapping": ({"categories": ["a", "b"]}, "maps column names"),
    "of a date": ({"categories": {"D": ["a", "b"]}}, "no categories"),
    "a type of a column": ({"types": {"E": "ordinal"}}, "must be one of"),
}


@pytest.mark.parametrize(("more", "message"), BAD.values(), ids=list(BAD))
def test_what_is_no_list_of_categories_is_refused(more, message):
    """Rule and place; of the data nothing is looked at."""
    days = np.arange(N).astype("datetime64[D]")
    table = {"E": WORDS, "A": AGES, "D": days}
    own = next(iter(more.get("categories", "E")))
    asked = {**ASKED, "attributes": [own if own in table else "E"], "method": "pram"}
    with pytest.raises(mv.RequestError, match=message):
        mv.protect(table, **{**asked, "bounds": {"A": (0, 90)}, **more})


@pytest.mark.parametrize("kind", [*frames(LEVELS), "codes"])
@pytest.mark.parametrize("outside", ["error", "clamp"])
def test_a_category_outside_its_list_is_named_by_place_alone(kind, outside):
    """Not by its value, which is somebody's; nor is it moved to a neighbour."""
    words = [*WORDS, SECRET]
    listed = mv.ordered(*LEVELS)
    if kind == "codes":
        table, listed = {"E": np.array([1, 2] * 60 + [777])}, mv.ordered(1, 2)
    else:
        table = frames(words)[kind]
    with pytest.raises(mv.DataError, match="record 121: values are none of the") as found:
        mv.protect(table, method="dp-um", categories={"E": listed}, outside=outside, **ASKED)
    assert SECRET not in str(found.value)
    assert "777" not in str(found.value)


def test_a_comparison_measures_ordinal_attributes_by_their_ranks():
    """And two comparisons that differ in the order alone are not the same."""
    asked = {"methods": ["dp-um", "mdav"], "k": [5], "epsilon": [1], "runs": 1, "seed": 1}
    numbers = mv.compare({"E": CODES}, attributes=["E"], bounds={"E": (0, 3)}, **asked)
    ranks = mv.compare({"E": WORDS}, attributes=["E"], categories=ORDERED, **asked)
    assert ranks.table["sse"].to_list() == numbers.table["sse"].to_list()
    both = {"E": WORDS, "A": AGES}
    listed, ordered = (
        mv.compare(both, attributes=["E", "A"], methods=["pram"], epsilon=[1], runs=1, seed=1,
                   categories={"E": given}, bounds={"A": (0, 90)})
        for given in (list(LEVELS), mv.ordered(*LEVELS))
    )  # fmt: skip
    assert listed.description["arguments"] != ordered.description["arguments"]
    assert listed.description["table"] != ordered.description["table"]
