"""Sensitivities: how far one record can move the sum of its cluster.

All are of the sum, in whole grid units; a centroid's sensitivity is that of its sum divided
by the cluster's size. Elementwise over clusters: scalars and arrays (n_clusters,) alike.

With x1 <= x2 <= ... <= xs the values of a cluster and [lower, upper] the declared domain:

============================  ===============================================  ================
rule                          sensitivity of the sum                           source
============================  ===============================================  ================
`global_sensitivity`          upper - lower                                    IDP-2025 3.1
`local_sensitivity`           max(upper - x1, xs - lower)                      Proposition 8
`cluster_local_sensitivity`   max(A, B), of the winsorised sum                 Proposition 9
============================  ===============================================  ================

Smallest values come as x1, x2, x3 and largest as xs, x(s-1), x(s-2): int64 (3, n_clusters).
"""

import numpy as np
from numpy.typing import NDArray

from microveil.noise.shifts import winsorised_shifts

__all__ = [
    "cluster_local_sensitivity",
    "global_sensitivity",
    "local_sensitivity",
    "winsorised_sum",
]

Whole = NDArray[np.int64]


def global_sensitivity(lower: int, upper: int) -> int:
    """Return the largest change of a sum when one value of the domain replaces another.

    >>> global_sensitivity(0, 100)
    100
    """
    return upper - lower


def local_sensitivity(smallest: Whole, largest: Whole, lower: int, upper: int) -> Whole:
    """Return the change when x1 goes to the top of the domain, or xs to its bottom (Prop. 8).

    >>> local_sensitivity(np.array([10, 60]), np.array([20, 90]), 0, 100)
    array([90, 90])
    """
    change: Whole = np.maximum(upper - smallest, largest - lower)
    return change


def winsorised_sum(sums: Whole, smallest: Whole, largest: Whole) -> Whole:
    """Return the sum with x1 replaced by x2 and xs by the second largest value.

    >>> values = np.array([[1], [4], [6], [20]])
    >>> winsorised_sum(values.sum(0), values[:3], values[::-1][:3])
    array([20])
    """
    winsorised: Whole = sums - smallest[0] + smallest[1] - largest[0] + largest[1]
    return winsorised


def cluster_local_sensitivity(smallest: Whole, largest: Whole) -> Whole:
    """Return the largest change of this cluster's winsorised sum when one value is replaced.

    The larger of A and B, see `winsorised_shifts`, for clusters of three records or more, counting
    copies. No domain is needed. Departure from the paper: its Equation (2) prints the third largest
    value in the last term of A where its Equation (1) prints the second largest; Equation (1) is
    right (brute force agrees).

    >>> values = np.array([[1], [4], [6], [20]])
    >>> cluster_local_sensitivity(values[:3], values[::-1][:3])
    array([32])
    """
    shifts = winsorised_shifts(smallest, largest)
    change: Whole = np.maximum(shifts.upwards, shifts.downwards)
    return change
