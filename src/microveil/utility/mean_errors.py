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

from microveil.table.blocks import AttributeMatrix, over_blocks, summed
from microveil.utility.moments import checked_pair

__all__ = ["MeanErrors", "mean_errors"]


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

    def of_block(rows: slice) -> tuple[NDArray[Any], ...]:
        errors = after[rows] - before[rows]
        present = ~np.isnan(errors)
        return (
            present.sum(axis=0, dtype=np.int64),
            np.sum(errors, axis=0, where=present),
            np.sum(errors**2, axis=0, where=present),
        )

    parts = over_blocks(of_block, len(before))
    n_cells, sums, squares = (summed(one) for one in zip(*parts, strict=True))
    bias, mse = np.full(len(n_cells), np.nan), np.full(len(n_cells), np.nan)
    np.divide(sums, n_cells, out=bias, where=n_cells > 0)
    np.divide(squares, n_cells, out=mse, where=n_cells > 0)
    rmse = np.sqrt(mse)
    for array in (bias, mse, rmse, n_cells):
        array.setflags(write=False)
    return MeanErrors(bias=bias, mse=mse, rmse=rmse, n_cells=n_cells)
