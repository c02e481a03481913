"""How each method forms its clusters on a neighbour of the table that it was tuned to."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.audit.empirical.neighbours import Tuned
from microveil.methods.centroids import CentroidPlan
from microveil.noise.sensitivity import LoneShift, RankedShifts
from microveil.partition import Partition, rank_order
from microveil.partition.mdav import joint_partition
from microveil.protect.columns import Prepared
from microveil.table import GridColumn, spread

__all__ = ["tuned_to"]

Whole = NDArray[np.int64]

WINSORISING = ("idp-cbls", "idp-vector")


def tuned_to(part: CentroidPlan, prepared: Prepared) -> Tuned:
    """Return the mechanism of a planned attribute, ready to be run on neighbours.

    Parameters
    ----------
    part : CentroidPlan
        With a share of epsilon.
    prepared : Prepared
        What the plan was made from.
    """
    request = prepared.request
    by_name = {column.attribute.name: column for column in prepared.columns}
    name = part.attribute.name
    block: Sequence[str] = [name]
    cut: _Held | _ByRank | _Jointly
    if isinstance(part.shifts, LoneShift):
        cut = _Held()
    elif isinstance(part.shifts, RankedShifts):
        cut = _ByRank(sizes=part.sizes)
    else:
        # Categories in no order take no part in the order of records.
        block = [
            member for member in _block(name, prepared) if by_name[member].attribute.kind.is_ranked
        ]
        cut = _Jointly(
            partition="mdav" if request["partition"] == "mdav" else "mdav-insensitive",
            k=request.k,
            bounds=tuple(by_name[member].attribute.grid_bounds or (0, 0) for member in block),
        )
    return Tuned(
        part=part,
        columns=tuple(_complete(by_name[member], part) for member in block),
        index=list(block).index(name),
        bounds=tuple(by_name[member].attribute.grid_bounds for member in block),
        cut=cut,
        jointly=isinstance(cut, _Jointly),
        winsorises=request.method.id in WINSORISING,
    )


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """Every record is its own cluster."""

    def __call__(self, columns: Sequence[Whole]) -> Partition:
        n_values = len(columns[0])
        ones = np.ones(n_values, dtype=np.int64)
        return Partition(order=np.arange(n_values), sizes=ones, n_records=n_values)


@dataclass(frozen=True, slots=True, kw_only=True)
class _ByRank:
    """Ranked anew, cut by the sizes of the actual table."""

    sizes: Whole

    def __call__(self, columns: Sequence[Whole]) -> Partition:
        order, _ = rank_order(columns[0])
        return Partition(order=order, sizes=self.sizes, n_records=len(order))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Jointly:
    """Clusters of several attributes, formed anew."""

    partition: str
    k: int
    bounds: tuple[tuple[int, int], ...]

    def __call__(self, columns: Sequence[Whole]) -> Partition:
        ranked = [True] * len(columns)
        return joint_partition(self.partition, columns, self.k, self.bounds, ranked)
