"""Columns: what is proposed declares nothing, and what is wrong is said beside its field."""

import datetime
from dataclasses import replace

import pytest

import microveil as mv
from drafted import ENTRIES, drafted, fields_of
from microveil.app.columns import (
    as_sent,
    columns_of,
    declare_column,
    declare_rest,
    set_many,
    with_values,
)
from microveil.app.drafts import SeenValues
from microveil.app.site import Form
from microveil.protect.recipe import read_recipe

AGE, INCOME, BORN, SEX = 0, 1, 2, 3
SEEN = ("f", "m", "x")


def declared(draft, number, **changed):
    """Save one column, with some of its fields changed."""
    column = list(columns_of(draft))[number]
    return declare_column(draft, as_sent(column, Form(fields_of(column) | changed)))


def statuses(draft):
    """Say of each column where its values are from."""
    return {column.name: column.status for column in columns_of(draft)}


def test_a_proposal_declares_nothing_until_a_person_goes_on():
    """Then roles and kinds go into the recipe, and nothing else that was seen in the table."""
    _, draft = drafted()
    assert "attributes" not in draft.recipe
    assert draft.undeclared == list(ENTRIES)
    entries = declare_rest(draft).recipe["attributes"]
    assert entries == ENTRIES
    assert {key for entry in entries.values() for key in entry} == {"role", "type"}


def test_all_columns_together_make_a_recipe_that_is_in_order():
    """Numbers are numbers, dates dates, categories text: as the recipe's reader takes them."""
    draft, wrong = drafted()[1], []
    for number, fields in (
        (AGE, {"lower": "0", "upper": "120", "codes": "-9\n-8"}),
        (INCOME, {"lower": "0", "upper": "1e6", "resolution": "0.01"}),
        (BORN, {"lower": "1900-01-01", "upper": "2030-12-31"}),
        (SEX, {"categories": "f\nm", "ordered": "yes"}),
    ):
        draft, errors = declared(draft, number, **fields)
        wrong += errors
    assert not wrong
    found = read_recipe(declare_rest(draft).recipe)
    assert found["attributes"] == ["AGE", "INCOME", "BORN", "SEX"]
    assert list(found["bounds"]["BORN"]) == [datetime.date(1900, 1, 1), datetime.date(2030, 12, 31)]
    assert found["categories"]["SEX"] == mv.ordered("f", "m")
    assert found["missing_codes"] == {"AGE": [-9, -8]}
    assert found["resolution"] == {"INCOME": 0.01}


def test_the_grid_says_what_is_declared_by_the_file_or_learnt():
    """And, where nothing is learnt, what is left to declare or left out."""
    _, draft = drafted()
    columns = draft.proposal.columns
    columns = {**columns, "SEX": replace(columns["SEX"], by_file="2 codes")}
    draft = replace(draft, proposal=replace(draft.proposal, columns=columns))
    draft, _ = declared(draft, AGE, lower="0", upper="120")
    found = statuses(draft)
    assert found["AGE"] == "declared"
    assert found["INCOME"] == "will be learnt"
    assert found["SEX"] == "will be learnt: the file declares 2 codes"
    assert found["ID"] == "left out"
    assert statuses(draft.asking(accept="file"))["SEX"] == "accepted from the file"
    pure = replace(draft.asking(method="dp-synthetic"), proposal=drafted()[1].proposal)
    assert statuses(pure)["INCOME"] == "to be declared"
    assert statuses(pure)["SEX"] == "left out: no list of its categories"


def test_entries_without_a_field_stay():
    """A share of the budget that a recipe gave a column is not lost by looking at it."""
    entry = {**ENTRIES["AGE"], "bounds": [0, 9], "budget": 2}
    changed, errors = declared(drafted(attributes={"AGE": entry})[1], AGE, upper="120")
    assert not errors
    assert changed.recipe["attributes"]["AGE"] == {**entry, "bounds": [0, 120]}


