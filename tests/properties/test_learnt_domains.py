"""What is learnt of a column, over all neighbours of small tables: METHODS section 11, A to C.

Approximate zero-concentrated privacy of a delta (Bun and Steinke 2016, Definition 8.1): but for
events of that chance, of each table of a pair, what comes out has divergences of rho. The event is
that a value is shown which only one of them has. Whatever else is released is a function of that.
"""

import itertools
import math
from collections import Counter as Times
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial

import narwhals as nw
import numpy as np
import polars as pl
import pytest

from microveil.kernels.synthesis import whole_numbers
from microveil.noise.counts import CountNoise, gaussian_noise
from microveil.schema import Attribute, Bounds, Kind, Source, widest
from microveil.synthesis import cuts as cutting
from microveil.synthesis import one_way_plan as asking
from microveil.synthesis.measuring import Counter
from microveil.synthesis.one_way_plan import Depth, Learning, OneWayPlan, threshold
from microveil.table import GridColumn, Table
from microveil.table.untyped import CELLS, Spelling, untyped_column
from reference import clipped
from reference.clipped import Clipped
from reference.enumeration import exact_law
from reference.exponential import at_most_exponential

ORDERS = (2, 3, 8)
MISSING = None


def attribute(kind, domain=None, step=1, source=Source.TYPE):
    return Attribute(name="A", kind=kind, resolution=Fraction(step), resolution_source=source,
                     domain=domain, is_learnt=domain is None)  # fmt: skip


TEXT, NUMBER, DATE = (attribute(kind) for kind in (Kind.OTHER, Kind.WHOLE, Kind.DATE))


def declared(upper):
    domain = Bounds(lower=Fraction(0), upper=Fraction(upper), source=Source.DECLARED)
    return attribute(Kind.WHOLE, domain)


def column(what, cells, words=()):
    absent = np.array([cell is MISSING for cell in cells])
    values = np.array([cell for cell in cells if cell is not MISSING], dtype=np.int64)
    missing = absent if absent.any() else None
    return GridColumn(attribute=what, values=values, missing=missing, words=words)


def of_text(cells):
    """A column as it is read: positions among the words that occur."""
    words = sorted({cell for cell in cells if cell is not MISSING})
    places = [cell if cell is MISSING else words.index(cell) for cell in cells]
    return column(TEXT, places, tuple(words))


# One value: its law, by every draw of noise that matters.

NOISE, DELTA = gaussian_noise(Fraction(1, 2)), Fraction(1, 1000)
FAR = 24
LAW = {z: math.exp(-z * z / 4) for z in range(-FAR, FAR + 1)}
LAW = {z: weight / math.fsum(LAW.values()) for z, weight in LAW.items()}


@dataclass
class Noises:
    """Noise of counts in the order in which they are looked at, those that may pass last."""

    values: list

    def added(self, counts):
        found, self.values = self.values[: counts.size], self.values[counts.size :]
        return counts + np.array(found, dtype=np.int64)

    def passing(self, least):
        found, self.values = np.array(self.values[: len(least)]), self.values[len(least) :]
        where = np.flatnonzero(found >= least)
        return where, found[where]


@pytest.fixture
def noises(monkeypatch):
    """Let draws have the noise of the source, which is a `Noises`."""
    monkeypatch.setattr(CountNoise, "added", lambda _, counts, source: source.added(counts))
    monkeypatch.setattr(asking, "passing", lambda _, least, source: source.passing(least))


def learning(max_rows=1, **more):
    return Learning(threshold=threshold(NOISE, DELTA, max_rows), delta=DELTA, **more)


def text_shown(cells, values, *, has_missing=False, max_rows=1):
    """The names and noisy counts that are shown of a column, and the missing count."""
    plan = OneWayPlan(attribute=TEXT, n_records=len(cells), share=None, noise=NOISE,
                      has_missing=has_missing, learning=learning(max_rows))  # fmt: skip
    drawn = Noises(list(values))
    found, _ = plan.measured(Counter([of_text(cells)]), 0, drawn)
    assert not drawn.values
    steps = found.counts.steps.tolist()
    listed = found.attribute.categories.values
    names = listed[:-1] if found.has_rest else listed
    return dict(zip(names, steps, strict=False)), steps[len(listed) :], found


