"""Distributions over all attributes at once, cell by cell, and tables nearest to others."""

import itertools
from itertools import pairwise

import numpy as np


def joint(sizes, factors):
    """The distribution proportional to a product of factors: (attributes, table) pairs."""
    found = np.zeros(sizes)
    for cell in itertools.product(*map(range, sizes)):
        product = 1.0
        for members, table in factors:
            product *= table[tuple(cell[one] for one in members)]
        found[cell] = product
    return found / found.sum()


def margin(distribution, scope):
    """The table of some attributes, its axes in the order asked for."""
    found = np.zeros([distribution.shape[one] for one in scope])
    for cell in itertools.product(*map(range, distribution.shape)):
        found[tuple(cell[one] for one in scope)] += distribution[cell]
    return found


def meets_earlier_in_one(cliques, parents):
    """Whether what a clique shares with all before it lies in its parent."""
    for number, clique in enumerate(cliques):
        before = set().union(*cliques[:number]) if number else set()
        shared = set(clique) & before
        if shared and not shared <= set(cliques[parents[number]]):
            return False
        if bool(shared) != (parents[number] >= 0):
            return False
    return True


def nearest_table(table, rows, columns):
    """The nearest table without negative cells and with given margins, by least squares.

    Of every set of cells that may be above 0 the nearest table on the margins, by the equations
    of Lagrange; the nearest of those that have no negative cell.
    """
    n_rows, n_columns = table.shape
    cells = list(itertools.product(range(n_rows), range(n_columns)))
    sums = np.zeros((n_rows + n_columns, len(cells)))
    for place, (row, column) in enumerate(cells):
        sums[row, place] = sums[n_rows + column, place] = 1.0
    due, wanted = np.concatenate([rows, columns]), table.ravel()
    best, least = None, np.inf
    for chosen in itertools.product([False, True], repeat=len(cells)):
        used = np.array(chosen)
        own = sums[:, used]
        moved = own.T @ np.linalg.pinv(own @ own.T) @ (due - own @ wanted[used])
        found = np.zeros(len(cells))
        found[used] = wanted[used] + moved
        if np.abs(sums @ found - due).max() > 1e-9 or found.min() < -1e-12:
            continue
        distance = float(((found - wanted) ** 2).sum())
        if distance < least:
            best, least = found, distance
    return best.reshape(table.shape)


def copula(rows, columns, correlation):
    """Cell probabilities of a Gaussian copula, by scipy's bivariate normal distribution."""
    from scipy.stats import multivariate_normal, norm

    law = multivariate_normal(cov=[[1, correlation], [correlation, 1]], abseps=1e-10)

    def below(first, second):
        if 0.0 in (first, second):
            return 0.0
        ends = [norm.ppf(min(share, 1.0)) if share < 1 - 1e-12 else 40.0
                for share in (first, second)]  # fmt: skip
        return float(law.cdf(ends))

    up, along = np.r_[0.0, np.cumsum(rows)], np.r_[0.0, np.cumsum(columns)]
    return np.array(
        [[below(b, d) - below(a, d) - below(b, c) + below(a, c) for c, d in pairwise(along)]
         for a, b in pairwise(up)]
    )  # fmt: skip
