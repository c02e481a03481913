"""Columns that are put on their grid anew wherever they are looked at, and not kept on it.

What is on the disk already need not be there twice: to round a value takes less time than to
write it.
"""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from microveil.schema import Attribute
from microveil.table.gridding import (
    Found,
    GridColumn,
    checked,
    numbers_of_attribute,
    refuse,
    units_again,
)
from microveil.table.keeping import IN_MEMORY, Room, pieces
from microveil.table.protocol import Table
from microveil.table.restore import Numbers

__all__ = ["RoundedAnew", "on_grid_anew"]

Whole = NDArray[np.int64]


class RoundedAnew:
    """Values in whole grid units that stand in a table as they were read: (n_records,).

    As an array is, they are looked at by places; each look rounds them, to the same.

    Parameters
    ----------
    of_places : callable
        Rounds the values of places that follow each other.
    n_records : int
        How many there are.
    least, greatest : int
        Of all of them.

    Examples
    --------
    >>> cents = np.array([0.25, 0.1, 0.12])
    >>> values = RoundedAnew(lambda places: np.rint(cents[places] * 100).astype(int), 3, 10, 25)
    >>> values[1:], int(values[0]), values.max(), np.asarray(values)
    (array([10, 12]), 25, 25, array([25, 10, 12]))
    """

    def __init__(
        self, of_places: Callable[[slice], Whole], n_records: int, least: int, greatest: int
    ) -> None:
        self._of_places, self._n_records = of_places, n_records
        self._least, self._greatest = least, greatest

    def __len__(self) -> int:
        return self._n_records

    def __getitem__(self, places: Any) -> Any:
        if isinstance(places, slice) and places.step is None:
            start, stop, _ = places.indices(self._n_records)
            return self._of_places(slice(start, max(start, stop)))
        if isinstance(places, int):
            place = range(self._n_records)[places]
            return self._of_places(slice(place, place + 1))[0]
        return np.asarray(self)[places]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("values that are rounded anew are always a copy")
        values = np.empty(self._n_records, dtype=np.int64)
        for piece in pieces(self._n_records):
            values[piece] = self._of_places(piece)
        return values if dtype is None else values.astype(dtype, copy=False)

    def min(self) -> int:
        """Return the least, which is known."""
        return self._least

    def max(self) -> int:
        """Return the greatest, which is known."""
        return self._greatest


def on_grid_anew(
    table: Table,
    attribute: Attribute,
    *,
    clamp: bool,
    may_be_hidden: bool,
    room: Room = IN_MEMORY,
) -> GridColumn | None:
    """Check what `on_grid` checks, of a column that stays in its table and is rounded anew.

    Parameters
    ----------
    table : Table
        Its column must not change as long as the values are looked at.
    attribute, clamp, may_be_hidden
        See `on_grid`.
    room : Room
        Gives pages back, after each piece that was looked at.

    Returns
    -------
    GridColumn or None
        None where a record has no value, or an infinite one: which they are must be kept.

    Raises
    ------
    DataError
        On values outside the bounds, or too large.

    Notes
    -----
    O(n) time, for each look at the values too; the memory of a piece.
    """

    def numbers(places: slice) -> Numbers:
        return numbers_of_attribute(table.part(places), attribute, shared=True)

    def rounded(places: slice) -> Whole:
        if clamp:
            return checked(numbers(places), attribute, clamp=True).values
        return units_again(numbers(places), attribute)

    found = Found()
    ends: list[int] = []
    for piece in pieces(table.n_records):
        own = checked(numbers(piece), attribute, clamp=clamp)
        if own.missing is not None or own.ends is None:
            return None
        found = found.and_then(own.found, piece.start)
        ends += own.ends
        room.relieve()
    refuse(attribute, found, keep_missing=True, is_empty=False, may_be_hidden=may_be_hidden)
    values = RoundedAnew(rounded, table.n_records, min(ends), max(ends))
    return GridColumn(attribute=attribute, values=cast("Whole", values), missing=None)