@dataclass
class Tracked:
    """Noise of one count, at a place among those that are looked at; no other count is shown."""

    place: int
    z: int

    def added(self, counts):
        noise = np.full(len(counts), self.z)
        self.place = -1 if len(counts) else self.place
        return counts + noise

    def passing(self, least):
        seen = range(len(least)) if 0 <= self.place < len(least) else ()
        where = [place for place in seen if place == self.place and self.z >= least[place]]
        self.place = -1 if seen else self.place
        return np.array(where, dtype=np.int64), np.array([self.z] * len(where), dtype=np.int64)


def atom_shown(what, value, count, z):
    """The noisy count of a value that so many records have; None where it is not shown."""
    is_declared = what.domain is not None
    plan = OneWayPlan(attribute=what, n_records=1, share=None, noise=NOISE, has_missing=False,
                      learning=learning(is_declared=is_declared))  # fmt: skip
    domain = what.grid_bounds or widest(what)
    values, counts = (np.array([one] * bool(count), dtype=np.int64) for one in (value, count))
    first = domain[0] if is_declared else -asking.NEAR
    source = Tracked(0 if count else value - first, z)
    atoms, steps = asking._atoms(plan, domain, [(values, counts)], source)
    return dict(zip(atoms.tolist(), steps.tolist(), strict=True)).get(value)


def law_of(shown):
    """The law of what is shown, by the noise that it is shown with."""
    found = Times()
    for z, chance in LAW.items():
        found[shown(z)] += chance
    return found


def divergence(one, other, order):
    """Renyi's, of two laws; what only one shows, at the end of its noise, is below any digit."""
    both = one.keys() & other.keys()
    assert math.fsum(one[seen] for seen in one.keys() - both) < 1e-50
    moment = math.fsum(one[seen] * (one[seen] / other[seen]) ** (order - 1) for seen in both)
    return math.log(moment) / (order - 1)


@pytest.fixture
def category(noises):
    """The law of what is shown of a category that so many records have, by the unit's size."""
    del noises

    @cache
    def law(count, max_rows=1):
        return law_of(lambda z: text_shown(["a"] * count, [z], max_rows=max_rows)[0].get("a"))

    return law


def unit_neighbours(every, n_records, max_rows):
    """Tables, as counts by value, that differ in the records of one unit."""
    for size in range(1, max_rows + 1):
        for rest in itertools.combinations_with_replacement(every, n_records - size):
            units = itertools.combinations_with_replacement(every, size)
            for one, other in itertools.permutations(units, 2):
                yield Times((*rest, *one)), Times((*rest, *other))


def tail(least):
    return math.fsum(chance for z, chance in LAW.items() if z >= least)


def chance_of_own(one, other, least):
    """The chance that a value is shown which the other table lacks: what the event excludes."""
    return 1 - math.prod(1 - tail(least - one[value]) for value in one if value not in other)


@pytest.mark.parametrize("max_rows", [1, 2, 3])
def test_categories_cost_their_rho_but_for_an_event_of_their_delta(category, max_rows):
    """All neighbours of all tables of at most 4 records from 4 values; T less two breaks delta."""
    least = threshold(NOISE, DELTA, max_rows)
    likeliest, too_low = 0.0, 0.0
    for n_records in range(max_rows, 5):
        for one, other in unit_neighbours("abcd", n_records, max_rows):
            likeliest = max(likeliest, chance_of_own(one, other, least))
            too_low = max(too_low, chance_of_own(one, other, least - 2))
            common = [value for value in one if value in other and one[value] != other[value]]
            laws = [[category(side[v], max_rows) for side in (one, other)] for v in common]
            for order in ORDERS:
                spent = sum(divergence(*pair, order) for pair in laws)
                # Of a unit the squares of what it changes: group privacy.
                assert spent <= order * max_rows**2 / 2 * (1 + 1e-9)
    assert likeliest <= DELTA < too_low


