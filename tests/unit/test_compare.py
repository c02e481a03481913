"""A comparison measures what `protect` would release, once for each cell and run."""

import itertools
import threading
from fractions import Fraction

import numpy as np
import polars
import pytest
import scipy.stats
from polars.testing import assert_frame_equal

import microveil as mv
from microveil.compare import compare, running
from microveil.compare.columns import Measures
from microveil.compare.measuring import Analyst
from microveil.compare.results import mean_with_interval
from microveil.errors import DataError, ExactCellsError, MicroveilError, RequestError
from microveil.measures.linkage import CHANCE
from microveil.protect.draw import draw

MEASURES = [name for name in Measures().names if name != CHANCE]
METHODS = (
    "laplace,dp-um,idp-vector:partition=noise-aware,idp-cbls:isotonic=true,record-dp,"
    "kanon-dp:sensitivity=vector,mdav,k-noise:noise=laplace"
)
REQUEST = {
    "attributes": ["AGE", "FEE"],
    "bounds": {"AGE": (0, 120), "FEE": (0, 500)},
    "resolution": {"FEE": 0.01},
    "exact_cells": "allow",
}
GRID = {"methods": METHODS, "k": [3, 8], "epsilon": [0.5, 2], "runs": 2, "seed": 11}


def people(n=40):
    random = np.random.Generator(np.random.PCG64(5))
    return {
        "AGE": random.integers(18, 90, n),
        "FEE": np.round(random.lognormal(3, 1, n).clip(0, 499), 2),
        "NAME": np.array([f"person {i}" for i in range(n)]),
    }


@pytest.fixture(scope="module")
def found():
    return compare(people(), **GRID, **REQUEST, jobs=3)


def arguments_of(row):
    steps = dict(step.split("=") for step in row["steps"].split(":") if step)
    if "isotonic" in steps:
        steps["isotonic"] = steps["isotonic"] == "true"
    return {"method": row["method"], "k": row["k"], "epsilon": row["epsilon"], **steps}


def test_every_run_measures_the_release_of_its_seed(found):
    """The release that is drawn with a run's seed has the very figures of the run."""
    # One run of each configuration, the first and the second by turns.
    for row in found.table.sort("configuration", "run").to_dicts():
        if (row["configuration"] + row["run"]) % 2:
            continue
        planned = mv.plan(people(), **arguments_of(row), **REQUEST)
        drawn = draw(planned, seed=row["seed"]).data
        figures = mv.assess(people(), drawn, REQUEST["attributes"]).to_dict()
        for measure in Measures().names:
            assert row[measure] == figures[measure]


def test_every_cell_says_what_it_guarantees(found):
    """Scopes, model, exact loss and exact cells are those of the plan."""
    for row in found.summary.to_dicts():
        arguments = {**arguments_of(row), **REQUEST}
        planned = mv.plan(people(), **arguments)
        promised = planned.promised.to_dict()
        for scope in ("cluster", "vector", "row"):
            assert row[f"{scope}_epsilon"] == promised[scope]["epsilon"]
        assert row["model"] == planned.guarantee.model.value
        assert row["vector_loss"] == mv.audit(people(), **arguments).vector_scope
        assert row["exact_cells"] == sum(part.figures.exact_cells for part in planned.attributes)
        assert row["n_cells"] == 80
    scopes = set(found.summary.select("method", "scope").iter_rows())
    assert scopes == {
        ("laplace", "row"), ("dp-um", "vector"), ("idp-vector", "vector"), ("idp-cbls", "cluster"),
        ("record-dp", "cluster"), ("kanon-dp", "vector"), ("mdav", "none"), ("k-noise", "none"),
    }  # fmt: skip


def test_the_scope_is_the_most_demanding_that_keeps_epsilon(found):
    """None stands in a group whose scope it covers with more than its epsilon, or not at all."""
    order = ("row", "vector", "cluster")
    for row in found.summary.to_dicts():
        kept = [
            scope
            for scope in order
            if row["epsilon"] and (row[f"{scope}_epsilon"] or np.inf) <= row["epsilon"]
        ]
        assert row["scope"] == (kept[0] if kept else "none")


