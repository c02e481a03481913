"""The Gaussian copula of two ordered attributes, on the cells of their tables."""

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

__all__ = ["copula_table", "fitted_correlation"]

Real = NDArray[np.float64]
# No dependence is taken to be closer than this.
CLOSEST = 0.985
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
# Angles, of which the correlation is the sine, that are tried for a table; an odd number.
ANGLES = np.linspace(-np.arcsin(CLOSEST), np.arcsin(CLOSEST), 65)
TINY = np.finfo(float).tiny


def copula_table(rows: Real, columns: Real, correlation: float) -> Real:
    """Return the cell probabilities of a Gaussian copula.

    Parameters
    ----------
    rows : float64 array (n_rows,)
        Masses of the bins of the first attribute, in order; they sum to 1.
    columns : float64 array (n_columns,)
        Of the second.
    correlation : float
        Between -1 and 1, ends excluded.

    Returns
    -------
    float64 array (n_rows, n_columns)
        With these margins.

    Notes
    -----
    P(X < h, Y < k) is the product of the margins plus the integral of the bivariate density at
    (h, k) over the correlation from 0 (Plackett 1954), by Gauss and Legendre's rule.

    Examples
    --------
    >>> half = np.array([0.5, 0.5])
    >>> np.round(copula_table(half, half, 0.5), 6)
    array([[0.333333, 0.166667],
           [0.166667, 0.333333]])
    """
    turn = np.arcsin(correlation)
    density = _density(rows, columns, 0.5 * turn * (NODES + 1))
    return _table(rows, columns, 0.5 * turn * np.tensordot(WEIGHTS, density, axes=1))


def fitted_correlation(table: Real, rows: Real, columns: Real) -> float:
    """Find the correlation whose copula is nearest to a table, by least squares.

    Of the correlations of all angles tried, whose integrals are parts of each other, the nearest
    one, moved to where the parabola through it and its neighbours is least.

    Examples
    --------
    >>> thirds = np.full(3, 1 / 3)
    >>> round(fitted_correlation(copula_table(thirds, thirds, -0.4), thirds, thirds), 3)
    -0.4
    """
    step = ANGLES[1] - ANGLES[0]
    middle, off = 0.5 * (ANGLES[1:] + ANGLES[:-1]), 0.5 * step / np.sqrt(3)
    # By two points of Gauss and Legendre between each angle and the next.
    parts = 0.5 * step * (_density(rows, columns, middle - off)
                          + _density(rows, columns, middle + off))  # fmt: skip
    sums = np.concatenate([np.zeros_like(parts[:1]), np.cumsum(parts, axis=0)])
    tables = _table(rows, columns, sums - sums[len(ANGLES) // 2])
    distances = ((tables - table) ** 2).sum(axis=(1, 2))
    nearest = int(distances.argmin())
    if nearest in (0, len(ANGLES) - 1):
        return float(np.sin(ANGLES[nearest]))
    before, at, after = distances[nearest - 1 : nearest + 2]
    bend = before - 2 * at + after
    moved = 0.5 * (before - after) / bend if bend > 0 else 0.0
    return float(np.sin(ANGLES[nearest] + moved * step))


def _density(rows: Real, columns: Real, angles: Real) -> Real:
    """Return the bivariate density at all ends of bins, times the cosine of each angle."""
    h, k = (
        scipy.special.ndtri(np.clip(np.cumsum(masses)[:-1], TINY, 1 - 1e-16))
        for masses in (rows, columns)
    )
    turned = angles[:, None, None]
    squares = h[:, None] ** 2 + k**2 - 2 * (h[:, None] * k) * np.sin(turned)
    return np.asarray(np.exp(-squares / (2 * np.cos(turned) ** 2)) / (2 * np.pi))


def _table(rows: Real, columns: Real, excess: Real) -> Real:
    """Make cells of what more records than in independence lie below each two ends of bins."""
    above, across = np.cumsum(rows), np.cumsum(columns)
    joint = np.zeros((*excess.shape[:-2], len(rows) + 1, len(columns) + 1))
    joint[..., 1:, -1] = above
    joint[..., -1, 1:] = across
    joint[..., 1:-1, 1:-1] = above[:-1, None] * across[:-1] + excess
    return np.maximum(np.diff(np.diff(joint, axis=-2), axis=-1), 0.0)
