"""Noise on the centroids of clusters: what stands for a cluster, how its noise is scaled, the plan.

A method of ranked clusters is its partition, representative and noise (`RankedSteps`); the last
two see the summary of the clusters alone, wherever their records are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.kernels import ranking as kernel
from microveil.methods.base import Choices
from microveil.methods.planned import Figures, SinglePlan, about_mean, in_table, released_numbers
from microveil.noise.expected_error import (
    Centroids,
    expected_centroid_error,
    expected_isotonic_error,
)
from microveil.noise.noise import (
    LARGEST_SCALE,
    NoiseGrid,
    RandomSource,
    in_order,
    noise_grid,
    perturbed_means,
)
from microveil.noise.sensitivity import winsorised_sum
from microveil.partition import Partition
from microveil.partition.ranking import Clusters, Runs, Widening
from microveil.schema import Attribute, Cells
from microveil.table import GridColumn, Numbers

LARGEST_SUM = 1 << 62
# Scales are worked out in floating point, whose errors this covers many times over.
MARGIN = 1 + 2.0**-40

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


class Shifts(Protocol):
    """How far the sums move when one record is replaced and the clusters are formed anew."""

    def loss(self, scales: Float) -> float:
        """Return the loss at vector scope, for scales of the sums in grid units."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Represented:
    """What stands for each cluster: arrays (n_clusters,)."""

    sizes: Whole
    sums: Whole  # size times centroid, in grid units
    within: Float  # squared distances of the values to their centroid
    # Sum of the values less that above: 0 but for winsorised means.
    remainder: Whole | np.int64 = np.int64(0)  # noqa: RUF009 -- a number


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """How the noise on the sums of clusters is scaled."""

    sensitivities: Whole | np.int64  # of the sums, in grid units: (n_clusters,) or one for all
    shifts: Shifts | None  # None where nothing bounds how far the sums move
    # (n_clusters,), in grid units; what is drawn with is larger by a little, never smaller. None
    # where each is its sensitivity over the share.
    scales: Float | None = None
    grid_share: Fraction | None = None  # over which, where that is not the share itself
    largest_cluster: int | None = None  # a public bound for the noise grid; None: sizes are public
    room: int = 1  # a public bound of a scale in sensitivities over the share, see `noise_grid`


def means(clusters: Clusters) -> Represented:
    """Represent clusters by their means."""
    return Represented(sizes=clusters.sizes, sums=clusters.sums, within=clusters.squares)


def winsorised_means(clusters: Clusters) -> Represented:
    """Represent clusters by their winsorised means (IDP-2025 section 3.2.2)."""
    sums = winsorised_sum(clusters.sums, clusters.smallest, clusters.largest)
    remainder = clusters.sums - sums
    # About another point than the mean, squares grow by size times squared distance.
    within = clusters.squares + remainder.astype(np.float64) ** 2 / clusters.sizes
    return Represented(sizes=clusters.sizes, sums=sums, within=within, remainder=remainder)


def joint_means(values: Whole, partition: Partition) -> Represented:
    """Represent clusters formed by several attributes by the means of one of these."""
    sums, squares = np.empty_like(partition.sizes), np.empty(partition.n_clusters)
    kernel.moments(values[partition.order], partition.sizes, sums, squares)
    return Represented(sizes=partition.sizes, sums=sums, within=squares)


def domain(attribute: Attribute) -> tuple[int, int]:
    """Return the declared domain in grid units."""
    bounds = attribute.grid_bounds
    assert bounds is not None  # noqa: S101 -- the request was refused without them
    return bounds


