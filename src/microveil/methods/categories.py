"""Plans of categories in clusters formed by several attributes, for the methods over records."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Clusters, Column, Engine
from microveil.mechanism.noise import noise_grid
from microveil.plans import CategoryPlan, HistogramPlan

__all__ = ["noisy_histogram", "typical_categories", "typical_positions"]


def typical_categories(column: Column, clusters: Clusters, engine: Engine) -> CategoryPlan:
    """Plan one category for each cluster: the lower median of ranks, else the commonest.

    Of commonest ones the first in declared order.
    """
    counts = engine.category_counts(column, clusters)
    return CategoryPlan(
        attribute=column.attribute,
        share=None,
        partition=engine.in_table(column, clusters),
        missing=engine.missing(column),
        counts=counts,
        chosen=typical_positions(column, counts),
    )


def typical_positions(column: Column, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Choose a category by the counts of each cluster, (n_clusters, n_categories)."""
    if not column.attribute.kind.is_ranked:
        return np.asarray(counts.argmax(axis=1))
    so_far = np.cumsum(counts, axis=1)
    return np.asarray((2 * so_far >= so_far[:, -1:]).argmax(axis=1))


def noisy_histogram(
    column: Column,
    clusters: Clusters,
    share: Fraction,
    engine: Engine,
    *,
    grid_share: Fraction,
) -> HistogramPlan:
    """Plan a draw from each cluster's noisy counts, which one record changes two of.

    Parameters
    ----------
    column : Column
    clusters : Clusters
    share : Fraction
    engine : Engine
    grid_share : Fraction
        What two changed counts of one cluster may lose: the noise has scale 2 / grid_share.
    """
    # A count is of sensitivity 1, as a value between 0 and 1 is.
    grid = noise_grid(
        column.attribute.name, grid_share / 2, int(clusters.sizes.max()), (0, 1), (0, 1)
    )
    return HistogramPlan(
        attribute=column.attribute,
        share=share,
        partition=engine.in_table(column, clusters),
        missing=engine.missing(column),
        counts=engine.category_counts(column, clusters),
        scale=grid.unit,
        grid=grid,
    )
