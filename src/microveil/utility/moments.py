"""Means, variances, covariances and correlations, before and after protection.

Cells may be missing (NaN): a mean or variance is taken over the cells that are present,
a covariance or correlation over the records in which both attributes are. What is not
defined is NaN: the variance of fewer than two values, the correlation with a constant.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError
from microveil.kernels import pairs_of_attributes as kernel
from microveil.table.blocks import (
    AttributeMatrix,
    Matrix,
    is_large,
    lacks_some,
    largest_of,
    over_blocks,
    summed,
)
from microveil.table.threads import Reused

__all__ = [
    "MomentComparison",
    "Moments",
    "checked_matrix",
    "checked_pair",
    "compare_moments",
    "constant_attributes",
    "correlations_of",
    "means_and_variances",
    "moments",
]

# Squares of numbers up to this, summed over any table, stay finite.
LARGEST_VALUE = 1e140
# Smaller variances have no exact reciprocal in float64: the attribute counts as constant.
SMALLEST_VARIANCE = float(np.finfo(np.float64).tiny)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """First and second moments of one table, in read-only arrays.

    Parameters
    ----------
    means, variances : ndarray of float64, shape (n_attributes,)
        Mean and sample variance (with n - 1) of each attribute.
    covariances, correlations : ndarray of float64, shape (n_attributes, n_attributes)
        Sample covariances (with n - 1), and Pearson's correlations between -1 and 1.
    """

    means: NDArray[np.float64]
    variances: NDArray[np.float64]
    covariances: NDArray[np.float64]
    correlations: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MomentComparison:
    """Moments before and after protection, and how far the correlations moved.

    Parameters
    ----------
    original, protected : Moments
        Moments of either table.
    mean_absolute_change, largest_absolute_change : float
        Of the correlations, over the pairs of attributes that are correlated in both
        tables; NaN where there is no such pair.
    """

    original: Moments
    protected: Moments
    mean_absolute_change: float
    largest_absolute_change: float


def checked_matrix(matrix: ArrayLike | AttributeMatrix, place: str) -> Matrix:
    """Return a float64 matrix that the measures can work with.

    Parameters
    ----------
    matrix : array_like or AttributeMatrix, shape (n_records, n_attributes)
        Numbers; NaN is a missing cell.
    place : str
        What to call the matrix in an error.

    Returns
    -------
    ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The same numbers.

    Raises
    ------
    DataError
        If it is no matrix, is empty, or holds a value beyond 1e140 in size.

    Examples
    --------
    >>> checked_matrix([[1, 2]], "original data")
    array([[1., 2.]])
    """
    checked: Matrix
    if isinstance(matrix, AttributeMatrix):
        checked = matrix
    else:
        checked = np.asarray(matrix, dtype=np.float64)
    if len(checked.shape) != 2 or 0 in checked.shape:
        raise DataError(
            place,
            "the data must be a matrix with at least one record and one attribute",
            "pass an array of shape (n_records, n_attributes)",
        )
    if largest_of(checked) > LARGEST_VALUE:
        raise DataError(
            place,
            "values must be finite and at most 1e140 in size",
            "leave such records out, or mark the cells as missing",
        )
    return checked


def checked_pair(
    original: ArrayLike | AttributeMatrix, protected: ArrayLike | AttributeMatrix
) -> tuple[Matrix, Matrix]:
    """Return float64 matrices of one shape, to be compared record by record.

    Parameters
    ----------
    original, protected : array_like or AttributeMatrix, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.

    Returns
    -------
    two ndarrays of float64 or AttributeMatrix, both of shape (n_records, n_attributes)
        The same numbers.

    Raises
    ------
    DataError
        As for `checked_matrix`, or if the shapes differ.

    Examples
    --------
    >>> checked_pair([[1, 2]], [[3, 4]])
    (array([[1., 2.]]), array([[3., 4.]]))
    """
    before = checked_matrix(original, "original data")
    after = checked_matrix(protected, "protected data")
    if before.shape != after.shape:
        raise DataError(
            "original and protected data",
            "both must have the same shape, record by record",
            "pass the same records and attributes in the same order",
        )
    return before, after


def constant_attributes(matrix: Matrix) -> NDArray[np.bool_]:
    """Say which attributes do not vary: fewer than two different values are present.

    Parameters
    ----------
    matrix : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The data; NaN is a missing cell.

    Returns
    -------
    ndarray of bool, shape (n_attributes,)
        True also where values differ by so little that float64 holds no variance.

    Examples
    --------
    >>> import numpy as np
    >>> constant_attributes(np.array([[0.1, 1.0], [0.1, 2.0], [0.1, np.nan]]))
    array([ True, False])
    """
    variances = means_and_variances(checked_matrix(matrix, "matrix"))[1]
    return ~(variances >= SMALLEST_VARIANCE)


def moments(matrix: Matrix) -> Moments:
    """Compute means, variances, covariances and correlations of one table.

    Parameters
    ----------
    matrix : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The data; NaN is a missing cell.

    Returns
    -------
    Moments
        In the order of the attributes.

    Raises
    ------
    DataError
        If the matrix is empty or holds an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> moments(np.array([[1.0, 4.0], [2.0, 2.0], [3.0, 0.0]])).covariances
    array([[ 1., -2.],
           [-2.,  4.]])
    """
    matrix = checked_matrix(matrix, "matrix")
    means, variances = (figures.copy() for figures in means_and_variances(matrix))
    if lacks_some(matrix):
        covariances, correlations = _pairwise(matrix)
    else:
        covariances, correlations = _complete(matrix, means, variances)
    np.fill_diagonal(covariances, variances)
    np.fill_diagonal(correlations, np.where(variances >= SMALLEST_VARIANCE, 1.0, np.nan))
    for array in (means, variances, covariances, correlations):
        array.setflags(write=False)
    return Moments(
        means=means, variances=variances, covariances=covariances, correlations=correlations
    )


def compare_moments(original: Matrix, protected: Matrix) -> MomentComparison:
    """Compare the moments of two tables with the same attributes.

    Records need not be paired, nor be in any order.

    Parameters
    ----------
    original, protected : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The two tables; NaN is a missing cell.

    Returns
    -------
    MomentComparison
        Both tables' moments and the changes of the correlations.

    Raises
    ------
    DataError
        If the attributes differ in number, or a table is empty or holds an infinite value.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    >>> compare_moments(original, original * [1.0, -1.0]).largest_absolute_change
    2.0
    """
    before, after = moments(original), moments(protected)
    if before.means.shape != after.means.shape:
        raise DataError(
            "original and protected data",
            "both must have the same attributes",
            "pass the attributes that they share, in one order",
        )
    pairs = np.triu_indices(before.means.shape[0], k=1)
    changes = np.abs(after.correlations - before.correlations)[pairs]
    changes = changes[~np.isnan(changes)]
    return MomentComparison(
        original=before,
        protected=after,
        mean_absolute_change=float(changes.mean()) if changes.size else float("nan"),
        largest_absolute_change=float(changes.max()) if changes.size else float("nan"),
    )


def means_and_variances(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return mean and sample variance of each attribute's cells, NaN where undefined.

    Parameters
    ----------
    matrix : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        As `checked_matrix` returns it.

    Returns
    -------
    two ndarrays of float64, shape (n_attributes,)
        Those of a large table are made once, and kept: not to be written to.

    Examples
    --------
    >>> means_and_variances(np.array([[1.0], [3.0], [np.nan]]))
    (array([2.]), array([2.]))
    """
    return matrix.means_and_variances if is_large(matrix) else _by_block(matrix)


