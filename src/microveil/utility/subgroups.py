"""Counts and means in subgroups, before and after protection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.utility.undefined import none_if_undefined

__all__ = ["MISSING", "Subgroups", "compare_subgroups"]

# What a missing cell of a column of text or numbers is called among the levels.
MISSING = "missing"
# A column of more different values is no column of groups: a number, or a name.
MOST_LEVELS = 100


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subgroups:
    """Records and means of every subgroup in two tables.

    Parameters
    ----------
    by : tuple of str
        The columns whose combinations are the subgroups.
    levels : tuple of tuple of str
        Of each subgroup its level of every column: those that occur in either table, in order.
    counts : ndarray of int64, shape (2, n_groups)
        Records before and after; read-only.
    means : ndarray of float64, shape (2, n_groups, n_attributes)
        Means of the attributes of numbers before and after, over the cells present; NaN where
        there is none; read-only.
    """

    by: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    means: NDArray[np.float64]

    @property
    def shares(self) -> NDArray[np.float64]:
        """Shares of the records before and after, shape (2, n_groups)."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))

    @property
    def largest_change(self) -> float:
        """The largest difference of a subgroup's shares."""
        before, after = self.shares
        return float(np.abs(after - before).max())

    @property
    def largest_first(self) -> list[int]:
        """Positions of the subgroups, by their share in the original and then in the release."""
        before, after = self.counts
        return [int(group) for group in np.lexsort([-after, -before])]

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return all subgroups as JSON knows them; a mean of nothing is None.

        Parameters
        ----------
        names : sequence of str
            Of the attributes of numbers.
        """
        sides = ("original", "protected")
        groups = [
            {
                "group": dict(zip(self.by, levels, strict=True)),
                "count": {side: int(self.counts[s, g]) for s, side in enumerate(sides)},
                "share": {side: float(self.shares[s, g]) for s, side in enumerate(sides)},
                "means": {
                    name: {
                        side: none_if_undefined(float(self.means[s, g, a]))
                        for s, side in enumerate(sides)
                    }
                    for a, name in enumerate(names)
                    if name not in self.by
                },
            }
            for g, levels in enumerate(self.levels)
        ]
        return {"by": list(self.by), "groups": groups}


def compare_subgroups(
    original: NDArray[np.float64],
    protected: NDArray[np.float64],
    *,
    by: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
) -> Subgroups:
    """Count records and take means in the subgroups of two tables.

    Records need not be paired, nor be as many.

    Parameters
    ----------
    original, protected : ndarray of float64, shape (n_records, n_attributes)
        The attributes to take means of; NaN is a missing cell.
    by : mapping of (ndarray, ndarray), each of shape (n_records,)
        The columns whose combinations are the subgroups, before and after: text ("" is missing)
        or numbers (NaN is missing), the same in both.

    Returns
    -------
    Subgroups
        A missing cell is a level of its own.

    Raises
    ------
    DataError
        If a column has more than 100 levels, or is text in one table and numbers in the other.

    Notes
    -----
    O(n log n) time.

    Examples
    --------
    >>> sex = np.array(["f", "m", "m"]), np.array(["f", "f"])
    >>> income = np.array([[9.0], [5.0], [7.0]]), np.array([[8.0], [10.0]])
    >>> found = compare_subgroups(*income, by={"SEX": sex})
    >>> found.levels, found.counts.tolist(), found.means[:, :, 0].tolist()
    ((('f',), ('m',)), [[1, 2], [2, 0]], [[9.0, 6.0], [9.0, nan]])
    """
    coded = {name: _coded(name, *sides) for name, sides in by.items()}
    size, position = len(original), np.zeros(len(original) + len(protected), dtype=np.int64)
    for codes, levels in coded.values():
        # Numbered anew after each column, so that only combinations that occur have a place.
        _, position = np.unique(position * len(levels) + codes, return_inverse=True)
    n_groups = int(position.max()) + 1
    first = np.full(n_groups, len(position))
    np.minimum.at(first, position, np.arange(len(position)))
    sides = (position[:size], original), (position[size:], protected)
    counts = np.stack([np.bincount(groups, minlength=n_groups) for groups, _ in sides])
    means = np.stack([_means(groups, values, n_groups) for groups, values in sides])
    for array in (counts, means):
        array.setflags(write=False)
    return Subgroups(
        by=tuple(by),
        levels=tuple(
            tuple(levels[codes[record]] for codes, levels in coded.values()) for record in first
        ),
        counts=counts,
        means=means,
    )


def _coded(
    name: str, before: NDArray[Any], after: NDArray[Any]
) -> tuple[NDArray[np.int64], list[str]]:
    """Return the level of each record, of both tables in a row, and how each level is called."""
    if before.dtype.kind != after.dtype.kind:
        raise DataError(
            f"column '{name}'",
            "it must be text in both tables or numbers in both",
            "write it the same way in both",
        )
    values, codes = np.unique(np.concatenate([before, after]), return_inverse=True)
    if len(values) > MOST_LEVELS:
        raise DataError(
            f"column '{name}'",
            f"subgroups are made of columns of at most {MOST_LEVELS} different values",
            "name another column",
        )
    if values.dtype.kind == "U":
        return codes, [str(value) or MISSING for value in values]
    return codes, [MISSING if np.isnan(value) else f"{value:.15g}" for value in values]


def _means(
    groups: NDArray[np.int64], values: NDArray[np.float64], n_groups: int
) -> NDArray[np.float64]:
    """Return the mean of each attribute in each group, NaN of nothing."""
    means = np.full((n_groups, values.shape[1]), np.nan)
    for a, column in enumerate(values.T):
        present = ~np.isnan(column)
        sums = np.bincount(groups[present], weights=column[present], minlength=n_groups)
        n_present = np.bincount(groups[present], minlength=n_groups)
        np.divide(sums, n_present, out=means[:, a], where=n_present > 0)
    return means
