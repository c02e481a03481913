"""Partitions for vector sensitivities: clusters chosen for the noise their whole vector takes."""

import math
from dataclasses import replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import RequestError
from microveil.partition.clusters import Partition
from microveil.partition.ranking import ranking
from microveil.partition.vector_search import best_cuts

__all__ = ["vector_aware", "vector_aware_sizes"]

# Differences whose common divisor is found at a time: it is 1 after few of them, as a rule.
BATCH = 1 << 12


def vector_aware(
    values: ArrayLike, k: int, share: float, *, exact_allowed: bool = True
) -> Partition:
    """Partition records so that means and vector-scope noise have little expected error.

    All means of an attribute together are covered by its share of epsilon: with S_j the
    cluster-based local sensitivity of the mean of cluster j, s_j its size, A_j and B_j as in
    `microveil.noise.sensitivity` and L the sum of S_j^(2/3) s_j^(1/3), the noise on that mean
    has the scale

        b_j = L (S_j / s_j)^(1/3) / share * l / share

    where l, the exact loss without the last factor, is the larger of the sums of
    A_j / (s_j b_j) and B_j / (s_j b_j). The partition sought has the least

        sum over clusters of (squared distances to the winsorised mean + 2 s_j b_j^2),

    the expected squared error over all records, before clamping. Clusters are runs of
    records in ascending order of value, ties by record position, of any size from k to n.

    Parameters
    ----------
    values, k
        As for `ranking`, but k from 3.
    share : float
        The attribute's own part of epsilon, above 0.
    exact_allowed : bool
        Whether clusters may hold equal values only. Such a cluster takes no noise and comes
        out exact. Without them, all records are one cluster where all values are equal.

    Returns
    -------
    Partition
        Clusters in ascending order of value. Which, depends on the sorted values, k, share
        and exact_allowed alone.

    Raises
    ------
    RequestError, DataError
        As `ranking`, and if the share is no finite number above 0.

    Notes
    -----
    The objective is never above that of a ranking by any fixed size of k or more, or of one single
    cluster, but for rounding. Everything else is a search, described and measured in
    docs/methods/idp-vector.md; no guarantee depends on how good it is.

    O(n log n) time, about 0.3 to 3 s for a million records; memory of 6 columns, and up to 31
    where most positions are candidates. Values are taken as float64 distances to the least: what
    differs by less than 2^-53 of the range counts as equal. Every machine cuts alike.

    Examples
    --------
    >>> values = [7, 1, 3, 6, 2, 5, 4]
    >>> vector_aware(values, k=3, share=10.0).sizes
    array([3, 4])
    >>> vector_aware([1, 2, 3, 4, 5, 6, 7], k=3, share=0.01).sizes
    array([7])
    """
    if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 3:
        raise RequestError("k", "k must be a whole number of 3 or more", "pass for example k=3")
    if not isinstance(share, Real) or isinstance(share, bool) or not 0 < share < math.inf:
        raise RequestError(
            "share",
            "the share must be a finite number above 0",
            "pass the attribute's own part of epsilon, for example share=0.5",
        )
    ranked = ranking(values, k)
    in_order = np.asarray(values)[ranked.order]
    sizes = vector_aware_sizes(in_order, int(k), float(share), exact_allowed=exact_allowed)
    return replace(ranked, sizes=sizes)


def vector_aware_sizes(
    in_order: NDArray[np.integer] | NDArray[np.floating],
    k: int,
    share: float,
    *,
    exact_allowed: bool = True,
) -> NDArray[np.int64]:
    """Cluster sizes of `vector_aware`, for k or more values in ascending order.

    The share is a number above 0; shares below 1e-100 or above 1e100 count as these.

    >>> vector_aware_sizes(np.array([1, 2, 3, 4, 70, 71, 72]), 3, 5.0)
    array([4, 3])
    """
    values = _scaled(in_order)
    n = len(values)
    if n < 2 * k or values[-1] == 0:
        return np.array([n], dtype=np.int64)
    noise = 2 / min(max(float(share), 1e-100), 1e100) ** 2
    return np.diff(best_cuts(values, k, noise, exact_allowed=exact_allowed))


def _scaled(in_order: NDArray[np.integer] | NDArray[np.floating]) -> NDArray[np.float64]:
    """Distances to the least value, by a power of two (and a common divisor) below 1."""
    if in_order.dtype.kind == "f":
        largest = max(abs(float(in_order[0])), abs(float(in_order[-1])))
        distances = np.ldexp(in_order.astype(np.float64), -math.frexp(largest)[1])
        distances -= distances[0]
    else:
        # Modulo 2**64 the distance to the least value is right, whatever the signs are.
        whole = in_order.astype(np.uint64)
        whole -= whole[0]
        divisor = 0
        for start in range(0, len(whole), BATCH):
            divisor = math.gcd(divisor, int(np.gcd.reduce(whole[start : start + BATCH])))
            if divisor == 1:
                break
        if divisor > 1:
            whole //= np.uint64(divisor)
        distances = whole.astype(np.float64)
    exponent = -math.frexp(float(distances[-1]))[1]
    return np.asarray(np.ldexp(distances, exponent, out=distances))
