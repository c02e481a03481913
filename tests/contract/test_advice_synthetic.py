"""Advice where rows are to be covered: a new table among the candidates, by public figures."""

import re

import numpy as np
import pytest

import microveil as mv
from command import run

N = 200
LEVELS = ["north", "south", "east"]
REQUEST = {
    "attributes": ["AGE", "FEE", "PLACE"],
    "bounds": {"AGE": (0, 120), "FEE": (0, 500)},
    "resolution": {"FEE": 0.01},
    "categories": {"PLACE": LEVELS},
}
NUMBERS = {**REQUEST, "attributes": ["AGE", "FEE"], "categories": None}
WORDS = {"attributes": ["PLACE"], "categories": {"PLACE": LEVELS}}
ROW = {"method": "auto", "scope": "row"}


def people(seed=5, n=N):
    random = np.random.default_rng(seed)
    return {
        "ID": np.arange(n) + 1000 * seed,
        "AGE": random.integers(18, 18 + 8 * seed, n),
        "FEE": np.round(random.lognormal(seed / 2, 1, n).clip(0, 499), 2),
        "PLACE": random.choice(LEVELS, n, p=[0.8 / seed, 0.2, 0.8 - 0.8 / seed]),
    }


@pytest.mark.parametrize("asked", [REQUEST, NUMBERS, WORDS], ids=["mixed", "numbers", "categories"])
def test_a_table_of_any_kind_has_a_method_at_row_scope(asked):
    """With categories in no order too: a new table, which covers rows with no condition."""
    release = mv.protect(people(), **ROW, epsilon=3, max_rows=1, **asked)
    assert release.guarantee.method == "dp-synthetic"
    assert release.guarantee.model == "dp"
    assert release.guarantee.scopes.row.epsilon == 3
    assert release.guarantee.conditions == ()
    assert "Left to advice, chosen: dp-synthetic, domains learn, structure graph." in release.notes
    assert not any("nan" in note for note in release.manifest.custodian_notes)


@pytest.mark.parametrize("asked", [REQUEST, NUMBERS, WORDS], ids=["mixed", "numbers", "categories"])
@pytest.mark.parametrize("epsilon", [0.01, 6])
def test_what_is_chosen_hangs_on_public_figures_alone(asked, epsilon):
    """Any other values in the same domains lead to the same method and guarantee, or refusal."""

    def chosen(table):
        try:
            return mv.plan(table, **ROW, epsilon=epsilon, outside="clamp", **asked).guarantee
        except mv.RequestError as error:
            return str(error)

    others = {**people(2), "FEE": np.full(N, 7.0), "AGE": np.arange(N) % 121}
    found = [chosen(table) for table in (people(), people(2), others)]
    assert found[0] == found[1] == found[2]


def test_what_only_a_new_table_can_have_chooses_it():
    """A target, a structure, a number of records, missing cells that are protected."""
    for own in (
        {"target": "FEE"}, {"structure": "tree"}, {"n_records": 50}, {"missing": "protect"},
    ):  # fmt: skip
        planned = mv.plan(people(), **ROW, epsilon=6, **own, **NUMBERS)
        assert planned.guarantee.method == "dp-synthetic"
        for name, value in own.items():
            assert planned.parameters[name] == value


def mixed_recipe(scope, epsilon):
    """A recipe of a number and of a category in no order."""
    entries = {
        "AGE": {"role": "confidential", "type": "whole number", "bounds": [0, 120]},
        "PLACE": {"role": "quasi-identifier", "type": "text", "categories": LEVELS},
    }
    return {"microveil": "0.2", "method": "auto", "scope": scope, "epsilon": epsilon,
            "attributes": entries}  # fmt: skip


