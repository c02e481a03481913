"""Multivariate partitions: clusters of records that are near in all attributes.

Records may be mixed: numbers, ordinal ranks among them, and categories in no order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError, RequestError
from microveil.kernels import linkage
from microveil.kernels import mdav as kernel
from microveil.partition.ranking import Partition, check_size, rank_order, ranking_sizes

# Records to a leaf: few enough to skip most of them, enough to fill vector instructions.
LEAF_SIZE = 64
# Leaves are halved where they are widest, and codes count as no wider than so many numbers: else
# a long list would be halved again and again, and numbers never.
WIDEST = 4

Reals = NDArray[np.float64]
Whole = NDArray[np.int64]
# What the kernels, whose first lines describe it, keep of the records left, and of their centroid.
_Arrays = tuple[NDArray[Any], ...]


def mdav(
    matrix: ArrayLike,
    k: int,
    categories: ArrayLike | None = None,
    *,
    missing: str = "error",
    units: NDArray[np.integer] | None = None,
) -> Partition:
    """Partition records by MDAV into clusters of k to 2k - 1 around extreme records.

    Attributes are standardised. While 2k or more records remain: r, the record farthest
    from the centroid of what remains, and its k - 1 nearest form a cluster; s, the record
    farthest from r among the others, and its k - 1 nearest of what is left form the next.
    If k or more then remain, one more cluster is formed around the record farthest from
    their centroid. Each of the fewer than k left over joins the cluster whose centroid,
    as it was before any of them joined, is nearest. Distances are Euclidean; ties go to
    the lowest record position, among clusters to the one formed first.

    Two categories are equal or not: each attribute's squared difference counts by its mean
    over all pairs of records, so that no attribute weighs more than another. Being without a
    number may be a value like another: two records without it are alike in it, and one without
    it lies as far from every value as the values lie from one another on average.

    Parameters
    ----------
    matrix : array_like (n_records, n_attributes)
        Finite numbers; they are taken as float64.
    k : int
        The least cluster size, from 1 to n_records.
    categories : array_like (n_records, n_nominal), optional
        Attributes in no order, as whole numbers: which ones makes no difference. With them
        the matrix may have no column.
    missing : {"error", "protect"}
        With "protect" the matrix may hold NaN where a record has no number, which is a value
        then.
    units : integer array (n_records,), optional
        Whose records they are. Clusters then hold records of k units or more, in place of k
        records: a record's nearest join it until they are of k units, what remains is counted in
        units, and as long as k remain another cluster is formed. One unit's records may be in many
        clusters.

    Returns
    -------
    Partition
        Clusters in the order they are formed.

    Raises
    ------
    RequestError, DataError
        If an argument is not as above, or there are fewer records than k.

    Notes
    -----
    The clusters are exactly those of the plain algorithm, which takes O(n^2 m / k) time. Leaves
    of a k-d tree that cannot hold what is sought are skipped; with a missing number none is.
    Memory O(n m). Source: Domingo-Ferrer and Torra 2005; docs/methods/microaggregation.md.

    Examples
    --------
    >>> mdav([[1, 1], [9, 9], [1, 2], [8, 9], [2, 1]], k=2).labels
    array([1, 0, 1, 0, 1])
    >>> mdav([[1], [2], [3], [4]], k=2, categories=[[0], [7], [0], [7]]).labels
    array([0, 1, 0, 1])
    """
    return _clustered(matrix, k, None, categories, missing, units)


def v_mdav(
    matrix: ArrayLike,
    k: int,
    gamma: float = 0.2,
    categories: ArrayLike | None = None,
    *,
    missing: str = "error",
    units: NDArray[np.integer] | None = None,
) -> Partition:
    """Partition records by V-MDAV: cluster sizes follow the data, from k upwards.

    Attributes are standardised. While k or more records remain, the one farthest from the
    centroid of the whole table and its k - 1 nearest form a cluster. It is extended, up to
    2k - 1 records, by the outside record nearest to any of its members as long as that one
    is nearer than gamma times its distance to its nearest other unassigned record; the
    last unassigned record has none and extends no cluster. Each of the fewer than k left
    over joins the cluster whose centroid, as it was before any of them joined, is nearest:
    only so a cluster can exceed 2k - 1. Ties go to the lowest record position, among
    clusters to the one formed first.

    Parameters
    ----------
    matrix, k, categories, missing, units
        As for `mdav`, and so are result and errors.
    gamma : float, default 0.2
        How readily clusters are extended, 0 for never: the greater, the fewer and larger
        they are. The source uses 0.2 and 1.1.

    Notes
    -----
    Exact and pruned as `mdav` is; each extension takes O(k) and a few searches for nearest
    records. Memory O(n m). Source: Solanas and Martinez-Balleste 2006.

    Examples
    --------
    >>> v_mdav([[1], [2], [3], [20], [21], [40], [41]], k=2, gamma=1.1).labels
    array([1, 1, 1, 2, 2, 0, 0])
    """
    if isinstance(gamma, bool) or not isinstance(gamma, int | float | np.number):
        raise RequestError("gamma", "gamma must be a number", "pass for example gamma=0.2")
    if not 0 <= gamma < np.inf:
        raise RequestError("gamma", "gamma must be finite and 0 or more", "pass gamma=0.2")
    return _clustered(matrix, k, float(gamma), categories, missing, units)


def insensitive_mdav(
    matrix: ArrayLike, k: int, bounds: Sequence[tuple[float, float]] | NDArray[np.floating]
) -> Partition:
    """Partition records so that replacing one changes every cluster by at most one record.

    Records are ordered by their distance from the corner of the domain where every
    attribute has its lower bound, each attribute scaled by the width of its domain; ties
    by attribute values, first attribute first, then by record position. The order is cut as
    individual ranking cuts it: sizes depend on n and k alone, a record's place in the order on
    the bounds and on itself.

    Parameters
    ----------
    matrix, k
        As for `mdav`, within the bounds, and so are errors.
    bounds : array_like (n_attributes, 2)
        Lower and upper bound of each attribute's domain, declared and not read from the
        data: otherwise one record rescales the distances of all and clusters can change
        by more than one record. An attribute whose bounds are equal adds no distance.

    Returns
    -------
    Partition
        Clusters in the order of distance.

    Notes
    -----
    O(n m + n log n) time, O(n m) memory. Source: KANON-2013 Definitions 4 and 5: a total
    order that no other record can change makes MDAV insensitive.

    Examples
    --------
    >>> insensitive_mdav([[5, 0], [1, 1], [9, 9], [0, 0]], 2, [(0, 10), (0, 10)]).labels
    array([1, 0, 1, 0])
    """
    values = _checked(matrix, k)
    lower, upper = _domain(bounds, values.shape[1])
    outside = ((values < lower) | (values > upper)).any(axis=1)
    if outside.any():
        raise DataError(
            "matrix",
            f"{outside.sum()} records are outside the bounds, "
            f"the first is record {outside.argmax() + 1}",
            "widen the bounds or clip the records",
        )
    squares = np.zeros(len(values))
    for distance in ((values - lower) / np.where(lower < upper, upper - lower, 1.0)).T:
        squares += distance * distance
    order = np.argsort(squares, kind="stable")
    in_order = squares[order]
    ties = in_order[1:] == in_order[:-1]
    tied = np.append(ties, False) | np.append(False, ties)
    among = order[tied]
    order[tied] = among[np.lexsort((*values[among].T[::-1], squares[among]))]
    return Partition(order=order, sizes=ranking_sizes(len(values), int(k)), n_records=len(values))


def standardised(matrix: Reals) -> Reals:
    """Z-scores per attribute, standard deviation with n - 1; a constant attribute counts as 0.

    A power of two, which changes no digit, first brings every attribute below 1: squares of huge
    numbers would not fit. Sums run in record order.
    """
    _, exponents = np.frexp(np.abs(matrix).max(axis=0))
    scaled = np.ldexp(matrix, -exponents)
    constant = scaled.min(axis=0) == scaled.max(axis=0)
    scaled -= _sums(scaled) / len(scaled)
    deviation = np.sqrt(_sums(scaled * scaled) / max(len(scaled) - 1, 1))
    scaled[:, constant] = 0.0
    deviation[constant] = 1.0
    z_scores: Reals = scaled / deviation
    return z_scores


def _clustered(
    matrix: ArrayLike,
    k: int,
    gamma: float | None,
    categories: ArrayLike | None,
    missing: str,
    units: NDArray[np.integer] | None,
) -> Partition:
    """Partition by MDAV, or by V-MDAV where a gamma is given."""
    points, middle = _prepared(matrix, k, categories, missing)
    people = _people(units, len(points), k)
    labels = np.full(len(points), -1, dtype=np.int64)
    if gamma is not None:
        distances = np.empty(len(points))
        kernel.follow_centroid(middle, len(points))
        kernel.measure_all(points, middle, distances)
        outermost = np.argsort(-distances, kind="stable")
    formed = 0, len(points)
    while people[3][0] >= k:
        space = _arranged(points, middle, labels)
        if gamma is None:
            formed = kernel.form_clusters(space, points, int(k), labels, middle, people, formed)
        else:
            formed = kernel.form_variable_clusters(
                space, points, int(k), gamma, labels, outermost, middle, people, formed
            )
    n_clusters = formed[0]
    by_cluster = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[by_cluster], np.arange(n_clusters + 1))
    kernel.join_leftovers(points, labels, by_cluster, starts, middle)
    sizes = np.bincount(labels, minlength=n_clusters)
    return Partition(order=rank_order(labels)[0], sizes=sizes, n_records=len(labels))


def _prepared(
    matrix: ArrayLike, k: int, categories: ArrayLike | None, missing: str
) -> tuple[Reals, _Arrays]:
    """Return the records as places for the kernels, and their centroid, still to be followed."""
    if missing not in {"error", "protect"}:
        raise RequestError("missing", "it is 'error' or 'protect'", "pass missing='protect'")
    codes, n_categories = _codes(categories)
    values = _checked(matrix, k, least=0 if codes.shape[1] else 1, may_lack=missing == "protect")
    if codes.shape[1] and len(codes) != len(values):
        raise DataError("categories", "they are not as many as the records", "pass a row for each")
    points = np.empty((len(values), values.shape[1] + codes.shape[1]))
    numbers = points[:, : values.shape[1]]
    numbers[:] = values
    there = ~np.isnan(values)
    lacks = not there.all()
    for score, present in zip(numbers.T, there.T, strict=True):
        if present.any():
            score[present] = standardised(score[present, np.newaxis])[:, 0]
    points[:, values.shape[1] :] = codes if codes.shape[1] else 0
    counts = np.array(
        [np.bincount(column, minlength=n_categories) for column in codes.T], dtype=np.int64
    ).reshape(codes.shape[1], n_categories)
    weights = np.array([_weight(of_one) for of_one in counts.tolist()], dtype=np.float64)
    n_present = there.sum(axis=0)
    present_or_0 = np.where(there, numbers, 0.0)
    # Summed in record order, one after the other, as they are taken off.
    moments = np.column_stack([n_present, _sums(present_or_0), _sums(present_or_0 * present_or_0)])
    gaps = np.where(n_present > 0, 2 * ((n_present - 1) / np.maximum(n_present, 1)), 0.0)
    centroid = np.zeros((4, values.shape[1]))
    centroid[1] = 1.0
    shares, costs = np.zeros(counts.shape), np.empty(counts.shape)
    return points, (moments, counts, centroid, shares, costs, weights, gaps[: lacks * len(gaps)])


def _codes(categories: ArrayLike | None) -> tuple[Whole, int]:
    """Return categories as codes from 0, and the most that any attribute has."""
    if categories is None:
        return np.empty((0, 0), dtype=np.int64), 0
    given = np.asarray(categories)
    if given.ndim != 2 or given.shape[1] < 1 or given.dtype.kind not in "biu":
        raise DataError(
            "categories",
            "categories are records by attributes, all whole numbers",
            "pass a two-dimensional array of codes",
        )
    # Which of them are equal is all that counts; those that nobody has would only cost time.
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in given.T])
    return codes.astype(np.int64), int(codes.max(initial=0)) + 1


def _weight(counts: Sequence[int]) -> float:
    """Return what two different categories add to a squared distance; 0 of a constant.

    With p the shares among n records: 2 (n - 1) / n / (1 - sum of p^2), the squared difference
    over its mean over all ordered pairs, by the same measure as z-scores, whose mean squared
    difference is 2 (n - 1) / n.
    """
    n = sum(counts)
    differing = n * n - sum(count * count for count in counts)
    return 2 * (n * (n - 1) / differing) if differing else 0.0


def _checked(matrix: ArrayLike, k: int, least: int = 1, *, may_lack: bool = False) -> Reals:
    """Return the matrix as float64 once it, its least number of columns and k are checked."""
    values = np.asarray(matrix)
    if values.ndim != 2 or values.shape[1] < least or values.dtype.kind not in "biuf":
        raise DataError(
            "matrix",
            "a multivariate partition takes records by attributes, all numbers",
            "pass a two-dimensional array",
        )
    values = np.ascontiguousarray(values, dtype=np.float64)
    if not (np.isfinite(values) | (may_lack & np.isnan(values))).all():
        raise DataError("matrix", "missing or infinite values have no distance", "leave them out")
    check_size("matrix", len(values), k)
    return values


def _domain(
    bounds: Sequence[tuple[float, float]] | NDArray[np.floating], n_attributes: int
) -> tuple[Reals, Reals]:
    """Return the lower and the upper bounds once they have been checked."""
    remedy = "pass for example bounds=[(0, 100), (0, 1)]"
    try:
        pairs = np.asarray(bounds, dtype=np.float64)
    except (TypeError, ValueError):
        raise RequestError("bounds", "bounds must be numbers", remedy) from None
    if pairs.shape != (n_attributes, 2):
        raise RequestError("bounds", "there must be two bounds for each attribute", remedy)
    lower, upper = pairs.T
    # Half of each, as the width of a huge domain would not fit.
    if not (np.isfinite(pairs).all() and (lower <= upper).all()):
        raise RequestError("bounds", "each lower bound must be at most its upper bound", remedy)
    if not (upper / 2 - lower / 2 < np.finfo(np.float64).max / 2).all():
        raise RequestError("bounds", "a domain is too wide for float64", remedy)
    return lower, upper


def _sums(values: Reals) -> Reals:
    """Sum each attribute in record order, one record after the other."""
    return np.asarray(np.cumsum(values, axis=0)[-1])


def _arranged(points: Reals, middle: _Arrays, labels: Whole) -> _Arrays:
    """Arrange the records without a cluster in a k-d tree; in one leaf where a number lacks."""
    _, counts, _, _, _, weights, gaps = middle
    records = np.flatnonzero(labels < 0)
    spreads = np.ones(points.shape[1])
    steps = np.maximum((counts > 0).sum(axis=1) - 1, 1)
    spreads[points.shape[1] - len(weights) :] = weights * np.minimum(1, (WIDEST / steps) ** 2)
    leaf_size = max(LEAF_SIZE, len(records)) if len(gaps) else LEAF_SIZE
    order, blocks, starts, boxes = linkage.build_tree(points[records], spreads, leaf_size)
    lows, highs = np.ascontiguousarray(boxes[len(starts) - 1 :].transpose(1, 2, 0))
    records = records[order]
    sizes = np.diff(starts)
    slots, leaves = np.empty((2, len(points)), dtype=np.int64)
    slots[records] = np.arange(len(records))
    leaves[records] = np.repeat(np.arange(len(sizes)), sizes)
    return blocks, starts, sizes, records, lows, highs, slots, leaves


def _people(units: NDArray[np.integer] | None, n_records: int, k: int) -> _Arrays:
    """Return whose records they are, as the kernels count it: without units each for itself."""
    own = np.arange(n_records) if units is None else np.unique(units, return_inverse=True)[1]
    left = np.bincount(own)
    if len(left) < k:
        raise DataError("units", "there are fewer units than k", "choose a smaller k")
    return own, left, np.full(len(left), -1, dtype=np.int64), np.array([len(left)])
