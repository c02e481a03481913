"""Spearman's correlations, before and after protection: those of ranks, ties by midranks.

Cells may be missing (NaN): a correlation is over the records that have both values, ranked among
themselves. The correlation with a constant is not defined.
"""

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import pairs_of_attributes as kernel
from microveil.table.blocks import Matrix, average_ranks, lacks_some
from microveil.table.sorting import numbers_in_order
from microveil.table.threads import in_threads
from microveil.utility.moments import constant_attributes, correlations_of, moments
from microveil.utility.undefined import none_if_undefined

__all__ = ["RankCorrelations", "compare_rank_correlations", "rank_correlations"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankCorrelations:
    """Spearman's correlations of two tables, and how far they moved.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_attributes, n_attributes)
        Between -1 and 1, NaN where not defined; read-only.
    """

    original: NDArray[np.float64]
    protected: NDArray[np.float64]

    @property
    def changes(self) -> NDArray[np.float64]:
        """How far each pair moved, of those that are correlated in both tables."""
        pairs = np.triu_indices(len(self.original), k=1)
        changes = np.abs(self.protected - self.original)[pairs]
        return np.asarray(changes[~np.isnan(changes)])

    @property
    def mean_absolute_change(self) -> float:
        """The mean over pairs of attributes; NaN where there is none."""
        return float(self.changes.mean()) if len(self.changes) else float("nan")

    @property
    def largest_absolute_change(self) -> float:
        """The largest of any pair of attributes; NaN where there is none."""
        return float(self.changes.max()) if len(self.changes) else float("nan")

    def to_dict(self) -> dict[str, Any]:
        """Return matrices and changes as JSON knows them; what is undefined is None."""
        matrices = {"original": self.original, "protected": self.protected}
        return {
            **{
                side: [[none_if_undefined(value) for value in row] for row in matrix.tolist()]
                for side, matrix in matrices.items()
            },
            "mean_absolute_change": none_if_undefined(self.mean_absolute_change),
            "largest_absolute_change": none_if_undefined(self.largest_absolute_change),
        }


def compare_rank_correlations(original: Matrix, protected: Matrix) -> RankCorrelations:
    """Compare Spearman's correlations of two tables with the same attributes.

    Records need not be paired, nor be as many.

    Parameters
    ----------
    original, protected : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The two tables; NaN is a missing cell.

    Returns
    -------
    RankCorrelations

    Raises
    ------
    DataError
        If a table is empty or holds an infinite value.

    Examples
    --------
    >>> before = np.array([[1.0, 1.0], [2.0, 8.0], [3.0, 9.0]])
    >>> found = compare_rank_correlations(before, before * [1.0, -1.0])
    >>> round(found.largest_absolute_change, 12)
    2.0
    """
    return RankCorrelations(
        original=rank_correlations(original), protected=rank_correlations(protected)
    )


def rank_correlations(matrix: Matrix) -> NDArray[np.float64]:
    """Compute Spearman's correlations of one table.

    Parameters
    ----------
    matrix : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        NaN is a missing cell.

    Returns
    -------
    ndarray of float64, shape (n_attributes, n_attributes)
        Read-only; 1 on the diagonal, NaN there for a constant.

    Notes
    -----
    O(n log n) time for each attribute, and where cells are missing O(n) for each pair: values are
    numbered once, and the records of a pair ranked by counting these numbers. Side by side.

    Examples
    --------
    >>> rank_correlations(np.array([[1.0, 9.0], [2.0, 9.0], [4.0, 8.0]])).round(3)
    array([[ 1.   , -0.866],
           [-0.866,  1.   ]])
    """
    if not lacks_some(matrix):
        return moments(average_ranks(matrix)).correlations
    n_attributes = matrix.shape[1]
    numbered = in_threads(
        lambda a: numbers_in_order(matrix[:, a]), range(n_attributes), matrix.size
    )
    pairs = list(combinations(range(n_attributes), 2))

    def correlate(pair: tuple[int, int]) -> tuple[int, float, float, float]:
        (one, n_one), (other, n_other) = (numbered[a] for a in pair)
        found: tuple[int, float, float, float] = kernel.correlate_ranks(one, other, n_one, n_other)
        return found

    counts = np.zeros((n_attributes, n_attributes), dtype=np.int64)
    squares, products = np.zeros(counts.shape), np.zeros(counts.shape)
    for (a, b), sums in zip(pairs, in_threads(correlate, pairs, matrix.size), strict=True):
        counts[a, b] = counts[b, a] = sums[0]
        squares[a, b], squares[b, a] = sums[1], sums[2]
        products[a, b] = products[b, a] = sums[3]
    found = correlations_of(counts, squares, products)
    np.fill_diagonal(found, np.where(constant_attributes(matrix), np.nan, 1.0))
    found.setflags(write=False)
    return found
