"""The tree of private medians: its exact law, and what it costs over all neighbours.

For a given jitter a record's code is a function of its value: a record replaced by any other has
any other code, and all other codes stay. So codes are what neighbours are enumerated over.
"""

import itertools
import math
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microveil.kernels.synthesis import whole_numbers
from microveil.noise.exponential import draw_weighted, median_weights
from microveil.noise.noise import RandomSource
from microveil.synthesis import cuts as cutting
from microveil.synthesis.cuts import Candidates, Spacing, recursive_medians
from microveil.synthesis.measuring import JitteredCodes
from reference import medians as plain
from reference.enumeration import exact_law
from reference.exponential import at_most_exponential, limbs, neighbours

FAR = 1 << 40
RATES = Fraction(3, 10), Fraction(48, 100)
# Of Renyi's divergence: whole, so that powers of fractions are fractions.
ORDERS = (2, 3, 8)


def coded(codes):
    codes = np.array(codes, dtype=np.int64)
    return JitteredCodes(codes, np.sort(codes))


def candidates(count):
    return Candidates(lower=0, upper=99, count=count)


def capped(weights):
    """The weight of a loss of so many halves: beyond the list, its last."""
    listed = whole_numbers(weights)
    return lambda halves: listed[min(halves, len(listed) - 1)]


def law_of(codes, count, weights):
    """The exact law of `recursive_medians`, by running it with every answer to its choices."""

    def program(answers):
        def draw(sizes, weights):
            own = zip(sizes.tolist(), whole_numbers(weights), strict=True)
            return answers.draw([size * weight for size, weight in own])

        cuts = recursive_medians(coded(codes), candidates(count), weights, draw, answers.below)
        return tuple(zip(cuts.numbers.tolist(), cuts.codes.tolist(), strict=True))

    return exact_law(program)


def tables(count, n_records):
    return itertools.combinations_with_replacement(range(count + 1), n_records)


def pure_cost(rates):
    return 2 * sum(rates)


def concentrated_cost(rates):
    return sum(rate**2 for rate in rates) / 2


def dearest(laws, pairs):
    """The greatest ratio of probabilities over neighbours.

    What one can give and the other cannot has no ratio: the laws must have the same outcomes.
    """
    assert all(laws[one].keys() == laws[other].keys() for one, other in pairs)
    return max(
        max(laws[one][outcome] / laws[other][outcome] for outcome in laws[one])
        for one, other in pairs
    )


def renyi_holds(laws, pairs, order, rho):
    """Whether no divergence of a whole order above 1 is above order * rho, exactly."""
    worst = max(
        sum(laws[one][seen] ** order / laws[other][seen] ** (order - 1) for seen in laws[one])
        for one, other in pairs
    )
    return at_most_exponential(worst, (order - 1) * order * rho)


@pytest.mark.parametrize(("count", "n_records", "depth"), [(1, 2, 2), (3, 3, 2), (4, 2, 3)])
def test_the_medians_have_the_law_of_their_definition(count, n_records, depth):
    """Every outcome of small tables, its probability in exact fractions."""
    weights = [median_weights(Fraction(2 + level, 5), n_records) for level in range(depth)]
    for codes in tables(count, n_records):
        due = plain.law(codes, count, [capped(of_level) for of_level in weights])
        assert law_of(codes, count, weights) == due
        assert sum(due.values()) == 1


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(st.integers(0, 40), max_size=12),
    st.integers(0, 40),
    st.integers(2, 41),
    st.lists(st.integers(1, 2**160), min_size=1, max_size=14).map(lambda w: sorted(w)[::-1]),
)
def test_a_node_weighs_each_candidate_by_the_records_below_it(codes, i, width, weights):
    """Short lists of weights too, whose last one all greater losses have."""
    j, weights = min(i + width, 42), limbs(weights)
    borders, of_runs = cutting._runs(coded(codes), i, j, weights)
    found = {}
    for (first, last), weight in zip(
        itertools.pairwise(borders.tolist()), whole_numbers(of_runs), strict=True
    ):
        found |= dict.fromkeys(range(first + 1, last + 1), weight)
    weight = capped(weights)
    assert found == {cut: plain.node_weight(codes, i, j, cut, weight) for cut in range(i + 1, j)}


