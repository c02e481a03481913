"""Plans of categories in clusters formed by several attributes, for the methods over records."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Clusters, Column, Engine
from microveil.noise.noise import noise_grid
from microveil.plans import CategoryPlan, HistogramPlan

__all__ = ["noisy_histogram", "typical_categories", "typical_positions"]


def typical_categories(column: Column, clusters: Clusters, engine: Engine) -> CategoryPlan:
    """Plan one category for each cluster: a median of ranks, else the commonest."""
    counts = engine.category_counts(column, clusters)
    return CategoryPlan(
        attribute=column.attribute,
        share=None,
        partition=engine.in_table(column, clusters),
        missing=engine.missing(column),
        counts=counts,
        chosen=typical_positions(column, counts),
    )


def typical_positions(
    column: Column, counts: NDArray[np.int64], n_missing: NDArray[np.int64] | None = None
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
    column: Column, counts: NDArray[np.int64], tied: NDArray[np.bool_]
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
