"""Arrays that a thread fills for one column after another."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Empty", "WorkingArrays"]

# Makes an array of so many values, of a type; what it holds is of no meaning.
Empty = Callable[[int, "np.dtype[Any] | type"], NDArray[Any]]


class WorkingArrays(threading.local):
    """Arrays as long as a column, which are the thread's again for the next one.

    The system clears memory before a process gets it, which takes as long as to sort a part of the
    column: large arrays that are given back and taken anew for each column are cleared each time.

    Examples
    --------
    >>> working = WorkingArrays()
    >>> working.keep()
    >>> first = working.anew()(1000, np.int64)
    >>> again = working.anew()(500, np.int32)
    >>> np.shares_memory(first, again)
    True
    """

    def __init__(self) -> None:
        self._held: list[NDArray[np.uint8]] | None = None

    def keep(self) -> None:
        """Keep this thread's arrays from now on, until it ends or lets go of them."""
        if self._held is None:
            self._held = []

    def let_go(self) -> None:
        """Keep none in this thread any more."""
        self._held = None

    def anew(self) -> Empty:
        """Return what makes arrays for a column: those of the last one are of no use any more.

        Where none are kept, they are like any others.
        """
        return np.empty if self._held is None else _Places(self._held)


class _Places:
    """Hands out arrays in the places of those handed out before, one after the other."""

    def __init__(self, held: list[NDArray[np.uint8]]) -> None:
        self._held, self._next = held, 0

    def __call__(self, n_values: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        size, place = n_values * np.dtype(dtype).itemsize, self._next
        self._next += 1
        if place == len(self._held):
            self._held.append(np.empty(size, dtype=np.uint8))
        elif len(self._held[place]) < size:
            self._held[place] = np.empty(size, dtype=np.uint8)
        return self._held[place][:size].view(dtype)
