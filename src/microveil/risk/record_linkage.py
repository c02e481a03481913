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
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.kernels import linkage
from microveil.risk.distances import (
    LEAF_SIZE,
    distinct_records,
    reciprocal_variances,
)
from microveil.risk.sampling import Positions, Sample, counted_in_blocks
from microveil.table.blocks import (
    AttributeMatrix,
    Matrix,
    average_ranks,
    blocks_of,
    lacks_some,
    largest_of,
)
from microveil.table.threads import Reused

__all__ = [
    "RecordLinkage",
    "candidate_counts",
    "record_linkage",
    "record_linkage_by_rank",
    "record_linkage_standardised",
    "summarised",
]

# Squares of numbers up to this, summed over any table, stay finite.
LARGEST_VALUE = 1e140
QUERIES_PER_TASK = 2048
# Originals that a sample is looked for among at a time, and by how many of all they are divided.
PIECE_RECORDS, MOST_CUT_BY = 1 << 18, 1 << 15
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
    chosen = _positions(sample, original)
    return _linked(original, protected[chosen], np.ones(original.shape[1]), chosen)


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
    chosen = _positions(sample, original)
    return _linked(original, protected[chosen], reciprocal_variances(original), chosen)


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
    chosen = _positions(sample, original)
    before, after = average_ranks(original), average_ranks(protected)
    return _linked(before, after[chosen], np.ones(original.shape[1]), chosen)


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
    return _counted(before, after[:], np.ones(before.shape[1]), np.arange(len(before)))


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


def _linked(
    original: Matrix,
    protected: NDArray[np.float64],
    weights: NDArray[np.float64],
    sample: Positions,
) -> RecordLinkage:
    """Link the protected records of a sample, and summarise."""
    return summarised(_counted(original, protected, weights, sample), len(original))


def _positions(sample: Sample | None, original: Matrix) -> Positions:
    return (sample or Sample()).positions(len(original))


def _own_distances(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the squared distance of each protected record to its own original.

    The same operations in the same order as in the kernel, which compares with it.
    """
    total = np.zeros(original.shape[0])
    for x, y, weight in zip(original.T, protected.T, weights, strict=True):
        difference = x - y
        total += difference * difference * weight
    return total


def _counted(
    original: Matrix,
    protected: NDArray[np.float64],
    weights: NDArray[np.float64],
    sample: Positions,
) -> NDArray[np.int64]:
    """Count the candidates of each protected record of a sample under weighted squared distances.

    Protected records that are equal ask the same question, so each is asked once, with
    the least distance that any of its records has to its own original: within it either
    lies a nearer original, and none of them is linked, or the set G.
    """
    own = _own_distances(original[sample], protected, weights)
    queries, which_query = distinct_records(protected)
    radii = np.full(queries.shape[0], np.inf)
    np.minimum.at(radii, which_query, own)
    if len(sample) < len(original):
        counts = _counted_in_cells(original, queries, radii, weights)
    else:
        records, which_record = distinct_records(original[:])
        counts = _counted_in_tree(
            _tree(records, np.bincount(which_record), weights), queries, radii
        )
    return np.where(own == radii[which_query], counts[which_query], 0)


def _counted_in_cells(
    original: Matrix,
    queries: NDArray[np.float64],
    radii: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> NDArray[np.int64]:
    """Count the candidates of some queries among many originals, equal ones each by itself."""
    some = original[:: max(1, len(original) // MOST_CUT_BY)]
    n_cells = 1
    while n_cells * LEAF_SIZE < min(len(original), PIECE_RECORDS):
        n_cells *= 2
    attributes, cuts = linkage.cut(np.ascontiguousarray(some), weights, n_cells)
    blocks = blocks_of(len(original))
    # Most queries are answered by the first block; what few ask of others is asked of larger ones.
    pieces = [blocks[0]] + [
        slice(start, min(start + PIECE_RECORDS, len(original)))
        for start in range(blocks[0].stop, len(original), PIECE_RECORDS)
    ]

    reused = Reused()
    copies = np.ones(PIECE_RECORDS, dtype=np.int64)

    def count(piece: slice, asked: Positions) -> NDArray[np.int64]:
        if isinstance(original, AttributeMatrix):
            columns = original.columns(piece, reused)
        else:
            columns = np.ascontiguousarray(original[piece].T)
        in_cells = reused.array("cells", columns.size)
        starts, boxes = linkage.arrange(columns, attributes, cuts, in_cells)
        tree = in_cells, copies, starts, boxes, weights
        counts: NDArray[np.int64] = linkage.count_at_radius(tree, queries[asked], radii[asked])
        return counts

    return counted_in_blocks(count, len(queries), pieces)


def _tree(
    records: NDArray[np.float64], multiplicities: NDArray[np.int64], weights: NDArray[np.float64]
) -> tuple[NDArray[Any], ...]:
    """Arrange originals as the kernel takes them."""
    order, blocks, leaf_starts, boxes = linkage.build_tree(records, weights, LEAF_SIZE)
    return blocks, multiplicities[order], leaf_starts, boxes, weights


def _counted_in_tree(
    tree: tuple[NDArray[Any], ...], queries: NDArray[np.float64], radii: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Count the candidates of queries, tasks side by side; 0 where an original is nearer."""

    def count(start: int) -> NDArray[np.int64]:
        task = slice(start, start + QUERIES_PER_TASK)
        counts: NDArray[np.int64] = linkage.count_at_radius(tree, queries[task], radii[task])
        return counts

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        counts = np.concatenate(
            list(threads.map(count, range(0, queries.shape[0], QUERIES_PER_TASK)))
        )
    return np.asarray(np.maximum(counts, 0))


def summarised(counts: NDArray[np.int64], n_originals: int) -> RecordLinkage:
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
