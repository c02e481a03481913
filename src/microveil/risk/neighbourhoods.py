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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import RequestError
from microveil.risk.neighbour_counts import (
    NoiseLaw,
    checked_attribute,
    expected_neighbours,
    observed_neighbours,
    original_neighbours,
    simulated_neighbours,
)

__all__ = ["Neighbourhoods", "neighbourhoods"]

# A sum of weights that is k on paper may miss it by a rounding.
ROUNDING = 1e-9


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
        One of `microveil.risk.neighbour_counts.NOISE_LAWS`, or a function that returns draws
        from a generator and their number. Uniform noise is counted exactly, any other by
        simulation.
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
    values = checked_attribute(original, "original data")
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
