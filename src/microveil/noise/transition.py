"""Transition matrices as whole numbers in proportion: what they are made from, what they spend."""

from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError

__all__ = ["as_weights", "drawn_by_rows", "invariant", "randomised_response", "spent"]

# Probabilities are whole numbers in proportion to 2**40 and more.
WEIGHT_BITS = 40
ROOM_BITS = 61


def randomised_response(share: Fraction, n_categories: int, name: str) -> NDArray[np.int64]:
    """Return weights of the most accurate matrix that spends a share of epsilon.

    A value stays with probability e^share / (e^share + M - 1) and moves to each other category
    with 1 / (e^share + M - 1). The weight to stay is rounded down: the share is never exceeded.
    A share so small that the weight to stay would be no larger than the others is refused.

    >>> randomised_response(Fraction(1), 2, "A") / 2**40
    array([[2.71828183, 1.        ],
           [1.        , 2.71828183]])
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


def invariant(weights: NDArray[np.int64], observed: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the matrix that leaves the observed shares as they are in expectation.

    With P the base matrix and t the shares, the product of P and its reverse
    Q_lk = t_k P_kl / sum_j t_j P_jl keeps t (Gouweleeuw et al. 1998, section 4).

    >>> made = invariant(np.array([[3, 1], [1, 3]]), np.array([30, 10]))
    >>> np.round(np.array([30, 10]) @ (made / made.sum(axis=1, keepdims=True)), 6)
    array([30., 10.])
    """
    base = weights / weights.sum(axis=1, keepdims=True)
    shares = observed / observed.sum()
    reverse = (base * shares[:, None]).T
    reverse /= np.maximum(reverse.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    return as_weights(base @ reverse)


def spent(weights: NDArray[np.int64]) -> Fraction | None:
    """Return the epsilon of a public matrix, max over l of ln(max_k p_kl / min_k p_kl).

    Rounded up; None where a probability is 0 and no epsilon holds.

    >>> float(spent(np.array([[3, 1], [1, 3]])))
    1.0986122886681098...
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


def drawn_by_rows(
    weights: NDArray[np.int64],
    codes: NDArray[np.int64],
    draw: Callable[[NDArray[np.int64]], NDArray[np.int64]],
) -> NDArray[np.int64]:
    """Draw a category for each code by its row, exactly in proportion to the weights.

    ``draw`` draws a uniform whole number from 0 to below each bound.

    >>> drawn_by_rows(np.array([[3, 1], [0, 5]]), np.array([0, 1, 0]), lambda bounds: bounds - 1)
    array([1, 1, 1])
    """
    edges = np.cumsum(weights, axis=1)
    ticket = draw(edges[codes, -1])
    drawn = np.empty_like(codes)
    for category in np.unique(codes):
        of_it = codes == category
        drawn[of_it] = np.searchsorted(edges[category], ticket[of_it], side="right")
    return drawn


def as_weights(matrix: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return whole numbers in proportion; what is possible stays possible."""
    weights = np.rint(matrix * 2.0**WEIGHT_BITS).astype(np.int64)
    return np.where((matrix > 0) & (weights == 0), 1, weights)
