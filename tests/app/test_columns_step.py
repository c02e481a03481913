"""Columns: what is proposed declares nothing, and what is wrong is said beside its field."""

import datetime

import pytest

import microveil as mv
from drafted import ENTRIES, drafted, sent
from microveil.app.columns_step import column_fields, declare_columns, undeclared, with_values
from microveil.app.drafts import SeenValues
from microveil.app.forms import Form
from microveil.protect.recipe import read_recipe

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


def test_a_step_seen_in_the_decimals_is_proposed_and_fills_in_no_field():
    """What is read from the data declares nothing, said to be right or not: a person writes it."""
    column = list(column_fields(drafted()[1]))[1]
    assert (column.values["resolution"], column.proposed_step) == ("", "0.01")
    draft, errors = declared(resolution_1=column.values["resolution"])
    assert list(errors) == ["resolution-1"]
    assert "INCOME" in undeclared(draft)
    draft, errors = declared(resolution_1="0.01")
    assert not errors
    column = list(column_fields(draft))[1]
    assert (column.values["resolution"], column.proposed_step) == ("0.01", "")


SEEN = ("f", "m", "x")


def shown(values=SEEN, entered="f\nm\nx", **recipe):
    """Return a draft whose column of text was shown, and the form with its values in the field."""
    _, draft = drafted(**recipe)
    draft = with_values(draft, "SEX", SeenValues(values=tuple(values), n_values=len(values)))
    return draft, sent(**{**DOMAINS, "categories_3": entered, "resolution_1": "0.01"})


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [({}, "source-3"), ({"source-3": "forged"}, "source-3"),
     ({"source-3": "data", "ordered-3": "yes"}, "source-3")],
)  # fmt: skip
def test_a_list_beside_the_values_of_the_table_says_where_it_comes_from(changed, wrong):
    """No default; and a list of the table is in no order."""
    draft, form = shown()
    _, errors = declare_columns(draft, Form({**form, "right-3": "yes", **changed}))
    assert list(errors) == [wrong]


def test_what_a_field_cannot_show_of_a_value_stays():
    """A space around it, a line within it and an empty one: the list is that of the table."""
    odd = ("", " f", "two\nlines", "\u2028")
    draft, form = shown(odd, "\r\n f\r\ntwo\r\nlines\r\n\u2028")
    column = list(column_fields(draft, Form(form)))[3]
    assert not column.lacking
    said = {"source-3": "public", "right-3": "yes"}
    changed, errors = declare_columns(draft, Form({**form, **said}))
    assert not errors
    assert changed.recipe["attributes"]["SEX"]["categories"] == list(odd)


def test_a_list_that_a_person_wrote_is_not_written_over():
    """What was seen and is not in it is named beside it."""
    _, plain = drafted()
    object.__setattr__(plain, "entered", sent(**DOMAINS))
    draft = with_values(plain, "SEX", SeenValues(values=SEEN, n_values=3))
    column = list(column_fields(draft, Form(draft.entered)))[3]
    assert column.values["categories"].split() == ["f", "m"]
    assert column.lacking == ["x"]


def test_a_column_that_is_left_out_takes_no_list_for_having_been_looked_at():
    """Looking at its values is no reason to say where they come from."""
    draft, form = shown()
    changed, errors = declare_columns(
        draft, Form({**form, "role-3": "identifier", "right-3": "yes"})
    )
    assert not errors
    assert "categories" not in changed.recipe["attributes"]["SEX"]


def test_a_list_that_nobody_asked_to_see_is_declared_as_ever():
    """A forged word for where it comes from is not taken."""
    draft, errors = declared(**{"source-3": "data"})
    assert not errors
    assert "categories_from_data" not in draft.recipe["attributes"]["SEX"]


def test_bounds_of_a_column_whose_values_were_seen_say_that_they_were():
    """They can be read off the values: the guarantee has the condition, and rows are refused."""
    draft = with_values(drafted()[1], "AGE", SeenValues(values=("17", "76"), n_values=2))
    form = Form({**sent(**DOMAINS), "right-0": "yes"})
    changed, errors = declare_columns(draft, form)
    assert not errors
    assert changed.recipe["attributes"]["AGE"]["bounds"]
    assert changed.recipe["looked_at"] == "data"
    again, _ = declare_columns(changed.asking(looked_at=None), form)
    assert "looked_at" not in again.recipe  # nothing was declared anew
