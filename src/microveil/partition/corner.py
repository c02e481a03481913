"""The order of records by their distance from a corner of the domain, or the ends of it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import corner as kernel

__all__ = ["corner_ends", "corner_order"]

Positions = NDArray[np.int64]

# Of so many records, evenly spaced in the table, the distances say where the ends begin.
SAMPLE = 4096


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


def corner_ends(
    columns: Sequence[NDArray[np.int64]], bounds: Sequence[tuple[int, int]], part: int
) -> tuple[Positions, Positions]:
    """Return who comes first and who comes last in the order of `insensitive_mdav`.

    Parameters
    ----------
    columns : sequence of int64 arrays (n_records,)
        Within the bounds.
    bounds : sequence of (int, int)
        Of each attribute's domain.
    part : int
        About one record in so many is in either end, 8 or more.

    Returns
    -------
    int64 array, int64 array
        Positions in that order: the first so many of all, and the last so many. An end that would
        hold more than a quarter, because many records lie equally far, is empty.

    Notes
    -----
    O(n m), and what sorting the ends takes. How many they hold hangs on a sample; who they are,
    and in what order, does not.

    Examples
    --------
    >>> nearest, farthest = corner_ends([np.array([7, 1, 9, 4, 3, 0, 2, 8])], [(0, 10)], 8)
    >>> nearest.tolist(), farthest.tolist()
    ([5, 1], [7, 2])
    """
    squares = np.zeros(len(columns[0]))
    for column, (lower, upper) in zip(columns, bounds, strict=True):
        width = float(upper - lower) if lower < upper else 1.0
        kernel.add_squares(column, float(lower), width, squares)
    sample = np.sort(squares[:: max(1, len(squares) // SAMPLE)])
    inside = len(sample) // part
    near = np.flatnonzero(squares <= sample[inside])
    far = np.flatnonzero(squares >= sample[len(sample) - 1 - inside])
    return _put_in_order(near, squares, columns), _put_in_order(far, squares, columns)


def _put_in_order(
    records: Positions, squares: NDArray[np.float64], columns: Sequence[NDArray[np.int64]]
) -> Positions:
    """Put records, in ascending positions, in the order of all; none if they are too many."""
    if 4 * len(records) > len(squares):
        return records[:0]
    return records[corner_order(squares[records], [column[records] for column in columns])]
