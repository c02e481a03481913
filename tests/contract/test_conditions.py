"""Conditions: what each method takes as given, and that every place shows the same list."""

from dataclasses import replace

import numpy as np
import polars
import pytest

import microveil as mv
from microveil.compare.columns import Measures, conditions_of
from microveil.compare.results import frontier_of
from microveil.guarantee import Condition
from microveil.guarantee.condition import condition_of
from microveil.measures.information_loss import LOSS
from microveil.methods import METHODS
from microveil.methods.idp2025 import METHODS as FIRST
from microveil.report import comparison_report, custodian_report, publishable_report

N = 60
NAMES = ["x", "y"]
BOUNDS = {"x": (0, 1000), "y": (0, 1000)}
ALL = ("cluster", "vector", "row")
OWN = Condition(
    id="weather",
    short="the weather",
    text="The weather is taken to be the same for the table and its neighbours.",
)


def people(seed=1):
    random = np.random.Generator(np.random.PCG64(seed))
    return {
        "x": random.integers(0, 900, N) % 97 + np.arange(N),
        "y": random.integers(0, 900, N),
        "place": random.choice(["north", "south"], N),
    }


@pytest.fixture
def of_the_weather():
    """A method registered from outside, with a condition of its own."""
    known = next(method for method in FIRST if method.id == "dp-um")

    def promise(setting):
        promised = known.promise(setting)
        return replace(promised, conditions=(OWN,))

    METHODS["weather-um"] = replace(known, id="weather-um", promise=promise)
    yield "weather-um"
    del METHODS["weather-um"]


NAMED = (
    "noise-scales rank-boundaries cluster-sizes columns-chosen parameters-chosen missing-cells "
    "exact-cells outside-checked repeated-people kept-columns"
)
EVERY = (OWN, *(condition_of(name, names=["place"]) for name in NAMED.split()))
OF_RANKS = ["noise-scales", "rank-boundaries", "cluster-sizes"]
# Every method with every choice that bears on its conditions, and their ids.
CASES = [
    ("laplace", {}, []),
    ("dp-um", {}, []),
    ("idp-ls", {}, ["noise-scales"]),
    ("idp-cbls", {}, ["noise-scales"]),
    ("idp-cbls", {"exact_cells": "widen"}, ["noise-scales", "cluster-sizes"]),
    ("idp-cbls", {"exact_cells": "allow"}, ["noise-scales", "exact-cells"]),
    ("idp-vector", {}, ["noise-scales"]),
    ("idp-vector", {"exact_cells": "widen"}, ["noise-scales", "cluster-sizes"]),
    ("idp-vector", {"partition": "noise-aware"}, ["noise-scales", "cluster-sizes"]),
    ("kanon-dp", {}, []),
    ("kanon-dp", {"composition": "parallel"}, []),
    ("kanon-dp", {"sensitivity": "vector"}, ["noise-scales"]),
    ("record-dp", {"partition": "ranking"}, []),
    ("record-dp", {"partition": "mdav"}, ["noise-scales", "cluster-sizes"]),
    ("record-dp", {"partition": "optimal"}, OF_RANKS),
    ("record-dp", {"partition": "noise-aware"}, OF_RANKS),
    ("mdav", {"max_rows": None}, ["repeated-people"]),
    ("mdav-insensitive", {"max_rows": None}, ["repeated-people"]),
    ("v-mdav", {}, []),
    ("ranking", {}, []),
    ("optimal", {}, []),
    ("pram", {}, []),
    ("k-pram", {}, []),
    ("k-noise", {}, []),
    ("dp-synthetic", {}, []),
    ("dp-synthetic", {"outside": "error", "delta": 1e-9}, ["outside-checked"]),
    ("dp-um", {"keep": ["place"], "missing": "keep"}, ["missing-cells", "kept-columns"]),
    ("ranking", {"attributes": ["x"], "max_rows": None}, ["repeated-people"]),
    ("mdav", {"keep": ["place"]}, ["kept-columns"]),
    ("laplace", {"bounds": mv.bounds_from_data(people())}, ["bounds"]),
    ("idp-vector", {"attributes": None}, ["noise-scales", "columns-chosen"]),
    ("idp-vector", {"k": "auto"}, ["noise-scales", "parameters-chosen"]),
    ("weather-um", {}, ["weather"]),
    ("dp-synthetic", {"max_rows": None}, ["repeated-people"]),
    ("idp-vector", {"max_rows": None}, ["noise-scales", "repeated-people"]),
]

