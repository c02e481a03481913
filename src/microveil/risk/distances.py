"""What distances between records are made of: weights, and each different record once."""

import numpy as np
from numpy.typing import NDArray

from microveil.table.blocks import Matrix, is_large, over_blocks, summed
from microveil.table.sorting import in_order, numbers_in_order

__all__ = [
    "LEAF_SIZE",
    "category_weight",
    "distinct_records",
    "reciprocal_variances",
]

# Smaller variances have no exact reciprocal in float64: the attribute counts as constant.
SMALLEST_VARIANCE = float(np.finfo(np.float64).tiny)
# Records to a leaf of the tree that the linkage kernel builds: 16 to 128 differ little where
# the tree prunes; where it cannot, fewer and longer leaves make better use of vector
# instructions.
LEAF_SIZE = 64
# Of so many records the pairs of a group and a value are whole numbers that float64 tells apart.
MOST_PAIRED = 1 << 26


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
    if is_large(original):
        variances = original.means_and_variances[1]
        with np.errstate(divide="ignore", over="ignore"):
            return np.where(variances >= SMALLEST_VARIANCE, 1.0 / variances, 0.0)
    ends = over_blocks(
        lambda block: (original[block].min(axis=0), original[block].max(axis=0)), n_records
    )
    lowest, highest = np.min([end[0] for end in ends], axis=0), np.max([e[1] for e in ends], axis=0)
    weights = np.zeros(n_attributes)
    if n_records > 1:
        sums = over_blocks(lambda block: original[block].sum(axis=0), n_records)
        means = summed(sums) / n_records
        squares = over_blocks(lambda block: ((original[block] - means) ** 2).sum(axis=0), n_records)
        variances = summed(squares) / (n_records - 1)
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
    counts = in_order(values).different
    differing = n * n - sum(count * count for count in counts.tolist())
    return 2 * (n * (n - 1) / differing) if differing else 0.0


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
    O(n) time for each attribute, until all records are told apart: after one attribute the next is
    looked at only in the records that share the values so far.

    Examples
    --------
    >>> distinct_records(np.array([[3.0], [1.0], [3.0]]))
    (array([[1.],
           [3.]]), array([1, 0, 1]))
    """
    if len(matrix) > MOST_PAIRED:
        return _distinct_by_sorting(matrix)
    which, n_distinct = numbers_in_order(matrix[:, 0])
    for column in matrix.T[1:]:
        shared = np.flatnonzero((np.bincount(which) > 1)[which])
        if not len(shared):
            break
        which, n_distinct = _told_apart(which, shared, column[shared], n_distinct)
    first = np.empty(n_distinct, dtype=np.intp)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return matrix[first], which.astype(np.intp)


def _distinct_by_sorting(
    matrix: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Find distinct records by sorting all of them by every attribute."""
    order = np.lexsort(matrix.T[::-1])
    ordered = matrix[order]
    is_new = np.ones(matrix.shape[0], dtype=np.bool_)
    np.any(ordered[1:] != ordered[:-1], axis=1, out=is_new[1:])
    which = np.empty(matrix.shape[0], dtype=np.intp)
    which[order] = np.cumsum(is_new) - 1
    return ordered[is_new], which


def _told_apart(
    groups: NDArray[np.int32],
    shared: NDArray[np.intp],
    values: NDArray[np.float64],
    n_groups: int,
) -> tuple[NDArray[np.int32], int]:
    """Divide groups of records by the values of some, and number them anew in their order.

    ``shared`` are the records of the groups of several, ``values`` theirs. Pairs of a group and a
    value are told apart as whole numbers below 2^53, so that float64 holds each.
    """
    numbers, n_different = numbers_in_order(values)
    pairs = groups[shared] * np.float64(n_different) + numbers
    of_pair, n_pairs = numbers_in_order(pairs)
    group_of_pair = np.empty(n_pairs, dtype=np.int32)
    group_of_pair[of_pair] = groups[shared]
    parts = np.bincount(group_of_pair, minlength=n_groups)
    starts = np.cumsum(np.maximum(parts, 1)) - np.maximum(parts, 1)
    first_pair = np.cumsum(parts) - parts
    divided = starts[groups].astype(np.int32)
    divided[shared] += of_pair - first_pair[groups[shared]].astype(np.int32)
    return divided, int(np.maximum(parts, 1).sum())
