"""Noisy means in exact arithmetic, the grid, and what follows the noise."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from microveil.noise import noise as of_noise
from microveil.noise.noise import (
    NoiseGrid,
    RandomSource,
    discrete_laplace,
    in_order,
    noisy_means,
    perturbed_means,
)
from reference import laplace as plain

whole = st.integers(-(2**40), 2**40)


def wide(bits):
    """A grid whose domain ends no mean."""
    return NoiseGrid(bits=bits, unit=1, lower=-(2**61), upper=2**61)


@given(
    st.lists(st.tuples(whole, st.integers(1, 1000), st.integers(-(2**55), 2**55)), min_size=1),
    st.integers(0, 12),
)
def test_noisy_means_are_exact(clusters, bits):
    """Whole and fraction are those of (sum * 2**bits + noise) / (size * 2**bits)."""
    sums, sizes, noise = (np.array(part) for part in zip(*clusters, strict=True))
    found, fraction = noisy_means(sums, sizes, noise, wide(bits))
    for cluster, (total, size, draw) in enumerate(clusters):
        mean = Fraction(total * 2**bits + draw, size * 2**bits)
        assert found[cluster] == mean // 1
        assert abs(fraction[cluster] - float(mean % 1)) < 1e-12


@given(whole, whole, st.integers(1, 100), st.integers(0, 10), st.integers(-(2**50), 2**50))
def test_what_follows_the_noise_sees_the_noisy_sum_alone(one, other, size, bits, draw):
    """Two sums with noise that makes them equal give one mean, to the last bit."""
    shift = (one - other) << bits
    made = []
    for total, noise in ((one, draw), (other, draw + shift)):
        arrays = np.array([total]), np.array([size]), np.array([noise])
        made.append([own.tolist() for own in noisy_means(*arrays, wide(bits))])
    assert made[0] == made[1]


def test_means_are_clamped_to_the_domain():
    """However large the noise, nothing leaves the bounds, and both are reached."""
    grid = NoiseGrid(bits=0, unit=1, lower=-3, upper=11)
    sums = np.full(1000, 5)
    means = perturbed_means(
        sums, np.ones_like(sums), np.full_like(sums, 2**50), grid, RandomSource.seeded(1)
    )
    assert set(means.tolist()) == {-3, 11}


@given(st.lists(st.tuples(st.floats(-100, 100), st.sampled_from([0.0, 0.5, 1.0, 7.0])), min_size=1))
def test_isotonic_regression_is_in_order_and_leaves_exact_centroids(pairs):
    """The result does not fall; without fixed centroids it is scipy's weighted fit."""
    means, scales = (np.array(part) for part in zip(*pairs, strict=True))
    fixed = scales == 0
    # Exact centroids are in order, as those of a ranked partition are.
    means[fixed] = np.sort(means[fixed])
    fitted = in_order(means, scales)
    assert np.array_equal(fitted[fixed], means[fixed])
    assert np.all(np.diff(fitted) >= -1e-9)
    if not fixed.any():
        expected = isotonic_regression(means, weights=1 / scales**2).x
        assert np.allclose(fitted, expected)


@given(st.lists(st.integers(0, 2**45), min_size=1, max_size=30), st.integers(1, 7))
def test_batches_of_any_size_use_every_word_once_and_in_order(scales, batch):
    """The draws are those of one unbroken stream of words, however they are fetched."""
    stream = iter(RandomSource.seeded(21).words(60_000).tolist())
    expected = [plain.discrete_laplace(scale, stream) if scale else 0 for scale in scales]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("microveil.noise.noise.BATCH", batch)
        patched.setattr("microveil.noise.noise.WORDS_PER_DRAW", 2)
        drawn = discrete_laplace(np.array(scales), RandomSource.seeded(21))
    assert drawn.tolist() == expected


def test_a_release_is_keyed_by_32_bytes_of_the_operating_system(monkeypatch):
    """All of the key comes from there."""
    asked = []

    def urandom(count):
        asked.append(count)
        return bytes(range(count))

    monkeypatch.setattr("microveil.noise.noise.os.urandom", urandom)
    words = RandomSource.system().words(5)
    assert asked == [32]
    assert np.array_equal(words, RandomSource(bytes(range(32))).words(5))


def test_no_mean_leaves_the_domain_by_a_fraction():
    """A mean between the lower bound and one unit below it is clamped, not rounded."""
    grid = NoiseGrid(bits=2, unit=1, lower=0, upper=10)
    found, fraction = noisy_means(np.array([0]), np.array([1]), np.array([-3]), grid)
    assert (found[0], fraction[0]) == (0, 0.0)


def test_isotonic_regression_weighs_by_the_noise_and_rounds_last():
    """A centroid of little noise moves less; means are rounded after they are in order."""
    fitted = in_order(np.array([10.0, 0.0]), np.array([1.0, 3.0]))
    assert np.allclose(fitted, 9.0)
    grid = NoiseGrid(bits=1, unit=2, lower=0, upper=100)
    halves = perturbed_means(
        np.array([5]), np.array([2]), np.array([0]), grid, RandomSource.seeded(1), rounded=False
    )
    assert halves.tolist() == [2.5]


@pytest.mark.parametrize("make", [RandomSource.system, lambda: RandomSource.seeded(1)])
def test_every_stream_has_a_key_of_256_bits_of_its_own(make, monkeypatch):
    """No part of a key comes twice, in it or in another: as a key of 64 bits, repeated, would."""
    keys, cipher = [], of_noise.algorithms.AES

    def watched(key):
        keys.append(key)
        return cipher(key)

    monkeypatch.setattr(of_noise.algorithms, "AES", watched)
    for stream in make().spawn(3):
        stream.spawn(2)
    assert len(keys) == 10
    parts = [key[start : start + 8] for key in keys for start in range(0, len(key), 8)]
    assert {len(key) for key in keys} == {32}
    assert len(set(parts)) == len(parts) == 40
