"""Errors known before any noise is drawn, against sums over every value and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microveil.kernels import expected_error as kernel
from microveil.noise import expected_error, expected_randomisation
from microveil.noise.expected_error import (
    expected_centroid_error,
    expected_isotonic_error,
    laplace_tail_sums,
)
from microveil.noise.expected_randomisation import (
    expected_interval_error,
    expected_noise_error,
    expected_transition_error,
)
from microveil.noise.noise import (
    RandomSource,
    continuous_noise,
    in_order,
    noise_grid,
    perturbed_means,
    uniform,
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
    return float(expected_centroid_error(*figures, np.array([float(scale)]), lower, upper)[0])


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


@pytest.mark.parametrize("scale", [0.0, 5e-324, 1e-200, 1e150, math.inf])
@pytest.mark.parametrize("count", [0.0, 1.0, 2.0**62])
def test_no_scale_and_no_count_is_too_extreme(scale, count):
    """Sums stay finite from no noise to all noise, which reaches the bound half the time."""
    found = laplace_tail_sums(np.array([scale]), np.array([0.5]), np.array([count]))
    reached = 0.5 if scale > 1 else 0.0
    assert found[0][0] == pytest.approx(reached * count)
    assert found[1][0] == pytest.approx(reached * count**2)


def test_without_bounds_the_error_is_that_of_unclamped_noise_and_of_rounding():
    """Rounding adds a twelfth of a squared unit to each record where the noise is wide."""
    for scale in (2.0, 50.0, 1e7):
        free = 14 + 3 * 2 * scale**2  # the distances to the mean, and a variance for each record
        assert one([4, 5, 9], 6.0, scale, -WIDE, WIDE) == pytest.approx(free + 3 / 12, rel=1e-3)


def test_without_noise_the_error_is_that_of_the_rounded_centroid():
    """A constant cluster loses nothing, a half rounds to even, upwards as downwards."""
    assert one([5, 5, 5], 5.0, 0.0, 0, 9) == 0.0
    assert one([0, 1], 0.5, 0.0, 0, 9) == 1.0
    # 2.5 is released as 2: 1 of distance for 3; 3.5 as 4: 1 for 3.
    assert one([2, 2, 2, 3], 2.5, 0.0, 0, 9) == 1.0
    assert one([4, 4, 4, 3], 3.5, 0.0, 0, 9) == 1.0


def test_a_domain_of_one_value_releases_that_value():
    """Whatever the noise, nothing is added where there is no room."""
    assert one([7, 7], 7.0, 1e12, 7, 7) == 0.0
    assert one([7, 7], 7.0, 1.0, 7, 7) == 0.0


def test_clusters_are_taken_one_by_one_whatever_the_batch(monkeypatch):
    """The error of many clusters is that of each alone; and so is their sum, in order or not."""
    generator = np.random.default_rng(1)
    centroids = np.arange(50) * 1000.0
    figures = generator.random(50), generator.normal(size=50), np.arange(3, 53), centroids
    scales = generator.exponential(size=50)
    alone = [
        expected_centroid_error(*(part[j : j + 1] for part in (*figures, scales)), 0, 50_000)[0]
        for j in range(50)
    ]
    monkeypatch.setattr(expected_error, "BATCH", 7)
    found = expected_centroid_error(*figures, scales, 0, 50_000)
    assert np.allclose(found, alone, rtol=1e-12)
    # So far apart that noise never puts them out of order.
    ordered = expected_isotonic_error(*figures, scales, 0, 50_000, in_order=in_order)
    assert ordered == pytest.approx(sum(alone), rel=1e-9)


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


def test_centroids_are_clamped_then_put_in_order_then_rounded():
    """The regression gets clamped centroids that are not yet rounded."""

    def looked_at(means, scales):
        assert means.min() >= 0
        assert means.max() <= 9
        assert np.any((means > 0) & (means < 9) & (means != np.rint(means)))
        return in_order(means, scales) + 0.25

    figures = np.zeros(9), np.zeros(9), np.full(9, 3), np.arange(9.0), np.full(9, 4.0), 0, 9
    expected = expected_isotonic_error(*figures, in_order=looked_at)
    # Rounding again what was put in order and moved by a quarter changes nothing, so it came last.
    again = expected_isotonic_error(*figures, in_order=lambda *given: np.rint(looked_at(*given)))
    assert expected == again


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
    steps = grid.scales(sensitivities)
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
        expected = expected_isotonic_error(*figures, in_order=in_order)
    else:
        expected = float(expected_centroid_error(*figures).sum())
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
    expected = expected_isotonic_error(
        within, offsets, sizes, centroids, scales, 0, 30, in_order=in_order
    )
    assert abs(np.mean(errors) - expected) < 4 * np.std(errors) / math.sqrt(runs)
    assert np.std(errors) / math.sqrt(runs) < doubt * expected


@pytest.mark.parametrize("scale", [0.0, 1e-9, 0.02])
def test_noise_too_small_for_any_disorder_leaves_the_closed_form(scale):
    """Where no run changes anything the figure is that without isotonic regression."""
    centroids = np.arange(20) * 10.0
    figures = np.ones(20), np.zeros(20), np.full(20, 3), centroids, np.full(20, scale), 0, 200
    expected = float(expected_centroid_error(*figures).sum())
    found = expected_isotonic_error(*figures, in_order=in_order)
    assert found == pytest.approx(expected, rel=1e-12)
    assert (found > 20) == (scale == 0.02)


def test_a_cluster_with_most_of_the_noise_does_not_make_the_figure_uncertain():
    """The top cluster of 200 outweighs all: with few runs another seed gives the same."""
    figures = np.zeros(200), np.zeros(200), np.full(200, 5), np.arange(200) * 10.0
    scales = np.full(200, 5.0)
    scales[-1] = 1e4
    # Upwards the noise stays, downwards the others hold it: half of 2 s t^2.
    found = {}
    for runs in (64, 1024):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(expected_error, "LEAST_RUNS", runs)
            patch.setattr(expected_error, "MOST_RUNS", runs)
            found[runs] = expected_isotonic_error(*figures, scales, -WIDE, WIDE, in_order=in_order)
        assert found[runs] == pytest.approx(5 * 1e8, rel=0.005)
    assert found[64] != found[1024]


def test_the_same_arguments_give_the_same_figure():
    """Simulated from a seed of its own."""
    figures = *clusters_in_order(10, 3.0, np.random.default_rng(5)), 0, 10
    first = expected_isotonic_error(*figures, in_order=in_order)
    np.random.default_rng().random(5)
    assert first == expected_isotonic_error(*figures, in_order=in_order)


def test_the_number_of_runs_keeps_the_cost_bounded(monkeypatch):
    """As many as the draws allow, and no fewer than the least."""
    calls = []

    def counted(means, scales):
        calls.append(len(means))
        return in_order(means, scales)

    monkeypatch.setattr(expected_error, "DRAWS", 1000)
    for n_clusters, runs in ((2, 500), (1, 700), (20, 64)):
        calls.clear()
        monkeypatch.setattr(expected_error, "MOST_RUNS", 700)
        figures = *clusters_in_order(n_clusters, 0.0, np.random.default_rng(6))[:4], 0, 99
        scales = np.ones(n_clusters)
        expected_isotonic_error(*figures[:4], scales, 0, 99, in_order=counted)
        assert calls == [n_clusters] * runs


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


def test_no_noise_has_no_error():
    """Whatever the law and the bounds."""
    for law in LAWS:
        assert expected_noise_error(law, 0.0, np.array([3, 8]), None) == 0.0
        assert expected_noise_error(law, 0.0, np.array([3, 8]), (3, 8)) == 0.0


def test_both_ways_to_sum_gaussian_tails_agree(monkeypatch):
    """Term by term and by the midpoint rule, at the deviation where one follows the other."""
    room = np.array([0.0, 1.0, 2.0, 9.0, 17.0, 100.0, 1e6, 2.0**62])
    summed = expected_randomisation._squared_gaussian(64.0, room)
    monkeypatch.setattr(expected_randomisation, "SUMMED", 0.0)
    assert np.allclose(
        summed, expected_randomisation._squared_gaussian(64.0, room), rtol=1e-7, atol=0
    )


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


def test_a_permutation_and_a_draw_with_replacement_err_alike():
    """Of 400 runs each, within four standard errors of the one figure."""
    generator = np.random.default_rng(9)
    sizes = np.array([5, 1, 9])
    values = np.sort(generator.integers(0, 60, 15))
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    bounds, source = np.repeat(sizes, sizes), RandomSource.seeded(10)
    expected = expected_interval_error(values, sizes)
    drawn, permuted = [], []
    for _ in range(400):
        drawn.append(((values[starts + uniform(bounds, source)] - values) ** 2).sum())
        mixed = [generator.permutation(part) for part in np.split(values, np.cumsum(sizes)[:-1])]
        permuted.append(((np.concatenate(mixed) - values) ** 2).sum())
    for errors in (drawn, permuted):
        assert abs(np.mean(errors) - expected) < 4 * np.std(errors) / 20


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


def test_large_weights_do_not_overflow():
    """Rows may sum to almost 2**63."""
    weights = np.full((2, 2), 1 << 61)
    assert expected_transition_error(weights, np.array([3, 1])) == 2.0
