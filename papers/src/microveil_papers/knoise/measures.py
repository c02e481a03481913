"""What is measured of ages before and after: each of many runs gives one figure.

Released ages are arrays of shape (n_runs, n_records), with the records in the order of the
originals.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.measures.linkage import candidate_counts
from microveil_papers.knoise.ages import Ages, steps_of

__all__ = [
    "best_guesses",
    "counts_in_bins",
    "distances_of_laws",
    "errors_by_place",
    "expected_within",
    "linked",
    "rises",
    "roughness",
    "slopes",
    "within",
]

Runs = NDArray[np.float64]
# Ages are released in thousandths of a year: counted in these, no rounding moves an end.
THOUSANDTHS = 1000


def slopes(ages: Ages, released: Runs) -> Runs:
    """Return how much the error falls or rises with the place in the interval, per run.

    Errors are regressed on how far the age is above the mean of its interval, in years a year:
    -1 where what is released does not depend on the place, 0 where it follows it.
    """
    deviations = ages.deviations
    slope: Runs = (released - ages.values) @ deviations / (deviations @ deviations)
    return slope


def distances_of_laws(original: Runs, released: Runs) -> Runs:
    """Return the Kolmogorov-Smirnov distance to the originals, per run.

    Parameters
    ----------
    original : ndarray of float64, shape (n_records,)
    released : ndarray of float64, shape (n_runs, n_released)

    Examples
    --------
    >>> distances_of_laws(np.array([1.0, 2, 3, 4]), np.array([[1.5, 1.5, 3.5, 3.5]]))
    array([0.25])
    """
    before = np.sort(original)
    found = np.empty(len(released))
    for run, row in enumerate(released):
        after = np.sort(row)
        at = np.concatenate([before, after])
        shares = [np.searchsorted(side, at, side="right") / len(side) for side in (before, after)]
        found[run] = np.abs(shares[0] - shares[1]).max()
    return found


def counts_in_bins(edges: Runs, values: Runs) -> Runs:
    """Count what lies between edges, per run: shape (n_runs, n_bins)."""
    return np.array([np.histogram(row, edges)[0] for row in values], dtype=np.float64)


def roughness(released: Runs) -> Runs:
    """Return how jagged the histogram by single years is, per run.

    The root mean square of the second differences of its counts, in records; a bin is centred
    on each whole year.
    """
    edges = np.arange(np.floor(released.min()) - 1.5, np.ceil(released.max()) + 2)
    counts = counts_in_bins(edges, released)
    jagged: Runs = np.sqrt(np.mean(np.diff(counts, n=2, axis=1) ** 2, axis=1))
    return jagged


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rises:
    """How much the mean released age rises from one year of age to the next, in years, per run.

    Attributes
    ----------
    inside, across : ndarray of float64, shape (n_runs,)
        Between ages of one interval, and from the last of one to the first of the next.
    """

    inside: Runs
    across: Runs


def rises(ages: Ages, released: Runs) -> Rises:
    """Compare the mean released ages of records one year apart.

    Raises
    ------
    DataError
        If none are, within intervals or across a border.
    """
    steps = steps_of(ages)
    _, which, copies = np.unique(ages.values, return_inverse=True, return_counts=True)
    averaging = np.zeros((len(ages.values), len(steps.years)))
    averaging[np.arange(len(ages.values)), which] = 1 / copies[which]
    risen = np.diff(released @ averaging, axis=1)
    return Rises(
        inside=risen[:, steps.inside].mean(axis=1), across=risen[:, steps.across].mean(axis=1)
    )


def errors_by_place(ages: Ages, released: Runs) -> tuple[Runs, Runs]:
    """Average the error over all records at the same place of their intervals.

    Returns
    -------
    places : ndarray of float64, shape (n_places,)
        Years above the lower end of the interval.
    errors : ndarray of float64, shape (n_runs, n_places)
    """
    lower = ages.intervals.edges[ages.intervals.labels]
    places, which = np.unique(np.floor(ages.values - lower), return_inverse=True)
    errors = released - ages.values
    means = [errors[:, which == place].mean(axis=1) for place in range(len(places))]
    return places, np.stack(means, axis=1)


def within(centres: Runs, values: Runs, reach: float) -> NDArray[np.int64]:
    """Count per run how many values lie within reach of each centre, ends included.

    Parameters
    ----------
    centres, values : ndarray of float64, shape (n_runs, n) or (n,)
        What has no runs is the same in all of them.
    reach : float
        Years.

    Returns
    -------
    ndarray of int64, shape (n_runs, n_centres)

    Examples
    --------
    >>> within(np.array([30.0]), np.array([[27.5, 32.5, 32.501]]), 2.5)
    array([[2]])
    """
    middles, others = (
        np.rint(np.atleast_2d(ages) * THOUSANDTHS).astype(np.int64) for ages in (centres, values)
    )
    half = round(reach * THOUSANDTHS)
    n_runs = max(len(middles), len(others))
    counts = np.empty((n_runs, middles.shape[1]), dtype=np.int64)
    for run in range(n_runs):
        middle = middles[run % len(middles)]
        in_order = np.sort(others[run % len(others)])
        counts[run] = np.searchsorted(in_order, middle + half, side="right") - np.searchsorted(
            in_order, middle - half, side="left"
        )
    return counts


def expected_within(values: Runs, delta: float) -> Runs:
    """Return how many originals lie within delta of each record's noised value on average.

    With uniform noise on (-delta, delta) a record at distance d is so near with probability
    1 - d/(2 delta), 0 beyond 2 delta; the record itself always is.

    Examples
    --------
    >>> expected_within(np.array([30.0, 32.5, 40.0]), 2.5)
    array([1.5, 1.5, 1. ])
    """
    apart = np.abs(values[:, None] - values[None, :])
    expected: Runs = np.maximum(0.0, 1 - apart / (2 * delta)).sum(axis=1)
    return expected


def linked(ages: Ages, released: Runs) -> Runs:
    """Return each record's chance to be linked, per run: shape (n_runs, n_records).

    An intruder who knows all originals links a released age to one of the nearest of them.
    """
    shares = np.zeros(released.shape)
    for run, row in enumerate(released):
        counts = candidate_counts(ages.values[:, None], row[:, None])
        np.divide(1.0, counts, out=shares[run], where=counts > 0)
    return shares


def best_guesses(ages: Ages, released: Runs, *, stays_inside: bool) -> Runs:
    """Return the root mean squared error of an intruder's best guess, per run, in years.

    The intruder knows how ages are distributed, but not whose is which: within an interval all
    ages may have been drawn from any of it; else, every original within delta may have been
    noised to what is seen, with equal probability.

    Parameters
    ----------
    ages : Ages
    released : ndarray of float64, shape (n_runs, n_records)
    stays_inside : bool
        Whether values are drawn from their interval, as by k-pram.
    """
    if stays_inside:
        return np.full(len(released), np.sqrt(np.mean(ages.deviations**2)))
    in_order = np.sort(ages.values)
    sums = np.concatenate([[0.0], np.cumsum(in_order)])
    # A hair more, so that a noised value's own original is never left out by a rounding.
    reach = ages.delta + 0.5 / THOUSANDTHS
    first = np.searchsorted(in_order, released - reach, side="left")
    last = np.searchsorted(in_order, released + reach, side="right")
    # Where no original is so near, which k-noise rules out, the mean of all is guessed.
    guesses = np.full(released.shape, ages.values.mean())
    np.divide(sums[last] - sums[first], last - first, out=guesses, where=last > first)
    errors: Runs = np.sqrt(np.mean((guesses - ages.values) ** 2, axis=1))
    return errors
