"""Frontier, map and words: guarantees are never mixed, and nothing is surer than its runs."""

import json
import re
from xml.etree import ElementTree

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from compared import MEASURES, RISKS, made
from microveil.compare import Comparison, compare, risk_utility_map
from microveil.compare.frontier import beaten_apart, excluded_of, frontier_of, unbeaten
from microveil.compare.measures import Measures
from microveil.compare.rows import GROUPS, schema_of
from microveil.errors import RequestError
from microveil.report import draw_map, drawable

SVG = "{http://www.w3.org/2000/svg}"
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
        assert 0 in made(strong, other).frontier["configuration"]
    stronger = ("laplace", None, 0.1, "vector", "dp", 49.0, 5.0)
    assert 0 not in made(strong, stronger).frontier["configuration"]
    assert 0 in made(strong, strong).frontier["configuration"]


@given(st.lists(st.tuples(CELLS, st.tuples(st.booleans(), st.booleans())), max_size=12))
def test_a_condition_that_another_guarantee_lacks_never_beats_it(cells):
    """A cell is beaten by those alone that are better and whose conditions it has as well."""

    def beats(other, own):
        own_conditions = all(
            mine or not theirs for theirs, mine in zip(other[1], own[1], strict=True)
        )
        return own_conditions and not plainly_unbeaten([own[0], other[0]])[0]

    told = [not any(beats(other, own) for other in cells) for own in cells]
    losses, risks, *guarantees = ([own[place] for own, _ in cells] for place in range(4))
    conditions = np.array([held for _, held in cells], dtype=bool).reshape(-1, 2)
    assert unbeaten(losses, risks, *guarantees, conditions).tolist() == told
    exact = ([[mean] * 3 for mean in means] for means in (losses, risks))
    beaten = beaten_apart(*exact, *guarantees, conditions)
    assert (~beaten).tolist() == told
    assert any(told) or not cells


def test_a_guarantee_with_a_condition_never_pushes_one_without_off():
    """Held boundaries and sizes beat what hangs on them as well, and the other way about."""
    plain = ("idp-ls", 5, 1.0, "vector", "idp", 50.0, 5.0)
    held = ("record-dp:partition=optimal", 5, 1.0, "vector", "idp", 20.0, 3.0)
    sizes = ("idp-vector:partition=noise-aware", 5, 1.0, "vector", "idp", 10.0, 2.0)
    found = made(plain, held, sizes)
    assert set(found.frontier["configuration"]) == {0, 1, 2}
    assert found.summary["excluded[record_linkage]"].to_list() == [False] * 3
    assert "vector scope 3 of 3 configurations, 3 sure, 0 excluded." in flat(found.answer)
    as_conditional = made((sizes[0], *plain[1:]), sizes)
    assert set(as_conditional.frontier["configuration"]) == {1}
    best = ("dp-um", 5, 1.0, "vector", "dp", 1.0, 1.0)
    beaten = made(best, plain, held, ("record-dp:partition=noise-aware", *held[1:5], 30.0, 4.0))
    assert set(beaten.frontier["configuration"]) == {0}
    alone = made(held, ("record-dp:partition=noise-aware", *held[1:5], 30.0, 4.0))
    assert set(alone.frontier["configuration"]) == {0}


def test_where_no_epsilon_is_kept_none_makes_a_cell_stronger():
    """Within the group of no scope an epsilon that was asked for is no guarantee."""
    spent = ("pram", None, 2.0, "none", "none", 10.0, 1.0)
    other = ("pram", None, 1.0, "none", "none", 20.0, 2.0)
    none = ("k-noise", 5, None, "none", "none", 30.0, 3.0)
    better = made(spent, other, none)
    assert set(better.frontier["configuration"]) == {0}
    assert better.summary["excluded[record_linkage]"].to_list() == [False, True, True]