@pytest.mark.parametrize(
    ("count", "n_records", "rates"),
    [
        (4, 3, RATES),
        (3, 4, RATES),
        (2, 3, (Fraction(3), Fraction(5))),
        (4, 2, (Fraction(1, 2), Fraction(4, 5), Fraction(32, 25))),
    ],
)
def test_no_neighbour_costs_more_than_the_levels_are_accounted(count, n_records, rates):
    """All paths, all replaced records: the pure loss, and Renyi's divergence of several orders."""
    weights = [median_weights(rate, n_records) for rate in rates]
    laws = {codes: law_of(codes, count, weights) for codes in tables(count, n_records)}
    pairs = {
        (tuple(sorted(one)), tuple(sorted(other)))
        for one, other in neighbours(range(count + 1), n_records)
    }
    assert at_most_exponential(dearest(laws, pairs), pure_cost(rates))
    for order in ORDERS:
        assert renyi_holds(laws, pairs, order, concentrated_cost(rates))


def test_a_record_that_loses_its_value_costs_no_more():
    """Where missing is protected a neighbour may have one code less, or one more."""
    count, weights = 3, [median_weights(rate, 3) for rate in RATES]
    laws = {
        codes: law_of(codes, count, weights)
        for n_records in (2, 3)
        for codes in tables(count, n_records)
    }
    pairs = {
        pair
        for codes in tables(count, 3)
        for one in range(3)
        for pair in itertools.permutations([codes, codes[:one] + codes[one + 1 :]])
    }
    # One node of a level moves, by 1/2: half of what a replaced value may cost.
    assert at_most_exponential(dearest(laws, pairs), pure_cost(RATES) / 2)
    for order in ORDERS:
        assert renyi_holds(laws, pairs, order, concentrated_cost(RATES))


def loss_of_two_levels(rates):
    """The loss of one path where every node is at its worst.

    At the root the record passes the cut and nearly all other candidates; below it the record
    leaves one node and enters the other, in both of which one run holds nearly all candidates.
    """
    first = 1 << 20
    one, other = (2, first, first + 1, FAR), (0, 2, first, first + 1)
    path = {1: 2, 2: first, 3: first + 1}
    weights = [capped(median_weights(rate, 4)) for rate in rates]
    before, after = (plain.path_probability(codes, FAR, weights, path) for codes in (one, other))
    return after / before


def test_two_adaptive_levels_cost_what_they_are_accounted():
    """1.5600 of 1.56: the bound is reached, so nothing less would do."""
    ratio = loss_of_two_levels(RATES)
    assert at_most_exponential(ratio, pure_cost(RATES))
    assert round(math.log(ratio), 4) == 1.56


def test_a_rate_one_percent_too_high_is_noticed():
    """The same path finds it, at either level."""
    for level in (0, 1):
        rates = [rate * (Fraction(101, 100) if own == level else 1)
                 for own, rate in enumerate(RATES)]  # fmt: skip
        assert not at_most_exponential(loss_of_two_levels(rates), pure_cost(RATES))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.tuples(st.integers(-(10**6), 10**6), st.integers(33, 10**7)),
    st.sampled_from([7, 1000, 1 << 20, 1 << 40]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2**64 - 1)), min_size=1, max_size=6),
)
def test_a_code_counts_the_candidates_below_a_jittered_position(domain, count, records):
    """By the definition in 60 digits; what floating point rounds is beside a border."""
    lower, upper = domain[0], domain[0] + domain[1]
    places = Candidates(lower=lower, upper=upper, count=count)
    values = np.array([lower + round(share * domain[1]) for share, _ in records], dtype=np.int64)
    words = np.array([word for _, word in records], dtype=np.uint64)
    found = places.codes(values, words).tolist()
    for value, (_, word), code in zip(values.tolist(), records, found, strict=True):
        if count < 1 << 40:
            continue  # jitter reaches farther than a step of the grid
        position = Fraction(value) + Fraction(word >> 11, 1 << 53)
        due, to_border = plain.code(position, lower, upper, count)
        assert code == due or (abs(code - due) == 1 and to_border < 5e-2)
    # A word of 0 leaves a record where its value is, whatever there is of candidates.
    for value, code in zip(values.tolist(), places.codes(values, words * 0).tolist(), strict=True):
        due, to_border = plain.code(Fraction(value), lower, upper, count)
        assert code == due or (abs(code - due) == 1 and to_border < 5e-2)


