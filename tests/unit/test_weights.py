"""Survey weights: left out by their role, used by no release, and by the custodian to assess."""

import tomllib

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.release.proposal import propose_recipe
from microveil.table import likely_weights, open_table

N = 60


def sample(seed=1):
    """A small survey: whom a record stands for hangs on its region."""
    random = np.random.Generator(np.random.PCG64(seed))
    region = random.choice(["north", "south"], N, p=[0.7, 0.3])
    return pl.DataFrame(
        {
            "WEIGHT": np.round(np.where(region == "north", 20, 90) * random.gamma(9, 1 / 9, N), 2),
            "AGE": random.integers(18, 90, N),
            "INCOME": np.round(random.lognormal(10, 0.6, N)).astype(np.int64),
            "REGION": region,
        }
    )


SAMPLE = sample()
NUMBER = {"role": "confidential", "type": "whole number"}
ENTRIES = {
    "WEIGHT": {"role": "weight", "type": "decimal", "resolution": 0.01, "bounds": [0, 1000]},
    "AGE": {**NUMBER, "bounds": [0, 120]},
    "INCOME": {**NUMBER, "bounds": [0, 500_000]},
}
TEXT = {"role": "quasi-identifier", "type": "text", "categories": ["north", "south"]}
METHODS = {
    "laplace": {"epsilon": 1},
    "dp-um": {"epsilon": 1, "k": 5},
    "idp-cbls": {"epsilon": 1, "k": 5, "exact_cells": "widen"},
    "mdav": {"k": 5},
    "kanon-dp": {"epsilon": 1, "k": 5},
    "k-noise": {"k": 5},
    "pram": {"epsilon": 1, "attributes": ["REGION"]},
    "dp-synthetic": {"epsilon": 30},
}


def asked(method, **entries):
    """Return a recipe of all columns; text is left out by methods for numbers alone."""
    return {"method": method, "attributes": {**ENTRIES, "REGION": TEXT, **entries}}


@pytest.mark.parametrize("method", METHODS)
def test_a_seeded_release_is_the_same_whatever_weights_that_are_left_out_hold(method):
    """Every cell, the guarantee and the notes; weights that are all 0, missing or huge as well."""
    more = {**METHODS[method], "seed": 7}
    others = (
        pl.Series("WEIGHT", np.arange(N)[::-1] * 1e9 + 0.5),
        pl.Series("WEIGHT", np.zeros(N)),
        pl.Series("WEIGHT", [None, -1.0] * (N // 2)),
    )
    one = mv.protect(SAMPLE, recipe=asked(method), **more)
    assert "WEIGHT" not in one.data.columns
    for weights in others:
        other = mv.protect(SAMPLE.with_columns(weights), recipe=asked(method), **more)
        assert other.data.equals(one.data)
        assert other.guarantee == one.guarantee
        assert other.notes == one.notes
    # What is protected is not the same: the comparison can fail.
    ages = pl.Series("AGE", [20, 80] * (N // 2))
    regions = pl.Series("REGION", ["north", "south"] * (N // 2))
    assert not mv.protect(
        SAMPLE.with_columns(ages, regions), recipe=asked(method), **more
    ).data.equals(one.data)


def test_weights_are_left_out_and_the_notes_say_so():
    """By their role alone, whatever the column is called."""
    people = SAMPLE.rename({"WEIGHT": "X1"})
    recipe = {**asked("mdav", X1=ENTRIES["WEIGHT"]), "k": 5}
    del recipe["attributes"]["WEIGHT"]
    release = mv.protect(people, recipe=recipe)
    assert release.data.columns == ["AGE", "INCOME", "REGION"]
    assert "Not released: X1." in release.notes


def test_weights_are_protected_like_any_number_where_their_role_is_confidential():
    """They then have terms of their own in the guarantee, and bounds are asked for."""
    entry = {**ENTRIES["WEIGHT"], "role": "confidential"}
    recipe = {**asked("laplace", WEIGHT=entry), "epsilon": 1}
    release = mv.protect(SAMPLE, recipe=recipe)
    assert [terms.name for terms in release.guarantee.attributes] == ["WEIGHT", "AGE", "INCOME"]
    assert release.data["WEIGHT"].is_between(0, 1000).all()
    del entry["bounds"]
    with pytest.raises(mv.RequestError, match="attribute 'WEIGHT': laplace needs its bounds"):
        mv.protect(SAMPLE, recipe=recipe)


def test_public_weights_are_released_as_they_are_and_the_guarantee_names_them():
    """Among the columns kept, a condition of every epsilon beside them."""
    entry = {**ENTRIES["WEIGHT"], "role": "non-confidential"}
    release = mv.protect(SAMPLE, recipe={**asked("laplace", WEIGHT=entry), "epsilon": 1})
    assert release.data["WEIGHT"].equals(SAMPLE["WEIGHT"])
    assert release.guarantee.kept == ("WEIGHT",)
    assert "kept-columns" in {condition.id for condition in release.guarantee.conditions}


def test_a_part_does_not_protect_what_the_recipe_leaves_out_as_weights():
    """The two contradict one another."""
    part = {"attributes": ["WEIGHT"], "method": "mdav", "k": 5}
    with pytest.raises(mv.RequestError, match="part of 'WEIGHT': its role is weight: it is left o"):
        mv.protect(SAMPLE, recipe={"parts": [part], "attributes": ENTRIES})


@pytest.mark.parametrize("scope", [None, "row"])
def test_weights_of_the_survey_are_proposed_as_weights(scope):
    """Whole ones that differ in every record too, and ones that repeat as households do."""
    survey = mv.invented_people(300, seed=2, kind="survey").with_columns(
        fnlwgt=np.random.Generator(np.random.PCG64(1)).permutation(300) + 1000,
        HHWGT=pl.col("HOUSEHOLD") * 3,
    )
    text = propose_recipe(survey.select("HHWGT", pl.exclude("HHWGT")), scope=scope)
    roles = {name: entry["role"] for name, entry in tomllib.loads(text)["attributes"].items()}
    assert [name for name, role in roles.items() if role == "weight"] == [
        "HHWGT", "WEIGHT", "fnlwgt",
    ]  # fmt: skip
    assert roles["HOUSEHOLD"] == "identifier"
    assert '# unit = "HOUSEHOLD"' in text
    assert ("weights too, if they are declared public" in text) == (scope is None)


@pytest.mark.parametrize(
    ("name", "called_so"),
    [
        ("WEIGHT", True), ("weights", True), ("fnlwgt", True), ("PWGTP12", True), ("W_POND", True),
        ("ponderation", True), ("SampleWeight", True), ("hh_wght_2013", True), ("wt", True),
        ("AGE", False), ("overweight", False), ("birth_weight", False), ("BODYWEIGHT", False),
        ("weight_kg", False), ("weightless", False), ("newt", False),
    ],
)  # fmt: skip
def test_weights_are_known_by_the_words_of_their_name(name, called_so):
    """A body's weight is none where the name says so; letters within another word count nothing."""
    assert likely_weights(open_table({name: np.array([1.5, 0.0])}), name) == called_so


@pytest.mark.parametrize(
    "values",
    [np.array([1.5, -2.0]), np.array([0, 0]), np.array(["a", "b"]), np.array([True, False])],
)
def test_what_cannot_weigh_a_record_is_not_proposed_as_weights(values):
    """Numbers below 0, nothing but 0, text, yes/no."""
    assert not likely_weights(open_table({"WEIGHT": values}), "WEIGHT")