@pytest.mark.parametrize("order", ORDERS)
def test_the_rho_of_categories_is_reached_far_above_the_threshold(category, order):
    """Two counts, each moved by one record: all of rho, and nothing less would do."""
    spent = 2 * divergence(category(19), category(20), order)
    assert spent == pytest.approx(order / 2, rel=1e-6)


def test_a_threshold_is_the_least_or_one_above_it():
    """Of tails by their definition, with units: one that is lower by two breaks its delta."""
    for max_rows, (variance, delta) in itertools.product(
        (1, 2, 15), ((Fraction(1, 3), 1e-11), (Fraction(2), 1e-3), (Fraction(12345, 7), 1e-9))
    ):
        noise = gaussian_noise(1 / variance)
        far = math.ceil(40 * math.sqrt(variance)) + 100
        weights = [math.exp(-z * z / (2 * float(variance))) for z in range(far)]
        total = 2 * math.fsum(weights) - 1

        def worst(least, weights=weights, total=total, max_rows=max_rows):
            return max(max_rows * math.fsum(weights[abs(least - k) :]) / total / k
                       for k in range(1, max_rows + 1))  # fmt: skip

        least = threshold(noise, Fraction(delta), max_rows)
        assert worst(least) <= delta < worst(least - 2)


def test_what_is_shown_of_a_category_hangs_on_its_own_count_and_noise_alone(noises):
    """Of two of them and of the missing ones; and all that is published is made of these."""
    del noises
    least, published = learning().threshold, {}
    draws = (-9, 3, least - 3, least - 2, least - 1, least)
    for cells in itertools.product(("a", "b", MISSING), repeat=3):
        words = sorted({cell for cell in cells if cell is not MISSING})
        counts = Times(cells)
        for own in itertools.product(draws, repeat=len(words) + 1):
            noisy = {word: counts[word] + z for word, z in zip(words, own, strict=False)}
            due = {word: steps for word, steps in noisy.items() if steps >= least}
            shown, absent, found = text_shown(cells, own, has_missing=True)
            # A count of the missing ones that noise alone may have made is taken to be none.
            missing = counts[MISSING] + own[-1]
            is_clear = missing >= asking.CLEARLY * math.sqrt(2)
            assert (shown, absent) == (due, [missing] if is_clear else [])
            public = tuple(due.items()), tuple(absent)
            assert published.setdefault(public, found.to_dict()) == found.to_dict()
    assert len(published) > 20


@pytest.mark.parametrize(
    ("what", "value", "first"),
    [(NUMBER, 0, 0), (NUMBER, -16, 0), (NUMBER, 16, 0), (NUMBER, 17, 1), (NUMBER, -17, 1),
     (DATE, 0, 1), (declared(40), 0, 0), (declared(40), 33, 0)],
)  # fmt: skip
def test_a_value_costs_half_its_rho_and_is_seen_where_it_may_occur_alone(
    noises, what, value, first
):
    """Of public values empty ones are shown as often as is due; of others the event is of one."""
    del noises
    laws = [law_of(partial(atom_shown, what, value, count)) for count in range(25)]
    for one, other in itertools.pairwise(laws[first:]):
        for order in ORDERS:
            for pair in ((one, other), (other, one)):
                assert divergence(*pair, order) <= order / 4 * (1 + 1e-9)
    assert divergence(laws[23], laws[24], 2) == pytest.approx(2 / 4, rel=1e-6)
    if first:
        assert laws[0] == {None: pytest.approx(1)}
        assert 1 - laws[1][None] <= DELTA
    else:
        assert 1 - laws[0][None] > 0
        is_near = what.domain is None
        stands_out = math.ceil(asking.STANDS_OUT * math.sqrt(2))
        least = min(z for z in laws[0] if z is not None)
        assert least == (stands_out if is_near else learning().threshold)


# Everything that is asked of a number: its whole law, over all neighbours.

GEOMETRIC = Clipped(is_gaussian=False, ratio=Fraction(1, 2), least=1, most=3)
GAUSSIAN = Clipped(is_gaussian=True, ratio=Fraction(3, 4), least=1, most=3)
# Rates of two levels and of one, which cost less than the cells: 1.38 of 1.386, .305 of .308.
PURE = (Fraction(3, 10), Fraction(39, 100)), (Fraction(69, 100),)
RHO = (Fraction(5, 10), Fraction(6, 10)), (Fraction(78, 100),)
CELLS_OF = {False: Fraction(1, 2), True: Fraction(6, 7)}
JITTER = [1 << 62, 3 << 62, 5 << 61, 1 << 60]


