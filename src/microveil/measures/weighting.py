"""By which weights an assessment weighs the records of the original, and of the release."""

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError
from microveil.measures.opening import Opened
from microveil.measures.weighted import Weights
from microveil.schema import Kind, Role
from microveil.table import Table, check_columns, numbers_of

__all__ = ["weights_of"]

REMEDY = "name a column that says of every record how many people it stands for"


def weights_of(both: Opened, column: str | None) -> Weights | None:
    """Read the weights asked for, or those that the recipe names, the first of several.

    A release without weights of its own is weighted by the original's where there are pairs. Its
    own that are none, as noise can leave them, are no error: it is then not weighted. Those of the
    recipe nobody asked for: they are no error either, but why nothing is weighted.

    Raises
    ------
    RequestError
        If it is no name, or the original has no such column.
    DataError
        If its values are no weights.
    """
    if column is not None:
        return _read(both, column)
    by_role = both.of_role(Role.WEIGHT)
    if not by_role:
        return None
    try:
        return _read(both, by_role[0])
    except DataError as error:
        reason = f"{error.place}: {error.rule}"
        return Weights(column=by_role[0], original=np.empty(0), protected=None, reason=reason)


def _read(both: Opened, column: str) -> Weights:
    if not isinstance(column, str):
        raise RequestError("weights", "it is the name of a column", "pass weights='WEIGHT'")
    check_columns(both.original, (column,), "original")
    own = _of_original(both.original, column)
    if column in both.protected.names:
        after = _numbers(both.protected, column)
        is_usable = after is not None and bool((after >= 0).all()) and bool(after.any())
        reason = f"its own {column} is no number of 0 or more for every record"
        return Weights(
            column=column,
            original=own,
            protected=after if is_usable else None,
            are_its_own=is_usable,
            reason="" if is_usable else reason,
        )
    reason = f"it has no {column}, and its records are in no common order with the original's"
    return Weights(
        column=column,
        original=own,
        protected=own if both.paired else None,
        reason="" if both.paired else reason,
    )


def _of_original(table: Table, column: str) -> NDArray[np.float64]:
    """Read weights, each a number of 0 or more, not all 0."""
    own = _numbers(table, column)
    place = f"weights '{column}'"
    if own is None:
        found = table.kind(column).value
        raise DataError(place, f"they are numbers, and the original has: {found}", REMEDY)
    missing, negative = np.isnan(own), own < 0
    for wrong, rule in (
        (missing, "every record needs a weight, and they have none"),
        (negative, "a weight is 0 or more"),
    ):
        if wrong.any():
            raise DataError(
                f"{place}, {wrong.sum()} records, the first is record {wrong.argmax() + 1}",
                rule,
                "mend them, with 0 for a record that stands for nobody, or leave them out of both "
                "tables",
            )
    if not own.any():
        raise DataError(place, "they are all 0", REMEDY)
    return own


def _numbers(table: Table, column: str) -> NDArray[np.float64] | None:
    """Read a column as numbers, NaN where missing; None where it holds others than numbers."""
    if table.kind(column) not in {Kind.WHOLE, Kind.DECIMAL}:
        return None
    values = numbers_of(table, column)
    return np.where(np.isinf(values), np.nan, values)