@pytest.mark.parametrize("count", [1 << 20, 1 << 40])
@pytest.mark.parametrize("domain", [(-50, 10**6), (0, 10**12), (3, 99), (-(2**61), 2**61)])
def test_a_code_hangs_on_its_own_record_alone(domain, count):
    """Neither on where the record stands nor on who stands beside it, to the last bit."""
    lower, upper = domain
    places, n_records = Candidates(lower=lower, upper=upper, count=count), 300
    random = np.random.Generator(np.random.PCG64(1))
    values = random.integers(lower, upper, n_records, endpoint=True)
    values[:3] = lower, upper, min(max(0, lower), upper)
    words = random.integers(0, 2**64, n_records, dtype=np.uint64)
    codes = places.codes(values, words)
    assert 0 <= codes.min() <= codes.max() <= count
    for shift in (1, 2, 3, 5):
        assert places.codes(values[shift:], words[shift:]).tolist() == codes[shift:].tolist()
    alone = [int(places.codes(values[[at]], words[[at]])[0]) for at in range(n_records)]
    assert alone == codes.tolist()


def test_equal_values_part_at_every_share():
    """The jitter of a point mass is even over its grid step, or over 16 candidates."""
    random = np.random.Generator(np.random.PCG64(2))
    words = random.integers(0, 2**64, 20_000, dtype=np.uint64)
    for count, width in ((1 << 40, 1.0), (1 << 20, None)):
        places = Candidates(lower=0, upper=10**9, count=count)
        codes = places.codes(np.full(len(words), 3 * 10**6), words)
        low, high = places.positions(np.array([codes.min(), codes.max()]))
        assert len(np.unique(codes)) >= cutting.REACH
        if width is not None:
            assert low + 1e-3 >= 3 * 10**6
            assert high <= 3 * 10**6 + width
        shares = np.sort((places.positions(codes) - low) / (high - low))
        assert np.abs(shares - np.linspace(0, 1, len(shares))).max() < 0.08


