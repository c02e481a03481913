"""What a transition matrix leaves to be known: corrected shares, and posterior odds.

Who knows the matrix can estimate the shares of the categories before it from those after it. And
PRAM replaces score k of an attribute by score l with probability p_kl: who sees score k in the
protected data asks whether it is the original one. Gouweleeuw, Kooiman, Willenborg and de Wolf,
"Post randomisation for statistical disclosure control" (1998), answer with the posterior odds

    p_kk P(k) / sum over l != k of p_lk P(l),

P the shares of the scores in the original data. Odds of 3 are a probability of 3/4. They should be
small above all for rare scores: a rare score that survives is worth knowing. As the shares are
those of the original, the odds are for the custodian.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PosteriorOdds:
    """Posterior odds and shares of every score in the original, read-only (n_scores,).

    Odds are inf for a score that is published for nobody else (whoever shows it has it), NaN for
    one that is never published.
    """

    odds: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def largest(self) -> float:
        """The largest odds of a published score: inf if one of them is certain."""
        return float(np.nanmax(self.odds))

    def to_dict(self) -> dict[str, Any]:
        """Return the odds as JSON knows them; None, not "infinite", for what is never published."""
        return {
            "scores": [
                {
                    "share": share,
                    "odds": odds if math.isfinite(odds) else None,
                    "infinite": math.isinf(odds),
                }
                for share, odds in zip(self.shares.tolist(), self.odds.tolist(), strict=True)
            ],
            "largest": self.largest if math.isfinite(self.largest) else None,
            "largest_infinite": math.isinf(self.largest),
        }


def posterior_odds(weights: ArrayLike, counts: ArrayLike) -> PosteriorOdds:
    """Compute the odds that a score seen in protected data is the original one.

    Row k of the weights is in proportion to p_kl. ``counts`` is how often each score occurs in the
    original.

    >>> posterior_odds([[0.9, 0.1], [0.2, 0.8]], [10, 90]).odds
    array([ 0.5, 72. ])
    """
    matrix = np.asarray(weights, dtype=np.float64)
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    shares = np.asarray(counts, dtype=np.float64)
    if not shares.any():
        raise DataError("counts", "no record has a value", "leave the attribute out")
    shares = shares / shares.sum()
    stays = np.diag(matrix) * shares
    # Without the diagonal, rather than the whole less the diagonal: what cannot be reached
    # from elsewhere comes out as 0 exactly.
    moves = matrix.copy()
    np.fill_diagonal(moves, 0.0)
    arrives = shares @ moves
    odds = np.full(len(shares), np.nan)
    odds[stays > 0] = np.inf
    with np.errstate(over="ignore"):
        np.divide(stays, arrives, out=odds, where=arrives > 0)
    odds.setflags(write=False)
    shares.setflags(write=False)
    return PosteriorOdds(odds=odds, shares=shares)
