"""Engines: whichever carries out the steps, the plan and its promise are the same."""

import ast
import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import microveil as mv
from microveil.commands.files import protect_file
from microveil.engines import ENGINES
from microveil.engines.local import LocalEngine
from microveil.errors import EngineError, RequestError
from microveil.methods import METHODS, Method
from microveil.methods.category_plans import CategoryPlan, HistogramPlan
from microveil.methods.centroids import CentroidPlan
from microveil.methods.cluster_values import ClusterValuePlan
from microveil.methods.randomised import IntervalPlan, NoisePlan, TransitionPlan
from microveil.plans.synthetic import CutsPlan, LevelsPlan
from microveil.protect import draw
from microveil.release.planning import plan_prepared
from microveil.release.request import Request
from microveil.release.selection import options, settle
from microveil.report import custodian_report
from trial_engines.plain import PlainEngine
from trial_engines.sealed import LookedError, OneColumnEngine, SealedEngine

SOURCE = Path(mv.__file__).parent
BOUNDS = {"x": (0, 20), "y": (0, 20), "z": (0, 9)}
ALIKE = [
    ("laplace", {}),
    ("dp-um", {}),
    ("idp-ls", {}),
    ("idp-cbls", {}),
    ("idp-vector", {}),
    ("record-dp", {}),
    ("record-dp", {"partition": "ranking"}),
    ("mdav", {}),
    ("mdav", {"blocks": [["x"], ["y", "z"]]}),
    ("mdav-insensitive", {}),
    ("v-mdav", {}),
    ("mdav", {"missing": "protect"}),
    ("v-mdav", {"missing": "protect"}),
    ("ranking", {}),
    ("pram", {}),
    ("pram", {"matrix": {"x": "invariant"}}),
    ("k-noise", {}),
    ("k-noise", {"every": "average"}),
    ("k-pram", {}),
    ("dp-synthetic", {"epsilon": 300, "missing": "protect"}),
    ("dp-synthetic", {"epsilon": 300, "missing": "protect", "delta": 0.001, "target": "y"}),
]
OTHERS = [
    ("idp-cbls", {"exact_cells": "widen"}),
    ("idp-vector", {"partition": "noise-aware"}),
    ("record-dp", {"partition": "optimal"}),
    ("record-dp", {"partition": "noise-aware"}),
    ("optimal", {}),
    ("kanon-dp", {}),
    ("kanon-dp", {"sensitivity": "vector"}),
    ("kanon-dp", {"composition": "parallel", "blocks": [["x", "y"], ["z"]]}),
    ("k-noise", {"width": 3}),
    ("k-pram", {"width": 3, "noise": "permutation"}),
    ("dp-um", {"k": "auto"}),
    ("kanon-dp", {"k": "auto"}),
    ("auto", {"scope": "vector", "k": "auto"}),
    ("auto", {"scope": "row", "k": "auto"}),
]


def asked(method, **more):
    return {"method": method, "k": 3, "epsilon": 1, "attributes": ["x", "y", "z"],
            "bounds": BOUNDS, "resolution": dict.fromkeys(BOUNDS, 1), "missing": "keep",
            "exact_cells": "allow", "seed": 1, **more}  # fmt: skip


def planned_by(engine, table, request):
    made, prepared = settle(table, request, engine)
    return plan_prepared(prepared, made, engine)


def figures(part):
    """What a plan comes to, so that two can be held against each other."""
    found = {"kind": type(part).__name__, "attribute": part.attribute, "share": part.share,
             "missing": None if part.missing is None else part.missing.tolist(),
             "exact_cells": part.exact_cells, "n_cells": part.n_cells}  # fmt: skip
    if isinstance(part, CentroidPlan):
        arrays = (
            part.partition.labels,
            part.sums,
            part.winsorised_remainder,
            part.sensitivities,
            part.scales,
        )
        found |= {"arrays": [one.tolist() for one in arrays], "grid": part.grid}
    if isinstance(part, NoisePlan):
        found |= {"law": part.law, "delta": part.delta}
    if isinstance(part, IntervalPlan):
        found |= {
            "labels": part.partition.labels.tolist(),
            "permute": part.permute,
            "in_order": part.grouped.in_order.tolist(),
        }
    if isinstance(part, CategoryPlan | HistogramPlan):
        found |= {"labels": part.partition.labels.tolist(), "counts": part.counts.tolist()}
    if isinstance(part, CategoryPlan):
        found |= {"chosen": part.chosen.tolist()}
    if isinstance(part, ClusterValuePlan):
        arrays = (part.partition.labels, part.has_value, part.units, part.n_present, part.kept)
        found |= {"arrays": [one.tolist() for one in arrays]}
    if isinstance(part, HistogramPlan):
        found |= {"scale": part.scale, "grid": part.grid}
    if isinstance(part, CutsPlan | LevelsPlan):
        found |= part.to_dict()
    if isinstance(part, TransitionPlan):
        found |= {"weights": part.weights.tolist(), "public": part.matrix_is_public}
    return found


