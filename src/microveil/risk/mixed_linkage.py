"""Record linkage over numbers and categories at once, being without a value among them.

As `record_linkage`, but every attribute takes part and so does every record. An attribute's
squared difference counts by its mean over all pairs of originals: numbers in standard deviations of
the original, categories equal or not. Records that lack a value are alike in it; one that lacks it
lies as far from every value as two originals' values lie from each other on average; of
categories being without one is one more category. By the same distance MDAV clusters mixed records
(Domingo-Ferrer and Torra 2005).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.kernels import mixed_linkage as kernel
from microveil.risk.distances import (
    LEAF_SIZE,
    category_weight,
    distinct_records,
    reciprocal_variances,
)
from microveil.risk.record_linkage import RecordLinkage, summarised
from microveil.risk.sampling import Positions, Sample, counted_in_blocks
from microveil.table.blocks import AttributeMatrix, blocks_of
from microveil.table.restore import Numbers
from microveil.table.threads import in_threads

__all__ = ["record_linkage_mixed"]

Matrix = NDArray[np.float64]
QUERIES_PER_TASK = 256


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Scale:
    """What differences weigh, by attribute.

    Attributes
    ----------
    is_category : bool array (n_attributes,)
    weights : float64 array (n_attributes,)
        Of a squared difference of numbers, or of two different categories.
    gaps : float64 array (n_attributes,)
        How far a missing number is from a present one, squared.
    """

    is_category: NDArray[np.bool_]
    weights: Matrix
    gaps: Matrix


def record_linkage_mixed(
    original: Sequence[NDArray[np.float64]] | AttributeMatrix,
    protected: Sequence[NDArray[np.float64]] | AttributeMatrix,
    is_category: Sequence[bool] | NDArray[np.bool_],
    *,
    sample: Sample | None = None,
) -> RecordLinkage:
    """Measure record linkage over records of numbers, ranks and categories.

    Parameters
    ----------
    original, protected : sequence of float64 arrays (n_records,), or AttributeMatrix
        By attribute, the same records in the same order; NaN where a value is missing. Categories
        are whole numbers, the same for the same category in both.
    is_category : sequence of bool
        Which attributes are equal or not.
    sample : Sample, optional
        The protected records to link, each against all originals; by default all of up to 50,000,
        and of more 10,000, always the same.

    Returns
    -------
    RecordLinkage
        Percentage of right links, with its baseline and interval.

    Raises
    ------
    DataError
        If the tables have not the same attributes and records, or none.

    Notes
    -----
    Memory of a sample beyond the tables is that of blocks of originals. Time is near O(n log n)
    where the true originals are near, or few are sampled; where noise puts many originals within
    the distance of the true one, up to O(n_sampled n_records) vectorised steps, of which most look
    at an attribute or two.

    Examples
    --------
    >>> ages, regions = np.array([20.0, 40.0, np.nan]), np.array([0.0, 0.0, 1.0])
    >>> record_linkage_mixed([ages, regions], [ages, regions], [False, True]).percent
    100.0
    >>> record_linkage_mixed([ages, regions], [ages * 0, regions], [False, True]).percent
    66.66666666666667
    """
    before, after = _as_matrix(original), _as_matrix(protected)
    if before is None or after is None or before.shape != after.shape or 0 in before.shape:
        raise DataError(
            "original and protected data",
            "both must have the same attributes and records, and some of each",
            "pass the same records and attributes in the same order",
        )
    categorical = np.asarray(is_category, dtype=np.bool_)
    scale = _scale(before, categorical)
    chosen = (sample or Sample()).positions(len(before))
    queries = _records(after, chosen, categorical)
    return summarised(_counted(before, queries, chosen, scale), len(before))


def _as_matrix(
    table: Sequence[NDArray[np.float64]] | AttributeMatrix,
) -> AttributeMatrix | None:
    """Return columns side by side; None where they are not of one length, or there are none."""
    if isinstance(table, AttributeMatrix):
        return table
    if len({len(column) for column in table}) != 1:
        return None
    return AttributeMatrix(numbers=[Numbers(values=column, missing=None) for column in table])


def _records(
    table: AttributeMatrix, rows: Positions | slice, is_category: NDArray[np.bool_]
) -> Matrix:
    """Return some records; a category that is missing is one more, the same in both tables."""
    # A matrix of its own: what was read may be the table's.
    matrix = np.array(table[rows])
    for a in np.flatnonzero(is_category):
        matrix[np.isnan(matrix[:, a]), a] = -1.0
    return matrix


def _scale(original: AttributeMatrix, is_category: NDArray[np.bool_]) -> _Scale:
    """Weigh differences by the original's figures; a constant attribute counts as nothing."""
    weights, gaps = np.zeros(len(is_category)), np.zeros(len(is_category))
    for a, values in enumerate(original.T):
        missing = np.isnan(values)
        if is_category[a]:
            weights[a] = category_weight(np.where(missing, -1.0, values))
            continue
        present = values[~missing, np.newaxis]
        if len(present):
            weights[a] = reciprocal_variances(present)[0]
            gaps[a] = 2 * ((len(present) - 1) / len(present))
    return _Scale(is_category=is_category, weights=weights, gaps=gaps)


