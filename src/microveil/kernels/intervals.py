"""How many equal-width intervals the values allow when every one must hold k of them."""

import numba


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _start(lowest, spread, n_intervals, interval):
    """Compute where an interval starts: same operations, same order as for the edges."""
    return lowest + spread * interval / n_intervals


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _label(value, lowest, spread, n_intervals):
    """Find the last interval that starts at or below the value."""
    label = min(int((value - lowest) / spread * n_intervals), n_intervals - 1)
    while label + 1 < n_intervals and _start(lowest, spread, n_intervals, label + 1) <= value:
        label += 1
    while label > 0 and _start(lowest, spread, n_intervals, label) > value:
        label -= 1
    return label


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _holds_one(below, above, lowest, spread, n_intervals):
    """Say whether an interval lies between two values."""
    after = _label(below, lowest, spread, n_intervals) + 2
    return after < n_intervals and _start(lowest, spread, n_intervals, after) <= above


@numba.njit(cache=True, nogil=True, error_model="numpy")
def most_intervals(below, above, kth, kth_last, lowest, spread, most):
    """Find the largest number of intervals, ``most`` at most, that all hold k values.

    ``below`` and ``above`` pair each value with the k-th after it in ascending order, the
    pairs that are farthest apart first; ``kth`` and ``kth_last`` are the k-th smallest and
    the k-th largest value. An interval with fewer than k values lies between the two values
    of some pair, or before ``kth``, or after ``kth_last``. As intervals of a number of pieces
    are all equally wide, only pairs farther apart than that can hold one, and those farthest
    apart are the likeliest: nearly every number is refused by the first pairs looked at.
    """
    for n_intervals in range(most, 1, -1):
        if kth >= _start(lowest, spread, n_intervals, 1):
            continue
        if kth_last < _start(lowest, spread, n_intervals, n_intervals - 1):
            continue
        # Edges are rounded: a pair counts as far apart when it is, but for a few units in the last
        # place of the largest number that takes part.
        width = spread / n_intervals - 1e-15 * (abs(lowest) + spread)
        holds = True
        for pair in range(below.shape[0]):
            if above[pair] - below[pair] < width:
                break
            if _holds_one(below[pair], above[pair], lowest, spread, n_intervals):
                holds = False
                break
        if holds:
            return n_intervals
    return 1
