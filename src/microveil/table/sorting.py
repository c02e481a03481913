"""Values in order: large arrays by digits, or counted where few numbers can occur, in place."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import counting_sort
from microveil.kernels import sorting as kernel

__all__ = ["Counted", "counted", "sort", "sort_words", "sorted_values"]

# From so many on digits are faster than numpy's sort, the less so where that has instructions
# of its own for it. Up to so many values as many more are held, of more a sixteenth.
MANY, AS_MANY_MORE, PART = 2_000, 2_000_000, 16
WORD = 64
# Floats are counted where they are multiples of one of these parts, at most so many different ones
# and fewer than values by so much; some are looked at first.
PARTS_OF_ONE, MOST_COUNTED, FEWER, SOME = (1.0, 10.0, 100.0, 1000.0), 1 << 20, 4, 64
# float64 tells all whole numbers apart up to here.
LARGEST_WHOLE = 1 << 53


def sort(values: NDArray[Any]) -> None:
    """Put values in ascending order, in place, as `numpy.ndarray.sort` does.

    Parameters
    ----------
    values : ndarray (n,)
        Of any kind that numpy sorts; float64 and int64, contiguous, are sorted by digits. What is
        no number comes last.

    Notes
    -----
    O(n) time for these: 20 ns a value, of few whole or decimal numbers 4. Beside them a sixteenth
    of their memory, or as much again where that is below 16 MB.

    Examples
    --------
    >>> values = np.array([2.5, -0.5, np.nan, -np.inf])
    >>> sort(values)
    >>> values
    array([-inf, -0.5,  2.5,  nan])
    """
    is_word = values.dtype in (np.float64, np.int64) and values.flags.c_contiguous
    if len(values) < MANY or not is_word or not values.dtype.isnative:
        values.sort()
        return
    words = values.view(np.uint64)
    is_float = values.dtype == np.float64
    if is_float and _sorted_by_counting(values):
        return
    if is_float:
        kernel.words_of_floats(words)
    else:
        kernel.flip_sign(words)
    n_other = len(words) if len(words) <= AS_MANY_MORE else len(words) // PART
    kernel.sort(words, np.empty(n_other, dtype=np.uint64), 0, WORD)
    if is_float:
        kernel.floats_of_words(words)
    else:
        kernel.flip_sign(words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counted:
    """How often each of a few numbers occurs: the multiples of a part of one, in ascending order.

    Attributes
    ----------
    per_unit : float
        How many of the parts make one.
    first : int
        The first multiple.
    counts : int64 array (n_multiples,)
        Of each multiple, from the first on.
    """

    per_unit: float
    first: int
    counts: NDArray[np.int64]

    @property
    def values(self) -> NDArray[np.float64]:
        """The multiples, also those that do not occur."""
        multiples = np.arange(self.first, self.first + len(self.counts), dtype=np.float64)
        values: NDArray[np.float64] = multiples / self.per_unit
        return values

    @property
    def mean_and_variance(self) -> tuple[float, float]:
        """The mean, and the sample variance (n - 1); NaN of a single value."""
        n, values = int(self.counts.sum()), self.values
        mean = float(values[0] if len(values) == 1 else self.counts @ values / n)
        squares = float(self.counts @ (values - mean) ** 2)
        return mean, squares / (n - 1) if n > 1 else np.nan

    def looked_up(
        self, values: NDArray[np.float64], table: NDArray[Any], missing: float
    ) -> NDArray[Any]:
        """Return what a table has of the multiple that each value is; NaN gets what is missing."""
        found = np.empty(len(values), dtype=table.dtype)
        counting_sort.look_up(values, self.per_unit, self.first, table, missing, found)
        return found


def counted(values: NDArray[np.float64]) -> Counted | None:
    """Count values where few numbers can occur; None of others.

    Parameters
    ----------
    values : ndarray of float64, shape (n_values,)
        NaN is left out.

    Returns
    -------
    Counted or None
        Of whole numbers, or decimals of one to three digits, in a range of less than a fourth of
        the number of values, and of at most 2^20; none of them negative zero. O(n) time, 3 ns a
        value.

    Examples
    --------
    >>> ages = np.repeat([31.0, 33.0, np.nan], [2000, 4000, 1000])
    >>> found = counted(ages)
    >>> found.first, found.counts
    (31, array([2000,    0, 4000]))
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
    if not -LARGEST_WHOLE <= lowest <= highest <= LARGEST_WHOLE:
        return None
    first, last = round(lowest), round(highest)
    if last - first >= min(MOST_COUNTED, len(values) // FEWER):
        return None
    counts = np.zeros(last - first + 1, dtype=np.int64)
    if not counting_sort.count(values, per_unit, first, counts):
        return None
    return Counted(per_unit=per_unit, first=first, counts=counts)


def _sorted_by_counting(values: NDArray[np.float64]) -> bool:
    """Sort values by counting, where few numbers can occur; else leave them and say no."""
    found = counted(values)
    if found is None or found.counts.sum() < len(values):
        return False
    counting_sort.spread_floats(found.counts, found.per_unit, found.first, values)
    return True


def sorted_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return a copy in ascending order, as `numpy.sort` does.

    >>> sorted_values(np.array([3, 1, 2]))
    array([1, 2, 3])
    """
    copy = values.copy()
    sort(copy)
    return copy


def sort_words(words: NDArray[np.uint64], low: int, high: int) -> None:
    """Sort words, in place, by their bits from ``low`` up to, and without, ``high``.

    Words whose bits are equal keep their order. As many words are held beside them.

    >>> words = np.array([0x13, 0x21, 0x11, 0x22], dtype=np.uint64)
    >>> sort_words(words, 4, 8)
    >>> [hex(word) for word in words]
    ['0x13', '0x11', '0x21', '0x22']
    """
    kernel.sort(words, np.empty_like(words), low, high)
