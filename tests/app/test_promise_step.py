"""The promise: nobody is protected by default, and each scope asks for what `inspect` asks."""

import tomllib
from dataclasses import replace
from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext

import numpy as np
import pytest

from drafted import drafted
from microveil.app.forms import Form
from microveil.app.promise_step import (
    in_other_words,
    methods_by_scope,
    promise,
    promise_fields,
    proposed_method,
)
from microveil.commands.proposal import proposed_recipe

FULL = {"who": "record", "scope": "vector", "epsilon": "1"}


def test_nothing_is_chosen_before_a_person_chooses():
    """Neither who is protected, nor what may be looked at, nor a budget."""
    fields = promise_fields(drafted()[1])
    assert set(fields.values.values()) == {""}


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
    draft, errors = promise(drafted()[1], Form({**FULL, "scope": scope}))
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


@pytest.mark.parametrize("said", ["error", "keep", "protect"])
def test_cells_without_a_value_are_treated_as_a_person_says(said):
    """Where nobody says anything a table that lacks some is refused, whatever was seen in it."""
    asked = {**FULL, "scope": "row", "missing": said}
    draft, errors = promise(drafted()[1], Form(asked))
    assert not errors
    assert draft.recipe["missing"] == said
    assert promise_fields(draft).values["missing"] == said
    again, _ = promise(draft, Form({**asked, "missing": "", "epsilon": "2"}))
    assert again.recipe["missing"] == said


@pytest.mark.parametrize("scope", ["cluster", "vector", "row"])
def test_that_cells_are_missing_declares_nothing(scope):
    """What was seen in the table keeps no cell empty: a person says so, or they are refused.

    Or, in a new table, learnt as one more value.
    """
    _, draft = drafted()
    seen = replace(draft, proposal=replace(draft.proposal, request={"missing": "keep"}))
    asked, errors = promise(seen, Form({**FULL, "scope": scope}))
    assert not errors
    assert asked.recipe["missing"] == ("protect" if scope == "row" else "error")


def ways(draft, scope):
    """Return the methods that are shown beside a scope."""
    return set(methods_by_scope(draft)[scope].methods)


def test_methods_that_keep_it_stand_beside_each_scope_before_any_choice():
    """Of nothing declared yet as of a whole recipe: a person sees what each choice leaves."""
    _, draft = drafted()
    assert set(methods_by_scope(draft)) == {"cluster", "vector", "row"}
    assert ways(draft, "row") == {"laplace", "pram", "dp-synthetic"}
    assert ways(draft, "row") < ways(draft, "vector") < ways(draft, "cluster")
    for scope in ("cluster", "vector", "row"):
        asked, _ = promise(draft, Form({**FULL, "scope": scope}))
        assert proposed_method(draft, scope) == asked.recipe["method"]
        assert asked.recipe["method"] in ways(asked, scope)