def test_nothing_depends_on_the_number_of_threads(found):
    """One thread or several give the same table."""
    again = compare(people(), **GRID, **REQUEST, jobs=1)
    assert_frame_equal(again.table, found.table, check_exact=True)
    assert again.answer == found.answer


def test_a_cell_is_the_same_in_every_grid(found):
    """What else is compared, and how often, changes nothing about a run."""
    other = {**GRID, "methods": "mdav,idp-cbls,dp-um", "k": [8], "runs": 1}
    few = compare(people(), **other, **REQUEST).table.drop("configuration")
    many = found.table.filter(
        (polars.col("k") == 8)
        & (polars.col("run") <= 1)
        & (polars.col("method").is_in(["mdav", "dp-um"]))
    ).drop("configuration")
    shared = few.filter(polars.col("method") != "idp-cbls")
    order = ["method", "epsilon", "run"]
    assert_frame_equal(shared.sort(order), many.sort(order), check_exact=True)


def test_the_grid_is_whole(found):
    """Every method meets every k and epsilon it has a use for, every run once."""
    rows = found.table.select("method", "k", "epsilon", "run").rows()
    clustered = {"dp-um", "idp-vector", "idp-cbls", "record-dp", "kanon-dp"}
    expected = {
        *itertools.product(clustered, (3, 8), (0.5, 2.0), (1, 2)),
        *itertools.product({"laplace"}, (None,), (0.5, 2.0), (1, 2)),
        *itertools.product({"mdav"}, (3, 8), (None,), (1,)),
        *itertools.product({"k-noise"}, (3, 8), (None,), (1, 2)),
    }
    assert set(rows) == expected
    assert len(rows) == len(expected)
    assert found.table["refused"].null_count() == len(rows)


def test_work_is_done_once(monkeypatch):
    """One plan of each cell, refused or not."""
    plans, plan_of = [], running.plan_of

    def counting(prepared):
        plans.append(prepared)
        return plan_of(prepared)

    monkeypatch.setattr(running, "plan_of", counting)
    methods = "idp-cbls,laplace,dp-um,idp-ls,record-dp:partition=mdav"
    compare(people(), **{**GRID, "methods": methods, "epsilon": "1:3:1"}, **REQUEST, jobs=4)
    assert len(plans) == 3 + 4 * 6


def test_what_a_matrix_of_ones_own_spends_is_its_epsilon():
    """Where no epsilon is asked for, a public matrix has the one that it spends, or none."""
    yes = {"YES": np.arange(60) % 3 == 0}
    given = {"attributes": "YES", "methods": "pram", "runs": 2, "seed": 1}
    public = compare(yes, **given, matrix={"YES": [[0.75, 0.25], [0.25, 0.75]]})
    assert public.summary["scope"].to_list() == ["row"]
    assert public.summary["epsilon"].to_list() == pytest.approx([np.log(3)])
    made = compare(yes, **given, epsilon=[1, 2], matrix={"YES": "invariant"})
    assert made.summary.select("scope", "epsilon").rows() == [("none", 1.0), ("none", 2.0)]
    assert made.frontier.filter(risk="record_linkage").height >= 1
    assert set(made.frontier["configuration"]) == {0, 1}


def test_missing_cells_and_shuffled_rows_are_measured_as_they_are():
    """Missing cells stay out of every measure; the order of rows enters none."""
    table = people()
    table["FEE"][[3, 17]] = np.nan
    request = {**REQUEST, "missing": "keep"}
    grid = {**GRID, "methods": "dp-um,mdav", "k": 5, "runs": 2}
    found = compare(table, **grid, **request)
    for row in found.table.to_dicts():
        release = mv.protect(table, seed=row["seed"], **arguments_of(row), **request)
        figures = mv.assess(table, release.data, REQUEST["attributes"]).to_dict()
        assert {m: row[m] for m in MEASURES} == {m: figures[m] for m in MEASURES}
    shuffled = compare(table, **grid, **request, shuffle=True)
    measures = [*MEASURES, "run"]
    assert_frame_equal(shuffled.table.select(measures), found.table.select(measures))


