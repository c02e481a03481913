"""Columns as plain arrays, for whoever compares tables: numbers with NaN, or text."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.table.protocol import Table

__all__ = ["Column", "column_of", "numbers_of"]

Column = NDArray[Any]


def column_of(table: Table, name: str) -> Column:
    """Return a column as numbers, NaN where missing, or as text, empty where missing.

    Raises
    ------
    DataError
        If it is neither.

    Examples
    --------
    >>> from microveil.table import open_table
    >>> column_of(open_table({"SEX": np.array(["f", None, "m"])}), "SEX")
    array(['f', '', 'm'], dtype='<U1')
    """
    return numbers_of(table, name) if table.kind(name).is_numeric else table.words(name)


def numbers_of(table: Table, name: str) -> NDArray[np.float64]:
    """Return a numeric column as float64, NaN where missing.

    Raises
    ------
    DataError
        If it is not numeric.
    """
    numbers = table.numbers(name)
    values = numbers.values.astype(np.float64)
    if numbers.missing is not None:
        values[numbers.missing] = np.nan
    return values
