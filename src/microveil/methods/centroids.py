"""Plans of centroids, shared by the methods that publish them: represent, then scale noise."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Clusters, Column, Engine, Ranked, Widening
from microveil.errors import RequestError
from microveil.noise.noise import (
    LARGEST_SCALE,
    NoiseGrid,
    RandomSource,
    noise_grid,
    perturbed_means,
)
from microveil.noise.sensitivity import winsorised_sum
from microveil.plans import CentroidPlan, Shifts

__all__ = [
    "Represented",
    "domain",
    "joint_means",
    "noisy_centroids",
    "plain_centroids",
    "plain_means",
    "rounded_means",
    "scaled_centroids",
    "winsorised_means",
]

LARGEST_SUM = 1 << 62
# Scales are worked out in floating point, whose errors this covers many times over.
MARGIN = 1 + 2.0**-40

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Represented:
    """Clusters of one attribute and what stands for each.

    Attributes
    ----------
    partition : Clusters
        Of the records that have a value.
    sums : int64 array (n_clusters,)
        Size times centroid, in grid units.
    winsorised_remainder : int64 array (n_clusters,)
        Sum of the values less that.
    within : float64 array (n_clusters,)
        Squared distances of the values to their centroid.
    widening : Widening or None
    """

    partition: Clusters
    sums: Whole
    winsorised_remainder: Whole
    within: NDArray[np.float64]
    widening: Widening | None = None


def domain(column: Column) -> tuple[int, int]:
    """Return the declared domain in grid units."""
    bounds = column.attribute.grid_bounds
    assert bounds is not None  # noqa: S101 -- the request was refused without them
    return bounds


def plain_means(ranked: Ranked) -> Represented:
    """Represent clusters by rank by their means."""
    sums = ranked.clusters.sums
    return Represented(
        partition=ranked.partition,
        sums=sums,
        winsorised_remainder=np.broadcast_to(np.int64(0), sums.shape),
        within=ranked.clusters.squares,
        widening=ranked.widening,
    )


def winsorised_means(ranked: Ranked) -> Represented:
    """Represent clusters by rank by their winsorised means (IDP-2025 section 3.2.2)."""
    clusters = ranked.clusters
    sums = winsorised_sum(clusters.sums, clusters.smallest, clusters.largest)
    winsorised_remainder = clusters.sums - sums
    return Represented(
        partition=ranked.partition,
        sums=sums,
        winsorised_remainder=winsorised_remainder,
        # About another point than the mean, squares grow by size times squared distance.
        within=clusters.squares + winsorised_remainder.astype(np.float64) ** 2 / clusters.sizes,
        widening=ranked.widening,
    )


def joint_means(column: Column, clusters: Clusters, engine: Engine) -> Represented:
    """Represent clusters formed by several attributes by the means of one of these."""
    sums, squares = engine.moments(column, clusters)
    winsorised_remainder = np.broadcast_to(np.int64(0), sums.shape)
    return Represented(
        partition=clusters, sums=sums, winsorised_remainder=winsorised_remainder, within=squares
    )


def noisy_centroids(
    column: Column,
    represented: Represented,
    sensitivities: Whole | np.int64,
    share: Fraction,
    shifts: Shifts | None,
    engine: Engine,
    *,
    grid_share: Fraction | None = None,
) -> CentroidPlan:
    """Plan noise of scale sensitivity / share on the sums of clusters.

    Parameters
    ----------
    column : Column
    represented : Represented
    sensitivities : int64 array (n_clusters,) or one for all
    share : Fraction
    shifts : Shifts or None
    engine : Engine
    grid_share : Fraction, optional
        What the noise is scaled by where that is not the share itself.
    """
    largest = int(represented.partition.sizes.max())
    grid = _grid(column, grid_share or share, engine, largest)
    shape = represented.sums.shape
    return _plan(
        column,
        represented,
        engine,
        share=share,
        sensitivities=np.broadcast_to(sensitivities, shape),
        scales=np.broadcast_to(grid.scales(np.asarray(sensitivities)), shape),
        grid=grid,
        shifts=shifts,
    )


def scaled_centroids(
    column: Column,
    represented: Represented,
    sensitivities: Whole,
    scales: NDArray[np.float64],
    share: Fraction,
    shifts: Shifts,
    engine: Engine,
    *,
    largest_cluster: int,
    room: int,
) -> CentroidPlan:
    """Plan noise of scales of its own on the sums of clusters, rounded up to the noise grid.

    Parameters
    ----------
    column : Column
    represented : Represented
    sensitivities : int64 array (n_clusters,)
    scales : float64 array (n_clusters,)
        In grid units; what is drawn with is larger by a little, never smaller.
    share : Fraction
    shifts : Shifts
    engine : Engine
    largest_cluster, room : int
        Public bounds for the noise grid, see `noise_grid`.

    Raises
    ------
    RequestError
        If sums or scales would not fit 64 bits.
    """
    grid = _grid(column, share, engine, largest_cluster, room)
    steps = np.ceil(np.ldexp(scales * MARGIN, grid.bits))
    if float(steps.max()) > LARGEST_SCALE:
        raise RequestError(
            column.attribute.place,
            "the noise on its sums would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {column.attribute.name}=...) or a "
            "larger epsilon",
        )
    return _plan(
        column,
        represented,
        engine,
        share=share,
        sensitivities=sensitivities,
        scales=steps.astype(np.int64),
        grid=grid,
        shifts=shifts,
    )


def plain_centroids(column: Column, represented: Represented, engine: Engine) -> CentroidPlan:
    """Plan centroids without noise: plain microaggregation.

    Raises
    ------
    RequestError
        If sums would not fit 64 bits.
    """
    grid = _plain_grid(column, represented.partition.sizes, engine)
    nothing = np.broadcast_to(np.int64(0), represented.sums.shape)
    return _plan(
        column,
        represented,
        engine,
        share=None,
        sensitivities=nothing,
        scales=nothing,
        grid=grid,
        shifts=None,
    )


def rounded_means(column: Column, sums: Whole, sizes: Whole, engine: Engine) -> Whole:
    """Return means of clusters of so many values, rounded as they are released without noise.

    Raises
    ------
    RequestError
        If sums would not fit 64 bits.
    """
    grid, no_noise = _plain_grid(column, sizes, engine), RandomSource.seeded(0)
    means = perturbed_means(sums, sizes, np.zeros_like(sums), grid, no_noise)
    return np.asarray(means, dtype=np.int64)


def _plain_grid(column: Column, sizes: Whole, engine: Engine) -> NoiseGrid:
    """Return the grid of means without noise."""
    # They lie between the values they are means of, so no bound is needed.
    lower, upper = engine.extremes(column)
    if int(sizes.max()) * max(abs(lower), abs(upper)) > LARGEST_SUM:
        raise RequestError(
            column.attribute.place,
            "its sums would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {column.attribute.name}=...)",
        )
    return NoiseGrid(bits=0, unit=1, lower=lower, upper=upper)


def _grid(
    column: Column, share: Fraction, engine: Engine, largest_cluster: int, room: int = 1
) -> NoiseGrid:
    return noise_grid(
        column.attribute.name,
        share,
        largest_cluster,
        column.attribute.grid_bounds,
        engine.extremes(column),
        room=room,
    )


def _plan(
    column: Column,
    represented: Represented,
    engine: Engine,
    *,
    share: Fraction | None,
    sensitivities: Whole,
    scales: Whole,
    grid: NoiseGrid,
    shifts: Shifts | None,
) -> CentroidPlan:
    return CentroidPlan(
        attribute=column.attribute,
        share=share,
        partition=engine.in_table(column, represented.partition),
        missing=engine.missing(column),
        sums=represented.sums,
        winsorised_remainder=represented.winsorised_remainder,
        within=represented.within,
        sensitivities=sensitivities,
        scales=scales,
        grid=grid,
        shifts=shifts,
        widening=represented.widening,
    )