def test_what_is_refused_is_a_row_with_its_reason():
    """A k above n, a k too small for a method, exact cells, no bounds: each is told, none lost."""
    table = {"AGE": np.repeat(np.arange(20, 40), 5)}
    grid = {"methods": "idp-cbls,dp-um,mdav", "k": [2, 4, 50, 101], "epsilon": 1, "runs": 2}
    found = compare(table, **grid, seed=1, attributes="AGE")
    refused = found.summary.filter(polars.col("refused").is_not_null())
    reasons = {(m, k): r for m, k, r in refused.select("method", "k", "refused").iter_rows()}
    assert set(reasons) == {
        ("idp-cbls", 2), ("idp-cbls", 4), ("idp-cbls", 101), ("mdav", 101),
        *itertools.product(["dp-um"], (2, 4, 50, 101)),
    }  # fmt: skip
    assert "fewer records than k" in reasons["idp-cbls", 101]
    assert "k of 3 or more" in reasons["idp-cbls", 2]
    assert "would be published exactly as they are" in reasons["idp-cbls", 4]
    assert "1 column needs bounds" in reasons["dp-um", 2]
    rows = found.table.filter(polars.col("refused").is_not_null())
    assert rows.height == len(reasons)
    assert rows["run"].null_count() == rows["information_loss"].null_count() == rows.height
    runs = {name: found.table.filter(method=name)["run"].count() for name in ("idp-cbls", "mdav")}
    assert runs == {"idp-cbls": 2 * 1, "mdav": 3}
    assert reasons["idp-cbls", 101] in " ".join(found.answer.split())
    assert f"{len(reasons)} of 12 configurations" in found.answer


def test_a_request_that_no_cell_can_fulfil_is_an_error():
    """Where not one cell can be planned, the first refusal is raised."""
    with pytest.raises(RequestError, match="no such column"):
        compare(people(), **GRID, attributes=["AEG"])
    with pytest.raises(RequestError, match="no such argument"):
        compare(people(), **GRID, **REQUEST, colour="red")
    with pytest.raises(DataError, match="fewer records than k"):
        compare(people(), **{**GRID, "methods": "dp-um", "k": 41}, **REQUEST)
    with pytest.raises(RequestError, match="methods are compared"):
        compare(people(), **GRID, **REQUEST, method="dp-um")
    with pytest.raises(RequestError, match="jobs"):
        compare(people(), **GRID, **REQUEST, jobs=0)
    with pytest.raises(RequestError, match="seed"):
        compare(people(), **{**GRID, "seed": 0.5}, **REQUEST)
    words = {"REGION": np.array(["north", "south"] * 10)}
    bounds = {"REGION": ["north", "south"]}
    with pytest.raises(DataError, match="numeric attribute"):
        compare(words, methods="pram", epsilon=1, attributes="REGION", bounds=bounds)


