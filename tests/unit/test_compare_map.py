"""Frontier, map and words: guarantees are never mixed, and nothing is surer than its runs."""

import json
import re

import numpy as np
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from compared import MEASURES, RISKS, made
from microveil.compare import Comparison, compare
from microveil.compare.columns import GROUPS, RISK, Measures, schema_of
from microveil.compare.results import beaten, excluded_of, frontier_of
from microveil.errors import RequestError
from microveil.report import draw_map
from microveil.report.comparison import comparison_chart
from microveil.text.document import Items, Tabulated, plain

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


def unbeaten(losses, risks, epsilons, strengths, conditions=None):
    """What nothing beats by its means."""
    exact = ([[mean] * 3 for mean in means] for means in (losses, risks))
    hangs = [[]] * len(losses) if conditions is None else conditions
    return ~beaten(*exact, epsilons, strengths, hangs)


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


@given(st.lists(st.tuples(CELLS, st.tuples(st.booleans(), st.booleans())), min_size=1, max_size=12))
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
    assert any(told)


def test_a_guarantee_with_a_condition_never_pushes_one_without_off():
    """Held boundaries and sizes beat what hangs on them as well, and the other way about."""
    plain = ("idp-ls", 5, 1.0, "vector", "idp", 50.0, 5.0)
    held = ("record-dp:partition=optimal", 5, 1.0, "vector", "idp", 20.0, 3.0)
    sizes = ("idp-vector:partition=noise-aware", 5, 1.0, "vector", "idp", 10.0, 2.0)
    found = made(plain, held, sizes)
    assert set(found.frontier["configuration"]) == {0, 1, 2}
    assert found.summary["excluded[record_linkage]"].to_list() == [False] * 3
    assert "vector scope 3 of 3, 0 excluded for certain" in flat(found.answer)
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
        return beaten(*ends, epsilons, strengths, [[]] * len(losses))

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


def points_of(comparison, risk=RISK):
    """The points of the chart, as they are drawn."""
    return comparison_chart(comparison, risk).spec["data"]["values"]


def test_every_configuration_is_on_the_map_once(found):
    """With its interval, its scope, and whether it is on the frontier, of every risk."""
    for risk in RISKS:
        kept = set(found.frontier.filter(polars.col("risk") == risk)["configuration"])
        expected = [
            (row["k"], row["epsilon"], row["scope"], row["configuration"] in kept,
             row["information_loss"], row[f"{risk}_low"], row[f"{risk}_high"])
            for row in found.summary.to_dicts()
        ]  # fmt: skip
        names = ("k", "epsilon", "scope", "optimal", "loss", "risk_low", "risk_high")
        assert [tuple(point[n] for n in names) for point in points_of(found, risk)] == expected
        json.dumps(comparison_chart(found, risk).spec, allow_nan=False)


def test_a_map_is_filtered_by_scope_and_says_what_it_shows(found):
    """A button for each scope that there is; a method has a colour, a k a size, a scope a shape."""
    chart = comparison_chart(found)
    (button,) = chart.spec["params"]
    assert button["bind"]["options"] == ["all", *GROUPS]
    marks = chart.spec["layer"][3]["encoding"]
    assert [marks[name]["field"] for name in ("stroke", "size", "shape")] == [
        "method",
        "k",
        "scope",
    ]
    assert chart.spec["layer"][0]["encoding"]["order"] == {"field": "epsilon"}
    for method in set(found.summary["method"]):
        assert f"{method}" in chart.says
    one = comparison_chart(made(("dp-um", 5, 1.0, "vector", "dp", 0.0, 3.0)))
    assert "bind" not in one.spec["params"][0]


def test_a_notebook_has_the_map_as_altairs(found):
    """In the colours of the light scheme, for every risk; what was not measured is refused."""
    assert "var(" not in found.plot("record_linkage").to_json()
    (points,) = found.plot().to_dict()["datasets"].values()
    assert len(points) == found.summary.height
    with pytest.raises(RequestError, match="was not measured"):
        found.plot("sse")
    endless = made(("dp-um", 5, 1.0, "vector", "dp", float("inf"), 3.0))
    with pytest.raises(RequestError, match="no configuration has both"):
        endless.plot()


