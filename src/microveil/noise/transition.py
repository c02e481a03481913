"""Transition matrices as whole numbers in proportion, what they spend, and draws by them.

The matrix for ordered categories makes near ones likelier than far ones: P = P_LP / 2 + P_RR / 2.
P_RR is randomised response at epsilon. P_LP has the least mean distance in ranks, all ranks equally
frequent, of all matrices whose probabilities in a column are within e^epsilon of each other; alone
it uses few categories and cannot be inverted. Each entry of a column of the sum is within e^epsilon
of the others, as it is of both parts.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.noise.noise import RandomSource, uniform
from microveil.partition import Partition

Whole = NDArray[np.int64]
# Probabilities are whole numbers in proportion to 2**40 and more.
WEIGHT_BITS = 40
ROOM_BITS = 61
# How far the epsilon of the matrix for ranks is lowered, relatively, until its weights keep it.
LOWERED = tuple(Fraction(1, 10**digits) for digits in (9, 8, 7, 6, 5, 4, 3))


def randomised_response(share: Fraction, n_categories: int, name: str) -> Whole:
    """Return weights of the most accurate matrix that spends a share of epsilon.

    A value stays with probability e^share / (e^share + M - 1) and moves to each other category
    with 1 / (e^share + M - 1). The weight to stay is rounded down: the share is never exceeded.
    A share so small that the weight to stay would be no larger than the others is refused.
    """
    unchanged = RequestError(
        f"attribute '{name}'", "this epsilon leaves values as they are", "pass less"
    )
    if share > ROOM_BITS:
        raise unchanged
    with localcontext() as context:
        context.prec = 80
        factor = (Decimal(share.numerator) / Decimal(share.denominator)).exp()
        # The last digits of exp are not certain: take them away.
        factor *= 1 - Decimal(10) ** -70
        room = (1 << ROOM_BITS) / (factor + n_categories)
        bits = min(WEIGHT_BITS, int(room).bit_length() - 1)
        if bits < 0:
            raise unchanged
        stay = int(factor * (1 << bits))
    if stay <= 1 << bits:
        raise RequestError(
            f"attribute '{name}'",
            f"e^share - 1 must be one part in 2^{WEIGHT_BITS} or more, and its share of epsilon is "
            "so small that every category would be as likely as any other",
            "pass a larger epsilon, give it a larger weight in the budget, or leave it out",
        )
    weights = np.full((n_categories, n_categories), 1 << bits, dtype=np.int64)
    np.fill_diagonal(weights, stay)
    return weights


def invariant(weights: Whole, observed: Whole) -> Whole:
    """Return the matrix that leaves the observed shares as they are in expectation.

    With P the base matrix and t the shares, the product of P and its reverse
    Q_lk = t_k P_kl / sum_j t_j P_jl keeps t (Gouweleeuw et al. 1998, section 4).
    """
    base = weights / weights.sum(axis=1, keepdims=True)
    shares = observed / observed.sum()
    reverse = (base * shares[:, None]).T
    reverse /= np.maximum(reverse.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return as_weights(base @ reverse)


def spent(weights: Whole) -> Fraction | None:
    """Return the epsilon of a public matrix, max over l of ln(max_k p_kl / min_k p_kl), rounded up.

    None where a probability is 0 and no epsilon holds.
    """
    totals = weights.sum(axis=1).tolist()
    # Most weights of a large matrix are the same: each is made a fraction once in its column.
    columns = [
        [Fraction(weight, total) for weight, total in set(zip(column, totals, strict=True))]
        for column in weights.T.tolist()
    ]
    if any(min(column) == 0 < max(column) for column in columns):
        return None
    largest = max(max(column) / min(column) for column in columns if max(column))
    with localcontext() as context:
        # Near-uniform rows have logarithms down to 1e-13: digits enough for them too.
        context.prec = 120
        logarithm = (Decimal(largest.numerator) / Decimal(largest.denominator)).ln()
    return Fraction(logarithm) + Fraction(1, 10**100)


def drawn_by_rows(weights: Whole, codes: Whole, source: RandomSource) -> Whole:
    """Draw a category for each code by its row, exactly in proportion to the weights.

    >>> drawn_by_rows(np.array([[3, 1], [0, 5]]), np.array([1, 1]), RandomSource.seeded(1))
    array([1, 1])
    """
    edges = np.cumsum(weights, axis=1)
    ticket = uniform(edges[codes, -1], source)
    drawn = np.empty_like(codes)
    for category in np.unique(codes):
        of_it = codes == category
        drawn[of_it] = np.searchsorted(edges[category], ticket[of_it], side="right")
    return drawn


def drawn_within(
    in_order: Whole, partition: Partition, source: RandomSource, *, permute: bool
) -> Whole:
    """Give every record a value of its cluster, drawn with replacement or by a permutation.

    ``in_order`` holds the values cluster after cluster; the source serves nothing else.
    """
    sizes, order = partition.sizes, partition.order
    if permute:
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        chosen = np.lexsort((source.words(len(order)), cluster))
    else:
        starts = np.cumsum(sizes) - sizes
        chosen = np.repeat(starts, sizes) + uniform(np.repeat(sizes, sizes), source)
    drawn = np.empty_like(in_order)
    drawn[order] = in_order[chosen]
    return drawn


def as_weights(matrix: NDArray[np.float64]) -> Whole:
    """Return whole numbers in proportion; what is possible stays possible."""
    weights = np.rint(matrix * 2.0**WEIGHT_BITS).astype(np.int64)
    return np.where((matrix > 0) & (weights == 0), 1, weights)


def ordinal_matrix(share: Fraction, n_categories: int, name: str) -> Whole:
    """Return weights of the matrix for ranks that spends a share of epsilon, and never more.

    Row k holds whole numbers in proportion to the probabilities of l given k. Their epsilon, row
    sums included, is checked in rationals. A share that is too small or too large for whole numbers
    of 64 bits is refused.
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
