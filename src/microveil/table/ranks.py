"""Values replaced by their ranks, equal ones by the average of theirs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import ranking

__all__ = ["ranks_of"]


def ranks_of(values: NDArray[np.float64], *, narrow: bool = False) -> NDArray[Any]:
    """Return the ranks of values, from 1 on, equal ones by the average of theirs.

    Parameters
    ----------
    values : ndarray of float64, shape (n_values,)
        None missing.
    narrow : bool
        Return float32 where it holds every rank, up to 2^23 values.

    Examples
    --------
    >>> ranks_of(np.array([7.0, 2.0, 7.0]))
    array([2.5, 1. , 2.5])
    """
    is_exact = len(values) < 1 << 23
    ranks = np.empty(len(values), dtype=np.float32 if narrow and is_exact else np.float64)
    ranking.average(values, np.argsort(values), ranks)
    return ranks