def test_the_map_is_drawn_in_a_file(found, tmp_path):
    """Its owner's alone, in colours of its own; none where there is nothing to draw."""
    path = draw_map(found, tmp_path / "map.svg")
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
    told = path.read_text(encoding="utf-8")
    assert "var(" not in told
    assert {"laplace", "dp-um", "information loss, %"} <= set(re.findall(r">([^<>]+)</text>", told))
    again = draw_map(found, tmp_path / "again.svg")
    assert again.read_bytes() == path.read_bytes()
    assert draw_map(made(("dp-um", 5, 1.0, "vector", "dp", 0.0, 3.0), runs=(0.0,)), path)
    endless = made(("dp-um", 5, 1.0, "vector", "dp", float("inf"), 3.0))
    assert draw_map(endless, path) is None


def best_of(comparison):
    """The rows of the first table of the answer: guarantee, epsilon, method and all else."""
    table = next(block for block in comparison.document.blocks if isinstance(block, Tabulated))
    return [[plain(cell) for cell in row] for row in table.rows]


def test_the_answer_tells_what_the_spread_allows():
    """How many others of the guarantee these runs do not tell from the best; of one run nothing."""
    best = ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)
    near = made(best, ("idp-ls", 5, 1.0, "vector", "dp", 21.0, 3.0))
    assert best_of(near) == [["vector DP", "1", "dp-um", "5", "20 ± 2.5", "3", "1 of 1"]]
    apart = made(best, ("idp-ls", 5, 1.0, "vector", "dp", 30.0, 3.0))
    assert best_of(apart)[0][-1] == "0 of 1"
    once = made(best, ("idp-ls", 5, 1.0, "vector", "dp", 30.0, 3.0), runs=(0.0,))
    assert best_of(once)[0][-3:] == ["20", "3", "-"]


def test_every_guarantee_has_its_best(found):
    """A row to each scope, epsilon and model, the strongest first: none is held against another."""
    rows = found.summary.sort("information_loss", "configuration", maintain_order=True)
    guarantee = ["scope", "epsilon", "model"]
    best = {row[:3]: row[3] for row in reversed(rows.select(*guarantee, "method").rows())}
    told = best_of(found)
    words = {("none", "k-anonymity"): "k-anonymity", ("none", "none"): "no epsilon"}
    expected = {
        (
            words.get((scope, model), f"{scope} {model.upper().replace('I', 'i')}"),
            "-" if epsilon is None else f"{epsilon:g}",
        ): method
        for (scope, epsilon, model), method in best.items()
    }
    assert {tuple(row[:2]): row[2].removesuffix(" †") for row in told} == expected
    scopes = [row[0].split()[0] for row in told]
    assert list(dict.fromkeys(scopes)) == ["row", "vector", "cluster", "k-anonymity", "no"]
    strong = ("dp-um", 8, 1.0, "vector", "dp", 150.0, 3.0)
    both = made(("idp-vector", 5, 1.0, "vector", "idp", 20.0, 3.0), strong)
    told = [[row[0], row[2]] for row in best_of(both)]
    assert told == [["vector DP", "dp-um"], ["vector iDP", "idp-vector"]]


def test_the_answer_says_what_the_best_does_not_give():
    """Exact cells, the true loss at vector scope, and a hopeless loss."""
    weak = made(
        ("idp-cbls", 5, 1.0, "cluster", "idp", 20.0, 3.0),
        ("dp-um", 8, 1.0, "vector", "dp", 150.0, 3.0),
    )
    told = flat(weak.answer)
    assert "at cluster scope the true loss at vector scope is up to 9." in told
    assert "A loss above 100 % is worse than publishing the means." in told
    rows = weak.table.with_columns(
        polars.when(method="idp-cbls").then(10).otherwise(0).alias("exact_cells"),
        polars.lit(None, polars.Float64).alias("vector_loss"),
    )
    told = flat(Comparison.of(rows.to_dicts(), weak.description).answer)
    assert "up to 20 % of the cells come out exact" in told
    assert "at cluster scope nothing bounds the loss at vector scope" in told
    fine = flat(made(("dp-um", 8, 1.0, "vector", "dp", 15.0, 3.0)).answer)
    assert not any(word in fine for word in ("exact", "above 100", "cluster scope"))


def test_the_answer_is_short(found):
    """A table and at most ten sentences; lines fit, and no figure is missing."""
    (sentences,) = [block for block in found.document.blocks if isinstance(block, Items)]
    assert len(sentences.items) <= 10
    assert not re.search(r"nan|None", found.answer)
    cells = [
        (method, k, epsilon, scope, model, 90 + k + place, 3.0)
        for scope, methods in (("vector", ("idp-vector", "dp-um")), ("cluster", ("idp-cbls",)))
        for place, method in enumerate(methods)
        for model in ["dp" if method == "dp-um" else "idp"]
        for epsilon in (0.01, 0.1, 1.0)
        for k in range(10, 101, 10)
    ]
    assert len(made(*cells).answer.splitlines()) <= 36


