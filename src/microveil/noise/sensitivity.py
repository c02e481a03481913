"""Sensitivities: how far one record moves the sum of its cluster, and of all clusters by rank.

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

Shifts are of clusters formed anew for the neighbouring table, by the same sizes and by rank: the
record leaves one and enters another, and every cluster between passes one record on. The loss at
vector scope is the largest, over all neighbours, of the sum over clusters of the sum's change
divided by its scale of noise. Clusters formed by several attributes together: `joint_shifts`.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Whole = NDArray[np.int64]
Scales = NDArray[np.float64]


def global_sensitivity(lower: int, upper: int) -> int:
    """Return the largest change of a sum when one value of the domain replaces another."""
    return upper - lower


def local_sensitivity(smallest: Whole, largest: Whole, lower: int, upper: int) -> Whole:
    """Return the change when x1 goes to the top of the domain, or xs to its bottom (Prop. 8)."""
    change: Whole = np.maximum(upper - smallest, largest - lower)
    return change


def winsorised_sum(sums: Whole, smallest: Whole, largest: Whole) -> Whole:
    """Return the sum with x1 replaced by x2 and xs by the second largest value."""
    winsorised: Whole = sums - smallest[0] + smallest[1] - largest[0] + largest[1]
    return winsorised


def cluster_local_sensitivity(smallest: Whole, largest: Whole) -> Whole:
    """Return the largest change of this cluster's winsorised sum when one value is replaced.

    The larger of A and B, see `winsorised_shifts`, for clusters of three records or more, counting
    copies. Departure from the paper: its Equation (2) prints the third largest value in the last
    term of A where its Equation (1) prints the second largest; Equation (1) is right (brute force
    agrees).
    """
    return winsorised_shifts(smallest, largest).largest


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedShifts:
    """Changes of the sums, int64 (n_clusters,), when one record passes through all by rank.

    A neighbour whose record moves up changes some of the sums, each upwards and by no more
    than ``upwards``; one move changes all of them by exactly that (the least record goes
    above all others, to the top of the domain where there is one). Likewise downwards.
    """

    upwards: Whole
    downwards: Whole

    @property
    def largest(self) -> Whole:
        """The larger of both: by so much a sum changes at most."""
        larger: Whole = np.maximum(self.upwards, self.downwards)
        return larger

    def loss(self, scales: Scales) -> float:
        """Return the loss at vector scope; scales are 0 only where no neighbour changes a sum."""
        return max(_spent(self.upwards, scales), _spent(self.downwards, scales))


@dataclass(frozen=True, slots=True, kw_only=True)
class LoneShift:
    """The largest change of the one value that is replaced, where every record is a cluster."""

    largest: int

    def loss(self, scales: Scales) -> float:
        """Return the loss, for one scale for all values."""
        return float(self.largest / scales[0])


def plain_shifts(smallest: Whole, largest: Whole, lower: int, upper: int) -> RankedShifts:
    """Return the shifts of plain sums of clusters by rank, of x1 and xs of each, on a domain.

    As one record passes upwards, each cluster loses its least value and gains that of the
    next cluster, the last one the top of the domain. No neighbour costs more: a record moving up
    from cluster p to cluster q changes cluster p by a(p+1) - x <= a(p+1) - a(p), those between by
    a(j+1) - a(j), and q by v - a(q) with v <= a(q+1), where a(j) is the least value of cluster j
    and a(n_clusters) = upper. Each is at most the shift of that cluster.
    """
    return RankedShifts(
        upwards=np.diff(smallest, append=upper), downwards=np.diff(largest, prepend=lower)
    )


def winsorised_shifts(smallest: Whole, largest: Whole) -> RankedShifts:
    """Return the shifts of winsorised sums of clusters by rank: A and B of Proposition 9.

    Upwards A = (xs - x2) + (x3 - x2) + (xs - x(s-1)), downwards
    B = (x(s-1) - x1) + (x(s-1) - x(s-2)) + (x2 - x1); proof: docs/methods/idp-cbls.md. No
    domain is needed: a value set aside does not matter.
    """
    first, second, third = smallest
    last, second_last, third_last = largest
    return RankedShifts(
        upwards=(last - second) + (third - second) + (last - second_last),
        downwards=(second_last - first) + (second_last - third_last) + (second - first),
    )


def least_vector_scales(shifts: RankedShifts, sizes: Whole, share: float) -> Scales:
    """Return the scales of least expected squared noise whose loss at vector scope is a share.

    With M = max(upwards, downwards) and s the size, the scale of cluster j's sum is
    t = L (M s)^(1/3) / share, L = sum of M^(2/3) s^(-1/3): the least sum of 2 t^2 / s under the
    constraint that the sum of M / t is at most the share (METHODS section 5). All are then
    multiplied by loss / share, which makes the loss the share. A scale is 0 where no neighbour
    changes the sum.
    """
    largest = shifts.largest.astype(np.float64)
    weight = float(np.sum(np.cbrt(largest**2 / sizes)))
    scales: Scales = weight * np.cbrt(largest * sizes) / share
    return scales * (shifts.loss(scales) / share)


def _spent(changes: Whole, scales: Scales) -> float:
    """Sum of changes over scales: pairwise, so right to a few units in the last place."""
    moved = changes > 0
    if moved.all():
        return float(np.sum(changes / scales))  # the same, without a copy of either
    return float(np.sum(changes[moved] / scales[moved]))
