"""Squared error to expect of noisy centroids, one cluster after another."""

import math

import numba
import numpy as np

# Noise of a smaller scale is as good as this: a centroid that is not a half lies farther from
# one than float64 can show of numbers around 1/2, and that is 1e14 times this scale.
LEAST_SCALE = 1e-30
# From here on 1 - exp(-x) is 1 in float64.
FAR = 40.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _tails(rate, steepness, excess, nearest, count):
    """Return both sums, given what hangs on the rate alone: both sides of a mean have it."""
    span = count * rate
    # To the last digit: what is beyond a 2**57th of 1 is lost in the difference.
    reached = 1.0 if span >= FAR else -math.expm1(-span)
    decay = reached / span if span > 1e-300 else 1.0
    if span < 0.1:
        # 2 (1 - (1 + x) exp(-x))/x^2 by its series, as the subtraction would cancel.
        series = 1 / 144 - span * (1 / 840 - span * (1 / 5760 - span / 45360))
        second = 1.0 - 2 * span * (1 / 3 - span * (1 / 8 - span * (1 / 30 - span * series)))
    else:
        second = 2.0 * (reached - span * (1.0 - reached)) / (span * span)
    first = 0.5 * math.exp(-nearest * rate) * count
    first *= steepness
    return first * decay, first * (count * second + excess * decay)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _steepness(x):
    """x/(1 - exp(-x))."""
    return x / -math.expm1(-x) if x > 1e-300 else 1.0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _excess(x):
    """coth(x/2) - 2/x: up to 1/2 by its Taylor series, 2 B(2n)/(2n)! for x, x^3, x^5 and so on."""
    if x >= 0.5:
        return 1.0 / math.tanh(0.5 * x) - 2.0 / x
    square = x * x
    tail = 1 / 604800 - square * (1 / 23950080 - square * (691 / 653837184000))
    return x * (1 / 6 - square * (1 / 360 - square * (1 / 15120 - square * tail)))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _added(offset, size, centroid, rate, steepness, excess, lower, upper):
    """Return the expected error that noise upwards adds to a cluster, and noise downwards.

    ``rate`` is 1 over the scale; the rest is what hangs on it alone.
    """
    rounded = np.rint(centroid)
    rest = centroid - rounded
    above, squared_above = _tails(rate, steepness, excess, 0.5 - rest, max(upper - rounded, 0.0))
    below, squared_below = _tails(rate, steepness, excess, 0.5 + rest, max(rounded - lower, 0.0))
    linear = 2.0 * (size * rest + offset)
    return size * squared_above - linear * above, size * squared_below + linear * below


@numba.njit(cache=True, nogil=True, error_model="numpy")
def tail_sums(scales, nearest, counts, means, mean_squares):
    """Write both sums of `noise.expected_error.laplace_tail_sums`, by its second form."""
    for n in range(scales.shape[0]):
        means[n], mean_squares[n] = 0.0, 0.0
        if scales[n] > 0:
            rate = 1.0 / max(scales[n], LEAST_SCALE)
            steepness, excess = _steepness(rate), _excess(rate)
            means[n], mean_squares[n] = _tails(rate, steepness, excess, nearest[n], counts[n])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def centroid_errors(within, offsets, sizes, centroids, scales, lower, upper, settled, added):
    """Write each cluster's error without noise, and what noise upwards and downwards adds.

    ``settled`` is float64 (n_clusters,), ``added`` (2, n_clusters). Noise of clusters that follow
    each other is of one scale as a rule: what hangs on it alone is found once then. So is all of
    it where they are alike, as clusters of one code are.
    """
    last, rate, steepness, excess = 0.0, 0.0, 0.0, 0.0
    for n in range(centroids.shape[0]):
        # The error of a rounded centroid, which lies in the bounds as these are whole.
        rest = centroids[n] - np.rint(centroids[n])
        settled[n] = within[n] + rest * (2.0 * offsets[n] + sizes[n] * rest)
        scale = scales[n]
        if scale <= 0:
            added[0, n], added[1, n] = 0.0, 0.0
            continue
        if (
            n > 0
            and (scale == scales[n - 1] and centroids[n] == centroids[n - 1])
            and (offsets[n] == offsets[n - 1] and sizes[n] == sizes[n - 1])
        ):
            added[0, n], added[1, n] = added[0, n - 1], added[1, n - 1]
            continue
        if scale != last:
            last, rate = scale, 1.0 / max(scale, LEAST_SCALE)
            steepness, excess = _steepness(rate), _excess(rate)
        added[0, n], added[1, n] = _added(
            offsets[n], sizes[n], centroids[n], rate, steepness, excess, lower, upper
        )
