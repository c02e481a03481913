"""Categories before and after: how many stayed, and how the shares moved."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["CategoryComparison", "compare_categories"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryComparison:
    """One text attribute before and after protection.

    Attributes
    ----------
    categories : tuple of str
        Those that occur in either table, in order.
    original, protected : int64 arrays (n_categories,)
        How many records have each.
    moves : int64 array (n_categories, n_categories)
        How many records went from category k (row) to l (column).
    """

    categories: tuple[str, ...]
    original: NDArray[np.int64]
    protected: NDArray[np.int64]
    moves: NDArray[np.int64]

    @property
    def share_kept(self) -> float:
        """The share of records whose category is unchanged."""
        return float(self.moves.diagonal().sum() / max(1, self.moves.sum()))

    @property
    def observed_transitions(self) -> NDArray[np.float64]:
        """Observed shares of l among the records of k; a category of no record stays."""
        rows = np.where(self.original[:, None] > 0, self.moves, np.eye(len(self.categories)))
        shares: NDArray[np.float64] = rows / rows.sum(axis=1, keepdims=True)
        return shares

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        total = max(1, int(self.original.sum()))
        return {
            "categories": list(self.categories),
            "original": [int(count) / total for count in self.original],
            "protected": [int(count) / total for count in self.protected],
            "share_kept": self.share_kept,
        }


def compare_categories(
    original: NDArray[np.int64], protected: NDArray[np.int64], categories: Sequence[str]
) -> CategoryComparison:
    """Count categories and moves, record by record.

    Parameters
    ----------
    original, protected : int64 arrays (n_records,)
        Positions in ``categories``.
    categories : sequence of str

    Examples
    --------
    >>> compared = compare_categories(np.array([0, 0, 1]), np.array([0, 1, 1]), ["a", "b"])
    >>> compared.moves
    array([[1, 1],
           [0, 1]])
    """
    count = len(categories)
    moves = np.bincount(original * count + protected, minlength=count * count)
    moves = moves.reshape(count, count)
    return CategoryComparison(
        categories=tuple(categories),
        original=moves.sum(axis=1),
        protected=moves.sum(axis=0),
        moves=moves,
    )
