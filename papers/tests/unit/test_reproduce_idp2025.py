"""Verdicts on IDP-2025 follow from the numbers: in worlds made to the paper's words, and against.

Each world gives every cell a figure with a narrow interval; no noise is drawn.
"""

import itertools
import math
import re
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import microveil as mv
from microveil.guarantee import Condition, Scope
from microveil.guarantee.condition import cluster_sizes, condition_of, noise_scales
from microveil.protect.protecting import plan
from microveil_papers import PAPERS, idp2025
from microveil_papers.given import given_in
from microveil_papers.idp2025 import experiments
from microveil_papers.idp2025.error_claims import error_claims
from microveil_papers.idp2025.experiments import (
    ALPHAS,
    AT_VECTOR_SCOPE,
    DATA,
    EPSILONS,
    LEARNT,
    OF_THE_PAPER,
    Measured,
)
from microveil_papers.idp2025.figures import figures_of
from microveil_papers.idp2025.guarantee_claims import guarantee_claims
from microveil_papers.idp2025.learning_claims import learning_claims
from microveil_papers.idp2025.peers import peers_of
from microveil_papers.idp2025.vector_scope import at_vector_scope, least_errors_of
from microveil_papers.paper import Experiment, Verdict
from reproduced import check_conditions, page_without_charts

CENSUS, WINE = DATA
SIZES_CHOSEN = ("idp-vector:partition=noise-aware", "idp-cbls:exact_cells=widen")
OWN = Condition(
    id="weather",
    short="the weather",
    text="The weather is taken to be the same for the table and its neighbours.",
    scopes=(Scope.VECTOR,),
)


def conditions_in_this_world(name):
    """What a method's epsilon hangs on here: much as it does in truth, and on the weather."""
    held = [] if name in {"laplace", "dp-um"} else [noise_scales()]
    held += [cluster_sizes()] * (name in SIZES_CHOSEN) + [condition_of("bounds", names=["AGE"])]
    held += [condition_of("exact-cells")] * (name == "idp-cbls") + [OWN] * (name == "idp-ls")
    return held


def decade(epsilon):
    """0 at epsilon 0.01, 1 at 0.1, 2 at 1."""
    return round(math.log10(epsilon)) + 2


def errors_as_told(name, _data, alpha, epsilon, k):
    """Errors of which all that section 4.1 says is true."""
    shrinking = 10.0 ** -decade(epsilon)
    clustered = 1350 * alpha**0.5 * (k or 1) ** -0.3 * shrinking
    return {
        "laplace": 5000 * alpha**0.5,
        "dp-um": clustered,
        "idp-ls": clustered / (1.1 + 0.1 * decade(epsilon)),
        "idp-cbls": 2.2 * shrinking * (1 + 0.1 * math.log((k or 1) / 10) ** 2),
    }.get(name, clustered)


def errors_against(name, _data, alpha, epsilon, k):
    """Errors of which nothing that section 4.1 says is true."""
    clustered = 5 * (k or 1) ** 0.3 / alpha
    return {
        "laplace": 0.1 * 10.0 ** -decade(epsilon) / alpha,
        "dp-um": clustered,
        "idp-ls": 10 * clustered * alpha * (1 + 0.5 * decade(epsilon)),
        "idp-cbls": 1000 * (k or 1) ** -0.1 * alpha,
    }.get(name, clustered)


ORIGINAL = {"census": (0.93, 0.95), "wine": (0.86, 0.49)}


def learnt_as_told(name, data, alpha, epsilon, k, place):
    """F-measures of which all that section 4.2 says is true."""
    upper = ORIGINAL[data.name][place]
    if name == "idp-ls":
        best = upper * {0.01: 0.8, 0.1: 0.9, 1.0: 0.95}[epsilon]
        return best * (1 - 0.6 / k) - (0.01 if alpha > 2 else 0)
    if not name.startswith("idp-cbls"):
        return upper / 2
    if data is WINE:
        return upper * 0.9 if epsilon == 0.01 else upper + (0.02 if k == 15 else 0)
    best = upper * {0.01: 0.9, 0.1: 0.97, 1.0: 1.0}[epsilon]
    return best - (0.05 if k > 50 else 0)


