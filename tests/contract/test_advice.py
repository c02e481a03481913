"""Advice before noise: what is hopeless, what would be better, and what choosing by it costs."""

import json
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.commands.files import protect_file
from microveil.protect.expectation import expectations
from microveil.text.figures import figure

N = 300
RANDOM = np.random.Generator(np.random.PCG64(11))
PEOPLE = {
    "AGE": RANDOM.integers(18, 90, N),
    "TAX": np.minimum(RANDOM.lognormal(7, 1, N), 40_000).astype(np.int64),
}
BOUNDS = {"AGE": (0, 120), "TAX": (0, 60_000)}
ASKED = {"attributes": ["AGE", "TAX"], "bounds": BOUNDS, "epsilon": 1, "exact_cells": "allow"}


def warning(release):
    """The custodian's note about the expected error, if there is one."""
    notes = release.manifest.custodian_notes
    return next((note for note in notes if note.startswith("To be expected")), None)


@given(
    values=st.lists(st.integers(0, 12), min_size=4, max_size=30),
    k=st.integers(2, 15),
    step=st.sampled_from([1, 3, 10]),
)
def test_hopeless_is_what_is_worse_than_the_mean_as_a_cell_holds_it(values, k, step):
    """Of a release without noise it can be counted, on grids as coarse as the values too."""
    asked = {"method": "ranking", "k": min(k, len(values)), "attributes": ["x"]}
    asked["resolution"] = {"x": step}
    table = {"x": np.array(values) * step}
    released = mv.protect(table, **asked).data["x"]
    mean = round(Fraction(sum(values), len(values))) * step
    error, least = (int(((cells - table["x"]) ** 2).sum()) for cells in (released, mean))
    assert mv.advise(table, **asked).hopeless == (("x",) if error > least else ())


def test_options_keep_epsilon_at_the_scope_and_do_what_they_say():
    """Each option, requested, is covered at the scope and has the error it was offered with."""
    advice = mv.advise(PEOPLE, method="dp-um", k=3, **ASKED)
    assert advice.scope == "vector"
    errors = [option.over_variance for option in advice.options]
    assert errors == sorted(errors)
    for option in advice.options:
        plan = mv.plan(PEOPLE, method=option.method, k=option.k, **option.choices, **ASKED)
        scope = plan.guarantee.scopes.vector
        assert scope.covered
        assert scope.epsilon <= 1
        ratios = [entry.over_variance for entry in expectations(plan).values()]
        assert np.mean(ratios) == pytest.approx(option.over_variance)
    assert errors[0] < advice.asked.over_variance
    json.dumps(advice.to_dict(), allow_nan=False)
    assert "Best for the same epsilon at vector scope" in advice.to_text()


def test_what_is_worse_than_the_mean_is_never_called_best():
    """Where nothing does better, the text says so and what would; else none worse is listed."""
    hopeless = mv.advise(PEOPLE, method="dp-um", k=3, **{**ASKED, "epsilon": 1e-6})
    assert min(option.over_variance for option in hopeless.options) > 1
    assert "Best" not in hopeless.to_text()
    assert "nothing at hand does better than publishing the mean" in hopeless.to_text()
    mixed = mv.advise(PEOPLE, method="dp-um", k=3, **{**ASKED, "epsilon": 0.3})
    worse = [option for option in mixed.options if option.over_variance > 1]
    shown = mixed.to_text().partition("Best for")[2]
    assert worse
    assert not any(f"{figure(option.over_variance)}  {option}" in shown for option in worse)


@pytest.mark.parametrize("method", ["dp-um", "kanon-dp"])
def test_k_left_to_advice_under_differential_privacy_knows_no_values(method):
    """Any other values in the same bounds give the same k, and the guarantee stays dp."""
    others = {"AGE": np.full(N, 3), "TAX": np.arange(N)}
    guarantees = [
        mv.plan(table, method=method, k="auto", **ASKED).guarantee for table in (PEOPLE, others)
    ]
    assert guarantees[0].k == guarantees[1].k > 3
    assert guarantees[0].to_dict() == guarantees[1].to_dict()
    assert guarantees[0].model == "dp"
    assert any("public figures alone" in note for note in guarantees[0].notes)


@pytest.mark.parametrize("scope", ["cluster", "vector"])
def test_a_method_left_to_advice_covers_the_scope_as_idp(scope):
    """With epsilon at that scope; never called differential privacy, as the data chose."""
    guarantee = mv.protect(PEOPLE, method="auto", k="auto", scope=scope, **ASKED).guarantee
    found = getattr(guarantee.scopes, scope)
    assert found.covered
    assert found.epsilon <= 1
    assert guarantee.model == "idp"
    assert any("left to advice" in note for note in guarantee.notes)


