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
from microveil.measures.values import Flags, Floats, Whole
from microveil.table import threads
from microveil.table.blocks import SMALLEST_VARIANCE, Matrix, means_and_variances
from microveil.table.sorting import in_order

# Records to a leaf of the trees that the kernels build: 16 to 128 differ little where the tree
# prunes; where it cannot, fewer and longer leaves make better use of vector instructions.
LEAF_SIZE = 64
QUERIES_PER_TASK = 512


def standard_weights(original: Floats, is_category: Flags) -> Floats:
    """Return what a squared difference in each attribute weighs: 1/variance of a number."""
    weights = reciprocal_variances(original)
    for a in np.flatnonzero(is_category):
        weights[a] = category_weight(original[:, a])
    return weights


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scale:
    """What differences weigh, by attribute."""

    is_category: Flags
    weights: Floats  # of a squared difference of numbers, or of different categories
    gaps: Floats  # how far a missing number is from a present one, squared


def own_distances(one: Floats, other: Floats, scale: Scale) -> Floats:
    """Return the squared distance of each record to the one of the same position.

    The same operations in the same order as in the kernels, which compare with it.
    """
    total = np.zeros(len(one))
    for a, (x, y) in enumerate(zip(one.T, other.T, strict=True)):
        weight = scale.weights[a]
        of_numbers = (x - y) * (x - y) * weight
        apart = np.where(x != y, weight, 0.0) if scale.is_category[a] else of_numbers
        lacking = np.isnan(x).astype(np.int8) + np.isnan(y)
        total += np.choose(lacking, [apart, scale.gaps[a], 0.0])
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
    is_category: Flags  # (n_attributes,): which attributes are categories
    members: Whole  # (n_rows,): rows in the order of the tree, equal ones together
    starts: Whole  # (n_distinct + 1,): where those equal to each distinct one begin

    @classmethod
    def arrange(cls, released: Floats, weights: Floats, is_category: Flags) -> "Rows":
        """Arrange rows without missing values; O(n log n)."""
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

    def distances(self, known: Floats, *, neighbours: int = 1) -> Floats:
        """Return each person's distance to the k-th nearest row."""
        known = np.ascontiguousarray(known)
        return in_threads(
            lambda task: kernel.kth_least_distances(
                self.tree, self.is_category, known[task], neighbours
            ),
            len(known),
        )

    def first_at(self, known: Floats, distances: Floats) -> Whole:
        """Return for each person a different row at exactly a distance, by number; -1 of none."""
        known = np.ascontiguousarray(known)
        return in_threads(
            lambda task: kernel.first_at_distance(
                self.tree, self.is_category, known[task], distances[task]
            ),
            len(known),
        )

    def count_at(
        self, known: Floats, distances: Floats, secrets: Floats, intervals: Floats
    ) -> Whole:
        """Count rows at exactly each person's distance, and those of them with a secret in reach.

        ``secrets`` has one for each released row, ``intervals`` two ends for each person, which are
        within reach. Returns two columns.
        """
        known, in_tree = np.ascontiguousarray(known), secrets[self.members]
        group = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))
        tree = self.tree, self.is_category
        rows = in_tree[np.lexsort([in_tree, group])], self.starts
        return in_threads(
            lambda task: kernel.count_at_distance(
                *tree, known[task], distances[task], *rows, intervals[task]
            ),
            len(known),
        )


def reciprocal_variances(original: Matrix) -> Floats:
    """Return what a squared difference in each attribute weighs: 1/variance, 0 of a constant."""
    variances = means_and_variances(original)[1]
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(variances >= SMALLEST_VARIANCE, 1.0 / variances, 0.0)


def category_weight(values: Floats) -> float:
    """Return what two different categories add to a squared distance; 0 of a constant.

    It is 2 (n - 1) / n over the share of all ordered pairs that differ: on average over these pairs
    as much as numbers add in standard deviations.
    """
    n = len(values)
    counts = in_order(values).different
    differing = n * n - sum(count * count for count in counts.tolist())
    return 2 * (n * (n - 1) / differing) if differing else 0.0


def distinct_records(matrix: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each different record stands first, and for each record which of them it is.

    They are in ascending order, the first attribute first; those that lack a value are alike in it.
    """
    order = np.lexsort(matrix.T[::-1])
    is_new = np.zeros(len(order), dtype=np.bool_)
    is_new[:1] = True
    for column in matrix.T:
        one, other = column[order[:-1]], column[order[1:]]
        is_new[1:] |= (one != other) & ~(np.isnan(one) & np.isnan(other))
    which = np.empty(len(order), dtype=np.intp)
    which[order] = np.cumsum(is_new) - 1
    return order[is_new], which
