"""Values in ascending order: each of them, or of few numbers how often each occurs."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from microveil.table.sorting import Counted, counted, sort

__all__ = ["InOrder", "in_order"]


@dataclass(frozen=True, kw_only=True, eq=False)
class InOrder:
    """Values in ascending order, none missing.

    Attributes
    ----------
    values : float64 array
        All of them, or where counted each different one once.
    counts : int64 array or None
        How often each of the different ones occurs; None where all are there.
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        """Return how many values there are."""
        return len(self.values) if self.counts is None else int(self.ends[-1])

    @cached_property
    def ends(self) -> NDArray[np.int64]:
        """How many are at or below each different value, of those that were counted."""
        counts = np.ones(len(self.values), dtype=np.int64) if self.counts is None else self.counts
        ends: NDArray[np.int64] = np.cumsum(counts)
        return ends

    @property
    def different(self) -> NDArray[np.int64]:
        """How often each different value occurs."""
        if self.counts is not None:
            return self.counts
        is_first = np.append(True, self.values[1:] != self.values[:-1])[: len(self.values)]
        return np.diff(np.flatnonzero(is_first), append=len(self.values))

    def at(self, places: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values at places, from 0 on."""
        if self.counts is not None:
            places = np.searchsorted(self.ends, places, side="right")
        found: NDArray[np.float64] = self.values[places]
        return found

    def up_to(self, ends: NDArray[np.float64]) -> NDArray[np.int64]:
        """Count the values at or below each of some ends."""
        places = np.searchsorted(self.values, ends, side="right")
        return places if self.counts is None else np.append(0, self.ends)[places]

    def spread(self) -> "InOrder":
        """Return all values, also those that are equal."""
        if self.counts is None:
            return self
        return InOrder(values=np.repeat(self.values, self.counts))


def in_order(values: NDArray[np.float64], few: Counted | None = None) -> InOrder:
    """Put values in ascending order, NaN left out.

    Parameters
    ----------
    values : ndarray of float64, shape (n_values,)
        They are left as they are.
    few : Counted, optional
        What `counted` says of them, where that is known.

    Returns
    -------
    InOrder
        Counted where few numbers can occur, see `counted`.

    Notes
    -----
    O(n) time, 25 ns a value, and as much memory again; of few numbers 3 ns, and none.

    Examples
    --------
    >>> found = in_order(np.repeat([7.0, 2.0, np.nan], 1000))
    >>> len(found), found.values, found.counts
    (2000, array([2., 7.]), array([1000, 1000]))
    >>> in_order(np.array([7.5, np.nan, 2.0])).values
    array([2. , 7.5])
    """
    few = few or counted(values)
    if few is not None:
        occurs = few.counts > 0
        return InOrder(values=few.values[occurs], counts=few.counts[occurs])
    present = values[~np.isnan(values)]
    sort(present)
    return InOrder(values=present)
