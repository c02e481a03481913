"""Every method of the four papers: what it releases, and what it says it guarantees."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import microveil as mv
from microveil.noise.transition import randomised_response, spent

N = 61
BOUNDS = {"x": (0, 1000), "y": (0, 1000), "z": (0, 50)}
NAMES = ["x", "y", "z"]


def people(seed=1):
    random = np.random.Generator(np.random.PCG64(seed))
    return {
        "x": random.integers(0, 900, N),
        "y": random.integers(0, 900, N),
        "z": random.integers(0, 40, N),
        "place": random.choice(["north", "south", "west"], N),
    }


def request(method, **more):
    """A request that every method takes; so few records need a large budget for a new table."""
    epsilon = 100 if method == "dp-synthetic" else 1
    return {"method": method, "k": 5, "epsilon": epsilon, "attributes": NAMES, "bounds": BOUNDS,
            "resolution": {"x": 10, "y": 10}, "exact_cells": "allow", **more}  # fmt: skip


def scopes(guarantee):
    """Epsilon by scope, None where not covered."""
    return [scope["epsilon"] for scope in guarantee.to_dict()["scopes"].values()]


J = N // 5
GUARANTEES = [
    ("laplace", {}, "dp", [1, 1, 1]),
    ("dp-um", {}, "dp", [1, 1, None]),
    ("idp-ls", {}, "idp", [1, 1 + log(2), None]),
    ("idp-cbls", {}, "idp", [1, J, None]),
    ("kanon-dp", {}, "dp", [1 / J, 1, None]),
    ("kanon-dp", {"shuffle": True}, "dp", [1 / J, 1, 1]),
    ("kanon-dp", {"shuffle": True, "keep": ["place"]}, "dp", [1 / J, 1, None]),
    ("kanon-dp", {"shuffle": True, "blocks": [["x"], ["y", "z"]]}, "dp", [1 / J, 1, None]),
    ("kanon-dp", {"composition": "parallel"}, "dp", [1, J, None]),
    ("kanon-dp", {"composition": "parallel", "shuffle": True}, "dp", [1, J, J]),
    ("record-dp", {}, "idp", [1, None, None]),
    ("record-dp", {"partition": "mdav", "shuffle": True}, "idp", [1, None, None]),
    ("record-dp", {"partition": "ranking"}, "dp", [1, 1, None]),
    ("record-dp", {"partition": "optimal"}, "idp", [1, 1, None]),
    ("record-dp", {"partition": "noise-aware"}, "idp", [1, 1, None]),
    ("mdav", {}, "k-anonymity", [None, None, None]),
    ("mdav-insensitive", {}, "k-anonymity", [None, None, None]),
    ("v-mdav", {}, "k-anonymity", [None, None, None]),
    ("mdav", {"blocks": [["x", "y"], ["z"]]}, "none", [None, None, None]),
    ("ranking", {}, "none", [None, None, None]),
    ("ranking", {"attributes": ["x"]}, "k-anonymity", [None, None, None]),
    ("optimal", {}, "none", [None, None, None]),
    ("pram", {}, "dp", [1, 1, 1]),
    ("k-pram", {}, "none", [None, None, None]),
    ("k-noise", {}, "none", [None, None, None]),
    ("dp-synthetic", {}, "dp", [100, 100, 100]),
    ("dp-synthetic", {"delta": 1e-9}, "dp", [100, 100, 100]),
]


@pytest.mark.parametrize(("method", "more", "model", "epsilons"), GUARANTEES)
def test_each_method_guarantees_what_its_proof_carries(method, more, model, epsilons):
    """Model and scopes, and the same words for two tables of one size."""
    one, other = (mv.plan(people(seed), **request(method, **more)).guarantee for seed in (1, 2))
    assert one.model == model
    assert scopes(one) == [pytest.approx(e) if e is not None else None for e in epsilons]
    assert one == other
    assert "{" not in one.statement()


@pytest.mark.parametrize("method", [entry["id"] for entry in mv.methods()])
def test_one_request_runs_with_every_method_and_every_frame(method):
    """Released columns have their names, types and lengths; a seed repeats them."""
    table = people()
    frames = [table, pd.DataFrame(table), pl.DataFrame(table), pa.table(table)]
    expected = mv.protect(table, **request(method, partition=None), seed=3).data
    for frame in frames:
        data = mv.protect(frame, **request(method), seed=3).data
        for name in NAMES:
            assert np.array_equal(np.array(data[name]), expected[name])
            assert np.array(data[name]).dtype == table[name].dtype
            assert np.all(np.array(data[name]) <= BOUNDS[name][1])
    assert list(expected) == NAMES


@pytest.mark.parametrize("method", ["mdav", "mdav-insensitive", "v-mdav"])
@pytest.mark.parametrize("k", [2, 3, 7, 20, 61])
def test_joint_microaggregation_gives_k_anonymous_records(method, k):
    """Every combination of protected values is shared by at least k records."""
    data = mv.protect(people(), **request(method, k=k)).data
    _, counts = np.unique(np.column_stack([data[name] for name in NAMES]), axis=0,
                          return_counts=True)  # fmt: skip
    assert counts.min() >= k


def test_blocks_are_microaggregated_apart():
    """A block's clusters are those of its attributes alone."""
    both = mv.protect(people(), **request("mdav", blocks=[["x", "y"], ["z"]])).data
    alone = mv.protect(people(), **request("mdav", attributes=["x", "y"])).data
    assert np.array_equal(both["x"], alone["x"])
    assert np.array_equal(both["y"], alone["y"])


