"""The law of the noise, that the tests of it can fail, and that words serve once."""

import itertools
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from microveil.kernels import laplace as kernel
from microveil.noise.noise import RandomSource, discrete_laplace, permutation
from reference import laplace as plain

DRAWS = 400_000


def probabilities(scale, edge):
    """The law on -edge..edge, with the tails in the outermost cells."""
    ratio = exp(-1 / scale)
    inside = [(1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(-edge, edge + 1)]
    tail = ratio ** (edge + 1) / (1 + ratio)
    return np.array([tail, *inside, tail])


def fit(draws, scale):
    """The p-value of the chi-squared test of draws against the law of a scale."""
    edge = max(1, int(5 * scale))
    cells = np.clip(draws, -edge - 1, edge + 1) + edge + 1
    observed = np.bincount(cells, minlength=2 * edge + 3)
    expected = probabilities(scale, edge) * len(draws)
    # The outer cells may be too thin: merge from the outside until five are expected.
    while expected[0] < 5:
        expected = np.concatenate([[expected[:2].sum()], expected[2:-2], [expected[-2:].sum()]])
        observed = np.concatenate([[observed[:2].sum()], observed[2:-2], [observed[-2:].sum()]])
    return chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


@pytest.mark.parametrize("scale", [1, 2, 3, 10, 33])
def test_draws_follow_the_discrete_laplace_law(scale):
    """Chi-squared against the true probabilities does not reject (seeded, so for good)."""
    draws = discrete_laplace(np.full(DRAWS, scale), RandomSource.seeded(scale))
    assert fit(draws, scale) > 1e-3


@pytest.mark.parametrize("scale", [10, 33])
@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_a_scale_off_by_three_percent_is_rejected(scale, factor):
    """The same test tells noise that is too small, and noise that is too large."""
    draws = discrete_laplace(np.full(DRAWS, scale), RandomSource.seeded(scale))
    assert fit(draws, scale * factor) < 1e-6


def test_large_scales_follow_the_law():
    """At scales of real releases: quantiles of |z|/scale are those of the exponential law."""
    scale = 2**40 + 12345
    draws = np.abs(discrete_laplace(np.full(DRAWS, scale), RandomSource.seeded(4))) / scale
    assert chisquare(np.histogram(np.exp(-draws), bins=50, range=(0, 1))[0]).pvalue > 1e-3
    off = np.histogram(np.exp(-draws * 1.03), bins=50, range=(0, 1))[0]
    assert chisquare(off).pvalue < 1e-6


def test_the_law_is_that_of_opendp_at_small_scales():
    """An independent exact sampler gives the same frequencies (two-sample chi-squared)."""
    import opendp.prelude as opendp

    opendp.enable_features("contrib")
    space = opendp.vector_domain(opendp.atom_domain(T="i64")), opendp.l1_distance(T="i64")
    peer = np.array(opendp.m.make_laplace(*space, scale=3.0)([0] * 100_000))
    ours = discrete_laplace(np.full(100_000, 3), RandomSource.seeded(9))
    cells = [np.bincount(np.clip(draws, -15, 15) + 15, minlength=31) for draws in (peer, ours)]
    both = (cells[0] + cells[1]) / 2
    statistic = sum(((cell - both) ** 2 / both).sum() for cell in cells)
    # Chi-squared with 30 degrees of freedom: 1e-6 above 85, the scale off by 3 % far above.
    assert statistic < 85


@given(
    st.lists(st.integers(0, 2**62), min_size=1, max_size=20),
    st.integers(0, 2**32),
)
def test_the_kernel_is_the_plain_algorithm_word_for_word(scales, seed):
    """From the same words come the same draws, and as many words are used."""
    words = RandomSource.seeded(seed).words(4000)
    out = np.zeros(len(scales), dtype=np.int64)
    done, consumed = kernel.discrete_laplace(np.array(scales), words, out, 0)
    assert done == len(scales)
    stream = iter(words.tolist())
    expected = [plain.discrete_laplace(scale, stream) if scale else 0 for scale in scales]
    assert out.tolist() == [max(-(2**62), min(2**62, z)) for z in expected]
    assert len(list(stream)) == len(words) - consumed


def test_the_rare_branch_of_one_over_e_is_exact():
    """At the one undecided value, the tail series decides: 1 - 1/21 + 1/(21*22) - ..."""
    undecided = plain.DERANGEMENTS_20 - 1
    source = RandomSource.seeded(11)
    successes = 0
    trials = 20_000
    for _ in range(trials):
        words = np.concatenate([np.array([undecided], dtype=np.uint64), source.words(40)])
        success, at = kernel._one_over_e(words, 0)
        stream = iter(words.tolist())
        assert success == plain.one_over_e(stream)
        assert len(words) - at == len(list(stream))
        successes += success
    expected = 1 - 1 / 21 + 1 / (21 * 22)
    assert abs(successes / trials - expected) < 5 * (expected * (1 - expected) / trials) ** 0.5


def test_no_word_is_ever_given_twice():
    """A stream's words are consecutive blocks of one keystream; streams differ."""
    key = bytes(range(32))
    apart = np.concatenate([RandomSource(key).words(7), np.empty(0, np.uint64)])
    source = RandomSource(key)
    pieces = np.concatenate([source.words(3), source.words(4)])
    assert np.array_equal(apart, pieces)
    streams = [RandomSource.system(), RandomSource.system(), *RandomSource.system().spawn(3)]
    words = np.concatenate([stream.words(1000) for stream in streams])
    assert len(np.unique(words)) == len(words)


@given(st.integers(1, 2**300), st.integers(0, 2**32))
def test_integers_below_a_bound_are_those_of_the_plain_algorithm(bound, seed):
    """From the same words comes the same integer, of whatever size."""
    words = RandomSource.seeded(seed).words(2000)
    expected = plain.integer_below(bound, iter(words.tolist()))
    drawn = RandomSource.seeded(seed).integer_below(bound)
    assert 0 <= drawn == expected < bound


@pytest.mark.parametrize("bound", [0, -1])
def test_there_is_no_integer_below_a_bound_below_1(bound):
    """It is refused, rather than sought for ever."""
    with pytest.raises(ValueError, match="the bound must be at least 1"):
        RandomSource.seeded(1).integer_below(bound)


def test_permutations_are_uniform_and_those_of_the_plain_algorithm():
    """All 24 orders of four items come equally often."""
    source = RandomSource.seeded(3)
    counts = dict.fromkeys(itertools.permutations(range(4)), 0)
    for _ in range(24_000):
        counts[tuple(permutation(4, source).tolist())] += 1
    assert chisquare(list(counts.values())).pvalue > 1e-3
    words = RandomSource.seeded(8).words(200)
    items = np.arange(50)
    kernel.shuffle(items, words, 0)
    assert items.tolist() == plain.shuffled(50, iter(words.tolist()))