def learnt_against(name, _data, alpha, _epsilon, k, _place):
    """F-measures of which nothing that section 4.2 says is true."""
    if name == "idp-ls":
        return 0.3 - (k or 3) / 4000 - (0 if k == 50 else 0.1) + (0.05 if alpha > 2 else 0)
    return 0.1 + (k or 3) / 5000


def world(figure, names, alphas, sizes_of):
    """A table of cells: the figures of a world, each with an interval of half a percent."""
    rows = []
    for data in DATA:
        for alpha, epsilon, name in itertools.product(alphas(data), EPSILONS, names):
            for k in (None,) if name == "laplace" else sizes_of(data):
                row = {"data": data.name, "alpha": alpha, "name": name, "k": k, "epsilon": epsilon}
                scope = "cluster" if name.startswith(("idp-ls", "idp-cbls")) else "vector"
                row |= {"scope": scope, "runs": 10, "vector_loss": 2 * epsilon}
                row |= {"exact_percent": 1.0, "model": "idp"}
                row["conditions"] = [held.to_dict() for held in conditions_in_this_world(name)]
                for column, value in figure(name, data, alpha, epsilon, k).items():
                    row |= {column: value}
                    row |= {f"{column}_low": value * 0.995, f"{column}_high": value * 1.005}
                rows.append(row)
    return pl.DataFrame(rows, schema_overrides={"k": pl.Int64})


def errors_of(error):
    def figure(*cell):
        return dict.fromkeys(("mean_sse_published", "mean_sse"), error(*cell))

    names = (*OF_THE_PAPER, *AT_VECTOR_SCOPE)
    return world(figure, names, lambda _: ALPHAS, lambda data: data.sizes)


def learnt_of(learnt, original=ORIGINAL, share=0.778):
    def figure(*cell):
        found = {}
        for place in range(2):
            found[f"f_measure_{place}"] = learnt(*cell, place)
            found[f"f_measure_original_{place}"] = original[cell[1].name][place]
            found[f"f_measure_majority_{place}"] = 2 * share / (1 + share) if place == 0 else 0.0
        return found

    return world(figure, LEARNT, lambda data: data.learnt_alphas, lambda data: data.learnt_sizes)


def measured(errors, learnt):
    equal = [
        table.filter(pl.col("scope") == "cluster").with_columns(vector_epsilon="epsilon")
        for table in (errors, learnt)
    ]
    return Measured(
        errors=errors,
        learnt=learnt,
        equal_errors=equal[0],
        equal_learnt=equal[1],
        shares=pl.DataFrame(),
    )


def verdicts(claims):
    return {claim.text: claim.verdict for claim in claims}


def test_where_all_is_as_told_all_error_claims_hold():
    """Every claim of section 4.1 holds in a world made to its words."""
    found = verdicts(error_claims(errors_of(errors_as_told)))
    assert len(found) == 16
    assert set(found.values()) == {Verdict.HOLDS}, found


def test_where_nothing_is_as_told_no_error_claim_holds():
    """None holds, not even in part, in a world made against them."""
    found = verdicts(error_claims(errors_of(errors_against)))
    assert set(found.values()) == {Verdict.FAILS}, found


def test_where_all_is_as_told_all_learning_claims_hold():
    """Every claim of section 4.2 holds in a world made to its words."""
    found = verdicts(
        learning_claims(measured(errors_of(errors_as_told), learnt_of(learnt_as_told)))
    )
    assert len(found) == 14
    assert set(found.values()) == {Verdict.HOLDS}, found


def test_where_nothing_is_as_told_no_learning_claim_holds():
    """None holds, not even in part, in a world made against them."""
    against = learnt_of(learnt_against, {"census": (0.9, 0.9), "wine": (0.5, 0.8)}, share=0.5)
    found = verdicts(learning_claims(measured(errors_of(errors_against), against)))
    assert set(found.values()) == {Verdict.FAILS}, found


def test_a_claim_that_holds_on_census_alone_holds_in_part():
    """And says in how many cases."""

    def half(name, data, *rest):
        return (errors_as_told if data is CENSUS else errors_against)(name, data, *rest)

    claims = error_claims(errors_of(half))
    assert {claim.verdict for claim in claims} == {Verdict.IN_PART}
    for claim in claims:
        for case in claim.cases:
            assert case.holds is ("Census" in case.where), (claim.text, case)


