"""Squared error to expect of a release, known before any noise is drawn.

In squared grid units: the sum over records of the squared distance between released and original
value, its expectation over the noise alone. It depends on the data: it is for the custodian.

A cluster of s records x with centroid c is released as one value Y: c plus Laplace noise of
scale t, clamped to whole bounds and rounded to whole units. So its expected error is

    sum (x - c)^2 + 2 E(c - Y) sum (x - c) + s E(Y - c)^2,

and the middle term vanishes unless c is a winsorised mean. With g = round(c), Y - g is a whole
number of known tails: P(Y - g >= m) = exp(-(g + m - 1/2 - c)/t)/2 for m from 1 to upper - g,
likewise below. Both moments of Y - g are sums of such tails, which have closed forms.

Values randomised one by one: Biswal, Arbuckle and Kulik, "Disclosure metrics born from statistical
evaluations of data utility", sections 2.1 to 2.5.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.kernels import expected_error as kernel
from microveil.noise.noise import in_order

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

# Clusters taken at a time, whose figures are laid side by side for the kernel.
BATCH = 1 << 14
# Simulated draws of isotonic regression, and its runs at least and at most: they keep both
# the time and the standard error that `expected_isotonic_error` states.
DRAWS = 1 << 25
LEAST_RUNS, MOST_RUNS = 64, 1024
# A centroid without noise stays where it is; in the regression it gets this part of the least
# scale, a weight 1e14 times the largest, so that one regression does for all stretches.
FIXED = 1e-7
# Gaussian tails are summed term by term up to this standard deviation, over the terms that
# float64 can hold; above, the midpoint rule is off by less than 1e-7 of the sum.
SUMMED = 64.0
# Below, float64 holds no probability of half a unit, 50 deviations.
NONE = 0.01
LAST_DEVIATION = 39


class Centroids(NamedTuple):
    """Noisy centroids: figures of each cluster, and the bounds of what is released."""

    within: Float  # squared distances of its values to its centroid, summed
    offsets: Float  # distances of its values to its centroid, summed: 0 of plain means
    sizes: Whole
    centroids: Float  # from lower to upper
    scales: Float  # of the Laplace noise, 0 for none
    lower: int
    upper: int


def expected_centroid_error(clusters: Centroids) -> Float:
    """Return the expected error of each cluster's noisy centroid, clamped and rounded.

    Exact but for rounding where the noise is continuous; noise in whole steps of a grid has a
    variance less by about a sixth of a squared step (on the sum). Halves round to even.
    """
    errors = np.empty(len(clusters.sizes))
    for batch, settled, added in _batches(clusters):
        errors[batch] = settled + added[0] + added[1]
    return errors


def expected_isotonic_error(clusters: Centroids) -> float:
    """Return the expected error of ascending centroids: noisy, clamped, put in order, rounded.

    There is no closed form, so the noise is simulated, from one seed that has nothing to do with
    any release. What is simulated is what the regression takes off `expected_centroid_error`. Each
    run also gives that error in two parts, what noise upwards adds and what noise downwards adds;
    their expectations are known exactly, so the share of them that is taken off, fitted over the
    runs, needs no simulation (control variates). Without them a few clusters with much noise, as
    skewed attributes have, would leave the figure uncertain by tens of percent.

    Standard error: a few tenths of a percent as a rule; where scales lie far apart and most noise
    is clamped, 1 percent up to 20 thousand clusters and 4 percent at a million.
    """
    exact, known = 0.0, np.zeros(2)
    for _, settled, added in _batches(clusters):
        exact += settled.sum()
        known += added.sum(axis=1)
    if not np.any(clusters.scales > 0):
        return float(exact)
    ordered, alone = _simulated(clusters)
    # The share of either part that the regression takes off, by least squares. Where no run
    # moved a centroid it is 0, and the closed form remains.
    spread = alone - alone.mean(axis=0)
    # Columns of one size, as least squares neglects what is small beside the largest.
    size = np.maximum(np.abs(spread).max(axis=0), np.finfo(np.float64).tiny)
    taken = alone.sum(axis=1) - ordered
    slopes = np.linalg.lstsq(spread / size, taken, rcond=None)[0] / size
    return float(exact + (1 - slopes) @ known - (taken - alone @ slopes).mean())


def _simulated(clusters: Centroids) -> tuple[Float, Float]:
    """Simulate the error that noise adds: (n_runs,) in order, (n_runs, 2) alone."""
    _, _, _, centroids, scales, lower, upper = clusters
    n_runs = min(max(DRAWS // len(centroids), LEAST_RUNS), MOST_RUNS)
    generator = np.random.default_rng(0)
    noisy = scales > 0
    rounded = np.rint(centroids)
    unequal = np.where(noisy, scales, FIXED * scales[noisy].min())
    # The fit's last digits must not push a centroid without noise, nor one that it holds, over
    # a half.
    lowest = np.maximum.accumulate(np.where(noisy, -np.inf, centroids))
    highest = np.minimum.accumulate(np.where(noisy, np.inf, centroids)[::-1])[::-1]
    ordered, alone = np.empty(n_runs), np.empty((n_runs, 2))
    for run in range(n_runs):
        noise = scales * generator.laplace(size=len(scales))
        means = np.clip(centroids + noise, lower, upper)
        fitted = np.clip(in_order(means, unequal), lowest, highest)
        ordered[run] = _added_by_moves(np.rint(fitted) - rounded, clusters).sum()
        moved = np.rint(means) - rounded
        added = _added_by_moves(moved, clusters)
        alone[run] = added[moved > 0].sum(), added[moved < 0].sum()
    return ordered, alone


def _added_by_moves(moved: Float, clusters: Centroids) -> Float:
    """Error added where a cluster's released value lies so far from its rounded centroid."""
    rest = clusters.centroids - np.rint(clusters.centroids)
    added: Float = moved * (clusters.sizes * (moved - 2 * rest) - 2 * clusters.offsets)
    return added


