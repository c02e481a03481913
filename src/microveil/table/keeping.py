"""Who keeps what is made of a table, and makes a column at once or piece by piece."""

from collections.abc import Callable, Iterator, Sequence, Sized
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BYTES",
    "IN_MEMORY",
    "PIECE",
    "Filling",
    "FillingInMemory",
    "InMemory",
    "Keeper",
    "Room",
    "made_by_size",
    "pieces",
]

Value = TypeVar("Value")
Item = TypeVar("Item")
# Records that are read, rounded, restored or put in order at a time where a column is not held.
PIECE = 1 << 19
# Fewer are of a column of long text, by about so many bytes; the first ones show how long it is.
BYTES, FIRST = 1 << 22, 1 << 10


class Keeper(Protocol):
    """Keeps columns of a table until they are needed, wherever that is."""

    def kept(self, value: Value) -> Value:
        """Return a column, or what holds some, as it is kept."""
        ...

    def joined(self, n_records: int, made: Callable[[slice], Value]) -> Value:
        """Return a column of so many records, made of some of them after others, as it is kept."""
        ...

    def seen_as(self, column: Value, values: NDArray[Any]) -> Value | None:
        """Return values as a column named and typed like another, where they are kept already.

        None where they are not, or would have to be copied.
        """
        ...

    def side_by_side(
        self, work: Callable[[Item], Value], items: Sequence[Item], n_values: int
    ) -> list[Value]:
        """Work on columns of so many values in all, as many at a time as there is room for."""
        ...


class Filling(Protocol):
    """An array that is being filled, some places after others; what is not filled is 0."""

    def write(self, start: int, values: NDArray[Any]) -> None:
        """Write values from a place on."""
        ...

    def read(self, places: slice) -> NDArray[Any]:
        """Return a copy of what is at places that follow each other."""
        ...

    def array(self) -> NDArray[Any]:
        """Return all of it: nothing is written any more."""
        ...


class Room(Protocol):
    """Makes arrays as long as a column."""

    def filling(self, n_values: int, dtype: "np.dtype[Any] | type") -> Filling:
        """Make an array to be filled."""
        ...

    def relieve(self) -> None:
        """Give memory back that is not needed, where there is such: called after each piece."""
        ...


class InMemory:
    """Keeps columns where they are, and makes each at once.

    Examples
    --------
    >>> IN_MEMORY.joined(3, lambda records: list(range(9))[records])
    [0, 1, 2]
    """

    def kept(self, value: Value) -> Value:
        """Return it."""
        return value

    def joined(self, n_records: int, made: Callable[[slice], Value]) -> Value:
        """Make all of it at once."""
        return made(slice(0, n_records))

    def seen_as(self, column: Value, values: NDArray[Any]) -> Value | None:
        """Return None: a column has memory of its own."""
        del column, values
        return None

    def side_by_side(
        self, work: Callable[[Item], Value], items: Sequence[Item], n_values: int
    ) -> list[Value]:
        """Work on one after the other."""
        del n_values
        return [work(item) for item in items]

    def filling(self, n_values: int, dtype: "np.dtype[Any] | type") -> "FillingInMemory":
        """Make an array in memory."""
        return FillingInMemory(n_values, dtype)

    def relieve(self) -> None:
        """Do nothing: what is held is needed."""


class FillingInMemory:
    """An array in memory that is being filled.

    Examples
    --------
    >>> filling = FillingInMemory(3, np.int64)
    >>> filling.write(1, np.array([5, 7]))
    >>> filling.array()
    array([0, 5, 7])
    """

    def __init__(self, n_values: int, dtype: "np.dtype[Any] | type") -> None:
        self._array: NDArray[Any] = np.zeros(n_values, dtype)

    def write(self, start: int, values: NDArray[Any]) -> None:
        """Write values from a place on."""
        self._array[start : start + len(values)] = values

    def read(self, places: slice) -> NDArray[Any]:
        """Return a copy."""
        return self._array[places].copy()

    def array(self) -> NDArray[Any]:
        """Return the array."""
        return self._array


IN_MEMORY = InMemory()


def pieces(n_records: int) -> Iterator[slice]:
    """Cut records into runs of `PIECE`; of none there is one, which is empty.

    >>> [(piece.start, piece.stop) for piece in pieces(PIECE + 2)]
    [(0, 524288), (524288, 524290)]
    """
    for start in range(0, max(n_records, 1), PIECE):
        yield slice(start, min(start + PIECE, n_records))


def _estimated(cells: Any) -> int:
    """Return the bytes that cells of polars take."""
    return int(cells.estimated_size())


Cells = TypeVar("Cells", bound=Sized)


def made_by_size(
    n_records: int,
    made: Callable[[slice], Cells],
    size: Callable[[Cells], int] = _estimated,
) -> Iterator[Cells]:
    """Make a column some records after others: at most `PIECE`, and of long text fewer.

    How many are next goes by what the last ones took: a piece is larger than about `BYTES` only
    where cells are longer than those before.

    Parameters
    ----------
    n_records : int
        Of none one piece is made, which is empty.
    made : callable
        Returns the cells of some records.
    size : callable
        Says how many bytes cells took as they were made; by default what they take.

    Examples
    --------
    >>> import polars
    >>> words = polars.Series(["a long word" * 50] * 60_000)
    >>> [len(piece) for piece in made_by_size(60_000, lambda records: words[records])]
    [1024, 4096, 7626, 7626, 7626, 7626, 7626, 7626, 7626, 1498]
    """
    start, length = 0, min(PIECE, FIRST)
    while True:
        some = made(slice(start, min(start + length, n_records)))
        yield some
        start += len(some)
        if start >= n_records:
            return
        each = max(1, size(some) // len(some))
        length = max(1, min(PIECE, 4 * length, BYTES // each))
