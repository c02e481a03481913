"""Who keeps what is made of a table, and makes a column at once or piece by piece."""

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar

__all__ = ["IN_MEMORY", "PIECE", "InMemory", "Keeper", "pieces"]

Value = TypeVar("Value")
# Records that are read, rounded, restored or put in order at a time where a column is not held.
PIECE = 1 << 20


class Keeper(Protocol):
    """Keeps columns of a table until they are needed, wherever that is."""

    def kept(self, value: Value) -> Value:
        """Return a column, or what holds some, as it is kept."""
        ...

    def joined(self, n_records: int, made: Callable[[slice], Value]) -> Value:
        """Return a column of so many records, made of some of them after others, as it is kept."""
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


IN_MEMORY = InMemory()


def pieces(n_records: int) -> Iterator[slice]:
    """Cut records into runs of `PIECE`; of none there is one, which is empty.

    >>> [(piece.start, piece.stop) for piece in pieces(PIECE + 2)]
    [(0, 1048576), (1048576, 1048578)]
    """
    for start in range(0, max(n_records, 1), PIECE):
        yield slice(start, min(start + PIECE, n_records))
