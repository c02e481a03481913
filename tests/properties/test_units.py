"""Units: whatever all records of one are replaced by, the loss stays within the unit's budget.

Over all neighbours of small tables, in exact arithmetic: each value that is drawn by itself by the
law that its plan holds, and of a new table what is counted, chosen and cut.
"""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest

import microveil as mv
from microveil.guarantee.budget import concentrated_budget
from microveil.kernels.synthesis import whole_numbers
from microveil.noise.exponential import median_weights
from microveil.noise.noise import RandomSource
from microveil.protect import columns
from microveil.protect.columns import rows_within
from microveil.protect.exact_audit import accounted_of
from reference import medians as plain

H, EPSILON, DELTA = 2, Fraction(3, 2), Fraction(1, 10**6)
# Whose the four records of a table are: the first two are one household's.
OWNERS = np.array([7, 7, 3, 5])
FIRST = OWNERS == 7
ASKED = {"epsilon": EPSILON, "unit": "HOUSEHOLD", "max_rows": H}
VALUES = (0, 1, 2)


def planned(a, b, method, **asked):
    """The plan of a table of two attributes, from the arguments that a user gives."""
    table = {"HOUSEHOLD": OWNERS, "A": np.array(a), "B": np.array(b)}
    asked = {"bounds": {"A": (0, 2), "B": (0, 2)}, **ASKED, **asked}
    return mv.plan(table, method=method, attributes=["A", "B"], **asked)


def of_unit():
    """All tables of one attribute that differ in records of the first household alone."""
    for values in itertools.product(VALUES, repeat=len(OWNERS)):
        for others in itertools.product(VALUES, repeat=int(FIRST.sum())):
            yield np.array(values), np.array([*others, *values[2:]])


def exponential(exponent):
    """Return e to the power of a fraction, to fifty digits."""
    with localcontext() as context:
        context.prec = 50
        return Fraction((Decimal(exponent.numerator) / Decimal(exponent.denominator)).exp())


# Records that are drawn by themselves.


def laplace_loss(plan, index):
    """The most that any neighbour costs of an attribute: its values move by whole grid units."""
    part = plan.attributes[index]
    scales = [Fraction(int(scale), 1 << part.grid.bits) for scale in part.scales]
    return max(
        sum(Fraction(int(abs(x - y))) / t for x, y, t in zip(one, other, scales, strict=True))
        for one, other in of_unit()
    )


@pytest.mark.parametrize("shuffle", [None, "rows", "columns"])
def test_laplace_noise_spends_the_epsilon_of_a_unit_and_no_more(shuffle):
    """All values of a household anywhere in the domain: the losses of both attributes add up."""
    plan = planned([0, 1, 2, 2], [1, 1, 0, 2], "laplace", shuffle=shuffle or False)
    spent = sum(laplace_loss(plan, index) for index in range(2))
    assert EPSILON * Fraction(999, 1000) < spent <= EPSILON
    assert plan.guarantee.epsilon == plan.guarantee.scopes.row.exact_epsilon == EPSILON
    # Whatever the table is, the noise is the same.
    other = planned([2, 2, 0, 1], [0, 2, 1, 1], "laplace")
    for one, two in zip(plan.attributes, other.attributes, strict=True):
        assert one.grid == two.grid
        assert (one.scales == two.scales).all()


def pram_factor(part):
    """By how much an outcome of a household's values can be likelier of one table than another."""
    weights = part.weights.tolist()
    chances = [[Fraction(weight, sum(row)) for weight in row] for row in weights]
    of_cell = {
        (x, y): max(chances[x][seen] / chances[y][seen] for seen in VALUES)
        for x, y in itertools.product(VALUES, repeat=2)
    }
    return max(
        math.prod(of_cell[int(x), int(y)] for x, y in zip(one, other, strict=True))
        for one, other in of_unit()
    )


def test_a_transition_matrix_spends_the_epsilon_of_a_unit_and_no_more():
    """The values of a household are drawn one by one: their factors multiply."""
    plan = planned([0, 1, 2, 2], [1, 1, 0, 2], "pram")
    factor = math.prod(pram_factor(part) for part in plan.attributes)
    assert exponential(EPSILON * Fraction(999, 1000)) < factor <= exponential(EPSILON)


