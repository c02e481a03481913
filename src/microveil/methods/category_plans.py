"""Plans of clusters by counts: one value for all records of a cluster, or a category drawn anew."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.methods.centroids import joint_means, rounded_means
from microveil.methods.planned import Figures, SinglePlan, about_mean, in_table, released_numbers
from microveil.noise.noise import NoiseGrid, RandomSource, discrete_laplace, noise_grid, uniform
from microveil.partition import Partition
from microveil.table import GridColumn, Numbers

Whole = NDArray[np.int64]
# Weights of one cluster together stay below this.
MOST_WEIGHT = 1 << 62
# Draws over which the mean is taken of what is expected of one.
TRIALS = 8


@dataclass(frozen=True, kw_only=True)
class ClusterValuePlan(SinglePlan):
    """One value for all records of a cluster, or none where that is a value: no noise is drawn."""

    partition: Partition
    has_value: NDArray[np.bool_]  # whether the cluster is released with a value
    units: Whole  # that value, in grid units; any where there is none
    # Of the cluster's values: their number, sum, and squared distances to their mean.
    n_present: Whole
    sums: Whole
    squares: NDArray[np.float64]
    kept: Whole  # how many records get what they had, a missing value too
    # How many records have each category, those that lack it last; None of numbers.
    category_counts: Whole | None

    @cached_property
    def figures(self) -> Figures:
        """What is known of it, cells with a value before and after: none is far from a missing."""
        has_value, n_records = self.has_value, len(self.partition.order)
        sizes, squares = self.n_present[has_value], float(self.squares[has_value].sum())
        means, written = self.sums[has_value] / sizes, _of_clusters(self.partition)
        if self.n_present.sum() < n_records:
            written["clusters_without_value"] = int(np.count_nonzero(~has_value))
        if self.category_counts is not None:
            written["changed_cells"] = int(n_records - self.kept.sum())
        moved = float((sizes * (self.units[has_value] - means) ** 2).sum())
        return self._figures(
            about_mean(means, sizes, squares),
            int(sizes.sum()),
            written,
            n_clusters=self.partition.n_clusters,
            error=squares + moved if self.attribute.kind.is_ranked else None,
            differing=float(1 - self.kept.sum() / n_records),
            category_counts=self.category_counts,
        )

    def draw(self, source: RandomSource) -> Numbers:
        """Give every record what its cluster has; nothing is drawn."""
        del source
        rows = self.partition.broadcast(self.attribute.from_grid(self.units))
        return released_numbers(self.attribute, rows, self.missing)


@dataclass(frozen=True, kw_only=True)
class HistogramPlan(SinglePlan):
    """A category for every record, drawn by its cluster's noisy counts.

    Counts are int64 (n_clusters, n_categories); the scale of their noise is in steps of the grid.
    """

    partition: Partition
    counts: Whole
    scale: int
    grid: NoiseGrid

    @cached_property
    def figures(self) -> Figures:
        """What is known of it; the loss is a bound: a record changes two counts of every cluster.

        Of what is expected there is no closed form: it is the mean of draws by seeds of their own.
        """
        n_cells, n_clusters = len(self.partition.order), self.partition.n_clusters
        positions, category_counts = np.arange(self.counts.shape[1]), self.counts.sum(axis=0)
        apart = self.counts @ (positions[:, None] - positions[None, :]) ** 2
        differing = error = 0.0
        for number in range(TRIALS):
            source = RandomSource.seeded(number)
            weights = noisy_weights(self.counts, self.scale, self.grid.bits, source)
            chances = weights / weights.sum(axis=1, keepdims=True)
            differing += float(1 - (self.counts * chances).sum() / n_cells)
            error += float((apart * chances).sum())
        return self._figures(
            about_mean(positions, category_counts),
            n_cells,
            {
                **_of_clusters(self.partition),
                "noise_grid_bits": self.grid.bits,
                "count_noise_scale": self.scale / (1 << self.grid.bits),
            },
            n_clusters=n_clusters,
            error=error / TRIALS if self.attribute.kind.is_ranked else None,
            vector_loss=float(Fraction(2 * n_clusters << self.grid.bits, self.scale)),
            differing=differing / TRIALS,
            category_counts=category_counts,
        )

    def draw(self, source: RandomSource) -> Numbers:
        """Perturb the counts, then draw a category for every record in proportion, exactly."""
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


def _of_clusters(partition: Partition) -> dict[str, Any]:
    return {
        "n_clusters": partition.n_clusters,
        "smallest_cluster": int(partition.sizes.min()),
        "largest_cluster": int(partition.sizes.max()),
    }


def noisy_weights(counts: Whole, scale: int, bits: int, source: RandomSource) -> Whole:
    """Add noise in steps of 2**-bits to counts, and make weights to draw a category by.

    All after the noise is post-processing: counts below 0 become 0, what no 64 bits would hold is
    cut off at a public limit, and weights are all alike where none is above 0.
    """
    noise = discrete_laplace(np.full(counts.size, scale, dtype=np.int64), source)
    noisy = (counts << bits) + noise.reshape(counts.shape)
    weights = np.clip(noisy, 0, MOST_WEIGHT // counts.shape[1])
    weights[~weights.any(axis=1)] = 1
    return np.asarray(weights)


def _category_counts(column: GridColumn, partition: Partition) -> Whole:
    """Count the records of each cluster by category: (n_clusters, n_categories)."""
    lower, upper = column.attribute.grid_bounds or column.extremes
    n_categories = upper - lower + 1
    cells = partition.labels * n_categories + (column.values - lower)
    counts = np.bincount(cells, minlength=partition.n_clusters * n_categories)
    return counts.reshape(partition.n_clusters, n_categories)


def typical_values(
    column: GridColumn, partition: Partition, *, may_lack: bool = False
) -> ClusterValuePlan:
    """Plan one value for each cluster, or none where being without one may be a value.

    The mean of numbers, a median of ranks, else the commonest category. A number or a rank is
    missing where more than half of the cluster's records lack it; of categories in no order being
    missing is one more. A distance has no say in the former: clusters at the edge of a table, whose
    values are farther from one another than from a missing one, would all lose them. The partition
    is of all records with ``may_lack``, else of those that have a value.
    """
    attribute, missing = column.attribute, column.missing
    having = partition.within(~missing) if may_lack and missing is not None else partition
    n_missing = partition.sizes - having.sizes
    represented = joint_means(column.values, having)
    has_value, counts = n_missing <= having.sizes, None
    if attribute.categories is not None:
        lower, _ = attribute.grid_bounds or (0, 0)
        counts = _category_counts(column, having)
        chosen = _typical_positions(column, counts, n_missing if may_lack else None)
        has_value = chosen < counts.shape[1]
        chosen = np.where(has_value, chosen, 0)
        units, alike = lower + chosen, counts[np.arange(len(chosen)), chosen]
    else:
        units = np.zeros_like(represented.sums)
        if has_value.any():
            units[has_value] = rounded_means(
                attribute, represented.sums[has_value], having.sizes[has_value], column.extremes
            )
        alike = np.zeros_like(units)
    if may_lack:
        missing = None if has_value.all() else ~has_value[partition.labels]
        if counts is not None:
            counts = np.column_stack([counts, n_missing])
    return ClusterValuePlan(
        attribute=attribute,
        missing=missing,
        partition=partition if may_lack else in_table(column, partition),
        has_value=has_value,
        units=units,
        n_present=having.sizes,
        sums=represented.sums,
        squares=represented.within,
        kept=np.where(has_value, alike, n_missing),
        category_counts=None if counts is None else counts.sum(axis=0),
    )


def _typical_positions(
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
    column: GridColumn, partition: Partition, share: Fraction, *, grid_share: Fraction
) -> HistogramPlan:
    """Plan a draw from each cluster's noisy counts, which one record changes two of.

    ``grid_share`` is what two changed counts of one cluster may lose: the noise has scale
    2 / grid_share.
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
        counts=_category_counts(column, partition),
        scale=grid.unit,
        grid=grid,
    )
