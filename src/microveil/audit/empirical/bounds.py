"""What repeated runs show: a lower confidence bound on epsilon from two samples of scores.

If no set of outcomes is more than e^epsilon times as likely on a table as on its neighbour, or
the other way round, then neither is any event that an attacker picks. Two proportions that
differ by more contradict that epsilon, and how far they differ for certain bounds it from below.
"""

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

__all__ = ["least_proportion", "lower_bound", "most_shown"]

Scores = NDArray[np.float64]

# Thresholds that are tried from either end of the scores, ever denser towards that end.
THRESHOLDS = 500


def least_proportion(successes: NDArray[np.int64], runs: int, error: float) -> Scores:
    """Bound proportions from below, exactly.

    Parameters
    ----------
    successes : int64 array
        From 0 to runs.
    runs : int
        Independent ones, 1 or more.
    error : float
        The largest chance that the true proportion is below its bound.

    Returns
    -------
    float64 array
        Of the shape of ``successes``. The upper bound of as many failures is 1 less this.

    Notes
    -----
    Source: Clopper and Pearson 1934, by quantiles of beta laws.

    Examples
    --------
    >>> least_proportion(np.array([0, 5, 10]), 10, 0.05).round(3)
    array([0.   , 0.222, 0.741])
    """
    some = np.maximum(successes, 1)
    return np.where(successes == 0, 0.0, scipy.special.betaincinv(some, runs - some + 1, error))


def most_shown(runs: int, confidence: float) -> float:
    """Return the largest bound that so many runs can show, however plain the difference.

    Parameters
    ----------
    runs : int
        On each of the two tables, 2 or more.
    confidence : float
        Between 0 and 1.

    Notes
    -----
    It is the bound where an event always happens on the one table and never on the other. It
    grows with the logarithm of the runs; with a few it is 0.

    Examples
    --------
    >>> round(most_shown(20_000, 0.99), 2), round(most_shown(200, 0.99), 2)
    (7.54, 2.91)
    """
    deciding = runs - runs // 2
    low = float(least_proportion(np.array(deciding), deciding, (1 - confidence) / 2))
    return max(0.0, float(np.log(low / (1 - low))))


def lower_bound(
    of_table: Scores, of_neighbour: Scores, confidence: float, delta: float = 0.0
) -> float:
    """Bound epsilon from below by scores of independent runs on a table and on a neighbour.

    Parameters
    ----------
    of_table, of_neighbour : float64 arrays (runs,)
        What an attacker computes of each outcome, as many of either, 2 or more; the higher,
        the more it speaks for the table. Any function of the outcome will do.
    confidence : float
        Between 0 and 1: the least chance that the true epsilon reaches the bound.
    delta : float
        What the epsilon leaves out of either probability.

    Returns
    -------
    float
        0 or more.

    Notes
    -----
    The first half of the runs chooses the attack: a threshold, and whether the scores from it
    upwards are counted, which speak for the table, or those below it, for the neighbour. The
    second half, which had no part in that choice, gives the bound: ln of the lower bound of the
    one proportion over the upper bound of the other, each with half of the allowed error.

    Source: Jagielski, Ullman and Oprea 2020.

    Examples
    --------
    >>> guess = np.tile([1.0, 1.0, 1.0, 0.0], 1000)
    >>> round(lower_bound(guess, 1 - guess, 0.99), 2)  # the truth: ln 3 = 1.10
    0.97
    """
    half = len(of_table) // 2
    error = (1 - confidence) / 2
    tried = _thresholds(np.concatenate([of_table[:half], of_neighbour[:half]]))
    bounds = _bounds(of_table[:half], of_neighbour[:half], tried, error, delta)
    side, place = np.unravel_index(bounds.argmax(), bounds.shape)
    chosen = tried[place : place + 1]
    found = _bounds(of_table[half:], of_neighbour[half:], chosen, error, delta)[side, 0]
    return max(0.0, float(found))


def _bounds(
    of_table: Scores, of_neighbour: Scores, thresholds: Scores, error: float, delta: float
) -> Scores:
    """Bounds by the scores from each threshold upwards, and by those below: (2, n_thresholds)."""
    runs = len(of_table)
    table_from = runs - np.searchsorted(np.sort(of_table), thresholds)
    neighbour_below = np.searchsorted(np.sort(of_neighbour), thresholds)
    table = least_proportion(table_from, runs, error)
    neighbour = least_proportion(neighbour_below, runs, error)
    with np.errstate(divide="ignore"):
        least = np.maximum(np.stack([table, neighbour]) - delta, 0.0)
        return np.log(least / np.stack([1 - neighbour, 1 - table]))


def _thresholds(scores: Scores) -> Scores:
    """Return cuts midway between neighbouring scores, so that none lies on an outcome."""
    ordered = np.unique(scores)
    cuts: Scores = (ordered[1:] + ordered[:-1]) / 2 if len(ordered) > 1 else ordered
    ranks = np.geomspace(1, len(cuts), THRESHOLDS).astype(np.int64)
    tried: Scores = cuts[np.unique(np.concatenate([ranks - 1, len(cuts) - ranks]))]
    return tried
