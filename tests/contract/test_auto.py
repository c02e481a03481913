"""What is left to advice is chosen as planning everything would choose, by few plans."""

import numpy as np
import pytest

import microveil as mv
from microveil.methods import vector
from microveil.protect.auto import CANDIDATES, STEP
from microveil.protect.expectation import average, expectations

N = 60
RANDOM = np.random.Generator(np.random.PCG64(5))
TAX = np.minimum(RANDOM.lognormal(7, 1, N), 40_000).round(2)
AGE = RANDOM.integers(18, 90, N)
GAPS = np.where(RANDOM.random(N) < 0.2, np.nan, AGE)
TABLES = {
    "numbers": {"TAX": TAX, "AGE": AGE},
    "one attribute": {"TAX": TAX},
    "ties": {"AGE": AGE // 30 * 30, "TAX": TAX},
    "missing": {"AGE": GAPS, "TAX": TAX},
    "no variance": {"AGE": np.full(N, 40), "TAX": TAX},
    "ordered": {"TAX": TAX, "EDUCATION": np.array(["none", "school", "degree"])[AGE % 3]},
}
BOUNDS = {"AGE": (0, 120), "TAX": (0, 60_000)}
MORE = {"ties": {"exact_cells": "widen"}, "missing": {"missing": "keep"}}
ASKED = (("cluster", 0.1), ("vector", 5), ("cluster", 100))
# All three of the first table, and one of each other, in turn.
CASES = [
    (table, scope, epsilon)
    for number, table in enumerate(TABLES)
    for scope, epsilon in (ASKED[number % 3 :][:1] if number else ASKED)
]


def asked(name, epsilon):
    table = TABLES[name]
    ordered = {"EDUCATION": mv.ordered("none", "school", "degree")}
    return {
        "attributes": list(table),
        "bounds": {column: BOUNDS[column] for column in table if column in BOUNDS},
        "categories": {column: ordered[column] for column in table if column in ordered},
        "resolution": {
            column: {"TAX": 0.01, "AGE": 1}[column] for column in table if column in BOUNDS
        },
        "epsilon": epsilon,
        "exact_cells": "allow",
        **MORE.get(name, {}),
    }


def error_of(table, **request):
    """The error to expect of a request; infinite where it is refused."""
    try:
        return average(expectations(mv.plan(table, **request)))
    except (mv.RequestError, mv.DataError):
        return np.inf


def least_of_all(table, method, **request):
    """The least error at each k that is a step of the grid or between two."""
    sizes = {int(STEP**power) for power in range(13)} | {N}
    found = (error_of(table, method=method, k=k, **request) for k in sizes)
    return min(found)


@pytest.mark.parametrize(("name", "scope", "epsilon"), CASES)
def test_no_candidate_loses_five_per_cent_less_than_what_is_chosen(name, scope, epsilon):
    """Of all candidates at many k, planned by themselves."""
    table, request = TABLES[name], asked(name, epsilon)
    chosen = error_of(table, method="auto", k="auto", scope=scope, **request)
    for method, steps in CANDIDATES:
        assert chosen <= 1.05 * least_of_all(table, method, scope=scope, **request, **steps)


@pytest.mark.parametrize("isotonic", [False, True])
def test_k_is_chosen_as_by_planning_every_k(isotonic):
    """With isotonic regression, whose error is simulated, as without it."""
    request = {**asked("one attribute", 1), "method": "idp-ls", "isotonic": isotonic}
    few = {"TAX": TAX[:6]}
    errors = {k: error_of(few, k=k, **request) for k in range(1, 7)}
    assert mv.plan(few, **{**request, "k": "auto"}).guarantee.k == min(errors, key=errors.get)


def test_many_records_are_searched_for_clusters_only_where_it_may_pay(monkeypatch):
    """At cluster scope `idp-cbls` loses far less than the noise of `idp-vector` by the same k."""
    searched, found = [], vector.vector_aware_sizes

    def noted(*arguments, **choices):
        searched.append(choices)
        return found(*arguments, **choices)

    monkeypatch.setattr(vector, "vector_aware_sizes", noted)
    table = {"TAX": np.random.Generator(np.random.PCG64(5)).lognormal(7, 1, 5000).round(2)}
    request = {"epsilon": 1, "bounds": {"TAX": (0, 10**6)}, "resolution": {"TAX": 0.01}}
    request |= {"attributes": "TAX", "method": "auto"}
    assert mv.plan(table, scope="cluster", **request).guarantee.method == "idp-cbls"
    assert not searched
    assert mv.plan(table, scope="vector", **request).guarantee.method == "idp-vector"
    assert searched
