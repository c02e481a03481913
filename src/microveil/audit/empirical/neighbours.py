"""A table as a mechanism sees it, and the neighbours that are built to hurt it.

Under individual differential privacy the mechanism is tuned to the actual table: its scales of
noise, its noise grid and the sizes of its clusters stay as they are when it runs on a neighbour,
and only sums, and which records make them up, are those of the neighbour. Under differential
privacy all of that is public and the same for every table: nothing else changes there either.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from microveil.methods.centroids import CentroidPlan
from microveil.noise.sensitivity import RankedShifts
from microveil.partition import Partition

__all__ = [
    "Clustered",
    "Tuned",
    "far_neighbour",
    "near_loss",
    "near_neighbour",
    "unit_neighbour",
]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Move = tuple[int, tuple[int, ...]]

# All corners of the domain are tried for blocks of this many attributes or fewer.
FEW_ATTRIBUTES = 4
# How many neighbours are tried where clusters are of several attributes: at most this many,
# and only as many as make about this many records to cluster, but never fewer than the least.
MOST_TRIES, TRIED_RECORDS, LEAST_TRIES = 2000, 1_000_000, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered:
    """One attribute of a table, in clusters.

    Attributes
    ----------
    sums, sizes : int64 arrays (n_clusters,)
        In grid units; of winsorised values where the method winsorises.
    scales : int64 array (n_clusters,)
        Of the noise on the sums, in steps of the noise grid: those of the actual table.
    labels : int64 array (n_values,)
        The cluster of each record that has a value.
    """

    sums: Whole
    sizes: Whole
    scales: Whole
    labels: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """A mechanism tuned to a table, to be run on that table and on neighbours of it.

    Attributes
    ----------
    part : CentroidPlan
        The plan of the attribute that is attacked.
    columns : tuple of int64 arrays (n_values,)
        The attributes by which its clusters are formed, in grid units.
    index : int
        Which of them is attacked.
    bounds : tuple of ((int, int) or None)
        Their domains; None where there is none.
    cut : callable
        From columns to clusters, formed as the method forms them.
    jointly : bool
        Whether clusters are formed by several attributes together.
    winsorises : bool
    """

    part: CentroidPlan
    columns: tuple[Whole, ...]
    index: int
    bounds: tuple[tuple[int, int] | None, ...]
    cut: Callable[[Sequence[Whole]], Partition]
    jointly: bool
    winsorises: bool

    @property
    def table(self) -> Clustered:
        """The actual table."""
        return self.clustered(self.columns)

    def clustered(self, columns: Sequence[Whole]) -> Clustered:
        """Return a table in the clusters that the mechanism forms of it."""
        partition = self.cut(columns)
        values = columns[self.index][partition.order]
        ends = np.cumsum(partition.sizes)
        starts = ends - partition.sizes
        sums = np.add.reduceat(values, starts)
        if self.winsorises:
            sums += values[starts + 1] - values[starts] + values[ends - 2] - values[ends - 1]
        return Clustered(
            sums=sums, sizes=partition.sizes, scales=self.part.scales, labels=partition.labels
        )

    def moved(self, move: Move) -> Clustered:
        """Return the neighbour in which one record has other values."""
        record, values = move
        columns = [column.copy() for column in self.columns]
        for column, value in zip(columns, values, strict=True):
            column[record] = value
        return self.clustered(columns)

    def loss(self, change: Whole) -> Real:
        """Return what changes of the sums cost, cluster by cluster: infinite without noise."""
        with np.errstate(divide="ignore", invalid="ignore"):
            steps = np.abs(change) / np.ldexp(self.part.scales.astype(float), -self.part.grid.bits)
        return np.where(change == 0, 0.0, steps)


def near_neighbour(tuned: Tuned) -> Clustered:
    """Return the worst neighbour whose record stays in its cluster: cluster scope.

    Parameters
    ----------
    tuned : Tuned

    Returns
    -------
    Clustered
        As the actual table but for one sum.

    Notes
    -----
    The least value of a cluster goes to the top of the domain, or the greatest to the bottom
    (of winsorised values: above or below all others of the cluster), whichever costs most over
    all clusters. O(n log n).
    """
    table, change = tuned.table, _within(tuned)
    worst = int(tuned.loss(change).argmax())
    sums = table.sums.copy()
    sums[worst] += change[worst]
    return replace(table, sums=sums)


def near_loss(tuned: Tuned) -> float:
    """Return the exact loss at cluster scope: what the worst such neighbour costs."""
    return float(tuned.loss(_within(tuned)).max())


def unit_neighbour(tuned: Tuned, of_value: Whole) -> tuple[Clustered, float]:
    """Return the worst neighbour with all records of one unit replaced, and its exact loss.

    Parameters
    ----------
    tuned : Tuned
        Whose records are each a cluster of its own.
    of_value : int64 array (n_values,)
        The unit of each record that has a value.
    """
    table, change = tuned.table, _within(tuned)
    costs = np.bincount(of_value, weights=tuned.loss(change)[table.labels])
    members = table.labels[of_value == costs.argmax()]
    sums = table.sums.copy()
    sums[members] += change[members]
    return replace(table, sums=sums), float(costs.max())


def _within(tuned: Tuned) -> Whole:
    """Return the largest change of each sum, rise or fall, by a record of the cluster itself."""
    shifts = tuned.part.shifts
    if tuned.winsorises and isinstance(shifts, RankedShifts):
        rises, falls = shifts.upwards, shifts.downwards
    else:
        partition = tuned.cut(tuned.columns)
        values = tuned.columns[tuned.index][partition.order]
        starts = np.cumsum(partition.sizes) - partition.sizes
        lower, upper = _range(tuned, tuned.index)
        rises = upper - np.minimum.reduceat(values, starts)
        falls = np.maximum.reduceat(values, starts) - lower
    return np.where(rises >= falls, rises, -falls)


def far_neighbour(tuned: Tuned) -> Clustered:
    """Return the worst neighbour found with the clusters formed anew: vector and row scope.

    Parameters
    ----------
    tuned : Tuned

    Returns
    -------
    Clustered

    Notes
    -----
    For clusters by rank there is no worse one: the least record goes to the top of the domain
    (far above all others where there is none), or the greatest to the bottom, whichever costs
    more. For clusters of several attributes records are sent to corners of the domain, all of
    them to every corner in small tables, and the worst is kept. Among equals the one that sends
    more records to other clusters.
    """
    table = tuned.table

    def harm(neighbour: Clustered) -> tuple[float, int]:
        loss = float(tuned.loss(neighbour.sums - table.sums).sum())
        return loss, int(np.count_nonzero(neighbour.labels != table.labels))

    moves = _to_corners(tuned) if tuned.jointly else _through_all(tuned)
    return max((tuned.moved(move) for move in moves), key=harm)


def _through_all(tuned: Tuned) -> Iterator[Move]:
    """Send the least record to the top and the greatest to the bottom."""
    (values,) = tuned.columns
    lower, upper = _range(tuned, 0)
    yield int(values.argmin()), (upper,)
    yield int(values.argmax()), (lower,)


def _to_corners(tuned: Tuned) -> Iterator[Move]:
    """Send records, evenly over the ranks of the attribute attacked, to corners of the domain."""
    values = tuned.columns[tuned.index]
    tries = min(max(TRIED_RECORDS // len(values), LEAST_TRIES), MOST_TRIES)
    corners = _corners(tuned)
    n_records = min(max(tries // len(corners), 2), len(values))
    ranks = np.linspace(0, len(values) - 1, n_records).astype(np.int64)
    for record in np.argsort(values, kind="stable")[ranks].tolist():
        yield from ((record, corner) for corner in corners)


def _corners(tuned: Tuned) -> list[tuple[int, ...]]:
    ranges = [_range(tuned, index) for index in range(len(tuned.columns))]
    if len(ranges) <= FEW_ATTRIBUTES:
        return list(itertools.product(*ranges))
    own = tuned.index
    # All at one end, and the attribute attacked at one end with the others at the other.
    return [
        tuple(bounds[others if index != own else mine] for index, bounds in enumerate(ranges))
        for mine, others in itertools.product((0, 1), repeat=2)
    ]


def _range(tuned: Tuned, index: int) -> tuple[int, int]:
    """Return the domain; without one a range that leaves all values well inside."""
    bounds = tuned.bounds[index]
    if bounds is not None:
        return bounds
    values, grid = tuned.columns[index], tuned.part.grid
    least, greatest = int(values.min()), int(values.max())
    room = greatest - least + 1
    return max(least - room, grid.lower), min(greatest + room, grid.upper)