@pytest.mark.parametrize("epsilon", [0.1, 3, 10, 30, 100])
def test_what_keeps_all_of_a_recipe_goes_before_what_leaves_some_of_it_out(epsilon):
    """Methods that rank leave its categories in no order out, and would win by it (laplace)."""
    table = people(n=30)
    planned = mv.plan(table, recipe=mixed_recipe("row", epsilon))
    assert [part.attribute.name for part in planned.attributes] == ["AGE", "PLACE"]
    assert planned.guarantee.scopes.row.epsilon == epsilon
    asked = {"epsilon": epsilon, "attributes": ["AGE"], "bounds": {"AGE": (0, 120)}}
    if epsilon == 3:  # the rival that it is for
        assert mv.plan(table, **ROW, **asked).guarantee.method == "laplace"


@pytest.mark.parametrize("scope", ["cluster", "vector"])
def test_categories_in_no_order_are_refused_at_other_scopes_in_the_name_of_auto(scope):
    """With the place, the rule, and remedies of which each one works."""
    asked = {"epsilon": 6, **REQUEST}
    with pytest.raises(mv.RequestError) as refused:
        mv.plan(people(), method="auto", scope=scope, **asked)
    error = refused.value
    assert error.place == "attribute 'PLACE'"
    assert f"method='auto' weighs at {scope} scope" in error.rule
    assert "idp-cbls" not in str(error)
    assert not any(level in str(error) for level in LEVELS)
    assert "scope='row'" in error.remedy
    assert mv.plan(people(), **ROW, **asked).guarantee.method == "dp-synthetic"
    named = re.search("choose a method yourself: (.+), or if they", error.remedy)[1]
    alone, together = named.split(", or over whole records ")
    assert {"pram", "dp-synthetic"} <= set(alone.split(", "))
    for method in alone.split(", "):
        words = {**WORDS, "epsilon": 6}
        assert mv.plan(people(), method=method, **words).guarantee.method == method
    for method in together.split(", "):
        assert mv.plan(people(), method=method, k=3, **asked).guarantee.method == method
    assert "--ordered PLACE=low,middle,high" in error.remedy
    asked["categories"] = {"PLACE": mv.ordered(*LEVELS)}
    assert len(mv.plan(people(), method="auto", scope=scope, **asked).attributes) == 3


@pytest.mark.parametrize("scope", ["cluster", "vector"])
def test_missing_cells_are_hidden_at_row_scope_alone(scope):
    """By auto too, which refuses it elsewhere in its own name."""
    asked = {"method": "auto", "missing": "protect", "epsilon": 6, **NUMBERS}
    with pytest.raises(mv.RequestError, match=f"auto' weighs at {scope} scope cannot hide") as no:
        mv.plan(people(), scope=scope, **asked)
    assert "idp-cbls" not in str(no.value)
    assert mv.plan(people(), **{**asked, "scope": "row"}).guarantee.method == "dp-synthetic"
    assert mv.plan(people(), scope=scope, **{**asked, "missing": "keep"}).guarantee.epsilon == 6


def test_a_delta_is_an_allowance():
    """It goes to the method that makes use of it; of one that needs none the guarantee has none."""
    for epsilon, method, delta in ((3, "dp-synthetic", 1e-9), (0.01, "laplace", 0)):
        guarantee = mv.plan(people(), **ROW, epsilon=epsilon, delta=1e-9, **NUMBERS).guarantee
        assert (guarantee.method, float(guarantee.delta)) == (method, delta)
    vector = mv.plan(people(), method="auto", scope="vector", epsilon=3, delta=1e-9, **NUMBERS)
    assert vector.guarantee.delta == 0