def number_plan(what, noise, rates, *, is_declared, has_missing, decimals=None):
    deep, shallow = rates
    return OneWayPlan(
        attribute=what, n_records=3, share=None, noise=noise, has_missing=has_missing,
        depths=(Depth(deep, Fraction(2)), Depth(shallow, Fraction(1))),
        cells=replace(noise, ratio=CELLS_OF[noise.is_gaussian], least=0, most=1),
        learning=Learning(threshold=2, is_declared=is_declared), decimals=decimals,
    )  # fmt: skip


@pytest.fixture
def answered(monkeypatch):
    """Let every draw be asked for, and candidates be few."""

    def draw(sizes, weights, source):
        own = zip(sizes.tolist(), whole_numbers(weights), strict=True)
        return source.draw([size * weight for size, weight in own])

    monkeypatch.setattr(asking, "passing", clipped.passing)
    monkeypatch.setattr(asking, "draw_weighted", draw)
    # A function of what was measured, and public figures.
    monkeypatch.setattr(asking, "_with_domain", lambda measured: measured)
    # Of so few records a rest would hardly ever stand out, and nothing be cut.
    monkeypatch.setattr(asking, "CLEARLY", 0.5)
    monkeypatch.setattr(asking, "NEAR", 0)
    monkeypatch.setattr(asking, "SINGLE", 0)
    monkeypatch.setattr(asking, "OCTAVES", range(0))
    for name, few in (
        ("KNOTS", 2),
        ("STEPS", 2),
        ("FIRST_BITS", 1),
        ("USUAL", 1.0),
        ("EVENLY", 2.0),
    ):
        monkeypatch.setattr(cutting, name, few)


def law_of_number(plan, cells, n_candidates, jitter=JITTER):
    """The chance of all that may be measured of a column, exactly."""

    def program(answers):
        counter = Counter([column(plan.attribute, cells)], n_candidates)
        found, _ = plan.measured(counter, 0, clipped.Source(answers, jitter))
        cuts, held = found.cuts, found.cells
        steps = () if found.counts is None else tuple(found.counts.steps.tolist())
        return (
            found.attribute.resolution,
            () if found.atoms is None else tuple(found.atoms.tolist()),
            steps,
            None if cuts is None else (cuts.depth, *zip(cuts.numbers, cuts.codes, strict=True)),
            None if held is None else tuple(held.counts.steps.tolist()),
        )

    law = exact_law(program)
    assert sum(law.values()) == 1
    # A bound on a loss is held against fractions, one on divergences against floats: for speed.
    return {seen: float(p) for seen, p in law.items()} if plan.noise.is_gaussian else law


def ordered_neighbours(every, n_records):
    """Tables that differ in one record; all others keep their place, and so their jitter."""
    for rest in itertools.product(every, repeat=n_records - 1):
        for at in range(n_records):
            for one, other in itertools.permutations(every, 2):
                yield (*rest[:at], one, *rest[at:]), (*rest[:at], other, *rest[at:])


def laws_of_sets(plan, every, n_records):
    """The laws of tables in which all records have the same jitter, so that order is none."""
    return {
        cells: law_of_number(plan, cells, 4, JITTER[:1] * n_records)
        for cells in itertools.combinations_with_replacement(every, n_records)
    }


def set_neighbours(every, n_records):
    return {tuple(tuple(sorted(cells)) for cells in pair)
            for pair in ordered_neighbours(every, n_records)}  # fmt: skip


def given_event(law, own):
    """A law given that none of some values of a table is shown, and the chance of that."""
    kept = {seen: p for seen, p in law.items() if not own(seen[0]) & set(seen[1])}
    total = sum(kept.values())
    return {seen: p / total for seen, p in kept.items()}, total


