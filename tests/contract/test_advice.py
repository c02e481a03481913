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


def test_a_hopeless_request_is_told_with_where_to_look_for_a_better_one():
    """Attributes and figures, and where to look for a better request."""
    told = warning(mv.protect(PEOPLE, method="dp-um", k=3, **ASKED))
    assert "'TAX'" in told
    assert "times the variance" in told
    assert "microveil advise" in told
    assert "mv.advise" in told
    assert warning(mv.protect(PEOPLE, method="idp-cbls", k=20, **ASKED)) is None


SPREADS = {
    "ages": lambda random, n: random.integers(18, 90, n),
    "yes and no": lambda random, n: random.random(n) < 0.3,
    "few values, far away": lambda random, n: random.integers(0, 3, n) + 10**9,
    "two values, farther": lambda random, n: random.integers(0, 2, n) + 10**15,
    "cents": lambda random, n: random.lognormal(7, 1, n).round(2),
    "all alike": lambda _random, n: np.full(n, 7),
}


@pytest.mark.parametrize("method", ["mdav", "v-mdav", "ranking", "optimal"])
@pytest.mark.parametrize("spread", SPREADS)
def test_publishing_the_mean_is_not_worse_than_publishing_the_mean(method, spread):
    """One cluster of all records without noise releases the mean, rounded as it has to be."""
    for n in (5, 50, 301):
        values = SPREADS[spread](np.random.default_rng(n), n)
        asked = {"resolution": {"x": 0.01}} if values.dtype.kind == "f" else {}
        release = mv.protect({"x": values}, method=method, k=n, attributes=["x"], **asked)
        assert len(np.unique(release.data["x"])) == 1
        assert warning(release) is None


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


def test_noise_beyond_the_mean_is_hopeless_by_however_little():
    """A hundredth more error than the mean's is told, a hundredth less is not."""
    values = np.arange(1000) % 101
    asked = {"method": "laplace", "attributes": ["x"], "bounds": {"x": (0, 100)}}
    ratios = {}
    for epsilon in np.linspace(0.5, 4, 60).round(3):
        (entry,) = expectations(mv.plan({"x": values}, **asked, epsilon=epsilon)).values()
        ratios[entry.mean_squared_error * 1000 / ((values - values.mean()) ** 2).sum()] = entry
    assert any(1 < ratio < 1.1 for ratio in ratios)
    assert all(entry.hopeless == (ratio > 1.001) for ratio, entry in ratios.items())


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


def test_k_left_to_advice_under_idp_is_the_best_on_offer_and_told():
    """No k in its neighbourhood has less expected error by much; the guarantee says it chose."""
    plan = mv.plan(PEOPLE, method="idp-vector", k="auto", **ASKED)
    best = np.mean([entry.over_variance for entry in expectations(plan).values()])
    for k in (3, 5, 10, 20, 40, 80, 150, 300):
        other = mv.plan(PEOPLE, method="idp-vector", k=k, **ASKED)
        assert best <= 1.1 * np.mean([e.over_variance for e in expectations(other).values()])
    assert plan.guarantee.model == "idp"
    assert any("left to advice" in note for note in plan.guarantee.notes)


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
    with pytest.raises(mv.RequestError, match=r"needs its bounds.*--bounds AGE=0:100000"):
        mv.protect(PEOPLE, method="auto", scope="row", **without)
    with pytest.raises(mv.RequestError, match="does not keep this epsilon at vector scope"):
        mv.protect(PEOPLE, method="idp-cbls", k=5, scope="vector", **ASKED)
    with pytest.raises(mv.RequestError, match="must be one of cluster, vector, row"):
        mv.protect(PEOPLE, method="auto", scope="all", **ASKED)


def test_the_manifest_carries_audit_and_expected_error_and_the_guarantee_does_not():
    """The custodian's figures stay the custodian's."""
    release = mv.protect(PEOPLE, method="idp-cbls", k=20, **ASKED)
    manifest = release.manifest.to_dict()
    audit = mv.audit(PEOPLE, method="idp-cbls", k=20, **ASKED).to_dict()
    assert manifest["audit"] == audit
    assert set(manifest["expected_error"]) == {"AGE", "TAX"}
    published = json.dumps(release.guarantee.to_dict()) + release.guarantee.statement()
    assert f"{audit['vector_scope']:.4f}"[:5] not in published


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


def test_dates_and_decimals_can_be_left_to_advice():
    """Whatever the type, with declared bounds."""
    days = pl.DataFrame(
        {"day": pl.Series(range(10_000, 10_300)).cast(pl.Date), "fee": np.arange(300) / 4}
    )
    release = mv.protect(
        days, method="auto", k="auto", scope="vector", epsilon=2, attributes=["day", "fee"],
        bounds={"day": ("1990-01-01", "2010-12-31"), "fee": (0, 100)}, resolution={"fee": 0.25},
    )  # fmt: skip
    assert release.data.schema["day"] == pl.Date


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


def test_what_was_chosen_is_told_and_a_model_is_always_named():
    """The method, its steps and k; to the custodian the error; a weaker model is not hidden."""
    release = mv.protect(PEOPLE, method="auto", k="auto", scope="vector", **ASKED)
    chosen = next(note for note in release.notes if note.startswith("Left to advice"))
    assert release.guarantee.method in chosen
    assert chosen.endswith(f"k {release.guarantee.k}.")
    assert any("expected error is" in note for note in release.manifest.custodian_notes)
    advice = mv.advise(PEOPLE, method="dp-um", k=3, **ASKED)
    assert "iDP of the centroids" in advice.to_text()
    options = advice.options
    assert all(option.model for option in options)
    chosen = [option for option in options if option.choices.get("partition") == "noise-aware"]
    assert chosen
    for option in chosen:
        assert "the cluster sizes of this table held" in str(option)


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
