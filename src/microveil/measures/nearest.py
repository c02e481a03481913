"""The released rows nearest to what an intruder knows, categories and numbers together.

Numbers are compared in standard deviations of the original, categories are equal or not: every
attribute has the same mean squared difference over all pairs of originals. An attribute that is
constant in the original counts as 0. Ties are exact equality of computed distances, all squared.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import mixed_linkage as kernel
from microveil.measures.values import Flags, Floats, Whole
from microveil.table.blocks import SMALLEST_VARIANCE, Matrix, means_and_variances
from microveil.table.sorting import in_order
from microveil.table.threads import in_threads

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
    """Return squared distances of records to those of the same position, just as the kernels do."""
    total = np.zeros(len(one))
    for a, (x, y) in enumerate(zip(one.T, other.T, strict=True)):
        weight = scale.weights[a]
        of_numbers = (x - y) * (x - y) * weight
        apart = np.where(x != y, weight, 0.0) if scale.is_category[a] else of_numbers
        lacking = np.isnan(x).astype(np.int8) + np.isnan(y)
        total += np.choose(lacking, [apart, scale.gaps[a], 0.0])
    return total


def _in_tasks(function: Callable[[slice], NDArray[Any]], n_queries: int) -> NDArray[Any]:
    """Join what a function gives for slices of the queries."""
    starts = range(0, max(n_queries, 1), QUERIES_PER_TASK)
    return np.concatenate(in_threads(function, [slice(s, s + QUERIES_PER_TASK) for s in starts]))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Rows:
    """Released rows, arranged to find those nearest to a person."""

    tree: tuple[NDArray[Any], ...]  # of different rows, with the scale, as the kernels take both
    scale: tuple[NDArray[Any], ...]
    members: Whole  # (n_rows,): rows in the order of the tree, equal ones together
    starts: Whole  # (n_distinct + 1,): where those equal to each distinct one begin

    @classmethod
    def arrange(cls, released: Floats, weights: Floats, is_category: Flags) -> "Rows":
        """Arrange rows without missing values; O(n log n)."""
        first, which = distinct_records(released)
        distinct = np.ascontiguousarray(released[first].T)
        scale = is_category, weights, np.zeros(len(weights))
        order, *tree = kernel.build_tree(distinct, scale, np.inf, LEAF_SIZE)
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        return cls(
            tree=tuple(tree),
            scale=scale,
            members=np.argsort(place[which], kind="stable"),
            starts=np.concatenate([[0], np.cumsum(np.bincount(which)[order])]),
        )

    def distances(self, known: Floats, *, neighbours: int = 1) -> Floats:
        """Return each person's distance to the k-th nearest row."""
        known, copies = np.ascontiguousarray(known), np.diff(self.starts)
        return _in_tasks(
            lambda task: kernel.kth_least_distances(
                self.tree, self.scale, copies, known[task], neighbours
            ),
            len(known),
        )

    def within(self, known: Floats, distances: Floats) -> Whole:
        """List different rows within distances: person, number in the tree, 1 nearer or 2 at it."""
        known = np.ascontiguousarray(known)

        def found(task: slice) -> Whole:
            near = kernel.records_within(self.tree, self.scale, known[task], distances[task])
            near[:, 0] += task.start
            return np.asarray(near)

        return _in_tasks(found, len(known))

    def marks(self, known: Floats, neighbours: int) -> Iterator[NDArray[np.int8]]:
        """Mark all rows for each person: 1 nearer than the k-th nearest, 2 as near, 0 farther."""
        near = self.within(known, self.distances(known, neighbours=neighbours))
        for own in np.split(near, np.searchsorted(near[:, 0], np.arange(1, len(known)))):
            marks = np.zeros(len(self.members), dtype=np.int8)
            for _, row, kind in own.tolist():
                marks[self.members[self.starts[row] : self.starts[row + 1]]] = kind
            yield marks

    def count_at(
        self, known: Floats, distances: Floats, secrets: Floats, intervals: Floats
    ) -> Whole:
        """Count rows at each person's distance, and those with a secret in the interval."""
        near = self.within(known, distances)
        person, row = near[near[:, 2] == 2, :2].T
        values = np.unique(secrets)
        # Secrets in the order of the rows, those of equal rows ascending, as one list of numbers.
        group = np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts)) * (len(values) + 1)
        in_order = np.sort(group + np.searchsorted(values, secrets[self.members]))
        low = np.searchsorted(values, intervals[person, 0])
        high = np.searchsorted(values, intervals[person, 1], side="right")
        first, last = (
            np.searchsorted(in_order, row * (len(values) + 1) + end) for end in (low, high)
        )
        of_rows = np.diff(self.starts)[row], last - first
        sums = [np.bincount(person, count, minlength=len(known)) for count in of_rows]
        return np.column_stack(sums).astype(np.int64)


def reciprocal_variances(original: Matrix) -> Floats:
    """Return what a squared difference in each attribute weighs: 1/variance, 0 of a constant."""
    variances = means_and_variances(original)[1]
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(variances >= SMALLEST_VARIANCE, 1.0 / variances, 0.0)


def category_weight(values: Floats) -> float:
    """Return what two different categories add to a squared distance; 0 of a constant.

    2 (n - 1) / n over the share of all ordered pairs that differ: on average what numbers add.
    """
    n = len(values)
    counts = in_order(values).different
    differing = n * n - sum(count * count for count in counts.tolist())
    return 2 * (n * (n - 1) / differing) if differing else 0.0


def distinct_records(matrix: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return where each different record stands first, ascending, and which each one is."""
    order = np.lexsort(matrix.T[::-1])
    is_new = np.zeros(len(order), dtype=np.bool_)
    is_new[:1] = True
    for column in matrix.T:
        one, other = column[order[:-1]], column[order[1:]]
        is_new[1:] |= (one != other) & ~(np.isnan(one) & np.isnan(other))
    which = np.empty(len(order), dtype=np.intp)
    which[order] = np.cumsum(is_new) - 1
    return order[is_new], which