def test_a_grid_that_is_refused_whole_is_an_error(tmp_path):
    """All configurations refused, by request or plan, is one error, and no folder is left."""
    table = {"AGE": np.repeat(np.arange(20, 40), 5)}
    asked = {"epsilon": [1, 2], "runs": 2, "seed": 1, "attributes": "AGE"}
    bounds = {"bounds": {"AGE": (0, 120)}}
    there = tmp_path / "there"
    there.mkdir(mode=0o755)
    for methods, k, given, error, told in (
        ("idp-cbls", 4, {}, ExactCellsError, "^cells of 'AGE' 40 of 100: their clusters"),
        (
            "idp-cbls",
            [4, 200],
            {},
            ExactCellsError,
            "all 4 configurations are refused, the first because",
        ),
        (
            "dp-um,idp-cbls",
            200,
            {},
            RequestError,
            "all 4 configurations are refused, the first because",
        ),
        ("dp-um", 4, {**bounds, "scope": "row"}, RequestError, "^scope: "),
        ("dp-um", 4, {}, RequestError, "1 column needs bounds"),
    ):
        for folder in (None, tmp_path / "new", there):
            with pytest.raises(error, match=told) as refused:
                compare(table, methods=methods, k=k, folder=folder, **asked, **given)
            assert all((refused.value.place, refused.value.rule, refused.value.remedy))
        assert [path.name for path in tmp_path.iterdir()] == ["there"]
        assert not any(there.iterdir())
        assert there.stat().st_mode & 0o777 == 0o755
    with pytest.raises(ExactCellsError) as alone:
        compare(table, methods="idp-cbls", k=4, **{**asked, "epsilon": 1})
    assert "cells are refused" not in str(alone.value)


def test_where_the_last_cell_alone_can_be_planned_there_is_a_comparison():
    """Refused configurations before it are rows, each planned once, on any number of threads."""
    table = {"AGE": np.repeat(np.arange(20, 40), 5)}
    grid = {"methods": "idp-cbls", "k": [2, 4, 5, 50], "epsilon": 1, "runs": 3, "seed": 1}
    one, many = (compare(table, **grid, attributes="AGE", jobs=jobs) for jobs in (1, 3))
    assert one.summary["refused"].is_not_null().to_list() == [True, True, True, False]
    assert one.table["configuration"].to_list() == [0, 1, 2, 3, 3, 3]
    assert_frame_equal(one.table, many.table, check_exact=True)


def test_a_fresh_seed_is_drawn_once_and_recorded():
    """Without a seed two comparisons differ, and each can be repeated by what it recorded."""
    grid = {**GRID, "methods": "dp-um", "seed": None}
    one, other = (compare(people(), **grid, **REQUEST) for _ in range(2))
    seed = one.description["seed"]
    assert seed != other.description["seed"]
    again = compare(people(), **{**grid, "seed": seed}, **REQUEST)
    assert_frame_equal(again.table, one.table, check_exact=True)


def test_progress_is_told_run_by_run():
    """Progress goes from nothing to everything."""
    told = []

    def progress(done, total):
        told.append((done, total))

    found = compare(people(), **{**GRID, "methods": "laplace,mdav"}, **REQUEST, progress=progress)
    total = found.table.height
    assert told == [(done, total) for done in range(total + 1)]


def test_an_error_in_the_callers_progress_ends_the_work(monkeypatch):
    """What the caller raises comes out; no thread is left at work, and little done after it."""
    measured = []

    def progress(done, _total):
        if done == 5:
            raise KeyboardInterrupt

    def counted(self, protected):
        measured.append(1)
        return measure(self, protected)

    measure = Analyst.measured
    monkeypatch.setattr(Analyst, "measured", counted)
    before = threading.active_count()
    grid = {**GRID, "methods": "dp-um", "k": 5, "epsilon": 1, "runs": 4000}
    with pytest.raises(KeyboardInterrupt):
        compare(people(), **grid, **REQUEST, progress=progress, jobs=2)
    assert threading.active_count() == before
    assert len(measured) < 500


def test_a_fault_of_ours_is_not_taken_for_a_refusal(monkeypatch):
    """An unexpected error in a thread is raised, not written into a row."""

    def broken(*_args, **_options):
        raise ZeroDivisionError

    monkeypatch.setattr(Analyst, "measured", broken)
    with pytest.raises(ZeroDivisionError):
        compare(people(), **GRID, **REQUEST)


