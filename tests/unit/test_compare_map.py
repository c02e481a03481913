"""Frontier, map and words: guarantees are never mixed, and nothing is surer than its runs."""

import json
import sys

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.compare import Comparison, compare, drawing, risk_utility_map
from microveil.compare.clock import Clock
from microveil.compare.frontier import frontier_of, unbeaten
from microveil.compare.measures import Measures
from microveil.compare.measuring import CHANCE, MEASURES, RISKS
from microveil.compare.rows import GROUPS, schema_of
from microveil.errors import RequestError

CELLS = st.tuples(
    st.integers(0, 4), st.integers(0, 4), st.integers(1, 3), st.integers(0, 3)
)  # loss, risk, epsilon, strength
REQUEST = {"attributes": ["AGE"], "bounds": {"AGE": (0, 120)}, "exact_cells": "allow"}
METHODS = "laplace,dp-um,idp-vector,idp-cbls,idp-ls,mdav,k-noise"


@pytest.fixture(scope="module")
def found():
    ages = np.random.Generator(np.random.PCG64(2)).integers(18, 90, 60)
    return compare(
        {"AGE": ages}, methods=METHODS, k=[3, 6, 12], epsilon=[0.5, 2], runs=4, seed=3, **REQUEST
    )


def made(*cells, runs=(-1.0, 0.0, 1.0)):
    """Make a comparison of cells (method, k, epsilon, scope, model, loss, linkage)."""
    rows = []
    for number, (method, k, epsilon, scope, model, loss, linkage) in enumerate(cells):
        named = {"cell": number, "method": method, "steps": "", "k": k, "epsilon": epsilon}
        facts = {"scope": scope, "model": model, "vector_loss": 9.0, "exact_cells": 0}
        for run, shift in enumerate(runs, start=1):
            figures = dict.fromkeys(MEASURES, loss + shift) | dict.fromkeys(RISKS, linkage)
            row = {**named, **facts, "n_cells": 50, "run": run, "seed": run, **figures}
            rows.append({**row, CHANCE: 1.0})
    return Comparison.of(rows, {"runs": len(runs), "seed": 1})


def plainly_unbeaten(cells):
    def beats(other, own):
        as_strong = other[2] <= own[2] and other[3] >= own[3]
        no_worse = other[0] <= own[0] and other[1] <= own[1]
        return as_strong and no_worse and other[:2] != own[:2]

    return [not any(beats(other, own) for other in cells) for own in cells]


@given(st.lists(CELLS, min_size=1, max_size=12))
def test_the_frontier_is_what_no_other_cell_beats(cells):
    """A cell is kept if and only if none that guarantees as much is better; some always is."""
    kept = unbeaten(*zip(*cells, strict=True)).tolist()
    assert kept == plainly_unbeaten(cells)
    assert any(kept)


@given(st.lists(CELLS, min_size=2, max_size=12), st.randoms())
def test_the_frontier_does_not_hang_on_the_order(cells, random):
    """Cells in another order have the same frontier."""
    order = random.sample(range(len(cells)), len(cells))
    kept = unbeaten(*zip(*cells, strict=True))
    moved = unbeaten(*zip(*(cells[i] for i in order), strict=True))
    assert moved.tolist() == kept[order].tolist()


def test_a_weaker_guarantee_never_pushes_a_stronger_one_off():
    """Neither a weaker scope, nor a larger epsilon, nor individual differential privacy does."""
    strong = ("dp-um", 5, 0.1, "vector", "dp", 50.0, 5.0)
    weaker = [
        ("idp-cbls", 5, 0.1, "cluster", "idp", 1.0, 1.0),
        ("mdav", 5, None, "none", "k-anonymity", 1.0, 1.0),
        ("dp-um", 5, 1.0, "vector", "dp", 1.0, 1.0),
        ("idp-vector", 5, 0.1, "vector", "idp", 1.0, 1.0),
    ]
    for other in weaker:
        assert 0 in made(strong, other).frontier["cell"]
    stronger = ("laplace", None, 0.1, "vector", "dp", 49.0, 5.0)
    assert 0 not in made(strong, stronger).frontier["cell"]
    assert 0 in made(strong, strong).frontier["cell"]


def test_the_frontier_is_found_for_each_scope_by_itself(found):
    """Leaving the cells of all other scopes away changes no scope's frontier."""
    assert set(found.frontier["risk"]) == set(RISKS)
    for scope in GROUPS:
        alone = frontier_of(found.summary.filter(polars.col("scope") == scope))
        assert alone.equals(found.frontier.filter(polars.col("scope") == scope))
        assert alone.height


def test_every_panel_holds_one_scope_and_one_epsilon(found):
    """Every cell is drawn once, in the panel of its scope and epsilon, with its interval."""
    summary = {row["cell"]: row for row in found.summary.to_dicts()}
    for risk in RISKS:
        panels = risk_utility_map(found, risk)
        drawn = {}
        for panel in panels:
            for series in panel.series:
                for point in series.points:
                    drawn[point.cell] = (panel, series, point)
        assert set(drawn) == set(summary)
        assert sum(len(s.points) for panel in panels for s in panel.series) == len(summary)
        kept = set(found.frontier.filter(polars.col("risk") == risk)["cell"])
        for cell, (panel, series, point) in drawn.items():
            row = summary[cell]
            assert (panel.scope, panel.epsilon) == (row["scope"], row["epsilon"])
            assert (series.name, series.model) == (row["method"], row["model"])
            assert (point.k, point.loss, point.risk) == (row["k"], row["information_loss"],
                                                         row[risk])  # fmt: skip
            assert point.risk_interval == (row[f"{risk}_low"], row[f"{risk}_high"])
            assert point.on_frontier == (cell in kept)
        places = [(GROUPS.index(panel.scope), panel.epsilon or 0) for panel in panels]
        assert places == sorted(set(places))
        json.dumps([panel.to_dict() for panel in panels], allow_nan=False)
    with pytest.raises(RequestError, match="no such risk"):
        risk_utility_map(found, "sse")


