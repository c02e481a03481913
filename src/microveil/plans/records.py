"""The plan of noise on every value of records that no process holds together."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Column, Engine
from microveil.noise.keyed import CellDraws
from microveil.noise.noise import NoiseGrid, RandomSource, noisy_means
from microveil.plans.base import Mask, common_figures, released_numbers, squares_about_rounded
from microveil.plans.centroids import Shifts
from microveil.schema import Attribute
from microveil.table import GridColumn, Numbers, spread
from microveil.utility.expected_error import expected_centroid_error

__all__ = ["NoiseLaw", "RecordNoisePlan", "record_noise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseLaw:
    """Noise on a record's value, clamped and rounded to the attribute's grid.

    Attributes
    ----------
    attribute : Attribute
    scale : int
        In steps of the noise grid.
    grid : NoiseGrid
    """

    attribute: Attribute
    scale: int
    grid: NoiseGrid

    @property
    def draws_missing(self) -> bool:
        """Nothing is drawn for a record without a value."""
        return False

    def drawn(self, column: GridColumn, draws: CellDraws) -> Numbers:
        """Perturb every value, as the mean of a cluster of one."""
        values = np.asarray(column.values, dtype=np.int64)
        noise = draws.discrete_laplace(self.scale, len(values))
        means = noisy_means(values, np.ones_like(values), noise, self.grid)
        cells = self.attribute.from_grid(means.astype(np.int64, copy=False))
        return released_numbers(self.attribute, spread(cells, column.missing), column.missing)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordNoisePlan:
    """Noise of one scale on every value: what a plan of centroids comes to of lone records.

    Such a plan would hold the values, as the sums of clusters; here they stay with the engine,
    and the plan holds figures that were added up over them.

    Attributes
    ----------
    column : GridColumn
        As the engine holds it.
    share : Fraction
    law : NoiseLaw
    shifts : Shifts
    squares : float
        Squared distances of the values to their mean, in squared grid units.
    mean : float
        Of the values, in grid units.
    error : float
        Squared distance of released to original values that is to be expected, in all.
    """

    column: GridColumn
    share: Fraction
    law: NoiseLaw
    shifts: Shifts
    squares: float
    mean: float
    error: float

    @property
    def attribute(self) -> Attribute:
        """The attribute."""
        return self.column.attribute

    @property
    def missing(self) -> Mask | None:
        """Records without a value in the release."""
        return self.column.missing

    @property
    def n_clusters(self) -> int:
        """The number of clusters: every record is one."""
        return self.column.n_present

    @property
    def n_cells(self) -> int:
        """Cells with a value."""
        return self.column.n_present

    @property
    def exact_cells(self) -> int:
        """No domain is one value, so that noise is due for every cell and drawn."""
        return 0

    @property
    def vector_loss(self) -> float:
        """The true loss at vector scope, from the scale really drawn with."""
        scale = np.array([self.law.scale], dtype=np.float64)
        return self.shifts.loss(np.ldexp(scale, -self.law.grid.bits))

    @property
    def total_squares(self) -> float:
        """Squared distances of the values to their mean, in squared grid units."""
        return self.squares

    @property
    def squares_about_published_mean(self) -> float:
        """Squared distances of the values to their mean rounded to the grid, as a cell holds it."""
        return squares_about_rounded(self.squares, self.mean, self.n_cells)

    def expected_error(self, *, isotonic: bool) -> float:
        """Squared distance of released to original values that is to be expected, in all."""
        del isotonic
        return self.error

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Perturb every value, wherever the engine has it."""
        del isotonic
        return engine.randomised(self.column, self.law, source)

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        grid = self.law.grid
        scale = float(np.ldexp(float(self.law.scale), -grid.bits))
        scale *= float(self.attribute.resolution)
        return {
            **common_figures(self),
            "n_clusters": self.n_clusters,
            "smallest_cluster": 1,
            "largest_cluster": 1,
            "exact_clusters": 0,
            "exact_cells": 0,
            "noise_grid_bits": grid.bits,
            "noise_grid_unit": grid.unit,
            "centroid_noise_scale": dict.fromkeys(("smallest", "median", "largest"), scale),
        }


def record_noise(
    column: Column,
    share: Fraction,
    scale: int,
    grid: NoiseGrid,
    shifts: Shifts,
    engine: Engine,
) -> RecordNoisePlan:
    """Plan noise on every value of a column, in one look at it.

    Parameters
    ----------
    column : Column
    share : Fraction
    scale : int
        In steps of the noise grid.
    grid : NoiseGrid
    shifts : Shifts
    engine : Engine
    """
    # About a point among the values sums of squares keep their digits.
    middle = sum(engine.extremes(column)) // 2
    in_units = float(np.ldexp(float(scale), -grid.bits))

    def figures(values: NDArray[np.int64]) -> NDArray[np.float64]:
        apart, none = (values - middle).astype(np.float64), np.zeros(len(values))
        errors = expected_centroid_error(
            none,
            none,
            np.ones(len(values), dtype=np.int64),
            values.astype(np.float64),
            np.full(len(values), in_units),
            grid.lower,
            grid.upper,
        )
        return np.array([apart.sum(), (apart**2).sum(), errors.sum()])

    distance, squares, error = engine.summed(column, figures).tolist()
    return RecordNoisePlan(
        column=engine.held(column),
        share=share,
        law=NoiseLaw(attribute=column.attribute, scale=scale, grid=grid),
        shifts=shifts,
        squares=max(0.0, squares - distance**2 / column.n_present),
        mean=middle + distance / column.n_present,
        error=error,
    )
