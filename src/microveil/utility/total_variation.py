"""Total variation: how far the shares of levels moved, of each attribute and of each pair.

The levels of a number are the bins between the original's deciles, equal deciles merged; those of
text its categories. A missing cell is a level like another. Between two tables of shares p and q
the total variation is half the sum of |p - q|: the share of records that would have to move.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import distributions
from microveil.table.blocks import blocks_of, summed
from microveil.table.sorting import in_order
from microveil.table.threads import in_threads
from microveil.utility.goodness_of_fit import decile_ends
from microveil.utility.undefined import none_if_undefined

__all__ = ["Levels", "TotalVariation", "decile_levels", "total_variation"]

# Which level each record has, counted from 0.
Levels = NDArray[np.uint8] | NDArray[np.uint16]

# As many combinations as a byte numbers.
MOST_COMBINED = 256


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
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    ends: NDArray[np.float64] | None = None,
) -> tuple[Levels, Levels]:
    """Give each value of a number its bin between the original's deciles.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records,)
        NaN is a missing cell.
    ends : ndarray of float64, optional
        The deciles, where they are known.

    Returns
    -------
    ndarray of uint8, ndarray of uint8
        A bin reaches from above one of `decile_ends` up to the next, that included; the first is
        open below, the last above. A missing cell has a level of its own, the last.

    Notes
    -----
    O(n) time and a byte a value, where the deciles are known; else those of `in_order`.

    Examples
    --------
    >>> decile_levels(np.array([1.0, 1.0, 2.0, 9.0]), np.array([0.0, 1.5, np.nan]))
    (array([0, 0, 1, 2], dtype=uint8), array([0, 1, 4], dtype=uint8))
    """
    if ends is None:
        ends = decile_ends(in_order(original))
    found = [np.empty(len(values), dtype=np.uint8) for values in (original, protected)]
    for values, levels in zip((original, protected), found, strict=True):
        distributions.levels(np.ascontiguousarray(values), ends, levels)
    return found[0], found[1]


def total_variation(
    original: Mapping[str, Levels], protected: Mapping[str, Levels]
) -> TotalVariation:
    """Compare the shares of levels in two tables.

    Parameters
    ----------
    original, protected : mapping of ndarray of uint8 or uint16, each of shape (n_records,)
        The level of each record by attribute, one or more; as many attributes in both, but not
        necessarily as many records.

    Returns
    -------
    TotalVariation

    Notes
    -----
    O(n) time for each pair of groups of attributes, side by side: attributes are grouped as far as
    a byte numbers the combinations of their levels, and the counts of two groups' combinations
    summed up for each pair of attributes. Memory of a byte or two a record for each group, and of
    two tables of counts for each pair at work.

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
    n_values = sum(len(side) for side in sides[0])
    groups = _groups(sizes)
    combined = in_threads(
        lambda group: [_combined(side, group, sizes) for side in sides], groups, n_values
    )

    def measure(counts: Iterable[NDArray[np.int64]], attributes: Sequence[int]) -> None:
        """Take the distances of pairs from counts that have an attribute to an axis."""
        for (p, a), (q, b) in combinations(enumerate(attributes), 2):
            if np.isnan(of_pairs[a, b]):
                # The table has the same attribute's levels as rows, however they were counted.
                axes = (p, q) if a < b else (q, p)
                found = _distance(*(_summed_to(table, axes) for table in counts))
                of_pairs[a, b] = of_pairs[b, a] = found

    def alone(g: int) -> None:
        shape = tuple(sizes[a] for a in groups[g])
        counts = [_counts(side, math.prod(shape)).reshape(shape) for side in combined[g]]
        for axis, a in enumerate(groups[g]):
            of_attributes[a] = _distance(*(_summed_to(table, (axis,)) for table in counts))
        measure(counts, groups[g])

    def together(pair: tuple[int, int]) -> None:
        one, other = (groups[g] for g in pair)
        widths = (math.prod(sizes[a] for a in group) for group in (one, other))
        counts = np.zeros((2, *widths), dtype=np.int64)
        for side in (0, 1):
            one_side, other_side = (combined[g][side] for g in pair)
            distributions.count_pairs(one_side, other_side, counts[side])
        measure(counts.reshape(2, *(sizes[a] for a in (*one, *other))), [*one, *other])

    in_threads(alone, range(len(groups)), n_values)
    in_threads(together, list(combinations(range(len(groups)), 2)), n_values)
    for array in (of_attributes, of_pairs):
        array.setflags(write=False)
    return TotalVariation(names=names, of_attributes=of_attributes, of_pairs=of_pairs)


def _groups(sizes: Sequence[int]) -> list[list[int]]:
    """Put attributes together, as far as a byte numbers the combinations of their levels."""
    groups: list[list[int]] = []
    for a in sorted(range(len(sizes)), key=lambda a: (sizes[a], a)):
        if groups and math.prod(sizes[b] for b in groups[-1]) * sizes[a] <= MOST_COMBINED:
            groups[-1].append(a)
        else:
            groups.append([a])
    return groups


def _combined(side: Sequence[NDArray[Any]], group: Sequence[int], sizes: Sequence[int]) -> Levels:
    """Give each record the number of its combination of levels."""
    found: NDArray[Any] = side[group[0]]
    for a in group[1:]:
        # Below 256: nothing is carried. All 256 levels are one attribute's beside others of one,
        # whose number is 0 whatever it is multiplied by.
        found = found.astype(np.uint8) * np.uint8(sizes[a] % 256) + side[a].astype(np.uint8)
    return found


def _summed_to(counts: NDArray[np.int64], axes: tuple[int, ...]) -> NDArray[np.int64]:
    """Sum a table of counts over all its axes but one or two, which come in this order."""
    others = tuple(axis for axis in range(counts.ndim) if axis not in axes)
    found: NDArray[np.int64] = counts.sum(axis=others)
    return found if tuple(sorted(axes)) == axes else np.ascontiguousarray(found.T)


def _counts(levels: Levels, size: int) -> NDArray[np.int64]:
    """Count levels, some records at a time: numpy counts words of 64 bits."""
    return summed([np.bincount(levels[block], minlength=size) for block in blocks_of(len(levels))])


def _distance(before: NDArray[np.int64], after: NDArray[np.int64]) -> float:
    """Return half the sum of the differences of shares."""
    return float(np.abs(before / before.sum() - after / after.sum()).sum() / 2)
