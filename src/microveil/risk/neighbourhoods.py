"""Neighbourhood counts: how many noised records lie near each original value.

Biswal, Arbuckle and Kulik, "Disclosure metrics born from statistical evaluations of data
utility", sections 2.4, 2.5 and 5. x are the original values of an attribute; k-noise adds to
each a draw of its own from (-delta, delta). The neighbourhood of record i is everything
within 2 delta of x_i, and three counts of it matter:

- original: #{j: |x_j - x_i| < 2 delta}, which the paper wants to be k or more;
- expected: how many noised records lie within 2 delta of x_i on average. For uniform noise
  that is T_i = sum over j of w(|x_j - x_i|/delta), w(d) = 1 up to 1, (3 - d)/2 from 1 to 3,
  0 beyond. By symmetry it is also the expected number of originals within 2 delta of a noised
  x_i. For any other law it is found by simulation;
- observed: #{j: |y_j - x_i| <= 2 delta} in the protected data at hand.

Theorem 1 bounds the expected count under uniform noise: T_i > half the original count, the
record itself included in both. That is more than k/2 only where the original count is k or
more. (The paper's Figure 5 counts within delta rather than 2 delta.)

All of it depends on the data, record by record: for the custodian alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil._kernels import neighbourhoods as kernel
from microveil.errors import DataError, RequestError

__all__ = [
    "NOISE_LAWS",
    "Neighbourhoods",
    "NoiseLaw",
    "SimulatedNeighbours",
    "expected_neighbours",
    "neighbourhoods",
    "observed_neighbours",
    "original_neighbours",
    "simulated_neighbours",
]

# A law of noise: from a generator and a number of draws, that many independent draws.
NoiseLaw = Callable[[np.random.Generator, int], NDArray[np.float64]]

LARGEST_VALUE = 1e140
# A sum of weights that is k on paper may miss it by a rounding.
ROUNDING = 1e-9


def _uniform(delta: float) -> NoiseLaw:
    return lambda generator, n_draws: generator.uniform(-delta, delta, n_draws)


def _laplace(delta: float) -> NoiseLaw:
    scale = delta / math.sqrt(6)  # variance 2 scale^2
    return lambda generator, n_draws: generator.laplace(0.0, scale, n_draws)


def _gaussian(delta: float) -> NoiseLaw:
    deviation = delta / math.sqrt(3)
    return lambda generator, n_draws: generator.normal(0.0, deviation, n_draws)


def _triangular(delta: float) -> NoiseLaw:
    reach = delta * math.sqrt(2)  # variance reach^2/6
    return lambda generator, n_draws: generator.triangular(-reach, 0.0, reach, n_draws)


# All symmetric about 0 and of variance delta^2/3, that of the uniform law on (-delta, delta).
NOISE_LAWS: dict[str, Callable[[float], NoiseLaw]] = {
    "uniform": _uniform,
    "laplace": _laplace,
    "gaussian": _gaussian,
    "triangular": _triangular,
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SimulatedNeighbours:
    """Expected counts as found by simulation, in read-only arrays.

    Parameters
    ----------
    mean : ndarray of float64, shape (n_records,)
        Average over the runs of the noised records within 2 delta of each original value.
    standard_error : ndarray of float64, shape (n_records,)
        Of that average, estimated from the runs.
    runs : int
        How many times noise was drawn for all records.
    """

    mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Neighbourhoods:
    """Neighbourhood counts of every record, in read-only arrays: for the custodian alone.

    Parameters
    ----------
    delta : float
        Half the width of the intervals; a neighbourhood reaches 2 delta to either side.
    k : int
        The count that is asked for.
    law : str
        Name of the law of noise, ``"own"`` for one that was passed as a function.
    original : ndarray of int64, shape (n_records,)
        Original values less than 2 delta away, the record itself included.
    expected : ndarray of float64, shape (n_records,)
        Expected number of noised records within 2 delta.
    standard_error : ndarray of float64, shape (n_records,), or None
        Of ``expected`` where it was simulated, None where it is exact.
    observed : ndarray of int64, shape (n_records,), or None
        Protected records within 2 delta, where a protected attribute was given.
    """

    delta: float
    k: int
    law: str
    original: NDArray[np.int64]
    expected: NDArray[np.float64]
    standard_error: NDArray[np.float64] | None
    observed: NDArray[np.int64] | None

    @property
    def meets_bound(self) -> NDArray[np.bool_]:
        """Whether a record's expected count is above half its original count (Theorem 1).

        Always so under uniform noise.

        >>> neighbourhoods([1.0, 2.0, 9.0], delta=1.0, k=2).meets_bound
        array([ True,  True,  True])
        """
        return self.expected > self.original / 2

    def to_dict(self) -> dict[str, Any]:
        """Return a summary over the records, as JSON knows it.

        Returns
        -------
        dict
            For each kind of count its least, its mean, and the share of records whose count
            is at least k; for ``expected`` and ``observed`` also the share of records above
            half their original count.
        """
        counts = {"original": self.original, "expected": self.expected, "observed": self.observed}
        figures: dict[str, Any] = {
            "delta": self.delta,
            "k": self.k,
            "law": self.law,
            "n_records": len(self.original),
            "simulated": self.standard_error is not None,
            **{name: self._summary(count) for name, count in counts.items()},
        }
        # Of the original counts it would say nothing.
        del figures["original"]["share_above_half_of_original"]
        return figures

    def _summary(
        self, counts: NDArray[np.int64] | NDArray[np.float64] | None
    ) -> dict[str, float] | None:
        if counts is None:
            return None
        return {
            "min": counts.min().item(),
            "mean": counts.mean().item(),
            "share_at_least_k": float(np.mean(counts >= self.k * (1 - ROUNDING))),
            "share_above_half_of_original": float(np.mean(counts > self.original / 2)),
        }


def neighbourhoods(
    original: ArrayLike,
    *,
    delta: float,
    k: int,
    protected: ArrayLike | None = None,
    law: str | NoiseLaw = "uniform",
    generator: np.random.Generator | None = None,
    runs: int = 200,
) -> Neighbourhoods:
    """Count each record's neighbours: before noise, expected under noise, and as protected.

    Parameters
    ----------
    original : array_like, shape (n_records,)
        Values of one attribute before protection.
    delta : float
        Reach of uniform noise; half the width of the intervals of k-noise.
    k : int
        How many neighbours every record should have.
    protected : array_like, optional
        Values after protection, in any order: gives the observed counts.
    law : str or function
        One of `NOISE_LAWS`, or a function that returns draws from a generator and their
        number. Uniform noise is counted exactly, any other by simulation.
    generator : numpy.random.Generator, optional
        For the simulation: seed it, and the result can be had again. It protects nobody.
    runs : int
        Number of simulated releases.

    Returns
    -------
    Neighbourhoods
        Counts by record, with a summary.

    Raises
    ------
    RequestError
        If delta, k, law or runs is not valid, or a generator is needed and missing.
    DataError
        If a column is empty, or holds a missing or infinite value.

    Examples
    --------
    >>> counts = neighbourhoods([20, 21, 22, 23, 40], delta=2.5, k=4)
    >>> counts.original, counts.expected
    (array([4, 4, 4, 4, 1]), array([3.9, 4. , 4. , 3.9, 1. ]))
    """
    values = _checked(original, "original data")
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
        raise RequestError("k", "k must be a whole number of 1 or more", "pass for example k=10")
    if isinstance(law, str) and law == "uniform":
        expected, standard_error = expected_neighbours(values, delta), None
    else:
        if generator is None:
            raise RequestError(
                "generator",
                "expected counts under this law are found by simulation",
                "pass for example generator=numpy.random.default_rng(1)",
            )
        simulated = simulated_neighbours(values, delta, law=law, generator=generator, runs=runs)
        expected, standard_error = simulated.mean, simulated.standard_error
    return Neighbourhoods(
        delta=float(delta),
        k=int(k),
        law=law if isinstance(law, str) else "own",
        original=original_neighbours(values, delta),
        expected=expected,
        standard_error=standard_error,
        observed=None if protected is None else observed_neighbours(values, protected, delta),
    )


def expected_neighbours(values: ArrayLike, delta: float) -> NDArray[np.float64]:
    """Return T_i: the expected number of noised records within 2 delta of each value.

    The noise is uniform on (-delta, delta), independent from record to record.

    Parameters
    ----------
    values : array_like, shape (n_records,)
        One attribute, finite numbers.
    delta : float
        Reach of the noise, above 0.

    Returns
    -------
    ndarray of float64, shape (n_records,)
        At least 1, the record itself. Read-only.

    Raises
    ------
    RequestError
        If delta is not a number above 0.
    DataError
        If the values are not one attribute of finite numbers.

    Notes
    -----
    A record at distance d delta comes within 2 delta with probability w(d). O(n log n) time;
    the relative error is below 1e-9 for a million records, mostly below 1e-14.

    Examples
    --------
    >>> expected_neighbours([0.0, 2.0, 8.0], delta=1.0)
    array([1.5, 1.5, 1. ])
    """
    column = _checked(values, "values")
    delta = _checked_delta(delta)
    different, which, copies = np.unique(column, return_inverse=True, return_counts=True)
    up_to = np.concatenate([[0], np.cumsum(copies)])
    expected = copies.astype(np.float64)
    kernel.weighted_above(different, up_to, delta, expected)
    # What lies below a value lies above it in the mirror.
    mirrored = np.zeros(len(different))
    kernel.weighted_above(-different[::-1], len(column) - up_to[::-1], delta, mirrored)
    expected = (expected + mirrored[::-1])[which]
    expected.setflags(write=False)
    return expected


def original_neighbours(values: ArrayLike, delta: float) -> NDArray[np.int64]:
    """Count the original values less than 2 delta away from each, itself included.

    Parameters
    ----------
    values : array_like, shape (n_records,)
        One attribute, finite numbers.
    delta : float
        Half the radius, above 0.

    Returns
    -------
    ndarray of int64, shape (n_records,)
        #{j: |x_j - x_i| < 2 delta}, differences computed in float64. Read-only.

    Raises
    ------
    RequestError
        If delta is not a number above 0.
    DataError
        If the values are not one attribute of finite numbers.

    Examples
    --------
    >>> original_neighbours([0.0, 1.9, 2.0, 2.1], delta=1.0)
    array([2, 4, 3, 3])
    """
    column = _checked(values, "values")
    return _counts(column, np.sort(column), 2 * _checked_delta(delta), closed=False)


def observed_neighbours(
    original: ArrayLike, protected: ArrayLike, delta: float
) -> NDArray[np.int64]:
    """Count the protected values within 2 delta of each original value.

    Parameters
    ----------
    original : array_like, shape (n_records,)
        Values before protection: the centres.
    protected : array_like, shape (n_protected,)
        Values after protection, in any order: what is counted.
    delta : float
        Half the radius, above 0.

    Returns
    -------
    ndarray of int64, shape (n_records,)
        #{j: |y_j - x_i| <= 2 delta}, differences computed in float64. Read-only.

    Raises
    ------
    RequestError
        If delta is not a number above 0.
    DataError
        If either is not one attribute of finite numbers.

    Examples
    --------
    >>> observed_neighbours([0.0, 9.0], [-2.0, 1.0, 2.1], delta=1.0)
    array([2, 0])
    """
    centres = _checked(original, "original data")
    released = np.sort(_checked(protected, "protected data"))
    return _counts(centres, released, 2 * _checked_delta(delta), closed=True)


def simulated_neighbours(
    values: ArrayLike,
    delta: float,
    *,
    law: str | NoiseLaw,
    generator: np.random.Generator,
    runs: int = 200,
) -> SimulatedNeighbours:
    """Estimate the expected number of noised records within 2 delta of each value, any law.

    Parameters
    ----------
    values : array_like, shape (n_records,)
        One attribute, finite numbers.
    delta : float
        Half the radius; the laws known by name have variance delta^2/3.
    law : str or function
        One of `NOISE_LAWS`, or a function that returns draws from a generator and their
        number.
    generator : numpy.random.Generator
        Where the noise comes from: seed it, and the result can be had again.
    runs : int
        How many times to draw noise for all records, 2 or more.

    Returns
    -------
    SimulatedNeighbours
        Averages over the runs, with their standard errors.

    Raises
    ------
    RequestError
        If delta, law or runs is not valid.
    DataError
        If the values are not one attribute of finite numbers.

    Notes
    -----
    O(runs n log n) time, O(n) memory.

    Examples
    --------
    >>> counts = simulated_neighbours(
    ...     [0.0, 0.5, 9.0], 1.0, law="triangular", generator=np.random.default_rng(1)
    ... )
    >>> counts.mean.round(1)
    array([2., 2., 1.])
    """
    column = _checked(values, "values")
    delta = _checked_delta(delta)
    if not isinstance(runs, int | np.integer) or isinstance(runs, bool) or runs < 2:
        raise RequestError(
            "runs", "runs must be a whole number of 2 or more", "pass for example runs=200"
        )
    draw = _law(law, delta)
    different, which = np.unique(column, return_inverse=True)
    # Whole numbers: sums and sums of squares are exact while n^2 runs is below 2**63.
    totals, squares = np.zeros(len(different), np.int64), np.zeros(len(different), np.int64)
    for _ in range(runs):
        noised = np.sort(column + _noise(draw, generator, len(column)))
        counts = np.empty(len(different), dtype=np.int64)
        kernel.count_within(different, noised, 2 * delta, closed=True, out=counts)
        totals += counts
        squares += counts * counts
    mean = totals / runs
    variance = (squares - mean * totals) / (runs - 1)
    standard_error = np.sqrt(np.maximum(variance, 0.0) / runs)
    mean, standard_error = mean[which], standard_error[which]
    mean.setflags(write=False)
    standard_error.setflags(write=False)
    return SimulatedNeighbours(mean=mean, standard_error=standard_error, runs=int(runs))


def _law(law: str | NoiseLaw, delta: float) -> NoiseLaw:
    """Return the law as a function of a generator and a number of draws."""
    if not isinstance(law, str):
        return law
    if law not in NOISE_LAWS:
        raise RequestError(
            "law", "there is no such law of noise", f"choose from {', '.join(NOISE_LAWS)}"
        )
    return NOISE_LAWS[law](delta)


def _noise(draw: NoiseLaw, generator: np.random.Generator, n_draws: int) -> NDArray[np.float64]:
    """Return the draws of a law, which may be the caller's own."""
    noise = np.asarray(draw(generator, n_draws), dtype=np.float64)
    if noise.shape != (n_draws,) or not np.isfinite(noise).all():
        raise RequestError(
            "law",
            "it must return as many finite numbers as it is asked for",
            "return an array of shape (n_draws,)",
        )
    return noise


