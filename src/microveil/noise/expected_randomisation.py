"""Squared error to expect of values randomised one by one, known before any is drawn.

All in grid units. The error of a release is the sum over records of the squared distance
between released and original value; its expectation is over the randomisation alone. It
depends on the data: it is for the custodian. Methods: Biswal, Arbuckle and Kulik, "Disclosure
metrics born from statistical evaluations of data utility", sections 2.1 to 2.5.
"""

import math

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.noise.expected_error import laplace_tail_sums

__all__ = ["expected_interval_error", "expected_noise_error", "expected_transition_error"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

# Gaussian tails are summed term by term up to this standard deviation, over the terms that
# float64 can hold; above, the midpoint rule is off by less than 1e-7 of the sum.
SUMMED = 64.0
# Below, float64 holds no probability of half a unit, 50 deviations.
NONE = 0.01
LAST_DEVIATION = 39


def expected_noise_error(
    law: str, delta: float, values: Whole, bounds: tuple[int, int] | None
) -> float:
    """Return the expected error of whole values with noise, rounded and clamped.

    Parameters
    ----------
    law : {"uniform", "laplace", "gaussian", "triangular"}
        The laws of `microveil.noise.noise.continuous_noise`, of mean 0 and variance delta^2/3.
    delta : float
        0 or more.
    values : int64 array (n_records,)
        Within the bounds.
    bounds : (int, int) or None
        What values are clamped to, the noise having been rounded to whole units.

    Returns
    -------
    float

    Notes
    -----
    With N the rounded noise and M the room above a value, noise upwards adds
    E min(N, M)^2 = sum over m from 1 to M of (2m - 1) P(noise >= m - 1/2), likewise below.
    Exact but for rounding; Gaussian noise with delta above 110 to seven digits. O(n) time,
    a dozen columns of memory with bounds and none without.

    Examples
    --------
    >>> ages = np.array([17, 40, 90])
    >>> round(expected_noise_error("uniform", 2.5, ages, None), 6)
    6.0
    >>> round(expected_noise_error("uniform", 2.5, ages, (17, 90)), 6)
    4.0
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


def expected_interval_error(in_order: Whole, sizes: Whole) -> float:
    """Return the expected error of values drawn among those of their interval.

    Drawn with replacement or permuted: either way a record gets each value of its interval
    with equal probability, its own included.

    Parameters
    ----------
    in_order : int64 array (n_records,)
        Values, interval after interval.
    sizes : int64 array (n_intervals,)
        Records of each interval, 1 or more.

    Returns
    -------
    float
        Twice the sum of squares within the intervals: once for the value that is lost, once
        for the one drawn. O(n) time and memory.

    Examples
    --------
    >>> expected_interval_error(np.array([20, 22, 30]), np.array([2, 1]))
    4.0
    """
    starts = np.cumsum(sizes) - sizes
    # Distances to the interval's first value are exact, however large the values are.
    distances = (in_order - np.repeat(in_order[starts], sizes)).astype(np.float64)
    means = np.add.reduceat(distances, starts) / sizes
    return 2.0 * float(np.square(distances - np.repeat(means, sizes)).sum())


def expected_transition_error(weights: Whole, counts: Whole) -> float:
    """Return the expected error of values drawn by the rows of a transition matrix.

    Parameters
    ----------
    weights : int64 array (n_values, n_values)
        Row k holds whole numbers in proportion to the probabilities of l given k; k and l
        stand for equally spaced numbers, one grid unit apart. Rows sum to less than 2**63.
    counts : int64 array (n_values,)
        Records with each value; a row of no record does not matter.

    Returns
    -------
    float
        O(n_values^2) time and memory.

    Examples
    --------
    >>> expected_transition_error(np.array([[3, 1], [1, 3]]), np.array([8, 4]))
    3.0
    """
    present = np.flatnonzero(counts)
    rows = weights[present]
    squared = np.square(present[:, None] - np.arange(len(counts), dtype=np.float64))
    expected = (rows * squared).sum(axis=1) / rows.sum(axis=1)
    return float((expected * counts[present]).sum())
