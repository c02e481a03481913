"""Shares of categories before randomisation, estimated from those after it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError

# Beyond this a matrix counts as one that cannot be inverted: nothing of the shares is left.
LARGEST_CONDITION = 1e12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CorrectedShares:
    """The shares of categories before randomisation, by its public matrix; they sum to 1.

    They are unbiased, so that one of a rare category can be below 0. The covariance, float64
    (n_categories, n_categories), is over draws of the randomisation, given the table. No category
    is None, where being missing was one.
    """

    categories: tuple[Any, ...]
    n_records: int
    released: NDArray[np.float64]
    shares: NDArray[np.float64]
    covariance: NDArray[np.float64]

    @property
    def standard_errors(self) -> NDArray[np.float64]:
        """Of each corrected share, float64 (n_categories,)."""
        return np.asarray(np.sqrt(np.maximum(self.covariance.diagonal(), 0)))

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain values."""
        return {
            "categories": list(self.categories),
            "n_records": self.n_records,
            "released": self.released.tolist(),
            "shares": self.shares.tolist(),
            "standard_errors": self.standard_errors.tolist(),
            "covariance": self.covariance.tolist(),
        }


def correct_shares(
    weights: NDArray[np.int64],
    counts: NDArray[np.int64],
    categories: tuple[Any, ...],
    place: str = "matrix",
    squares: NDArray[np.int64] | None = None,
) -> CorrectedShares:
    """Undo a transition matrix in the shares of categories.

    With P the matrix and q the released shares: pi = (P^T)^-1 q, and given the table its
    covariance is (P^T)^-1 [sum over k of pi_k (diag P_k - P_k P_k^T) / n] P^-1. Where a draw is
    that of several records, of s_u each, the sum is over draws, of s_u**2 / n**2 in place of 1 / n:
    ``squares`` then has by released category the sum of s_u**2.

    >>> found = correct_shares(np.array([[3, 1], [1, 3]]), np.array([50, 50]), ("a", "b"))
    >>> found.shares, found.standard_errors.round(3)
    (array([0.5, 0.5]), array([0.087, 0.087]))
    """
    n_records = int(counts.sum())
    if not n_records:
        raise DataError(place, "no record has a value", "leave the attribute out")
    chances = weights / weights.sum(axis=1, keepdims=True)
    if not np.linalg.cond(chances) < LARGEST_CONDITION:
        raise RequestError(
            place,
            "it cannot be inverted: different shares before it give the same ones after it",
            "use the released shares as they are, or choose another matrix",
        )
    released = counts / n_records
    undo = np.linalg.inv(chances.T)
    shares = undo @ released
    weighted = (counts if squares is None else squares) / n_records
    # The sum over k of pi_k diag P_k is diag q.
    drawn = (np.diag(weighted) - chances.T @ np.diag(undo @ weighted) @ chances) / n_records
    return CorrectedShares(
        categories=categories,
        n_records=n_records,
        released=released,
        shares=shares,
        covariance=undo @ drawn @ undo.T,
    )
