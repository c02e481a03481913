"""Draws of the exponential mechanism: exact, and their loss over brute-forced neighbours."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from microveil.kernels.synthesis import stretch_sums, whole_numbers
from microveil.noise import exponential
from microveil.noise.exponential import draw_run, draw_weighted, median_weights
from microveil.noise.noise import RandomSource
from reference import exponential as plain

rates = st.one_of(
    st.fractions(Fraction(1, 1000), 12, max_denominator=1000),
    st.integers(0, 300).map(lambda power: Fraction(1, 2**power)),
)
several = st.lists(
    st.tuples(
        st.fractions(-8, 8, max_denominator=6),
        st.one_of(st.integers(0, 3), st.integers(1, 2**40)),
    ),
    min_size=1,
    max_size=6,
).filter(lambda runs: any(many for _, many in runs))


class Digits(RandomSource):
    """A source whose bits are the binary digits of a number from 0 to below 1."""

    def __init__(self, number):
        super().__init__(bytes(32))
        self.rest, self.n_bits = number, 0

    def integer_below(self, bound):
        self.n_bits += bound.bit_length() - 1
        assert bound == 1 << (bound.bit_length() - 1)
        drawn = math.floor(self.rest * bound)
        self.rest = self.rest * bound - drawn
        return drawn


class Next(RandomSource):
    """A source that gives one whole number, below whatever bound."""

    def __init__(self, number):
        super().__init__(bytes(32))
        self.number = number

    def integer_below(self, bound):
        assert 0 <= self.number < bound
        return self.number


def wrong_draws(losses, multiplicities, rate, drawn_at):
    """At how many numbers beside the borders of the runs another run comes out than belongs.

    The numbers are 2**-20, ..., 2**-300 away: a law that is off by more than 2**-300 shows.
    """
    borders = plain.thresholds(losses, multiplicities, rate)
    wrong = 0
    for border in borders[:-1]:
        for power in (20, 90, 127, 128, 129, 130, 131, 140, 200, 256, 300):
            for sign in (-1, 1):
                number = border + Fraction(sign, 2**power)
                if 0 <= number < 1:
                    due = sum(end <= number for end in borders)
                    wrong += draw_run(losses, multiplicities, drawn_at, Digits(number)) != due
    return wrong


@given(several, rates)
def test_a_uniform_number_draws_the_run_in_whose_share_it_lies(runs, rate):
    """So every run has its share exactly, to 2**-300, at the borders of the shares too."""
    losses, multiplicities = zip(*runs, strict=True)
    assert wrong_draws(losses, multiplicities, rate, rate) == 0


def test_a_rate_off_by_a_part_in_10_to_the_60_is_noticed():
    """The same look at the borders finds a law that is wrong by next to nothing."""
    losses, multiplicities = [Fraction(0), Fraction(1), Fraction(5, 2)], [1, 3, 2]
    rate = Fraction(7, 10)
    for off in (1 - Fraction(1, 10**60), 1 + Fraction(1, 10**60)):
        assert wrong_draws(losses, multiplicities, rate, rate * off) > 0


@given(rates, st.integers(0, 600), st.integers(1, 300))
def test_exponentials_are_off_by_less_than_they_are_said_to_be(rate, whole, places):
    """In units of the last place, against Taylor's series in whole numbers."""
    exponent = rate * whole
    found = exponential.exponential(*exponent.as_integer_ratio(), places)
    if exponent > 700:
        assert found == 0
        return
    low, high = plain.exponential(exponent)
    shift = plain.PLACES - places
    assert found - exponential.SLACK << shift < low
    assert high < found + exponential.SLACK << shift


def test_a_loss_beyond_all_measure_is_no_trouble():
    """Exponents of any size are weighed; what is left of such weights is next to nothing."""
    losses = [Fraction(10**30), Fraction(0), Fraction(10**12, 7)]
    for seed in range(5):
        source = RandomSource.seeded(seed)
        assert draw_run(losses, [2**40, 1, 2**40], Fraction(10**9), source) == 1


def test_frequencies_are_those_of_the_mechanism():
    """Chi-squared does not reject the law, but one with a rate that is 15 % off."""
    losses, multiplicities = [Fraction(step, 2) for step in (0, 3, 1, 8, 5)], [1, 4, 0, 9, 2]
    source = RandomSource.seeded(1)
    drawn = Counter(draw_run(losses, multiplicities, Fraction(1), source) for _ in range(8000))
    observed = [drawn[run] for run in (0, 1, 3, 4)]
    assert drawn[2] == 0

    def fit(rate):
        ends = plain.thresholds(losses, multiplicities, rate)
        shares = [ends[0], ends[1] - ends[0], ends[3] - ends[2], ends[4] - ends[3]]
        return chisquare(observed, [8000 * float(share) for share in shares]).pvalue

    assert fit(Fraction(1)) > 1e-3
    assert max(fit(Fraction(17, 20)), fit(Fraction(23, 20))) < 1e-6


