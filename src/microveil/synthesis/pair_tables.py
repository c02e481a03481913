"""Noisy tables of two attributes, made tables of probabilities with the released margins."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["nearest_table", "shrunk"]

Real = NDArray[np.float64]
# How much of independence may be mixed in where a margin cannot be reached, and how near it must
# be: all of independence would drown a table of which most cells are 0.
GRAINS = (0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0)
REACHED, CLOSE = 1e-5, 1e-9


def shrunk(noisy: Real, towards: Real, variance: float) -> Real:
    """Draw a noisy table towards another, the more the less it stands out of the noise.

    James and Stein's rule, its factor never negative: what of the distance is expected to be
    noise is taken off.

    Parameters
    ----------
    noisy, towards : float64 arrays of one shape
    variance : float
        Of the noise on each cell, in the same units squared.
    """
    apart = noisy - towards
    distance = float((apart**2).sum())
    if distance == 0.0:
        return towards
    return np.asarray(towards + max(0.0, 1.0 - noisy.size * variance / distance) * apart)


def nearest_table(table: Real, rows: Real, columns: Real, steps: int = 400) -> Real:
    """Find the nearest table that is nowhere negative and has the given margins.

    Dykstra's alternating projections; what they leave of the margins is mended by iterative
    proportional fitting.

    Parameters
    ----------
    table : float64 array (n_rows, n_columns)
    rows, columns : float64 arrays
        Margins that sum to 1.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> nearest_table(np.array([[0.7, -0.2], [0.0, 0.5]]), half, half).round(3)
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    n_rows, n_columns = table.shape
    current, owed = table.copy(), np.zeros_like(table)
    for _ in range(steps):
        short_rows = (rows - current.sum(axis=1)) / n_columns
        short_columns = (columns - current.sum(axis=0)) / n_rows
        total = (1.0 - current.sum()) / (n_rows * n_columns)
        on_margins = current + short_rows[:, None] + short_columns[None, :] - total
        clipped = np.maximum(on_margins + owed, 0.0)
        owed = on_margins + owed - clipped
        if np.abs(clipped - current).max() < 1e-9:
            current = clipped
            break
        current = clipped
    return proportionally_fitted(current, rows, columns)


def proportionally_fitted(table: Real, rows: Real, columns: Real, steps: int = 50) -> Real:
    """Scale rows and columns in turn until the margins are right (Deming and Stephan 1940).

    Where cells that are 0 keep a margin out of reach, a grain of independence is added, no more
    than is needed: with all of it any margins are reached.
    """
    alike = np.outer(rows, columns)
    for grain in GRAINS:
        current = table + grain * alike
        for _ in range(steps):
            current *= (rows / np.maximum(current.sum(axis=1), 1e-300))[:, None]
            sums = current.sum(axis=0)
            current *= columns / np.maximum(sums, 1e-300)
            off = float(np.abs(sums - columns).max())
            if off < CLOSE:
                break
        if off < REACHED:
            break
    return current