def same_plans(one, other):
    assert one.guarantee == other.guarantee
    assert one.claim == other.claim
    assert (one.synthetic and one.synthetic.tables) == (other.synthetic and other.synthetic.tables)
    for mine, theirs in zip(one.attributes, other.attributes, strict=True):
        assert figures(mine) == figures(theirs)
        assert mine.vector_loss == theirs.vector_loss
        if isinstance(mine, CentroidPlan):
            # The one figure that is added up in floating point.
            assert mine.within == pytest.approx(theirs.within, rel=1e-9, abs=1e-9)


@st.composite
def tables(draw_from):
    """Tables with ties; some with gaps. At least six records are complete."""
    n = draw_from(st.integers(7, 20))
    table = {}
    for name, (lower, upper) in BOUNDS.items():
        values = draw_from(st.lists(st.integers(lower, upper), min_size=n, max_size=n))
        values[0], values[1] = lower, upper  # intervals need a range
        table[name] = np.array(values, dtype=float)
    if draw_from(st.booleans()):
        table["x"][-1] = np.nan
    return table


def people(n=24):
    random = np.random.Generator(np.random.PCG64(7))
    table = {name: random.integers(*pair, n).astype(float) for name, pair in BOUNDS.items()}
    table["x"][3] = table["y"][[5, 9]] = np.nan
    return table


@pytest.mark.parametrize(("method", "more"), ALIKE)
@settings(max_examples=settings.default.max_examples // 8)
@given(table=tables())
def test_a_plain_engine_makes_the_same_plans(method, more, table):
    """Clusters, sums, scales, guarantee and seeded release hang on no engine."""
    request = asked(method, **more)
    plans = [(engine, planned_by(engine, table, request)) for engine in
             (LocalEngine(), PlainEngine())]  # fmt: skip
    (_, first), *others = plans
    for _, other in others:
        same_plans(first, other)
    one, *rest = [draw(planned, engine).data for engine, planned in plans]
    for data in rest:
        for name in BOUNDS:
            assert np.array_equal(data[name], one[name], equal_nan=True)


# The same columns as categories: one in no order, one ordered.
MIXED = {"categories": {"y": list(range(21)), "z": mv.ordered(*range(10))}}
OF_CATEGORIES = {"bounds": {"x": BOUNDS["x"]}, "resolution": {"x": 1}, **MIXED}


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "mdav-insensitive"])
@settings(max_examples=8, deadline=None)
@given(table=tables())
def test_a_plain_engine_makes_the_same_plans_of_mixed_records(method, table):
    """Numbers, ordered categories and others: clusters, counts, choice and release."""
    request = asked(method, **OF_CATEGORIES)
    plans = [(engine, planned_by(engine, table, request)) for engine in
             (LocalEngine(), PlainEngine())]  # fmt: skip
    (_, first), *others = plans
    one, *rest = [draw(planned, engine).data for engine, planned in plans]
    for (_, other), data in zip(others, rest, strict=True):
        same_plans(first, other)
        for name in BOUNDS:
            assert np.array_equal(data[name], one[name], equal_nan=True)


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "mdav-insensitive", "kanon-dp"])
def test_no_method_looks_at_a_column_of_categories(method):
    """Behind handles that raise on every other look, mixed records are planned as without them."""
    request = asked(method, **OF_CATEGORIES)
    same_plans(
        planned_by(LocalEngine(), people(), request), planned_by(SealedEngine(), people(), request)
    )


@pytest.mark.parametrize(("method", "more"), ALIKE + OTHERS)
def test_no_method_looks_at_a_column(method, more):
    """Behind handles that raise on every other look, each request is planned as without them."""
    request = asked(method, **more)
    sealed = SealedEngine()
    same_plans(planned_by(LocalEngine(), people(), request), planned_by(sealed, people(), request))
    assert "column" in sealed.steps


