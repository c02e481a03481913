"""What the product asks of a plan for one attribute, whatever its kind, and what is left of it."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from microveil.noise.noise import RandomSource
from microveil.partition import Partition
from microveil.partition.runs import Widening
from microveil.schema import Attribute, Cells
from microveil.table import GridColumn, Numbers

__all__ = [
    "AttributePlan",
    "Figures",
    "Mask",
    "SinglePlan",
    "common_figures",
    "in_table",
    "released_numbers",
    "squares_about_rounded",
]

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
    def n_clusters(self) -> int:
        """The number of clusters."""
        ...

    @property
    def n_cells(self) -> int:
        """Cells with a value."""
        ...

    @property
    def exact_cells(self) -> int:
        """Cells that noise was due for and that would come out as they are."""
        ...

    @property
    def vector_loss(self) -> float | None:
        """The true loss at vector scope, over all neighbours; None where there is no bound."""
        ...

    @property
    def total_squares(self) -> float:
        """Squared distances of the values to their mean, in squared grid units."""
        ...

    @property
    def squares_about_published_mean(self) -> float:
        """Squared distances of the values to their mean rounded to the grid, as a cell holds it."""
        ...

    def expected_error(self, *, isotonic: bool) -> float | None:
        """Squared distance of released to original values that is to be expected, in all.

        In squared grid units; None where values are categories without distances.
        """
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        ...


class SinglePlan(AttributePlan, Protocol):
    """A plan by which an attribute is drawn by itself."""

    def draw(self, source: RandomSource, *, isotonic: bool) -> Numbers:
        """Perturb, once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What a plan says once its cells are drawn and its clusters are forgotten.

    Attributes
    ----------
    attribute : Attribute
    share : Fraction or None
    n_clusters, n_cells, exact_cells : int
    vector_loss : float or None
    total_squares, squares_about_published_mean : float
    error : float or None
        Squared distance of released to original values that was to be expected, in all.
    differing : float or None
        Share of the records that are expected to get another category, where that is known.
    widening : Widening or None
    squares_within : float or None
        Of the values to the centroids of their clusters.
    stated : tuple of tuple of int, or "response", or None
        The transition matrix that may be published, see `guarantee.terms`.
    figures : dict
        The custodian's.
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
    stated: Any
    figures: dict[str, Any]

    @classmethod
    def of(cls, plan: AttributePlan, *, isotonic: bool) -> Self:
        """Take down what a plan says; ``isotonic`` as it is drawn."""
        return cls(
            attribute=plan.attribute,
            share=plan.share,
            n_clusters=plan.n_clusters,
            n_cells=plan.n_cells,
            exact_cells=plan.exact_cells,
            vector_loss=plan.vector_loss,
            total_squares=plan.total_squares,
            squares_about_published_mean=plan.squares_about_published_mean,
            error=plan.expected_error(isotonic=isotonic),
            differing=getattr(plan, "differing", None),
            widening=getattr(plan, "widening", None),
            squares_within=getattr(plan, "squares_within", None),
            stated=getattr(plan, "stated", None),
            figures=plan.to_dict(),
        )

    def expected_error(self, *, isotonic: bool) -> float | None:
        """Return the error that was to be expected, as it was drawn."""
        del isotonic
        return self.error

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        return dict(self.figures)


def squares_about_rounded(total_squares: float, mean: float, n_cells: int) -> float:
    """Return squared distances to a mean rounded to whole units, from those to the mean itself.

    The last digits of the mean, of which float64 is not sure, count as rounded too.

    >>> squares_about_rounded(2.0, 20.5, 4)
    3.0...
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


def common_figures(
    attribute: Attribute, share: Fraction | None, missing: Mask | None
) -> dict[str, Any]:
    """Return what the custodian is shown of any plan."""
    domain = attribute.domain
    return {
        "share": None if share is None else str(share),
        "bounds": None if domain is None else list(attribute.written_domain or ()),
        "bounds_source": None if domain is None else domain.source.value,
        "resolution": float(attribute.resolution),
        "resolution_source": attribute.resolution_source.value,
        "missing_cells": 0 if missing is None else int(missing.sum()),
    }
