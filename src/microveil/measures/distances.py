"""What distances between records are made of: weights, and each different record once."""

import numpy as np
from numpy.typing import NDArray

from microveil.table.blocks import SMALLEST_VARIANCE, Matrix, means_and_variances
from microveil.table.sorting import in_order

__all__ = ["LEAF_SIZE", "category_weight", "distinct_records", "reciprocal_variances"]

# Records to a leaf of the trees that the kernels build: 16 to 128 differ little where the tree
# prunes; where it cannot, fewer and longer leaves make better use of vector instructions.
LEAF_SIZE = 64


def reciprocal_variances(original: Matrix) -> NDArray[np.float64]:
    """Return what a squared difference in each attribute weighs: 1/variance (n - 1), 0 if constant.

    >>> reciprocal_variances(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([0.5, 0. ])
    """
    variances = means_and_variances(original)[1]
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(variances >= SMALLEST_VARIANCE, 1.0 / variances, 0.0)


def category_weight(values: NDArray[np.float64]) -> float:
    """Return what two different categories add to a squared distance; 0 of a constant.

    It is 2 (n - 1) / n over the share of all ordered pairs that differ: on average over these pairs
    as much as numbers add in standard deviations.

    >>> category_weight(np.array([0.0, 0.0, 1.0, 1.0]))
    3.0
    """
    n = len(values)
    counts = in_order(values).different
    differing = n * n - sum(count * count for count in counts.tolist())
    return 2 * (n * (n - 1) / differing) if differing else 0.0


def distinct_records(matrix: NDArray[np.float64]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each different record stands first, and for each record which of them it is.

    They are in ascending order, the first attribute first; those that lack a value are alike in it.

    >>> distinct_records(np.array([[3.0], [1.0], [3.0]]))
    (array([1, 0]), array([1, 0, 1]))
    """
    order = np.lexsort(matrix.T[::-1])
    is_new = np.zeros(len(order), dtype=np.bool_)
    is_new[:1] = True
    for column in matrix.T:
        one, other = column[order[:-1]], column[order[1:]]
        is_new[1:] |= (one != other) & ~(np.isnan(one) & np.isnan(other))
    which = np.empty(len(order), dtype=np.intp)
    which[order] = np.cumsum(is_new) - 1
    return order[is_new], which
