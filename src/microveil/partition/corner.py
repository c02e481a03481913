"""The order of records by their distance from a corner of the domain."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["corner_order"]

Positions = NDArray[np.int64]


def corner_order(squares: NDArray[np.float64], columns: Sequence[NDArray[Any]]) -> Positions:
    """Return positions by squared distance, ties by the columns' values, then by position.

    Parameters
    ----------
    squares : float64 array (n_records,)
    columns : sequence of arrays (n_records,)
        Values by attribute, compared as float64.

    Examples
    --------
    >>> corner_order(np.array([2.0, 1.0, 2.0]), [np.array([1, 1, 0])])
    array([1, 2, 0])
    """
    order = np.argsort(squares, kind="stable")
    in_order = squares[order]
    ties = in_order[1:] == in_order[:-1]
    tied = np.append(ties, False) | np.append(False, ties)
    among = order[tied]
    keys = [column[among].astype(np.float64) for column in columns[::-1]]
    order[tied] = among[np.lexsort((*keys, squares[among]))]
    return order