# Of those with the same conditions one is compared, and of these a few are shown in pages.
DISTINCT = list({str(ids): (method, more, ids) for method, more, ids in CASES}.values())


def request(method, **more):
    asked = {"k": 5, "epsilon": 1, "attributes": NAMES, "bounds": BOUNDS, "max_rows": 1} | more
    if method == "pram":
        asked["resolution"] = {"x": 10, "y": 10}
    if method == "dp-synthetic":
        asked["epsilon"] = 100  # so few records need it
    return {"method": method, **asked}


def test_every_method_is_among_the_cases():
    """No method is registered whose conditions nobody wrote down."""
    assert set(METHODS) == {method for method, _, _ in CASES} - {"weather-um"}


@pytest.mark.parametrize(("method", "more", "ids"), CASES)
@pytest.mark.usefixtures("of_the_weather")
def test_summary_statement_and_reports_show_the_conditions_of_the_plan(method, more, ids):
    """What epsilon hangs on is in each of them, no more and no less."""
    release = mv.protect(people(), **request(method, **more))
    guarantee = release.guarantee
    assert [condition.id for condition in guarantee.conditions] == ids
    assert [entry["id"] for entry in guarantee.to_dict()["conditions"]] == ids
    shown = [c.text for c in guarantee.conditions]
    assert list(guarantee.notes[: len(ids)]) == shown
    summary, statement = guarantee.summary(), guarantee.statement()
    pages = []
    if (method, more, ids) in DISTINCT[1::4]:
        pages = [publishable_report(release), custodian_report(release, people())]
    for condition in guarantee.conditions:
        assert condition.short in summary
        head = condition.clause[0].upper() + condition.clause[1:]
        assert f"**{head}" in statement
        for page in pages:
            assert condition.clause[1:] in page
    given = statement.partition("## What this is conditional on")[2].partition("\n## ")[0]
    assert given.count("\n- ") == len(ids)


@pytest.mark.parametrize(
    ("method", "more", "ids"), [case for case in DISTINCT if case[1].get("k") != "auto"]
)
@pytest.mark.usefixtures("of_the_weather")
def test_a_comparison_shows_the_conditions_of_each_plan(method, more, ids):
    """The rows of a comparison hold them; answer, frontier and page say each of them."""
    asked = request(method, **more)
    del asked["method"], asked["k"]
    epsilon = asked.pop("epsilon")
    steps = [f"{name}={asked.pop(name)}" for name in ("partition", "composition", "sensitivity")
             if name in asked]  # fmt: skip
    found = mv.compare(people(), methods=":".join([method, *steps]), k=[5], epsilon=[epsilon],
                       runs=1, seed=1, **asked)  # fmt: skip
    (row,) = found.summary.to_dicts()
    assert [entry["id"] for entry in row["conditions"]] == ids
    answer = " ".join(found.answer.split())
    page = comparison_report(found)
    for condition in conditions_of(row):
        for sentence in condition.text.split(". ")[:1]:
            assert condition.clause in answer or sentence.split(":")[0] in answer
            assert sentence.split("'")[0].split(":")[0] in page
    for entry in found.frontier.to_dicts():
        assert [held["id"] for held in entry["conditions"]] == ids
    absent = {condition.clause for condition in EVERY} - {c.clause for c in conditions_of(row)}
    for clause in absent:
        assert clause not in answer
        assert clause not in page


def test_a_condition_of_a_registered_method_reaches_advice_and_frontier(of_the_weather):
    """Advice names it beside the method; on the frontier its method beats none without it."""
    asked = {"attributes": NAMES, "bounds": BOUNDS, "epsilon": 1, "max_rows": 1}
    advice = mv.advise(people(), method=of_the_weather, k=5, **asked)
    assert advice.asked.conditions == (OWN,)
    assert "with the weather of this table held" in advice.to_text()
    found = mv.compare(people(), methods=[of_the_weather, "dp-um"], k=[5], runs=3, seed=1,
                       attributes=NAMES, bounds=BOUNDS, epsilon=[1], max_rows=1)  # fmt: skip
    assert "with the weather held" in " ".join(found.answer.split())
    # Whatever the noise: with less loss and less risk it still beats none without the condition.
    better = polars.when(polars.col("method") == of_the_weather).then(1.0).otherwise(2.0)
    figures = [
        better.alias(name)
        for name in found.summary.columns
        if name.startswith((LOSS.id, *Measures().risks))
        and found.summary[name].dtype == polars.Float64
    ]
    summary = found.summary.with_columns(figures)
    assert set(frontier_of(summary)["method"]) == {of_the_weather, "dp-um"}
    bare = summary.with_columns(conditions=polars.lit([], summary.schema["conditions"]))
    assert set(frontier_of(bare)["method"]) == {of_the_weather}
    held = [entry["id"] for row in found.frontier.to_dicts() for entry in row["conditions"]]
    assert set(held) <= {"weather"}


