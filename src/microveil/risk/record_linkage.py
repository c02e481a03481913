"""Record linkage: how often an intruder who holds the originals finds the right one.

The intruder takes every protected record to the original at the least distance, and
guesses among the set G of originals at exactly that distance. Soria-Comas,
Domingo-Ferrer, Sanchez and Martinez (2013), section V: 100/n times the sum over
protected records of 1/|G| where the true original is in G, of 0 where it is not.

The true original is the one in the same position. Distances are computed directly, in
float64 and in attribute order, and ties are exact equality of what was computed: whole
numbers tie as they do on paper, decimal fractions may be told apart by a rounding. A
distance that is standardised divides the squared difference by the variance, rather
than differencing divided values, so that it breaks no tie of whole numbers.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.kernels import mixed_linkage as kernel
from microveil.risk.distances import LEAF_SIZE, distinct_records, reciprocal_variances
from microveil.risk.sampling import Positions, Sample, counted_in_blocks
from microveil.table.blocks import (
    AttributeMatrix,
    Matrix,
    average_ranks,
    blocks_of,
    lacks_some,
    largest_of,
)
from microveil.table.threads import in_threads

__all__ = [
    "RecordLinkage",
    "Scale",
    "candidate_counts",
    "linked",
    "record_linkage",
    "record_linkage_by_rank",
    "record_linkage_standardised",
]

# Squares of numbers up to this, summed over any table, stay finite.
LARGEST_VALUE = 1e140
QUERIES_PER_TASK = 256
# Originals that a sample is looked for among at a time, but for the first block.
PIECE_RECORDS = 1 << 18
NORMAL_QUANTILE = 1.959963984540054  # of 0.975


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordLinkage:
    """Share of the protected records that are linked to their true original.

    Parameters
    ----------
    percent : float
        Expected percentage of right links; 100 where every record is found, lower is
        safer.
    baseline_by_chance : float
        What blind guessing links: 100/n percent, n the originals.
    n_records : int
        Number of records that were linked.
    is_of_sample : bool
        Whether there were more.
    interval : tuple[float, float]
        95 % Wilson interval for ``percent``. Where every record was linked ``percent`` is
        exact for this very release, and the interval speaks of releases of other people
        drawn like these; of a sample it covers the luck of sampling too. It treats
        records as independent, with |G| > 1 counted no surer than a toss: cautious
        where ties are many, too narrow where clusters share one draw of noise.
    """

    percent: float
    baseline_by_chance: float
    n_records: int
    is_of_sample: bool
    interval: tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """What differences weigh, by attribute.

    ``weights`` are of a squared difference of numbers, or of two different categories; ``gaps``
    say how far a missing number is from a present one, squared.
    """

    is_category: NDArray[np.bool_]
    weights: NDArray[np.float64]
    gaps: NDArray[np.float64]


def record_linkage(
    original: Matrix,
    protected: Matrix,
    *,
    sample: Sample | None = None,
) -> RecordLinkage:
    """Measure record linkage with distances in raw units, as the paper does.

    Parameters
    ----------
    original, protected : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The same records in the same order, finite.
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
        If the shapes differ, a table is empty, or a value is missing or infinite.

    Notes
    -----
    Memory is O(n_records n_attributes), of a sample beyond the tables that of blocks of originals;
    time is near O(n log n) for up to about ten attributes and never above O(n^2) vectorised steps.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0], [2.0], [9.0]])
    >>> record_linkage(original, np.array([[1.5], [1.5], [8.0]])).percent
    66.66666666666667
    """
    original, protected = _checked(original, protected)
    return linked(original, protected, _positions(sample, original), _of_numbers(original))


def record_linkage_standardised(
    original: Matrix,
    protected: Matrix,
    *,
    sample: Sample | None = None,
) -> RecordLinkage:
    """Measure record linkage with each attribute in units of the original's deviation.

    The standard deviation is the sample's, with n - 1. An attribute that is constant in
    the original counts as 0 throughout.

    Parameters
    ----------
    original, protected : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The same records in the same order, finite.
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
        As `record_linkage`.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0, 1000.0], [2.0, 3000.0], [3.0, 2000.0]])
    >>> protected = np.array([[1.0, 1700.0], [2.0, 2600.0], [3.0, 2100.0]])
    >>> record_linkage(original, protected).percent
    66.66666666666667
    >>> record_linkage_standardised(original, protected).percent
    100.0
    """
    original, protected = _checked(original, protected)
    scale = replace(_of_numbers(original), weights=reciprocal_variances(original))
    return linked(original, protected, _positions(sample, original), scale)


def record_linkage_by_rank(
    original: Matrix,
    protected: Matrix,
    *,
    sample: Sample | None = None,
) -> RecordLinkage:
    """Measure record linkage between ranks instead of values.

    Original values are replaced by their ranks within the original attribute, protected
    values by their ranks within the protected attribute; equal values share the average
    of their ranks. Noise that moves all values but keeps their order does not help here.

    Parameters
    ----------
    original, protected : ndarray of float64 or AttributeMatrix, shape (n_records, n_attributes)
        The same records in the same order, finite.
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
        As `record_linkage`.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0], [2.0], [3.0]])
    >>> record_linkage(original, original + 100).percent
    33.333333333333336
    >>> record_linkage_by_rank(original, original + 100).percent
    100.0
    """
    original, protected = _checked(original, protected)
    before, after = average_ranks(original), average_ranks(protected)
    return linked(before, after, _positions(sample, original), _of_numbers(original))


def candidate_counts(
    original: NDArray[np.float64], protected: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Count, per protected record, the originals that the intruder cannot tell apart.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order, finite.

    Returns
    -------
    ndarray of int64, shape (n_records,)
        |G| where the true original is in G, 0 where another original is nearer; in raw
        units. It names the people at risk, so it is for the custodian alone.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty, or a value is missing or infinite.

    Examples
    --------
    >>> import numpy as np
    >>> candidate_counts(np.array([[1.0], [3.0], [9.0]]), np.array([[2.0], [2.0], [3.0]]))
    array([2, 2, 0])
    """
    before, after = _checked(original, protected)
    return _counted(before, after[:], np.arange(len(before)), _of_numbers(before))


