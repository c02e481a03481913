"""What is asked of the data beside medians: noisy tables and choices, over all neighbours.

Tables are small enough to enumerate: a record is a cell of the joint table of all attributes, and
may be replaced by any other. Codes of numbers with cuts stand for themselves: for a given jitter
they are functions of a record's value.
"""

import itertools
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microveil.errors import RequestError
from microveil.noise import counts as counting
from microveil.noise.counts import gaussian_noise, laplace_noise
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Bounds, Categories, Kind, Source
from microveil.synthesis import choosing, one_way_plan
from microveil.synthesis.choosing import TablesPlan
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.fitting import Fitting
from microveil.synthesis.measurements import (
    AttributeMeasured,
    Measurements,
    NoisyCounts,
)
from microveil.synthesis.measuring import Counter, JitteredCodes
from microveil.synthesis.one_way_plan import Depth, OneWayPlan
from microveil.synthesis.tables import axes_of
from microveil.table import GridColumn
from reference import exponential as plain

MISSING = None
shares = st.fractions(Fraction(1, 10**9), 50, max_denominator=10**9).filter(bool)


def attribute(name, domain, kind=Kind.WHOLE):
    return Attribute(name=name, kind=kind, resolution=Fraction(1), resolution_source=Source.TYPE,
                     domain=domain)  # fmt: skip


def bounds(upper):
    return Bounds(lower=Fraction(0), upper=Fraction(upper), source=Source.DECLARED)


def listed(*values):
    return Categories(values=values, ordered=False, source=Source.DECLARED)


FEW = attribute("FEW", bounds(2))
PLACE = attribute("PLACE", listed("n", "s"), Kind.NOMINAL)
MANY = attribute("MANY", bounds(99))
NUMBERS = Candidates(lower=0, upper=99, count=1 << 20)
# Codes of the three values that MANY takes here, and cuts that part them.
CODES = {0: 100, 40: 500_000, 90: 900_000}
EDGES = [250_000, 700_000]
LITTLE = gaussian_noise(Fraction(4))


def column_of(what, cells):
    """A column of a table in memory, MISSING where there is no value."""
    absent = np.array([cell is MISSING for cell in cells])
    values = np.array([cell for cell in cells if cell is not MISSING], dtype=np.int64)
    return GridColumn(attribute=what, values=values, missing=absent if absent.any() else None)


def codes_of(cells):
    codes = np.array([CODES[cell] for cell in cells if cell is not MISSING], dtype=np.int64)
    return JitteredCodes(codes, np.sort(codes))


@dataclass(frozen=True)
class Still:
    """Noise that is none, so that what is measured can be seen."""

    bits: int = 0
    variance: float = 1.0
    is_gaussian: bool = False

    def added(self, counts, source):
        del source
        return counts.copy()


def measured_alone(what, cells, *, has_missing=True):
    """What a plan measures of one attribute, before noise."""
    counter, source = Counter([column_of(what, cells)], NUMBERS.count), RandomSource.seeded(1)
    depths = (Depth((Fraction(1),), Fraction(0)),) if what is MANY else ()
    plan = OneWayPlan(attribute=what, n_records=len(cells), share=None, noise=Still(),
                      has_missing=has_missing, depths=depths)  # fmt: skip
    return plan.measured(counter, 0, source)[0].counts.steps


def measurements(*, has_missing):
    """Measurements of the three attributes that are as good as any: they are public."""

    def noisy(*counts):
        return NoisyCounts(steps=np.array(counts), noise=LITTLE)

    cuts = Cuts(candidates=NUMBERS, depth=2, numbers=np.array([1, 3]), codes=np.array(EDGES))
    more = (2,) if has_missing else ()
    return (
        AttributeMeasured(attribute=FEW, counts=noisy(5, 8, 4, *more), has_missing=has_missing),
        AttributeMeasured(attribute=PLACE, counts=noisy(9, 7, *more), has_missing=has_missing),
        AttributeMeasured(attribute=MANY, cuts=cuts, rates=(1.0, 1.0), has_missing=has_missing,
                          counts=noisy(13, 3) if has_missing else None,
                          candidates=NUMBERS, n_records=16),
    )  # fmt: skip


def axes_of_all(attributes):
    """The bins that they have in tables."""
    return axes_of(Measurements(n_records=1, attributes=attributes, tables={}, parts=4))


