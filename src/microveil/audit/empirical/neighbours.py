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

from microveil.methods.centroids import CentroidPlan, domain
from microveil.noise.sensitivity import LoneShift, RankedShifts
from microveil.partition import Partition, rank_order, singletons
from microveil.partition.mdav import insensitive_mdav, mdav
from microveil.protect.columns import Prepared
from microveil.table import GridColumn, spread

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Move = tuple[int, tuple[int, ...]]

WINSORISING = ("idp-cbls", "idp-vector")
# All corners of the domain are tried for blocks of this many attributes or fewer.
FEW_ATTRIBUTES = 4
# How many neighbours are tried where clusters are of several attributes: at most this many,
# and only as many as make about this many records to cluster, but never fewer than the least.
MOST_TRIES, TRIED_RECORDS, LEAST_TRIES = 2000, 1_000_000, 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Clustered:
    """One attribute of a table, in clusters.

    Sums are in grid units, of winsorised values where the method winsorises. Scales are of the
    noise on them, in steps of the noise grid: those of the actual table. Labels are of the records
    with a value.
    """

    sums: Whole
    sizes: Whole
    scales: Whole
    labels: Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """A mechanism tuned to a table, to be run on that table and on neighbours of it.

    Columns are those by which clusters are formed, in grid units, on domains where there are such;
    ``index`` says which one is attacked, ``cut`` forms clusters as the method does.
    """

    part: CentroidPlan
    columns: tuple[Whole, ...]
    index: int
    bounds: tuple[tuple[int, int] | None, ...]
    cut: Callable[[Sequence[Whole]], Partition]
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


def tuned_to(part: CentroidPlan, prepared: Prepared) -> Tuned:
    """Return the mechanism of a planned attribute with a share, to be run on neighbours."""
    request, name = prepared.request, part.attribute.name
    by_name = {column.attribute.name: column for column in prepared.columns}
    together = _block(name, prepared) if _is_joint(part) else [name]
    # Categories in no order take no part in the order of records.
    columns = [by_name[one] for one in together if by_name[one].attribute.kind.is_ranked]

    def cut(values: Sequence[Whole]) -> Partition:
        if isinstance(part.shifts, LoneShift):
            return singletons(len(values[0]))
        if isinstance(part.shifts, RankedShifts):  # by the sizes of the actual table
            order, _ = rank_order(values[0])
            return Partition(order=order, sizes=part.sizes, n_records=len(order))
        domains = [domain(column.attribute) for column in columns]
        matrix = np.column_stack(values)
        if request["partition"] == "mdav":
            return mdav(matrix, request.k)
        return insensitive_mdav(matrix, request.k, domains)

    return Tuned(
        part=part,
        columns=tuple(_complete(column, part) for column in columns),
        index=[column.attribute.name for column in columns].index(name),
        bounds=tuple(column.attribute.grid_bounds for column in columns),
        cut=cut,
        winsorises=request.method.id in WINSORISING,
    )


def _is_joint(part: CentroidPlan) -> bool:
    """Whether clusters are formed by several attributes together."""
    return not isinstance(part.shifts, LoneShift | RankedShifts)


def _block(name: str, prepared: Prepared) -> Sequence[str]:
    """Return the attributes that are clustered with this one."""
    blocks = prepared.request["blocks"]
    if blocks is None or "blocks" in prepared.request.unused:
        return prepared.names
    return next(block for block in blocks if name in block)


def _complete(column: GridColumn, part: CentroidPlan) -> Whole:
    """Return the values of the records that the plan has in its clusters."""
    values = spread(column.values, column.missing)
    present = values if part.missing is None else values[~part.missing]
    return np.asarray(present, dtype=np.int64)


def near_neighbour(tuned: Tuned) -> Clustered:
    """Return the worst neighbour whose record stays in its cluster: cluster scope, one sum differs.

    The least value of a cluster goes to the top of the domain, or the greatest to the bottom
    (of winsorised values: above or below all others of the cluster), whichever costs most over
    all clusters.
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

    Each record is a cluster of its own; ``of_value`` is the unit of each that has a value.
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

    return max((tuned.moved(move) for move in _moves(tuned)), key=harm)


def _moves(tuned: Tuned) -> Iterator[Move]:
    """Send records, evenly over the ranks of the attribute attacked, to corners of the domain.

    Of one attribute the least record goes to the top and the greatest to the bottom.
    """
    values = tuned.columns[tuned.index]
    if not _is_joint(tuned.part):
        lower, upper = _range(tuned, 0)
        yield from ((int(values.argmin()), (upper,)), (int(values.argmax()), (lower,)))
        return
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