def costs_no_more(laws, pairs, noise, rates, factor=1):
    """Check the loss of every outcome, or Renyi's divergence, against what is accounted."""
    per_record, of_cells = noise.per_record, 1 / CELLS_OF[noise.is_gaussian]
    worst = Times()
    for one, other in pairs:
        before, after = laws(one, other)
        assert before.keys() == after.keys()
        if not noise.is_gaussian:
            for seen, chance in before.items():
                way = None if seen[3] is None else seen[3][0]
                worst[way] = max(worst[way], chance / after[seen])
            continue
        for order in ORDERS:
            moment = math.fsum(p * (p / after[seen]) ** (order - 1) for seen, p in before.items())
            bound = (factor * per_record**2 * of_cells**2) ** (order * (order - 1))
            assert moment <= bound * (1 + 1e-9)
    for way, ratio in worst.items():
        if way is None:
            assert ratio <= (per_record * of_cells) ** 2
        else:
            depth = next(depth for depth in rates if len(depth) == way)
            assert at_most_exponential(ratio / per_record**2, 2 * sum(depth))


@pytest.mark.parametrize(
    ("noise", "rates"), [(GEOMETRIC, PURE), (GAUSSIAN, RHO)], ids=["pure", "rho"]
)
@pytest.mark.parametrize("every", [(0, 1, 2), (0, 1, MISSING)], ids=str)
def test_atoms_and_cuts_of_a_declared_number_cost_what_is_accounted(answered, noise, rates, every):
    """Without a delta: two depths of cuts or cells, whichever the atoms leave records for."""
    del answered
    has_missing = MISSING in every
    plan = number_plan(
        declared(1 if has_missing else 2), noise, rates, is_declared=True, has_missing=has_missing
    )
    known = {cells: law_of_number(plan, cells, 3) for cells in itertools.product(every, repeat=3)}
    ways = {seen[3] and seen[3][0] for law in known.values() for seen in law}
    assert ways == {2, 1, None}
    pairs = ordered_neighbours(every, 3)
    costs_no_more(lambda one, other: (known[one], known[other]), pairs, noise, rates)


def test_what_is_learnt_of_a_number_costs_its_rho_but_for_an_event(answered):
    """0 is a public value, 5 and 900 are not: each is shown by one record alone as delta says."""
    del answered
    every = (0, 5, 900)
    noise = replace(GAUSSIAN, most=2)
    plan = number_plan(NUMBER, noise, RHO, is_declared=False, has_missing=False)
    known = laws_of_sets(plan, every, 3)
    assert {seen[3] and seen[3][0] for law in known.values() for seen in law} == {2, 1, None}
    delta = noise.tail(plan.learning.threshold - 1)
    likeliest = 0

    def conditional(one, other):
        nonlocal likeliest
        laws = []
        for mine, others in ((one, other), (other, one)):
            own = set(mine) - set(others) - {0}
            law, chance = given_event(known[mine], lambda _, own=own: own)
            likeliest = max(likeliest, 1 - chance)
            laws.append(law)
        return laws

    costs_no_more(conditional, set_neighbours(every, 3), noise, RHO)
    assert likeliest == pytest.approx(float(delta))


def test_decimals_cost_a_table_of_counts_and_the_rest_goes_by_what_was_learnt(
    answered, monkeypatch
):
    """Of 1, 1.5 and 1.25 with none, one or two places: values that are rounded are others'."""
    del answered
    monkeypatch.setattr(asking, "NEAR", -1)
    every, noise = (100, 125, 150), replace(GAUSSIAN, most=2)
    hundredths = attribute(Kind.DECIMAL, step=Fraction(1, 100), source=Source.LEARNT)
    counted = replace(GAUSSIAN, least=0, most=2, variance=1 / 16)
    plan = number_plan(hundredths, noise, RHO, is_declared=False, has_missing=False)
    plan = replace(plan, n_records=2, depths=plan.depths[1:], decimals=counted)
    known = laws_of_sets(plan, every, 2)
    steps = {seen[0] for law in known.values() for seen in law}
    assert steps == {Fraction(1), Fraction(1, 10), Fraction(1, 100)}

    def own(step, mine, others):
        mine, others = ({round(x / (step * 100)) for x in cells} for cells in (mine, others))
        return mine - others

    def conditional(one, other):
        return [
            given_event(known[mine], partial(own, mine=mine, others=others))[0]
            for mine, others in ((one, other), (other, one))
        ]

    costs_no_more(conditional, set_neighbours(every, 2), noise, RHO, factor=counted.per_record**2)