def test_a_matrix_of_the_users_own_spends_so_many_times_what_it_spends_of_a_record():
    """The guarantee says what a household's values spend, whatever epsilon was asked for."""
    matrix = [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    plan = planned([0, 1, 2, 2], [1, 1, 0, 2], "pram", matrix={"A": matrix, "B": matrix})
    factor = math.prod(pram_factor(part) for part in plan.attributes)
    promised = plan.guarantee.epsilon
    assert exponential(promised * Fraction(999, 1000)) < factor <= exponential(promised)
    assert round(float(promised), 6) == round(2 * H * math.log(8), 6)


# What a new table asks of the data.


def counts_of(a, b):
    """The two histograms and the table of both attributes of a table, in one row each."""
    joint = np.zeros((len(VALUES), len(VALUES)), dtype=np.int64)
    np.add.at(joint, (a, b), 1)
    return joint.sum(axis=1), joint.sum(axis=0), joint


@pytest.fixture(scope="module")
def count_changes():
    """How counts move where a household is replaced: all values of both attributes."""
    cells = list(itertools.product(VALUES, repeat=2))
    found = set()
    for before in itertools.product(cells, repeat=H):
        for after in itertools.product(cells, repeat=H):
            moved = [
                new - old
                for old, new in zip(
                    counts_of(*np.transpose(before)), counts_of(*np.transpose(after)), strict=True
                )
            ]
            found.add(tuple((int(abs(m).sum()), int((m**2).sum())) for m in moved))
    return found


def loss_of_counts(noise, moved):
    """What a change of a table of counts costs, of epsilon or of rho."""
    by, squares = moved
    if noise.is_gaussian:
        return Fraction(squares) / (2 * noise.scale)
    return Fraction(by * (1 << noise.bits)) / noise.scale


def synthetic(**asked):
    """A plan of a new table of a hundred households of two, by exact budgets."""
    n_households = 100
    numbers = np.arange(H * n_households)
    table = {"HOUSEHOLD": numbers // H, "A": numbers % 3, "B": numbers % 2}
    asked = {"bounds": {"A": (0, 2), "B": (0, 2)}, "outside": "clamp", **ASKED, **asked}
    return mv.plan(table, method="dp-synthetic", attributes=["A", "B"], **asked)


@pytest.mark.parametrize("delta", [Fraction(0), DELTA])
@pytest.mark.parametrize("structure", ["independent", "tree", "graph"])
def test_counts_and_choices_spend_the_budget_of_a_unit_and_no_more(delta, structure, count_changes):
    """Over all households: epsilons add up, or rhos, which go by the square of the change."""
    plan = synthetic(delta=delta, structure=structure)
    new = plan.synthetic
    budget = concentrated_budget(EPSILON, delta) if delta else EPSILON
    spent = max(
        sum(loss_of_counts(p.noise, m) for p, m in zip(new.attributes, moved[:2], strict=True))
        + (new.tables.n_tables * loss_of_counts(new.tables.noise, moved[2]) if new.tables else 0)
        for moved in count_changes
    )
    if new.tables:
        # The score moves by 2 with each record: the exponent by a half of the rate each way.
        reach = H * new.tables.rate
        spent += new.tables.n_tables * (reach**2 / 8 if delta else reach)
    assert budget * Fraction(999, 1000) < spent <= budget
    assert plan.guarantee.rho == (budget if delta else None)
    assert plan.guarantee.scopes.row.exact_delta == delta
    # What an audit adds up is what was enumerated.
    assert accounted_of(plan).total == pytest.approx(spent, rel=1e-12)
    assert accounted_of(plan).total <= budget


@pytest.mark.parametrize("delta", [Fraction(0), DELTA])
def test_cuts_spend_the_budget_of_a_unit_and_no_more(delta):
    """All tables of four records on five codes, two of them replaced: levels and nodes together."""
    numbers = np.arange(400)
    table = {"HOUSEHOLD": numbers // H, "A": numbers % 100}
    asked = {**ASKED, "delta": delta, "epsilon": 12}
    plan = mv.plan(
        table, method="dp-synthetic", attributes="A", bounds={"A": (0, 99)}, **asked
    ).synthetic
    (part,) = plan.attributes
    rates = part.rates[:2]
    budget = concentrated_budget(Fraction(12), delta) if delta else Fraction(12)
    # Of the counts of single values two change by as many records as a household has.
    of_atoms = H * (H if delta else 2 << part.noise.bits) / part.noise.scale
    assert budget * Fraction(999, 1000) < of_atoms + _cost(part.rates, delta) <= budget
    weights = [_weight_of(whole_numbers(median_weights(rate, 4))) for rate in rates]
    codes = list(itertools.combinations_with_replacement(range(5), 4))
    laws = {one: plain.law(one, 4, weights) for one in codes}
    dearest = {
        n: max(
            laws[one][seen] / laws[other][seen]
            for one, other in itertools.permutations(codes, 2)
            if _differ(one, other) <= n
            for seen in laws[one]
        )
        for n in (1, H)
    }
    of_record = sum(2 * rate for rate in rates)
    assert dearest[1] < dearest[H] <= exponential(H * of_record)
    # Five codes leave little room, and much of a record's budget is seen all the same.
    assert exponential(of_record * Fraction(2, 5)) < dearest[1] <= exponential(of_record)


def _cost(rates, delta):
    """What levels cost a household: 2 rate of epsilon a record, or rate**2 / 2 of rho, squared."""
    return sum((H * rate) ** 2 / 2 if delta else H * 2 * rate for rate in rates)


def _weight_of(found):
    return lambda twice: found[min(twice, len(found) - 1)]


def _differ(one, other):
    left = list(other)
    for code in one:
        if code in left:
            left.remove(code)
    return len(left)


# Records beyond those that a unit may have.


def test_which_records_stay_hangs_on_no_value(monkeypatch):
    """Tables that differ in a household's values lose the same records, for the same words."""
    source = RandomSource.seeded
    monkeypatch.setattr(columns, "rows_within", lambda rows, n, _: rows_within(rows, n, source(5)))
    owners = np.array([4, 9, 4, 4, 9, 9, 9, 1])
    asked = {"method": "laplace", "attributes": "A", "bounds": {"A": (0, 900)}, "outside": "clamp"}
    kept = []
    for values in (np.arange(8), np.arange(8)[::-1], np.array([0, 1, 800, 3, 4, 5, 6, 900])):
        table = {"HOUSEHOLD": owners, "A": values, "ROW": np.arange(8)}
        plan = mv.plan(table, **asked, **ASKED, keep=["ROW"])
        kept.append(plan.table.numbers("ROW").values.tolist())
        assert plan.units.n_dropped == 3
        assert (values[kept[0]] == plan.attributes[0].sums).all()
    assert kept[0] == kept[1] == kept[2]


def test_every_record_of_a_unit_is_as_likely_to_stay():
    """Each pair of a household's four, by many draws; smaller households lose none."""
    owners = np.array([0, 1, 0, 0, 1, 0, 2])
    draws = [tuple(rows_within(owners, 2, RandomSource.seeded(s)).tolist()) for s in range(3000)]
    for rows in draws:
        assert list(rows) == sorted(rows)
        assert {1, 4, 6} < set(rows)
        assert len(rows) == 5
    pairs = [tuple(set(rows) & {0, 2, 3, 5}) for rows in draws]
    found = [sum(set(pair) == set(due) for pair in pairs)
             for due in itertools.combinations([0, 2, 3, 5], 2)]  # fmt: skip
    assert sum(found) == len(draws)
    # Six pairs, 500 draws each: five standard deviations are 102.
    assert max(abs(count - 500) for count in found) < 102


@pytest.mark.parametrize("seed", [None, 1])
def test_units_are_drawn_by_a_stream_of_their_own(seed):
    """By the operating system's randomness, or by a seed's that draws no noise."""
    owners = np.repeat([1, 2], 30)
    table = {"HOUSEHOLD": owners, "A": np.arange(60)}
    asked = {**ASKED, "method": "laplace", "attributes": "A", "bounds": {"A": (0, 60)}}
    rows = {
        tuple(mv.plan(table, **asked, outside="clamp", seed=seed).attributes[0].sums.tolist())
        for _ in range(4)
    }
    assert (len(rows) == 1) == (seed is not None)
    if seed is not None:
        by_noise = rows_within(owners - 1, H, RandomSource.seeded(seed))
        assert tuple(by_noise.tolist()) not in rows


# Attributes that are one value a unit.


def test_what_is_one_value_a_unit_costs_one_draw_of_it():
    """By the whole share: a household's first values anywhere, and all those of the other one."""
    plan = planned([0, 1, 2, 2], [1, 1, 0, 2], "laplace", unit_attributes=["A"])
    part = plan.attributes[0]
    scales = [Fraction(int(scale), 1 << part.grid.bits) for scale in part.scales]
    once = max(Fraction(int(abs(one[0] - other[0]))) / scales[0] for one, other in of_unit())
    spent = once + laplace_loss(plan, 1)
    assert EPSILON * Fraction(999, 1000) < spent <= EPSILON
    assert part.share == H * plan.attributes[1].share == EPSILON / 2
    assert plan.guarantee.epsilon == plan.guarantee.scopes.row.exact_epsilon == EPSILON


def law_of_release(a, b):
    """The chance of every release of a household of two and one of one, A copied in each."""
    table = {"HOUSEHOLD": np.array([7, 7, 3]), "A": np.array(a), "B": np.array(b)}
    asked = {"bounds": {"A": (0, 2), "B": (0, 2)}, "unit_attributes": ["A"], **ASKED}
    plan = mv.plan(table, method="pram", attributes=["A", "B"], **asked)
    (one, other) = (part.weights.tolist() for part in plan.attributes)
    rows = [one[a[0]], one[a[2]], *(other[value] for value in b)]
    return {
        seen: math.prod(Fraction(row[x], sum(row)) for row, x in zip(rows, seen, strict=True))
        for seen in itertools.product(VALUES, repeat=5)
    }


def test_no_release_tells_more_of_a_unit_than_its_epsilon():
    """Every release of neighbours, its copies among it, in exact arithmetic."""
    base = law_of_release([0, 0, 2], [1, 0, 2])
    assert sum(base.values()) == 1
    most = Fraction(1)
    for a, first, second in itertools.product(VALUES, repeat=3):
        # Members that differ, against the declaration: the first stands for all of them.
        other = law_of_release([a, 2 - a, 2], [first, second, 2])
        most = max(most, *(max(base[o] / other[o], other[o] / base[o]) for o in base))
    assert exponential(EPSILON * Fraction(999, 1000)) < most <= exponential(EPSILON)