def _batches(clusters: Centroids) -> Iterator[tuple[slice, Float, Float]]:
    """Take so many clusters at a time: which they are, their error, and what noise adds to it.

    What it adds, (2, n_clusters), is the part of noise upwards and that of noise downwards.
    """
    *figures, lower, upper = clusters
    for start in range(0, len(clusters.sizes), BATCH):
        batch = slice(start, start + BATCH)
        within, offsets, sizes, centroids, scales = (
            np.ascontiguousarray(figure[batch]) for figure in figures
        )
        settled, added = np.empty(len(sizes)), np.empty((2, len(sizes)))
        kernel.centroid_errors(
            within, offsets, sizes, centroids, scales, float(lower), float(upper), settled, added
        )
        yield batch, settled, added


def laplace_tail_sums(scales: Float, nearest: Float, counts: Float) -> tuple[Float, Float]:
    """Sum Laplace tails P(Z >= d + m - 1) over m from 1 to a count, plain and times 2m - 1.

    These are the mean and the mean square of the number of such m that Z reaches. ``nearest`` is d.
    With h = 1/t, r = exp(-h), u = exp(-d h)/2 and M the count, the sums are u (1 - r^M)/(1 - r)
    and u [(1 + r)(1 - r^M)/(1 - r) - 2 M r^M]/(1 - r). Where t is large these subtract nearly
    equal numbers, so they are computed as

        u M e(M h)/e(h)    and    u M [M p(M h) + k(h) e(M h)]/e(h),

    e(x) = (1 - exp(-x))/x, p(x) = 2 (1 - (1 + x) exp(-x))/x^2 and k(x) = coth(x/2) - 2/x: none
    is negative, so nothing cancels, and none exceeds 1, so nothing overflows.
    """
    scales, nearest, counts = (
        np.ascontiguousarray(given, dtype=np.float64) for given in (scales, nearest, counts)
    )
    means, mean_squares = np.empty(len(scales)), np.empty(len(scales))
    kernel.tail_sums(scales, nearest, counts, means, mean_squares)
    return means, mean_squares


def expected_noise_error(
    law: str, delta: float, values: Whole, bounds: tuple[int, int] | None
) -> float:
    """Return the expected error of whole values with `continuous_noise`, rounded and clamped.

    With N the rounded noise and M the room above a value, noise upwards adds
    E min(N, M)^2 = sum over m from 1 to M of (2m - 1) P(noise >= m - 1/2), likewise below.
    Exact but for rounding; Gaussian noise with delta above 110 to seven digits.

    >>> ages = np.array([17, 40, 90])
    >>> round(expected_noise_error("uniform", 2.5, ages, None), 6)
    6.0
    """
    if bounds is None:
        # No law reaches so far with a probability that float64 can hold.
        enough = np.array([1000.0 * math.ceil(delta + 1)])
        return 2.0 * len(values) * float(_squared_noise(law, delta, enough)[0])
    lower, upper = bounds
    above = _squared_noise(law, delta, (upper - values).astype(np.float64))
    below = _squared_noise(law, delta, (values - lower).astype(np.float64))
    return float(above.sum() + below.sum())


