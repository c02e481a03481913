"""The plan of one attribute: what every kind of it says, and what is left once it is drawn."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee.terms import Transition
from microveil.noise.noise import RandomSource
from microveil.partition import Partition
from microveil.partition.ranking import Widening
from microveil.schema import Attribute, Cells
from microveil.synthesis.one_way_plan import OneWayPlan
from microveil.table import GridColumn, Numbers, Reasons

Mask = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is known of an attribute's plan, and all that is left of it once its cells are drawn.

    It depends on the data: for the custodian. Squares are in squared grid units; ``written`` is
    what a manifest says.
    """

    attribute: Attribute
    share: Fraction | None  # of epsilon; None where there is none
    n_clusters: int
    n_cells: int  # with a value
    total_squares: float  # distances of the values to their mean
    squares_about_published_mean: float  # and to that mean rounded to the grid, as a cell holds it
    # Distances of released to original values that are to be expected; None of categories.
    error: float | None
    written: dict[str, Any]
    exact_cells: int = 0  # that noise was due for and that would come out as they are
    # The true loss at vector scope, over all neighbours; None where there is no bound.
    vector_loss: float | None = None
    # Of the records the share that is expected to get another category, where that is known.
    differing: float | None = None
    category_counts: NDArray[np.int64] | None = None  # records of each category
    widening: Widening | None = None  # what it cost to merge clusters of equal values
    squares_within: float | None = None  # distances to the centroids of clusters
    stated: Transition | None = None  # as of `TransitionPlan`


@dataclass(frozen=True, kw_only=True)
class SinglePlan(ABC):
    """A plan by which an attribute is drawn by itself.

    ``share`` is its part of epsilon, None where there is none; ``missing`` are the records without
    a value in the release, and ``reasons`` the codes that are released in their cells.
    """

    attribute: Attribute
    share: Fraction | None = None
    missing: Mask | None = None
    reasons: Reasons | None = None

    @property
    @abstractmethod
    def figures(self) -> Figures:
        """What is known of it."""

    @abstractmethod
    def draw(self, source: RandomSource) -> Numbers:
        """Perturb, once."""

    def _figures(
        self, about: tuple[float, float], n_cells: int, written: Mapping[str, Any], **own: Any
    ) -> Figures:
        """Take down squared distances to the mean of so many cells, that mean, and what is its own.

        The last digits of the mean, of which float64 is not sure, count as rounded too.
        """
        attribute, domain, (squares, mean) = self.attribute, self.attribute.domain, about
        missing = 0 if self.missing is None else int(self.missing.sum())
        return Figures(
            attribute=attribute,
            share=self.share,
            n_cells=n_cells,
            total_squares=squares,
            squares_about_published_mean=squares_about_rounded(squares, mean, n_cells),
            written={
                "share": None if self.share is None else str(self.share),
                "bounds": None if domain is None else list(attribute.written_domain or ()),
                "bounds_source": None if domain is None else domain.source.value,
                "resolution": float(attribute.resolution),
                "resolution_source": attribute.resolution_source.value,
                "missing_cells": missing,
                **written,
            },
            **own,
        )


# What a release has of each attribute: a plan, what is left of one, or a part of a new table's.
AttributePlan = SinglePlan | Figures | OneWayPlan


def figures_of(plan: AttributePlan) -> Figures:
    """Return what is known of an attribute's plan: of a new table's by public figures alone."""
    if isinstance(plan, OneWayPlan):
        return Figures(
            attribute=plan.attribute,
            share=plan.share,
            n_clusters=0,
            n_cells=plan.n_records,
            total_squares=0.0,
            squares_about_published_mean=0.0,
            error=None,
            vector_loss=None if plan.share is None else float(plan.share),
            written=plan.to_dict(),
        )
    return plan if isinstance(plan, Figures) else plan.figures


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
    """Return squared distances to a mean rounded to whole units, from those to the mean itself."""
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
