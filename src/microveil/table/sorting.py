"""Values in ascending order, and their ranks; few different numbers are counted instead."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import ranking
from microveil.schema import WHOLE_IN_FLOATS

# Floats are counted where there are so many, and they are multiples of one of these parts, at most
# so many different ones and fewer than values by so much; some are looked at first.
MANY = 2_000
PARTS_OF_ONE, MOST_COUNTED, FEWER, SOME = (1.0, 10.0, 100.0, 1000.0), 1 << 20, 4, 64


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """How often each of a few numbers occurs: multiples of a part of one, in ascending order."""

    per_unit: float  # how many of the parts make one
    first: int  # the first multiple
    counts: NDArray[np.int64]  # of each multiple from the first on, also if it does not occur

    @property
    def values(self) -> NDArray[np.float64]:
        """The multiples, also those that do not occur."""
        multiples = np.arange(self.first, self.first + len(self.counts), dtype=np.float64)
        values: NDArray[np.float64] = multiples / self.per_unit
        return values

    def looked_up(
        self, values: NDArray[np.float64], table: NDArray[Any], missing: float
    ) -> NDArray[Any]:
        """Return what a table has of the multiple that each value is; NaN gets what is missing."""
        found = np.empty(len(values), dtype=table.dtype)
        ranking.look_up(values, self.per_unit, self.first, table, missing, found)
        return found


def counted(values: NDArray[np.float64]) -> Counted | None:
    """Count values, NaN left out, where few numbers can occur; None of others.

    That is of whole numbers, or decimals of one to three digits, in a range of less than a fourth
    of the number of values, and of at most 2^20; none of them negative zero. O(n), 3 ns a value.
    """
    if len(values) < MANY:
        return None
    some = values[:: max(1, len(values) // SOME)]
    some = some[~np.isnan(some)]
    with np.errstate(over="ignore"):
        fits = (np.array_equal(np.rint(some * parts) / parts, some) for parts in PARTS_OF_ONE)
        per_unit = next((parts for parts in PARTS_OF_ONE if next(fits)), None)
    if per_unit is None:
        return None
    lowest = float(np.fmin.reduce(values)) * per_unit
    highest = float(np.fmax.reduce(values)) * per_unit
    if not -WHOLE_IN_FLOATS <= lowest <= highest <= WHOLE_IN_FLOATS:
        return None
    first, last = round(lowest), round(highest)
    if last - first >= min(MOST_COUNTED, len(values) // FEWER):
        return None
    counts = np.zeros(last - first + 1, dtype=np.int64)
    if not ranking.count_multiples(values, per_unit, first, counts):
        return None
    return Counted(per_unit=per_unit, first=first, counts=counts)


@dataclass(frozen=True, kw_only=True, eq=False)
class InOrder:
    """Values in ascending order, none missing: all, or each once where it is counted too."""

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
    """Put values in ascending order, NaN left out; ``few`` is what `counted` says, where known."""
    few = few or counted(values)
    if few is not None:
        occurs = few.counts > 0
        return InOrder(values=few.values[occurs], counts=few.counts[occurs])
    present = values[~np.isnan(values)]
    present.sort()
    return InOrder(values=present)


def ranks_of(
    values: NDArray[np.float64], *, narrow: bool = False, few: Counted | None = None
) -> NDArray[Any]:
    """Return the ranks of values, none missing, from 1, equal ones by the average of theirs."""
    dtype = np.float32 if narrow and len(values) < 1 << 23 else np.float64
    values = np.ascontiguousarray(values, dtype=np.float64)
    few = few or counted(values)
    if few is not None:
        ends = np.cumsum(few.counts)
        return few.looked_up(values, (ends - (few.counts - 1) / 2).astype(dtype), np.nan)
    ranks = np.empty(len(values), dtype=dtype)
    ranking.average(values, np.argsort(values), ranks)
    return ranks


def numbers_in_order(values: NDArray[np.float64]) -> tuple[NDArray[np.int32], int]:
    """Give different values numbers in ascending order, from 0, -1 of NaN, and count them."""
    values = np.ascontiguousarray(values, dtype=np.float64)
    few = counted(values)
    if few is not None:
        occurs = few.counts > 0
        table = (np.cumsum(occurs) - 1).astype(np.int32)
        return few.looked_up(values, table, -1), int(occurs.sum())
    numbers = np.empty(len(values), dtype=np.int32)
    return numbers, ranking.number(values, np.argsort(values), numbers)