def binned(records, axes):
    """A counter of a table's records in bins."""
    few, place, many = zip(*records, strict=True)
    counter = Counter([column_of(FEW, few), column_of(PLACE, place), column_of(MANY, many)])
    for number, codes in enumerate((None, None, codes_of(many))):
        counter.set_bins(number, axes[number], codes)
    return counter


def neighbours(every, n_records):
    """All pairs of tables that differ in one record, each once."""
    for rest in itertools.combinations_with_replacement(every, n_records - 1):
        for one, other in itertools.combinations(every, 2):
            yield tuple(sorted((*rest, one), key=str)), tuple(sorted((*rest, other), key=str))


def changes(every, n_records, measured):
    """How far what is measured moves at most: the sum of distances, and that of their squares."""
    known = {}

    def of(table):
        if table not in known:
            known[table] = measured(table)
        return known[table]

    moved = [of(one) - of(other) for one, other in neighbours(every, n_records)]
    return max(int(np.abs(by).sum()) for by in moved), max(int((by**2).sum()) for by in moved)


VALUES = {FEW: (0, 1, 2, MISSING), PLACE: (0, 1, MISSING), MANY: (0, 40, 90, MISSING)}


@pytest.mark.parametrize("what", [FEW, PLACE, MANY], ids=lambda one: one.name)
def test_one_record_changes_two_counts_of_an_attribute(what, monkeypatch):
    """Of a histogram, and of the records with and without a value: by 1 each, never by more."""
    # Also where the missing ones do not stand out, and are not shown.
    monkeypatch.setattr(one_way_plan, "_is_clear", lambda *_sum: True)
    found = changes(VALUES[what], 3, lambda cells: measured_alone(what, cells))
    assert found == (2, 2)


@pytest.mark.parametrize(
    "scope", [(0, 1), (0, 2), (1, 2), (0, 1, 2), (2, 0, 1)], ids=lambda scope: str(len(scope))
)
def test_one_record_changes_two_cells_of_a_table(scope):
    """Of pairs and of triples, whichever attributes of it are replaced, missing values too."""
    axes = axes_of_all(measurements(has_missing=True))
    # Every second or third record: what others there are tells nothing new of two.
    every = list(itertools.product(*VALUES.values()))[:: len(scope)]

    def measured(records):
        (table,) = binned(records, axes).pairs([scope])
        return table

    assert changes(every, 2, measured) == (2, 2)


@given(shares)
def test_laplace_noise_spends_its_share_and_no_more(share):
    """Two counts move by 2**bits steps each, which costs 2 x 2**bits / scale.

    The scale is the least whole number that is enough: up to a share of 2 a millionth is lost.
    """
    noise = laplace_noise(share)
    spent = Fraction(2 << noise.bits) / noise.scale
    assert noise.scale.denominator == 1
    assert spent <= share
    assert noise.scale == 1 or Fraction(2 << noise.bits) / (noise.scale - 1) > share
    assert spent >= share * (1 - Fraction(1, 10**6)) or share > 2


@given(shares)
def test_gaussian_noise_spends_its_share_exactly(share):
    """Squares of two counts over twice the variance, in whole records."""
    noise = gaussian_noise(share)
    assert Fraction(1 + 1) / (2 * noise.scale) == share
    assert noise.bits == 0


@pytest.mark.parametrize("noise", [laplace_noise(Fraction(3, 7)), gaussian_noise(Fraction(3, 7))])
def test_every_count_gets_noise_of_its_own_from_the_exact_sampler(noise, monkeypatch):
    """One draw a count, of the plan's scale, on top of the counts in steps."""
    asked = []

    def laplace(scales, source):
        del source
        asked.append(set(scales.tolist()))
        return np.arange(len(scales))

    def gaussian(variance, count, source):
        del source
        asked.append({variance})
        return np.arange(count)

    monkeypatch.setattr(counting, "discrete_laplace", laplace)
    monkeypatch.setattr(counting, "discrete_gaussian", gaussian)
    counts = np.array([[3, 0, 7], [1, 1, 2]])
    found = noise.added(counts, RandomSource.seeded(1))
    assert asked == [{noise.scale}]
    assert (found - (counts << noise.bits)).tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("farthest", [1 << 62, -(1 << 62)])
