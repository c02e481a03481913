"""Cells of any library as numbers, words and codes, and why they are none."""

import math
from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.schema import Cells
from microveil.table.decimals import MOST_DIGITS
from microveil.table.numeric_text import numeric_look_of
from microveil.table.protocol import Table
from microveil.table.restore import Numbers

__all__ = [
    "are_whole_days",
    "as_words",
    "beginning",
    "coded",
    "coded_words",
    "days_of",
    "floats",
    "is_empty",
    "nested",
    "not_numeric",
    "not_text",
    "numbered_alike",
    "spread",
]

# Words that are looked at together.
SOME = 1 << 16


def not_numeric(table: Table, name: str) -> DataError:
    """Return the error about a column that holds no numbers."""
    look = numeric_look_of(table, name)
    if look is not None:
        return DataError(
            f"attribute '{name}'",
            "it must hold numbers, true and false, or dates",
            f"{look}; or leave it out, or list its categories (categories=, --categories)",
        )
    return DataError(
        f"attribute '{name}'",
        "it must hold numbers, true and false, or dates; text, moments with a time of day, nested "
        f"values, codes with leading zeros and decimals of more than {MOST_DIGITS} digits are "
        "none of these",
        "leave it out or convert it: to numbers, moments to dates",
    )


def not_text(name: str) -> DataError:
    """Return the error about a column that holds no text."""
    return DataError(f"attribute '{name}'", "categories must be text", "convert the column to text")


def nested(name: str) -> DataError:
    """Return the error about values that may carry more than they show."""
    return DataError(
        f"column '{name}'",
        "lists and structures cannot be kept, nor can other objects than text, numbers, dates and "
        "true or false, as they may carry more than they show",
        "take them apart into plain columns or write them as text first, or leave the column out",
    )


def _is_missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float) and math.isnan(entry))


def is_empty(entry: Any) -> bool:
    """Whether a cell is missing, or text of spaces alone."""
    return _is_missing(entry) or (isinstance(entry, str) and not entry.strip())


def numbered_alike(entries: Iterable[Any], name: str) -> NDArray[np.int64]:
    """Return numbers of values of any kind, by their first record."""
    first: dict[Any, int] = {}
    try:
        return np.array([first.setdefault(e, len(first)) for e in entries], dtype=np.int64)
    except TypeError:
        raise DataError(
            f"column '{name}'",
            "lists and structures do not say which records are one unit's",
            "name a column of numbers or text",
        ) from None


def as_words(entries: Iterable[Any]) -> NDArray[np.str_]:
    """Return values of any kind as text, missing ones as empty text."""
    return np.array(["" if _is_missing(e) else str(e) for e in entries], dtype=np.str_)


def counted_words(words: NDArray[np.str_]) -> Counter[str]:
    """Count how often each word occurs, but for the empty one.

    >>> counted_words(np.array(["b", "", "b"]))
    Counter({'b': 2})
    """
    found: Counter[str] = Counter()
    # Some at a time: they are sorted, and a word takes as much as the longest.
    for start in range(0, len(words), SOME):
        seen, counts = np.unique(words[start : start + SOME], return_counts=True)
        found.update(dict(zip(seen.tolist(), counts.tolist(), strict=True)))
    found.pop("", None)
    return found


def beginning(cells: Iterable[Any], signs: tuple[str, ...]) -> set[str]:
    """Return the texts that begin with one of some signs."""
    return {cell for cell in cells if isinstance(cell, str) and cell.startswith(signs)}


def coded(
    words: NDArray[np.str_], missing: NDArray[np.bool_] | None, categories: tuple[str, ...]
) -> Numbers:
    """Return the places of words in a list, -1 of those that are not in it."""
    seen, where = np.unique(words, return_inverse=True)
    position = {category: place for place, category in enumerate(categories)}
    codes = np.array([position.get(word, -1) for word in seen.tolist()], dtype=np.int64)
    return Numbers(values=codes[where], missing=missing, categories=categories)


def coded_words(
    words: NDArray[np.str_], most: int
) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
    """Return words as positions in the list of the different ones; None where these are too many.

    >>> coded_words(np.array(["b", "a", "b"]), 2)
    (array([1, 0, 1], dtype=int32), ('a', 'b'))
    """
    seen: set[str] = set()
    # Some at a time: as objects of the interpreter words take several times their memory.
    for start in range(0, len(words), SOME):
        seen.update(words[start : start + SOME].tolist())
    if len(seen) > most:
        return None
    categories = sorted(seen)
    return np.searchsorted(categories, words).astype(np.int32), tuple(categories)


def floats(array: NDArray[Any]) -> Numbers:
    """Return floats, of which those that are no number are missing."""
    values = np.ascontiguousarray(array, dtype=np.float64)
    # The least is no number where one is none: found in a third of the time of a look at each.
    lacks_some = len(values) and np.isnan(values.min())
    return Numbers(values=values, missing=np.isnan(values) if lacks_some else None)


def are_whole_days(array: NDArray[Any]) -> bool:
    """Whether moments are all at midnight: then they are dates."""
    if array.dtype.kind != "M":
        return False
    days = array.astype("datetime64[D]")
    return bool(np.all((days == array) | np.isnat(array)))


def days_of(array: NDArray[Any]) -> Numbers:
    """Return dates as days since 1970."""
    days = array.astype("datetime64[D]")
    missing = np.isnat(days)
    values = np.where(missing, 0, days.astype(np.int64))
    return Numbers(values=values, missing=missing if missing.any() else None)


def spread(present: Cells, missing: NDArray[np.bool_] | None) -> Cells:
    """Put values back among missing ones, which get 0."""
    if missing is None:
        return present
    values = np.zeros(len(missing), dtype=present.dtype)
    values[~missing] = present
    return values