@pytest.mark.parametrize("delta", [0, 1e-9])
def test_a_refusal_names_what_would_do(delta):
    """The epsilon that it names is accepted, and a tenth less than that is not."""
    with pytest.raises(mv.RequestError, match="of dp-synthetic, which takes any table") as refused:
        mv.plan(people(), **ROW, epsilon=0.01, delta=delta, **REQUEST)
    named = float(re.search(r"pass epsilon=([0-9.]+) or more", str(refused.value))[1])
    assert mv.plan(people(), **ROW, epsilon=named, delta=delta, **REQUEST).guarantee.epsilon > 0
    with pytest.raises(mv.RequestError, match="too small for a distribution"):
        mv.plan(people(), **ROW, epsilon=0.9 * named, delta=delta, **REQUEST)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bounds": {"AGE": (0, 120)}}, "1 column needs bounds.*: FEE"),
        ({"categories": None}, "1 column needs a list of all their categories: PLACE"),
        ({"attributes": None}, "at row scope they must be named.*--attributes AGE"),
        ({"attributes": ["AGE", "WAGE"]}, "^column 'WAGE': the table has no such column"),
        ({"epsilon": None}, "needs a budget; pass epsilon=1"),
        ({"partition": "mdav"}, "no method at hand keeps this epsilon at row scope"),
        ({"bounds": mv.bounds_from_data(people())}, "declare bounds for every attribute"),
    ],
)
def test_a_request_that_nothing_suits_is_refused_in_its_own_words(change, words):
    """What is wrong and what to add, in the name of no method that was not asked for."""
    with pytest.raises(mv.MicroveilError, match=words) as refused:
        mv.plan(people(), **{**ROW, "epsilon": 3, **REQUEST, **change})
    assert "idp-cbls" not in str(refused.value)


def test_advice_on_a_new_table_is_free():
    """What it says hangs on public figures alone, for every attribute, and it says so."""
    found = [
        mv.advise(people(seed), method="dp-synthetic", epsilon=3, delta=1e-9, **REQUEST)
        for seed in (5, 2)
    ]
    assert found[0].to_dict() == found[1].to_dict()
    assert set(found[0].expected) == {"AGE", "FEE", "PLACE"}
    assert found[0].scope == "row"
    assert found[0].hopeless == ()
    text = found[0].to_text()
    for words in ("a stand-in whose values lie evenly", "choosing by them is free", "PLACE"):
        assert words in text


def test_what_is_expected_of_a_stand_in_comes_out_on_a_table_like_it():
    """The mean over releases of an evenly spread table is the expected error, by each attribute."""
    table = {
        "AGE": np.arange(N) % 121,
        "FEE": np.linspace(0, 500, N).round(2),
        "PLACE": np.array(LEVELS)[np.arange(N) % 3],
    }
    asked = {"method": "dp-synthetic", "epsilon": 3, "structure": "independent", **REQUEST}
    expected = mv.advise(table, **asked).expected
    squares = {name: [] for name in REQUEST["attributes"]}
    for seed in range(15):
        data = mv.protect(table, **asked, seed=seed).data
        for name in ("AGE", "FEE"):
            moved = np.sort(table[name]) - np.sort(data[name])
            squares[name].append(float((moved**2).mean()))
        counts = [[(side["PLACE"] == level).mean() for level in LEVELS] for side in (table, data)]
        squares["PLACE"].append(float(np.abs(np.subtract(*counts)).sum() / 2))
    for name, found in squares.items():
        error = np.std(found) * (1 / np.sqrt(len(found)) + 1 / np.sqrt(8))
        assert abs(np.mean(found) - expected[name].mean_squared_error) < 4 * error


def test_the_command_line_takes_text_at_row_scope(tmp_path):
    """From a file with categories to a new table, without a word of another method."""
    mv.invented_people(400, seed=1).write_csv(tmp_path / "people.csv")
    done = run(
        "protect", "people.csv", "--method", "auto", "--scope", "row", "--epsilon", "3",
        "--delta", "1e-9", "--attributes", "AGE,REGION", "--bounds", "AGE=0:120",
        "--categories", "REGION=North,South,East,West", "-o", "out", folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "chosen: dp-synthetic, domains learn, structure graph." in done.stderr
    assert "rows are covered: cluster, vector and row scope" in done.stdout
