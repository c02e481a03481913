"""The Gaussian copula of two ordered attributes, on the cells of their tables."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["copula_table", "fitted_correlation"]

Real = NDArray[np.float64]
# No dependence is taken to be closer than this.
CLOSEST = 0.985
# A correlation is found to within this.
NEAR = 1e-3
# The golden section: what is left of an interval at each step.
SECTION = 0.5 * (5**0.5 - 1)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)


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
    below, left = np.cumsum(rows)[:-1], np.cumsum(columns)[:-1]
    joint = np.zeros((len(rows) + 1, len(columns) + 1))
    joint[1:, -1] = np.cumsum(rows)
    joint[-1, 1:] = np.cumsum(columns)
    tiny = np.finfo(float).tiny
    h = ndtri(np.clip(below, tiny, 1 - 1e-16))[:, None, None]
    k = ndtri(np.clip(left, tiny, 1 - 1e-16))[None, :, None]
    turn = np.arcsin(correlation)
    angle = 0.5 * turn * (NODES + 1)
    density = np.exp(-(h**2 + k**2 - 2 * h * k * np.sin(angle)) / (2 * np.cos(angle) ** 2))
    excess = (density @ WEIGHTS) * (0.5 * turn / (2 * np.pi))
    joint[1:-1, 1:-1] = below[:, None] * left[None, :] + excess
    return np.maximum(np.diff(np.diff(joint, axis=0), axis=1), 0.0)


def fitted_correlation(table: Real, rows: Real, columns: Real) -> float:
    """Find the correlation whose copula is nearest to a table, by least squares.

    By golden sections, here because loading scipy's takes a third of the time of a small release.

    Examples
    --------
    >>> thirds = np.full(3, 1 / 3)
    >>> round(fitted_correlation(copula_table(thirds, thirds, -0.4), thirds, thirds), 2)
    -0.4
    """

    def distance(correlation: float) -> float:
        return float(((copula_table(rows, columns, correlation) - table) ** 2).sum())

    low, high = -CLOSEST, CLOSEST
    inner = [high - SECTION * (high - low), low + SECTION * (high - low)]
    far = [distance(correlation) for correlation in inner]
    while high - low > NEAR:
        if far[0] < far[1]:
            high = inner[1]
            inner = [high - SECTION * (high - low), inner[0]]
            far = [distance(inner[0]), far[0]]
        else:
            low = inner[0]
            inner = [inner[1], low + SECTION * (high - low)]
            far = [far[1], distance(inner[1])]
    return 0.5 * (low + high)