def test_every_method_is_among_those_that_were_watched():
    """A new method joins the list."""
    assert {method for method, _ in ALIKE + OTHERS} - {"auto"} == set(METHODS)


@pytest.mark.parametrize("look", ["values", "grid", "missing", "order"])
def test_a_look_at_a_column_does_not_go_unseen(look, monkeypatch):
    """A method that reads values is found out: the watch can fail."""

    def curious(columns, *_others):
        getattr(columns[0], look)

    monkeypatch.setitem(METHODS, "ranking", changed(METHODS["ranking"], plan=curious))
    with pytest.raises(LookedError, match=look):
        planned_by(SealedEngine(), people(), asked("ranking"))


def changed(method, **fields):
    names = Method.__dataclass_fields__
    return Method(**{name: getattr(method, name) for name in names} | fields)


@pytest.mark.parametrize(
    ("method", "more"),
    [("mdav", {}), ("mdav-insensitive", {}), ("v-mdav", {}), ("kanon-dp", {}), ("record-dp", {})],
)
def test_an_engine_may_refuse_a_step(method, more):
    """What it cannot do is an error of ours that says what would do, and nothing else suffers."""
    with pytest.raises(EngineError, match="does not partition by several columns") as refusal:
        planned_by(OneColumnEngine(), people(), asked(method, **more))
    assert isinstance(refusal.value, RequestError)
    assert refusal.value.remedy.startswith("choose a method")
    ranked = asked("dp-um")
    same_plans(
        planned_by(LocalEngine(), people(), ranked), planned_by(OneColumnEngine(), people(), ranked)
    )


def test_advice_passes_over_what_an_engine_refuses():
    """Weighing for an engine that refuses a step offers all the others."""
    request = asked("auto", scope="vector", seed=None)
    found = []
    for engine in (LocalEngine(), OneColumnEngine()):
        _, prepared = settle(people(), {**request, "method": "dp-um"}, engine)
        found.append({option.method for option in options(prepared, request, "vector", engine)})
    every, fewer = found
    assert "kanon-dp" in every
    assert fewer == every - {"kanon-dp"}


def test_missing_values_are_refused_alike():
    """Too few complete records for a cluster: the same error, whichever engine looked."""
    table = {"x": np.array([1, 2, 3, 4, np.nan, np.nan, np.nan]),
             "y": np.array([np.nan, np.nan, np.nan, 4, 5, 6, 7])}  # fmt: skip
    both = {"attributes": ["x", "y"], "bounds": {}, "resolution": {"x": 1, "y": 1}}
    request, shown = asked("mdav", **both), set()
    for engine in (LocalEngine(), PlainEngine(), SealedEngine()):
        with pytest.raises(mv.DataError, match="fewer than k records") as refusal:
            planned_by(engine, table, request)
        shown.add(str(refusal.value))
    assert len(shown) == 1


# Modules that decide, without ever seeing a value.
DECIDING = (
    "release/planning",
    "release/columns",
    "release/selection",
    "release/weighing",
    "audit/advice",
)
PLANNING = [SOURCE / f"{name}.py" for name in DECIDING]
BLIND = [*sorted((SOURCE / "methods").glob("*.py")), *PLANNING]


@pytest.mark.parametrize("path", BLIND, ids=lambda path: path.stem)
def test_no_line_of_methods_and_planning_reads_values(path):
    """Neither the values of a column nor the order or labels of a partition are named there."""
    assert looks_in(path.read_text(encoding="utf-8")) == []


def looks_in(source):
    """Lines that read values, an order or labels; a dict's ``values()`` is none."""
    tree = ast.parse(source)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr in {"values", "order", "labels"}
        and isinstance(node.ctx, ast.Load)
        and not (node.attr == "values" and id(node) in called)
    ]


def test_reading_values_is_found():
    """The look for looks can fail."""
    lines = "len(column.values)\nnamed.values()\nclusters.order[0]\ncolumn.values.min()\n"
    assert looks_in(lines) == [1, 3, 4]


