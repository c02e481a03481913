"""The law of discrete Gaussian noise, that the tests of it can fail, and what a shift costs."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import chisquare

from microveil.noise import counts as gaussian
from microveil.noise.counts import discrete_gaussian
from microveil.noise.noise import RandomSource, discrete_laplace
from reference import gaussian as plain

DRAWS = 100_000
VARIANCES = [Fraction(1, 4), Fraction(1), Fraction(7, 3), Fraction(9), Fraction(1000, 7)]


def fit(draws, variance):
    """The p-value of the chi-squared test of draws against the law of a variance."""
    edge = max(1, int(3.3 * float(variance) ** 0.5))
    expected = np.array(plain.law(variance, edge)) * len(draws)
    observed = np.bincount(np.clip(draws, -edge - 1, edge + 1) + edge + 1, minlength=2 * edge + 3)
    # The outer values may be too rare: merge from the outside until five are expected.
    while expected[0] < 5:
        expected = np.concatenate([[expected[:2].sum()], expected[2:-2], [expected[-2:].sum()]])
        observed = np.concatenate([[observed[:2].sum()], observed[2:-2], [observed[-2:].sum()]])
    return chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


@pytest.mark.parametrize("variance", VARIANCES)
def test_draws_follow_the_discrete_gaussian_law(variance):
    """Chi-squared against the true probabilities does not reject, and a variance 6 % off does."""
    draws = discrete_gaussian(variance, DRAWS, RandomSource.seeded(1))
    assert draws.dtype == np.int64
    assert len(draws) == DRAWS
    assert fit(draws, variance) > 1e-3
    for off in (Fraction(47, 50), Fraction(53, 50)):
        assert fit(draws, variance * off) < 1e-6


def test_proposals_kept_by_a_law_a_little_off_are_rejected(monkeypatch):
    """Keeping a proposal with probability exp(-0.9 gamma), not exp(-gamma), shows."""
    keep = gaussian._exponential

    def too_often(numerator, denominator, words):
        return keep(9 * numerator, 10 * denominator, words)

    monkeypatch.setattr(gaussian, "_exponential", too_often)
    assert fit(discrete_gaussian(Fraction(9), DRAWS, RandomSource.seeded(1)), Fraction(9)) < 1e-6


def test_draws_made_one_at_a_time_follow_the_law():
    """Proposals and words that a draw leaves over are dropped unseen: no outcome is favoured."""
    source = RandomSource.seeded(2)
    draws = [int(discrete_gaussian(Fraction(1), 1, source)[0]) for _ in range(4000)]
    assert fit(np.array(draws), Fraction(1)) > 1e-3


def test_large_variances_follow_the_law():
    """At a variance of 2**79 and a little: quantiles are those of the normal law."""
    variance = Fraction(2**80 + 12345, 2)
    draws = discrete_gaussian(variance, DRAWS, RandomSource.seeded(4)) / math.sqrt(variance)
    counts = np.histogram(ndtr(draws), bins=50, range=(0, 1))[0]
    assert chisquare(counts).pvalue > 1e-3
    assert chisquare(np.histogram(ndtr(draws * 1.03), bins=50, range=(0, 1))[0]).pvalue < 1e-6


def test_the_law_is_that_of_opendp():
    """An independent exact sampler gives the same frequencies (two-sample chi-squared)."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l2_distance(T="f64")
    peer = np.array(opendp.m.make_gaussian(*space, scale=3.0)([0] * 20_000))
    ours = discrete_gaussian(Fraction(9), 20_000, RandomSource.seeded(9))
    counts = [np.bincount(np.clip(draws, -10, 10) + 10, minlength=21) for draws in (peer, ours)]
    both = (counts[0] + counts[1]) / 2
    statistic = sum(((count - both) ** 2 / both).sum() for count in counts)
    # Chi-squared with 20 degrees of freedom: 1e-6 above 68.
    assert statistic < 68


@given(
    st.one_of(
        st.fractions(Fraction(1, 50), 300, max_denominator=50),
        st.integers(1, 9).map(lambda sigma: Fraction(sigma**2)),
        st.integers(0, 80).map(lambda power: Fraction(2**power)),
    ),
    st.integers(0, 2**32),
)
def test_draws_are_those_of_the_published_algorithm_word_for_word(variance, seed):
    """The same proposals and the same words make the same draws."""
    draws = discrete_gaussian(variance, 20, RandomSource.seeded(seed))
    source = RandomSource.seeded(seed)
    proposals = discrete_laplace(np.full(20 * 3 // 2 + 16, plain.scale(variance)), source)
    words = iter(source.words(4000).tolist())
    expected = plain.discrete_gaussian(variance, proposals.tolist(), words)[:20]
    assert draws[: len(expected)].tolist() == expected


@given(
    st.fractions(0, 1),
    st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=3),
    st.integers(0, 3),
    st.integers(-1, 1),
)
def test_a_fraction_is_drawn_exactly(probability, words, alike, off):
    """A Bernoulli draw is 1 where the real number that the words spell is below the fraction."""
    # Words that begin as the fraction's own digits do, or nearly, are the hard ones.
    digits = [int(probability * 2 ** (64 * place)) % 2**64 for place in range(1, alike + 1)]
    if digits:
        digits[-1] = min(max(digits[-1] + off, 0), 2**64 - 1)
    spelt = [*digits, *words, 1]
    number = sum(Fraction(word, 2 ** (64 * place)) for place, word in enumerate(spelt, start=1))
    drawn = gaussian._bernoulli(*probability.as_integer_ratio(), iter([*spelt, 2**63, 2**63]))
    assert drawn == (number < probability)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(7, 3), Fraction(40)])
def test_a_shift_by_one_costs_rho_one_over_twice_the_variance(variance):
    """Renyi divergences of all orders are at most order * rho; with 1 % less rho some is more."""
    twice, far = 2 * float(variance), 40 + int(40 * math.sqrt(variance))
    total = math.fsum(math.exp(-z * z / twice) for z in range(-far, far + 1))
    rho = 1 / twice
    costs = []
    for order in (1.01, 1.5, 2.0, 4.0, 8.0):
        # The sum of p(z)**order * p(z + 1)**(1 - order).
        terms = [
            math.exp(((order - 1) * (z + 1) ** 2 - order * z**2) / twice)
            for z in range(-far, far + 1)
        ]
        costs.append(math.log(math.fsum(terms) / total) / (order - 1) / order)
    assert max(costs) <= rho * (1 + 1e-9)
    assert max(costs) > 0.99 * rho


def test_small_variances_leave_what_is_likely():
    """At a variance of a thousandth nothing but 0 comes out; no draw is asked for, none is made."""
    assert not discrete_gaussian(Fraction(1, 1000), 2000, RandomSource.seeded(1)).any()
    assert discrete_gaussian(Fraction(1), 0, RandomSource.seeded(1)).shape == (0,)


@pytest.mark.parametrize("variance", [Fraction(0), Fraction(-1), Fraction(2**80) + 1])
def test_a_variance_without_a_law_or_without_room_is_refused(variance):
    """Not above 0, or so large that the proposals would leave 64 bits."""
    with pytest.raises(ValueError, match="variance must be above 0 and at most"):
        discrete_gaussian(variance, 1, RandomSource.seeded(1))