def _squared_noise(law: str, delta: float, room: Float) -> Float:
    """Mean square of the rounded noise upwards, clamped to the room: whole numbers (n,)."""
    if law == "gaussian":
        return _squared_gaussian(delta / math.sqrt(3), room)
    if law == "laplace":
        scales = np.full(len(room), delta / math.sqrt(6))
        return laplace_tail_sums(scales, np.full(len(room), 0.5), room)[1]
    # How far the noise reaches, and sums of t, t^2 and t^3 over t = 1/2, 3/2, ... of terms:
    # P(noise >= t) is a polynomial in t up to there.
    reach = delta * (math.sqrt(2) if law == "triangular" else 1)
    if reach < 0.5:
        return np.zeros(len(room))
    terms = np.minimum(room, math.floor(reach + 0.5))
    plain, squares = terms**2 / 2, terms * (4 * terms**2 - 1) / 12
    squared: Float
    if law == "triangular":  # P(noise >= t) = (reach - t)^2/(2 reach^2)
        cubes = terms**2 * (2 * terms**2 - 1) / 8
        squared = plain - 2 * squares / reach + cubes / reach**2
    else:  # P(noise >= t) = (reach - t)/(2 reach)
        squared = plain - squares / reach
    return squared


def _squared_gaussian(deviation: float, room: Float) -> Float:
    """Mean square of rounded Gaussian noise upwards, clamped to the room."""
    if deviation < NONE:
        return np.zeros(len(room))
    if deviation <= SUMMED:
        last = math.ceil(LAST_DEVIATION * deviation) + 1
        tails = np.arange(1, 2 * last, 2)
        sums = np.cumsum(tails * scipy.special.ndtr(-0.5 * tails / deviation))
        sums = np.concatenate([[0.0], sums])
        squared: Float = sums[np.minimum(room, last).astype(np.int64)]
        return squared
    # Midpoint rule: the sum of f(m - 1/2) is the integral of f less (f'(M) - f'(0))/24,
    # for f(t) = 2 t P(noise >= t), whose integral is that of t^2 with its tail put at M.
    steps = room / deviation
    tail = scipy.special.ndtr(-steps)
    density = np.exp(-0.5 * np.minimum(steps, LAST_DEVIATION) ** 2) / math.sqrt(2 * math.pi)
    integral = deviation**2 * (0.5 - tail - steps * density + steps**2 * tail)
    between: Float = integral - (2 * tail - 2 * steps * density - 1) / 24
    return between


def expected_interval_error(values: Whole, sizes: Whole) -> float:
    """Return the expected error of values drawn among those of their interval, or permuted there.

    Either way a record gets each value of its interval with equal probability, its own included:
    twice the sum of squares within, once for the value that is lost, once for the one drawn. Values
    are listed interval after interval.
    """
    starts = np.cumsum(sizes) - sizes
    # Distances to the interval's first value are exact, however large the values are.
    distances = (values - np.repeat(values[starts], sizes)).astype(np.float64)
    means = np.add.reduceat(distances, starts) / sizes
    return 2.0 * float(np.square(distances - np.repeat(means, sizes)).sum())


def expected_transition_error(weights: Whole, counts: Whole) -> float:
    """Return the expected error of values drawn by the rows of a transition matrix.

    Row k holds whole numbers in proportion to the probabilities of l given k; k and l stand for
    numbers one grid unit apart, of which there are so many records. Rows sum to less than 2**63.

    >>> expected_transition_error(np.array([[3, 1], [1, 3]]), np.array([8, 4]))
    3.0
    """
    present = np.flatnonzero(counts)
    rows = weights[present]
    squared = np.square(present[:, None] - np.arange(len(counts), dtype=np.float64))
    expected = (rows * squared).sum(axis=1) / rows.sum(axis=1)
    return float((expected * counts[present]).sum())