def test_claims_tell_what_the_other_error_says():
    """The error as printed decides; the usual one is told beside it."""
    table = errors_of(errors_as_told)
    other = errors_of(errors_against)
    columns = [name for name in table.columns if name.startswith("mean_sse") and "pub" not in name]
    mixed = table.with_columns(other[name] for name in columns)
    for claim in error_claims(mixed):
        assert claim.verdict is Verdict.HOLDS
        assert "does not hold (0 of" in claim.remark


def test_numbers_that_overlap_carry_no_claim():
    """Where intervals are wide, falls and gains that hang on them do not hold."""
    table = learnt_of(learnt_as_told)
    wide = table.with_columns(
        pl.lit(0.0 if name.endswith("_low") else 1.0).alias(name)
        for name in table.columns
        if name.endswith(("_low", "_high"))
    )
    found = verdicts(learning_claims(measured(errors_of(errors_as_told), wide)))
    carried = [text for text, verdict in found.items() if verdict is Verdict.FAILS]
    assert {text for text in found if "grow with k" in text or "fall at large k" in text} <= {
        *carried
    }
    assert (
        "On the wines, for some k, idp-cbls even does slightly better than the original." in carried
    )
    assert "On Wine Quality idp-cbls provides better results than idp-ls." in carried
    assert "With epsilon above 0.01 idp-ls does better with narrower domains." in carried


def test_the_figures_are_those_of_the_paper_and_one_more_each():
    """Figures 3 to 6 with their axes and series, each followed by its own at vector scope."""
    found = measured(errors_of(errors_as_told), learnt_of(learnt_as_told))
    figures = {figure.identifier: figure for figure in figures_of(found, 100)}
    assert [*figures] == [f"figure-{n}{more}" for n in "3456" for more in ("", "-vector")]
    assert all(figure.ours is name.endswith("vector") for name, figure in figures.items())
    errors = figures["figure-3"]
    assert [chart.title for row in errors.charts for chart in row] == [
        f"epsilon {epsilon:g}, alpha {alpha:g}" for epsilon in EPSILONS for alpha in ALPHAS
    ]
    for row in errors.charts:
        for chart in row:
            assert chart.logarithmic
            assert [series.name for series in chart.series] == [*OF_THE_PAPER]
            assert [series.mark for series in chart.series] == ["level", "line", "line", "line"]
            assert chart.series[1].x == tuple(map(float, CENSUS.sizes))
    names = [series.name for series in figures["figure-4-vector"].charts[0][0].series]
    assert set(names) == {*OF_THE_PAPER, *AT_VECTOR_SCOPE}
    forests = figures["figure-6"].charts
    assert [chart.title for chart in forests[0]] == [
        "class Excellent, alpha 1.5", "class Not Excellent, alpha 1.5",
    ]  # fmt: skip
    assert forests[0][0].series[0].y == (0.49,)


def test_the_figures_files_hold_what_is_drawn():
    """Every point of a line is in the table that is written beside it."""
    found = measured(errors_of(errors_as_told), learnt_of(learnt_as_told))
    for figure in figures_of(found, 100):
        held = {value for row in figure.table.rows() for value in row if isinstance(value, float)}
        for row in figure.charts:
            for chart in row:
                for series in chart.series:
                    assert {*series.y} <= held, (figure.identifier, series.name)


@pytest.mark.parametrize("yes", [0.1, 0.2165, 0.5])
def test_always_yes_and_always_no_are_computed_from_the_classes(yes):
    """By counting: F = 2 TP / (2 TP + FP + FN) of 1000 guesses."""
    found = measured(errors_of(errors_as_told), learnt_of(learnt_as_told, share=1 - yes))
    table = peers_of(found).table
    figures = dict(zip(table["trained on"], table["F-measure"], strict=True))
    hits, misses = 1000 * yes, 1000 * (1 - yes)
    assert figures["nothing: always yes"] == pytest.approx(2 * hits / (2 * hits + misses))
    assert figures["nothing: always no"] == 0