def test_a_draw_beyond_what_64_bits_hold_does_not_show_the_count(farthest, monkeypatch):
    """All draws beyond 2**62 appear as 2**62: their sums with two counts must be the same."""
    noise = laplace_noise(Fraction(1, 1 << 59))
    assert noise.scale == 1 << 60
    monkeypatch.setattr(
        counting, "discrete_laplace", lambda scales, _source: np.full(len(scales), farthest)
    )
    source = RandomSource.seeded(1)
    found = {int(noise.added(np.array([count]), source)[0]) for count in (0, 1, 10**12)}
    assert len(found) == 1


@pytest.mark.parametrize("make", [laplace_noise, gaussian_noise])
def test_noise_that_no_sampler_can_draw_is_refused(make):
    """By public figures, before the data are counted."""
    with pytest.raises(RequestError, match="would not fit 64 bits"):
        make(Fraction(1, 1 << 90))


# Choices: a table is chosen by how far it is from what is expected of it.

COMPLETE = tuple(itertools.product((0, 1, 2), (0, 1), (0, 90)))
RATE = Fraction(7, 5)
NOISE = laplace_noise(Fraction(1))
PAIRS = TablesPlan(n_tables=3, n_edges=2, rate=RATE, noise=NOISE, parts=4)
TRIPLES = TablesPlan(n_tables=1, n_edges=1, rate=RATE, noise=NOISE, parts=4, target=1)
KNOWN = {(0, 1): NoisyCounts(steps=np.array([[2, 1], [1, 0], [0, 2]]), noise=LITTLE)}


def fitting_of(n_records):
    """Three attributes, whose own measurements are given."""
    parts = measurements(has_missing=False)
    return Fitting(n_records=n_records, attributes=parts, axes=axes_of_all(parts))


def expected_by(plan, fitting, kind):
    """What may be expected of tables: it is public, and may be anything."""
    scopes = choosing._scopes(plan, fitting)
    if kind == "independence":
        return choosing._independent(fitting, scopes, {one: one for one in range(3)})
    if kind == "fitted":
        return choosing._fitted(fitting, scopes, dict(KNOWN))
    random, found = np.random.Generator(np.random.PCG64(3)), {}
    for scope in scopes:
        shape = tuple(fitting.axes[one].n_bins for one in scope[-2:])
        found[scope] = {
            "anything": random.random(shape),
            "below 0": -random.random(shape),
            "far too much": np.full(shape, 1e300),
            "no number": np.full(shape, np.nan),
            "one cell": np.eye(*shape) * (np.arange(shape[0]) == 0)[:, None],
        }[kind]
    return found


def all_counts(fitting, n_records, scopes):
    """The tables of a scope by the records that there may be."""
    found = {}
    every = sorted(COMPLETE, key=str)
    for records in itertools.combinations_with_replacement(every, n_records):
        tables = binned(records, fitting.axes).pairs(list(scopes))
        found[records] = dict(zip(scopes, tables, strict=True))
    return found


def drawn_by(plan, counts, expected, n_records, monkeypatch):
    """The losses by which a choice is drawn, and its rate."""
    asked = []

    def draw_run(losses, multiplicities, rate, source):
        del source
        assert multiplicities == [1] * len(losses)
        asked.append((losses, rate))
        return 0

    monkeypatch.setattr(choosing, "draw_run", draw_run)
    noises = dict.fromkeys(expected, plan.noise)
    choosing._chosen(plan.rate, noises, counts, expected, n_records, RandomSource.seeded(1))
    ((losses, rate),) = asked
    return losses, rate


CASES = [
    (PAIRS, "independence", 3), (PAIRS, "fitted", 3), (PAIRS, "anything", 2),
    (PAIRS, "below 0", 2), (PAIRS, "far too much", 2), (PAIRS, "no number", 2),
    (PAIRS, "one cell", 2), (TRIPLES, "independence", 3), (TRIPLES, "one cell", 2),
]  # fmt: skip