spacings = st.builds(
    lambda knots, near, bits: Spacing(
        np.array(sorted(knots), dtype=np.int64), bits, tuple(sorted(near)), bits
    ),
    st.sets(st.integers(0, FAR), max_size=40),
    st.tuples(st.integers(0, FAR), st.integers(0, FAR)),
    st.integers(0, 18),
)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(spacings, st.sets(st.integers(0, FAR), min_size=2, max_size=60))
def test_a_spacing_rises_with_codes_and_its_inverse_finds_the_least_that_has_so_many(
    spacing, codes
):
    """At, beside and between its knots: no two candidates are one, and none lies outside."""
    near = {code + step for code in (*codes, *spacing.knots.tolist()) for step in (-1, 0, 1)}
    near = np.array(sorted(code for code in near if 0 <= code <= FAR), dtype=np.int64)
    below = spacing.below(near)
    assert (np.diff(below) >= np.diff(near)).all()
    first, last = int(near[0]), int(near[-1])
    for code in near[1:].tolist():
        ends = spacing.below(np.array([code - 1, code])).tolist()
        for number in {ends[0] + 1, sum(ends) // 2 + 1, ends[1]}:
            assert ends[0] < number <= ends[1]
            assert spacing.code(number, first + 1, last) == code
    # The runs between any codes have as many candidates as all from the first to the last.
    assert sum(np.diff(below).tolist()) == int(below[-1] - below[0])


@pytest.mark.parametrize(("level", "known"), [(0, []), (0, [0.0, 20.0]), (1, [1900.0, 2000.0])])
def test_in_the_first_levels_hardly_a_candidate_lies_where_numbers_of_people_never_are(
    level, known
):
    """Those up to 2**24 grid steps from 0 are 2**10 times as many; so many lie by the known."""
    places = Candidates(lower=-(1 << 53), upper=1 << 53, count=FAR)
    spacing = Spacing.around(places, np.array(known), level)
    usual = (places.scale(np.array([-1.0, 1.0]) * 2**24) * (1 << 40)).astype(np.int64)
    near, far = np.diff(usual)[0], (1 << 40) - np.diff(usual)[0]
    below = spacing.below(np.array([0, *usual, FAR]))
    assert below[1] - below[0] + below[3] - below[2] == pytest.approx(far, rel=1e-6)
    assert (below[2] - below[1]) / (near + (1 << 40) << 10) == pytest.approx(1, abs=0.01)


def test_before_anything_is_known_half_of_the_candidates_lie_evenly_where_years_do():
    """And around one cut half of those added by their distance from it."""
    places = Candidates(lower=-(1 << 53), upper=1 << 53, count=FAR)

    def added(spacing, positions):
        ends = (places.scale(np.array(positions)) * (1 << 40)).astype(np.int64)
        of_list = np.diff(ends) << cutting.FIRST_BITS
        return (np.diff(spacing.below(ends)) - of_list) / (1 << 50)

    found = added(Spacing.around(places, np.zeros(0), 0), [-4096.0, 0, 1930, 2010, 4096])
    assert found == pytest.approx([0.5, 1930 / 8192, 80 / 8192, 2086 / 8192], abs=0.01)
    found = added(Spacing.around(places, np.array([1970.0]), 1), [0.0, 1930, 1970, 2010, 3939])
    assert found == pytest.approx([0.37, 0.13, 0.13, 0.37], abs=0.03)


def test_from_the_third_level_on_hardly_a_candidate_lies_far_from_what_is_known():
    """Those near have the same shares as in earlier levels, and 2**16 times as many."""
    places = Candidates(lower=-(1 << 53), upper=1 << 53, count=FAR)
    spacing = Spacing.around(places, np.array([1900.0, 2000.0]), 2)
    ends = places.scale(np.array([1499.0, 1800, 1850, 1900, 2000, 2099, 2401])) * (1 << 40)
    ends = ends.astype(np.int64)
    below = spacing.below(ends)
    near = below[-1] - below[0]
    assert (near + (1 << 40)) / near < 1 + 2**-15
    evenly = (below - (ends - ends[0] << 16) - below[0]) / (1 << 56)
    assert evenly == pytest.approx([0, 0, 1 / 6, 1 / 3, 2 / 3, 1, 1], abs=0.01)


FAR_VALUES = np.random.Generator(np.random.PCG64(4))
HEAVY = {
    "one over rank": 100 / (1 - FAR_VALUES.random(5000)),
    "a tenth far away": np.where(np.arange(5000) % 10 > 0, 1e3, 1e9) + np.arange(5000),
    "a wide end": np.where(np.arange(5000) % 7 > 0, 50, FAR_VALUES.lognormal(12, 1, 5000)),
}


@pytest.mark.parametrize("name", HEAVY)
def test_no_cut_of_a_heavy_tail_lies_far_from_all_values(name):
    """At the smallest rates of five levels; one draw in ten to twenty had one as far as 2**53."""
    values = HEAVY[name].astype(np.int64)
    places = Candidates(lower=-(1 << 53), upper=1 << 53, count=FAR)
    words = FAR_VALUES.integers(0, 2**64, len(values), dtype=np.uint64)
    codes = places.codes(values, words)
    codes = JitteredCodes(codes, np.sort(codes))
    weights = [median_weights(Fraction(rate, 1000), 5000) for rate in (18, 26, 36, 50, 70)]
    source = RandomSource.system()
    for _ in range(60):
        draw = partial(draw_weighted, source=source)
        cuts = recursive_medians(codes, places, weights, draw, source.integer_below, np.zeros(0))
        assert np.abs(cuts.positions).max() <= 20 * values.max()


@pytest.mark.parametrize("name", ["incomes", "years"])
def test_first_cuts_of_few_records_lie_near_them(name):
    """At the least rate that is cut by; in one draw of fifty, of five one lay as far as 2**53."""
    values = {"incomes": FAR_VALUES.lognormal(11, 0.6, 1080), "years": 1930 + np.arange(1080) % 80}
    values = values[name].astype(np.int64)
    places = Candidates(lower=-(1 << 53), upper=1 << 53, count=FAR)
    codes = places.codes(values, FAR_VALUES.integers(0, 2**64, len(values), dtype=np.uint64))
    codes, source = JitteredCodes(codes, np.sort(codes)), RandomSource.system()
    weights = [median_weights(Fraction(rate, 1080), 1080) for rate in (24, 38)]
    draw, far = partial(draw_weighted, source=source), 0
    for _ in range(500):
        cuts = recursive_medians(codes, places, weights, draw, source.integer_below, np.zeros(0))
        far += int(np.abs(cuts.positions).max() > 4 * values.max())
    assert far <= 12


def law_of_spaced(codes, count, weights, known):
    """The law of `recursive_medians` around what is known."""

    def program(answers):
        def draw(sizes, weights):
            own = zip(sizes.tolist(), whole_numbers(weights), strict=True)
            return answers.draw([size * weight for size, weight in own])

        cuts = recursive_medians(
            coded(codes), candidates(count), weights, draw, answers.below, np.array(known)
        )
        return tuple(zip(cuts.numbers.tolist(), cuts.codes.tolist(), strict=True))

    return exact_law(program)


@pytest.mark.parametrize("first", [2, 0])
@pytest.mark.parametrize("known", [(), (10.0, 70.0)])
def test_a_cut_under_a_spacing_has_the_chance_that_is_stated(known, first, monkeypatch):
    """Each candidate by how many it stands for, times its weight; and no more is spent."""
    few = {"KNOTS": 3, "STEPS": 2, "FIRST_LEVELS": first, "NEAR_BITS": 2}
    for name, value in (few | {"FIRST_BITS": 1, "USUAL": 20.0, "EVENLY": 60.0}).items():
        monkeypatch.setattr(cutting, name, value)
    count, n_records = 3, 3
    weights = [median_weights(rate, n_records) for rate in RATES]
    listed = [capped(of_level) for of_level in weights]
    laws = {
        codes: law_of_spaced(codes, count, weights, known) for codes in tables(count, n_records)
    }

    def sizes(spacing):
        return np.diff(spacing.below(np.arange(count + 1))).tolist()

    at_root = sizes(Spacing.around(candidates(count), np.array(known), 0))
    assert max(at_root) > 1
    for codes, law in laws.items():
        own = {
            cut: at_root[cut - 1] * plain.node_weight(codes, 0, count + 1, cut, listed[0])
            for cut in range(1, count + 1)
        }
        for cut, weight in own.items():
            found = sum(chance for seen, chance in law.items() if (2, cut) in seen)
            assert found == Fraction(weight, sum(own.values()))
            # The node on its left: candidates lie around this cut too.
            where = np.append(known, candidates(count).positions(np.array([cut])))
            inner = sizes(Spacing.around(candidates(count), where, 1))
            left = {
                one: inner[one - 1] * plain.node_weight(codes, 0, cut, one, listed[1])
                for one in range(1, cut)
            }
            for one, its in left.items():
                both = sum(p for seen, p in law.items() if {(1, one), (2, cut)} <= set(seen))
                assert both == found * Fraction(its, sum(left.values()))
    pairs = {
        (tuple(sorted(one)), tuple(sorted(other)))
        for one, other in neighbours(range(count + 1), n_records)
    }
    assert at_most_exponential(dearest(laws, pairs), pure_cost(RATES))
    for order in ORDERS:
        assert renyi_holds(laws, pairs, order, concentrated_cost(RATES))