def test_peers_are_told_with_scope_spread_and_runs():
    """Nobody else's single run stands without saying so, and no scope of ours is row."""
    found = measured(errors_of(errors_as_told), learnt_of(learnt_as_told))
    rows = peers_of(found).table.to_dicts()
    peers = [row for row in rows if row["trained on"] in {"MST", "AIM"}]
    assert {(row["trained on"], row["epsilon"]): row["F-measure"] for row in peers} == {
        ("MST", 1.0): 0.29, ("MST", 0.1): 0.02, ("AIM", 1.0): 0.20, ("AIM", 0.1): 0.36,
    }  # fmt: skip
    for row in peers:
        assert (row["holds at"], row["interval"], row["runs"]) == ("row", "unknown", "1")
    ours = [row for row in rows if row["epsilon"] and row not in peers]
    assert {row["trained on"] for row in ours} == {*LEARNT}
    assert all(row["interval"] and row["runs"] == "10" for row in ours)
    for row in ours:
        scope, given, *left_out = row["holds at"].split("; ")
        assert scope in {"vector", "cluster", "vector, audited on this table"}
        held = [
            c for c in conditions_in_this_world(row["trained on"])
            if scope != "cluster" or Scope.CLUSTER in c.scopes
        ]  # fmt: skip
        for condition in (
            OWN,
            noise_scales(),
            cluster_sizes(),
            condition_of("bounds", names=["AGE"]),
        ):
            assert (condition.short in given) is (condition in held)
        assert left_out == [condition.short for condition in held if not condition.is_given]
    assert {row["trained on"] for row in ours if "sizes" in row["holds at"]} == {*SIZES_CHOSEN}


def test_the_page_shows_what_each_epsilon_takes_as_given(monkeypatch):
    """The clause of each condition in the rows, by method, each text once, and no other."""
    world = measured(errors_of(errors_as_told), learnt_of(learnt_as_told))
    share = {"data": "Wine Quality", "as printed: attribute": "pH", "as printed: share, %": 50.0}
    world = replace(world, shares=pl.DataFrame([share]))
    monkeypatch.setattr(idp2025, "carry_out", lambda _: world)
    asked = Experiment(tables={}, runs=1, quick=True, folder=None, progress=lambda *_: None)
    found = PAPERS["idp-2025"].reproduce(asked)
    page = page_without_charts(PAPERS["idp-2025"], found)
    check_conditions(page, {name: {*conditions_in_this_world(name)} for name in LEARNT})
    for figure in found.figures:
        ids = dict(figure.table.select("method", "conditions").iter_rows())
        assert ids == {name: " ".join(c.id for c in conditions_in_this_world(name)) for name in ids}


def test_what_is_compared_keeps_the_conditions_of_its_plans(tmp_path):
    """Those of each plan, read from the runs that were kept too."""
    generator = np.random.default_rng(3)
    data = replace(CENSUS, quick_sizes=(3,), attributes=dict.fromkeys(("AGI", "FICA"), 1))
    frame = pl.DataFrame({name: generator.integers(0, 999, 12) for name in data.attributes})
    own = bench(data, 1.5, tmp_path, frame)
    first, again = (given_in(own.errors("1 of 1")) for _ in range(2))
    assert first == again
    assert {one.name for one in first} == {*OF_THE_PAPER, *AT_VECTOR_SCOPE}
    asked = {name: value for name, value in own.arguments.items() if name != "linkage"}
    for one in first:
        method, _, steps = one.name.partition(":")
        choices = dict([steps.split("=")]) if steps else {}
        promised = plan(frame, method=method, k=3, epsilon=1, **choices, **asked).claim
        assert one.conditions == promised.conditions
        assert one.model is promised.model
        assert one.scope is promised.scopes.strongest_at(Fraction(1))
        assert "bounds" in {condition.id for condition in one.conditions}


def test_methods_stand_beside_peers_at_the_k_of_their_largest_f_measure():
    """The best over k, as the caption says, with its k."""
    table = learnt_of(learnt_as_told)
    rows = peers_of(measured(errors_of(errors_as_told), table)).table.to_dicts()
    for epsilon in (1.0, 0.1):
        cells = table.filter(data="wine", alpha=1.5, name="idp-ls", epsilon=epsilon)
        best = cells.sort("f_measure_1").row(-1, named=True)
        told = [row for row in rows if (row["trained on"], row["epsilon"]) == ("idp-ls", epsilon)]
        assert [row["k"] for row in told] == [str(best["k"])] * 2
        assert [row["F-measure"] for row in told] == [best["f_measure_1"]] * 2