@pytest.mark.parametrize("method", ["mdav", "mdav-insensitive", "v-mdav", "ranking", "optimal"])
def test_means_are_kept_without_noise(method):
    """Microaggregation moves no attribute's mean by more than the rounding of its cells."""
    table = people()
    data = mv.protect(table, **request(method, resolution=None)).data
    for name in NAMES:
        assert abs(data[name].mean() - table[name].mean()) <= 0.5


@pytest.mark.parametrize("composition", ["sequential", "parallel"])
def test_kanon_dp_scales(composition):
    """The scale on a sum is the width over the share, times the clusters if sequential."""
    plan = mv.plan(people(), **request("kanon-dp", composition=composition, resolution=None))
    times = J if composition == "sequential" else 1
    for part in plan.attributes:
        lower, upper = BOUNDS[part.attribute.name]
        due = (upper - lower) * times / part.share * 2**part.grid.bits
        assert all(due <= scale < due + upper - lower for scale in part.scales.tolist())


def test_kanon_dp_keeps_its_epsilon_when_the_clusters_are_formed_anew():
    """Sequential composition, brute force: every record by every corner of the domain."""
    table = {"x": people()["x"][:14] // 100, "y": people()["y"][:14] // 100}
    asked = {"method": "kanon-dp", "k": 3, "epsilon": 1, "attributes": ["x", "y"],
             "bounds": {"x": (0, 9), "y": (0, 9)}}  # fmt: skip
    plan = mv.plan(table, **asked)
    for record in range(14):
        for corner in ((0, 0), (0, 9), (9, 0), (9, 9), (4, 5)):
            neighbour = {name: values.copy() for name, values in table.items()}
            neighbour["x"][record], neighbour["y"][record] = corner
            other = mv.plan(neighbour, **asked)
            loss = sum(
                Fraction(abs(int(a) - int(b)) * 2**one.grid.bits, int(scale))
                for one, two in zip(plan.attributes, other.attributes, strict=True)
                for a, b, scale in zip(one.sums, two.sums, one.scales, strict=True)
            )
            assert loss <= 1


def test_randomised_response_is_calibrated_and_never_above_its_epsilon():
    """The ratio of weights is e^share rounded down, by less than a millionth."""
    for share in (Fraction(1, 1000), Fraction(1), Fraction(7, 3), Fraction(20)):
        for categories in (2, 7, 1000 if share == 1 else 100):
            weights = randomised_response(share, categories, "x")
            ratio = weights[0, 0] / weights[0, 1]
            assert exp(share) * (1 - 1e-6) < ratio <= exp(share) * (1 + 1e-12)
            assert float(spent(weights)) <= float(share)
            assert float(spent(weights)) > 0.999999 * float(share) - 1e-9


def bounds_of_exp(exponent):
    """Return rationals below and above e^exponent, some 2^-400 apart, by its Taylor series."""
    one = 1 << 500
    term, below, place = one, 0, 0
    while term:
        below += term
        place += 1
        # Rounded down in every step; each term and its rest lose less than one.
        term = term * exponent.numerator // (exponent.denominator * place)
    # A rounding is multiplied by e^exponent at most, and so is the rest beyond the last term.
    slack = (place + 1) << 100
    return Fraction(below, one), Fraction(below + slack, one)


SHARES = st.builds(
    lambda digits, power: Fraction(digits) * Fraction(10) ** power,
    st.integers(1, 10**20),
    st.integers(-120, -18),
)
LEAST = Fraction(1, 2**40) - Fraction(1, 2**81)  # e^share - 1 is 2^-40 - 2^-120/3 here


@settings(max_examples=3 * settings.default.max_examples)
@given(share=SHARES, categories=st.sampled_from([2, 3, 50]))
@example(share=Fraction(1, 10**100), categories=2)
@example(share=Fraction(1, 10**71), categories=2)
@example(share=Fraction(1, 10**69), categories=2)
@example(share=LEAST, categories=2)
@example(share=LEAST + Fraction(1, 2**121), categories=2)
@example(share=Fraction(1, 2**40), categories=1000)
@example(share=Fraction(42), categories=1000)
@example(share=Fraction(60), categories=2)
@example(share=Fraction(10**100), categories=2)
def test_randomised_response_keeps_its_share_over_the_whole_range(share, categories):
    """In exact rationals: staying is likelier than moving, by e^share at most, or it is refused."""
    try:
        weights = randomised_response(share, categories, "x")
    except mv.RequestError as error:
        weights, rule = None, error.rule
    if weights is None and share > 40:
        assert "as they are" in rule
        return
    if weights is None:
        assert "2^40" in rule
        assert bounds_of_exp(share)[0] - 1 < Fraction(1, 2**40)
        return
    below, above = bounds_of_exp(share)
    stay, move = (int(weights[0, place]) for place in (0, 1))
    assert weights.tolist() == [
        [stay if row == column else move for column in range(categories)]
        for row in range(categories)
    ]
    assert move < stay
    assert Fraction(stay, move) <= below
    assert above < Fraction(stay + 1, move)
    assert above - 1 >= Fraction(1, 2**40)


@settings(max_examples=2 * settings.default.max_examples)
@given(
    pairs=st.lists(
        st.tuples(st.integers(1, 2**58), st.integers(-2, 2)), min_size=2, max_size=5, unique=True
    )
)
def test_what_a_matrix_spends_covers_its_largest_ratio_in_exact_rationals(pairs):
    """Down to ratios that differ from 1 by one part in 2^58, and up to 2^58."""
    first = pairs[0][0]
    columns = [first, *(max(1, min(first + step, 2**58)) for _, step in pairs[1:])]
    uniform = np.array([columns, columns[::-1]])
    skewed = np.array([[weight for weight, _ in pairs], [weight for weight, _ in pairs[::-1]]])
    for weights in (uniform, skewed):
        rows = [[Fraction(w, sum(row)) for w in row] for row in weights.tolist()]
        largest = max(max(column) / min(column) for column in zip(*rows, strict=True))
        assert largest <= bounds_of_exp(spent(weights))[0]


def test_pram_draws_by_its_matrix():
    """Frequencies of a hundred thousand draws from each category follow its row."""
    count = 100_000
    table = {"x": np.repeat([0, 1, 2], count)}
    matrix = [[0.7, 0.2, 0.1], [0.05, 0.9, 0.05], [0.25, 0.25, 0.5]]
    data = mv.protect(table, method="pram", attributes=["x"], bounds={"x": (0, 2)},
                      matrix={"x": matrix}, seed=1).data  # fmt: skip
    for category, row in enumerate(matrix):
        seen = np.bincount(data["x"][table["x"] == category], minlength=3) / count
        assert np.allclose(seen, row, atol=5 * 0.5 / count**0.5)


def test_k_pram_draws_values_of_the_same_interval():
    """Values stay within their interval; a permutation keeps the marginal exactly."""
    table = {"x": np.sort(people()["x"])}
    asked = {"method": "k-pram", "attributes": ["x"], "width": 100}
    drawn = mv.protect(table, **asked).data["x"]
    assert set(drawn.tolist()) <= set(table["x"].tolist())
    assert np.abs(drawn - table["x"]).max() <= 100
    permuted = mv.protect(table, **asked, noise="permutation").data["x"]
    assert sorted(permuted.tolist()) == table["x"].tolist()
    assert permuted.tolist() != table["x"].tolist()


@pytest.mark.parametrize("law", ["uniform", "laplace", "gaussian", "triangular"])
def test_k_noise_has_the_same_spread_for_every_law(law):
    """Variance delta squared over 3, mean 0; the uniform law stays within delta."""
    table = {"x": np.arange(200_000) % 1000}
    data = mv.protect(table, method="k-noise", attributes=["x"], width=100, noise=law,
                      seed=1).data["x"]  # fmt: skip
    noise = (data - table["x"]).astype(float)
    assert abs(noise.mean()) < 0.5
    assert noise.var() == pytest.approx(50**2 / 3, rel=0.03)
    if law == "uniform":
        assert np.abs(noise).max() <= 50


BAD = {
    "blocks that leave an attribute out": ("mdav", {"blocks": [["x", "y"]]}, "every protected"),
    "blocks of another column": ("mdav", {"blocks": [NAMES, ["place"]]}, "every protected"),
    "a column in two blocks": ("mdav", {"blocks": [["x", "y"], ["y", "z"]]}, "two blocks"),
    "a partition not offered": ("record-dp", {"partition": "v-mdav"}, "record-dp offers"),
    "a width of 0": ("k-noise", {"width": 0}, "above 0"),
    "insensitive without bounds": ("mdav-insensitive", {"bounds": None}, "need bounds"),
    "a matrix of the wrong size": ("pram", {"matrix": {"z": [[1.0]]}}, "a row and a column"),
    "a matrix that is none": ("pram", {"matrix": {"z": "random"}}, "a row and a column"),
    "rows that do not sum to 1": (
        "pram", {"attributes": ["z"], "bounds": {"z": (0, 1)}, "outside": "clamp",
                 "matrix": {"z": [[0.5, 0.4], [0, 1]]}}, "sum to 1",
    ),
    "negative probabilities": (
        "pram", {"attributes": ["z"], "bounds": {"z": (0, 1)}, "outside": "clamp",
                 "matrix": {"z": [[1.5, -0.5], [0, 1]]}}, "sum to 1",
    ),
    "a matrix of another column": ("pram", {"matrix": {"place": [[1.0]]}}, "no protected"),
    "too many categories": ("pram", {"resolution": None, "bounds": BOUNDS | {"x": (0, 9999)}},
                            "1000"),
    "no epsilon and no matrix": ("pram", {"epsilon": None}, "without a matrix"),
    "an epsilon that changes nothing": ("pram", {"epsilon": 1000}, "as they are"),
    "text without categories": ("pram", {"attributes": ["place"]}, "list of all their categories"),
    "a category that is not declared": (
        "pram", {"attributes": ["place"], "bounds": {"place": ["north", "south"]},
                 "outside": "clamp"}, "declared categories",
    ),
    "one category": ("pram", {"attributes": ["place"], "bounds": {"place": ["north"]}}, "two"),
    "blocks that are no lists": ("mdav", {"blocks": 5}, "lists of columns"),
    "blocks of bare names": ("mdav", {"blocks": ["xy", "z"]}, "list of one column"),
    "an empty block": ("mdav", {"blocks": [NAMES, []]}, "list of one column"),
    "a width beyond all": ("k-noise", {"width": 10**400}, "64 bits"),
    "a partition of arrays": ("record-dp", {"partition": np.array([1, 2])}, "one of"),
    "an epsilon beyond all": ("pram", {"epsilon": 3e6}, "as they are"),
    "a matrix of huge numbers": ("pram", {"matrix": {"z": [[10**400]]}}, "a row and a column"),
    "categories that are none": (
        "pram", {"attributes": ["place"], "bounds": {"place": 5}}, "its categories",
    ),
    "isotonic without ranks": ("kanon-dp", {"isotonic": True}, "in order"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_choices_are_refused(case):
    """The error names rule, place and remedy."""
    method, more, words = BAD[case]
    with pytest.raises(mv.MicroveilError, match=words) as caught:
        mv.protect(people(), **request(method, **more))
    assert caught.value.remedy


def test_what_a_method_has_no_use_for_is_said():
    """Accepted, listed in the manifest and in the notes."""
    release = mv.protect(people(), **request("mdav", composition="parallel"))
    assert release.manifest.to_dict()["unused_parameters"] == ["composition"]
    assert any("no use for: composition" in note for note in release.notes)


@pytest.mark.parametrize("method", ["ranking", "optimal", "mdav", "v-mdav"])
def test_sums_that_do_not_fit_are_refused_without_noise_too(method):
    """A sum beyond 64 bits must not wrap into a wrong mean."""
    table = {"x": np.array([1, 2, 3, 2**62, 2**62 + 2**61, 2**62 + 2**61])}
    with pytest.raises(mv.MicroveilError, match="64 bits"):
        mv.protect(table, method=method, k=3, attributes="x")


def test_pram_can_give_any_declared_category_whatever_the_data_hold():
    """A category longer than every word of the table comes out whole: widths show nothing."""
    table = {"p": np.array(["a", "b"] * 200)}
    asked = {"method": "pram", "epsilon": 0.5, "attributes": ["p"]}
    data = mv.protect(table, **asked, bounds={"p": ["a", "b", "other"]}, seed=1).data
    assert set(data["p"].tolist()) == {"a", "b", "other"}
    longer = {"p": np.array(["a", "longest of them"] * 200)}
    other = mv.protect(longer, **asked, bounds={"p": ["a", "longest of them", "z"]}, seed=1).data
    again = {"p": np.array(["a", "z"] * 200)}
    same = mv.protect(again, **asked, bounds={"p": ["a", "longest of them", "z"]}, seed=1).data
    assert other["p"].dtype == same["p"].dtype


def test_cells_made_missing_in_a_block_are_missing_in_every_frame():
    """Whole numbers and yes/no values of pandas become nullable, those of arrays floats."""
    holes = np.arange(N, dtype=float)
    holes[4] = np.nan
    table = {"x": people()["x"], "yes": people()["z"] > 20, "z": holes}
    asked = request("mdav", attributes=["x", "yes", "z"], missing="keep",
                    resolution={"z": 1}, bounds=None)  # fmt: skip
    frame = mv.protect(pd.DataFrame(table), **asked).data
    assert str(frame["x"].dtype) == "Int64"
    assert str(frame["yes"].dtype) == "boolean"
    for name in ("x", "yes", "z"):
        assert frame[name].isna().to_numpy().nonzero()[0].tolist() == [4]
    arrays = mv.protect(table, **asked).data
    assert all(np.isnan(arrays[name][4]) for name in ("x", "yes", "z"))


def test_scopes_are_rounded_up():
    """The epsilon told is never below the exact one, unless it is the decimal asked for."""
    for shares in (3, 7, 9, 11):
        guarantee = mv.plan(people(), **request("kanon-dp", epsilon=Fraction(1, shares))).guarantee
        assert Fraction(guarantee.scopes.vector.epsilon) >= guarantee.epsilon
    assert mv.plan(people(), **request("dp-um", epsilon=0.3)).guarantee.scopes.vector.epsilon == 0.3


@pytest.mark.parametrize(("law", "words"), [("laplace", "without a limit"), ("uniform", "half an")])
def test_the_statement_of_k_noise_is_that_of_its_law(law, words):
    """Bounded laws have a bound, others say that they have none."""
    assert words in mv.plan(people(), **request("k-noise", noise=law)).guarantee.statement()