def test_verbs_alone_make_an_engine():
    """Everybody else is handed one."""
    makers, made = {"LocalEngine", "engine_of", "engine_named"}, set()
    for path in SOURCE.rglob("*.py"):
        module = path.relative_to(SOURCE).with_suffix("").as_posix()
        if module.startswith("engines/"):
            continue
        text = path.read_text(encoding="utf-8")
        if not any(f"{maker}(" in text for maker in makers):
            continue
        for function in ast.walk(ast.parse(text)):
            if isinstance(function, ast.FunctionDef) and any(
                isinstance(node, ast.Call) and getattr(node.func, "id", None) in makers
                for node in ast.walk(function)
            ):
                made.add((module, function.name))
    assert made == {
        ("protect/protecting", "protect"),
        ("protect/protecting", "plan"),
        ("commands/engines", "engine_for"),
        ("commands/auditing", "audit_release"),
        ("audit/advice", "advice_and_plan"),
        ("audit/exact", "audit"),
        ("audit/empirical/audit", "empirical_audit"),
        ("evaluation/assess", "assess"),
        ("compare/comparing", "compare"),
    }


@pytest.fixture
def plain(monkeypatch):
    """The engine of plain Python, registered under a name: one line."""
    used = []

    class Counted(PlainEngine):
        def __init__(self):
            used.append(self)
            super().__init__()

    monkeypatch.setattr(importlib.import_module("trial_engines.plain"), "Counted", Counted,
                        raising=False)  # fmt: skip
    monkeypatch.setitem(ENGINES, "plain", ("trial_engines.plain", "Counted"))
    return used


def test_an_engine_from_outside_is_asked_for_by_name(plain, tmp_path):
    """Verbs, recipe and files: it carries out the release, the same one under a seed."""
    table, request = people(), asked("dp-um")
    ours = mv.protect(table, **request)
    theirs = mv.protect(table, **request, engine="plain")
    by_recipe = mv.protect(table, recipe={"engine": "plain"}, **request)
    for release in (theirs, by_recipe):
        for name, column in ours.data.items():
            assert np.array_equal(release.data[name], column, equal_nan=True)
        assert release.guarantee == ours.guarantee
        assert release.manifest.to_dict()["parameters"]["engine"] == "plain"
    verbs = (mv.plan, mv.audit, mv.advise)
    for verb in verbs:
        verb(table, **request, engine="plain")
    pl.DataFrame(table).fill_nan(None).write_csv(tmp_path / "people.csv")
    protect_file(tmp_path / "people.csv", tmp_path / "out", **request, engine="plain")
    assert custodian_report(theirs, table)
    assert mv.assess(table, theirs.data, request["attributes"]).attributes
    assert len(plain) == 2 + len(verbs) + 1
    grid = {"methods": ["dp-um"], "k": [5], "epsilon": [1], "runs": 1, "linkage": False}
    mv.compare(table, **grid, **{name: request[name] for name in NAMED}, engine="plain")
    assert len(plain) == 2 + len(verbs) + 2


NAMED = ("attributes", "bounds", "resolution", "missing")


@pytest.mark.parametrize("name", ["cluster", 1, ["memory"]])
def test_an_engine_that_is_not_there_is_refused(name):
    """With those that are, before the table is touched."""
    for verb in (mv.protect, mv.plan, mv.audit, mv.advise):
        with pytest.raises(RequestError, match="it must be one of memory"):
            verb(None, **asked("dp-um"), engine=name)


def test_an_engine_from_outside_is_in_help(tmp_path):
    """By its name, wherever a release is asked for."""
    code = (
        "import contextlib, sys\n"
        "from microveil.engines import ENGINES\n"
        "ENGINES['plain'] = ('trial_engines.plain', 'PlainEngine')\n"
        "from microveil.cli import main\n"
        "for command in ('protect', 'audit', 'compare', 'inspect'):\n"
        "    sys.argv = ['microveil', command, '--help']\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        main()\n"
        "    print('END')"
    )
    places = {"PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "200"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True, capture_output=True, text=True, cwd=tmp_path, env={**os.environ, **places},
    )  # fmt: skip
    *shown, _ = done.stdout.split("END")
    assert len(shown) == 4
    for text in shown:
        assert "Who carries it out: memory, disk, spark, plain." in " ".join(text.split())


def test_a_request_is_read_by_no_engine():
    """What was asked for does not depend on who carries it out."""
    table, request = people(), asked("dp-um")
    made = [settle(table, request, engine)[0] for engine in (LocalEngine(), PlainEngine())]
    assert made[0] == made[1] == Request.of(request)