def test_the_least_errors_stand_beside_what_their_epsilon_means():
    """For each method, data set and epsilon: its best k at either scope, and what is lost."""
    found = measured(errors_of(errors_as_told), learnt_of(learnt_as_told))
    rows = least_errors_of(found).table.rows()
    assert len(rows) == 2 * len(EPSILONS) * 6
    first = next(row for row in rows if row[:3] == ("idp-cbls", "Census", 1.0))
    assert first[3] == 10
    assert first[4] == pytest.approx(0.022)
    assert first[-1] == pytest.approx(2)


def test_each_side_of_the_least_errors_is_of_its_own_scope():
    """Cluster scope on the left, vector scope on the right; the loss is told for epsilon 1."""
    found = measured(errors_of(errors_as_told), learnt_of(learnt_as_told))
    dearer = scaled(found.equal_errors, 3, "mean_sse", name=["idp-ls", "idp-cbls"])
    for row in least_errors_of(replace(found, equal_errors=dearer)).table.rows():
        factor = 3 if row[0] in {"idp-ls", "idp-cbls"} else 1
        assert row[8] == pytest.approx(factor * row[4])
        assert row[-1] == pytest.approx(2)


def scaled(table, factor, columns, **chosen):
    """A table in which some figures of some cells are multiplied, their intervals with them."""
    here = pl.all_horizontal(pl.col(name).is_in(values) for name, values in chosen.items())
    return table.with_columns(
        pl.when(here).then(pl.col(name) * factor).otherwise(pl.col(name)).alias(name)
        for name in table.columns
        if name.startswith(columns)
    )


def of_claim(claims, text):
    """The verdict of the one claim with these words."""
    (verdict,) = [claim.verdict for claim in claims if text in claim.text]
    return verdict


@pytest.mark.parametrize(
    ("text", "change", "holding", "failing"),
    [
        # laplace falls from 0.01 to 1 by so much: 1.5 at most.
        ("hardly falls", {"name": ["laplace"], "epsilon": [0.01]}, 1.49, 1.51),
        # dp-um over idp-ls is 1.3 at epsilon 1; within 3 with its interval.
        ("dp-um and idp-ls are similar", {"name": ["idp-ls"]}, 0.45, 0.3),
        ("idp-ls has a lower error", {"name": ["idp-ls"]}, 1.09, 1.31),
        # Higher at one k: below 1 on average, but no longer with the interval.
        ("idp-ls has a lower error", {"name": ["idp-ls"], "epsilon": [0.01], "k": [3]}, 1.0, 2.0),
        # At alpha 3 the ratio may differ by 1.25.
        ("stay proportional", {"name": ["idp-ls"], "alpha": [3.0]}, 0.81, 0.79),
        ("fall as domains get smaller", {"name": ["idp-ls"], "alpha": [3.0]}, 0.72, 0.69),
        # idp-cbls is 2.0 orders better at half of the k at the least: by epsilon 1 on the wines.
        ("on the other methods by several orders", {"name": ["idp-cbls"]}, 1.0, 1.6),
        # laplace is above by 5000 x 1.22 / 2.2 at epsilon 0.01.
        ("on plain Laplace noise", {"name": ["idp-cbls"], "epsilon": [0.01]}, 27, 33),
        ("does as well as dp-um and idp-ls", {"name": ["idp-cbls"]}, 2.5, 4.0),
        ("is not affected by", {"name": ["idp-cbls"], "alpha": [3.0]}, 1.24, 1.26),
        ("is enough for the best", {"name": ["idp-cbls"], "k": [20]}, 0.99, 0.7),
        ("is at a k from 5 to 15", {"name": ["idp-cbls"], "k": [20]}, 0.99, 0.9),
        # At the largest k the error is above by 1.5 and 2.4, and may be up to 10.
        ("At larger k", {"name": ["idp-cbls"], "k": [100, 400]}, 4.0, 6.6),
        ("At larger k", {"name": ["idp-cbls"], "k": [100, 400]}, 0.7, 0.4),
        ("rivals DP data sets", {"name": ["idp-cbls"]}, 1.6, 2.1),
    ],
)
def test_thresholds_of_errors_are_where_the_criterion_says(text, change, holding, failing):
    """Just inside all cases hold, just outside some do not."""
    table = errors_of(errors_as_told)
    inside = error_claims(scaled(table, holding, "mean_sse", **change))
    outside = error_claims(scaled(table, failing, "mean_sse", **change))
    assert of_claim(inside, text) is Verdict.HOLDS
    assert of_claim(outside, text) is not Verdict.HOLDS


