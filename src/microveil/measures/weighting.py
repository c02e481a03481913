"""By which weights an assessment weighs the records of the original, and of the release."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError
from microveil.schema import Kind, Role
from microveil.table import Table, check_columns, numbers_of
from microveil.utility.weighted import Weights

__all__ = ["read_weights", "weights_by_role"]

REMEDY = "name a column that says of every record how many people it stands for"


def read_weights(original: Table, protected: Table, column: str, *, paired: bool) -> Weights:
    """Read the weights of two tables.

    Parameters
    ----------
    original, protected : Table
    column : str
    paired : bool
        Whether the records of both are in the same order: a release without weights of its own
        is then weighted by the original's.

    Raises
    ------
    RequestError
        If it is no name, or the original has no such column.
    DataError
        If its values are no weights. Those of a release that are none, as noise can leave them,
        are no error: the release is then not weighted.
    """
    if not isinstance(column, str):
        raise RequestError("weights", "it is the name of a column", "pass weights='WEIGHT'")
    check_columns(original, (column,), "original")
    own = _numbers(original, column)
    place = f"weights '{column}'"
    if own is None:
        found = original.kind(column).value
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
    if column in protected.names:
        after = _numbers(protected, column)
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
        protected=own if paired else None,
        reason="" if paired else reason,
    )


def weights_by_role(
    original: Table, protected: Table, roles: Mapping[str, Role], *, paired: bool
) -> Weights | None:
    """Read the weights that a recipe says there are, the first where it names several.

    Nobody asked for them in this assessment: values that are no weights are no error here, but why
    nothing is weighted. None where the recipe names none that the original has.
    """
    column = next((name for name in original.names if roles.get(name) is Role.WEIGHT), None)
    if column is None:
        return None
    try:
        return read_weights(original, protected, column, paired=paired)
    except DataError as error:
        reason = f"{error.place}: {error.rule}"
        return Weights(column=column, original=np.empty(0), protected=None, reason=reason)


def _numbers(table: Table, column: str) -> NDArray[np.float64] | None:
    """Read a column as numbers, NaN where missing; None where it holds others than numbers."""
    if table.kind(column) not in {Kind.WHOLE, Kind.DECIMAL}:
        return None
    values = numbers_of(table, column)
    return np.where(np.isinf(values), np.nan, values)
