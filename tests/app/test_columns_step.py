"""Columns: what is proposed declares nothing, and what is wrong is said beside its field."""

import datetime

import numpy as np
import pytest

import microveil as mv
from drafted import ENTRIES, drafted, sent
from microveil.app.columns_step import column_fields, declare_columns, undeclared
from microveil.app.forms import Form
from microveil.release.recipe import read_recipe

DOMAINS = {
    "lower_0": "0", "upper_0": "120",
    "lower_1": "0", "upper_1": "1e6",
    "lower_2": "1900-01-01", "upper_2": "2030-12-31",
    "categories_3": "f\nm",
}  # fmt: skip


def declared(**changed):
    """Say that all columns are right, with some fields changed."""
    return declare_columns(drafted()[1], Form(sent(**{**DOMAINS, "all": "yes", **changed})))


def test_a_proposal_declares_nothing():
    """What was seen in the table goes into the recipe only where a person says that it is right."""
    draft, errors = declare_columns(drafted()[1], Form(sent(**DOMAINS)))
    assert not errors
    assert draft.recipe["attributes"] == {}
    assert undeclared(draft) == list(ENTRIES)


def test_a_column_that_is_said_to_be_right_is_declared_and_no_other():
    """One box, one column."""
    form = Form(sent(**DOMAINS, right_0="yes"))
    draft, errors = declare_columns(drafted()[1], form)
    assert not errors
    assert draft.recipe["attributes"] == {"AGE": {**ENTRIES["AGE"], "bounds": [0, 120]}}


def test_all_columns_together_make_a_recipe_that_is_in_order():
    """Numbers are numbers, dates dates, categories text: as the recipe's reader takes them."""
    draft, errors = declared(ordered_3="yes", codes_0="-9\n-8")
    assert not errors
    found = read_recipe(draft.recipe)
    born = [datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)]
    assert found["attributes"] == ["AGE", "INCOME", "BORN", "SEX"]
    assert list(found["bounds"]["BORN"]) == born
    assert found["categories"]["SEX"] == mv.ordered("f", "m")
    assert found["missing_codes"] == {"AGE": [-9, -8]}
    assert not undeclared(draft)


@pytest.mark.parametrize(
    ("field", "blank"),
    [("lower-0", {"lower_0": "", "upper_0": ""}), ("categories-3", {"categories_3": ""}),
     ("resolution-1", {"resolution_1": ""})],
)  # fmt: skip
def test_a_blank_blocks_with_the_reason_beside_the_field(field, blank):
    """A protected column without its domain is not declared, and the others are."""
    draft, errors = declared(**blank)
    assert list(errors) == [field]
    assert len(undeclared(draft)) == 1


@pytest.mark.parametrize("bounds", [("0", "x"), ("9", "0"), ("", "5"), ("nan", "1")])
def test_bad_bounds_get_the_sentence_of_the_command_line(bounds):
    """Rule and remedy are those that `protect` refuses them with."""
    with pytest.raises(mv.RequestError) as refused:
        mv.protect(
            {"AGE": np.arange(9)}, method="dp-um", k=3, epsilon=1, attributes="AGE",
            bounds={"AGE": bounds},
        )  # fmt: skip
    _, errors = declared(lower_0=bounds[0], upper_0=bounds[1])
    assert errors["lower-0"] == str(refused.value)


def test_what_was_sent_is_shown_again_beside_what_is_wrong_with_it():
    """Nothing that a person wrote is lost."""
    form = Form(sent(**{**DOMAINS, "lower_0": "x", "all": "yes"}))
    column = next(column_fields(drafted()[1], form))
    assert column.values["lower"] == "x"
    assert column.is_proposed


def test_entries_without_a_field_stay():
    """A share of the budget that a recipe gave a column is not lost by looking at it."""
    entry = {**ENTRIES["AGE"], "bounds": [0, 9], "budget": 2}
    _, draft = drafted(attributes={"AGE": entry})
    changed, errors = declare_columns(draft, Form(sent(**{**DOMAINS, "all": "yes"})))
    assert not errors
    assert changed.recipe["attributes"]["AGE"] == {**entry, "bounds": [0, 120]}


def test_a_column_that_is_left_out_needs_no_domain():
    """Nor one that is kept as it is."""
    draft, errors = declared(
        role_0="identifier", lower_0="", upper_0="",
        role_3="non-confidential", categories_3="",
    )  # fmt: skip
    assert not errors
    assert draft.recipe["attributes"]["AGE"] == {"role": "identifier", "type": "whole number"}