def test_both_classes_count_for_what_reaches_the_original():
    """The second class alone, a fifth lower, takes the claim away."""
    table = learnt_of(learnt_as_told)
    lower = scaled(table, 0.8, ("f_measure_1",), name=["idp-cbls"], data=["wine"])
    found = learning_claims(measured(errors_of(errors_as_told), lower))
    assert of_claim(found, "reaches the F-measures") is not Verdict.HOLDS


def test_a_loss_within_the_spread_is_none():
    """As large as the paper's, but with an interval that reaches the original: no case holds."""
    table = learnt_of(learnt_as_told)
    names = [name for name in table.columns if re.fullmatch(r"f_measure_\d_high", name)]
    wide = table.with_columns(
        pl.when(name="idp-ls").then(1.0).otherwise(name).alias(name) for name in names
    )
    found = learning_claims(measured(errors_of(errors_as_told), wide))
    assert of_claim(found, "of idp-ls are below") is Verdict.FAILS


@pytest.mark.parametrize(
    ("text", "change", "holding", "failing"),
    [
        # 20, 10 and 5 % lower are told as about that between half and twice.
        ("of idp-ls are below", {"name": ["idp-ls"], "epsilon": [0.1]}, 0.92, 0.85),
        ("of idp-ls are below", {"name": ["idp-ls"], "epsilon": [0.1]}, 1.04, 1.08),
        ("of idp-ls are below", {"name": ["idp-ls"], "epsilon": [1.0]}, 1.03, 1.035),
        ("of idp-ls are below", {"name": ["idp-ls"], "epsilon": [1.0]}, 0.96, 0.95),
        ("of idp-cbls are below", {"name": ["idp-cbls"], "epsilon": [0.1]}, 0.985, 0.95),
        ("of idp-cbls are below", {"name": ["idp-cbls"], "epsilon": [0.1]}, 1.01, 1.025),
        ("are identical", {"name": ["idp-cbls"], "epsilon": [1.0]}, 1.009, 1.012),
        ("are identical", {"name": ["idp-cbls"], "epsilon": [1.0]}, 0.991, 0.988),
        ("are identical", {"name": ["idp-cbls"], "epsilon": [1.0], "k": [5]}, 1.0, 0.98),
        ("are identical", {"name": ["idp-cbls"], "epsilon": [1.0], "k": [15]}, 0.98, 1.02),
        ("stay quite stable", {"name": ["idp-ls"], "k": [75]}, 1.03, 1.08),
        ("at least as useful", {"name": ["idp-ls"], "epsilon": [0.1]}, 1.04, 1.08),
        ("reaches the F-measures", {"name": ["idp-cbls"], "data": ["wine"]}, 0.97, 0.94),
    ],
)
def test_thresholds_of_learning_are_where_the_criterion_says(text, change, holding, failing):
    """Just inside all cases hold, just outside some do not."""
    errors, table = errors_of(errors_as_told), learnt_of(learnt_as_told)
    columns = ("f_measure_0", "f_measure_1")
    inside, outside = (
        learning_claims(measured(errors, scaled(table, factor, columns, **change)))
        for factor in (holding, failing)
    )
    assert of_claim(inside, text) is Verdict.HOLDS
    assert of_claim(outside, text) is not Verdict.HOLDS


@pytest.mark.parametrize(("loss", "verdict"), [(1.0, Verdict.HOLDS), (1.01, Verdict.FAILS)])
def test_a_guarantee_holds_if_no_loss_is_above_epsilon(loss, verdict):
    """At every k, epsilon and alpha; rounding aside."""
    table = errors_of(errors_as_told).with_columns(vector_loss=loss * pl.col("epsilon"))
    assert {claim.verdict for claim in guarantee_claims(table)} == {verdict}
    # One cell is enough to refute it.
    one = (pl.col("name") == "dp-um") & (pl.col("k") == 7) & (pl.col("epsilon") == 0.1)
    worse = table.with_columns(vector_loss=pl.when(one).then(1.0).otherwise(pl.col("vector_loss")))
    assert guarantee_claims(worse)[0].verdict is Verdict.FAILS