@given(st.lists(CELLS, min_size=1, max_size=12), st.integers(0, 3))
def test_a_cell_is_excluded_only_if_another_beats_it_by_more_than_the_intervals(cells, width):
    """The wider the intervals the fewer are excluded: none of the frontier, all off it at 0."""
    losses, risks, epsilons, strengths = map(np.array, zip(*cells, strict=True))

    def excluded(half):
        ends = (np.stack([m, m - half, m + half], axis=1) for m in (losses, risks))
        return beaten_apart(*ends, epsilons, strengths)

    kept = unbeaten(losses, risks, epsilons, strengths)
    told = excluded(width / 2)
    assert not (told & kept).any()
    assert excluded(0).tolist() == (~kept).tolist()
    assert not (told & ~excluded(width / 4)).any()
    for i in np.flatnonzero(told):
        assert any(
            losses[j] <= losses[i] and risks[j] <= risks[i]
            and max(losses[i] - losses[j], risks[i] - risks[j]) > width
            and epsilons[j] <= epsilons[i] and strengths[j] >= strengths[i]
            for j in range(len(cells))
        )  # fmt: skip


def test_one_run_excludes_nothing_and_what_is_refused_is_null():
    """Without an interval nothing is certain; a cell without figures is neither off nor on."""
    cells = (
        ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0),
        ("laplace", None, 1.0, "vector", "dp", 90.0, 9.0),
    )
    for runs, told in (((0.0,), [False, False]), ((-1.0, 0.0, 1.0), [False, True])):
        compared = made(*cells, runs=runs)
        assert set(compared.frontier["configuration"]) == {0}
        for risk in RISKS:
            assert compared.summary[f"excluded[{risk}]"].to_list() == told
    rows = [*made(*cells).table.to_dicts(),
            {"configuration": 2, "method": "idp-ls", "steps": "", "k": 2,
             "refused": "why"}]  # fmt: skip
    summary = Comparison.of(rows, {"runs": 3, "seed": 1}).summary
    assert summary["excluded[record_linkage]"].to_list() == [False, True, None]
    assert excluded_of(summary.clear()).is_empty()


def test_the_frontier_is_found_for_each_scope_by_itself(found):
    """Leaving the cells of all other scopes away changes no scope's frontier."""
    assert set(found.frontier["risk"]) == set(RISKS)
    for scope in GROUPS:
        own = found.summary.filter(polars.col("scope") == scope)
        alone = frontier_of(own)
        assert alone.equals(found.frontier.filter(polars.col("scope") == scope))
        assert alone.height


def test_every_panel_holds_one_scope_and_one_epsilon(found):
    """Every cell is drawn once, in the panel of its scope and epsilon, with its interval."""
    summary = {row["configuration"]: row for row in found.summary.to_dicts()}
    for risk in RISKS:
        panels = risk_utility_map(found, risk)
        drawn = {}
        for panel in panels:
            for series in panel.series:
                for point in series.points:
                    drawn[point.configuration] = (panel, series, point)
        assert set(drawn) == set(summary)
        assert sum(len(s.points) for panel in panels for s in panel.series) == len(summary)
        kept = set(found.frontier.filter(polars.col("risk") == risk)["configuration"])
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
    """Overlapping intervals are not told apart, others are apart by so much."""
    best = ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)
    near = made(best, ("idp-ls", 5, 1.0, "vector", "dp", 21.0, 3.0))
    assert "Epsilon 1: dp-um, k 5, 20 % (17.5 to 22.5), 3 % linked." in flat(near.answer)
    assert "idp-ls, k 5, 21 %, not told apart." in flat(near.answer)
    apart = made(best, ("idp-ls", 5, 1.0, "vector", "dp", 30.0, 3.0))
    low = 30 - 4.302652729749464 / np.sqrt(3)
    high = 20 + 4.302652729749464 / np.sqrt(3)
    assert f"idp-ls, k 5, 30 %, {low - high:.3g} points apart." in flat(apart.answer)
    sizes = made(*(("dp-um", k, 1.0, "vector", "dp", 20 + 4.0 * i, 3.0)
                   for i, k in enumerate([9, 7, 5])))  # fmt: skip
    assert "Epsilon 1: dp-um, k 9," in sizes.answer
    assert "Not told apart: k 7." in flat(sizes.answer)
    close = made(*(("dp-um", k, 1.0, "vector", "dp", 20 + 0.8 * k, 3.0) for k in range(3, 15)))
    assert "Not told apart: 6 of 11 other k." in flat(close.answer)


