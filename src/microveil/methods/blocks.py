"""Attributes that are microaggregated together, and records that are complete in them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError
from microveil.methods.base import Choices
from microveil.methods.planned import SinglePlan
from microveil.partition import Partition
from microveil.partition.mdav import insensitive_mdav, mdav, v_mdav
from microveil.schema import Kind
from microveil.table import GridColumn, spread

Whole = NDArray[np.int64]
Planned = TypeVar("Planned", bound=SinglePlan)


def plan_blocks(
    columns: Sequence[GridColumn],
    choices: Choices,
    name: str,
    represent: Callable[[Sequence[GridColumn], Partition, Choices], Sequence[Planned]],
) -> list[Planned]:
    """Partition each block of attributes jointly and represent its clusters.

    The partition is "mdav", "v-mdav" or "mdav-insensitive"; plans are in the order of the columns.
    """
    by_name = {column.attribute.name: column for column in columns}
    plans: dict[str, Planned] = {}
    for block in choices["blocks"]:
        together, units = [by_name[member] for member in block], choices.units
        place = "attributes " + ", ".join(f"'{member}'" for member in block)
        if name == "mdav-insensitive":
            refuse_no_order([column.attribute.kind for column in together], place)
        if not choices.protects_missing:
            together = _complete(together)
            missing = together[0].missing
            if units is not None and missing is not None:
                units = units[~missing]
            _refuse_few("records have", together[0].n_present, choices.k, place)
        if units is not None:
            some = "different units have a record with"
            _refuse_few(some, len(np.unique(units)), choices.k, place)
        partition = _joint(name, together, choices, units)
        for part in represent(together, partition, choices):
            plans[part.attribute.name] = part
    return [plans[column.attribute.name] for column in columns]


def _joint(
    name: str, columns: Sequence[GridColumn], choices: Choices, units: Whole | None
) -> Partition:
    """Partition records by some columns; being without a value may be a value of them.

    Not for "mdav-insensitive", whose order, by ranked columns alone, has no place for it.
    """
    numbers, bounds, others = list[NDArray[Any]](), list[tuple[int, int]](), list[NDArray[Any]]()
    for column in columns:
        is_ranked, values = column.attribute.kind.is_ranked, np.asarray(column.values)
        if choices.protects_missing and column.missing is not None:
            # NaN where a number is missing, and where a category is, one that there is not.
            absent = np.nan if is_ranked else np.iinfo(np.int64).min
            values = np.where(column.missing, absent, spread(values, column.missing))
        (numbers if is_ranked else others).append(values)
        bounds += [column.attribute.grid_bounds or (0, 0)] if is_ranked else []
    matrix = np.column_stack([np.empty((len(values), 0)), *numbers])
    if name == "mdav-insensitive":
        found = insensitive_mdav(matrix, choices.k, bounds)
        if units is None:
            return found
        return replace(found, sizes=_runs_of_units(units[found.order].tolist(), choices.k))
    categories = np.column_stack(others) if others else None
    cut: Callable[..., Partition] = v_mdav if name == "v-mdav" else mdav
    return cut(matrix, choices.k, categories=categories, missing="protect", units=units)


def _runs_of_units(units: Sequence[int], k: int) -> Whole:
    """Cut a list into runs of k different units; what is left over joins the last run."""
    ends, in_run = [0], set[int]()
    for place, unit in enumerate(units, 1):
        in_run.add(unit)
        if len(in_run) == k:
            ends.append(place)
            in_run = set()
    ends[-1] = len(units)
    return np.diff(ends).astype(np.int64)


def refuse_no_order(kinds: Iterable[Kind], place: str = "attributes") -> None:
    """Refuse kinds none of which has an order."""
    if any(kind.is_ranked for kind in kinds):
        return
    raise RequestError(
        place,
        "records are ordered by numbers and ordered categories, and a block has none",
        "protect them together with such an attribute, or choose pram, dp-synthetic or mdav",
    )


def _refuse_few(what: str, n_found: int, k: int, place: str) -> None:
    """Refuse a block in which fewer records, or units, than k are complete."""
    if n_found < k:
        raise DataError(
            place,
            f"fewer than k {what} a value in all of them",
            "choose a smaller k, other blocks, or leave an attribute out",
        )


def _complete(columns: Sequence[GridColumn]) -> list[GridColumn]:
    """Leave out the records that lack a value in any of the columns."""
    masks = [column.missing for column in columns if column.missing is not None]
    if not masks:
        return [*columns]
    missing = np.logical_or.reduce(masks)
    return [
        replace(
            column,
            values=np.asarray(spread(column.values, column.missing)[~missing], dtype=np.int64),
            missing=missing,
        )
        for column in columns
    ]
