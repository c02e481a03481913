"""Recipes: proposed, filled in, read back, and refused where they are wrong."""

import tomllib

import numpy as np
import pytest

import microveil as mv
from microveil.commands.proposal import proposed_recipe
from microveil.protect.recipe import read_recipe

PEOPLE = mv.invented_people(200, seed=3)


def test_a_proposed_recipe_is_read_back_and_asks_for_bounds():
    """Roles, types and decimals are proposed; bounds are left to a person."""
    text = proposed_recipe(PEOPLE, "people.csv", show_values=True).text
    assert 'role = "identifier"' in text.split("[attributes.ID]")[1].split("[")[0]
    assert "resolution = 0.01" in text.split("[attributes.INCOME]")[1].split("[")[0]
    assert "# bounds" in text.split("[attributes.AGE]")[1].split("[attributes")[0]
    arguments = read_recipe(tomllib.loads(text))
    assert "ID" not in arguments["attributes"]
    assert "REGION" in arguments["attributes"]  # its categories are learnt
    assert "bounds" not in arguments


def test_a_recipe_file_does_what_the_arguments_do(tmp_path):
    """Roles choose what is protected, kept and left out; dates and bounds are read."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        """
        method = "dp-um"
        k = 5
        epsilon = 0.5
        missing = "keep"

        [attributes.ID]
        role = "identifier"
        type = "whole number"

        [attributes.REGION]
        role = "non-confidential"
        type = "text"

        [attributes.INCOME]
        role = "confidential"
        type = "decimal"
        resolution = 0.01
        bounds = [0, 400000]
        budget = 2

        [attributes.SINCE]
        role = "quasi-identifier"
        type = "date"
        bounds = [1980-01-01, 2030-12-31]
        """
    )
    release = mv.protect(PEOPLE, recipe=recipe)
    assert release.data.columns == ["REGION", "SINCE", "INCOME"]
    guarantee = release.guarantee.to_dict()
    assert guarantee["epsilon"] == 0.5
    assert guarantee["kept"] == ["REGION"]
    assert guarantee["attributes"]["SINCE"]["domain"] == ["1980-01-01", "2030-12-31"]
    assert guarantee["attributes"]["INCOME"]["share"] == pytest.approx(1 / 3)


def test_arguments_override_the_recipe():
    """What is passed by name stands above what the file says; one bound leaves the others."""
    entry = {"role": "confidential", "type": "whole number", "bounds": [0, 110]}
    recipe = {"method": "dp-um", "k": 5, "epsilon": 1,
              "attributes": {"AGE": entry, "HOUSEHOLD": {**entry, "bounds": [1, 15]}}}  # fmt: skip
    plan = mv.plan(PEOPLE, recipe=recipe, k=7, bounds={"AGE": (0, 120)})
    assert plan.guarantee.k == 7
    assert [part.attribute.grid_bounds for part in plan.attributes] == [(0, 120), (1, 15)]


def test_a_seed_in_a_recipe_is_a_seed():
    """The release repeats, and protects nobody."""
    entry = {"role": "confidential", "type": "whole number", "bounds": [0, 110]}
    recipe = {"method": "dp-um", "k": 5, "epsilon": 1, "seed": 3, "attributes": {"AGE": entry}}
    one, other = (mv.protect(PEOPLE, recipe=recipe) for _ in range(2))
    assert one.data.equals(other.data)
    assert one.guarantee.randomness == "seeded"


@pytest.mark.parametrize(
    "text",
    [
        "method = ",
        'methods = "dp-um"',
        'k = "ten"',
        '[attributes.AGE]\nrole = "secret"\ntype = "date"',
        '[attributes.AGE]\nrole = "confidential"',
        '[attributes.AGE]\nrole = "confidential"\ntype = "date"\nbounds = [1]',
        "attributes = 3",
    ],
)
def test_a_recipe_that_is_wrong_is_refused(tmp_path, text):
    """The place is named; nothing of the parser's, which may hold a value, is passed on."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(text)
    with pytest.raises(mv.MicroveilError, match="recipe") as caught:
        mv.protect(PEOPLE, recipe=recipe)
    assert caught.value.__context__ is None


def test_column_names_of_all_kinds_survive_a_recipe():
    """Dots, quotes, spaces and accents in names are quoted as TOML wants them."""
    names = ["a.b", "bell\x07", 'say "x"', "back\\slash", "größe", "two words", "tab\there"]
    table = {name: np.array([1, 1, 2]) for name in names}
    assert list(tomllib.loads(proposed_recipe(table).text)["attributes"]) == names


def test_a_recipe_that_protects_nothing_releases_nothing():
    """Identifiers and columns it does not name are never fallen back to."""
    entry = {"role": "identifier", "type": "whole number"}
    recipe = {"method": "idp-cbls", "k": 5, "epsilon": 1, "attributes": {"AGE": entry}}
    with pytest.raises(mv.RequestError, match="no attribute to protect"):
        mv.protect(PEOPLE, recipe=recipe)


ENTRY = {"role": "confidential", "type": "whole number", "bounds": [0, 110]}
TEXT = {"role": "quasi-identifier", "type": "text", "bounds": ["a", "b"]}


@pytest.mark.parametrize(
    "recipe",
    [
        {"method": "auto", "scope": "row", "attributes": {"AGE": ENTRY}},
        {"k": "auto", "missing": "keep", "attributes": {"AGE": ENTRY}},
        {"method": "kanon-dp", "attributes": {"AGE": ENTRY}},
        {"method": "kanon-dp", "attributes": {"AGE": ENTRY, "CITY": TEXT}},
        {"method": "kanon-dp"},
    ],
)
def test_an_earlier_recipe_that_means_something_else_now_is_refused(recipe):
    """It says what changed, and how to say that this is what is wanted."""
    for version in ({}, {"microveil": "0.1"}, {"microveil": "0.1.9"}):
        with pytest.raises(mv.RequestError, match="means something else now: ") as caught:
            read_recipe({**recipe, **version})
        assert 'microveil = "0.3"' in str(caught.value)
    for version in ("0.2", "0.2.0", "0.3"):
        assert "microveil" not in read_recipe({**recipe, "microveil": version})


@pytest.mark.parametrize(
    ("versions", "rule"),
    [
        (("0.4", "1.0", "2.0.1"), "later version"),
        (("", "two", "0", "0.2.x", "0.2rc1", "9" * 30 + ".0"), "it is a version"),
    ],
)
def test_a_later_version_and_what_is_none_are_refused(versions, rule):
    """A later one may say what this one does not know; a version is two or three whole numbers."""
    for version in versions:
        with pytest.raises(mv.RequestError, match=rule):
            read_recipe({"method": "laplace", "microveil": version})


TEXT = {"role": "quasi-identifier", "type": "text"}
LISTED = {**TEXT, "categories": ["north", "south"]}


@pytest.mark.parametrize(
    ("entry", "rule"),
    [({**TEXT, "categories_from_data": True}, "read from the data"),
     ({**LISTED, "ordered": True, "categories_from_data": True}, "read from the data"),
     ({**TEXT, "ordered": True}, r"attributes\.REGION\.ordered.*none are listed")],
    ids=["no list", "ordered", "an order of none"],
)  # fmt: skip
def test_words_on_a_list_that_are_none_are_refused(entry, rule):
    """An order is a person's, and what is no list was read from nowhere and has no order."""
    with pytest.raises(mv.RequestError, match=rule):
        read_recipe({"attributes": {"REGION": entry}})