def test_the_answer_counts_the_frontier():
    """Those on it, of those held against each other, and those that are off it for certain."""
    best = ("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)
    apart = made(best, ("dp-um", 6, 1.0, "vector", "dp", 40.0, 5.0))
    assert "(1 % by chance): vector scope 1 of 2, 1 excluded for certain." in flat(apart.answer)
    near = made(best, ("dp-um", 6, 1.0, "vector", "dp", 21.0, 3.0))
    assert "vector scope 1 of 2, 0 excluded for certain." in flat(near.answer)


def test_a_partition_held_is_told_where_its_method_is_best():
    """record-dp by a partition of the data holds formed anew by the same boundaries alone."""
    ages = {"AGE": np.random.Generator(np.random.PCG64(3)).integers(0, 100, 60)}
    for steps in ("partition=optimal", "partition=noise-aware"):
        found = compare(ages, methods=f"record-dp:{steps}", k=10, epsilon=5, runs=2, seed=1,
                        **REQUEST)  # fmt: skip
        assert found.summary["scope"].to_list() == ["vector"]
        assert best_of(found)[0][:3:2] == ["vector iDP", f"record-dp ({steps[10:]}) †"]
        told = flat(found.answer)
        assert "record-dp with the noise scales held; record-dp with the rank " in told
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
    top = flat(found.answer)
    assert (
        "Bounds were read from the data for AGE, and the release shows them. No claim holds" in top
    )
    assert "Resolutions were read from the data for AGE" in top
    declared = compare(ages, **asked, bounds={"AGE": (0, 25)}, resolution={"AGE": 0.25})
    assert "read_from_data" not in declared.description
    assert "read from the data" not in declared.answer


def test_the_answer_says_why_nothing_does_best():
    """Where no cell has a loss a sentence says why: all refused, none measured, nothing varies."""
    constant = compare({"AGE": np.full(6, 50)}, methods="dp-um,mdav", k=3, epsilon=1, runs=2,
                       **REQUEST)  # fmt: skip
    top = flat(constant.answer)
    assert "No configuration can be ranked by its loss: no protected attribute varies" in top
    refused = [{"configuration": 0, "method": "idp-ls", "steps": "", "k": 2, "refused": "why"}]
    assert "No configuration can be ranked by its loss: every one was refused." in flat(
        Comparison.of(refused, {"runs": 3, "seed": 1}).answer
    )
    table = made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)).table
    unmeasured = table.with_columns(polars.lit(None, polars.Float64).alias(m) for m in MEASURES)
    found = Comparison.of([*unmeasured.to_dicts(), {**refused[0], "configuration": 1}], {"runs": 3})
    assert "No configuration can be ranked by its loss: in every one that was not refused" in flat(
        found.answer
    )
    assert "can be ranked" not in made(("dp-um", 5, 1.0, "vector", "dp", 20.0, 3.0)).answer


def test_what_is_kept_is_named_and_covered_by_no_claim():
    """The answer names the columns that are released as they are, also where none has epsilon."""
    people = {"AGE": np.arange(20, 80), "CITY": np.array(["A", "B"] * 30), "SEX": np.arange(60) % 2}
    asked = {"k": 5, "epsilon": 5, "runs": 2, "seed": 1, **REQUEST}
    for methods in ("laplace,dp-um", "mdav"):
        for keep, named in ((["CITY", "SEX"], "CITY, SEX"), ("CITY", "CITY")):
            found = compare(people, methods=methods, keep=keep, **asked)
            top = flat(found.answer)
            assert f"Released unprotected: {named}. No claim covers these columns" in top
        assert "unprotected" not in compare(people, methods=methods, **asked).answer
    row = compare(people, methods="laplace", keep="CITY", **asked).answer
    assert "everything that is released" not in row


def test_the_dictionary_is_json(found):
    """Everything but the runs goes into JSON, without NaN or infinity."""
    whole = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(whole["summary"]) == found.summary.height
    infinite = made(("dp-um", 5, 1.0, "vector", "dp", float("inf"), 3.0))
    assert json.loads(json.dumps(infinite.to_dict(), allow_nan=False))
    assert list(found.table.schema) == list(schema_of(Measures()))


def flat(text):
    return " ".join(text.split())
