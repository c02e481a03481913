"""Shifts: how far the sums of an attribute's clusters move when one record is replaced.

Clusters are formed anew for the neighbouring table, by the same sizes. The record leaves one
cluster and enters another, and every cluster between passes one record on, so many sums move
at once. The loss at vector scope is the largest, over all neighbours, of the sum over clusters
of the sum's change divided by its scale of noise. Here are the clusters by rank; for clusters
formed by several attributes together see `joint_shifts`. Changes are of sums, in grid units.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LoneShift",
    "RankedShifts",
    "least_vector_scales",
    "plain_shifts",
    "winsorised_shifts",
]

Whole = NDArray[np.int64]
Scales = NDArray[np.float64]


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
        """Return the loss at vector scope, for scales of the noise on the sums, in grid units.

        A scale is 0 where a sum is not perturbed and no neighbour changes it.
        """
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

    >>> shifts = plain_shifts(np.array([10, 60]), np.array([20, 90]), 0, 100)
    >>> shifts.upwards, shifts.downwards, shifts.loss(np.array([100.0, 100.0]))
    (array([50, 40]), array([20, 70]), 0.9)
    """
    return RankedShifts(
        upwards=np.diff(smallest, append=upper), downwards=np.diff(largest, prepend=lower)
    )


def winsorised_shifts(smallest: Whole, largest: Whole) -> RankedShifts:
    """Return the shifts of winsorised sums of clusters by rank: A and B of Proposition 9.

    Upwards A = (xs - x2) + (x3 - x2) + (xs - x(s-1)), downwards
    B = (x(s-1) - x1) + (x(s-1) - x(s-2)) + (x2 - x1); proof: docs/methods/idp-cbls.md. No
    domain is needed: a value set aside does not matter. Values are as in `sensitivity`.

    >>> values = np.array([[1], [4], [6], [20]])
    >>> shifts = winsorised_shifts(values[:3], values[::-1][:3])
    >>> shifts.upwards, shifts.downwards
    (array([32]), array([10]))
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

    >>> shifts = RankedShifts(upwards=np.array([8, 0]), downwards=np.array([0, 0]))
    >>> least_vector_scales(shifts, np.array([3, 3]), 0.5)
    array([16.,  0.])
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