def _counts(
    centres: NDArray[np.float64], in_order: NDArray[np.float64], radius: float, *, closed: bool
) -> NDArray[np.int64]:
    """Count the values around each centre, each different centre once."""
    different, which = np.unique(centres, return_inverse=True)
    counts = np.empty(len(different), dtype=np.int64)
    kernel.count_within(different, in_order, radius, closed=closed, out=counts)
    counts = counts[which]
    counts.setflags(write=False)
    return counts


def _checked(values: ArrayLike, place: str) -> NDArray[np.float64]:
    """Return one attribute of finite numbers as float64."""
    column = np.asarray(values)
    if column.ndim != 1 or len(column) == 0 or column.dtype.kind not in "biuf":
        raise DataError(
            place, "neighbours are counted in one attribute of numbers", "pass one column"
        )
    numbers = column.astype(np.float64)
    if not np.abs(numbers).max() <= LARGEST_VALUE:
        raise DataError(
            place,
            "values must be present, finite and at most 1e140 in size",
            "leave such records out",
        )
    return numbers


def _checked_delta(delta: float) -> float:
    """Return delta as a float above 0."""
    if (
        not isinstance(delta, int | float | np.integer | np.floating)
        or isinstance(delta, bool)
        or not 0 < delta <= LARGEST_VALUE
    ):
        raise RequestError("delta", "delta is a number above 0", "pass for example delta=2.5")
    return float(delta)
