"""Counts and means in subgroups, before and after protection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.utility.undefined import none_if_undefined

__all__ = [
    "MISSING",
    "SubgroupMargins",
    "Subgroups",
    "compare_subgroups",
    "figures_in",
    "margins_of_trials",
]

# What a missing cell of a column of text or numbers is called among the levels.
MISSING = "missing"
# A column of more different values is no column of groups: a number, or a name.
MOST_LEVELS = 100
# A mean of a subgroup that so small a share of the trials lack has a margin all the same.
FEW_LACK_IT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SubgroupMargins:
    """How far the figures of a release's subgroups are off the original's by noise alone.

    Parameters
    ----------
    confidence : float
        Of each margin by itself.
    n_trials : int
        How many trials they come from.
    shares : ndarray of float64, shape (n_groups,)
        Half widths, of the subgroups' shares; read-only.
    means : ndarray of float64, shape (n_groups, n_attributes)
        Half widths, of their means; NaN where trials too often have nobody in the subgroup, or
        the attribute was not drawn; read-only.
    is_measured : ndarray of bool, shape (n_groups,)
        Whether the subgroup's own count was measured. Of others the margin holds noise and chance
        as far as the model goes: by how much the model itself is off comes on top, and no
        measurement says.
    """

    confidence: float
    n_trials: int
    shares: NDArray[np.float64]
    means: NDArray[np.float64]
    is_measured: NDArray[np.bool_]


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
    margins : SubgroupMargins or None
        What noise alone does to the figures of the release; None where that is not known.
    without_margins : str
        Why it is not, in a sentence.
    """

    by: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    means: NDArray[np.float64]
    margins: SubgroupMargins | None = None
    without_margins: str = ""

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
                "margin": self._margin(g, names),
            }
            for g, levels in enumerate(self.levels)
        ]
        return {"by": list(self.by), "margins": self._margins(), "groups": groups}

    def count_margin(self, group: int) -> float | None:
        """Return the half width of a subgroup's count, in records of the release."""
        if self.margins is None:
            return None
        return float(self.margins.shares[group] * self.counts[1].sum())

    def _margins(self) -> dict[str, Any]:
        """Write what all margins have in common, or why there is none."""
        found = self.margins
        return {
            "confidence": None if found is None else found.confidence,
            "trials": None if found is None else found.n_trials,
            "reason": self.without_margins or None,
        }

    def _margin(self, group: int, names: Sequence[str]) -> dict[str, Any] | None:
        """Write the half widths of a subgroup's figures."""
        found = self.margins
        if found is None:
            return None
        return {
            "count": self.count_margin(group),
            "share": float(found.shares[group]),
            "measured": bool(found.is_measured[group]),
            "means": {
                name: none_if_undefined(float(found.means[group, a]))
                for a, name in enumerate(names)
                if name not in self.by
            },
        }


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


def figures_in(
    groups: NDArray[np.int64], values: NDArray[np.float64], n_groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return shares and means of groups in a table, records of group -1 being in none.

    Examples
    --------
    >>> figures_in(np.array([0, 0, -1]), np.array([[1.0], [3.0], [9.0]]), 1)
    (array([0.66666667]), array([[2.]]))
    """
    inside = groups >= 0
    counts = np.bincount(groups[inside], minlength=n_groups)
    return counts / len(groups), _means(groups[inside], values[inside], n_groups)


def margins_of_trials(
    shares: NDArray[np.float64],
    means: NDArray[np.float64],
    is_measured: NDArray[np.bool_],
    confidence: float,
) -> SubgroupMargins:
    """Find margins of figures by trials in which nothing but noise and chance is at work.

    Parameters
    ----------
    shares : ndarray of float64, shape (n_trials, n_groups)
        By how much a release is off the records that it was made of.
    means : ndarray of float64, shape (n_trials, n_groups, n_attributes)
        Likewise; NaN where one of the two has nobody.
    is_measured : ndarray of bool, shape (n_groups,)
    confidence : float
        Between 0 and 1.

    Returns
    -------
    SubgroupMargins
        The root of the mean square of the trials' deviations, times the quantile of Student's t
        with as many degrees of freedom as there are trials: a new deviation, normal about 0, is
        within it with that probability, however few trials there are.

    Examples
    --------
    >>> shares, means = np.array([[0.1], [-0.1]]), np.empty((2, 1, 0))
    >>> margins_of_trials(shares, means, np.array([True]), 0.5).shares.round(3)
    array([0.082])
    """
    of_shares, of_means = (_half_widths(found, confidence) for found in (shares, means))
    for array in (of_shares, of_means, is_measured):
        array.setflags(write=False)
    return SubgroupMargins(
        confidence=confidence,
        n_trials=len(shares),
        shares=of_shares,
        means=of_means,
        is_measured=is_measured,
    )


def _half_widths(deviations: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """Return half widths of deviations about 0, trials first; NaN where many trials lack one."""
    count = np.isfinite(deviations).sum(axis=0)
    known = np.maximum(count, 1)
    spread = np.sqrt(np.nansum(deviations**2, axis=0) / known)
    is_lacking = len(deviations) - count > FEW_LACK_IT * len(deviations)
    return np.where(is_lacking, np.nan, scipy.special.stdtrit(known, (1 + confidence) / 2) * spread)


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
