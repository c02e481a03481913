"""Attributes that are microaggregated together, and records that are complete in them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from microveil.engines import Engine
from microveil.errors import DataError
from microveil.methods.base import Choices
from microveil.partition import Partition
from microveil.plans import AttributePlan, CentroidPlan
from microveil.table import GridColumn, spread

__all__ = ["plan_blocks"]

Represent = Callable[[Sequence[GridColumn], Partition, Choices, Engine], Sequence[CentroidPlan]]


def plan_blocks(
    columns: Sequence[GridColumn],
    choices: Choices,
    engine: Engine,
    name: str,
    represent: Represent,
) -> list[AttributePlan]:
    """Partition each block of attributes jointly and represent its clusters.

    Parameters
    ----------
    columns : sequence of GridColumn
    choices : Choices
    engine : Engine
    name : str
        The partition, as the engine knows it.
    represent : callable
        From the columns of a block and its partition to their plans.

    Returns
    -------
    list of AttributePlan
        In the order of the columns.
    """
    by_name = {column.attribute.name: column for column in columns}
    plans: dict[str, AttributePlan] = {}
    for block in choices.blocks:
        together = _complete([by_name[member] for member in block], choices.k)
        partition = engine.cluster_jointly(
            name,
            [column.values for column in together],
            choices.k,
            [column.attribute.grid_bounds or (0, 0) for column in together],
        )
        for part in represent(together, partition, choices, engine):
            plans[part.attribute.name] = part
    return [plans[column.attribute.name] for column in columns]


def _complete(columns: list[GridColumn], k: int) -> list[GridColumn]:
    """Leave out the records that lack a value in any of the columns."""
    masks = [column.missing for column in columns if column.missing is not None]
    if not masks:
        return columns
    missing = np.logical_or.reduce(masks)
    if int((~missing).sum()) < k:
        names = ", ".join(f"'{column.attribute.name}'" for column in columns)
        raise DataError(
            f"attributes {names}",
            "fewer than k records have a value in all of them",
            "choose a smaller k, other blocks, or leave an attribute out",
        )
    return [
        replace(
            column,
            values=np.asarray(spread(column.values, column.missing)[~missing], dtype=np.int64),
            missing=missing,
        )
        for column in columns
    ]
