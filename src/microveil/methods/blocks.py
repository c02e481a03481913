"""Attributes that are microaggregated together, and records that are complete in them."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from microveil.arguments.steps import BLOCKS
from microveil.engines.base import Clusters, Column, Engine
from microveil.errors import DataError, RequestError
from microveil.methods.base import Choices
from microveil.plans import SinglePlan
from microveil.schema import Kind

__all__ = ["plan_blocks", "refuse_no_order"]

Represent = Callable[[Sequence[Column], Clusters, Choices, Engine], Sequence[SinglePlan]]


def plan_blocks(
    columns: Sequence[Column],
    choices: Choices,
    engine: Engine,
    name: str,
    represent: Represent,
) -> list[SinglePlan]:
    """Partition each block of attributes jointly and represent its clusters.

    Parameters
    ----------
    columns : sequence of Column
    choices : Choices
    engine : Engine
    name : str
        The partition, as the engine knows it.
    represent : callable
        From the columns of a block and its clusters to their plans.

    Returns
    -------
    list of SinglePlan
        In the order of the columns.

    Raises
    ------
    RequestError
        If a partition that orders records is asked for a block that nothing orders.
    DataError
        If a block has fewer complete records than k, or records of fewer units.
    """
    by_name = {column.attribute.name: column for column in columns}
    plans: dict[str, SinglePlan] = {}
    for block in choices[BLOCKS]:
        if name == "mdav-insensitive":
            _refuse_unordered([by_name[member] for member in block])
        together, units = [by_name[member] for member in block], choices.units
        if not choices.protects_missing:
            together = _complete(together, choices.k, engine)
            missing = engine.missing(together[0])
            if units is not None and missing is not None:
                units = units[~missing]
        _check_units(block, units, choices.k)
        clusters = engine.cluster_jointly(
            name, together, choices.k, with_missing=choices.protects_missing, units=units
        )
        for part in represent(together, clusters, choices, engine):
            plans[part.attribute.name] = part
    return [plans[column.attribute.name] for column in columns]


def _refuse_unordered(columns: Sequence[Column]) -> None:
    """Refuse a block of categories in no order, by which no record comes before another."""
    names = ", ".join(f"'{column.attribute.name}'" for column in columns)
    refuse_no_order([column.attribute.kind for column in columns], f"attributes {names}")


def refuse_no_order(kinds: Iterable[Kind], place: str = "attributes") -> None:
    """Refuse kinds none of which has an order."""
    if any(kind.is_ranked for kind in kinds):
        return
    raise RequestError(
        place,
        "records are ordered by numbers and ordered categories, and a block has none",
        "protect them together with such an attribute, or choose pram, dp-synthetic or mdav",
    )


def _check_units(names: Sequence[str], units: NDArray[np.int64] | None, k: int) -> None:
    """Refuse records that are of fewer units than a cluster must hold."""
    if units is not None and len(np.unique(units)) < k:
        listed = ", ".join(f"'{name}'" for name in names)
        raise DataError(
            f"attributes {listed}",
            "fewer than k different units have a record with a value in all of them",
            "choose a smaller k, other blocks, or leave an attribute out",
        )


def _complete(columns: Sequence[Column], k: int, engine: Engine) -> list[Column]:
    """Leave out the records that lack a value in any of the columns."""
    complete = [*engine.complete(columns)]
    if complete[0].n_present < k:
        names = ", ".join(f"'{column.attribute.name}'" for column in columns)
        raise DataError(
            f"attributes {names}",
            "fewer than k records have a value in all of them",
            "choose a smaller k, other blocks, or leave an attribute out",
        )
    return complete
