"""Posterior odds of post-randomised scores: how sure an intruder can be of what is seen.

PRAM replaces score k of a categorical attribute by score l with probability p_kl. Who sees
score k in the protected data asks whether it is the original one. Gouweleeuw, Kooiman,
Willenborg and de Wolf, "Post randomisation for statistical disclosure control" (1998), answer
with the posterior odds

    p_kk P(k) / sum over l != k of p_lk P(l),

P the shares of the scores in the original data. Odds of 3 are a probability of 3/4. They
should be small above all for rare scores: a rare score that survives is worth knowing.

The shares are those of the original, so the odds are for the custodian.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError

__all__ = ["PosteriorOdds", "checked_transitions", "posterior_odds"]

# A thousand roundings of probabilities; a matrix typed with four decimals is off by more.
ROW_SUM_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PosteriorOdds:
    """Posterior odds of every score, in read-only arrays.

    Parameters
    ----------
    odds : ndarray of float64, shape (n_scores,)
        inf for a score that is published for nobody else (whoever shows it has it); NaN for a
        score that is never published.
    shares : ndarray of float64, shape (n_scores,)
        Observed shares of the scores in the original.
    """

    odds: NDArray[np.float64]
    shares: NDArray[np.float64]

    @property
    def largest(self) -> float:
        """The largest odds of a published score: inf if one of them is certain.

        >>> posterior_odds([[0.9, 0.1], [0.2, 0.8]], [50, 50]).largest
        8.0
        """
        return float(np.nanmax(self.odds))

    def to_dict(self) -> dict[str, Any]:
        """Return the odds as JSON knows them: no NaN, no infinity, None instead.

        Returns
        -------
        dict
            ``scores``, a list with ``share``, ``odds`` and ``infinite`` of each: odds of None
            are infinite where that says true, and where it says false the score is never
            published; and the ``largest`` odds, likewise with ``largest_infinite``.
        """
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


def posterior_odds(transitions: ArrayLike, counts: ArrayLike) -> PosteriorOdds:
    """Compute the odds that a score seen in protected data is the original one.

    Parameters
    ----------
    transitions : array_like, shape (n_scores, n_scores)
        p_kl, the probability that score k is published as score l, in row k and column l.
    counts : array_like, shape (n_scores,)
        How often each score occurs in the original (or its share: only proportions count).

    Returns
    -------
    PosteriorOdds
        In the order of the scores.

    Raises
    ------
    RequestError
        If the matrix is not one of transition probabilities.
    DataError
        If there is not one count of 0 or more for every score, or all are 0.

    Examples
    --------
    >>> posterior_odds([[0.9, 0.1], [0.2, 0.8]], [10, 90]).odds
    array([ 0.5, 72. ])
    """
    matrix = checked_transitions(transitions)
    shares = np.asarray(counts, dtype=np.float64)
    if shares.shape != matrix.shape[:1]:
        raise DataError(
            "counts",
            "there must be one for every score of the transition matrix",
            "count every score, also those that do not occur",
        )
    # Divided by the largest first: no sum can overflow.
    if not (np.isfinite(shares).all() and shares.min() >= 0 and shares.max() > 0):
        raise DataError(
            "counts",
            "they must be finite numbers of 0 or more, and not all 0",
            "pass how often each score occurs",
        )
    shares = shares / shares.max()
    shares /= shares.sum()
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


def checked_transitions(transitions: ArrayLike) -> NDArray[np.float64]:
    """Return a matrix of transition probabilities as float64.

    Parameters
    ----------
    transitions : array_like, shape (n_scores, n_scores)
        p_kl in row k and column l.

    Returns
    -------
    ndarray of float64, shape (n_scores, n_scores)
        The same numbers.

    Raises
    ------
    RequestError
        If it is not square, holds a number that is no probability, or a row does not sum to
        1 within 1e-12.

    Examples
    --------
    >>> checked_transitions([[1, 0], [0.5, 0.5]])
    array([[1. , 0. ],
           [0.5, 0.5]])
    """
    matrix = np.asarray(transitions, dtype=np.float64)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or matrix.size == 0:
        raise RequestError(
            "transition matrix",
            "it must be square, with a row and a column for every score",
            "pass an array of shape (n_scores, n_scores)",
        )
    if not ((matrix >= 0) & (matrix <= 1)).all():
        row = int(np.flatnonzero(~((matrix >= 0) & (matrix <= 1)).all(axis=1))[0]) + 1
        raise RequestError(
            f"transition matrix, row {row}",
            "every entry must be a probability from 0 to 1",
            "mend the row",
        )
    off = np.flatnonzero(np.abs(matrix.sum(axis=1) - 1) > ROW_SUM_TOLERANCE)
    if len(off):
        raise RequestError(
            f"transition matrix, row {int(off[0]) + 1}",
            "the probabilities of a row must sum to 1",
            "mend the row, or divide it by its sum",
        )
    return matrix
