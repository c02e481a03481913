"""What repeated runs show: a lower confidence bound on epsilon from two samples of scores.

If no set of outcomes is more than e^epsilon times as likely on a table as on its neighbour, or
the other way round, then neither is any event that an attacker picks. Two proportions that
differ by more contradict that epsilon, and how far they differ for certain bounds it from below.
"""

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

Scores = NDArray[np.float64]

# Thresholds that are tried from either end of the scores, ever denser towards that end.
THRESHOLDS = 500


def least_proportion(successes: NDArray[np.int64], runs: int, error: float) -> Scores:
    """Bound proportions from below, exactly: Clopper and Pearson 1934, by quantiles of beta laws.

    ``error`` is the largest chance that the true proportion is below its bound. The upper bound of
    as many failures is 1 less this.
    """
    some = np.maximum(successes, 1)
    return np.where(successes == 0, 0.0, scipy.special.betaincinv(some, runs - some + 1, error))


def most_shown(runs: int, confidence: float) -> float:
    """Return the largest bound that so many runs on either table can show.

    It is the bound where an event always happens on the one table and never on the other.
    """
    deciding = runs - runs // 2
    low = float(least_proportion(np.array(deciding), deciding, (1 - confidence) / 2))
    return max(0.0, float(np.log(low / (1 - low))))


def lower_bound(
    of_table: Scores, of_neighbour: Scores, confidence: float, delta: float = 0.0
) -> float:
    """Bound epsilon from below by scores of as many independent runs on a table and on a neighbour.

    A score is any function of the outcome; the higher, the more it speaks for the table.
    ``confidence`` is the least chance that the true epsilon reaches the bound, ``delta`` what the
    epsilon leaves out.

    The first half of the runs chooses the attack: a threshold, and whether the scores from it
    upwards are counted, which speak for the table, or those below it, for the neighbour. The
    second half, which had no part in that choice, gives the bound: ln of the lower bound of the
    one proportion over the upper bound of the other, each with half of the allowed error.
    Source: Jagielski, Ullman and Oprea 2020.
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
