"""The order that records are released in, and columns put into it."""

from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["Order", "OrderInMemory"]

Value = TypeVar("Value")


class Order(Protocol):
    """An order of the records of a table, and how columns are put into it."""

    @property
    def positions(self) -> NDArray[np.integer[Any]]:
        """Of each record in this order its place in the table, each once: (n_records,)."""
        ...

    def arranged(self, column: Value) -> Value:
        """Return an array, or a column of polars, of the table with its cells in this order."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OrderInMemory:
    """An order that columns are put into at once.

    Attributes
    ----------
    positions : integer array (n_records,)
        Of each record in this order its place in the table.

    Examples
    --------
    >>> OrderInMemory(positions=np.array([2, 0, 1])).arranged(np.array([5, 6, 7]))
    array([7, 5, 6])
    """

    positions: NDArray[np.integer[Any]]

    def arranged(self, column: Value) -> Value:
        """Take the cells from where they are: O(n), as much memory as the column again."""
        if isinstance(column, np.ndarray):
            return cast("Value", column[self.positions])
        return cast("Value", cast("Any", column).gather(self.positions))
