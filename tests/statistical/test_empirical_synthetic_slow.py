"""Whole new tables attacked: canaries in the tails, and membership beside a holdout.

Fixed seeds. A claim "never above" is contradicted with probability 1e-4 at most if it is true.
"""

from dataclasses import replace

import numpy as np
import pytest

import microveil as mv
from microveil.audit.empirical import empirical_audit
from microveil.audit.empirical.bounds import lower_bound
from microveil.noise.counts import laplace_noise
from microveil.noise.noise import RandomSource
from microveil.synthesis.measuring import Counter

pytestmark = pytest.mark.slow

N, EPSILON, RUNS = 220, 2, 400
ASKED = {
    "method": "dp-synthetic",
    "attributes": ["AGE", "FEE"],
    "bounds": {"AGE": (0, 120), "FEE": (0, 1000)},
}
CANARY = {
    "method": "dp-synthetic",
    "attributes": ["FEE", "PLACE"],
    "bounds": {"FEE": (0, 1000)},
    "categories": {"PLACE": ["north", "south", "nowhere"]},
}


def people(canary):
    """Modest people, and one who is far out where nobody else is, or like the others."""
    random = np.random.default_rng(4)
    fees, places = random.integers(0, 50, N), random.choice(["north", "south"], N).astype("<U7")
    if canary:
        fees[0], places[0] = 1000, "nowhere"
    return {"FEE": fees, "PLACE": places}


def scores(plan, originals, seed):
    """What an attacker makes of new tables: how much of them lies where the canary alone was."""
    found = []
    for source in RandomSource.seeded(seed).spawn(RUNS):
        _, columns = plan.draw(Counter(originals), source)
        far, nowhere = columns["FEE"].values > 100, columns["PLACE"].values == 2
        found.append((columns["FEE"].values.mean(), nowhere.mean(), (far & nowhere).mean()))
    return np.array(found).T


def shown(change):
    plans = [mv.plan(people(canary), epsilon=EPSILON, **CANARY) for canary in (True, False)]
    with_it, without = (
        scores(change(plan.synthetic), plan.prepared.columns, seed)
        for seed, plan in enumerate(plans)
    )
    return max(lower_bound(one, other, 0.9999) for one, other in zip(with_it, without, strict=True))


def hardly_any_noise(plan):
    fees, places = plan.attributes
    loud = tuple(
        replace(depth, rates=tuple(60 * rate for rate in depth.rates)) for depth in fees.depths
    )
    parts = (
        replace(fees, depths=loud, noise=fees.noise and laplace_noise(100)),
        replace(places, noise=laplace_noise(100)),
    )
    tables = replace(plan.tables, rate=60 * plan.tables.rate, noise=laplace_noise(100))
    return replace(plan, attributes=parts, tables=tables)


def test_a_canary_where_nobody_else_is_shows_no_more_than_epsilon():
    """By the whole new table; hardly any noise would show it, so that the attack can find it."""
    assert shown(lambda plan: plan) <= EPSILON
    assert shown(hardly_any_noise) > EPSILON


@pytest.mark.parametrize("structure", ["graph", "independent"])
def test_members_are_not_told_from_people_held_out(structure):
    """By distance, over ten tables; with a budget that hides nothing they are."""
    random = np.random.default_rng(4)

    def drawn(n):
        age = random.integers(18, 90, n)
        return {
            "AGE": age,
            "FEE": np.minimum(age * 8 + random.lognormal(3, 1, n), 1000).astype(int),
        }

    def area(epsilon, seed):
        members, others = drawn(300), drawn(300)
        release = mv.protect(members, epsilon=epsilon, seed=seed, structure=structure, **ASKED)
        report = mv.attack(members, release, control=others)
        (found,) = (one for one in report.outcomes if one.attack == "membership inference")
        return found.details["area under the curve"].value

    # The standard error of one is 0.024.
    assert np.mean([area(EPSILON, seed) for seed in range(10)]) == pytest.approx(0.5, abs=0.03)
    if structure == "graph":
        assert np.mean([area(10**6, seed) for seed in range(10)]) > 0.53


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("delta", [0, 1e-2])
def test_measurements_show_no_more_than_is_accounted(seed, delta):
    """Of a table whose halves are apart, by many runs: as much as is accounted is never shown."""
    values = np.r_[np.linspace(0, 425, 109), np.linspace(575, 1000, 111)].astype(int)
    found = empirical_audit(
        {"X": values}, method="dp-synthetic", epsilon=1, delta=delta, attributes="X",
        bounds={"X": (0, 1000)}, runs=10_000, confidence=0.9999, audit_seed=seed,
    )  # fmt: skip
    assert found.contradicted == ()
    assert 0.1 < found.scopes["row"].lower_bound < 1
