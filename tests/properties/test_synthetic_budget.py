"""All that a plan of dp-synthetic can ask of the data, added up in exact fractions.

What a question costs is said here once more, by what it is asked with: the rates and scales that
stand in the plan. How the method splits its budget is none of this module's business.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import microveil as mv
from microveil.errors import RequestError
from microveil.guarantee.budget import concentrated_budget
from microveil.methods import METHODS, Choices
from microveil.noise.counts import CountNoise
from microveil.noise.exponential import median_weights
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Bounds, Categories, Kind, Source
from microveil.synthesis import measuring as choosing
from microveil.synthesis import plan as planning
from microveil.synthesis.measuring import Counter

# Rounding a Laplace scale up to whole steps loses less than a millionth; roots of rho are rounded
# down to 64 bits, and what they were made of is their square.
LOST = {False: Fraction(1, 10**6), True: Fraction(1, 2**60)}


def cost_of_noise(noise, *, is_concentrated):
    """Two counts, each moved by one record of 2**bits steps."""
    assert noise.is_gaussian == is_concentrated
    record = 1 << noise.bits
    if is_concentrated:
        return Fraction(2 * record**2) / (2 * noise.scale)
    return Fraction(2 * record) / noise.scale


def cost_of_levels(rates, *, is_concentrated):
    """One median a level: the utility moves by 1 in a node, or by 1/2 in two."""
    return sum(rate**2 / 2 if is_concentrated else 2 * rate for rate in rates)


def cost_of_choice(rate, *, is_concentrated):
    """The range of the logarithm of probabilities is the rate."""
    return rate**2 / 8 if is_concentrated else rate


def spent(plan, *, is_concentrated):
    """All that a plan may ask."""
    kind = {"is_concentrated": is_concentrated}
    total = Fraction(0)
    for part in plan.attributes:
        total += cost_of_levels(part.rates, **kind)
        total += 0 if part.noise is None else cost_of_noise(part.noise, **kind)
    if plan.tables is not None:
        each = cost_of_choice(plan.tables.rate, **kind) + cost_of_noise(plan.tables.noise, **kind)
        total += plan.tables.n_tables * each
    return total


@dataclass(frozen=True)
class Handle:
    """A column as methods see it: there are no values behind it."""

    attribute: Attribute
    n_present: int = 0


def column(number, kind):
    """A column of some domain: numbers with many or few values, categories in an order or none."""
    domain = {
        "many": Bounds(lower=Fraction(-5), upper=Fraction(10**6), source=Source.DECLARED),
        "33": Bounds(lower=Fraction(0), upper=Fraction(32), source=Source.DECLARED),
        "32": Bounds(lower=Fraction(1), upper=Fraction(32), source=Source.DECLARED),
        "ordered": Categories(values=tuple("abcd"), ordered=True, source=Source.DECLARED),
        "listed": Categories(values=tuple("abcde"), ordered=False, source=Source.DECLARED),
    }[kind]
    own = domain.kind if isinstance(domain, Categories) else Kind.WHOLE
    return Handle(Attribute(name=f"A{number}", kind=own, resolution=Fraction(1),
                            resolution_source=Source.TYPE, domain=domain))  # fmt: skip


def planned(kinds, *, n_records=10**9, epsilon="1", delta="0", weights=(), structure="graph",
            target=None, protects_missing=False):  # fmt: skip
    columns = [column(number, kind) for number, kind in enumerate(kinds)]
    choices = Choices(
        k=1, shares={}, n_records=n_records, epsilon=Fraction(epsilon), delta=Fraction(delta),
        budget={f"A{number}": weight for number, weight in enumerate(weights)},
        own={"structure": structure, "target": target, "n_records": None, "rules": ()},
        protects_missing=protects_missing,
    )  # fmt: skip
    return METHODS["dp-synthetic"].plan(columns, choices)


def budget_of(epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    return concentrated_budget(epsilon, delta) if delta else epsilon


KINDS = st.sampled_from(["many", "33", "32", "ordered", "listed"])


@given(
    st.one_of(st.lists(KINDS, min_size=1, max_size=5), st.lists(KINDS, min_size=40, max_size=40)),
    st.sampled_from(["0.01", "1", "3", "1/7", "50"]),
    st.sampled_from(["0", "1e-9", "1e-3"]),
    st.sampled_from(["graph", "tree", "independent"]),
    st.lists(st.sampled_from([0.1, 1, 2, 7.5]), max_size=5),
    st.booleans(),
    st.sampled_from([None, "A0"]),
)
def test_all_that_a_plan_may_ask_is_within_the_budget(
    kinds, epsilon, delta, structure, weights, protects_missing, target
):
    """For pure epsilon and for rho, and next to nothing of it is left over."""
    plan = planned(
        kinds, epsilon=epsilon, delta=delta, structure=structure, weights=weights[: len(kinds)],
        protects_missing=protects_missing, target=None if target is None else (target, None),
    )  # fmt: skip
    is_concentrated = delta != "0"
    budget = budget_of(epsilon, delta)
    cost = spent(plan, is_concentrated=is_concentrated)
    # Scales below 1 have few steps, so that more is lost to rounding where epsilon is large.
    lost = LOST[is_concentrated] * max(1, Fraction(epsilon) / 2)
    assert budget * (1 - lost) <= cost <= budget


@pytest.mark.parametrize("delta", ["0", "1e-9"])
@pytest.mark.parametrize(
    "more", [{}, {"target": ("A1", None)}, {"structure": "tree"}, {"structure": "independent"}]
)
def test_whatever_is_asked_beyond_the_budget_is_noticed(delta, more):
    """A rate a percent too high, noise a percent too small, one table or one count more."""
    kinds = ["many", "many", "listed", "32"]
    plan = planned(kinds, delta=delta, protects_missing=True, **more)
    budget, is_concentrated = budget_of("1", delta), delta != "0"

    def overspends(**fields):
        return spent(replace(plan, **fields), is_concentrated=is_concentrated) > budget

    def with_attribute(number, **fields):
        parts = list(plan.attributes)
        parts[number] = replace(parts[number], **fields)
        return overspends(attributes=tuple(parts))

    def louder(noise):
        return replace(noise, scale=noise.scale * Fraction(99, 100))

    assert not overspends()
    cut, counted = plan.attributes[0], plan.attributes[2]
    for level, rate in enumerate(cut.rates):
        rates = (*cut.rates[:level], rate * Fraction(101, 100), *cut.rates[level + 1 :])
        assert with_attribute(0, rates=rates)
    assert with_attribute(0, rates=(*cut.rates, cut.rates[0]))
    assert with_attribute(0, noise=louder(cut.noise))
    assert with_attribute(2, noise=louder(counted.noise))
    # As many records without a value in one attribute as nobody accounted for.
    bare = replace(plan, attributes=(replace(cut, noise=None), *plan.attributes[1:]))
    left = budget - spent(bare, is_concentrated=is_concentrated)
    assert left > budget / 100
    if plan.tables is None:
        return
    assert overspends(tables=replace(plan.tables, n_tables=plan.tables.n_tables + 1))
    assert overspends(tables=replace(plan.tables, rate=plan.tables.rate * Fraction(101, 100)))
    assert overspends(tables=replace(plan.tables, noise=louder(plan.tables.noise)))


def people(n_records=400):
    random = np.random.Generator(np.random.PCG64(5))
    table = {
        "AGE": random.integers(0, 100, n_records).astype(float),
        "PAY": random.integers(0, 10**5, n_records).astype(float),
        "PLACE": random.choice(list("nsw"), n_records),
        "ROOMS": random.integers(1, 9, n_records).astype(float),
    }
    table["AGE"][3] = table["ROOMS"][7] = np.nan
    return table


ASKED = {
    "method": "dp-synthetic", "attributes": ["AGE", "PAY", "PLACE", "ROOMS"],
    "bounds": {"AGE": (0, 120), "PAY": (0, 10**5), "ROOMS": (1, 12)},
    "resolution": {"AGE": 1, "PAY": 1, "ROOMS": 1}, "categories": {"PLACE": list("nsw")},
    "missing": "protect",
}  # fmt: skip


class Watch:
    """Everything that is asked of the data in a draw, by what it is asked with."""

    def __init__(self, monkeypatch):
        self.weights, self.choices, self.noises = [], [], []
        added, medians, chosen = CountNoise.added, planning.recursive_medians, choosing.draw_run

        def watched_noise(noise, counts, source):
            self.noises.append(noise)
            return added(noise, counts, source)

        def watched_medians(codes, candidates, weights, draw, below):
            self.weights.append([of_level.tolist() for of_level in weights])
            return medians(codes, candidates, weights, draw, below)

        def watched_choice(losses, multiplicities, rate, source):
            self.choices.append(rate)
            return chosen(losses, multiplicities, rate, source)

        monkeypatch.setattr(CountNoise, "added", watched_noise)
        monkeypatch.setattr(planning, "recursive_medians", watched_medians)
        monkeypatch.setattr(choosing, "draw_run", watched_choice)


@pytest.mark.parametrize(
    "more",
    [
        {"epsilon": 20}, {"epsilon": 20, "structure": "tree"}, {"epsilon": 20, "target": "PLACE"},
        {"epsilon": 20, "structure": "independent"}, {"epsilon": 3, "delta": 1e-3},
        {"epsilon": 3, "delta": 1e-3, "target": {"PAY": 30_000}, "budget": {"AGE": 3}},
    ],
    ids=str,
)  # fmt: skip
def test_a_draw_asks_what_its_plan_says_and_no_more(more, monkeypatch):
    """Each noisy table, each choice and each level of medians of a draw, added up as asked."""
    table = people()
    plan = mv.plan(table, **ASKED, **more)
    kind = {"is_concentrated": "delta" in more}
    watch = Watch(monkeypatch)
    plan.synthetic.draw(Counter(plan.prepared.columns), RandomSource.seeded(1))
    cost = sum(cost_of_noise(noise, **kind) for noise in watch.noises)
    cost += sum(cost_of_choice(rate, **kind) for rate in watch.choices)
    due = [part.rates for part in plan.attributes if part.rates]
    weights = [[median_weights(rate, 400).tolist() for rate in rates] for rates in due]
    assert sorted(watch.weights) == sorted(weights)
    cost += sum(cost_of_levels(rates, **kind) for rates in due)
    budget = plan.guarantee.rho if kind["is_concentrated"] else plan.guarantee.epsilon
    assert cost == spent(plan.synthetic, **kind)
    assert cost <= budget
    assert plan.guarantee.scopes.row.exact_epsilon == Fraction(more["epsilon"])


def test_a_counter_is_asked_for_counts_alone():
    """Of the data a draw sees codes, and how many records are in bins that it set."""
    table, asked = people(), set()
    plan = mv.plan(table, **ASKED, epsilon=20)
    inner = Counter(plan.prepared.columns)

    class Watched:
        def __getattr__(self, name):
            asked.add(name)
            return getattr(inner, name)

    plan.synthetic.draw(Watched(), RandomSource.seeded(1))
    assert asked == {"n_candidates", "histogram", "coded", "set_bins", "pairs"}


@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_too_little_budget_is_refused_with_what_would_do(delta):
    """By public figures, however small it is: the epsilon that is named does, and less does not."""
    kinds = ["many", "many", "listed"]

    def refusal(epsilon):
        try:
            planned(kinds, n_records=1000, epsilon=epsilon, delta=delta)
        except RequestError as error:
            return error
        return None

    named = [
        refusal(epsilon).remedy.split("epsilon=")[1].split()[0] for epsilon in ("1e-15", "0.05")
    ]
    assert refusal(named[0]) is refusal(named[1]) is None
    # Rounded up to two digits, and found in steps of a fiftieth.
    assert refusal(str(float(named[1]) * 0.85)) is not None


def test_a_share_is_stated_only_where_it_bounds_an_attribute():
    """Where a table has it too, or the budget is a rho, no part of epsilon is its own."""
    kinds = ["many", "listed", "32"]
    alone = planned(kinds, structure="independent", protects_missing=True)
    shares = [part.share for part in alone.attributes]
    costs = [
        spent(replace(alone, attributes=(part,)), is_concentrated=False)
        for part in alone.attributes
    ]
    # One with cuts is measured twice where its missing values are protected.
    assert shares == [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    assert all(cost <= share for cost, share in zip(costs, shares, strict=True))
    for more in ({}, {"target": ("A1", None)}, {"structure": "independent", "delta": "1e-9"}):
        assert {part.share for part in planned(kinds, **more).attributes} == {None}