def test_claims_that_hang_on_exact_cells_are_checked_in_both_readings():
    """Left as they are, and merged with their neighbours."""
    claims = learning_claims(measured(errors_of(errors_as_told), learnt_of(learnt_as_told)))
    for text in ("of idp-cbls are below", "are identical", "reaches the F-measures", "at large k"):
        (claim,) = [claim for claim in claims if text in claim.text]
        read = {case.where.partition(",")[0].split(": ")[0] for case in claim.cases}
        assert read == {"idp-cbls", "idp-cbls:exact_cells=widen"}, text


def test_one_run_carries_no_claim_that_needs_a_spread():
    """Without intervals nothing is wholly above or below."""
    table = errors_of(errors_as_told)
    ends = [name for name in table.columns if name.endswith(("_low", "_high"))]
    once = table.with_columns(pl.lit(None, pl.Float64).alias(name) for name in ends)
    claims = error_claims(once)
    for text in ("largest error", "fall as k grows", "is enough", "At larger k", "get smaller"):
        assert of_claim(claims, text) is Verdict.FAILS, text


def test_only_what_holds_at_vector_scope_is_drawn_as_holding_there():
    """Methods of cluster scope come in by their audited cells alone."""
    found = measured(errors_of(errors_as_told), learnt_of(learnt_as_told))
    for as_asked, audited in (
        (found.errors, found.equal_errors), (found.learnt, found.equal_learnt),
    ):  # fmt: skip
        joined = at_vector_scope(as_asked, audited.with_columns(vector_loss=-1.0))
        local = joined.filter(pl.col("name").str.starts_with("idp-ls"))
        cluster = joined.filter(pl.col("name").str.starts_with("idp-cbls"))
        for cells in (local, cluster):
            assert cells.height
            assert (cells["vector_loss"] == -1.0).all()


@pytest.fixture
def asked(monkeypatch):
    """What is asked of `compare`, which compares nothing."""
    found = []

    def compare(_table, **request):
        found.append(request)
        return SimpleNamespace(summary=pl.DataFrame())

    monkeypatch.setattr(mv, "compare", compare)
    monkeypatch.setattr(experiments, "_check_none_refused", lambda *_: None)
    monkeypatch.setattr(
        experiments, "_tidied", lambda *_: pl.DataFrame({"configuration": [0, 1, 2]})
    )
    return found


def bench(data, alpha, folder, frame=None):
    """A table, by default of two records, to be compared on at one alpha."""
    if frame is None:
        frame = pl.DataFrame({name: [1.0, 40.0] for name in data.attributes})
    experiment = Experiment(
        tables={data.name: SimpleNamespace(whole=frame)},
        runs=1,
        quick=True,
        folder=folder,
        progress=lambda *_: None,
    )
    return experiments._Bench.of(experiment, data, alpha)


def test_every_domain_has_its_own_bounds_and_its_own_draws(asked, tmp_path):
    """Up to alpha times the largest value, and no seed twice on a data set."""
    for data in DATA:
        for alpha in ALPHAS:
            bench(data, alpha, tmp_path).errors("1 of 1")
            for ends in asked[-1]["bounds"].values():
                assert ends == (0, 40 * alpha)
        seeds = {request["seed"] for request in asked[-len(ALPHAS) :]}
        assert len(seeds) == len(ALPHAS)


def test_equal_epsilon_is_what_makes_the_loss_at_vector_scope_epsilon(asked, tmp_path):
    """Each cell spends epsilon over its own loss at epsilon 1; without a bound there is none."""
    rows = [
        ("idp-ls", 3, 1.0, 8.0), ("idp-ls", 3, 0.1, 7.0), ("idp-ls", 10, 1.0, 4.0),
        ("idp-cbls", 3, 1.0, None), ("idp-cbls", 7, 1.0, 5.0), ("dp-um", 3, 1.0, 2.0),
    ]  # fmt: skip
    known = pl.DataFrame(rows, orient="row", schema=["name", "k", "epsilon", "vector_loss"])
    found = bench(CENSUS, 1.5, tmp_path).equal_errors("1 of 1", known)
    spent = [(one["methods"], one["k"], one["epsilon"]) for one in asked]
    assert spent == [
        (("idp-ls",), [3], [0.01 / 8, 0.1 / 8, 1 / 8]),
        (("idp-ls",), [10], [0.01 / 4, 0.1 / 4, 1 / 4]),
    ]
    assert len({one["folder"] for one in asked}) == 2
    assert found["vector_epsilon"].to_list() == [*EPSILONS, *EPSILONS]
