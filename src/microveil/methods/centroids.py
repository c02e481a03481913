"""Plans of noisy centroids, shared by the methods that publish them."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.noise import NoiseGrid, noise_grid
from microveil.partition import Partition
from microveil.plans import CentroidPlan
from microveil.table import GridColumn

__all__ = ["domain", "noisy_centroids", "plain_centroids"]

LARGEST_SUM = 1 << 62


def domain(column: GridColumn) -> tuple[int, int]:
    """Return the declared domain in grid units."""
    bounds = column.attribute.grid_bounds
    assert bounds is not None  # noqa: S101 -- the request was refused without them
    return bounds


def noisy_centroids(
    column: GridColumn,
    partition: Partition,
    sums: NDArray[np.int64],
    sensitivities: NDArray[np.int64] | np.int64,
    share: Fraction,
    *,
    grid_share: Fraction | None = None,
) -> CentroidPlan:
    """Plan noise of scale sensitivity / share on the sums of clusters.

    Parameters
    ----------
    column : GridColumn
    partition : Partition
        Of the records that have a value.
    sums : int64 array (n_clusters,)
    sensitivities : int64 array (n_clusters,) or one for all
    share : Fraction
    grid_share : Fraction, optional
        What the noise is scaled by where that is not the share itself.
    """
    grid = noise_grid(
        column.attribute.name,
        grid_share or share,
        int(partition.sizes.max()),
        column.attribute.grid_bounds,
        (int(column.values.min()), int(column.values.max())),
    )
    return CentroidPlan(
        attribute=column.attribute,
        share=share,
        partition=partition if column.missing is None else partition.among(~column.missing),
        missing=column.missing,
        sums=sums,
        sensitivities=np.broadcast_to(sensitivities, sums.shape),
        grid=grid,
    )


def plain_centroids(
    column: GridColumn, partition: Partition, sums: NDArray[np.int64]
) -> CentroidPlan:
    """Plan centroids without noise: plain microaggregation.

    Raises
    ------
    RequestError
        If sums would not fit 64 bits.
    """
    # They lie between the values they are means of, so no bound is needed.
    lower, upper = int(column.values.min()), int(column.values.max())
    if int(partition.sizes.max()) * max(abs(lower), abs(upper)) > LARGEST_SUM:
        raise RequestError(
            column.attribute.place,
            "its sums would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {column.attribute.name}=...)",
        )
    grid = NoiseGrid(bits=0, unit=1, lower=lower, upper=upper)
    return CentroidPlan(
        attribute=column.attribute,
        share=None,
        partition=partition if column.missing is None else partition.among(~column.missing),
        missing=column.missing,
        sums=sums,
        sensitivities=np.broadcast_to(np.int64(0), sums.shape),
        grid=grid,
    )
