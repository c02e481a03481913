"""Which methods keep a promise: said before a table is opened, as the request would be judged."""

from itertools import product

import numpy as np
import pytest

import microveil as mv
from microveil.commands.coverage import coverage
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.protect.recipe import read_recipe
from microveil.protect.request import offered

N_RECORDS = 400
ENTRY = {"role": "confidential", "type": "whole number", "bounds": [0, 100]}
KEPT = {**ENTRY, "role": "non-confidential"}
RECIPE = {"epsilon": 1.0, "attributes": {"A": ENTRY, "B": ENTRY}}
LISTED = {"role": "quasi-identifier", "type": "text", "categories": ["f", "m"]}


def table():
    """Two numbers that lie well apart."""
    draw = np.random.default_rng(4)
    return {name: draw.permutation(N_RECORDS) // 20 for name in "AB"}


def planned(method, scope, steps):
    """Say whether a request at a scope is refused for the scope, with k where there is one."""
    k = max(3, method.smallest_k) if "k" in method.needs else None
    asked = {"method": method.id, "epsilon": 1, "k": k, "scope": scope, "exact_cells": "allow",
             "attributes": ["A", "B"], "bounds": {"A": (0, 100), "B": (0, 100)}}  # fmt: skip
    place = ""
    try:
        mv.plan(table(), **asked, **steps)
    except mv.RequestError as error:
        place = error.place
    assert place in {"", "scope"}
    return not place


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize("method", METHODS.values(), ids=list(METHODS))
def test_what_is_said_of_a_method_is_what_its_plan_is_refused_or_taken_for(method, scope):
    """Every choice of its steps, at every scope: no method is offered that would be refused."""
    found = coverage({**read_recipe(RECIPE), "k": 3}, N_RECORDS)[scope]
    offers = [step for step in offered(method) if step.choices]
    kept = []
    for values in product(*(step.choices for step in offers)):
        steps = dict(zip((step.name for step in offers), values, strict=True))
        kept.append(planned(method, scope, steps))
    ways = [way for way in found.ways if way.method == method.id]
    assert any(kept) == bool(ways)
    assert (method.id in found.reasons) == (not ways)
    assert all(kept) == any(not way.steps for way in ways) or len(ways) > 1
    if ways and not all(kept):
        assert all(way.steps for way in ways)


@pytest.mark.parametrize(
    "asked",
    [{"looked_at": "data"}, {"attributes": {"A": ENTRY, "K": KEPT}}],
    ids=["looked at", "kept"],
)  # fmt: skip
def test_what_a_recipe_says_else_counts(asked):
    """After a look at figures of the data nothing covers rows; kept columns allow no new table."""
    found = coverage(read_recipe({**RECIPE, **asked}), N_RECORDS)["row"]
    assert "dp-synthetic" in found.reasons
    assert not (found.ways and "looked_at" in asked)


@pytest.mark.parametrize(
    ("recipe", "method", "scope"),
    [
        ({}, "laplace", Scope.ROW),
        ({}, "dp-um", Scope.VECTOR),
        ({"exact_cells": "allow"}, "idp-cbls", Scope.CLUSTER),
        ({"missing": "keep"}, "laplace", Scope.VECTOR),
        ({"looked_at": "data"}, "laplace", Scope.VECTOR),
        ({"attributes": {"A": ENTRY, "B": {**LISTED, "categories_from_data": True}}}, "pram",
         Scope.VECTOR),
        ({"attributes": {"A": ENTRY, "B": KEPT}}, "laplace", Scope.CLUSTER),
        ({"unit": "U", "max_rows": 2}, "pram", Scope.ROW),
    ],
)  # fmt: skip
def test_what_a_way_takes_as_given_is_what_the_guarantee_says(recipe, method, scope):
    """No condition is left out beside the methods: a list from the table, cells kept, a choice."""
    asked = {**RECIPE, **recipe}
    held = table()
    if asked["attributes"]["B"].get("categories"):
        held["B"] = np.array(["f", "m"] * (N_RECORDS // 2))
    if "unit" in asked:
        held["U"] = np.arange(N_RECORDS) // 2
    given = read_recipe(asked)
    (way,) = (way for way in coverage(given, N_RECORDS)[scope].ways if way.method == method)
    k = max(3, METHODS[method].smallest_k) if "k" in METHODS[method].needs else None
    found = mv.plan(held, **{**given, "method": method, "k": k, "scope": scope}).guarantee
    expected = [condition.id for condition in found.conditions if scope in condition.scopes]
    assert [condition.id for condition in way.conditions] == expected
    assert way.model is found.model