def _by_block(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return means and variances of a matrix, a block of records at a time."""

    def first(rows: slice) -> tuple[NDArray[Any], ...]:
        block = matrix[rows]
        present = ~np.isnan(block)
        return (
            present.sum(axis=0),
            np.sum(block, axis=0, where=present),
            np.min(block, axis=0, where=present, initial=np.inf),
            np.max(block, axis=0, where=present, initial=-np.inf),
        )

    found = over_blocks(first, len(matrix))
    counts, sums = (summed([part[which] for part in found]) for which in (0, 1))
    lowest = np.min([part[2] for part in found], axis=0)
    highest = np.max([part[3] for part in found], axis=0)
    means = np.full(matrix.shape[1], np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    # The computed mean of equal values can miss their value by a rounding: then every
    # deviation from it, and with them the variance, would be a little above 0.
    means = np.where(lowest == highest, lowest, means)

    def second(rows: slice) -> NDArray[np.float64]:
        block = matrix[rows]
        found: NDArray[np.float64] = np.sum((block - means) ** 2, axis=0, where=~np.isnan(block))
        return found

    variances = np.full(matrix.shape[1], np.nan)
    squares = summed(over_blocks(second, len(matrix)))
    np.divide(squares, counts - 1, out=variances, where=counts > 1)
    return means, variances


def _complete(
    matrix: Matrix, means: NDArray[np.float64], variances: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return covariances and correlations of data without missing cells."""
    if matrix.shape[0] < 2:
        undefined = np.full((matrix.shape[1], matrix.shape[1]), np.nan)
        return undefined, undefined.copy()

    reused = Reused()

    def products(rows: slice) -> NDArray[np.float64]:
        if is_large(matrix):
            # The same as below, by columns.
            columns = matrix.columns(rows, reused)
            columns -= means[:, np.newaxis]
            deviations = columns.T
        else:
            deviations = matrix[rows] - means
        found: NDArray[np.float64] = deviations.T @ deviations
        return found

    covariances = summed(over_blocks(products, len(matrix))) / (matrix.shape[0] - 1)
    scales = np.sqrt(np.where(variances >= SMALLEST_VARIANCE, variances, np.nan))
    correlations = np.clip(covariances / scales / scales[:, np.newaxis], -1.0, 1.0)
    return covariances, _symmetric(correlations)


def _pairwise(matrix: Matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return covariances and correlations, each over the records that hold both values."""
    shape = matrix.shape[1], matrix.shape[1]

    def first(rows: slice) -> tuple[NDArray[Any], ...]:
        found = (
            np.zeros(shape, dtype=np.int64),
            np.zeros(shape),
            np.full(shape, np.inf),
            np.full(shape, -np.inf),
        )
        kernel.count(np.ascontiguousarray(matrix[rows].T), *found)
        return found

    of_blocks = over_blocks(first, len(matrix))
    counts, sums = (summed([part[which] for part in of_blocks]) for which in (0, 1))
    lowest = np.min([part[2] for part in of_blocks], axis=0)
    highest = np.max([part[3] for part in of_blocks], axis=0)
    means = np.full(shape, np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    means = np.where(lowest == highest, lowest, means)  # as above

    def second(rows: slice) -> NDArray[np.float64]:
        found = np.zeros((2, *shape))
        kernel.multiply(np.ascontiguousarray(matrix[rows].T), means, found[0], found[1])
        return found

    squares, products = summed(over_blocks(second, len(matrix)))
    covariances = np.full(shape, np.nan)
    np.divide(products, counts - 1, out=covariances, where=counts > 1)
    return covariances, correlations_of(counts, squares, products)


def correlations_of(
    counts: NDArray[np.int64], squares: NDArray[np.float64], products: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return correlations from sums over the records that hold both values of a pair.

    Parameters
    ----------
    counts : int64 array (n_attributes, n_attributes)
        The records of each pair.
    squares : float64 array (n_attributes, n_attributes)
        In row a and column b the squared deviations of a, summed over the records of a and b.
    products : float64 array (n_attributes, n_attributes)
        Products of the deviations of both.

    Returns
    -------
    float64 array (n_attributes, n_attributes)
        NaN where a variance is none, or too small for float64.

    Examples
    --------
    >>> correlations_of(np.full((1, 1), 3), np.full((1, 1), 2.0), np.full((1, 1), -2.0))
    array([[-1.]])
    """
    variances, covariances = np.full(counts.shape, np.nan), np.full(counts.shape, np.nan)
    np.divide(squares, counts - 1, out=variances, where=counts > 1)
    np.divide(products, counts - 1, out=covariances, where=counts > 1)
    variances[~(variances >= SMALLEST_VARIANCE)] = np.nan
    scales = np.sqrt(variances)
    return _symmetric(np.clip(covariances / scales / scales.T, -1.0, 1.0))


def _symmetric(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what stands above the diagonal on both sides: rounding may tell the two apart."""
    upper = np.triu(matrix)
    return np.asarray(np.where(np.tri(len(matrix), k=-1, dtype=np.bool_), upper.T, matrix))