def test_the_answer_says_what_the_best_does_not_give():
    """Exact cells, the true loss at vector scope, the weaker model and a hopeless loss."""
    weak = made(
        ("idp-cbls", 5, 1.0, "cluster", "idp", 20.0, 3.0),
        ("kanon-dp", 5, 1.0, "cluster", "dp", 30.0, 3.0),
        ("idp-vector", 5, 1.0, "vector", "idp", 120.0, 3.0),
        ("dp-um", 8, 1.0, "vector", "dp", 150.0, 3.0),
    )
    told = flat(weak.answer)
    assert "Cluster scope: idp-cbls (individual differential privacy) at epsilon 1." in told
    assert (
        "Vector scope: idp-vector (individual differential privacy) at epsilon 1; worse than "
        "publishing the mean in every row at epsilon 1." in told
    )
    assert "Under differential privacy: dp-um, k 8, 150 %" in told
    own = told.partition("kanon-dp, k 5")
    assert own[0].endswith("True loss at vector scope 9. With noise for any neighbour of the "
                           "cluster: ")  # fmt: skip
    assert own[2].startswith(", 30 %, 5.03 points apart. True loss at vector scope 9.")
    rows = weak.table.with_columns(
        polars.when(method="idp-cbls").then(10).otherwise(0).alias("exact_cells"),
        polars.lit(None, polars.Float64).alias("vector_loss"),
    )
    told = flat(Comparison.of(rows.to_dicts(), weak.description).answer)
    assert "20 % of its cells come out exact." in told
    assert "No bound at vector scope." in told


def test_under_differential_privacy_stands_only_beside_what_is_not():
    """Where the best is differential privacy itself, others are told as next, or not at all."""
    cells = (
        ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0),
        ("idp-ls", 5, 1.0, "vector", "idp", 30.0, 3.0),
        ("laplace", None, 1.0, "vector", "dp", 40.0, 3.0),
    )
    told = flat(made(*cells).answer)
    assert "Next: idp-ls, k 5, 30 %" in told
    assert "Under differential privacy" not in told
    assert "laplace, 40 %" not in told


def test_the_answer_goes_through_every_guarantee(found):
    """Each scope has its line and each epsilon its own; lines fit; no figure is missing."""
    text = found.answer
    assert all(len(line) <= 100 for line in text.splitlines())
    assert [line.split(":")[0] for line in text.splitlines() if line.startswith("## ")] == [
        "## Row scope", "## Vector scope", "## Cluster scope", "## No epsilon",
    ]  # fmt: skip
    top = text.partition("\n## ")[0]
    assert [line.split(":")[0] for line in top.splitlines() if line.startswith("- ")] == [
        "- Row scope", "- Vector scope", "- Cluster scope", "- No epsilon",
    ]  # fmt: skip
    assert text.count("- Epsilon 0.5:") == text.count("- Epsilon 2:") == 3
    assert text.count("- No epsilon: mdav") == 2
    assert "nan" not in text
    assert "None" not in text


def test_the_answer_is_short():
    """Two scopes at three epsilons, many k and several methods take 36 lines at most."""
    cells = [
        (method, k, epsilon, scope, model, 90 + k + place, 3.0)
        for scope, methods in (("vector", ("idp-vector", "dp-um")), ("cluster", ("idp-cbls",)))
        for place, method in enumerate(methods)
        for model in ["dp" if method == "dp-um" else "idp"]
        for epsilon in (0.01, 0.1, 1.0)
        for k in range(10, 101, 10)
    ]
    assert len(made(*cells).answer.splitlines()) <= 36


def test_the_answer_tells_how_sure_a_frontier_is():
    """Only cells that nothing beats anywhere within the intervals are counted as sure."""
    best = ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)
    apart = made(best, ("dp-um", 6, 1.0, "vector", "dp", 40.0, 5.0))
    assert "by means: vector scope 1 of 2 configurations, 1 sure, 1 excluded." in flat(apart.answer)
    near = made(best, ("dp-um", 6, 1.0, "vector", "dp", 21.0, 3.0))
    assert "vector scope 1 of 2 configurations, 0 sure, 0 excluded." in flat(near.answer)
    traded = made(best, ("dp-um", 6, 1.0, "vector", "dp", 40.0, 2.0))
    assert "vector scope 2 of 2 configurations, 2 sure," in flat(traded.answer)
    weaker = made(best, ("idp-ls", 6, 1.0, "vector", "idp", 21.0, 3.0))
    assert "vector scope 2 of 2 configurations, 1 sure," not in flat(weaker.answer)
    assert "vector scope 1 of 2 configurations, 1 sure," in flat(weaker.answer)
    larger = made(best, ("dp-um", 5, 2.0, "vector", "dp", 20.5, 3.0))
    assert "vector scope 1 of 2 configurations, 1 sure," in flat(larger.answer)
    once = made(best, ("dp-um", 6, 1.0, "vector", "dp", 40.0, 5.0), runs=(0.0,))
    assert "vector scope 1 of 2 configurations, 0 sure," in flat(once.answer)