def test_one_run_has_no_interval():
    """A single run is drawn without bars and told without an interval."""
    one = made(
        ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0),
        ("laplace", None, 1.0, "vector", "dp", 30.0, 3.0), runs=(0.0,),
    )  # fmt: skip
    point = risk_utility_map(one)[0].series[0].points[0]
    assert (point.loss_interval, point.risk_interval) == (None, None)
    assert "one run says nothing of the spread" in flat(one.answer)


def test_the_answer_tells_what_the_spread_allows():
    """Overlapping intervals are within the spread of the runs, others are apart by so much."""
    best = ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)
    near = made(best, ("idp-ls", 5, 1.0, "vector", "dp", 21.0, 3.0))
    assert "idp-ls, k 5, 21 % (18.5 to 23.5): within the spread of the runs." in flat(near.answer)
    apart = made(best, ("idp-ls", 5, 1.0, "vector", "dp", 30.0, 3.0))
    low = 30 - 4.302652729749464 / np.sqrt(3)
    high = 20 + 4.302652729749464 / np.sqrt(3)
    assert f"apart, {low - high:.3g} points between the intervals." in flat(apart.answer)
    sizes = made(*(("dp-um", k, 1.0, "vector", "dp", 20 + 4.0 * i, 3.0)
                   for i, k in enumerate([9, 7, 5])))  # fmt: skip
    assert "dp-um, k 9 loses least" in sizes.answer
    assert "Within the spread of the runs: k 7." in flat(sizes.answer)


def test_the_answer_says_what_the_best_does_not_give():
    """Exact cells, the true loss at vector scope, the weaker model and a hopeless loss."""
    weak = made(
        ("idp-cbls", 5, 1.0, "cluster", "idp", 20.0, 3.0),
        ("idp-vector", 5, 1.0, "vector", "idp", 120.0, 3.0),
        ("dp-um", 8, 1.0, "vector", "dp", 150.0, 3.0),
    )
    told = flat(weak.answer)
    assert "At vector scope its true loss is 9." in told
    assert "120 % (118 to 122), worse than publishing the mean in every row" in told
    assert "under differential privacy it is dp-um, k 8, 150 %" in told
    rows = weak.table.with_columns(
        polars.when(method="idp-cbls").then(10).otherwise(0).alias("exact_cells"),
        polars.lit(None, polars.Float64).alias("vector_loss"),
    )
    told = flat(Comparison.of(rows.to_dicts(), weak.description).answer)
    assert "20 % of its cells come out exactly as they are." in told
    assert "At vector scope it has no bound." in told


def test_the_answer_goes_through_every_guarantee(found):
    """Each scope and epsilon has its paragraph; lines fit a terminal; no figure is missing."""
    text = found.answer
    assert all(len(line) <= 100 for line in text.splitlines())
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith("## ")] == [
        "## Row scope", "## Vector scope", "## Cluster scope", "## No epsilon",
    ]  # fmt: skip
    assert text.count("Epsilon 0.5:") == text.count("Epsilon 2:") == 3
    assert text.count("loses least") == 7
    assert "nan" not in text
    assert "None" not in text


def test_the_dictionary_is_json(found):
    """Everything but the runs goes into JSON, without NaN or infinity."""
    whole = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(whole["summary"]) == found.summary.height
    infinite = made(("dp-um", 5, 1.0, "vector", "dp", float("inf"), 3.0))
    assert json.loads(json.dumps(infinite.to_dict(), allow_nan=False))
    assert list(found.table.schema) == list(schema_of(Measures()))


def test_the_picture_is_drawn(found, tmp_path):
    """The map is written in each format, whole, with every method and panel named."""
    pytest.importorskip("matplotlib")
    for kind in ("svg", "png", "pdf"):
        path = drawing.draw_map(found, tmp_path / f"map.{kind}", risk="record_linkage")
        assert path.stat().st_size > 5000
    assert len(list(tmp_path.iterdir())) == 3
    one = made(("dp-um", 5, 1.0, "vector", "dp", 0.0, 3.0), runs=(0.0,))
    drawing.draw_map(one, tmp_path / "one.svg")


def test_the_picture_needs_its_extra(found, tmp_path, monkeypatch):
    """Without matplotlib the message names the extra; without a known ending, the endings."""
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(RequestError, match=r"microveil\[report\]"):
        drawing.draw_map(found, tmp_path / "map.svg")
    with pytest.raises(RequestError, match=r"use \.svg"):
        drawing.draw_map(found, tmp_path / "map.gif")


def test_the_clock_weighs_methods_by_what_they_took(monkeypatch):
    """What is left is reckoned from each method's own mean and from how much is done at once."""
    now = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    clock = Clock({"slow": 3, "fast": 10, "new": 4})
    assert clock.seconds_left() is None
    clock.took("slow", 1, 8.0)
    clock.took("fast", 2, 1.0)
    now[0] = 4.5  # two threads: nine seconds of work
    assert clock.seconds_left() == pytest.approx((2 * 8 + 8 * 0.5 + 4 * 3) / 2)
    for choice, runs in (("slow", 2), ("fast", 8), ("new", 4)):
        clock.took(choice, runs, 1.0)
    assert clock.seconds_left() == 0


def flat(text):
    return " ".join(text.split())
