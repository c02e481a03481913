"""The plan of one attribute: what every kind of it says, and what is left once it is drawn."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from microveil.noise.noise import RandomSource
from microveil.partition import Partition
from microveil.partition.ranking import Widening
from microveil.schema import Attribute, Cells
from microveil.synthesis.one_way_plan import OneWayPlan
from microveil.table import GridColumn, Numbers, Reasons

Mask = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True)
class SinglePlan(ABC):
    """A plan by which an attribute is drawn by itself; its figures are the custodian's.

    ``share`` is its part of epsilon, None where there is none; ``missing`` are the records without
    a value in the release, and ``reasons`` the codes that are released in their cells.
    """

    attribute: Attribute
    share: Fraction | None = None
    missing: Mask | None = None
    reasons: Reasons | None = None

    @property
    @abstractmethod
    def n_clusters(self) -> int:
        """The number of clusters."""

    @property
    @abstractmethod
    def n_cells(self) -> int:
        """Cells with a value."""

    @property
    def exact_cells(self) -> int:
        """Cells that noise was due for and that would come out as they are."""
        return 0

    @property
    def vector_loss(self) -> float | None:
        """The true loss at vector scope, over all neighbours; None where there is no bound."""
        return None

    @property
    def differing(self) -> float | None:
        """Share of the records that are expected to get another category, where that is known."""
        return None

    @property
    def widening(self) -> Widening | None:
        """What it cost to merge clusters of equal values; None where none was merged."""
        return None

    @property
    def squares_within(self) -> float | None:
        """Squared distances of the values to the centroids of their clusters."""
        return None

    @property
    def stated(self) -> tuple[tuple[int, ...], ...] | str | None:
        """The transition matrix that may be published, or a word for it, see `guarantee.terms`."""
        return None

    @abstractmethod
    def squares_and_mean(self) -> tuple[float, float]:
        """Return squared distances of the values to their mean, and that mean, in grid units."""

    @property
    def total_squares(self) -> float:
        """Squared distances of the values to their mean, in squared grid units."""
        return self.squares_and_mean()[0]

    @property
    def squares_about_published_mean(self) -> float:
        """Squared distances of the values to their mean rounded to the grid, as a cell holds it."""
        return squares_about_rounded(*self.squares_and_mean(), self.n_cells)

    @abstractmethod
    def expected_error(self) -> float | None:
        """Squared distance of released to original values that is to be expected, in all.

        In squared grid units; None where values are categories without distances.
        """

    @abstractmethod
    def draw(self, source: RandomSource) -> Numbers:
        """Perturb, once."""

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        attribute, domain = self.attribute, self.attribute.domain
        return {
            "share": None if self.share is None else str(self.share),
            "bounds": None if domain is None else list(attribute.written_domain or ()),
            "bounds_source": None if domain is None else domain.source.value,
            "resolution": float(attribute.resolution),
            "resolution_source": attribute.resolution_source.value,
            "missing_cells": 0 if self.missing is None else int(self.missing.sum()),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a plan says once its cells are drawn and its clusters are forgotten.

    Every field is what `SinglePlan` calls by its name; ``error`` is the expected one, and
    ``figures`` are the custodian's.
    """

    attribute: Attribute
    share: Fraction | None
    n_clusters: int
    n_cells: int
    exact_cells: int
    vector_loss: float | None
    total_squares: float
    squares_about_published_mean: float
    error: float | None
    differing: float | None
    widening: Widening | None
    squares_within: float | None
    stated: tuple[tuple[int, ...], ...] | str | None
    figures: dict[str, Any]

    @classmethod
    def of(cls, plan: SinglePlan) -> Self:
        """Take down what a plan says."""
        squares, mean = plan.squares_and_mean()
        own: dict[str, Any] = {
            "total_squares": squares,
            "squares_about_published_mean": squares_about_rounded(squares, mean, plan.n_cells),
            "error": plan.expected_error(),
            "figures": plan.to_dict(),
        }
        alike = (one.name for one in fields(cls) if one.name not in own)
        return cls(**own, **{name: getattr(plan, name) for name in alike})

    def expected_error(self) -> float | None:
        """Return the error that was to be expected, as it was drawn."""
        return self.error

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        return dict(self.figures)


# What a release has of each attribute: a plan, what is left of one, or a part of a new table's.
AttributePlan = SinglePlan | Figures | OneWayPlan


def about_mean(
    values: NDArray[Any], counts: NDArray[np.int64], within: float = 0.0
) -> tuple[float, float]:
    """Return squared distances of so many at each value to their mean, and that mean."""
    if not counts.any():
        return 0.0, 0.0
    apart = values - values[0]
    middle = float(np.average(apart, weights=counts))
    squares = float(within + (counts * (apart - middle) ** 2).sum())
    return squares, float(np.average(values, weights=counts))


def squares_about_rounded(total_squares: float, mean: float, n_cells: int) -> float:
    """Return squared distances to a mean rounded to whole units, from those to the mean itself.

    The last digits of the mean, of which float64 is not sure, count as rounded too.
    """
    rounding = abs(mean - round(mean)) + 2 * math.ulp(mean)
    return total_squares + n_cells * rounding**2


def in_table(column: GridColumn, partition: Partition) -> Partition:
    """Return clusters of the records that have a value among all of the table."""
    return partition if column.missing is None else partition.among(~column.missing)


def released_numbers(attribute: Attribute, values: Cells, missing: Mask | None) -> Numbers:
    """Return values of an attribute, one a record, as a column to be released."""
    categories = attribute.categories
    words = None if categories is None else categories.words
    return Numbers(values=values, missing=missing, categories=words)
