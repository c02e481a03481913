"""The promise: nobody is protected by default, and each scope asks for what `inspect` asks."""

import tomllib
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest

from drafted import drafted
from microveil.app.promise import (
    best_method,
    in_other_words,
    methods_by_scope,
    promise,
    promise_fields,
)
from microveil.app.site import Form
from microveil.commands.proposal import proposed_recipe

FULL = {"who": "record", "scope": "vector", "epsilon": "1"}


def test_what_inspect_proposes_stands_there_but_who_is_protected():
    """The strongest scope, its method and budget; whom it is for a person has to say."""
    fields = promise_fields(drafted()[1])
    assert fields.pop("who") == ""
    said = {name: value for name, value in fields.items() if value}
    assert said == {"scope": "row", "method": "dp-synthetic", "epsilon": "1", "delta": "1e-09"}
    of_old = promise_fields(drafted(method="idp-cbls", k=10)[1])
    assert of_old["scope"] == ""  # a recipe that says none


@pytest.mark.parametrize("missing", ["who", "scope", "epsilon"])
def test_a_blank_blocks_with_the_reason_beside_the_field(missing):
    """And the recipe stays as it was."""
    _, draft = drafted()
    changed, errors = promise(draft, Form({**FULL, missing: ""}))
    assert list(errors) == [missing]
    assert changed is draft


@pytest.mark.parametrize("scope", ["cluster", "vector", "row"])
def test_a_scope_asks_for_the_method_that_inspect_proposes_for_it(scope):
    """The page has no opinion of its own."""
    proposed = tomllib.loads(proposed_recipe({"AGE": np.arange(9)}, scope=scope).text)
    draft, errors = promise(drafted()[1], Form({**FULL, "scope": scope, "delta": "1e-9"}))
    assert not errors
    for name in ("method", "k", "partition", "delta", "exact_cells", "outside", "missing"):
        assert draft.recipe.get(name) == proposed.get(name), name
    assert draft.recipe["scope"] == scope


def test_a_method_that_was_chosen_for_the_same_scope_stays():
    """Only another scope, or another unit, asks for another method."""
    draft, _ = promise(drafted()[1], Form(FULL))
    chosen = draft.asking(method="dp-um", k=50)
    again, _ = promise(chosen, Form({**FULL, "epsilon": "2"}))
    assert (again.recipe["method"], again.recipe["k"], again.recipe["epsilon"]) == ("dp-um", 50, 2)
    other, _ = promise(again, Form({**FULL, "scope": "cluster"}))
    assert other.recipe["method"] == "idp-cbls"
    named, _ = promise(again, Form({**FULL, "scope": "cluster", "method": "idp-ls", "k": "7"}))
    assert (named.recipe["method"], named.recipe["k"]) == ("idp-ls", 7)


def test_a_method_that_cannot_do_it_is_refused_beside_its_field():
    """Also where a page of before, or somebody else, sends it."""
    for method in ("dp-um", "mdav"):
        draft = drafted()[1]
        changed, errors = promise(draft, Form({**FULL, "scope": "row", "method": method}))
        assert list(errors) == ["method"]
        assert changed is draft


def test_a_unit_needs_its_column_and_the_most_records_it_has():
    """Both are facts that a person states; none is read from the table."""
    _, errors = promise(drafted()[1], Form({**FULL, "who": "unit"}))
    assert set(errors) == {"unit", "max_rows"}
    asked = {**FULL, "who": "unit", "unit": "ID", "max_rows": "8", "scope": "row"}
    draft, errors = promise(drafted()[1], Form(asked))
    assert not errors
    assert (draft.recipe["unit"], draft.recipe["max_rows"]) == ("ID", 8)
    back, _ = promise(draft, Form({**asked, "who": "record"}))
    assert "unit" not in back.recipe
    assert "max_rows" not in back.recipe
    people, _ = promise(draft, Form({**asked, "who": "person"}))
    assert "unit" not in people.recipe
    assert people.recipe["max_rows"] == 1


BUDGETS = [5e-324, 1e-300, 1e-60, 1e-17, 0.001, 0.1, 0.5, 1.0, 2.0, 4.59, 4.6, 5.0, 9.2, 13.9, 14.0]


@pytest.mark.parametrize("epsilon", [*BUDGETS, 14.1, 36.0, 37.0, 709.0, 710.0, 1e4, 1e300])
def test_odds_are_never_said_to_be_less_than_the_budget_allows(epsilon):
    """A bound is rounded up, however small or large epsilon is: e^epsilon to one, at most."""
    found = in_other_words(epsilon)
    base, _, power = found["factor"].partition("^")
    with localcontext(prec=400, Emax=MAX_EMAX, Emin=MIN_EMIN):
        budget = Decimal(epsilon)
        logarithm = int(power) * Decimal(base).ln() if power else Decimal(base).ln()
        assert logarithm >= budget
        if epsilon < 1000:
            sure = Decimal(found["percent"]) / 100
            assert sure == 1 or sure / (1 - sure) >= budget.exp()
        else:
            assert found["percent"] == "100"


def test_the_odds_of_the_page_can_be_read():
    """Three digits, none that say nothing, no powers."""
    assert [in_other_words(epsilon) for epsilon in (0, 0.1, 5.0)] == [
        {"factor": "1", "percent": "50"},
        {"factor": "1.11", "percent": "52.5"},
        {"factor": "149", "percent": "99.34"},
    ]


@pytest.mark.parametrize("said", ["error", "keep"])
def test_cells_without_a_value_are_treated_as_a_person_says(said):
    """Where nobody says anything a new table learns them as one more value, and others refuse."""
    asked = {**FULL, "scope": "row", "missing": said, "delta": "1e-9"}
    draft, errors = promise(drafted()[1], Form({**asked, "method": "laplace", "delta": ""}))
    assert not errors
    assert draft.recipe["missing"] == said
    _, errors = promise(drafted()[1], Form({**asked, "missing": "keep"}))
    assert list(errors) == ["method"] or not errors


@pytest.mark.parametrize("scope", ["cluster", "vector", "row"])
def test_what_was_not_said_of_missing_cells_binds_no_other_scope(scope):
    """What a method proposes of them is shown as its proposal, and goes with the method."""
    full = {**FULL, "scope": "row", "delta": "1e-9"}
    draft, _ = promise(drafted()[1], Form(full))
    assert draft.recipe["missing"] == "protect"
    assert promise_fields(draft)["missing"] == ""
    fields = {**promise_fields(draft), "scope": scope, "method": ""}
    other, errors = promise(draft, Form(fields))
    assert not errors
    assert other.recipe["missing"] == ("protect" if scope == "row" else "error")


def test_methods_that_keep_it_stand_beside_each_scope_before_any_choice():
    """Of nothing declared yet as of a whole recipe: a person sees what each choice leaves."""
    _, draft = drafted()
    found = methods_by_scope(draft, Form({"epsilon": "1"}))
    row, vector, cluster = (set(found[one].methods) for one in ("row", "vector", "cluster"))
    assert row == {"laplace", "pram", "dp-synthetic"}
    assert row < vector < cluster
    for scope, kept in found.items():
        asked, _ = promise(draft, Form({**FULL, "scope": scope}))
        assert best_method(kept) == asked.recipe["method"]
    assert best_method(found["cluster"], "dp-um") == "dp-um"
    assert best_method(found["row"], "dp-um") == "dp-synthetic"
    units = methods_by_scope(
        draft, Form({"epsilon": "1", "who": "unit", "unit": "ID", "max_rows": "3"})
    )
    assert set(units["cluster"].methods) == {"laplace", "pram", "dp-synthetic"}
