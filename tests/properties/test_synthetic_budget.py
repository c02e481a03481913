"""All that a plan of dp-synthetic can ask of the data, added up in exact fractions.

What a question costs is said here once more, by what it is asked with: the rates and scales that
stand in the plan. How the method splits its budget is none of this module's business.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st

import microveil as mv
from microveil.errors import RequestError
from microveil.guarantee.budget import concentrated_budget
from microveil.methods import METHODS, Choices
from microveil.noise.counts import CountNoise
from microveil.noise.exponential import median_weights
from microveil.noise.noise import RandomSource
from microveil.protect.exact_audit import accounted_of
from microveil.schema import FINEST, Attribute, Bounds, Categories, Kind, Source
from microveil.synthesis import choosing
from microveil.synthesis import one_way_plan as asking
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

    def own(part):
        if part.kinds is not None:  # and then as one kind
            of_kind = max(own(one) for one in (replace(part, kinds=None, others=()), *part.others))
            return cost_of_noise(part.kinds, **kind) + of_kind
        ways = [cost_of_levels(depth.rates, **kind) for depth in part.depths]
        ways += [] if part.cells is None else [cost_of_noise(part.cells, **kind)]
        noises = [noise for noise in (part.noise, part.decimals) if noise is not None]
        return max(ways, default=0) + sum(cost_of_noise(noise, **kind) for noise in noises)

    total += sum(map(own, plan.attributes))
    if plan.tables is not None:
        each = cost_of_choice(plan.tables.rate, **kind) + cost_of_noise(plan.tables.noise, **kind)
        total += plan.tables.n_tables * each
    return total


@dataclass(frozen=True)
class Handle:
    """A column as methods see it: there are no values behind it."""

    attribute: Attribute
    n_present: int = 0


UNDECLARED = {"whole": Kind.WHOLE, "decimal": Kind.DECIMAL, "date": Kind.DATE, "text": Kind.OTHER,
              "untyped": Kind.OTHER}  # fmt: skip


def column(number, kind):
    """A column of some domain: numbers with many or few values, categories in an order or none."""
    domain = {
        "many": Bounds(lower=Fraction(-5), upper=Fraction(10**6), source=Source.DECLARED),
        "33": Bounds(lower=Fraction(0), upper=Fraction(32), source=Source.DECLARED),
        "32": Bounds(lower=Fraction(1), upper=Fraction(32), source=Source.DECLARED),
        "ordered": Categories(values=tuple("abcd"), ordered=True, source=Source.DECLARED),
        "listed": Categories(values=tuple("abcde"), ordered=False, source=Source.DECLARED),
    }.get(kind)
    own = domain.kind if isinstance(domain, Categories) else UNDECLARED.get(kind, Kind.WHOLE)
    step, of_kind = (FINEST, Source.LEARNT), Source.LEARNT if kind == "untyped" else Source.TYPE
    resolution, source = step if own is Kind.DECIMAL else (Fraction(1), Source.TYPE)
    return Handle(Attribute(name=f"A{number}", kind=own, resolution=resolution,
                            resolution_source=source, domain=domain,
                            is_learnt=domain is None, kind_source=of_kind))  # fmt: skip


def planned(kinds, *, n_records=10**9, epsilon="1", delta="0", weights=(), structure="graph",
            target=None, protects_missing=False, max_rows=1):  # fmt: skip
    columns = [column(number, kind) for number, kind in enumerate(kinds)]
    choices = Choices(
        k=1, shares={}, n_records=n_records, epsilon=Fraction(epsilon), delta=Fraction(delta),
        budget={f"A{number}": weight for number, weight in enumerate(weights)},
        own={"structure": structure, "target": target, "n_records": None, "rules": ()},
        protects_missing=protects_missing, max_rows=max_rows,
    )  # fmt: skip
    return METHODS["dp-synthetic"].plan(columns, choices)


def budget_of(epsilon, delta):
    epsilon, delta = Fraction(epsilon), Fraction(delta)
    return concentrated_budget(epsilon, delta) if delta else epsilon


DECLARED = ["many", "33", "32", "ordered", "listed"]
# What chance may leave out: one plan of each way that the parts of a budget go.
PLAIN = {
    "kinds": ["33", "listed", "32"], "epsilon": "1", "delta": "1e-9", "structure": "graph",
    "weights": [], "protects_missing": False, "target": None, "max_rows": 1,
}  # fmt: skip
KINDS = st.sampled_from([*DECLARED, *UNDECLARED])


@given(
    st.one_of(
        st.lists(st.sampled_from(DECLARED), min_size=1, max_size=5),
        st.lists(KINDS, min_size=1, max_size=5),
        st.lists(KINDS, min_size=40, max_size=40),
    ),
    st.sampled_from(["0.01", "1", "3", "1/7", "50"]),
    st.sampled_from(["0", "1e-9", "1e-3"]),
    st.sampled_from(["graph", "tree", "independent"]),
    st.lists(st.sampled_from([0.1, 1, 2, 7.5]), max_size=5),
    st.booleans(),
    st.sampled_from([None, "A0"]),
    st.sampled_from([1, 1, 3]),
)
@example(**PLAIN)
@example(**{**PLAIN, "delta": "0", "structure": "tree"})
@example(**{**PLAIN, "target": "A0"})
@example(**{**PLAIN, "kinds": [*UNDECLARED], "protects_missing": True, "max_rows": 3})
def test_all_that_a_plan_may_ask_is_within_the_budget(
    kinds, epsilon, delta, structure, weights, protects_missing, target, max_rows
):
    """For pure epsilon and for rho, and next to nothing of it is left over.

    Of a delta a tenth is shared by what is learnt, and the rest converted: not a bit is left.
    """
    learnt = sum(kind in UNDECLARED for kind in kinds)
    assume(not learnt or (delta != "0" and (target is None or kinds[0] not in UNDECLARED)))
    try:
        plan = planned(
            kinds, epsilon=epsilon, delta=delta, structure=structure, weights=weights[: len(kinds)],
            protects_missing=protects_missing, target=None if target is None else (target, None),
            max_rows=max_rows,
        )  # fmt: skip
    except RequestError:  # a budget too small for so many columns: nothing is asked
        reject()
    is_concentrated = delta != "0"
    shown = Fraction(delta) / 10 if learnt else 0
    deltas = [
        part.learning.delta
        for part, kind in zip(plan.attributes, kinds, strict=True)
        if part.learning is not None and kind in UNDECLARED
    ]
    of_kinds = (one.learning for part in plan.attributes for one in part.others)
    assert {own.delta for own in of_kinds if own is not None} <= {shown / max(learnt, 1)}
    assert set(deltas) <= {shown / max(learnt, 1)}
    assert len(deltas) <= learnt  # fewer where no value could reach its threshold
    budget = budget_of(epsilon, Fraction(delta) - shown)
    # Group privacy: so many records, each of which costs as much or as the square has it.
    cost = spent(plan, is_concentrated=is_concentrated) * max_rows ** (1 + is_concentrated)
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
    assert len(cut.depths) == 6
    # Whichever depth is taken, or cells.
    for place, depth in enumerate(cut.depths):
        for level, rate in enumerate(depth.rates):
            rates = list(depth.rates)
            rates[level] = rate * Fraction(101, 100)
            for dearer in (tuple(rates), (*depth.rates, depth.rates[0])):
                others = list(cut.depths)
                others[place] = replace(depth, rates=dearer)
                assert with_attribute(0, depths=tuple(others))
    assert with_attribute(0, cells=louder(cut.cells))
    assert with_attribute(0, noise=louder(cut.noise))
    assert with_attribute(0, decimals=cut.noise)
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
        added, passing = CountNoise.added, asking.passing
        medians, chosen = asking.recursive_medians, choosing.draw_run

        def watched_noise(noise, counts, source):
            self.noises.append(noise)
            return added(noise, counts, source)

        def watched_passing(noise, least, source):
            self.noises.append(noise)
            return passing(noise, least, source)

        def watched_medians(codes, candidates, weights, *more):
            self.weights.append([of_level.tolist() for of_level in weights])
            return medians(codes, candidates, weights, *more)

        def watched_choice(losses, multiplicities, rate, source):
            self.choices.append(rate)
            return chosen(losses, multiplicities, rate, source)

        monkeypatch.setattr(CountNoise, "added", watched_noise)
        monkeypatch.setattr(asking, "passing", watched_passing)
        monkeypatch.setattr(asking, "recursive_medians", watched_medians)
        monkeypatch.setattr(choosing, "draw_run", watched_choice)

    def cost(self, plan, n_records, **kind):
        """What was asked: of one column each noise is on one table, which is looked at in parts.

        Whatever noise no column has is on a table of its own.
        """
        planned = {depth.rates for part in plan.attributes for depth in part.depths}
        by_weights = {
            str([median_weights(rate, n_records).tolist() for rate in rates]): rates
            for rates in planned
        }
        # What is cut with other weights than the plan has is an error.
        rates = [by_weights[str(weights)] for weights in self.weights]
        known = {
            id(noise)
            for part in plan.attributes
            for noise in (part.noise, part.cells, part.decimals)
        }
        of_tables = [noise for noise in self.noises if id(noise) not in known]
        assert len(of_tables) <= (0 if plan.tables is None else plan.tables.n_tables)
        own = {id(noise): noise for noise in self.noises if id(noise) in known}
        noises = [*own.values(), *of_tables]
        cost = sum(cost_of_noise(noise, **kind) for noise in noises)
        cost += sum(cost_of_choice(rate, **kind) for rate in self.choices)
        return cost + sum(cost_of_levels(depth, **kind) for depth in rates)


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
    plan = mv.plan(people(), **ASKED, **more)
    kind = {"is_concentrated": "delta" in more}
    watch = Watch(monkeypatch)
    plan.synthetic.draw(Counter(plan.prepared.columns), RandomSource.seeded(1))
    budget = plan.guarantee.rho if kind["is_concentrated"] else plan.guarantee.epsilon
    accounted = accounted_of(plan).total
    cost = watch.cost(plan.synthetic, 400, **kind)
    assert cost <= accounted == spent(plan.synthetic, **kind) <= budget
    # Depths round their rates down to 64 bits each in a way of its own.
    assert cost >= accounted * (1 - LOST[kind["is_concentrated"]])
    assert plan.guarantee.scopes.row.exact_epsilon == Fraction(more["epsilon"])


def test_whatever_way_a_draw_with_learning_takes_it_asks_within_the_budget(monkeypatch):
    """Depths of cuts, and cells, by how many records are 0; with decimals, dates and texts."""
    ways, random = set(), np.random.Generator(np.random.PCG64(6))
    watch = Watch(monkeypatch)
    for number, share_of_0 in enumerate((0, 0.6, 0.9, 0.97, 1)):
        pay = np.where(random.random(4000) < share_of_0, 0, random.lognormal(9, 1, 4000).round(2))
        days = np.arange("1930", "2020", dtype="datetime64[D]")
        table = pl.DataFrame(
            {
                "PAY": pay,
                "PLACE": random.choice(list("nsbc"), 4000, p=[0.6, 0.399, 0.0005, 0.0005]),
                "BORN": random.choice(days, 4000),
            }
        )
        plan = mv.plan(table, method="dp-synthetic", attributes=table.columns, missing="protect",
                       domains="learn", epsilon=3, delta=1e-6)  # fmt: skip
        watch.noises, watch.choices, watch.weights = [], [], []
        measured, _ = plan.synthetic.draw(
            Counter([*plan.prepared.columns]), RandomSource.seeded(number)
        )
        pay, place, _ = measured.attributes
        ways.add("cells" if pay.cuts is None else pay.cuts.depth)
        assert place.attribute.categories.values[:2] == ("n", "s")
        assert {*place.attribute.categories.values[2:]} <= {"other"}
        cost = watch.cost(plan.synthetic, 4000, is_concentrated=True)
        of_all = concentrated_budget(Fraction(3), Fraction(9, 10**7))
        accounted = accounted_of(plan)
        assert cost <= accounted.total == spent(plan.synthetic, is_concentrated=True) <= of_all
        assert (accounted.promised, accounted.delta) == (3, Fraction(1, 10**6))
        shown = sum(part.learning.delta for part in plan.synthetic.attributes)
        assert shown == Fraction(1, 10**7)
        assert accounted.learnt == shown
        assert accounted.epsilon(accounted.total) <= 3 * Fraction(100_001, 100_000)  # rounded up
        assert accounted.epsilon(accounted.total) > Fraction(2999, 1000)
    assert len(ways) >= 3
    assert "cells" in ways


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
    assert asked == {"n_candidates", "histogram", "values", "coded", "set_bins", "pairs"}


@pytest.mark.parametrize("delta", ["0", "1e-9"])
def test_there_are_as_many_tables_as_leave_each_enough_cells(delta):
    """From one and a half to two and a half an attribute; so many that 49 cells stand out."""
    kinds, found = ["listed"] * 20, {}
    for n_records in range(5_000, 80_000, 1000):
        tables = planned(kinds, n_records=n_records, epsilon="1", delta=delta).tables
        found[tables.n_tables] = 0.4 * n_records / tables.noise.variance**0.5
    assert (min(found), max(found)) == (30, 50)
    between = [cells for number, cells in found.items() if 30 < number < 50]
    assert between
    assert all(49 * (1 - 1e-9) <= cells < 51 for cells in between)
    # And no more than there are pairs.
    assert planned(kinds[:3], delta=delta).tables.n_tables == 3
    assert planned(kinds, delta=delta, structure="tree").tables.n_tables == 19


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


SIZES = {"many": 32, "33": 32, "32": 32, "ordered": 4, "listed": 5} | dict.fromkeys(UNDECLARED, 32)


@given(st.lists(KINDS, min_size=2, max_size=6))
def test_shares_grow_with_public_sizes_alone(kinds):
    """By the length of a declared list or grid to the power of 2/3; what is learnt counts as 32."""
    plan = planned(kinds, structure="independent", delta="1e-9")
    spent_by = [
        spent(replace(plan, attributes=(part,)), is_concentrated=True) for part in plan.attributes
    ]
    weights = [SIZES[kind] ** (2 / 3) for kind in kinds]
    shares = [float(own / sum(spent_by)) for own in spent_by]
    assert shares == pytest.approx([own / sum(weights) for own in weights], rel=1e-3)


def test_weights_that_are_asked_for_count_alone():
    """Sizes decide nothing then: who is given no weight has 1."""
    plan = planned(["many", "listed", "ordered"], structure="independent", weights=[2, 1, 1])
    assert [part.share for part in plan.attributes] == [Fraction(1, 2), *[Fraction(1, 4)] * 2]


def test_a_share_is_stated_only_where_it_bounds_an_attribute():
    """Where a table has it too, or the budget is a rho, no part of epsilon is its own."""
    kinds = ["many", "listed", "32"]
    alone = planned(kinds, structure="independent", protects_missing=True)
    shares = [part.share for part in alone.attributes]
    costs = [
        spent(replace(alone, attributes=(part,)), is_concentrated=False)
        for part in alone.attributes
    ]
    assert sum(shares) == 1
    assert all(cost <= share for cost, share in zip(costs, shares, strict=True))
    for more in ({}, {"target": ("A1", None)}, {"structure": "independent", "delta": "1e-9"}):
        assert {part.share for part in planned(kinds, **more).attributes} == {None}
