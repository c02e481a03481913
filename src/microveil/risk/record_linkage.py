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

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import linkage
from microveil.errors import DataError
from microveil.risk.distances import (
    LEAF_SIZE,
    average_ranks,
    distinct_records,
    reciprocal_variances,
)

__all__ = [
    "Positions",
    "RecordLinkage",
    "candidate_counts",
    "record_linkage",
    "record_linkage_by_rank",
    "record_linkage_standardised",
    "summarised",
]

Positions = NDArray[np.intp]

# Squares of numbers up to this, summed over any table, stay finite.
LARGEST_VALUE = 1e140
QUERIES_PER_TASK = 2048
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
    interval: tuple[float, float]


def record_linkage(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    sample: Positions | None = None,
) -> RecordLinkage:
    """Measure record linkage with distances in raw units, as the paper does.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order, finite.
    sample : ndarray of int, shape (n_sampled,), optional
        Positions, all different, of the protected records to link; each is linked against all
        originals. By default every record is linked.

    Returns
    -------
    RecordLinkage
        Percentage of right links, with its baseline and interval.

    Raises
    ------
    DataError
        If the shapes differ, a table is empty, or a value is missing or infinite; if the
        sample is empty, repeats a record or names one that is not there.

    Notes
    -----
    Memory is O(n_records n_attributes); time is near O(n log n) for up to about ten
    attributes and never above O(n^2) vectorised steps.

    Examples
    --------
    >>> import numpy as np
    >>> original = np.array([[1.0], [2.0], [9.0]])
    >>> record_linkage(original, np.array([[1.5], [1.5], [8.0]])).percent
    66.66666666666667
    """
    original, protected = _checked(original, protected)
    return _linked(original, protected, np.ones(original.shape[1]), sample)


def record_linkage_standardised(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    sample: Positions | None = None,
) -> RecordLinkage:
    """Measure record linkage with each attribute in units of the original's deviation.

    The standard deviation is the sample's, with n - 1. An attribute that is constant in
    the original counts as 0 throughout.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order, finite.
    sample : ndarray of int, shape (n_sampled,), optional
        Positions, all different, of the protected records to link; each is linked against all
        originals. By default every record is linked.

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
    return _linked(original, protected, reciprocal_variances(original), sample)


def record_linkage_by_rank(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    sample: Positions | None = None,
) -> RecordLinkage:
    """Measure record linkage between ranks instead of values.

    Original values are replaced by their ranks within the original attribute, protected
    values by their ranks within the protected attribute; equal values share the average
    of their ranks. Noise that moves all values but keeps their order does not help here.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The same records in the same order, finite.
    sample : ndarray of int, shape (n_sampled,), optional
        Positions, all different, of the protected records to link; each is linked against all
        originals. By default every record is linked.

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
    ranks = average_ranks(original), average_ranks(protected)
    return _linked(*ranks, np.ones(original.shape[1]), sample)


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
    original, protected = _checked(original, protected)
    return _counted(original, protected, np.ones(original.shape[1]), _everybody(original))


def _checked(
    original: NDArray[np.float64], protected: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both as contiguous float64 matrices of one shape, every value finite."""
    original = np.ascontiguousarray(original, dtype=np.float64)
    protected = np.ascontiguousarray(protected, dtype=np.float64)
    place = "original and protected data"
    if original.ndim != 2 or original.shape != protected.shape:
        raise DataError(
            place,
            "both must be matrices of one shape, record by record",
            "pass the same records and attributes in the same order",
        )
    if original.size == 0:
        raise DataError(
            place,
            "there must be a record and an attribute to link",
            "pass a table that is not empty",
        )
    for name, matrix in (("original data", original), ("protected data", protected)):
        if not np.abs(matrix).max() <= LARGEST_VALUE:
            raise DataError(
                name,
                "values to link must be present, finite and at most 1e140 in size",
                "leave such records out",
            )
    return original, protected


def _everybody(original: NDArray[np.float64]) -> Positions:
    return np.arange(original.shape[0])


def _checked_sample(sample: Positions, n_records: int) -> Positions:
    """Return the positions of different records that there are, at least one."""
    positions = np.asarray(sample)
    whole = positions.ndim == 1 and positions.dtype.kind in "iu"
    if not whole or not _all_different(positions, n_records):
        raise DataError(
            "sample of records to link",
            "it must hold positions of records, at least one and each once",
            "draw it without replacement from the positions 0 to n - 1",
        )
    return positions.astype(np.intp)


def _all_different(positions: Positions, n_records: int) -> bool:
    if positions.size == 0 or positions.min() < 0 or positions.max() >= n_records:
        return False
    return np.unique(positions).size == positions.size


def _linked(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    weights: NDArray[np.float64],
    sample: Positions | None,
) -> RecordLinkage:
    """Link a sample of the protected records, by default all, and summarise."""
    n_records = original.shape[0]
    chosen = _everybody(original) if sample is None else _checked_sample(sample, n_records)
    return summarised(_counted(original, protected, weights, chosen), n_records)


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
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    weights: NDArray[np.float64],
    sample: Positions,
) -> NDArray[np.int64]:
    """Count the candidates of each sampled record under weighted squared distances.

    Protected records that are equal ask the same question, so each is asked once, with
    the least distance that any of its records has to its own original: within it either
    lies a nearer original, and none of them is linked, or the set G.
    """
    own = _own_distances(original[sample], protected[sample], weights)
    queries, which_query = distinct_records(protected[sample])
    radii = np.full(queries.shape[0], np.inf)
    np.minimum.at(radii, which_query, own)
    # Telling equal originals apart costs more than asking about each of them for a few queries.
    if sample.size < original.shape[0]:
        records, multiplicities = original, np.ones(original.shape[0], dtype=np.int64)
    else:
        records, which_record = distinct_records(original)
        multiplicities = np.bincount(which_record)
    order, blocks, leaf_starts, boxes = linkage.build_tree(records, weights, LEAF_SIZE)
    tree = blocks, multiplicities[order], leaf_starts, boxes, weights

    def count(start: int) -> NDArray[np.int64]:
        task = slice(start, start + QUERIES_PER_TASK)
        counts: NDArray[np.int64] = linkage.count_at_radius(tree, queries[task], radii[task])
        return counts

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        counts = np.concatenate(
            list(threads.map(count, range(0, queries.shape[0], QUERIES_PER_TASK)))
        )
    return np.where(own == radii[which_query], counts[which_query], 0)


def summarised(counts: NDArray[np.int64], n_originals: int) -> RecordLinkage:
    """Turn candidate counts into the expected percentage of right links."""
    n_linked_records = counts.shape[0]
    sizes, n_linked = np.unique(counts[counts > 0], return_counts=True)
    expected_links = math.fsum(n_linked / sizes)
    return RecordLinkage(
        percent=100.0 * expected_links / n_linked_records,
        baseline_by_chance=100.0 / n_originals,
        n_records=n_linked_records,
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
