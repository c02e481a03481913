"""The released rows nearest to what an intruder knows, categories and numbers together.

Numbers are compared in standard deviations of the original, categories are equal or not: every
attribute has the same mean squared difference over all pairs of originals. An attribute that is
constant in the original counts as 0. Ties are exact equality of computed distances, all squared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import attacks as kernel
from microveil.kernels import linkage
from microveil.measures.distances import (
    LEAF_SIZE,
    category_weight,
    distinct_records,
    reciprocal_variances,
)
from microveil.table import threads

__all__ = ["Rows", "in_threads", "own_distances", "standard_weights"]

QUERIES_PER_TASK = 512


def standard_weights(
    original: NDArray[np.float64], is_category: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return what a squared difference in each attribute weighs: 1/variance of a number.

    >>> standard_weights(np.array([[1.0, 0.0], [3.0, 1.0]]), np.array([False, True]))
    array([0.5, 2. ])
    """
    weights = reciprocal_variances(original)
    for a in np.flatnonzero(is_category):
        weights[a] = category_weight(original[:, a])
    return weights


def own_distances(
    known: NDArray[np.float64],
    released: NDArray[np.float64],
    weights: NDArray[np.float64],
    is_category: NDArray[np.bool_],
) -> NDArray[np.float64]:
    """Return the distance of each person to the row of the same position, computed as kernels do.

    The same operations in the same order, as it is compared with theirs.
    """
    total = np.zeros(known.shape[0])
    for x, y, weight, category in zip(known.T, released.T, weights, is_category, strict=True):
        difference = x - y
        total += np.where(x != y, weight, 0.0) if category else difference * difference * weight
    return total


def in_threads(
    function: Callable[[slice], NDArray[Any]], n_queries: int, size: int = QUERIES_PER_TASK
) -> NDArray[Any]:
    """Join what a function gives for slices of the queries."""
    slices = [slice(start, start + size) for start in range(0, max(n_queries, 1), size)]
    return np.concatenate(threads.in_threads(function, slices))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Released rows, arranged to find those nearest to a person."""

    tree: tuple[NDArray[Any], ...]  # as the kernels take it
    is_category: NDArray[np.bool_]  # (n_attributes,): which attributes are categories
    # (n_rows,): positions of the rows in the order of the tree, equal rows together.
    members: NDArray[np.int64]
    # (n_distinct + 1,): where the rows that are equal to each distinct one begin.
    starts: NDArray[np.int64]

    @classmethod
    def arrange(
        cls,
        released: NDArray[np.float64],
        weights: NDArray[np.float64],
        is_category: NDArray[np.bool_],
    ) -> "Rows":
        """Arrange rows without missing values; O(n log n).

        >>> Rows.arrange(np.array([[3.0], [1.0], [3.0]]), np.ones(1), np.array([False])).members
        array([1, 0, 2])
        """
        first, which = distinct_records(released)
        distinct = np.ascontiguousarray(released[first])
        # Codes of categories lie apart by more than 1: where to split, none should outweigh
        # a number.
        spread = np.where(is_category, np.maximum(np.ptp(distinct, axis=0), 1.0), 1.0)
        order, blocks, leaf_starts, boxes = linkage.build_tree(
            distinct, weights / spread**2, LEAF_SIZE
        )
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        copies = np.bincount(which)[order]
        return cls(
            tree=(blocks, copies, leaf_starts, boxes, weights),
            is_category=is_category,
            members=np.argsort(place[which], kind="stable"),
            starts=np.concatenate([[0], np.cumsum(copies)]),
        )

    def distances(
        self,
        known: NDArray[np.float64],
        *,
        limits: NDArray[np.float64] | None = None,
        neighbours: int = 1,
    ) -> NDArray[np.float64]:
        """Return each person's distance to the k-th nearest row, or a limit where that is less."""
        known = np.ascontiguousarray(known)
        reach = np.full(len(known), np.inf) if limits is None else limits
        return in_threads(
            lambda task: kernel.kth_least_distances(
                self.tree, self.is_category, known[task], reach[task], neighbours
            ),
            len(known),
        )

    def first_at(
        self, known: NDArray[np.float64], distances: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return for each person a different row at exactly a distance, by number; -1 of none."""
        known = np.ascontiguousarray(known)
        return in_threads(
            lambda task: kernel.first_at_distance(
                self.tree, self.is_category, known[task], distances[task]
            ),
            len(known),
        )

    def count_at(
        self,
        known: NDArray[np.float64],
        distances: NDArray[np.float64],
        secrets: NDArray[np.float64] | None = None,
        intervals: NDArray[np.float64] | None = None,
    ) -> NDArray[np.int64]:
        """Count rows at exactly each person's distance, and those of them with a secret in reach.

        ``secrets`` has one for each released row, ``intervals`` two ends for each person, which are
        within reach. Returns two columns.
        """
        known = np.ascontiguousarray(known)
        in_tree = np.zeros(len(self.members)) if secrets is None else secrets[self.members]
        group = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        in_order = in_tree[np.lexsort([in_tree, group])]
        ends = np.zeros((len(known), 2)) if intervals is None else intervals
        return in_threads(
            lambda task: kernel.count_at_distance(
                self.tree,
                self.is_category,
                known[task],
                distances[task],
                in_order,
                self.starts,
                ends[task],
            ),
            len(known),
        )
