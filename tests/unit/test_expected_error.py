"""Errors known before any noise is drawn, against sums over every value and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microveil.kernels import expected_error as kernel
from microveil.noise.expected_error import (
    Centroids,
    expected_centroid_error,
    expected_interval_error,
    expected_isotonic_error,
    expected_noise_error,
    expected_transition_error,
    laplace_tail_sums,
)
from microveil.noise.noise import (
    RandomSource,
    continuous_noise,
    in_order,
    noise_grid,
    perturbed_means,
)
from microveil.noise.sensitivity import cluster_local_sensitivity, winsorised_sum
from reference import expected_error as plain

LAWS = ["uniform", "laplace", "gaussian", "triangular"]
WIDE = 1 << 60


def described(clusters, centroids):
    """Within, offsets, sizes and centroids of clusters of whole values."""
    pairs = list(zip(clusters, centroids, strict=True))
    within = [math.fsum((x - c) ** 2 for x in cluster) for cluster, c in pairs]
    offsets = [math.fsum(x - c for x in cluster) for cluster, c in pairs]
    sizes = np.array([len(cluster) for cluster in clusters])
    return np.array(within), np.array(offsets), sizes, np.array(centroids, dtype=float)


def one(members, centroid, scale, lower, upper):
    """Return the expected error of one cluster."""
    figures = described([members], [centroid])
    clusters = Centroids(*figures, np.array([float(scale)]), lower, upper)
    return float(expected_centroid_error(clusters)[0])


scales = st.sampled_from([0.0, 1e-9, 1e12]) | st.floats(1e-3, 1e3)
members = st.lists(st.integers(-8, 12), min_size=1, max_size=7)


@given(members, members, scales, st.integers(-20, -8), st.integers(12, 20))
@example([0, 1], [0, 1], 0.0, -8, 12)
@example([0, 1], [0, 1], 1e-9, -8, 12)
@example([1, 2], [1, 2], 1e-9, -8, 12)
@example([12], [12], 3.0, -8, 12)
@example([-8], [-8], 3.0, -8, 12)
@example([3, 3, 3], [3], 0.0, -8, 12)
def test_the_error_is_that_of_summing_over_every_released_value(values, others, scale, low, high):
    """Around the mean and around any other centroid, at bounds, at halves, at any scale."""
    for centroid in (sum(values) / len(values), sum(others) / len(others)):
        expected = plain.centroid_error(values, centroid, scale, low, high)
        found = one(values, centroid, scale, low, high)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


@given(
    st.floats(-30, 40).map(lambda power: 10.0**power) | st.just(0.0),
    st.floats(0, 1),
    st.integers(0, 60).map(lambda bits: 1 << bits) | st.integers(0, 5),
)
@example(1e-9, 0.0, WIDE)
@example(1e12, 0.5, 1)
@example(1e40, 0.5, WIDE)
@example(2.0, 0.0, 1)
@example(2.001, 0.0, 1)
@example(0.1, 0.0, 0)
def test_tail_sums_keep_their_digits_at_every_scale_and_count(scale, nearest, count):
    """Against the textbook formulas with 300 digits: twelve digits agree, nothing overflows."""
    found = laplace_tail_sums(np.array([scale]), np.array([nearest]), np.array([float(count)]))
    expected = plain.tail_sums(scale, nearest, count)
    assert [float(part[0]) for part in found] == pytest.approx(expected, rel=1e-12, abs=1e-300)


def test_without_bounds_the_error_is_that_of_unclamped_noise_and_of_rounding():
    """Rounding adds a twelfth of a squared unit to each record where the noise is wide."""
    for scale in (2.0, 50.0, 1e7):
        free = 14 + 3 * 2 * scale**2  # the distances to the mean, and a variance for each record
        assert one([4, 5, 9], 6.0, scale, -WIDE, WIDE) == pytest.approx(free + 3 / 12, rel=1e-3)


def test_a_domain_of_one_value_releases_that_value():
    """Whatever the noise, nothing is added where there is no room."""
    assert one([7, 7], 7.0, 1e12, 7, 7) == 0.0
    assert one([7, 7], 7.0, 1.0, 7, 7) == 0.0


BASE = 0.5, 0.25, 3, 2.0, 1.0


def parts_of_error(clusters):
    """The error of clusters without noise, and what noise upwards and downwards adds."""
    settled, added = np.empty(len(clusters)), np.empty((2, len(clusters)))
    figures = map(np.array, zip(*clusters, strict=True))
    kernel.centroid_errors(*figures, 0.0, 9.0, settled, added)
    return np.vstack([settled, added])


@pytest.mark.parametrize("figure", range(5))
@pytest.mark.parametrize("value", [0.0, 5.0])
def test_a_cluster_next_to_one_like_it_errs_as_it_does_alone(figure, value):
    """To the last bit, whichever figure is not its neighbour's, and whatever lies between."""
    other = [*BASE]
    other[figure] = value or (1 if figure == 2 else 0.0)
    clusters = [BASE, other, BASE, BASE, other, other]
    alone = np.hstack([parts_of_error([cluster]) for cluster in clusters])
    assert parts_of_error(clusters).tolist() == alone.tolist()
    assert alone[:, 0].tolist() != alone[:, 1].tolist()