def test_a_partition_held_is_told_where_its_method_is_best():
    """record-dp by a partition of the data holds formed anew by the same boundaries alone."""
    ages = {"AGE": np.random.Generator(np.random.PCG64(3)).integers(0, 100, 60)}
    for steps in ("partition=optimal", "partition=noise-aware"):
        found = compare(ages, methods=f"record-dp:{steps}", k=10, epsilon=5, runs=2, seed=1,
                        **REQUEST)  # fmt: skip
        assert found.summary["scope"].to_list() == ["vector"]
        assert "(individual differential privacy; with the noise scales held; with the rank " in (
            flat(found.answer)
        )
        assert "were they chosen anew from the neighbour, nothing would be promised." in flat(
            found.answer
        )
    ranking = compare(ages, methods="record-dp:partition=ranking", k=10, epsilon=5, runs=2,
                      seed=1, **REQUEST)  # fmt: skip
    assert "boundaries" not in ranking.answer


def test_sizes_held_are_told_whether_widening_is_a_step_or_holds_for_all():
    """idp-cbls that widens clusters says so, however widening was asked for."""
    ages = {"AGE": np.random.Generator(np.random.PCG64(3)).integers(0, 100, 60)}
    asked = {"k": 10, "epsilon": 5, "runs": 2, "seed": 1, "attributes": ["AGE"],
             "bounds": {"AGE": (0, 120)}}  # fmt: skip
    step = compare(ages, methods="idp-cbls:exact_cells=widen", **asked)
    all_cells = compare(ages, methods="idp-cbls", exact_cells="widen", **asked)
    for found in (step, all_cells):
        assert "with the cluster sizes held" in flat(found.answer)
        assert "Cluster sizes were chosen from the data" in flat(found.answer)
    allowed = compare(ages, methods="idp-cbls", exact_cells="allow", **asked)
    assert "cluster sizes" not in allowed.answer


def test_bounds_read_from_the_data_are_told():
    """The answer and the description say which bounds and resolutions were not declared."""
    ages = {"AGE": np.random.Generator(np.random.PCG64(3)).integers(0, 100, 60) / 4}
    asked = {"methods": "laplace,mdav", "k": 5, "epsilon": 5, "runs": 2, "seed": 1,
             "attributes": ["AGE"], "outside": "clamp"}  # fmt: skip
    read = {"bounds": mv.bounds_from_data(ages), "resolution": mv.resolution_from_data(ages)}
    found = compare(ages, **asked, **read)
    assert found.description["read_from_data"] == {"bounds": ["AGE"], "resolution": ["AGE"]}
    top = flat(found.answer.partition("\n## ")[0])
    assert "Bounds were read from the data for AGE. The release shows them: no claim holds" in top
    assert "Resolutions were read from the data for AGE" in top
    declared = compare(ages, **asked, bounds={"AGE": (0, 25)}, resolution={"AGE": 0.25})
    assert "read_from_data" not in declared.description
    assert "read from the data" not in declared.answer


def test_the_answer_says_why_nothing_does_best():
    """Where no cell has a loss a sentence says why: all refused, none measured, nothing varies."""
    constant = compare({"AGE": np.full(6, 50)}, methods="dp-um,mdav", k=3, epsilon=1, runs=2,
                       **REQUEST)  # fmt: skip
    top = flat(constant.answer.partition("In parentheses")[0])
    assert "No configuration can be ranked: no protected attribute varies" in top
    refused = [{"configuration": 0, "method": "idp-ls", "steps": "", "k": 2, "refused": "why"}]
    assert "No configuration can be ranked: every one was refused." in flat(
        Comparison.of(refused, {"runs": 3, "seed": 1}).answer
    )
    table = made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)).table
    unmeasured = table.with_columns(polars.lit(None, polars.Float64).alias(m) for m in MEASURES)
    found = Comparison.of([*unmeasured.to_dicts(), {**refused[0], "configuration": 1}], {"runs": 3})
    assert "No configuration can be ranked: in every one that was not refused" in flat(found.answer)
    assert "can be ranked" not in made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)).answer


