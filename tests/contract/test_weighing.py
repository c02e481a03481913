"""Weighing finds what planning everything would find, and plans little of it."""

import contextlib
import math
from dataclasses import replace

import numpy as np
import pytest

import microveil as mv
from microveil.engines.local import LocalEngine
from microveil.engines.remembering import RememberingEngine
from microveil.release import selection, weighing
from microveil.release.columns import prepare
from microveil.release.planning import plan_prepared
from microveil.release.request import Request
from microveil.release.selection import options, settle

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
CASES = [
    (table, scope, epsilon)
    for table in TABLES
    for scope, epsilon in (("cluster", 0.1), ("cluster", 100), ("vector", 5))
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


def prepared_for(name, epsilon, engine):
    arguments = asked(name, epsilon)
    probe = Request.of({**arguments, "method": "idp-cbls", "k": 3})
    return prepare(TABLES[name], probe, engine), arguments


def planning_everything(candidates, count=None):
    """Weigh each candidate at every k; the least error of each, the first of equal ones."""
    found = []
    for candidate in candidates:
        own = []
        for k in candidate.sizes:
            with contextlib.suppress(mv.RequestError, mv.DataError):
                own.append(candidate.weighed(k))
        own = [option for option in own if option is not None]
        found += sorted(own, key=lambda option: option.over_variance)[:1]
    return sorted(found, key=lambda option: option.over_variance)[:count]


@pytest.fixture
def weighed(monkeypatch):
    """Candidates and k that were planned."""
    met = []
    plan = weighing.Candidate.weighed

    def noted(self, k):
        met.append((self.method.id, k))
        return plan(self, k)

    monkeypatch.setattr(weighing.Candidate, "weighed", noted)
    return met


@pytest.mark.parametrize(("name", "scope", "epsilon"), CASES)
def test_what_is_found_is_what_planning_everything_finds(name, scope, epsilon, monkeypatch):
    """The same options in the same order, figures and conditions included, and as many as asked."""
    engine = RememberingEngine()
    prepared, arguments = prepared_for(name, epsilon, engine)
    found = options(prepared, arguments, scope, engine)
    first = options(prepared, arguments, scope, engine, count=1)
    monkeypatch.setattr(selection, "weigh", planning_everything)
    everything = options(prepared, arguments, scope, engine)
    assert found == everything
    assert first == everything[:1]


@pytest.mark.parametrize(("name", "scope", "epsilon"), CASES)
def test_no_bound_is_above_the_error_of_its_plan(name, scope, epsilon, monkeypatch):
    """Of every candidate at every k that is not refused; and some bounds are close."""
    engine = RememberingEngine()
    prepared, arguments = prepared_for(name, epsilon, engine)
    ratios = []
    plan = weighing.Candidate.weighed

    def checked(self, k):
        option = plan(self, k)
        bound, of_ends = floor(self, k, math.inf), floor(self, k, math.inf, ends=True)
        assert option is None or max(bound, of_ends) <= option.over_variance
        if option is not None and option.over_variance > 0:
            ratios.append(bound / option.over_variance)
        return option

    floor = weighing.Candidate.floor
    monkeypatch.setattr(weighing.Candidate, "weighed", checked)
    monkeypatch.setattr(weighing.Candidate, "floor", lambda *_, **__: 0.0)
    assert options(prepared, arguments, scope, engine)
    assert max(ratios) > (0.4 if name == "no variance" else 0.9)


def test_little_is_planned_to_choose_a_method(weighed):
    """Of about a hundred configurations fewer than ten."""
    engine = RememberingEngine()
    prepared, arguments = prepared_for("numbers", 1, engine)
    assert options(prepared, arguments, "cluster", engine, count=1)
    assert 0 < len(weighed) < 10


def test_few_are_bounded_by_more_than_the_ends_of_columns(monkeypatch):
    """Of about a hundred configurations fewer than forty, as the best is known by then."""
    closely = []
    floor = weighing.Candidate.floor

    def noted(self, k, limit, *, ends=False):
        if not ends:
            closely.append((self.method.id, k))
        return floor(self, k, limit, ends=ends)

    monkeypatch.setattr(weighing.Candidate, "floor", noted)
    values = {"TAX": RANDOM.lognormal(7, 1, 3000).round(2)}
    request = asked("one attribute", 1) | {"bounds": {"TAX": (0, 10**6)}}
    probe = Request.of({**request, "method": "idp-cbls", "k": 3})
    engine = RememberingEngine()
    assert options(prepare(values, probe, engine), request, "cluster", engine, count=1)
    assert 0 < len(closely) < 40


@pytest.mark.parametrize("n_records", [weighing.MANY_RECORDS, 3000])
def test_of_many_records_a_plan_stands_for_the_first_close_bound(n_records, monkeypatch):
    """As it takes no longer; of few records the bound is found first. Either way the same k."""
    values = {"TAX": np.random.Generator(np.random.PCG64(5)).lognormal(7, 1, n_records).round(2)}
    request = {**asked("one attribute", 1), "method": "idp-ls", "k": "auto"}
    request["bounds"] = {"TAX": (0, 10**6)}
    met = []
    floor, plan = weighing.Candidate.floor, weighing.Candidate.weighed

    def bounded(self, k, limit, *, ends=False):
        met.extend([] if ends else ["bound"])
        return floor(self, k, limit, ends=ends)

    def weighed(self, k):
        met.append("plan")
        return plan(self, k)

    monkeypatch.setattr(weighing.Candidate, "floor", bounded)
    monkeypatch.setattr(weighing.Candidate, "weighed", weighed)
    chosen, _ = settle(values, request, RememberingEngine())
    assert met[0] == ("plan" if n_records >= weighing.MANY_RECORDS else "bound")
    monkeypatch.setattr(weighing, "MANY_RECORDS", 10**9)
    again, _ = settle(values, request, RememberingEngine())
    assert chosen.k == again.k


@pytest.mark.parametrize("left_out", ["method", "k"])
def test_the_plan_that_was_weighed_is_the_one_that_is_drawn(left_out):
    """It is planned once; another request on the same columns is planned by itself."""
    engine = RememberingEngine()
    request = asked("numbers", 1) | {"method": "idp-cbls", "k": "auto", "scope": "cluster"}
    request |= {"method": "auto", "k": None} if left_out == "method" else {}
    chosen, prepared = settle(TABLES["numbers"], request, engine)
    attributes = plan_prepared(prepared, chosen, engine).attributes
    assert all(one is made for one, made in zip(attributes, prepared.made.attributes, strict=True))
    anew = plan_prepared(replace(prepared, made=None), chosen, engine).attributes
    for one, made in zip(attributes, anew, strict=True):
        assert np.array_equal(one.scales, made.scales)
        assert np.array_equal(one.sums, made.sums)
        assert np.array_equal(one.partition.labels, made.partition.labels)
    other = replace(chosen, k=chosen.k + 1)
    of_other = plan_prepared(prepared, other, engine).attributes
    assert of_other[0].n_clusters != attributes[0].n_clusters


@pytest.mark.parametrize("isotonic", [False, True])
def test_k_is_chosen_as_by_planning_every_k(isotonic, monkeypatch):
    """With isotonic regression, for which there is no bound, as without it."""
    request = {**asked("one attribute", 1), "method": "idp-ls", "k": "auto"}
    request["isotonic"], few = isotonic, {"TAX": TAX[:6]}
    chosen, _ = settle(few, request, RememberingEngine())
    monkeypatch.setattr(selection, "weigh", planning_everything)
    of_all, _ = settle(few, request, RememberingEngine())
    assert chosen.k == of_all.k


def test_an_engine_that_remembers_nothing_has_no_bound(weighed):
    """It plans everything, and chooses the same."""
    prepared, arguments = prepared_for("one attribute", 1, LocalEngine())
    found = options(prepared, arguments, "vector", LocalEngine(), count=1)
    everything = len(weighed)
    assert found == options(prepared, arguments, "vector", RememberingEngine(), count=1)
    assert len(weighed) - everything < everything / 2
