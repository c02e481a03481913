"""Values replaced by their ranks, equal ones by the average of theirs."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["ranks_of"]


def ranks_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of values, from 1 on, equal ones by the average of theirs.

    >>> ranks_of(np.array([7.0, 2.0, 7.0]))
    array([2.5, 1. , 2.5])
    """
    order = np.argsort(values)
    ordered = values[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(starts[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((starts + ends + 1) / 2, ends - starts)
    return ranks
