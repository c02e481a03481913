"""What stands for a cluster where being without a value is a value like another."""

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Clusters, Column, Engine
from microveil.methods.categories import typical_positions
from microveil.methods.centroids import rounded_means
from microveil.plans import ClusterValuePlan

__all__ = ["typical_or_missing"]

Whole = NDArray[np.int64]


def typical_or_missing(column: Column, clusters: Clusters, engine: Engine) -> ClusterValuePlan:
    """Plan one value for each cluster, or none.

    A number or a rank is missing where more than half of the cluster's records lack it, else
    the mean or a median of those that have it. Of categories in no order being missing is one
    more: the commonest is taken. A distance has no say in the former: clusters at the edge of a
    table, whose values are farther from one another than from a missing one, would all lose them.

    Parameters
    ----------
    column : Column
        Some records of the table lack its value.
    clusters : Clusters
        Of all records of the table.
    engine : Engine
    """
    having = engine.having(column, clusters)
    n_missing = clusters.sizes - having.sizes
    sums, squares = engine.moments(column, having)
    has_value, counts = n_missing <= having.sizes, None
    if column.attribute.categories is not None:
        lower, _ = column.attribute.grid_bounds or (0, 0)
        counts = engine.category_counts(column, having)
        chosen = typical_positions(column, counts, n_missing)
        has_value = chosen < counts.shape[1]
        chosen = np.where(has_value, chosen, 0)
        units, alike = lower + chosen, counts[np.arange(len(chosen)), chosen]
    else:
        units = _units(column, sums, having.sizes, has_value, engine)
        alike = np.zeros_like(units)
    return ClusterValuePlan(
        attribute=column.attribute,
        partition=engine.everybody(clusters),
        has_value=has_value,
        units=units,
        n_present=having.sizes,
        sums=sums,
        squares=squares,
        kept=np.where(has_value, alike, n_missing),
        category_counts=None if counts is None else np.append(counts.sum(axis=0), n_missing.sum()),
    )


def _units(
    column: Column, sums: Whole, sizes: Whole, has_value: NDArray[np.bool_], engine: Engine
) -> Whole:
    """Round the means of the clusters that have one to the grid; 0 for the others."""
    units = np.zeros_like(sums)
    if has_value.any():
        units[has_value] = rounded_means(column, sums[has_value], sizes[has_value], engine)
    return units