def _checked(original: Matrix, protected: Matrix) -> tuple[Matrix, Matrix]:
    """Return both as contiguous float64 matrices of one shape, every value finite."""
    original, protected = _contiguous(original), _contiguous(protected)
    place = "original and protected data"
    if len(original.shape) != 2 or original.shape != protected.shape:
        raise DataError(
            place,
            "both must be matrices of one shape, record by record",
            "pass the same records and attributes in the same order",
        )
    if 0 in original.shape:
        raise DataError(
            place,
            "there must be a record and an attribute to link",
            "pass a table that is not empty",
        )
    for name, of_side in (("original data", original), ("protected data", protected)):
        if lacks_some(of_side) or largest_of(of_side) > LARGEST_VALUE:
            raise DataError(
                name,
                "values to link must be present, finite and at most 1e140 in size",
                "leave such records out",
            )
    return original, protected


def _contiguous(matrix: Matrix) -> Matrix:
    if isinstance(matrix, AttributeMatrix):
        return matrix
    return np.ascontiguousarray(matrix, dtype=np.float64)


def linked(original: Matrix, protected: Matrix, chosen: Positions, scale: Scale) -> RecordLinkage:
    """Link the protected records of a sample, and summarise."""
    queries = _records(protected, chosen, scale.is_category)
    return _summarised(_counted(original, queries, chosen, scale), len(original))


def _of_numbers(table: Matrix) -> Scale:
    """Return the scale of complete numbers in raw units."""
    nothing = np.zeros(table.shape[1])
    return Scale(is_category=nothing > 0, weights=nothing + 1, gaps=nothing)


