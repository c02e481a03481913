"""Optimal univariate partitions: the runs of sorted values that lose least."""

import math
from dataclasses import replace
from numbers import Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import RequestError
from microveil.kernels import optimal as kernel
from microveil.partition.ranking import Partition, ranking

# A penalty so great, of values up to 2**64 in magnitude, joins all records in one cluster.
_ONE_CLUSTER = 1e100


def optimal(values: ArrayLike, k: int) -> Partition:
    """Partition records into the clusters of k or more with the least sum of squares.

    Minimises the sum over clusters C of SSE(C), the squared distances of C's values to
    their mean. Some best partition consists of runs of k to 2k - 1 records in ascending
    order of value, ties by record position, and these are the clusters here.

    Parameters, result and errors are those of `ranking`.

    Notes
    -----
    The sum of squares is the least but for rounding, which does not grow with n: each
    cluster's is weighed with a relative error of a few units in the last place of a
    float64 for each of its records, whatever the other values are. Of cuts that weigh the same,
    the leftmost is taken. Proof: docs/methods/microaggregation.md.

    O(n log n) time for the sort, O(n log k) after it; about eight columns of memory.
    Sources: Hansen and Mukherjee 2003; Aggarwal, Klawe, Moran, Shor and Wilber 1987.

    Examples
    --------
    >>> optimal([7, 1, 8, 2, 9], k=2).labels
    array([1, 0, 1, 0, 1])
    """
    ranked = ranking(values, k)
    in_order = np.asarray(values)[ranked.order]
    return replace(ranked, sizes=optimal_sizes(in_order, int(k)))


def noise_aware(values: ArrayLike, k: int, penalty: float) -> Partition:
    """Partition records into the clusters of k or more with the least expected error.

    Minimises the sum over clusters C of SSE(C) + penalty/s: the squared distances of C's
    s values to their mean, and the expected squared noise over C's records when the noise
    on the mean has a variance of penalty/s^2, one draw for the cluster. Laplace noise of scale
    (upper - lower)/(s epsilon), the global sensitivity over the attribute's own epsilon, has the
    penalty 2 (upper - lower)^2/epsilon^2. The clusters are runs of records in ascending order of
    value, ties by record position, of any size from k to n.

    Parameters
    ----------
    values, k
        As for `ranking`, and so are result and errors.
    penalty : float
        Expected squared noise on a cluster of one record, in squared units of the values;
        finite, 0 or more. With 0 the sum of squares is that of `optimal`.

    Notes
    -----
    Exact but for rounding, and ties broken, as in `optimal`. O(n log^2 n) time at worst, about
    twelve columns of memory.
    Sources: Hansen and Mukherjee 2003 for the sum of squares; Soria-Comas and
    Domingo-Ferrer 2018 for clusters and noise chosen together.

    Examples
    --------
    >>> noise_aware([7, 1, 8, 2, 9], k=2, penalty=1.0).sizes
    array([2, 3])
    """
    is_number = isinstance(penalty, Real) and not isinstance(penalty, bool)
    if not is_number or not 0 <= penalty < math.inf:
        raise RequestError(
            "penalty",
            "the penalty must be a finite number of 0 or more",
            "pass for example penalty=2 * (upper - lower)**2 / epsilon**2",
        )
    ranked = ranking(values, k)
    in_order = np.asarray(values)[ranked.order]
    return replace(ranked, sizes=noise_aware_sizes(in_order, int(k), penalty))


def optimal_sizes(
    in_order: NDArray[np.integer] | NDArray[np.floating], k: int
) -> NDArray[np.int64]:
    """Cluster sizes of `optimal`, for k or more values in ascending order.

    >>> optimal_sizes(np.array([1, 2, 7, 8, 9]), 2)
    array([2, 3])
    """
    return _sizes(in_order, k, 2 * k - 1, 0.0)


def noise_aware_sizes(
    in_order: NDArray[np.integer] | NDArray[np.floating], k: int, penalty: float
) -> NDArray[np.int64]:
    """Cluster sizes of `noise_aware`, for k or more values in ascending order, in their units.

    >>> noise_aware_sizes(np.array([1, 2, 7, 8, 9]), 2, 400.0)
    array([5])
    """
    return _sizes(in_order, k, len(in_order), penalty)


def _sizes(
    in_order: NDArray[np.integer] | NDArray[np.floating], k: int, longest: int, penalty: float
) -> NDArray[np.int64]:
    """Cluster sizes of the cheapest runs of k to ``longest`` values."""
    scaled = min(penalty, 1e308)
    if in_order.dtype.kind == "f":
        # By a power of two to magnitudes below 1, so that no square overflows.
        largest = max(abs(float(in_order[0])), abs(float(in_order[-1])))
        exponent = math.frexp(largest)[1]
        distances = np.ldexp(in_order.astype(np.float64), -exponent)
        with np.errstate(over="ignore"):
            scaled = float(np.ldexp(float(scaled), -2 * exponent))
    else:
        # Modulo 2**64 the distance to the least value is right, whatever the signs are.
        distances = in_order.astype(np.uint64)
        distances -= distances[0]
    sizes = np.empty(len(in_order) // k, dtype=np.int64)
    n_runs = kernel.cheapest_runs(distances, k, longest, min(float(scaled), _ONE_CLUSTER), sizes)
    return sizes[:n_runs]
