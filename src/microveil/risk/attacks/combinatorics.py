"""Chances counted out over all ways to draw, so that no attack needs to draw them."""

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

__all__ = ["chance_of_one", "chance_of_sharing"]


def _log_binomial(n: NDArray[np.int64], k: ArrayLike) -> NDArray[np.float64]:
    """Return ln C(n, k), -inf where there is no way to choose k of n.

    Factor by factor for small k: of two chances that are nearly equal the difference is
    wanted, which the gamma function of large numbers would blur.
    """
    chosen = np.broadcast_to(np.asarray(k, dtype=np.int64), n.shape)
    possible = (chosen >= 0) & (chosen <= n)
    logs: NDArray[np.float64] = np.where(
        possible, -scipy.special.gammaln(np.maximum(chosen, 0) + 1.0), -np.inf
    )
    for i in range(int(chosen.max(initial=0))):
        logs += np.log(np.where(i < chosen, np.maximum(n - i, 1), 1))
    return logs


def chance_of_one(counts: ArrayLike, n_records: int, n_drawn: int) -> NDArray[np.float64]:
    """Return the chance that a predicate selects exactly one of the records drawn.

    Parameters
    ----------
    counts : array_like of int
        How many of all records each predicate selects.
    n_records, n_drawn : int
        All records, and how many of them are drawn without replacement.

    Returns
    -------
    ndarray of float64
        C(n_records - count, n_drawn - 1) count/C(n_records, n_drawn).

    Examples
    --------
    >>> chance_of_one([0, 1, 2], 4, 2).round(4)
    array([0.    , 0.5   , 0.6667])
    """
    count = np.asarray(counts, dtype=np.int64)
    chances: NDArray[np.float64]
    if n_drawn == n_records:
        chances = (count == 1).astype(np.float64)
        return chances
    # As the chance that of all records selected exactly one is among those drawn.
    left = n_records - n_drawn
    possible = (count > 0) & (count - 1 <= left)
    others = np.where(possible, count - 1, 0)
    logs = scipy.special.gammaln(left + 1.0) - scipy.special.gammaln(left - others + 1.0)
    logs -= scipy.special.gammaln(float(n_records)) - scipy.special.gammaln(
        n_records - others + 0.0
    )
    chances = np.where(possible, np.exp(logs), 0.0)
    chances *= count * (n_drawn / n_records)
    return chances


def chance_of_sharing(counts: NDArray[np.int64], neighbours: int) -> NDArray[np.float64]:
    """Return the chance that two sets of nearest rows share a row, ties drawn at random.

    Each set holds the rows inside its radius, and of those at it as many, drawn without
    replacement, as make up ``neighbours``.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_people, 3, 3)
        Rows by where they lie: beyond (0), inside (1) or at (2) the first radius, by the
        second likewise; those beyond both are not used.
    neighbours : int
        Rows in each set, 1 or more.

    Returns
    -------
    ndarray of float64, shape (n_people,)
        Chances.

    Notes
    -----
    Unless a row lies inside both, the sets are disjoint if, for some number j of rows that
    lie at both radii, the first set draws j of these and none inside the second radius, and
    the second set draws none inside the first radius and none of those j.

    Examples
    --------
    One nearest row each, of two equally near ones that are the same for both:

    >>> counts = np.zeros((1, 3, 3), dtype=np.int64)
    >>> counts[0, 2, 2] = 2
    >>> chance_of_sharing(counts, 1).round(4)
    array([0.5])
    """
    first_at, second_at = counts[:, 2, :].sum(axis=1), counts[:, :, 2].sum(axis=1)
    first_draws = neighbours - counts[:, 1, :].sum(axis=1)
    second_draws = neighbours - counts[:, :, 1].sum(axis=1)
    at_both = counts[:, 2, 2]
    apart = np.zeros(len(counts))
    for j in range(neighbours + 1):
        logs = (
            _log_binomial(at_both, j)
            + _log_binomial(counts[:, 2, 0], first_draws - j)
            - _log_binomial(first_at, first_draws)
            + _log_binomial(second_at - counts[:, 1, 2] - j, second_draws)
            - _log_binomial(second_at, second_draws)
        )
        apart += np.exp(logs)
    return np.where(counts[:, 1, 1] > 0, 1.0, np.clip(1 - apart, 0.0, 1.0))
