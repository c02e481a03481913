"""Attributes of a table as models take them: numbers or text, by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError
from microveil.table.blocks import LARGEST_VALUE

__all__ = ["Attributes", "checked_attributes", "complete_records", "indicators"]

# By name, float64 (NaN is missing) or text ("" is).
Attributes = dict[str, NDArray[Any]]


def checked_attributes(table: Mapping[str, ArrayLike], place: str) -> Attributes:
    """Return columns of one length as numbers or as text; None is a missing cell."""
    columns = {name: _checked(values, f"{place}, '{name}'") for name, values in table.items()}
    lengths = {len(column) for column in columns.values()}
    if len(lengths) != 1 or lengths == {0}:
        raise DataError(
            place,
            "it needs at least one record and one attribute, and columns of one length",
            "pass arrays of shape (n_records,) by name",
        )
    return columns


def _checked(values: ArrayLike, place: str) -> NDArray[Any]:
    try:
        column = _typed(np.asarray(values))
    except (TypeError, ValueError):
        column = np.empty((0, 0))
    if column.ndim != 1:
        raise DataError(
            place, "a column must be numbers or text", "pass an array of shape (n_records,)"
        )
    if column.dtype.kind == "f" and np.any(np.abs(column) > LARGEST_VALUE):
        raise DataError(
            place,
            "values must be finite and at most 1e140 in size",
            "leave such records out, or mark the cells as missing",
        )
    return column


def _typed(column: NDArray[Any]) -> NDArray[Any]:
    """Return text as text and anything else as float64, if it can be."""
    if column.dtype.kind in "UT":
        return column.astype(np.str_)
    if column.dtype.kind not in "biufO":
        raise TypeError
    if column.dtype.kind == "O" and all(isinstance(v, str | None) for v in column.tolist()):
        return np.array([value or "" for value in column.tolist()], dtype=np.str_)
    return column.astype(np.float64)


def complete_records(columns: Attributes) -> NDArray[np.bool_]:
    """Say which records have no missing cell."""
    present = [
        column != "" if column.dtype.kind == "U" else ~np.isnan(column)
        for column in columns.values()
    ]
    complete: NDArray[np.bool_] = np.logical_and.reduce(present)
    return complete


def indicators(column: NDArray[Any], categories: ArrayLike) -> NDArray[np.float64]:
    """Return a column of 0 and 1 for every category."""
    equal: NDArray[np.bool_] = column[:, np.newaxis] == np.asarray(categories)
    return equal.astype(np.float64)
