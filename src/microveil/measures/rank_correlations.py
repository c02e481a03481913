"""Spearman's correlations before and after: those of ranks, ties by midranks.

A correlation is over the records that have both values, ranked among themselves. That with a
constant is not defined.
"""

from functools import partial
from itertools import combinations
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import pairs_of_attributes as kernel
from microveil.measures.base import Better, By, Entry, Measure, Takes
from microveil.measures.moments import CORRELATIONS, Correlations, correlations_of, moments
from microveil.table.blocks import Matrix, average_ranks, lacks_some, varying
from microveil.table.sorting import numbers_in_order
from microveil.table.threads import in_threads

__all__ = ["MEASURES", "compare_rank_correlations", "rank_correlations"]


def rank_correlations(matrix: Matrix) -> NDArray[np.float64]:
    """Compute Spearman's correlations of one table; read-only, NaN on the diagonal for a constant.

    Notes
    -----
    O(n log n) time for each attribute, and where cells are missing O(n) for each pair: values are
    numbered once, and the records of a pair ranked by counting these numbers, which scipy sorts
    anew for each pair.

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

    counts, squares, products = np.zeros((3, n_attributes, n_attributes))
    for (a, b), sums in zip(pairs, in_threads(correlate, pairs, matrix.size), strict=True):
        counts[a, b] = counts[b, a] = sums[0]
        squares[a, b], squares[b, a] = sums[1], sums[2]
        products[a, b] = products[b, a] = sums[3]
    found = correlations_of(counts, squares, products)
    np.fill_diagonal(found, np.where(varying(matrix), 1.0, np.nan))
    found.setflags(write=False)
    return found


def compare_rank_correlations(original: Matrix, protected: Matrix) -> Correlations:
    """Compare Spearman's correlations of two tables, in any order of records.

    Examples
    --------
    >>> before = np.array([[1.0, 1.0], [2.0, 8.0], [3.0, 9.0]])
    >>> found = compare_rank_correlations(before, before * [1.0, -1.0])
    >>> round(found.largest_absolute_change, 12)
    2.0
    """
    return Correlations(
        original=rank_correlations(original), protected=rank_correlations(protected)
    )


_measure = partial(
    Measure,
    function=compare_rank_correlations,
    takes=Takes.NUMBERS,
    in_blocks=True,
    needs_pairs=False,
    group=CORRELATIONS,
    entry=Entry(name="rank_correlations"),
)
_change = partial(_measure, explanation="0 = unchanged, 2 = reversed", highest=2.0)

MEASURES = (
    _measure(
        id="rank_correlations",
        label="Spearman's correlations",
        explanation="closer is better",
        lowest=-1.0,
        highest=1.0,
        by=By.PAIR,
        better=Better.UNCHANGED,
        tabulated=False,
    ),
    _change(
        id="rank_mean_absolute_change",
        label="mean absolute change of Spearman's correlations",
        short="mean absolute change, Spearman",
        figure=attrgetter("mean_absolute_change"),
    ),
    _change(
        id="rank_largest_absolute_change",
        label="largest absolute change of Spearman's correlations",
        short="largest absolute change, Spearman",
        figure=attrgetter("largest_absolute_change"),
    ),
)
