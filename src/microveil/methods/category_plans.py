"""Plans of categories in clusters: one for a cluster, or drawn anew from its noisy counts."""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.methods.planned import (
    Mask,
    common_figures,
    in_table,
    released_numbers,
    squares_about_rounded,
)
from microveil.noise.noise import NoiseGrid, RandomSource, discrete_laplace, noise_grid, uniform
from microveil.partition import Partition
from microveil.schema import Attribute
from microveil.table import GridColumn, Numbers

__all__ = [
    "CategoryPlan",
    "HistogramPlan",
    "category_counts",
    "noisy_histogram",
    "noisy_weights",
    "typical_categories",
    "typical_positions",
]

Whole = NDArray[np.int64]
# Weights of one cluster together stay below this.
MOST_WEIGHT = 1 << 62
# What is expected of a draw has no closed form: it is the mean of so many, by seeds of their own.
TRIALS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """A plan of a categorical attribute by the counts of its clusters.

    Attributes
    ----------
    attribute : Attribute
    share : Fraction or None
        None where no noise is drawn.
    partition : Partition
    missing : bool array (n_records,) or None
    counts : int64 array (n_clusters, n_categories)
    """

    attribute: Attribute
    share: Fraction | None
    partition: Partition
    missing: Mask | None
    counts: Whole

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.partition.n_clusters

    @property
    def n_cells(self) -> int:
        """Cells with a value."""
        return len(self.partition.order)

    @property
    def exact_cells(self) -> int:
        """No cell that noise was due for comes out as it is."""
        return 0

    @property
    def category_counts(self) -> Whole:
        """How many records have each category, int64 (n_categories,)."""
        return np.asarray(self.counts.sum(axis=0))

    @property
    def total_squares(self) -> float:
        """Squared distances of the positions to their mean."""
        counts, positions = self.category_counts, np.arange(self.counts.shape[1])
        mean = float(np.average(positions, weights=counts))
        return float((counts * (positions - mean) ** 2).sum())

    @property
    def squares_about_published_mean(self) -> float:
        """Squared distances of the positions to their mean rounded to a category."""
        mean = float(np.average(np.arange(self.counts.shape[1]), weights=self.category_counts))
        return squares_about_rounded(self.total_squares, mean, self.n_cells)

    def _squares(self, chances: NDArray[np.float64]) -> float:
        """Squared distances to be expected of positions drawn by chances of a cluster."""
        positions = np.arange(self.counts.shape[1])
        apart = (positions[:, None] - positions[None, :]) ** 2
        return float(((self.counts @ apart) * chances).sum())

    def _changed(self, chances: NDArray[np.float64]) -> float:
        """Share of the records that get another category, to be expected."""
        return float(1 - (self.counts * chances).sum() / self.n_cells)

    def _figures(self) -> dict[str, Any]:
        return {
            **common_figures(self.attribute, self.share, self.missing),
            "n_clusters": self.n_clusters,
            "smallest_cluster": int(self.partition.sizes.min()),
            "largest_cluster": int(self.partition.sizes.max()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryPlan(_Counted):
    """One category for all records of a cluster: no noise is drawn.

    Attributes
    ----------
    chosen : int64 array (n_clusters,)
        The position of the category that stands for each cluster.
    """

    chosen: Whole

    @property
    def vector_loss(self) -> float | None:
        """No bound: nothing is promised."""
        return None

    @property
    def differing(self) -> float:
        """Share of the records that get another category."""
        return self._changed(self._chances)

    @property
    def _chances(self) -> NDArray[np.float64]:
        return np.asarray(np.arange(self.counts.shape[1]) == self.chosen[:, None], dtype=np.float64)

    def expected_error(self, *, isotonic: bool) -> float | None:
        """Squared distance of released to original ranks; None for categories in no order."""
        del isotonic
        return self._squares(self._chances) if self.attribute.kind.is_ranked else None

    def draw(self, source: RandomSource, *, isotonic: bool) -> Numbers:
        """Give every record its cluster's category; nothing is drawn."""
        del source, isotonic
        rows = self.partition.broadcast(self.attribute.from_grid(self.chosen))
        return released_numbers(self.attribute, rows, self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        return {**self._figures(), "changed_cells": round(self.differing * self.n_cells)}


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramPlan(_Counted):
    """A category for every record, drawn by its cluster's noisy counts.

    Attributes
    ----------
    scale : int
        Of the noise on every count, in steps of the noise grid.
    grid : NoiseGrid
    """

    scale: int
    grid: NoiseGrid

    @property
    def vector_loss(self) -> float | None:
        """A bound, for every table: one record changes two counts in every cluster at most."""
        return float(Fraction(2 * self.n_clusters << self.grid.bits, self.scale))

    @property
    def differing(self) -> float:
        """Share of the records that are expected to get another category."""
        return self._on_average(self._changed)

    def expected_error(self, *, isotonic: bool) -> float | None:
        """Squared distance of released to original ranks; None for categories in no order."""
        del isotonic
        return self._on_average(self._squares) if self.attribute.kind.is_ranked else None

    def _on_average(self, figure: Callable[[NDArray[np.float64]], float]) -> float:
        weigh = partial(noisy_weights, self.counts, self.scale, self.grid.bits)
        drawn = (weigh(RandomSource.seeded(number)) for number in range(TRIALS))
        return sum(figure(one / one.sum(axis=1, keepdims=True)) for one in drawn) / TRIALS

    def draw(self, source: RandomSource, *, isotonic: bool) -> Numbers:
        """Perturb the counts, then draw a category for every record in proportion, exactly."""
        del isotonic
        weights = noisy_weights(self.counts, self.scale, self.grid.bits, source)
        edges = np.cumsum(weights, axis=1)
        sizes = self.partition.sizes
        ticket = uniform(np.repeat(edges[:, -1], sizes), source)
        drawn = np.zeros(len(ticket), dtype=np.int64)
        for edge in edges.T[:-1]:
            drawn += ticket >= np.repeat(edge, sizes)
        units = np.zeros(self.partition.n_records, dtype=np.int64)
        units[self.partition.order] = drawn
        return released_numbers(self.attribute, self.attribute.from_grid(units), self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        return {
            **self._figures(),
            "noise_grid_bits": self.grid.bits,
            "count_noise_scale": self.scale / (1 << self.grid.bits),
        }


def noisy_weights(counts: Whole, scale: int, bits: int, source: RandomSource) -> Whole:
    """Add noise to counts, and make weights of them that a category can be drawn by.

    Parameters
    ----------
    counts : int64 array (n_clusters, n_categories)
    scale : int
        Of the discrete Laplace noise, in steps of 2**-bits.
    bits : int
    source : RandomSource

    Returns
    -------
    int64 array (n_clusters, n_categories)
        Not below 0, and all alike where none is above; a cluster's sum fits 64 bits.

    Notes
    -----
    All after the noise is post-processing: counts below 0 become 0, and what no 64 bits would
    hold is cut off at a public limit.

    Examples
    --------
    >>> noisy_weights(np.array([[7, 0]]), 1, 20, RandomSource.seeded(1)).shape
    (1, 2)
    """
    noise = discrete_laplace(np.full(counts.size, scale, dtype=np.int64), source)
    noisy = (counts << bits) + noise.reshape(counts.shape)
    weights = np.clip(noisy, 0, MOST_WEIGHT // counts.shape[1])
    weights[~weights.any(axis=1)] = 1
    return np.asarray(weights)


def category_counts(column: GridColumn, partition: Partition) -> Whole:
    """Count the records of each cluster by category: (n_clusters, n_categories)."""
    lower, upper = column.attribute.grid_bounds or column.extremes
    n_categories = upper - lower + 1
    cells = partition.labels * n_categories + (column.values - lower)
    counts = np.bincount(cells, minlength=partition.n_clusters * n_categories)
    return counts.reshape(partition.n_clusters, n_categories)


def typical_categories(column: GridColumn, partition: Partition) -> CategoryPlan:
    """Plan one category for each cluster: a median of ranks, else the commonest."""
    counts = category_counts(column, partition)
    return CategoryPlan(
        attribute=column.attribute,
        share=None,
        partition=in_table(column, partition),
        missing=column.missing,
        counts=counts,
        chosen=typical_positions(column, counts),
    )


def typical_positions(
    column: GridColumn, counts: NDArray[np.int64], n_missing: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Choose a category by the counts of each cluster, (n_clusters, n_categories).

    With ``n_missing``, the records of each cluster without a value, being without one is the last
    position: it is one more category, and of ranks it needs more than half of a cluster. Ties go to
    the category that the release has too few records of, see `_settled`.
    """
    every = counts if n_missing is None else np.column_stack([counts, n_missing])
    if not column.attribute.kind.is_ranked:
        return _settled(column, every, every == every.max(axis=1, keepdims=True))
    so_far = np.cumsum(counts, axis=1)
    n_present = so_far[:, -1:]
    tied, clusters = np.zeros(every.shape, dtype=bool), np.arange(len(counts))
    tied[clusters, (2 * so_far >= n_present).argmax(axis=1)] = True
    tied[clusters, (2 * so_far > n_present).argmax(axis=1)] = True
    if n_missing is not None:
        lacks = n_missing > n_present[:, 0]
        tied[lacks] = np.arange(every.shape[1]) == counts.shape[1]
    return _settled(column, every, tied)


def _settled(
    column: GridColumn, counts: NDArray[np.int64], tied: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Choose one of the tied categories of each cluster, cluster after cluster.

    The one of which the release lacks most records so far: those of the table less those of the
    clusters that are settled, clusters without a tie first. Of several the first by its text, so
    that the order in which categories are listed makes no difference.
    """
    texts = list(map(str, column.attribute.written_domain or ()))
    by_text = np.array([*np.argsort(np.array(texts)), *range(len(texts), counts.shape[1])])
    sizes = counts.sum(axis=1)
    chosen: NDArray[np.int64] = tied.argmax(axis=1)
    is_open = tied.sum(axis=1) > 1
    lacking = counts.sum(axis=0)
    np.subtract.at(lacking, chosen[~is_open], sizes[~is_open])
    for cluster in np.flatnonzero(is_open):
        among = by_text[tied[cluster, by_text]]
        one = among[lacking[among].argmax()]
        chosen[cluster] = one
        lacking[one] -= sizes[cluster]
    return chosen


def noisy_histogram(
    column: GridColumn,
    partition: Partition,
    share: Fraction,
    *,
    grid_share: Fraction,
) -> HistogramPlan:
    """Plan a draw from each cluster's noisy counts, which one record changes two of.

    Parameters
    ----------
    column : GridColumn
    partition : Partition
    share : Fraction
    grid_share : Fraction
        What two changed counts of one cluster may lose: the noise has scale 2 / grid_share.
    """
    # A count is of sensitivity 1, as a value between 0 and 1 is.
    grid = noise_grid(
        column.attribute.name, grid_share / 2, int(partition.sizes.max()), (0, 1), (0, 1)
    )
    return HistogramPlan(
        attribute=column.attribute,
        share=share,
        partition=in_table(column, partition),
        missing=column.missing,
        counts=category_counts(column, partition),
        scale=grid.unit,
        grid=grid,
    )