@pytest.mark.parametrize(
    ("method", "more"), [(m, more) for m, more, ids in CASES if "noise-scales" in ids]
)
def test_what_is_fitted_to_the_table_is_never_said_of_the_program(method, more):
    """The plain sentence of epsilon stands only where nothing is taken as given."""
    guarantee = mv.plan(people(), **request(method, **more)).guarantee
    scales = next(c for c in guarantee.conditions if c.id == "noise-scales")
    assert tuple(scope.value for scope in scales.scopes) == ALL
    statement = guarantee.statement()
    assert "If one person's record were replaced by any other, nothing" not in statement
    assert "It is not true of the program that made this release" in statement
    plain = mv.plan(people(), **request("laplace")).guarantee.statement()
    assert "If one person's record were replaced by any other, nothing" in plain
    assert "not true of the program" not in plain


def test_scales_fitted_anew_show_a_neighbour():
    """Twelve values, one replaced by a million: the program shows it at epsilon 0.1."""
    asked = {"method": "idp-vector", "k": 3, "epsilon": 0.1, "attributes": "x",
             "bounds": {"x": (0, 1_000_000)}, "exact_cells": "allow"}  # fmt: skip
    table, neighbour = np.arange(10, 22), np.append(np.arange(10, 21), 1_000_000)

    def seen(values):
        runs = (mv.protect({"x": values}, seed=seed, **asked).data["x"] for seed in range(20))
        return np.mean([bool((released > 20_000).any()) for released in runs])

    assert seen(table) == 0
    assert seen(neighbour) > 0.75
    assert "noise-scales" in {c.id for c in mv.plan({"x": table}, **asked).guarantee.conditions}


def test_what_a_seed_draws_hangs_on_everything_and_covers_nothing():
    """The first condition is the seed; provisos of scopes that are not covered are not shown."""
    guarantee = mv.plan(people(), **request("idp-vector", seed=1)).guarantee
    assert [c.id for c in guarantee.conditions] == ["seeded", "noise-scales"]
    assert guarantee.provisos == ()
    assert mv.plan(people(), **request("idp-vector", seed=1)).promised.vector.covered


# What one record decides where the columns are left to the data: a duplicate among all-different
# numbers makes a column of numbers of what was taken for identifiers.
def test_columns_left_to_the_data_are_no_differential_privacy():
    """One duplicate changes which columns are released, so the model and row scope go."""
    table = {"x": np.arange(N), "y": np.arange(N) % 7}
    duplicate = {"x": np.append(np.arange(N - 1), 0), "y": np.arange(N) % 7}
    asked = {"method": "laplace", "epsilon": 1, "bounds": {"y": (0, 10)}, "max_rows": 1}
    released = [
        mv.protect(data, **asked | {"bounds": dict.fromkeys(data, (0, N))}).data
        for data in (table, duplicate)
    ]
    assert [list(data) for data in released] == [["y"], ["x", "y"]]
    guarantee = mv.plan(table, **asked).guarantee
    assert guarantee.model == "idp"
    assert not guarantee.scopes.row.covered
    assert "columns-chosen" in {c.id for c in guarantee.conditions}
    named = mv.plan(table, **asked, attributes=["y"]).guarantee
    assert (named.model, named.scopes.row.covered, named.conditions) == ("dp", True, ())


@pytest.mark.parametrize("method", ["laplace", "auto"])
def test_row_scope_asked_for_refuses_columns_left_to_the_data(method):
    """The refusal lists the columns to name."""
    table = {"x": np.arange(N) % 5, "y": np.arange(N) % 7, "id": np.arange(N)}
    with pytest.raises(mv.RequestError, match=r"--attributes x,y ") as caught:
        mv.protect(table, method=method, k=5, epsilon=1, scope="row", bounds=BOUNDS)
    assert "hang on the data" in str(caught.value)


