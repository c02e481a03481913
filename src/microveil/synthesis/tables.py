"""Noisy counts and tables of pairs, made such that none is negative and all agree."""

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

__all__ = [
    "copula_table",
    "falling_counts",
    "fitted_correlation",
    "nearest_counts",
    "nearest_table",
    "proportionally_fitted",
    "shrunk",
]

Real = NDArray[np.float64]
# How much of independence may be mixed in where a margin cannot be reached, and how near it must
# be: all of independence would drown a table of which most cells are 0.
GRAINS = (0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0)
REACHED, CLOSE = 1e-5, 1e-9
# No dependence is taken to be closer than this correlation.
CLOSEST = 0.985
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
# Angles, of which the correlation is the sine, that are tried for a table; an odd number.
ANGLES = np.linspace(-np.arcsin(CLOSEST), np.arcsin(CLOSEST), 65)
TINY = np.finfo(float).tiny


def nearest_counts(counts: Real, total: float) -> Real:
    """Find the nearest counts, by least squares, that sum to a total and are nowhere negative.

    Cutting negative counts off alone would leave the noise of all others in: where most true
    counts are 0, as in the tail of a number, it would add records that nobody was. The projection
    on a simplex, O(n log n) (Held, Wolfe and Crowder 1974).
    """
    falling = np.sort(counts)[::-1]
    taken_off = (np.cumsum(falling) - total) / np.arange(1, len(counts) + 1)
    n_left = int(np.count_nonzero(falling > taken_off)) if total > 0 else 0
    if not n_left:
        return np.zeros_like(counts)
    return np.asarray(np.maximum(counts - taken_off[n_left - 1], 0.0))


def falling_counts(counts: Real, total: float) -> Real:
    """Find counts near to noisy ones that sum to a total, are nowhere negative and never rise.

    For the last values of a number, of which all together hardly stand out of the noise: what
    there is of them is taken to lie near the rest.
    """
    falling = scipy.optimize.isotonic_regression(counts, increasing=False).x
    return nearest_counts(falling, total)


def shrunk(noisy: Real, towards: Real, variance: float) -> Real:
    """Draw a noisy table towards another, the more the less it stands out of the noise.

    James and Stein's rule, its factor never negative: what of the distance is expected to be
    noise, of the same variance on each cell, is taken off.
    """
    apart = noisy - towards
    distance = float((apart**2).sum())
    if distance == 0.0:
        return towards
    return np.asarray(towards + max(0.0, 1.0 - noisy.size * variance / distance) * apart)


def nearest_table(table: Real, rows: Real, columns: Real, steps: int = 400) -> Real:
    """Find the nearest table that is nowhere negative and has margins that sum to 1.

    Dykstra's alternating projections; what they leave of the margins is mended by iterative
    proportional fitting.
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
        moved = np.abs(clipped - current).max()
        current = clipped
        if moved < 1e-9:
            break
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


def copula_table(rows: Real, columns: Real, correlation: float) -> Real:
    """Return the cell probabilities of a Gaussian copula with these margins.

    P(X < h, Y < k) is the product of the margins plus the integral of the bivariate density at
    (h, k) over the correlation from 0 (Plackett 1954), by Gauss and Legendre's rule.
    """
    turn = np.arcsin(correlation)
    density = _density(rows, columns, 0.5 * turn * (NODES + 1))
    return _cells(rows, columns, 0.5 * turn * np.tensordot(WEIGHTS, density, axes=1))


def fitted_correlation(table: Real, rows: Real, columns: Real) -> float:
    """Find the correlation whose copula is nearest to a table, by least squares.

    Of the correlations of all angles tried, whose integrals are parts of each other, the nearest
    one, moved to where the parabola through it and its neighbours is least.
    """
    step = ANGLES[1] - ANGLES[0]
    middle, off = 0.5 * (ANGLES[1:] + ANGLES[:-1]), 0.5 * step / np.sqrt(3)
    # By two points of Gauss and Legendre between each angle and the next.
    both = _density(rows, columns, middle - off) + _density(rows, columns, middle + off)
    parts = 0.5 * step * both
    sums = np.concatenate([np.zeros_like(parts[:1]), np.cumsum(parts, axis=0)])
    tables = _cells(rows, columns, sums - sums[len(ANGLES) // 2])
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


def _cells(rows: Real, columns: Real, excess: Real) -> Real:
    """Make cells of what more records than in independence lie below each two ends of bins."""
    above, across = np.cumsum(rows), np.cumsum(columns)
    joint = np.zeros((*excess.shape[:-2], len(rows) + 1, len(columns) + 1))
    joint[..., 1:, -1] = above
    joint[..., -1, 1:] = across
    joint[..., 1:-1, 1:-1] = above[:-1, None] * across[:-1] + excess
    return np.maximum(np.diff(np.diff(joint, axis=-2), axis=-1), 0.0)
