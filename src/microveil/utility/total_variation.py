"""Total variation: how far the shares of levels moved, of each attribute and of each pair.

The levels of a number are the bins between the original's deciles, equal deciles merged; those of
text its categories. A missing cell is a level like another. Between two tables of shares p and q
the total variation is half the sum of |p - q|: the share of records that would have to move.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import distributions
from microveil.table.blocks import blocks_of, summed
from microveil.table.sorting import sort
from microveil.table.threads import in_threads
from microveil.utility.goodness_of_fit import decile_ends
from microveil.utility.undefined import none_if_undefined

__all__ = ["Levels", "TotalVariation", "decile_levels", "total_variation"]

# Which level each record has, counted from 0.
Levels = NDArray[np.uint16]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TotalVariation:
    """Total variation of the attributes and of their pairs, 0 (alike) to 1 (apart).

    Parameters
    ----------
    names : tuple of str
        The attributes.
    of_attributes : ndarray of float64, shape (n_attributes,)
        Of each attribute's levels; read-only.
    of_pairs : ndarray of float64, shape (n_attributes, n_attributes)
        Of the table of two attributes' levels; NaN on the diagonal; read-only.
    """

    names: tuple[str, ...]
    of_attributes: NDArray[np.float64]
    of_pairs: NDArray[np.float64]

    @property
    def by_name(self) -> dict[str, float]:
        """The total variation of each attribute, by name."""
        return dict(zip(self.names, self.of_attributes.tolist(), strict=True))

    @property
    def one_way(self) -> float:
        """The mean over all attributes."""
        return float(self.of_attributes.mean())

    @property
    def two_way(self) -> float:
        """The mean over all pairs of attributes; NaN where there is one attribute alone."""
        pairs = self.of_pairs[np.triu_indices(len(self.names), k=1)]
        return float(pairs.mean()) if len(pairs) else float("nan")

    @property
    def worst_pair(self) -> tuple[str, str, float] | None:
        """The pair whose table moved most, and how far; None where there is no pair."""
        rows, columns = np.triu_indices(len(self.names), k=1)
        if not len(rows):
            return None
        worst = int(np.argmax(self.of_pairs[rows, columns]))
        a, b = rows[worst], columns[worst]
        return self.names[a], self.names[b], float(self.of_pairs[a, b])

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON knows them; what is undefined is None."""
        worst = self.worst_pair
        return {
            "attributes": self.by_name,
            "one_way": self.one_way,
            "two_way": none_if_undefined(self.two_way),
            "worst_pair": worst and {"attributes": list(worst[:2]), "distance": worst[2]},
        }


def decile_levels(
    original: NDArray[np.float64], protected: NDArray[np.float64]
) -> tuple[Levels, Levels]:
    """Give each value of a number its bin between the original's deciles.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records,)
        NaN is a missing cell.

    Returns
    -------
    ndarray of uint16, ndarray of uint16
        A bin reaches from above one of `decile_ends` up to the next, that included; the first is
        open below, the last above. A missing cell has a level of its own, the last.

    Examples
    --------
    >>> decile_levels(np.array([1.0, 1.0, 2.0, 9.0]), np.array([0.0, 1.5, np.nan]))
    (array([0, 0, 1, 2], dtype=uint16), array([0, 1, 4], dtype=uint16))
    """
    in_order = original[~np.isnan(original)]
    sort(in_order)
    ends = decile_ends(in_order)
    del in_order

    def levels(values: NDArray[np.float64]) -> Levels:
        levels = np.empty(len(values), dtype=np.uint16)
        for block in blocks_of(len(values)):
            some = values[block]
            found = np.searchsorted(ends, some, side="left")
            levels[block] = np.where(np.isnan(some), len(ends) + 1, found)
        return levels

    return levels(original), levels(protected)


def total_variation(
    original: Mapping[str, Levels], protected: Mapping[str, Levels]
) -> TotalVariation:
    """Compare the shares of levels in two tables.

    Parameters
    ----------
    original, protected : mapping of ndarray of uint16, each of shape (n_records,)
        The level of each record by attribute, one or more; as many attributes in both, but not
        necessarily as many records.

    Returns
    -------
    TotalVariation

    Notes
    -----
    O(n) time for each pair of attributes, pairs side by side; memory of two tables of counts for
    each pair at work.

    Examples
    --------
    >>> before = {
    ...     "SEX": np.array([0, 0, 1, 1], np.uint16),
    ...     "AGE": np.array([0, 0, 1, 1], np.uint16),
    ... }
    >>> after = {"SEX": np.array([0, 1], np.uint16), "AGE": np.array([1, 0], np.uint16)}
    >>> found = total_variation(before, after)
    >>> found.by_name, found.one_way, found.two_way
    ({'SEX': 0.0, 'AGE': 0.0}, 0.0, 1.0)
    """
    names = tuple(original)
    sides = [[np.ascontiguousarray(side[name]) for name in names] for side in (original, protected)]
    sizes = [1 + max(int(side[a].max()) for side in sides) for a in range(len(names))]
    of_attributes = np.empty(len(names))
    of_pairs = np.full((len(names), len(names)), np.nan)

    def alone(a: int) -> None:
        of_attributes[a] = _distance(*(_counts(side[a], sizes[a]) for side in sides))

    def together(pair: tuple[int, int]) -> None:
        a, b = pair
        counts = np.zeros((2, sizes[a], sizes[b]), dtype=np.int64)
        for side, counted in zip(sides, counts, strict=True):
            distributions.count_pairs(side[a], side[b], counted)
        of_pairs[a, b] = of_pairs[b, a] = _distance(*counts)

    n_values = sum(len(side) for side in sides[0])
    in_threads(alone, range(len(names)), n_values)
    in_threads(together, list(combinations(range(len(names)), 2)), n_values)
    for array in (of_attributes, of_pairs):
        array.setflags(write=False)
    return TotalVariation(names=names, of_attributes=of_attributes, of_pairs=of_pairs)


def _counts(levels: Levels, size: int) -> NDArray[np.int64]:
    """Count levels, some records at a time: numpy counts words of 64 bits."""
    return summed([np.bincount(levels[block], minlength=size) for block in blocks_of(len(levels))])


def _distance(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Return half the sum of the differences of shares."""
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)
