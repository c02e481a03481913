"""Errors of the protected values: bias, mean squared error and its root, by attribute.

x are the original and y the protected values of an attribute, compared record by record:
the three utility estimators of Biswal, Arbuckle and Kulik, "Disclosure metrics born from
statistical evaluations of data utility", section 3. A cell counts where it is present in
both tables.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.kernels import columns as kernel
from microveil.table.blocks import (
    AttributeMatrix,
    blocks_of,
    is_large,
    over_blocks,
    summed,
)
from microveil.table.threads import Reused, in_threads
from microveil.utility.moments import checked_pair

__all__ = ["MeanErrors", "error_sums", "mean_errors"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeanErrors:
    """Bias, mean squared error and its root of each attribute, in read-only arrays.

    Parameters
    ----------
    bias : ndarray of float64, shape (n_attributes,)
        mean(y - x), in the attribute's unit; 0 is unbiased, above 0 is too high.
    mse : ndarray of float64, shape (n_attributes,)
        mean((y - x)^2), in the unit squared; bias^2 plus the variance of the errors.
    rmse : ndarray of float64, shape (n_attributes,)
        Root of the MSE, in the attribute's unit.
    n_cells : ndarray of int64, shape (n_attributes,)
        Number of cells compared; where there is none the errors are NaN.
    """

    bias: NDArray[np.float64]
    mse: NDArray[np.float64]
    rmse: NDArray[np.float64]
    n_cells: NDArray[np.int64]


def error_sums(
    original: AttributeMatrix, protected: AttributeMatrix, means: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Sum errors of two large tables, column by column.

    Parameters
    ----------
    original, protected : AttributeMatrix, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.
    means : ndarray of float64, shape (n_attributes,)
        What deviations of the original are from.

    Returns
    -------
    ndarray of int64, shape (n_attributes,)
        The cells that both have.
    three ndarrays of float64, shape (n_attributes,)
        Over these the sums of the errors, of their squares, and of the squared deviations of the
        original.

    Examples
    --------
    >>> from microveil.table.restore import Numbers
    >>> before, after = (
    ...     AttributeMatrix(numbers=[Numbers(values=np.array(values), missing=None)])
    ...     for values in ([1.0, 3.0], [2.0, 5.0])
    ... )
    >>> [sums.tolist() for sums in error_sums(before, after, np.array([2.0]))]
    [[2], [3.0], [5.0], [2.0]]
    """
    blocks, before, after = blocks_of(len(original)), Reused(), Reused()

    def of_column(a: int) -> tuple[int, float, float, float]:
        parts = [
            kernel.errors(
                original.column(a, rows, before), protected.column(a, rows, after), means[a]
            )
            for rows in blocks
        ]
        n_cells, *sums = (sum(one) for one in zip(*parts, strict=True))
        return n_cells, sums[0], sums[1], sums[2]

    found = in_threads(of_column, range(original.shape[1]), original.size)
    n_cells, *sums = zip(*found, strict=True)
    return (np.array(n_cells, dtype=np.int64), *(np.array(of_all) for of_all in sums))  # type: ignore[return-value]


def mean_errors(
    original: ArrayLike | AttributeMatrix, protected: ArrayLike | AttributeMatrix
) -> MeanErrors:
    """Measure how far the protected values lie from the original ones, by attribute.

    Parameters
    ----------
    original, protected : array_like or AttributeMatrix, shape (n_records, n_attributes)
        The same records in the same order; NaN is a missing cell.

    Returns
    -------
    MeanErrors
        In the order of the attributes.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty or holds an infinite value.

    Examples
    --------
    >>> errors = mean_errors([[20.0], [30.0]], [[23.0], [29.0]])
    >>> errors.bias, errors.mse
    (array([1.]), array([5.]))
    """
    before, after = checked_pair(original, protected)
    if is_large(before) and is_large(after):
        n_cells, sums, squares, _ = error_sums(before, after, np.zeros(before.shape[1]))
        return _errors(n_cells, sums, squares)

    def of_block(rows: slice) -> tuple[NDArray[Any], ...]:
        errors = after[rows] - before[rows]
        present = ~np.isnan(errors)
        return (
            present.sum(axis=0, dtype=np.int64),
            np.sum(errors, axis=0, where=present),
            np.sum(errors**2, axis=0, where=present),
        )

    parts = over_blocks(of_block, len(before))
    return _errors(*(summed(one) for one in zip(*parts, strict=True)))


def _errors(
    n_cells: NDArray[np.int64], sums: NDArray[np.float64], squares: NDArray[np.float64]
) -> MeanErrors:
    """Return the errors of each attribute from sums over its cells."""
    bias, mse = np.full(len(n_cells), np.nan), np.full(len(n_cells), np.nan)
    np.divide(sums, n_cells, out=bias, where=n_cells > 0)
    np.divide(squares, n_cells, out=mse, where=n_cells > 0)
    rmse = np.sqrt(mse)
    for array in (bias, mse, rmse, n_cells):
        array.setflags(write=False)
    return MeanErrors(bias=bias, mse=mse, rmse=rmse, n_cells=n_cells)
