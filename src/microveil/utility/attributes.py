"""Attributes of a table as the models of this folder take them: numbers or text, by name."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.errors import DataError
from microveil.utility.moments import LARGEST_VALUE

__all__ = ["Attributes", "checked_attributes", "complete_records", "indicators"]

Attributes = dict[str, NDArray[Any]]


def checked_attributes(table: Mapping[str, ArrayLike], place: str) -> Attributes:
    """Return columns as numbers or as text.

    Parameters
    ----------
    table : mapping of array_like, each of shape (n_records,)
        Columns by name: numbers (NaN or None is a missing cell), truth values, or text
        (empty or None is a missing cell).
    place : str
        What to call the table in an error.

    Returns
    -------
    dict of ndarray, each of shape (n_records,)
        float64, or text.

    Raises
    ------
    DataError
        If there is no column or no record, columns differ in length, are neither numbers
        nor text, or hold a number beyond 1e140 in size.

    Examples
    --------
    >>> checked_attributes({"AGE": [31, None], "SEX": ["f", "m"]}, "original data")
    {'AGE': array([31., nan]), 'SEX': array(['f', 'm'], dtype='<U1')}
    """
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
    """Say which records have no missing cell.

    Parameters
    ----------
    columns : dict of ndarray, each of shape (n_records,)
        As `checked_attributes` returns them.

    Returns
    -------
    ndarray of bool, shape (n_records,)

    Examples
    --------
    >>> complete_records(checked_attributes({"A": [1, None, 3], "B": ["x", "y", ""]}, "data"))
    array([ True, False, False])
    """
    present = [
        column != "" if column.dtype.kind == "U" else ~np.isnan(column)
        for column in columns.values()
    ]
    complete: NDArray[np.bool_] = np.logical_and.reduce(present)
    return complete


def indicators(column: NDArray[Any], categories: ArrayLike) -> NDArray[np.float64]:
    """Return a column of 0 and 1 for every category.

    Parameters
    ----------
    column : ndarray, shape (n_records,)
        Text or numbers.
    categories : array_like, shape (n_categories,)

    Returns
    -------
    ndarray of float64, shape (n_records, n_categories)

    Examples
    --------
    >>> indicators(np.array(["f", "m", "f"]), ["f", "m"])
    array([[1., 0.],
           [0., 1.],
           [1., 0.]])
    """
    equal: NDArray[np.bool_] = column[:, np.newaxis] == np.asarray(categories)
    return equal.astype(np.float64)
