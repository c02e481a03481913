"""One value for a cluster, or none, where being without a value is a value like another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.methods.category_plans import category_counts, typical_positions
from microveil.methods.centroids import joint_means, rounded_means
from microveil.methods.planned import (
    Mask,
    common_figures,
    released_numbers,
    squares_about_rounded,
)
from microveil.noise.noise import RandomSource
from microveil.partition import Partition
from microveil.schema import Attribute
from microveil.table import GridColumn, Numbers

__all__ = ["ClusterValuePlan", "typical_or_missing"]

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterValuePlan:
    """One value for all records of a cluster, or none: no noise is drawn.

    Attributes
    ----------
    attribute : Attribute
    partition : Partition
        Of all records of the table.
    has_value : bool array (n_clusters,)
        Whether the cluster is released with a value.
    units : int64 array (n_clusters,)
        That value, in grid units; any where there is none.
    n_present, sums : int64 arrays (n_clusters,)
        How many of the cluster's records have a value, and their sum in grid units.
    squares : float64 array (n_clusters,)
        Squared distances of these values to their mean.
    kept : int64 array (n_clusters,)
        How many records get what they had, a missing value too.
    category_counts : int64 array (n_categories + 1,), or None
        How many records have each category, those that lack it last; None of numbers.
    """

    attribute: Attribute
    partition: Partition
    has_value: NDArray[np.bool_]
    units: Whole
    n_present: Whole
    sums: Whole
    squares: NDArray[np.float64]
    kept: Whole
    category_counts: Whole | None

    @property
    def share(self) -> None:
        """No noise is drawn."""
        return

    @property
    def missing(self) -> Mask | None:
        """Records without a value in the release, bool (n_records,)."""
        if self.has_value.all():
            return None
        return ~self.has_value[self.partition.labels]

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.partition.n_clusters

    @property
    def n_cells(self) -> int:
        """Cells with a value before and after: none lies at a distance from a missing one."""
        return int(self.n_present[self.has_value].sum())

    @property
    def exact_cells(self) -> int:
        """No noise was due."""
        return 0

    @property
    def vector_loss(self) -> float | None:
        """No bound: nothing is promised."""
        return None

    @property
    def differing(self) -> float:
        """Share of the records that get another category, or lose or gain one."""
        return float(1 - self.kept.sum() / self.partition.n_records)

    @property
    def total_squares(self) -> float:
        """Squared distances of the values that stay values to their mean."""
        if not self.n_cells:
            return 0.0
        sizes, first, means = self._means()
        middle = float(np.average(means - first, weights=sizes))
        within = self.squares[self.has_value].sum()
        return float(within + (sizes * (means - first - middle) ** 2).sum())

    @property
    def squares_about_published_mean(self) -> float:
        """Squared distances of the values to their mean rounded to the grid, as a cell holds it."""
        if not self.n_cells:
            return 0.0
        sizes, _, means = self._means()
        mean = float(np.average(means, weights=sizes))
        return squares_about_rounded(self.total_squares, mean, self.n_cells)

    def _means(self) -> tuple[Whole, float, NDArray[np.float64]]:
        """Return numbers of values, one mean, and all means of the clusters with a value."""
        sizes = self.n_present[self.has_value]
        means = self.sums[self.has_value] / sizes
        return sizes, float(means[0]), means

    def expected_error(self, *, isotonic: bool) -> float | None:
        """Squared distance of released to original values; None for categories in no order."""
        del isotonic
        if not self.attribute.kind.is_ranked:
            return None
        if not self.n_cells:
            return 0.0
        sizes, _, means = self._means()
        moved = sizes * (self.units[self.has_value] - means) ** 2
        return float(self.squares[self.has_value].sum() + moved.sum())

    def draw(self, source: RandomSource, *, isotonic: bool) -> Numbers:
        """Give every record what its cluster has; nothing is drawn."""
        del source, isotonic
        rows = self.partition.broadcast(self.attribute.from_grid(self.units))
        return released_numbers(self.attribute, rows, self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        figures = {
            **common_figures(self.attribute, self.share, self.missing),
            "n_clusters": self.n_clusters,
            "smallest_cluster": int(self.partition.sizes.min()),
            "largest_cluster": int(self.partition.sizes.max()),
            "clusters_without_value": int(np.count_nonzero(~self.has_value)),
        }
        if self.category_counts is None:
            return figures
        return {**figures, "changed_cells": int(self.partition.n_records - self.kept.sum())}


def typical_or_missing(column: GridColumn, partition: Partition) -> ClusterValuePlan:
    """Plan one value for each cluster, or none.

    A number or a rank is missing where more than half of the cluster's records lack it, else
    the mean or a median of those that have it. Of categories in no order being missing is one
    more: the commonest is taken. A distance has no say in the former: clusters at the edge of a
    table, whose values are farther from one another than from a missing one, would all lose them.

    Parameters
    ----------
    column : GridColumn
        Some records of the table lack its value.
    partition : Partition
        Of all records of the table.
    """
    attribute, missing = column.attribute, column.missing
    having = partition if missing is None else partition.within(~missing)
    n_missing = partition.sizes - having.sizes
    represented = joint_means(column.values, having)
    has_value, counts = n_missing <= having.sizes, None
    if attribute.categories is not None:
        lower, _ = attribute.grid_bounds or (0, 0)
        counts = category_counts(column, having)
        chosen = typical_positions(column, counts, n_missing)
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
    return ClusterValuePlan(
        attribute=attribute,
        partition=partition,
        has_value=has_value,
        units=units,
        n_present=having.sizes,
        sums=represented.sums,
        squares=represented.within,
        kept=np.where(has_value, alike, n_missing),
        category_counts=None if counts is None else np.append(counts.sum(axis=0), n_missing.sum()),
    )
