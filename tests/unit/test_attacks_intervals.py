"""Intervals of success rates, risks and areas hold the truth as often as they claim."""

import json
import math

import numpy as np
import pytest
from scipy.stats import binom, norm

from microveil.measures.attacks.membership import area_under_curve
from microveil.measures.attacks.outcome import AttackOutcome
from microveil.measures.values import Estimate, excess, success_rate

RATES = [0.0, 0.0003, 0.002, 0.02, 0.1, 0.3, 0.5, 0.77, 0.95, 0.998, 1.0]


def chances(n, rate):
    return binom.pmf(np.arange(n + 1), n, rate)


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("n", [1, 10, 100, 1000])
def test_the_interval_of_a_rate_holds_it_at_least_as_often_as_stated(n, confidence):
    """Exactly, over all outcomes: the probability that the interval holds the true rate."""
    intervals = [success_rate(x, n, confidence).interval for x in range(n + 1)]
    for rate in RATES:
        holds = np.array([low <= rate <= high for low, high in intervals])
        assert chances(n, rate) @ holds >= confidence - 1e-12


def test_the_interval_of_a_rate_is_that_of_the_textbook():
    """Clopper and Pearson: 0 of n gives up to 1 - (a/2)^(1/n); 10 of 100 gives 4.9 to 17.6 %."""
    assert success_rate(0, 20, 0.95).interval == pytest.approx((0.0, 1 - 0.025 ** (1 / 20)))
    assert success_rate(10, 100, 0.95).interval == pytest.approx((0.0490, 0.1762), abs=5e-5)
    assert success_rate(100, 100, 0.95).interval[1] == 1.0


def test_fractions_lie_between_whole_successes():
    """The interval moves steadily with the successes, also between whole numbers."""
    ends = np.array([success_rate(x, 50, 0.95).interval for x in np.linspace(0, 50, 301)])
    assert (np.diff(ends, axis=0) >= 0).all()


def test_fractions_vary_no_more_than_whole_successes():
    """Guesses among two, three or many ties keep the interval's promise (600 simulations)."""
    generator = np.random.default_rng(1)
    for sizes in ([2], [1, 2, 50], [3, 10]):
        true, held = np.mean([1 / size for size in sizes]) * 0.4, 0
        for _ in range(600):
            tied = generator.choice(sizes, 200)
            value = np.where(generator.random(200) < 0.4, 1 / tied, 0.0).sum()
            low, high = success_rate(value, 200, 0.95).interval
            held += low <= true <= high
        assert held / 600 >= 0.95


@pytest.mark.parametrize("base_rate", [0.0, 0.001, 0.05, 0.5, 0.9])
@pytest.mark.parametrize("true_excess", [0.0, 0.002, 0.1, 0.5, 0.9, 1.0])
def test_the_interval_of_a_risk_holds_it_at_least_as_often_as_stated(base_rate, true_excess):
    """Exactly, over all pairs of outcomes of attack and control."""
    n, n_base = 80, 50
    rate = base_rate + true_excess * (1 - base_rate)
    base_chances = chances(n_base, base_rate)
    bases = [success_rate(x, n_base, 0.95) for x in range(n_base + 1)]
    held = 0.0
    for x, chance in enumerate(chances(n, rate)):
        if chance < 1e-9:
            continue
        success = success_rate(x, n, 0.95)
        for base, base_chance in zip(bases, base_chances, strict=True):
            if base_chance > 1e-9:
                low, high = excess(success, base).interval
                held += chance * base_chance * (low <= true_excess + 1e-12 and true_excess <= high)
    assert held >= 0.95 - 1e-6


def test_the_interval_of_a_risk_is_not_needlessly_wide():
    """Of large numbers it is at most 15 % wider than the normal approximation's."""
    n, rate, base = 20_000, 0.4, 0.25
    low, high = excess(success_rate(rate * n, n, 0.95), success_rate(base * n, n, 0.95)).interval
    ratio = (1 - rate) / (1 - base)
    relative = rate / (1 - rate) / n + base / (1 - base) / n
    assert 1.0 <= (high - low) / (2 * 1.96 * ratio * math.sqrt(relative)) <= 1.15


def test_beyond_an_exact_baseline_the_interval_is_that_of_the_success_rescaled():
    """With a baseline counted out, only the success has an error."""
    success = success_rate(60, 100, 0.95)
    risk = excess(success, Estimate.exact(0.2))
    assert risk.value == pytest.approx(0.5)
    assert risk.interval == pytest.approx([(end - 0.2) / 0.8 for end in success.interval])


def test_no_excess_is_no_risk():
    """An attack that does worse than its control has risk 0, with an interval from 0."""
    risk = excess(success_rate(10, 100, 0.95), success_rate(30, 100, 0.95))
    assert risk.value == 0.0
    assert risk.interval[0] == 0.0
    assert risk.interval[1] < 0.1


def test_where_the_control_is_always_right_nothing_can_be_told():
    """A control without failures leaves the risk open, from 0 to 1."""
    assert excess(success_rate(9, 9, 0.95), success_rate(9, 9, 0.95)).interval == (0.0, 1.0)


def test_without_an_attack_there_is_no_rate():
    """NaN and an interval from 0 to 1; None in the dictionary."""
    nothing = success_rate(0.0, 0, 0.95)
    assert math.isnan(nothing.value)
    assert nothing.to_dict() == {"rate": None, "interval": [0.0, 1.0], "n": 0}
    assert excess(nothing, Estimate.exact(0.1)).to_dict()["rate"] is None


@pytest.mark.parametrize("shift", [0.0, 0.5, 1.5, 4.0])
def test_the_interval_of_the_area_holds_it_as_often_as_stated(shift):
    """Normal distances, 600 simulations: 95 %, less three standard errors."""
    generator = np.random.default_rng(3)
    true, held = norm.cdf(shift / math.sqrt(2)), 0
    for _ in range(600):
        members, others = generator.standard_normal((2, 60))
        low, high = area_under_curve(members, others + shift, confidence=0.95).interval
        held += low <= true <= high
    assert held / 600 >= 0.95 - 3 * math.sqrt(0.95 * 0.05 / 600)


def test_a_number_never_stands_alone():
    """The dictionary of an outcome holds success, baseline, control and their intervals."""
    outcome = AttackOutcome(
        attack="inference",
        known=("AGE",),
        secret="INCOME",  # noqa: S106 -- an attribute
        rule="the guess is within 5 %",
        n_left_out=2,
        success=success_rate(30, 100, 0.95),
        baseline=Estimate.exact(0.1),
        baseline_is="guesses",
        control=success_rate(12, 100, 0.95),
        control_is="others",
        confidence=0.95,
    )
    figures = outcome.to_dict()
    assert json.loads(json.dumps(figures)) == figures
    for name in ("success", "baseline", "control", "risk"):
        low, high = figures[name]["interval"]
        assert low <= figures[name]["rate"] <= high
    assert figures["risk"]["beyond"] == "control"
    assert figures["risk"]["rate"] == pytest.approx((0.30 - 0.12) / 0.88)