def _positions(sample: Sample | None, original: Matrix) -> Positions:
    return (sample or Sample()).positions(len(original))


def _records(
    table: Matrix, rows: Positions | slice, is_category: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return some records; a category that is missing is one more, the same in both tables."""
    # A matrix of its own: what was read may be the table's.
    matrix = np.array(table[rows])
    for a in np.flatnonzero(is_category):
        matrix[np.isnan(matrix[:, a]), a] = -1.0
    return matrix


def _own_distances(
    original: NDArray[np.float64], protected: NDArray[np.float64], scale: Scale
) -> NDArray[np.float64]:
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
    original: Matrix, protected: NDArray[np.float64], chosen: Positions, scale: Scale
) -> NDArray[np.int64]:
    """Count the candidates of each sampled record; equal ones ask the same question once."""
    own = _own_distances(_records(original, chosen, scale.is_category), protected, scale)
    asked_first, which_query = _distinct(protected)
    queries = protected[asked_first]
    radii = np.full(len(queries), np.inf)
    np.minimum.at(radii, which_query, own)
    weighed = scale.is_category, scale.weights, scale.gaps

    def tree_of(
        records: NDArray[np.float64], copies: NDArray[np.int64], asked: Positions
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

        # Most queries are answered by the first block; others are asked of fewer, larger ones.
        first_block = blocks_of(len(original))[0]
        starts = range(first_block.stop, len(original), PIECE_RECORDS)
        pieces = [first_block, *(slice(start, start + PIECE_RECORDS) for start in starts)]
        counts = counted_in_blocks(count, len(queries), pieces)
    else:
        everybody = _records(original, chosen, scale.is_category)
        first, which_record = _distinct(everybody)
        everyone = np.arange(len(queries))
        tree = tree_of(everybody[first], np.bincount(which_record), everyone)
        tasks = np.split(everyone, range(QUERIES_PER_TASK, len(queries), QUERIES_PER_TASK))
        counts = np.concatenate(in_threads(lambda asked: among(tree, asked), tasks))
    return np.where(own == radii[which_query], np.maximum(counts, 0)[which_query], 0)


def _distinct(matrix: NDArray[np.float64]) -> tuple[Positions, NDArray[np.intp]]:
    """Return where each different record stands first, and for each record which of them it is."""
    absent = np.isnan(matrix)
    if absent.any():
        matrix = np.column_stack([np.where(absent, 0.0, matrix), absent])
    _, which = distinct_records(matrix)
    first = np.empty(int(which.max()) + 1, dtype=np.intp)
    first[which[::-1]] = np.arange(len(which))[::-1]
    return first, which


def _summarised(counts: NDArray[np.int64], n_originals: int) -> RecordLinkage:
    """Turn candidate counts into the expected percentage of right links."""
    n_linked_records = counts.shape[0]
    sizes, n_linked = np.unique(counts[counts > 0], return_counts=True)
    expected_links = math.fsum(n_linked / sizes)
    return RecordLinkage(
        percent=100.0 * expected_links / n_linked_records,
        baseline_by_chance=100.0 / n_originals,
        n_records=n_linked_records,
        is_of_sample=n_linked_records < n_originals,
        interval=_wilson_interval(expected_links / n_linked_records, n_linked_records),
    )


def _wilson_interval(share: float, n_records: int) -> tuple[float, float]:
    """Return the 95 % interval in percent of Wilson (1927), doi:10.2307/2276774.

    Chosen because it keeps to 0 and 100 and stays honest at 0 links, where the usual
    interval would have no width. A share of fractions varies no more than one of zeros
    and ones with the same mean, for which the interval is meant.
    """
    square = NORMAL_QUANTILE**2 / n_records
    centre = share + square / 2
    half = math.sqrt(square * (share * (1 - share) + square / 4))
    lower = max(0.0, min(share, (centre - half) / (1 + square)))
    upper = min(1.0, max(share, (centre + half) / (1 + square)))
    return 100.0 * lower, 100.0 * upper