@pytest.mark.parametrize(("plan", "kind", "n_records"), CASES)
def test_a_choice_costs_its_rate_over_all_neighbours(plan, kind, n_records, monkeypatch):
    """No score moves by more than 2 records, and no two scores by more than 4 apart.

    So no loss, a quarter of a score, moves by more than 1/2, and the range of the logarithm of
    probabilities is the rate at most: that is the pure cost, and its square over 8 the rho.
    """
    fitting = fitting_of(n_records)
    expected = expected_by(plan, fitting, kind)
    counted = all_counts(fitting, n_records, expected)
    scores = {
        records: [
            choosing._score(of_table[scope], choosing._public(table, n_records))
            for scope, table in expected.items()
        ]
        for records, of_table in counted.items()
    }
    drawn = {
        records: drawn_by(plan, of_table, expected, n_records, monkeypatch)
        for records, of_table in counted.items()
    }
    assert {rate for _, rate in drawn.values()} == {RATE}
    farthest, widest, worst = 0, Fraction(0), ()
    for one, other in neighbours(COMPLETE, n_records):
        moved = [a - b for a, b in zip(scores[one], scores[other], strict=True)]
        farthest = max(farthest, *map(abs, moved))
        lost = [b - a for a, b in zip(drawn[one][0], drawn[other][0], strict=True)]
        # Losses are given to the least of a table's: what all share is no matter.
        apart = max(moved) - min(moved)
        assert max(lost) - min(lost) == Fraction(apart, 4 << choosing.SCORE_BITS)
        if max(lost) - min(lost) >= widest:
            widest, worst = max(lost) - min(lost), (one, other)
    assert farthest <= 2 << choosing.SCORE_BITS
    assert widest <= 1
    if kind == "one cell":
        assert farthest == 2 << choosing.SCORE_BITS
        assert len(expected) == (3 if plan is PAIRS else 1)
    for before, after in itertools.permutations(_law(*drawn[records]) for records in worst):
        ratio = max(p / q for p, q in zip(before, after, strict=True))
        assert plain.at_most_exponential(ratio, RATE)


def _law(losses, rate):
    """Probabilities of a choice."""
    ends = [Fraction(0), *plain.thresholds(losses, [1] * len(losses), rate)]
    return [above - below for below, above in itertools.pairwise(ends)]


def test_two_scores_may_move_by_four_records_apart():
    """The range that a choice is accounted for is reached: less would not do."""
    near, far = np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [0.0, 1.0]])
    one, other = np.array([[1, 0], [0, 0]]), np.array([[0, 0], [0, 1]])
    moved = [
        choosing._score(other, choosing._public(table, 1))
        - choosing._score(one, choosing._public(table, 1))
        for table in (near, far)
    ]
    assert [step >> choosing.SCORE_BITS for step in moved] == [2, -2]


SIZES = st.lists(st.integers(2, 1 << 17), min_size=1, max_size=40)


def spent(noise):
    """What noise on a table costs, in epsilon or in rho."""
    return 1 / noise.scale if noise.is_gaussian else 2 * Fraction(1 << noise.bits) / noise.scale


@pytest.mark.parametrize("make", [laplace_noise, gaussian_noise])
@given(
    sizes=SIZES, order=st.randoms(use_true_random=False), of_all=st.fractions(Fraction(1, 1000), 8)
)
def test_tables_spend_together_what_was_planned_and_no_more(make, sizes, order, of_all):
    """Whatever their sizes are and whichever are chosen, in exact fractions.

    A table of more cells never spends less than a smaller one, were it next; and shares hang on
    public sizes alone.
    """
    cells = {(one, one + 1): size for one, size in enumerate(sizes)}
    n_tables = order.randint(1, len(sizes))
    noise, left, total = make(of_all / n_tables), list(cells), Fraction(0)
    shares = choosing.Shares.of(n_tables, cells)
    for _ in range(n_tables):
        by_size = sorted(left, key=cells.__getitem__)
        wanted = [shares.share(scope) for scope in by_size]
        assert wanted == sorted(wanted)
        assert wanted[0] >= Fraction(1, choosing.LEAST_SHARE)
        scope = order.choice(left)
        left.remove(scope)
        total += spent(noise.spending(shares.share(scope)))
        shares = shares.without(scope)
    assert shares.left == shares.n_left == 0
    assert total <= of_all
    assert total >= of_all * Fraction(999, 1000)


def test_noise_that_no_sampler_could_draw_on_the_least_share_is_refused_beforehand():
    """By public figures: not once some tables are measured."""
    noise = gaussian_noise(Fraction(1, 1 << 78))
    with pytest.raises(RequestError, match="would not fit 64 bits"):
        noise.spending(Fraction(1, choosing.LEAST_SHARE))
