"""Plans of centroids: clusters, their sums, and the noise that these take."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Engine, Widening
from microveil.noise.isotonic import in_order
from microveil.noise.noise import NoiseGrid, RandomSource, perturbed_means
from microveil.partition import Partition
from microveil.plans.base import Mask, common_figures, released_numbers, squares_about_rounded
from microveil.schema import Attribute
from microveil.table import Numbers
from microveil.utility.expected_error import expected_centroid_error, expected_isotonic_error

__all__ = ["CentroidPlan", "Shifts"]

Float = NDArray[np.float64]
Whole = NDArray[np.int64]


class Shifts(Protocol):
    """How far the sums move when one record is replaced and the clusters are formed anew."""

    def loss(self, scales: NDArray[np.float64]) -> float:
        """Return the loss at vector scope, for scales of the sums in grid units."""
        ...


@dataclass(frozen=True, kw_only=True)
class CentroidPlan:
    """Clusters, their sums and the noise on these.

    Attributes
    ----------
    attribute : Attribute
    share : Fraction or None
        None where no noise is drawn.
    partition : Partition
    missing : bool array (n_records,) or None
    sums : int64 array (n_clusters,)
        Of the values, or of the winsorised values, in grid units.
    winsorised_remainder : int64 array (n_clusters,)
        Sum of the values less the sum above.
    within : float64 array (n_clusters,)
        Squared distances of the cluster's values to its centroid, in squared grid units.
    sensitivities : int64 array (n_clusters,)
        Of these sums, by the method's rule; 0 where a cluster comes out exactly.
    scales : int64 array (n_clusters,)
        Of the noise on the sums, in steps of the noise grid; 0 for none.
    grid : NoiseGrid
    shifts : Shifts or None
        None where nothing bounds how far the sums move.
    widening : Widening or None
        None where no cluster was merged to hide equal values.
    """

    attribute: Attribute
    share: Fraction | None
    partition: Partition
    missing: Mask | None
    sums: NDArray[np.int64]
    winsorised_remainder: NDArray[np.int64]
    within: NDArray[np.float64]
    sensitivities: NDArray[np.int64]
    scales: NDArray[np.int64]
    grid: NoiseGrid
    shifts: Shifts | None
    widening: Widening | None = None

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.partition.n_clusters

    @property
    def n_cells(self) -> int:
        """Cells with a value."""
        return len(self.partition.order)

    @property
    def centroid_scales(self) -> NDArray[np.float64]:
        """Scales of the noise on the centroids, in the attribute's units."""
        steps = self.scales / self.partition.sizes
        return np.ldexp(steps, -self.grid.bits) * float(self.attribute.resolution)

    @property
    def exact_clusters(self) -> int:
        """Clusters that noise was due for and that would come out as they are."""
        return 0 if self.share is None else int(np.count_nonzero(self.scales == 0))

    @property
    def exact_cells(self) -> int:
        """Cells of those clusters."""
        if not self.exact_clusters:
            return 0
        return int(self.partition.sizes[self.scales == 0].sum())

    @property
    def vector_loss(self) -> float | None:
        """The true loss at vector scope, from the scales really drawn with."""
        if self.share is None or self.shifts is None:
            return None
        return self.shifts.loss(np.ldexp(self.scales.astype(np.float64), -self.grid.bits))

    @property
    def squares_within(self) -> float:
        """Squared distances of the values to the centroids of their clusters."""
        return float(self.within.sum())

    @cached_property
    def total_squares(self) -> float:
        """Squared distances of the values to their mean, in squared grid units."""
        sizes = self.partition.sizes
        plain = self.sums + self.winsorised_remainder
        first = int(plain[0]) / int(sizes[0])
        means = plain / sizes - first
        middle = float(np.average(means, weights=sizes))
        about_means = self.within - self.winsorised_remainder.astype(np.float64) ** 2 / sizes
        return float(np.maximum(about_means, 0).sum() + (sizes * (means - middle) ** 2).sum())

    @property
    def squares_about_published_mean(self) -> float:
        """Squared distances of the values to their mean rounded to the grid, as a cell holds it."""
        sizes = self.partition.sizes
        mean = float(np.average((self.sums + self.winsorised_remainder) / sizes, weights=sizes))
        return squares_about_rounded(self.total_squares, mean, self.n_cells)

    def expected_error(self, *, isotonic: bool) -> float:
        """Squared distance of released to original values that is to be expected, in all."""
        if not isotonic:
            return self._error_apart
        return expected_isotonic_error(*self._figures, in_order=in_order)

    @cached_property
    def _error_apart(self) -> float:
        # Found when a plan is weighed, and asked for again when it is the one that is drawn.
        return float(expected_centroid_error(*self._figures).sum())

    @property
    def _figures(self) -> tuple[Float, Float, Whole, Float, Float, int, int]:
        """What an expected error is found of."""
        sizes = self.partition.sizes
        return (
            self.within,
            self.winsorised_remainder.astype(np.float64),
            sizes,
            self.sums / sizes,
            np.ldexp(self.scales / sizes, -self.grid.bits),
            self.grid.lower,
            self.grid.upper,
        )

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Perturb the centroids, clamp, then (if asked) put in order, round, and broadcast."""
        means = perturbed_means(
            self.sums,
            self.partition.sizes,
            self.scales,
            self.grid,
            source,
            rounded=not isotonic,
        )
        if isotonic:
            means = np.rint(in_order(means.astype(np.float64), self.centroid_scales))
        values = self.attribute.from_grid(means.astype(np.int64, copy=False))
        rows = engine.broadcast(self.partition, values)
        return released_numbers(self.attribute, rows, self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        figures = {
            **common_figures(self),
            "n_clusters": self.n_clusters,
            "smallest_cluster": int(self.partition.sizes.min()),
            "largest_cluster": int(self.partition.sizes.max()),
        }
        if self.share is None:
            return figures
        scales = self.centroid_scales
        return {
            **figures,
            "exact_clusters": self.exact_clusters,
            "exact_cells": self.exact_cells,
            "noise_grid_bits": self.grid.bits,
            "noise_grid_unit": self.grid.unit,
            "centroid_noise_scale": {
                "smallest": float(scales.min()),
                "median": _median(scales),
                "largest": float(scales.max()),
            },
        }


def _median(scales: Float) -> float:
    """Return the median: without a look for it where more than half are the first one."""
    if 2 * np.count_nonzero(scales == scales[0]) > len(scales) + 1:
        return float(scales[0])
    return float(np.median(scales))