def test_what_is_kept_is_named_and_covered_by_no_claim():
    """The answer names the columns that are released as they are, also where none has epsilon."""
    people = {"AGE": np.arange(20, 80), "CITY": np.array(["A", "B"] * 30), "SEX": np.arange(60) % 2}
    asked = {"k": 5, "epsilon": 5, "runs": 2, "seed": 1, **REQUEST}
    for methods in ("laplace,dp-um", "mdav"):
        for keep, named in ((["CITY", "SEX"], "CITY, SEX"), ("CITY", "CITY")):
            found = compare(people, methods=methods, keep=keep, **asked)
            top = flat(found.answer.partition("\n## ")[0])
            assert f"Released unprotected: {named}. No claim covers these columns" in top
        assert "unprotected" not in compare(people, methods=methods, **asked).answer
    row = compare(people, methods="laplace", keep="CITY", **asked).answer
    assert "epsilon covers everything that is protected," in row
    assert "everything that is released" not in row


def test_nothing_that_a_notebook_prints_shows_a_figure(found):
    """Panels, series and points are named without losses and risks."""
    panel = risk_utility_map(found)[0]
    assert repr(panel) == "Panel(Row scope, epsilon 0.5, 1 series)"
    assert repr(panel.series[0]) == "Series(laplace, 1 points)"
    assert re.fullmatch(r"Point\(configuration \d+, k None\)", repr(panel.series[0].points[0]))
    release = mv.protect({"AGE": np.arange(20, 80)}, method="mdav", k=3, attributes="AGE")
    assert repr(release.manifest) == "Manifest(mdav, 60 records)"


def test_the_dictionary_is_json(found):
    """Everything but the runs goes into JSON, without NaN or infinity."""
    whole = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(whole["summary"]) == found.summary.height
    infinite = made(("dp-um", 5, 1.0, "vector", "dp", float("inf"), 3.0))
    assert json.loads(json.dumps(infinite.to_dict(), allow_nan=False))
    assert list(found.table.schema) == list(schema_of(Measures()))


def test_the_map_is_drawn_in_a_file(found, tmp_path):
    """One panel to each scope and epsilon with its caption, whole, and the same drawn again."""
    path = draw_map(found, tmp_path / "map.svg", risk="record_linkage")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
    root = ElementTree.parse(path).getroot()  # noqa: S314 -- our own file
    panels = root.findall(f"{SVG}svg")
    captions = [text.text for text in root.findall(f"{SVG}text[@class='caption']")]
    drawn = risk_utility_map(found, "record_linkage")
    assert captions == [panel.title for panel in drawn]
    assert [panel.find(f"{SVG}title").text for panel in panels] == [
        f"Risk against loss: {title}" for title in captions
    ]
    width, height = float(root.get("width")), float(root.get("height"))
    for panel in panels:
        place = {name: float(panel.get(name)) for name in ("x", "y", "width", "height")}
        assert 0 <= place["x"] <= width - place["width"]
        assert 0 <= place["y"] <= height - place["height"]
    told = path.read_text(encoding="utf-8")
    assert "var(" not in told
    assert "Risk: record linkage in raw units." in told
    assert re.search(r"Models: DP for .*laplace", told)
    again = draw_map(found, tmp_path / "again.svg", risk="record_linkage")
    assert again.read_bytes() == path.read_bytes()


def test_a_map_of_one_point_without_loss_is_drawn(tmp_path):
    """One cell, one run, nothing lost."""
    one = made(("dp-um", 5, 1.0, "vector", "dp", 0.0, 3.0), runs=(0.0,))
    assert 'class="mark full' in draw_map(one, tmp_path / "one.svg").read_text(encoding="utf-8")


def test_what_cannot_be_drawn_is_refused(found, tmp_path):
    """The message says which ending a map has, or that there is nothing to draw."""
    with pytest.raises(RequestError, match=r"drawn as SVG.*\.svg"):
        draw_map(found, tmp_path / "map.png")
    endless = made(("dp-um", 5, 1.0, "vector", "dp", float("inf"), 3.0))
    assert not drawable(endless)
    with pytest.raises(RequestError, match="no configuration has both"):
        draw_map(endless, tmp_path / "map.svg")
    assert not list(tmp_path.iterdir())


def flat(text):
    return " ".join(text.split())