def _own_distances(original: Matrix, protected: Matrix, scale: _Scale) -> Matrix:
    """Return the squared distance of each protected record to its own original.

    The same operations in the same order as in the kernel, which compares with it.
    """
    total = np.zeros(len(original))
    for a, (x, y) in enumerate(zip(original.T, protected.T, strict=True)):
        weight = scale.weights[a]
        apart = (
            np.where(x != y, weight, 0.0) if scale.is_category[a] else (x - y) * (x - y) * weight
        )
        lacking = np.isnan(x).astype(np.int8) + np.isnan(y)
        total += np.choose(lacking, [apart, scale.gaps[a], 0.0])
    return total


def _counted(
    original: AttributeMatrix, protected: Matrix, chosen: Positions, scale: _Scale
) -> NDArray[np.int64]:
    """Count the candidates of each sampled record; equal ones ask the same question once."""
    own = _own_distances(_records(original, chosen, scale.is_category), protected, scale)
    asked_first, which_query = _distinct(protected)
    queries = protected[asked_first]
    radii = np.full(len(queries), np.inf)
    np.minimum.at(radii, which_query, own)
    weighed = scale.is_category, scale.weights, scale.gaps

    def tree_of(
        records: Matrix, copies: NDArray[np.int64], asked: Positions
    ) -> tuple[NDArray[Any], ...]:
        # The distance that half of the queries reach no farther than.
        reach = float(np.median(radii[asked]))
        order, blocks, leaf_starts, boxes = kernel.build_tree(
            np.ascontiguousarray(records.T), weighed, reach, LEAF_SIZE
        )
        return blocks, copies[order], leaf_starts, boxes

    def among(tree: tuple[NDArray[Any], ...], asked: Positions) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = kernel.count_at_radius(
            tree, weighed, queries[asked], radii[asked]
        )
        return counts

    if len(chosen) < len(original):

        def count(block: slice, asked: Positions) -> NDArray[np.int64]:
            records = _records(original, block, scale.is_category)
            # Telling equal originals apart costs more than asking about each for a few queries.
            return among(tree_of(records, np.ones(len(records), dtype=np.int64), asked), asked)

        counts = counted_in_blocks(count, len(queries), blocks_of(len(original)))
    else:
        everybody = _records(original, chosen, scale.is_category)
        first, which_record = _distinct(everybody)
        everyone = np.arange(len(queries))
        tree = tree_of(everybody[first], np.bincount(which_record), everyone)
        tasks = np.split(everyone, range(QUERIES_PER_TASK, len(queries), QUERIES_PER_TASK))
        counts = np.concatenate(in_threads(lambda asked: among(tree, asked), tasks))
    return np.where(own == radii[which_query], np.maximum(counts, 0)[which_query], 0)


def _distinct(matrix: Matrix) -> tuple[Positions, NDArray[np.intp]]:
    """Return where each different record stands first, and for each record which of them it is."""
    absent = np.isnan(matrix)
    _, which = distinct_records(np.column_stack([np.where(absent, 0.0, matrix), absent]))
    first = np.empty(int(which.max()) + 1, dtype=np.intp)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return first, which