@dataclass(frozen=True, kw_only=True)
class CentroidPlan(SinglePlan):
    """Clusters, their sums and the noise on these; without a share none is drawn."""

    sizes: Whole
    sums: Whole
    within: Float
    remainder: Whole  # these as of `Represented`
    sensitivities: Whole  # of these sums, by the method's rule; 0 where one comes out exactly
    scales: Whole  # of the noise on the sums, in steps of the noise grid; 0 for none
    grid: NoiseGrid
    shifts: Shifts | None  # None where nothing bounds how far the sums move
    isotonic: bool = False  # whether noisy means are put back in order
    widening: Widening | None = None  # None where no cluster was merged to hide equal values
    partition: Partition | None = None  # records by cluster; None where these are in no process

    @property
    def centroid_scales(self) -> Float:
        """Scales of the noise on the centroids, in the attribute's units."""
        steps = self.scales / self.sizes
        return np.ldexp(steps, -self.grid.bits) * float(self.attribute.resolution)

    @cached_property
    def figures(self) -> Figures:
        """What is known of it."""
        sizes, remainder = self.sizes, self.remainder.astype(np.float64)
        within = np.maximum(self.within - remainder**2 / sizes, 0).sum()
        about = about_mean((self.sums + self.remainder) / sizes, sizes, float(within))
        written: dict[str, Any] = {
            "n_clusters": len(sizes),
            "smallest_cluster": int(sizes.min()),
            "largest_cluster": int(sizes.max()),
        }
        exact_cells, loss = 0, None
        if self.share is not None:
            exact, scales = self.scales == 0, self.centroid_scales
            exact_cells = int(sizes[exact].sum())
            written |= {
                "exact_clusters": int(np.count_nonzero(exact)),
                "exact_cells": exact_cells,
                "noise_grid_bits": self.grid.bits,
                "noise_grid_unit": self.grid.unit,
                "centroid_noise_scale": {
                    "smallest": float(scales.min()),
                    "median": _median(scales),
                    "largest": float(scales.max()),
                },
            }
            if self.shifts is not None:  # from the scales really drawn with
                loss = self.shifts.loss(np.ldexp(self.scales.astype(np.float64), -self.grid.bits))
        return self._figures(
            about,
            int(sizes.sum()),
            written,
            n_clusters=len(sizes),
            error=self._expected_error(),
            exact_cells=exact_cells,
            vector_loss=loss,
            widening=self.widening,
            squares_within=float(self.within.sum()),
        )

    def _expected_error(self) -> float:
        clusters = Centroids(
            within=self.within,
            offsets=self.remainder.astype(np.float64),
            sizes=self.sizes,
            centroids=self.sums / self.sizes,
            scales=np.ldexp(self.scales / self.sizes, -self.grid.bits),
            lower=self.grid.lower,
            upper=self.grid.upper,
        )
        if self.isotonic:
            return expected_isotonic_error(clusters)
        return float(expected_centroid_error(clusters).sum())

    def drawn_means(self, source: RandomSource) -> Cells:
        """Perturb the centroids, clamp, then (if asked) put in order, and round: (n_clusters,)."""
        drawn = perturbed_means(
            self.sums, self.sizes, self.scales, self.grid, source, rounded=not self.isotonic
        )
        if self.isotonic:
            drawn = np.rint(in_order(drawn.astype(np.float64), self.centroid_scales))
        return self.attribute.from_grid(drawn.astype(np.int64, copy=False))

    def draw(self, source: RandomSource) -> Numbers:
        """Perturb the centroids and give each record that of its cluster."""
        assert self.partition is not None  # noqa: S101 -- else they are drawn where records are
        cells = self.partition.broadcast(self.drawn_means(source))
        return released_numbers(self.attribute, cells, self.missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedSteps:
    """A method of clusters of ranks, one attribute at a time, as its paper has it.

    Attributes
    ----------
    partition : callable
        From the values of an attribute, the attribute and choices to the runs of ranks.
    representative : callable
        From clusters to what stands for each.
    noise : callable or None
        From clusters, attribute and choices to the scale of the noise; None draws none.
    smallest_k : int
        The least cluster size that the representative can work with.
    """

    partition: Callable[[Whole, Attribute, Choices], Runs]
    representative: Callable[[Clusters], Represented]
    noise: Callable[[Clusters, Attribute, Choices], Noise] | None = None
    smallest_k: int = 1

    def __call__(self, columns: Sequence[GridColumn], choices: Choices) -> list[CentroidPlan]:
        """Partition, represent and scale each attribute by itself."""
        plans = []
        for column in columns:
            partition, clusters = self.partition(column.values, column.attribute, choices)
            plan = self.of_clusters(clusters, column.attribute, choices)
            plans.append(_placed(plan, column, partition))
        return plans

    def of_clusters(
        self, clusters: Clusters, attribute: Attribute, choices: Choices
    ) -> CentroidPlan:
        """Plan the noise on clusters whose records are anywhere."""
        represented = self.representative(clusters)
        extremes = int(clusters.smallest[0].min()), int(clusters.largest[0].max())
        share = noise = None
        if self.noise is not None:
            noise, share = self.noise(clusters, attribute, choices), choices.shares[attribute.name]
        plan = centroid_plan(attribute, represented, extremes, share, noise)
        return replace(plan, widening=clusters.widening, isotonic=choices.isotonic)


def joint_centroids(
    column: GridColumn,
    partition: Partition,
    share: Fraction | None = None,
    noise: Noise | None = None,
) -> CentroidPlan:
    """Plan the means of clusters that several attributes formed, and the noise on their sums."""
    represented = joint_means(column.values, partition)
    plan = centroid_plan(column.attribute, represented, column.extremes, share, noise)
    return _placed(plan, column, partition)


def _placed(plan: CentroidPlan, column: GridColumn, partition: Partition) -> CentroidPlan:
    """Return a plan with the records of the table that are in each of its clusters."""
    return replace(plan, partition=in_table(column, partition), missing=column.missing)


def centroid_plan(
    attribute: Attribute,
    represented: Represented,
    extremes: tuple[int, int],
    share: Fraction | None = None,
    noise: Noise | None = None,
) -> CentroidPlan:
    """Plan the noise on the sums of clusters, or plain microaggregation where there is none.

    The smallest and the largest value, in grid units, are held against what fits, no more.
    """
    sizes = represented.sizes
    scales: Whole | np.int64 = np.int64(0)
    if noise is None:
        noise = Noise(sensitivities=np.int64(0), shifts=None)
        grid = _plain_grid(attribute, sizes, extremes)
    else:
        assert share is not None  # noqa: S101 -- nothing is spent without one
        grid = noise_grid(
            attribute.name,
            noise.grid_share or share,
            noise.largest_cluster or int(sizes.max()),
            attribute.grid_bounds,
            extremes,
            room=noise.room,
        )
        if noise.scales is None:
            scales = noise.sensitivities * grid.unit
        else:
            scales = _rounded_up(attribute, noise.scales, grid)
    return CentroidPlan(
        attribute=attribute,
        share=share,
        sizes=sizes,
        sums=represented.sums,
        within=represented.within,
        remainder=np.broadcast_to(represented.remainder, sizes.shape),
        sensitivities=np.broadcast_to(noise.sensitivities, sizes.shape),
        scales=np.broadcast_to(scales, sizes.shape),
        grid=grid,
        shifts=noise.shifts,
    )


def _rounded_up(attribute: Attribute, scales: Float, grid: NoiseGrid) -> Whole:
    """Return scales in steps of the noise grid, never below what is due."""
    steps = np.ceil(np.ldexp(scales * MARGIN, grid.bits))
    if float(steps.max()) > LARGEST_SCALE:
        raise RequestError(
            attribute.place,
            "the noise on its sums would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {attribute.name}=...) or a larger epsilon",
        )
    return steps.astype(np.int64)


def rounded_means(
    attribute: Attribute, sums: Whole, sizes: Whole, extremes: tuple[int, int]
) -> Whole:
    """Return means of clusters of so many values, rounded as they are released without noise."""
    grid, no_noise = _plain_grid(attribute, sizes, extremes), RandomSource.seeded(0)
    rounded = perturbed_means(sums, sizes, np.zeros_like(sums), grid, no_noise)
    return np.asarray(rounded, dtype=np.int64)


def _plain_grid(attribute: Attribute, sizes: Whole, extremes: tuple[int, int]) -> NoiseGrid:
    """Return the grid of means without noise."""
    # They lie between the values they are means of, so no bound is needed.
    lower, upper = extremes
    if int(sizes.max()) * max(abs(lower), abs(upper)) > LARGEST_SUM:
        raise RequestError(
            attribute.place,
            "its sums would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {attribute.name}=...)",
        )
    return NoiseGrid(bits=0, unit=1, lower=lower, upper=upper)


def _median(scales: Float) -> float:
    """Return the median: without a look for it where more than half are the first one."""
    if 2 * np.count_nonzero(scales == scales[0]) > len(scales) + 1:
        return float(scales[0])
    return float(np.median(scales))