def test_a_method_left_to_advice_at_row_scope_hangs_on_no_record():
    """Over very different tables of as many records one method, one k and one guarantee come."""
    rows = [people(seed) | {"x": values} for seed, values in
            ((1, np.zeros(N, int)), (2, np.arange(N)), (3, np.full(N, 1000)))]  # fmt: skip
    for more in ({}, {"shuffle": "columns"}):
        asked = {"method": "auto", "scope": "row", "epsilon": 2, "attributes": NAMES,
                 "bounds": BOUNDS, "max_rows": 1, **more}  # fmt: skip
        plans = [mv.plan(table, **asked) for table in rows]
        assert len({str(plan.guarantee.to_dict()) for plan in plans}) == 1
        guarantee = plans[0].guarantee
        assert guarantee.model == "dp"
        assert guarantee.scopes.row.exact_epsilon == 2
        assert guarantee.conditions == ()


def test_a_method_left_to_advice_below_row_scope_says_that_the_data_chose():
    """At vector scope the table may be looked at: iDP, the condition, and no row scope."""
    guarantee = mv.plan(
        people(), method="auto", scope="vector", epsilon=500, attributes=NAMES, bounds=BOUNDS
    ).guarantee
    assert guarantee.model == "idp"
    assert "parameters-chosen" in {c.id for c in guarantee.conditions}
    assert not guarantee.scopes.row.covered


def test_k_left_to_advice_goes_by_the_number_of_records():
    """How many values are missing does not show in k."""
    found = set()
    for holes in (0, 9, 20):
        table = {name: people()[name].astype(float) for name in NAMES}
        table["x"][:holes] = np.nan
        plan = mv.plan(table, method="dp-um", k="auto", epsilon=20, attributes=NAMES,
                       bounds=BOUNDS, resolution={"x": 1, "y": 1}, missing="keep")  # fmt: skip
        found.add(plan.guarantee.k)
    assert len(found) == 1


def test_the_summary_says_first_whether_rows_are_covered():
    """Its first line has the model, of centroids where rows follow individuals."""

    def first(method, **more):
        return mv.plan(people(), **request(method, **more)).guarantee.summary().splitlines()[0]

    assert first("laplace") == (
        "epsilon 1, differential privacy (DP), rows are covered: cluster, vector and row scope"
    )
    assert first("dp-um") == "epsilon 1, DP of the centroids, rows are not covered:"
    assert first("idp-vector") == "epsilon 1, iDP of the centroids, rows are not covered:"
    assert first("mdav", keep=["place"], max_rows=None) == (
        "privacy model: k-anonymity with k = 5; a person with several rows is counted several "
        "times; not for what is released as it is: place"
    )
    assert "**The rows of this release are not covered.**" in mv.plan(
        people(), **request("dp-um")
    ).guarantee.statement().splitlines()[2]  # fmt: skip


@pytest.mark.parametrize(
    ("method", "more"),
    [("laplace", {}), ("pram", {"bounds": {"x": (0, 9)}, "matrix": {"x": "invariant"}})],
)
def test_a_scope_asked_for_is_held_to_where_k_is_left_to_advice(method, more):
    """A method that needs no k is refused as it is without that, columns unnamed included."""
    table = {"x": np.arange(N) % 10}
    asked = {"method": method, "epsilon": 1, "scope": "row", "bounds": {"x": (0, 9)}, **more}
    for k in ({}, {"k": "auto"}):
        with pytest.raises(mv.RequestError):
            mv.protect(table, **asked, **k)
    with pytest.raises(mv.RequestError, match="--attributes x,y"):
        mv.protect(people(), method="dp-um", k="auto", epsilon=1, scope="row", bounds=BOUNDS,
                   shuffle="columns")  # fmt: skip


def test_what_is_kept_is_left_out_of_the_promise():
    """Whoever keeps a column reads that the promise is of what is protected."""
    guarantee = mv.plan(people(), **request("laplace", keep=["place"])).guarantee
    assert "If what is protected of one person's record were replaced" in guarantee.statement()
    assert "rows are covered but for what is kept:" in guarantee.summary().splitlines()[0]


def test_the_summary_rounds_no_epsilon_down():
    """What a terminal shows is what the page shows: rounded up."""
    guarantee = mv.plan(people(), **request("idp-ls", epsilon=0.3)).guarantee
    assert "vector scope: epsilon 0.507945" in guarantee.summary()
    assert "0.507945" in guarantee.statement()


def test_bounds_from_the_data_keep_rows_of_shuffled_columns_uncovered():
    """Of several attributes shuffled each by itself, by any method."""
    bounds = mv.bounds_from_data({name: people()[name] for name in NAMES})
    for method in ("laplace", "dp-um", "idp-ls", "idp-cbls", "kanon-dp"):
        asked = request(method, bounds=bounds, shuffle="columns", exact_cells="allow")
        assert not mv.plan(people(), **asked).guarantee.scopes.row.covered