def test_intervals_are_students(found):
    """The mean over runs has Student's interval, cut off at what a measure can be."""
    for row in found.summary.to_dicts():
        runs = found.table.filter(polars.col("configuration") == row["configuration"])
        for measure in MEASURES:
            figures = runs[measure].to_numpy()
            assert row[measure] == pytest.approx(figures.mean(), rel=1e-12)
            if row["method"] == "mdav":
                assert row[f"{measure}_low"] == row[measure] == row[f"{measure}_high"]
                continue
            spread = figures.std(ddof=1) / np.sqrt(2)
            low, high = scipy.stats.t.interval(0.95, 1, figures.mean(), spread or 1e-300)
            top = 100 if measure.startswith("record_linkage") else np.inf
            assert row[f"{measure}_low"] == pytest.approx(max(0, low), rel=1e-9)
            assert row[f"{measure}_high"] == pytest.approx(min(top, high), rel=1e-9)
    assert mean_with_interval(np.array([]), drawn=True, highest=1.0) == (None, None, None)
    assert mean_with_interval(np.array([90.0, 100.0]), drawn=True, highest=100.0)[2] == 100
    infinite = np.array([np.inf, 1.0])
    assert mean_with_interval(infinite, drawn=True, highest=np.inf) == (np.inf, None, None)


def test_the_interval_covers_the_mean_about_95_times_in_100():
    """Of 2000 samples of ten normal figures some 95 % cover their mean: neither 93 nor 97."""
    samples = np.random.Generator(np.random.PCG64(3)).normal(50, 3, (2000, 10))
    ends = [mean_with_interval(sample, drawn=True, highest=100.0) for sample in samples]
    covered = np.mean([low <= 50 <= high for _, low, high in ends])
    assert 0.935 < covered < 0.965


def test_epsilon_is_exact():
    """0.1 stands for exactly 1/10, in text, as a float and as a fraction."""
    grid = {**GRID, "methods": "dp-um", "k": 5}
    tables = [
        compare(people(), **{**grid, "epsilon": [given]}, **REQUEST).table
        for given in ("0.1", 0.1, Fraction(1, 10))
    ]
    assert_frame_equal(tables[0], tables[1], check_exact=True)
    assert_frame_equal(tables[0], tables[2], check_exact=True)


def test_frames_of_every_kind_give_the_same():
    """A polars frame and a dict of arrays are the same table, its digest included."""
    plain, frame = (
        compare(table, **{**GRID, "methods": "dp-um"}, **REQUEST)
        for table in (people(), polars.DataFrame(people()))
    )
    assert plain.description == frame.description
    assert_frame_equal(plain.table, frame.table, check_exact=True)


def test_the_digest_is_of_all_that_is_protected():
    """Another value in a column of categories, which no measure sees, is another table."""

    def digest(places):
        table = {"SICK": np.arange(20) % 2 == 0, "PLACE": np.array(places * 10)}
        request = {"attributes": ["SICK", "PLACE"], "bounds": {"PLACE": ["a", "b"]}}
        found = compare(table, methods="pram", epsilon=1, runs=1, seed=1, **request)
        return found.description["table"]

    assert digest(["a", "b"]) == digest(["a", "b"]) != digest(["a", "a"])


def test_a_recipe_serves(tmp_path):
    """A recipe gives the arguments; its method, k, epsilon and seed are passed over."""
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        'method = "laplace"\nk = 7\nepsilon = 9.0\n[attributes.AGE]\nrole = "confidential"\n'
        'type = "whole number"\nbounds = [0, 120]\n'
    )
    grid = {**GRID, "methods": "dp-um"}
    found = compare(people(), **grid, recipe=recipe)
    plain = compare(people(), **grid, attributes=["AGE"], bounds={"AGE": (0, 120)})
    assert_frame_equal(found.table, plain.table, check_exact=True)


def test_errors_hold_no_error_of_a_library():
    """What a public function raises has no other error hanging on it."""
    with pytest.raises(MicroveilError) as refusal:
        compare([1, 2], **GRID)
    assert refusal.value.__context__ is None


def test_it_prints_without_figures(found):
    """A notebook that prints a comparison shows how much was compared, no figure of the data."""
    assert repr(found) == f"Comparison(26 configurations, {found.table.height} runs)"
