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

from microveil.errors import DataError


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
