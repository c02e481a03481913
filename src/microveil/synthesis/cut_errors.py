"""How many records too many, or too few, may lie below a cut."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

__all__ = ["cut_covariance", "cut_errors"]

Real = NDArray[np.float64]
# Trial trees of cuts: so many that a bound at 95 % moves by about one part in fifty.
TRIALS = 4000


@lru_cache(maxsize=8)
def cut_covariance(rates: tuple[float, ...]) -> Real:
    """Return the covariance of the errors of all cuts, in squared records; 0 at both ends.

    A cut is off by its own error, whose density is taken to be proportional to exp(-rate |error|)
    as where candidates are dense, and by half of the errors of the two cuts around its node.

    Parameters
    ----------
    rates : tuple of float
        By level.

    Returns
    -------
    float64 array (2**depth + 1, 2**depth + 1)

    Examples
    --------
    >>> cut_covariance((0.1, 0.2)).diagonal()
    array([  0., 100., 200., 100.,   0.])
    """
    inherited = _inherited(len(rates))
    own = np.concatenate([np.full(1 << level, 2 / rate**2) for level, rate in enumerate(rates)])
    found = np.asarray((inherited * own) @ inherited.T)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=2)
def cut_errors(rates: tuple[float, ...]) -> Real:
    """Draw trial errors of all cuts, in records: (TRIALS, 2**depth + 1), 0 at both ends.

    Drawn alike each time, by the law of `cut_covariance`.

    Examples
    --------
    >>> cut_errors((0.1, 0.2)).std(axis=0).round()
    array([ 0., 10., 14., 10.,  0.])
    """
    random = np.random.Generator(np.random.PCG64(0))
    own = [
        random.laplace(scale=1 / rate, size=(TRIALS, 1 << level))
        for level, rate in enumerate(rates)
    ]
    errors = np.asarray(np.concatenate(own, axis=1) @ _inherited(len(rates)).T)
    errors.setflags(write=False)
    return errors


def _inherited(depth: int) -> Real:
    """Find how much every cut has of each cut's own error, those in the order of their levels."""
    found = np.zeros(((1 << depth) + 1, (1 << depth) - 1))
    for level in range(depth):
        step = 1 << (depth - level)
        left = np.arange(0, 1 << depth, step)
        middle = left + step // 2
        found[middle] = 0.5 * (found[left] + found[left + step])
        found[middle, (1 << level) - 1 + np.arange(len(left))] = 1.0
    return found
