"""Values in order: large arrays by digits, in place."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import sorting as kernel

__all__ = ["sort", "sort_words", "sorted_values"]

# From so many on digits are faster than numpy's sort, the less so where that has instructions
# of its own for it. Up to so many values as many more are held, of more a sixteenth.
MANY, AS_MANY_MORE, PART = 2_000, 2_000_000, 16
WORD = 64


def sort(values: NDArray[Any]) -> None:
    """Put values in ascending order, in place, as `numpy.ndarray.sort` does.

    Parameters
    ----------
    values : ndarray (n,)
        Of any kind that numpy sorts; float64 and int64, contiguous, are sorted by digits. What is
        no number comes last.

    Notes
    -----
    O(n) time for these: 20 ns a value. Beside them a sixteenth of their memory, or as much again
    where that is below 16 MB.

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