@pytest.mark.parametrize(
    ("losses", "multiplicities", "rate"),
    [([0], [1], -1), ([0, 1], [1, -1], 1), ([0, 1], [0, 0], 1), ([], [], 1)],
)
def test_what_has_no_law_is_refused(losses, multiplicities, rate):
    """A rate or a multiplicity below 0, and no candidate at all."""
    with pytest.raises(ValueError, match=r"must be|empty"):
        draw_run(losses, multiplicities, Fraction(rate), RandomSource.seeded(1))


@given(rates, st.integers(0, 2000))
def test_weights_fall_by_no_more_than_the_rate_allows(rate, count):
    """1 <= f(u) / f(u + 1/2) <= exp(rate/2), proven in whole numbers, and the recursion holds."""
    weights = whole_numbers(median_weights(rate, count))
    assert weights[0] == 1 << 160
    assert 1 <= len(weights) <= count + 1
    assert weights == plain.falling(rate, count)
    _, high = plain.exponential(rate / 2)
    for weight, lighter in itertools.pairwise(weights):
        assert lighter < weight
        assert weight * high <= lighter * plain.ONE


def test_weights_of_extreme_rates():
    """Without a rate all weigh alike; at a huge one a step costs all that 64 bits can say."""
    for rate, due in (
        (Fraction(0), [1 << 160]),
        (Fraction(1, 2**66), [1 << 160]),
        (Fraction(10**9), [1 << 160, 1 << 96, 1 << 32, 1]),
    ):
        assert whole_numbers(median_weights(rate, 9)) == due
    assert len(median_weights(Fraction(1), 3)) == 4
    with pytest.raises(ValueError, match="at least 0"):
        median_weights(Fraction(-1), 9)


def capped(weights):
    """The weight of a loss of so many halves: beyond the list, its last."""
    listed = whole_numbers(weights)
    return lambda halves: listed[min(halves, len(listed) - 1)]


@pytest.mark.parametrize("rate", [Fraction(3, 10), Fraction(1), Fraction(9), Fraction(1, 1000)])
def test_one_median_costs_no_more_than_twice_its_rate(rate):
    """Over all neighbours of small tables: the loss, and the range of it that rho is made of."""
    weight = capped(median_weights(rate, 4))
    for n_records in (1, 2, 3):
        every = range(1, 6)
        worst = plain.worst_ratios(range(6), n_records, 5, every, weight)
        far = 2**40
        some = plain.worst_ratios([0, 1, 2, far - 1, far], n_records, far, [1, 2, 3, far], weight)
        for ratio in (*worst, *some):
            assert plain.at_most_exponential(ratio, 2 * rate)


def test_the_bound_on_a_median_is_reached():
    """0.6000 of 0.6: where one run holds nearly all candidates, a cut beside it shows it all."""
    weight = capped(median_weights(Fraction(3, 10), 40))
    far = 2**40
    places, cuts = [0, 1, far - 1, far], [1, 2, far]
    losses = [math.log(ratio) for ratio in plain.worst_ratios(places, 3, far, cuts, weight)]
    assert [round(loss, 4) for loss in losses] == [0.6, 0.6]


def test_weights_cut_off_at_a_floor_break_the_bound():
    """Of max(1, floor(2**3 exp(-rate u))) the same brute force finds 0.94 where 0.6 is due."""
    rate, far = Fraction(3, 10), 2**40

    def weight(halves):
        return max(1, math.floor(2**3 * math.exp(-rate * halves / 2)))

    loss, _ = plain.worst_ratios([0, 1, far - 1, far], 6, far, [1, 2, far], weight)
    assert not plain.at_most_exponential(loss, 2 * rate)
    assert round(math.log(loss), 2) == 0.94


@pytest.mark.parametrize("length", [1, 3, 1000])
@given(
    runs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=9).filter(
        lambda runs: any(size * weight for size, weight in runs)
    )
)
def test_weighted_draws_are_exact(length, runs):
    """Of all whole numbers below the total each index is drawn by as many as its size by weight."""
    sizes, weights = (np.array(own) for own in zip(*runs, strict=True))
    due = (sizes * weights).tolist()
    with pytest.MonkeyPatch.context() as once:
        once.setattr(exponential, "STRETCH", length)
        drawn = Counter(
            draw_weighted(sizes, plain.limbs(weights.tolist()), Next(number))
            for number in range(sum(due))
        )
    assert [drawn[index] for index in range(len(due))] == due


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 2**62), st.integers(0, 2**161 - 1)), max_size=20),
    st.integers(1, 21),
)
def test_sums_over_stretches_are_those_of_whole_numbers(runs, length):
    """Of sizes of one limb and of two, up to the last that there is room for."""
    sizes = np.array([size for size, _ in runs], dtype=np.int64)
    found = np.full((-(-len(runs) // length), 8), 7, dtype=np.uint32)
    stretch_sums(sizes, plain.limbs(weight for _, weight in runs), length, found)
    products = [size * weight for size, weight in runs]
    due = [sum(products[start : start + length]) for start in range(0, len(products), length)]
    assert whole_numbers(found) == due
