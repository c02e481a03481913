"""A transition matrix for ordered categories: near ones are likelier than far ones.

P = P_LP / 2 + P_RR / 2. P_RR is randomised response at epsilon. P_LP has the least mean distance
in ranks, all ranks equally frequent, of all matrices whose probabilities in a column are within
e^epsilon of each other; alone it uses few categories and cannot be inverted. Each entry of a
column of the sum is within e^epsilon of the others, as it is of both parts.
"""

import math
from fractions import Fraction

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.noise.transition import as_weights, randomised_response, spent

__all__ = ["ordinal_matrix"]

# How far the programme's epsilon is lowered, relatively, until the rounded weights keep it.
LOWERED = tuple(Fraction(1, 10**digits) for digits in (9, 8, 7, 6, 5, 4, 3))


def ordinal_matrix(share: Fraction, n_categories: int, name: str) -> NDArray[np.int64]:
    """Return weights of the matrix for ranks that spends a share of epsilon, and never more.

    Row k holds whole numbers in proportion to the probabilities of l given k. Their epsilon, row
    sums included, is checked in rationals. A share that is too small or too large for whole numbers
    of 64 bits is refused.

    >>> weights = ordinal_matrix(Fraction(1), 5, "EDUCATION")
    >>> bool(spent(weights) <= 1)
    True
    >>> chances, ranks = weights / weights.sum(axis=1, keepdims=True), np.arange(5)
    >>> round(float((chances * abs(ranks[:, None] - ranks)).sum() / 5), 2)
    1.09
    """
    for lowered in LOWERED:
        own = share * (1 - lowered)
        of_response = randomised_response(own, n_categories, name)
        response = of_response / of_response.sum(axis=1, keepdims=True)
        nearest = _nearest(float(own), n_categories)
        if nearest is None:
            continue
        weights = as_weights((response + nearest) / 2)
        epsilon = spent(weights)
        if epsilon is not None and epsilon <= share:
            return weights
    raise RequestError(
        f"attribute '{name}'",
        "no matrix of ranks in whole numbers keeps its share of epsilon",
        "leave its matrix out, or pass another epsilon",
    )


def _nearest(epsilon: float, n_categories: int) -> NDArray[np.float64] | None:
    """Solve for the matrix of least mean distance in ranks; None where the solver does not.

    Unknown are the probabilities and of each column the least, m: m <= p <= e^epsilon m.
    """
    m, sparse = n_categories, scipy.sparse
    ranks = np.arange(m)
    costs = np.concatenate([np.abs(ranks[:, None] - ranks).ravel() / m, np.zeros(m)])
    probabilities, least = sparse.identity(m * m), sparse.vstack([sparse.identity(m)] * m)
    within = sparse.vstack(
        [
            sparse.hstack([-probabilities, least]),
            sparse.hstack([probabilities, -math.exp(epsilon) * least]),
        ]
    )
    sums = sparse.hstack(
        [sparse.kron(sparse.identity(m), np.ones((1, m))), sparse.csr_matrix((m, m))]
    )
    found = scipy.optimize.linprog(
        costs, A_ub=within, b_ub=np.zeros(2 * m * m), A_eq=sums, b_eq=np.ones(m), method="highs"
    )
    if not found.success:
        return None
    solved = np.clip(found.x[: m * m].reshape(m, m), 0, 1)
    # The solver keeps bounds to some digits: what is too small is raised to what e^epsilon allows.
    raised = np.maximum(solved, solved.max(axis=0) / math.exp(epsilon))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
