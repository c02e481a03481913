"""Noisy means in exact arithmetic, the grid, and what follows the noise."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import isotonic_regression

from microveil._kernels import grid as kernel
from microveil.isotonic import in_order
from microveil.noise import NoiseGrid, RandomSource, perturbed_means

whole = st.integers(-(2**40), 2**40)


@given(
    st.lists(st.tuples(whole, st.integers(1, 1000), st.integers(-(2**55), 2**55)), min_size=1),
    st.integers(0, 12),
)
def test_noisy_means_are_exact(clusters, bits):
    """Whole and fraction are those of (sum * 2**bits + noise) / (size * 2**bits)."""
    sums, sizes, noise = (np.array(part) for part in zip(*clusters, strict=True))
    found, fraction = np.empty_like(sums), np.empty(len(sums))
    low, high = -(2**61), 2**61
    kernel.noisy_means(sums, sizes, noise, bits, low, high, found, fraction)
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
        found, fraction = np.empty(1, dtype=np.int64), np.empty(1)
        arrays = np.array([total]), np.array([size]), np.array([noise])
        kernel.noisy_means(*arrays, bits, -(2**61), 2**61, found, fraction)
        made.append((found[0], fraction[0]))
    assert made[0] == made[1]


@given(st.lists(st.integers(-50, 50), min_size=1), st.integers(1, 9))
def test_without_noise_the_mean_comes_out(sums, size):
    """Sensitivity 0 leaves the centroid, rounded to the grid (halves to even)."""
    grid = NoiseGrid(bits=4, unit=16, lower=-1000, upper=1000)
    array = np.array(sums)
    means = perturbed_means(
        array, np.full_like(array, size), np.zeros_like(array), grid, RandomSource.seeded(1)
    )
    assert means.tolist() == [round(Fraction(total, size)) for total in sums]


def test_means_are_clamped_to_the_domain():
    """However large the noise, nothing leaves the bounds, and both are reached."""
    grid = NoiseGrid(bits=0, unit=2**50, lower=-3, upper=11)
    sums = np.full(1000, 5)
    means = perturbed_means(
        sums, np.ones_like(sums), np.ones_like(sums), grid, RandomSource.seeded(1)
    )
    assert set(means.tolist()) == {-3, 11}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1), st.sampled_from([1, 10, 100, 1000]))
def test_values_are_rounded_to_the_nearest_grid_point(values, parts):
    """Each by itself, whatever stands beside it."""
    grid = np.empty(len(values), dtype=np.int64)
    assert kernel.to_grid(np.array(values), 1.0, float(parts), grid) == (0, 0, 0)
    for value, units in zip(values, grid.tolist(), strict=True):
        assert abs(Fraction(value) * parts - units) <= Fraction(1, 2) + Fraction(1, 10**6)


def test_what_is_no_value_is_counted():
    """Missing, infinite and huge values are told apart."""
    values = np.array([np.nan, np.inf, -np.inf, 1e300, 2.0])
    grid = np.empty(5, dtype=np.int64)
    assert kernel.to_grid(values, 1.0, 1.0, grid) == (1, 2, 1)
    assert grid.tolist() == [0, 0, 0, 0, 2]


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
