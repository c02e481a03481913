"""What is decided for one attribute, and how its release is drawn from that.

Four kinds of plan, one for each way of perturbing: noise on the centroids of clusters (none
of it, for plain microaggregation), noise on every value, a draw inside the value's interval,
and a draw by a transition matrix.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.engines import Engine
from microveil.isotonic import in_order
from microveil.noise import NoiseGrid, RandomSource, continuous_noise, perturbed_means, uniform
from microveil.partition import Partition
from microveil.risk.posterior_odds import posterior_odds
from microveil.schema import Attribute, Cells, written
from microveil.table import Numbers, spread

__all__ = ["AttributePlan", "CentroidPlan", "IntervalPlan", "NoisePlan", "TransitionPlan"]

Mask = NDArray[np.bool_]


class AttributePlan(Protocol):
    """What the product asks of a plan, whatever its kind."""

    @property
    def attribute(self) -> Attribute:
        """The attribute."""
        ...

    @property
    def share(self) -> Fraction | None:
        """Its part of epsilon; None where there is none."""
        ...

    @property
    def missing(self) -> Mask | None:
        """Records without a value in the release, bool (n_records,)."""
        ...

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        ...

    @property
    def exact_cells(self) -> int:
        """Cells that noise was due for and that would come out as they are."""
        ...

    @property
    def n_cells(self) -> int:
        """Cells with a value."""
        ...

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Perturb, once."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class CentroidPlan:
    """Clusters, their sums and the sensitivities of these, in grid units.

    Attributes
    ----------
    attribute : Attribute
    share : Fraction or None
        None where no noise is drawn.
    partition : Partition
    missing : bool array (n_records,) or None
    sums : int64 array (n_clusters,)
        Of the values, or of the winsorised values.
    sensitivities : int64 array (n_clusters,)
        Of these sums; 0 where a cluster comes out exactly.
    grid : NoiseGrid
    """

    attribute: Attribute
    share: Fraction | None
    partition: Partition
    missing: Mask | None
    sums: NDArray[np.int64]
    sensitivities: NDArray[np.int64]
    grid: NoiseGrid

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        return self.partition.n_clusters

    @property
    def n_cells(self) -> int:
        """Cells with a value."""
        return len(self.partition.order)

    @property
    def scales(self) -> NDArray[np.int64]:
        """Scales of the noise on the sums, in steps of the noise grid."""
        return self.grid.scales(self.sensitivities)

    @property
    def centroid_scales(self) -> NDArray[np.float64]:
        """Scales of the noise on the centroids, in the attribute's units."""
        steps = self.scales / self.partition.sizes
        return np.ldexp(steps, -self.grid.bits) * float(self.attribute.resolution)

    @property
    def exact_clusters(self) -> int:
        """Clusters that noise was due for and that would come out as they are."""
        return 0 if self.share is None else int(np.count_nonzero(self.sensitivities == 0))

    @property
    def exact_cells(self) -> int:
        """Cells of those clusters."""
        if not self.exact_clusters:
            return 0
        return int(self.partition.sizes[self.sensitivities == 0].sum())

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Perturb the centroids, clamp, then (if asked) put in order, round, and broadcast."""
        means = perturbed_means(
            self.sums,
            self.partition.sizes,
            self.sensitivities,
            self.grid,
            source,
            rounded=not isotonic,
        )
        if isotonic:
            means = np.rint(in_order(means.astype(np.float64), self.centroid_scales))
        values = self.attribute.from_grid(means.astype(np.int64, copy=False))
        return Numbers(values=engine.broadcast(self.partition, values), missing=self.missing)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        figures = {
            **_common(self),
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
                "median": float(np.median(scales)),
                "largest": float(scales.max()),
            },
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Randomised:
    """A plan by which every record is randomised on its own.

    Attributes
    ----------
    attribute : Attribute
    share : Fraction or None
    missing : bool array (n_records,) or None
    values : int64 array (n_present,)
        In grid units.
    """

    attribute: Attribute
    share: Fraction | None
    missing: Mask | None
    values: NDArray[np.int64]

    @property
    def n_clusters(self) -> int:
        """The number of clusters: every record is one."""
        return len(self.values)

    @property
    def n_cells(self) -> int:
        """Cells with a value."""
        return len(self.values)

    @property
    def exact_cells(self) -> int:
        """No cell is left out of the randomisation."""
        return 0

    def _released(self, units: NDArray[np.int64]) -> Numbers:
        bounds = self.attribute.grid_bounds
        clamped = units if bounds is None else np.clip(units, *bounds)
        values: Cells = clamped
        if self.attribute.categories is None:
            values = self.attribute.from_grid(clamped)
        return Numbers(
            values=spread(values, self.missing),
            missing=self.missing,
            categories=self.attribute.categories,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class NoisePlan(_Randomised):
    """Noise of a law and spread on every value (k-noise).

    Attributes
    ----------
    law : str
        "uniform", "laplace", "gaussian" or "triangular".
    delta : float
        Half the width of an interval, in grid units; the noise has variance delta**2 / 3.
    """

    law: str
    delta: float

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Add noise to every value, round and clamp."""
        del engine, isotonic
        noise = continuous_noise(self.law, self.delta, len(self.values), source)
        return self._released(self.values + np.rint(noise).astype(np.int64))

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        return {**_common(self), "law": self.law, "delta": _in_units(self.attribute, self.delta)}


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalPlan(_Randomised):
    """A draw among the values of the record's own interval (k-PRAM).

    Attributes
    ----------
    partition : Partition
        Intervals as clusters of the present records, in ascending order.
    permute : bool
        Permute the values within each interval instead of drawing with replacement.
    """

    partition: Partition
    permute: bool

    @property
    def n_clusters(self) -> int:
        """The number of intervals that hold records."""
        return self.partition.n_clusters

    @property
    def exact_cells(self) -> int:
        """Cells of intervals that hold one value only: they come out as they are."""
        ends = np.cumsum(self.partition.sizes)
        starts = ends - self.partition.sizes
        in_order = self.values[self.partition.order]
        alone = np.minimum.reduceat(in_order, starts) == np.maximum.reduceat(in_order, starts)
        return int(self.partition.sizes[alone].sum())

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Give every record a value of its interval."""
        del engine, isotonic
        sizes, order = self.partition.sizes, self.partition.order
        if self.permute:
            interval = np.repeat(np.arange(len(sizes)), sizes)
            chosen = np.lexsort((source.words(len(order)), interval))
        else:
            starts = np.cumsum(sizes) - sizes
            chosen = np.repeat(starts, sizes) + uniform(np.repeat(sizes, sizes), source)
        drawn = np.empty_like(self.values)
        drawn[order] = self.values[order[chosen]]
        return self._released(drawn)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        return {
            **_common(self),
            "n_intervals": self.n_clusters,
            "exact_cells": self.exact_cells,
            "smallest_interval": int(self.partition.sizes.min()),
            "largest_interval": int(self.partition.sizes.max()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TransitionPlan(_Randomised):
    """A draw by the row of a transition matrix that belongs to the value (PRAM).

    Attributes
    ----------
    weights : int64 array (n_categories, n_categories)
        Row k holds whole numbers in proportion to the probabilities of l given k.
    matrix_is_public : bool
        False where it was made from the data.
    """

    weights: NDArray[np.int64]
    matrix_is_public: bool

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Give every record a category by its row, exactly in proportion to the weights."""
        del engine, isotonic
        lower, _ = self.attribute.grid_bounds or (0, 0)
        codes = self.values - lower
        edges = np.cumsum(self.weights, axis=1)
        ticket = uniform(edges[codes, -1], source)
        drawn = np.empty_like(codes)
        for category in np.unique(codes):
            of_it = codes == category
            drawn[of_it] = np.searchsorted(edges[category], ticket[of_it], side="right")
        return self._released(drawn + lower)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        rows = self.weights / self.weights.sum(axis=1, keepdims=True)
        lower, _ = self.attribute.grid_bounds or (0, 0)
        counts = np.bincount(self.values - lower, minlength=len(rows))
        return {
            **_common(self),
            "n_categories": len(self.weights),
            "posterior_odds": posterior_odds(rows, counts).to_dict(),
            "probability_to_stay": {
                "smallest": float(rows.diagonal().min()),
                "largest": float(rows.diagonal().max()),
            },
        }


def _common(plan: AttributePlan) -> dict[str, Any]:
    attribute = plan.attribute
    bounds, kind = attribute.bounds, attribute.kind
    told: list[Any] | None = None
    if attribute.categories is not None:
        told = list(attribute.categories)
    elif bounds is not None:
        told = [written(bounds.lower, kind), written(bounds.upper, kind)]
    return {
        "share": None if plan.share is None else str(plan.share),
        "bounds": told,
        "bounds_source": None if bounds is None else bounds.source.value,
        "resolution": float(attribute.resolution),
        "resolution_source": attribute.resolution_source.value,
        "missing_cells": 0 if plan.missing is None else int(plan.missing.sum()),
    }


def _in_units(attribute: Attribute, grid_units: float) -> float:
    return grid_units * float(attribute.resolution)
