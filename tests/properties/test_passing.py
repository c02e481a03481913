"""Which of many noisy counts pass: the law of their noise, by tails of 60 digits."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from microveil.noise import passing as inner
from microveil.noise.counts import CountNoise, gaussian_noise, laplace_noise
from microveil.noise.noise import RandomSource
from microveil.noise.passing import LARGEST_DEVIATION, WORD, passing, tail_bounds

DIGITS = 120
ONE = 1 << WORD


def laplace(scale):
    return CountNoise(is_gaussian=False, scale=Fraction(scale), bits=0)


NOISES = [
    gaussian_noise(Fraction(3)), gaussian_noise(Fraction(2, 9)), gaussian_noise(Fraction(7, 12345)),
    laplace(1), laplace(3), laplace_noise(Fraction(3, 7)),
]  # fmt: skip
FEW = [gaussian_noise(Fraction(1, 4)), laplace(3)]


def name_of(noise):
    return f"{'gaussian' if noise.is_gaussian else 'laplace'} {float(noise.scale):.3g}"


def tail(noise, least):
    """P(Z >= least) by its definition, to some hundred digits."""
    with decimal.localcontext(prec=DIGITS):

        def fall(numerator, denominator):
            return (-decimal.Decimal(numerator) / decimal.Decimal(denominator)).exp()

        top, bottom = noise.scale.as_integer_ratio()
        if not noise.is_gaussian:
            return Fraction(fall(least, top) / (1 + fall(1, top)))
        # Beyond 30 deviations more, terms are below the last digit of the first of them.
        last = least + math.ceil(30 * math.sqrt(noise.scale)) + 30
        terms = [fall(z * z * bottom, 2 * top) for z in range(last)]
        return Fraction(sum(terms[least:]) / (2 * sum(terms[1:]) + 1))


class Given:
    """A source whose words are given: those of the counts, and then those that are asked more."""

    def __init__(self, words, more=()):
        self._words, self.more, self.asked = list(words), list(more), 0

    def words(self, count):
        found, self._words = self._words[:count], self._words[count:]
        return np.array(found, dtype=np.uint64)

    def integer_below(self, bound):
        assert bound == ONE
        self.asked += 1
        return self.more.pop(0)


@pytest.mark.parametrize("noise", NOISES, ids=name_of)
@pytest.mark.parametrize("places", [128, 256])
def test_tails_lie_between_their_bounds_and_these_close_together(noise, places):
    """To 30 digits and more of the tail where it is above 1e-30, near and far."""
    deviation = math.sqrt(noise.variance) * (1 << noise.bits)
    for least in sorted({1, 2, *(math.ceil(far * deviation) for far in (0.5, 1, 4, 7, 11))}):
        if noise.is_gaussian or least < 1 << 40:
            exact = tail(noise, least) * (1 << places)
            lower, upper = tail_bounds(noise, least, places)
            assert lower <= exact <= upper
            # Each of the terms is off by some units in 2**-64 of a place, or by a few places.
            assert upper - lower <= 8


@pytest.mark.parametrize("noise", [gaussian_noise(Fraction(1, 100)), laplace(10)], ids=name_of)
def test_a_tail_too_far_for_any_place_is_bounded_by_one(noise):
    """So that no count passes by its first word but the least, and this asks for more."""
    least = 10_000
    assert tail_bounds(noise, least, 128)[0] == 0
    assert 1 <= tail_bounds(noise, least, 128)[1] <= 8
    for word, asked in ((1, 0), (0, 1)):
        source = Given([word], [ONE - 1])
        where, _ = passing(noise, np.array([least]), source)
        assert (len(where), source.asked) == (0, asked)


@pytest.mark.parametrize("noise", FEW, ids=name_of)
@pytest.mark.parametrize("least", [1, 5])
def test_evenly_spread_words_give_each_noise_its_share(noise, least):
    """Of 20,000 words as many pass as the tail says, with each noise, to one: no law is nearer."""
    n_words = 20_000
    words = [(2 * number + 1) * ONE // (2 * n_words) for number in range(n_words)]
    source = Given(words)
    where, drawn = passing(noise, np.full(n_words, least), source)
    assert where.tolist() == list(range(len(where)))  # the noise falls with the number
    for z in range(least, least + 8):
        assert abs(np.count_nonzero(drawn >= z) - n_words * tail(noise, z)) <= 1


@pytest.mark.parametrize("noise", FEW, ids=name_of)
def test_counts_pass_independently_by_the_law_of_their_noise(noise):
    """Chi-squared over 262,144 draws at four thresholds; of a threshold one off it fails."""
    asked, n_draws = (1, 3, 4, 8), 1 << 18
    least = np.tile(asked, n_draws // len(asked))
    where, drawn = passing(noise, least, RandomSource.seeded(3))
    assert (drawn >= least[where]).all()

    def p_value(shift):
        seen, due = [], []
        for one in asked:
            own, total = drawn[least[where] == one], n_draws // len(asked)
            tails = [1.0, *(float(tail(noise, z + shift)) for z in range(one, one + 6)), 0.0]
            reached = [total, *(np.count_nonzero(own >= z) for z in range(one, one + 6)), 0]
            seen += (-np.diff(reached)).tolist()
            due += (-np.diff(tails) * total).tolist()
        return stats.chisquare(seen, due, ddof=len(asked) - 1, sum_check=False).pvalue

    assert p_value(0) > 1e-3
    assert p_value(1) < 1e-12
    # Whether one passes says nothing about the next.
    passed = np.zeros(n_draws, dtype=bool)
    passed[where] = True
    together = [np.count_nonzero(passed[first::4] & passed[first + 1 :: 4]) for first in range(3)]
    for first, found in enumerate(together):
        chance = float(tail(noise, asked[first]) * tail(noise, asked[first + 1]))
        assert stats.binomtest(found, n_draws // 4, chance).pvalue > 1e-3


@pytest.mark.parametrize("noise", [*FEW, gaussian_noise(Fraction(1, 400))], ids=name_of)
@pytest.mark.parametrize("n_equal", [1, 2, 3, 5])
def test_more_bits_are_drawn_until_a_word_differs_from_the_tail(noise, n_equal):
    """A number that agrees with the tail in so many words is decided by the next one."""
    least = 5
    exact = tail(noise, least)
    digits = [int(exact * ONE**number) % ONE for number in range(1, n_equal + 1)]
    following = int(exact * ONE ** (n_equal + 1)) % ONE
    for word, passes in ((following - 1, True), (following + 1, False)):
        source = Given(digits[:1], [*digits[1:], word])
        where, drawn = passing(noise, np.array([least]), source)
        assert source.asked == n_equal
        assert drawn.tolist() == ([least] if passes else [])
        assert len(where) == passes


@pytest.mark.parametrize("noise", FEW, ids=name_of)
def test_a_word_at_the_limit_is_looked_at_and_one_above_is_not(noise):
    """The word of the tail itself decides nothing: those beside it do, without another."""
    for least in (1, 2, 9):
        at = int(tail(noise, least) * ONE)
        for word, more, asked, passes in (
            (at - 1, [], 0, True), (at, [0], 1, True), (at, [ONE - 1], 1, False),
            (at + 1, [], 0, False),
        ):  # fmt: skip
            source = Given([word], more)
            assert len(passing(noise, np.array([least]), source)[0]) == passes
            assert source.asked == asked


@pytest.mark.parametrize("noise", FEW, ids=name_of)
def test_each_count_is_held_against_its_own_threshold_in_every_batch(noise, monkeypatch):
    """The same words pass in batches of any size, those with no threshold among the others too."""
    least = np.tile([1, 7, 2, 30, 4], 300)
    whole = passing(noise, least, RandomSource.seeded(5))
    words = RandomSource.seeded(5).words(len(least))
    chances = [float(tail(noise, one)) for one in least[:5].tolist()]
    due = np.flatnonzero(words * 2.0**-64 < np.tile(chances, 300))
    assert whole[0].tolist() == due.tolist()
    for size in (1, 3, 1024):
        monkeypatch.setattr(inner, "BATCH", size)
        again = passing(noise, least, Given(words))
        assert [own.tolist() for own in again] == [own.tolist() for own in whole]


def test_what_cannot_be_drawn_is_refused():
    """A count that passes without noise, and a law whose tails are too many to be summed."""
    source = RandomSource.seeded(1)
    with pytest.raises(ValueError, match="above 0"):
        passing(laplace(3), np.array([4, 0]), source)
    wide = gaussian_noise(Fraction(1, LARGEST_DEVIATION**2 + 1))
    with pytest.raises(ValueError, match="too wide"):
        passing(wide, np.array([4]), source)
