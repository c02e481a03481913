"""What distances between records are made of: weights, ranks, and each different record once."""

import functools
import operator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.table.blocks import AttributeMatrix, Matrix, over_blocks
from microveil.table.restore import Numbers
from microveil.table.threads import in_threads

__all__ = [
    "LEAF_SIZE",
    "average_ranks",
    "category_weight",
    "distinct_records",
    "ranks_of",
    "reciprocal_variances",
]

# Smaller variances have no exact reciprocal in float64: the attribute counts as constant.
SMALLEST_VARIANCE = float(np.finfo(np.float64).tiny)
# Records to a leaf of the tree that the linkage kernel builds: 16 to 128 differ little where
# the tree prunes; where it cannot, fewer and longer leaves make better use of vector
# instructions.
LEAF_SIZE = 64


def reciprocal_variances(original: Matrix) -> NDArray[np.float64]:
    """Return what a squared difference in each attribute weighs: 1/variance, 0 if constant.

    Parameters
    ----------
    original : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        Finite, with a record.

    Returns
    -------
    ndarray of float64, shape (n_attributes,)
        Of the sample variance, with n - 1; 0 also where float64 holds no reciprocal.

    Examples
    --------
    >>> reciprocal_variances(np.array([[1.0, 5.0], [3.0, 5.0]]))
    array([0.5, 0. ])
    """
    n_records, n_attributes = original.shape
    ends = over_blocks(
        lambda block: (original[block].min(axis=0), original[block].max(axis=0)), n_records
    )
    lowest, highest = np.min([end[0] for end in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    weights = np.zeros(n_attributes)
    if n_records > 1:
        sums = over_blocks(lambda block: original[block].sum(axis=0), n_records)
        means = functools.reduce(operator.add, sums) / n_records
        squares = over_blocks(lambda block: ((original[block] - means) ** 2).sum(axis=0), n_records)
        variances = functools.reduce(operator.add, squares) / (n_records - 1)
        usable = (lowest < highest) & (variances >= SMALLEST_VARIANCE)
        weights[usable] = 1.0 / variances[usable]
    return weights


def category_weight(values: NDArray[np.float64]) -> float:
    """Return what two different categories add to a squared distance; 0 of a constant.

    Parameters
    ----------
    values : ndarray of float64, shape (n_records,)
        Of the original; equal ones are one category.

    Returns
    -------
    float
        2 (n - 1) / n over the share of all ordered pairs that differ: on average over these pairs
        as much as numbers add in standard deviations.

    Examples
    --------
    >>> category_weight(np.array([0.0, 0.0, 1.0, 1.0]))
    3.0
    """
    n = len(values)
    _, counts = np.unique(values, return_counts=True)
    differing = n * n - sum(count * count for count in counts.tolist())
    return 2 * (n * (n - 1) / differing) if differing else 0.0


def average_ranks(matrix: Matrix) -> Matrix:
    """Replace values by their ranks within the attribute, ties by the average of theirs.

    Parameters
    ----------
    matrix : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        Without missing values.

    Returns
    -------
    ndarray of float64 or AttributeMatrix, as the matrix is one, shape (n_records, n_attributes)
        Ranks from 1 to n_records. O(n log n) time for each attribute, attributes side by side.

    Examples
    --------
    >>> average_ranks(np.array([[7.0], [2.0], [7.0]]))
    array([[2.5],
           [1. ],
           [2.5]])
    """
    if not isinstance(matrix, AttributeMatrix):
        return np.column_stack([ranks_of(values) for values in matrix.T])
    # Whole and half numbers up to this are float32.
    narrow: Any = np.float32 if len(matrix) < 1 << 23 else np.float64
    columns = list(range(matrix.shape[1]))
    ranks: list[Any] = in_threads(lambda a: ranks_of(matrix[:, a]).astype(narrow), columns)
    return AttributeMatrix(numbers=[Numbers(values=column, missing=None) for column in ranks])


def ranks_of(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the ranks of values, from 1 on, equal ones by the average of theirs.

    >>> ranks_of(np.array([7.0, 2.0, 7.0]))
    array([2.5, 1. , 2.5])
    """
    order = np.argsort(values)
    ordered = values[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    ends = np.append(starts[1:], len(values))
    ranks = np.empty(len(values))
    ranks[order] = np.repeat((starts + ends + 1) / 2, ends - starts)
    return ranks


def distinct_records(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct records, and for each record which of them it is.

    Parameters
    ----------
    matrix : ndarray of float64, shape (n_records, n_attributes)
        Without missing values, with a record and an attribute.

    Returns
    -------
    ndarray of float64, shape (n_distinct, n_attributes)
        In ascending order, the first attribute first.
    ndarray of int, shape (n_records,)
        Positions among the distinct ones.

    Notes
    -----
    O(n log n) time. (numpy.unique along an axis does the same several times slower.)

    Examples
    --------
    >>> distinct_records(np.array([[3.0], [1.0], [3.0]]))
    (array([[1.],
           [3.]]), array([1, 0, 1]))
    """
    order = np.lexsort(matrix.T[::-1])
    ordered = matrix[order]
    is_new = np.ones(matrix.shape[0], dtype=np.bool_)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=is_new[1:])
    which = np.empty(matrix.shape[0], dtype=np.intp)
    which[order] = np.cumsum(is_new) - 1
    return ordered[is_new], which