# The kind of a column, and what is then asked of it.

EMPTY = ""


def untyped(plan, cells):
    """A column as a file of text has it."""
    cells = nw.from_native(pl.Series("A", cells, dtype=pl.String), series_only=True)
    table = Table(columns={"A": cells}, n_records=len(cells), untyped={"A": Spelling()})
    return untyped_column(table, plan.attribute, clamp=True)


@dataclass(frozen=True)
class OfSome(Clipped):
    """Noise on how many cells are of each kind, but of those that no cell of any table is of."""

    def added(self, counts, source):
        some = [one in {"empty", Kind.WHOLE, Kind.OTHER} for one in CELLS]
        found = np.zeros_like(counts)
        found[some] = super().added(counts[some], source)
        return found


def test_a_kind_costs_a_table_of_counts_and_the_rest_goes_by_what_was_learnt(answered):
    """Of text, of a number, and of nothing: all that may come out, over all neighbours."""
    del answered
    noise = replace(GAUSSIAN, least=1, most=2)
    of_kinds = OfSome(is_gaussian=True, ratio=GAUSSIAN.ratio, least=0, most=1, variance=1 / 16)
    what = replace(TEXT, kind_source=Source.LEARNT)
    of_text = OneWayPlan(attribute=what, n_records=2, share=None, noise=noise, has_missing=False,
                         learning=Learning(threshold=2))  # fmt: skip
    of_number = OneWayPlan(attribute=what.of_kind(Kind.WHOLE), n_records=2, share=None, noise=noise,
                           has_missing=False, learning=Learning(threshold=2),
                           cells=replace(noise, ratio=CELLS_OF[True], least=0, most=1))  # fmt: skip
    plan = replace(of_text, kinds=of_kinds, others=(of_number,))

    def law_of(cells):
        def program(answers):
            counter = Counter([untyped(plan, cells)], 3)
            found, _ = plan.measured(counter, 0, clipped.Source(answers, JITTER[:1] * 2))
            atoms = () if found.atoms is None else tuple(found.atoms.tolist())
            listed = found.attribute.categories
            held = None if found.cells is None else tuple(found.cells.counts.steps.tolist())
            words = () if listed is None else listed.values[: len(listed.values) - found.has_rest]
            own = () if found.counts is None else found.counts.steps[: len(words) + len(atoms)]
            return (tuple(found.kinds.steps.tolist()), found.attribute.kind, (*words, *atoms),
                    tuple(own.tolist()), held)  # fmt: skip

        law = exact_law(program)
        assert sum(law.values()) == 1
        return {seen: float(chance) for seen, chance in law.items()}

    every = (EMPTY, "7", "a")
    known = {cells: law_of(cells) for cells in itertools.combinations_with_replacement(every, 2)}
    # By equal counts it is the same kind, whatever the cells are.
    kinds = {(seen[0], seen[1]) for law in known.values() for seen in law}
    assert len(kinds) == len({counts for counts, _ in kinds})
    assert {kind for _, kind in kinds} == {Kind.WHOLE, Kind.NOMINAL}
    for one, other in set_neighbours(every, 2):
        laws = []
        for mine, others in ((one, other), (other, one)):
            own = set(mine) - set(others)
            own |= {7} if "7" in own else set()  # as a number
            kept = {seen: p for seen, p in known[mine].items() if not own & set(seen[2])}
            laws.append({seen: p / sum(kept.values()) for seen, p in kept.items()})
        assert laws[0].keys() == laws[1].keys()
        for order in ORDERS:
            moment = math.fsum(p * (p / laws[1][s]) ** (order - 1) for s, p in laws[0].items())
            # Two counts of kinds, then two of words, or of a number's values and cells.
            after = max(1, 1 / CELLS_OF[True]) ** 2 * noise.per_record**2
            bound = (of_kinds.per_record**2 * after) ** (order * (order - 1))
            assert moment <= bound * (1 + 1e-9)