def test_left_to_advice_without_a_scope_or_a_way_is_refused():
    """Rule, place, remedy."""
    with pytest.raises(mv.RequestError, match="needs to know what the epsilon must cover"):
        mv.protect(PEOPLE, method="auto", **ASKED)
    without = {**ASKED, "bounds": None}
    with pytest.raises(mv.RequestError, match="2 columns need bounds"):
        mv.protect(PEOPLE, method="auto", scope="row", **without)
    with pytest.raises(mv.RequestError, match="does not keep this epsilon at vector scope"):
        mv.protect(PEOPLE, method="idp-cbls", k=5, scope="vector", **ASKED)
    with pytest.raises(mv.RequestError, match="must be one of cluster, vector, row"):
        mv.protect(PEOPLE, method="auto", scope="all", **ASKED)


def test_isotonic_regression_is_told_with_the_linkage_it_invites(tmp_path):
    """By value and by rank, with it and without, beside chance: for the custodian, in advice."""
    asked = {**ASKED, "method": "idp-cbls", "k": 10, "isotonic": True, "epsilon": 0.1}
    pl.DataFrame(PEOPLE).write_parquet(tmp_path / "people.parquet")
    release = protect_file(tmp_path / "people.parquet", tmp_path / "out", **asked)
    assert "publishes the rank block of every record" in release.guarantee.statement()
    notes = release.manifest.custodian_notes
    told = next(note for note in notes if note.startswith("Measured on trial draws"))
    for word in ("by value", "by rank", "without it", "by chance"):
        assert word in told
    found = release.manifest.to_dict()["isotonic_linkage"]
    assert found["by_rank_isotonic"] > found["by_rank"]
    assert "Measured on trial draws" in mv.advise(PEOPLE, **asked).to_text()


def test_widening_leaves_no_exact_cell_and_says_its_cost():
    """Clusters of equal values are merged; the custodian reads how many; all equal is refused."""
    ties = {"x": np.repeat([0, 0, 0, 5, 9, 9, 30], 40), "y": np.arange(280)}
    asked = {"method": "idp-cbls", "k": 10, "epsilon": 1, "attributes": ["x"]}
    with pytest.raises(mv.ExactCellsError, match="widen"):
        mv.protect(ties, **asked)
    release = mv.protect(ties, exact_cells="widen", **asked)
    assert any("28 clusters became" in note for note in release.manifest.custodian_notes)
    assert (
        mv.audit(ties, exact_cells="widen", **asked).to_dict()["attributes"]["x"]["exact_cells"]
        == 0
    )
    assert any("merged with their neighbours" in note for note in release.guarantee.notes)
    with pytest.raises(mv.ExactCellsError, match="all values are equal"):
        mv.protect({"x": np.full(30, 4)}, exact_cells="widen", **asked)


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "ranking", "optimal", "k-pram", "k-noise"])
def test_without_a_budget_k_is_not_left_to_advice(method):
    """The least error would be that of k = 1, which hides nothing."""
    with pytest.raises(mv.RequestError, match="choose k yourself"):
        mv.protect(PEOPLE, method=method, k="auto", attributes=["AGE", "TAX"])


def test_k_left_to_advice_finds_the_k_that_keeps_a_scope():
    """One single cluster keeps its epsilon at vector scope even by idp-cbls."""
    guarantee = mv.plan(PEOPLE, method="idp-cbls", k="auto", scope="vector", **ASKED).guarantee
    assert guarantee.k > N // 2
    assert guarantee.scopes.vector.epsilon == 1


def test_a_step_asked_for_is_not_passed_over():
    """With a partition that no candidate offers nothing is chosen in its place."""
    with pytest.raises(mv.RequestError, match="no method at hand"):
        mv.protect(PEOPLE, method="auto", scope="cluster", partition="mdav", **ASKED)


def test_advice_says_what_protect_would_refuse_and_never_recommends_the_request_itself():
    """Exact cells are told; nothing better is told as nothing better."""
    ties = {"x": np.repeat([1, 5], 60), "same": np.full(120, 7)}
    asked = {"epsilon": 1, "attributes": ["x"], "bounds": {"x": (0, 9), "same": (0, 9)}}
    advice = mv.advise(ties, method="idp-cbls", k=10, **asked)
    assert "published exactly" in advice.refused
    assert "protect would refuse" in advice.to_text()
    asked = {**asked, "attributes": ["same"], "epsilon": 1e-3}
    told = warning(mv.protect(ties, method="dp-um", k=120, **asked))
    assert "all its values are equal" in told


@pytest.mark.parametrize("epsilon", ["1e400", "1e-400", 1e150])
def test_epsilons_beyond_all_meaning_are_refused(epsilon):
    """An error of ours, not an overflow."""
    with pytest.raises(mv.RequestError, match="between"):
        mv.protect(PEOPLE, method="dp-um", k=5, **{**ASKED, "epsilon": epsilon})