def test_many_columns_are_set_at_once():
    """Another kind has another domain; another role keeps it; the others stay as they are."""
    entry = {**ENTRIES["AGE"], "bounds": [0, 9], "budget": 2}
    _, draft = drafted(attributes={"AGE": entry})
    changed = set_many(draft, {AGE, SEX}, "quasi-identifier", "").recipe["attributes"]
    assert changed == {
        "AGE": {**entry, "role": "quasi-identifier"},
        "SEX": {"role": "quasi-identifier", "type": "text"},
    }
    changed = set_many(draft, {AGE}, "", "text").recipe["attributes"]
    assert changed == {"AGE": {"role": "confidential", "type": "text", "budget": 2}}
    assert set_many(draft, {AGE}, "forged", "forged").recipe == draft.recipe


def shown(values=SEEN, **recipe):
    """Return a draft whose column of text was shown."""
    found = SeenValues(values=tuple(values), n_values=len(values))
    return with_values(drafted(**recipe)[1], "SEX", found)


@pytest.mark.parametrize("changed", [{}, {"source": "forged"}, {"source": "data", "ordered": "y"}])
def test_a_list_beside_the_values_of_the_table_says_where_it_comes_from(changed):
    """No default; and a list of the table is in no order."""
    draft = shown()
    _, errors = declared(draft, SEX, **draft.entered, **changed)
    assert list(errors) == ["source"]


def test_what_a_field_cannot_show_of_a_value_stays():
    """A space around it, a line within it and an empty one: the list is that of the table."""
    odd = ("", " f", "two\nlines", "\u2028")
    listed = {"categories": "\r\n f\r\ntwo\r\nlines\r\n\u2028", "source": "public"}
    changed, errors = declared(shown(odd), SEX, **listed)
    assert not errors
    assert changed.recipe["attributes"]["SEX"]["categories"] == list(odd)


def test_a_list_that_a_person_wrote_is_not_written_over():
    """What was seen and is not in it is named beside it."""
    draft = replace(drafted()[1], entered={"categories": "f\nm"})
    draft = with_values(draft, "SEX", SeenValues(values=SEEN, n_values=3))
    column = as_sent(list(columns_of(draft))[SEX], Form(draft.entered))
    assert column.values["categories"].split() == ["f", "m"]
    assert column.lacking == ["x"]


def test_a_column_that_is_left_out_takes_no_list_for_having_been_looked_at():
    """Looking at its values is no reason to say where they come from."""
    draft = shown()
    changed, errors = declared(draft, SEX, **draft.entered, role="identifier")
    assert not errors
    assert "categories" not in changed.recipe["attributes"]["SEX"]


def test_a_list_that_nobody_asked_to_see_is_declared_as_ever():
    """A forged word for where it comes from is not taken."""
    draft, errors = declared(drafted()[1], SEX, categories="f\nm", source="data")
    assert not errors
    assert "categories_from_data" not in draft.recipe["attributes"]["SEX"]


def test_bounds_of_a_column_whose_values_were_seen_say_that_they_were():
    """They can be read off the values: the guarantee has the condition, and rows are refused."""
    draft = with_values(drafted()[1], "AGE", SeenValues(values=("17", "76"), n_values=2))
    bounds = {"lower": "0", "upper": "120", "categories": ""}
    changed, errors = declared(draft, AGE, **bounds)
    assert not errors
    assert changed.recipe["attributes"]["AGE"]["bounds"]
    assert changed.recipe["looked_at"] == "data"
    again, _ = declared(changed.asking(looked_at=None), AGE, **bounds)
    assert "looked_at" not in again.recipe  # nothing was declared anew


def test_a_recipe_that_leaves_kinds_to_be_learnt_is_shown_with_those_seen():
    """And nothing is declared by that."""
    _, draft = drafted(attributes={"AGE": {"role": "confidential"}})
    column = next(columns_of(draft))
    assert (column.values["type"], column.status) == ("whole number", "will be learnt")
    assert declare_rest(draft).recipe["attributes"]["AGE"] == {"role": "confidential"}