def winsorised_clusters(generator, n_clusters, spread):
    """Ranked clusters of five skewed values, (n_clusters, 5), with sums and sensitivities."""
    values = np.sort(np.rint(np.exp(generator.normal(4, spread, n_clusters * 5))).astype(int))
    values = values.reshape(n_clusters, 5)
    smallest, largest = values.T[:3], values.T[::-1][:3]
    sums = winsorised_sum(values.sum(axis=1), smallest, largest)
    return values, sums, cluster_local_sensitivity(smallest, largest)


def released(sums, sensitivities, share, bounds, run, *, isotonic):
    """Released centroids of one seeded run of the product's own noise; and their scales."""
    sizes = np.full(len(sums), 5)
    grid = noise_grid("A", share, 5, bounds, bounds)
    source = RandomSource.seeded(run)
    steps = sensitivities * grid.unit
    means = perturbed_means(sums, sizes, steps, grid, source, rounded=not isotonic)
    scales = steps / sizes / 2.0**grid.bits
    return (np.rint(in_order(means, scales)) if isotonic else means), scales


@pytest.mark.parametrize(
    ("runs", "doubt"), [(400, 0.08), pytest.param(1000, 0.05, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("isotonic", [False, True])
@pytest.mark.parametrize(
    ("spread", "share"), [(0.5, Fraction(1)), (1.5, Fraction(1)), (1.5, Fraction(1, 100))]
)
def test_the_error_is_the_mean_over_seeded_releases(isotonic, spread, share, runs, doubt):
    """Of releases with the product's noise, within four standard errors."""
    values, sums, sensitivities = winsorised_clusters(np.random.default_rng(2), 40, spread)
    bounds = 0, int(1.5 * values.max())
    errors = []
    for run in range(runs):
        protected, scales = released(sums, sensitivities, share, bounds, run, isotonic=isotonic)
        errors.append(float(((values - protected[:, None]) ** 2).sum()))
    figures = (*described(values.tolist(), (sums / 5).tolist()), scales, *bounds)
    if isotonic:
        expected = expected_isotonic_error(Centroids(*figures))
    else:
        expected = float(expected_centroid_error(Centroids(*figures)).sum())
    assert np.abs(figures[1]).max() > 0
    assert abs(np.mean(errors) - expected) < 4 * np.std(errors) / math.sqrt(runs)
    assert np.std(errors) / math.sqrt(runs) < doubt * expected


def clusters_in_order(n_clusters, scale, generator):
    """Figures of plain means in order, one unit apart, with scales about the given one."""
    centroids = np.sort(generator.integers(0, n_clusters * 4, n_clusters) / 4)
    scales = scale * generator.choice([0.0, 1.0, 5.0], n_clusters)
    none = np.zeros(n_clusters)
    return none, none, np.full(n_clusters, 4), centroids, scales


@pytest.mark.parametrize(
    ("runs", "doubt"), [(1000, 0.02), pytest.param(4000, 0.01, marks=pytest.mark.slow)]
)
def test_centroids_without_noise_stay_where_they_are(runs, doubt):
    """Fitting all stretches in one go gives what the release's stretch by stretch gives."""
    generator = np.random.default_rng(3)
    within, offsets, sizes, centroids, scales = clusters_in_order(30, 2.0, generator)
    offsets = generator.normal(size=30) * 4
    errors = []
    for _ in range(runs):
        means = np.clip(centroids + scales * generator.laplace(size=30), 0, 30)
        moved = np.rint(in_order(means, scales)) - centroids
        errors.append((sizes * moved**2 - 2 * offsets * moved).sum())
    clusters = Centroids(within, offsets, sizes, centroids, scales, 0, 30)
    expected = expected_isotonic_error(clusters)
    assert abs(np.mean(errors) - expected) < 4 * np.std(errors) / math.sqrt(runs)
    assert np.std(errors) / math.sqrt(runs) < doubt * expected


@pytest.mark.parametrize("scale", [0.0, 1e-9, 0.02])
def test_noise_too_small_for_any_disorder_leaves_the_closed_form(scale):
    """Where no run changes anything the figure is that without isotonic regression."""
    centroids = np.arange(20) * 10.0
    figures = np.ones(20), np.zeros(20), np.full(20, 3), centroids, np.full(20, scale), 0, 200
    expected = float(expected_centroid_error(Centroids(*figures)).sum())
    found = expected_isotonic_error(Centroids(*figures))
    assert found == pytest.approx(expected, rel=1e-12)
    assert (found > 20) == (scale == 0.02)


whole = st.lists(st.integers(-5, 15), min_size=1, max_size=6)


@pytest.mark.parametrize("law", LAWS)
@given(
    values=whole,
    delta=st.sampled_from([0.3, 0.5, 1.0, 2.5, 1e-9]) | st.floats(0.4, 60),
    room=st.tuples(st.integers(0, 9), st.integers(0, 9)),
)
def test_noise_on_every_value_is_summed_exactly(law, values, delta, room):
    """Within bounds: against the sum over every released value."""
    bounds = min(values) - room[0], max(values) + room[1]
    found = expected_noise_error(law, delta, np.array(values), bounds)
    expected = plain.noise_error(law, delta, values, bounds)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("delta", [1e-320, 0.2, 0.5, 2.5, 30.0, 110.0, 111.0, 400.0, 1e12])
def test_noise_without_bounds_is_noise_with_bounds_out_of_reach(law, delta):
    """And where it is wide its variance is delta^2/3 and a twelfth for the rounding."""
    values = np.array([3, 8])
    found = expected_noise_error(law, delta, values, None)
    assert found == pytest.approx(expected_noise_error(law, delta, values, (-WIDE, WIDE)))
    if delta >= 400:
        assert found == pytest.approx(2 * (delta**2 / 3 + 1 / 12), rel=1e-5)
    if delta < 200:
        bounds = -3000, 3000
        expected = plain.noise_error(law, delta, [3, 8], bounds) if delta > 1e-300 else 0.0
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("bounds", [None, (0, 40)])
def test_noise_on_every_value_is_that_of_the_product(law, bounds):
    """Against a million draws of the product's noise, rounded and clamped as it does."""
    values = np.repeat(np.arange(0, 41, 4), 100_000)
    noise = continuous_noise(law, 7.3, len(values), RandomSource.seeded(8))
    protected = values + np.rint(noise).astype(np.int64)
    if bounds:
        protected = np.clip(protected, *bounds)
    squared = (protected - values).astype(float) ** 2
    expected = expected_noise_error(law, 7.3, values, bounds)
    assert abs(squared.sum() - expected) < 4 * squared.std() * math.sqrt(len(values))


@given(st.lists(st.lists(st.integers(0, 50), min_size=1, max_size=6), min_size=1, max_size=5))
@example([[5, 5, 5]])
@example([[1], [2]])
def test_a_draw_in_an_interval_errs_as_every_pair_of_its_values(intervals):
    """Against the sum over all pairs, also far from 0, where squares have few digits left."""
    sizes = np.array([len(interval) for interval in intervals])
    flat = np.array([x for interval in intervals for x in interval])
    expected = plain.interval_error(intervals)
    assert expected_interval_error(flat, sizes) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert expected_interval_error(flat + WIDE, sizes) == expected_interval_error(flat, sizes)


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=4, max_size=4), min_size=4, max_size=4),
    st.lists(st.integers(0, 3), min_size=1, max_size=9),
)
def test_a_transition_errs_by_its_row(weights, values):
    """Against the sum over records and values; a value of no record may have an empty row."""
    for code in set(values):
        weights[code][code] += 1
    counts = np.bincount(values, minlength=4)
    found = expected_transition_error(np.array(weights), counts)
    assert found == pytest.approx(plain.transition_error(weights, values), rel=1e-12, abs=1e-12)
