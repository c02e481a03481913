"""What the product asks of a plan for one attribute, whatever its kind."""

import math
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import Engine
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Cells
from microveil.table import Numbers

__all__ = [
    "AttributePlan",
    "Mask",
    "SinglePlan",
    "common_figures",
    "released_numbers",
    "squares_about_rounded",
]

Mask = NDArray[np.bool_]


class Figured(Protocol):
    """What the custodian's figures of any plan are made of."""

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


class AttributePlan(Figured, Protocol):
    """What the product asks of a plan, whatever its kind."""

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

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Perturb, once."""
        ...


def squares_about_rounded(total_squares: float, mean: float, n_cells: int) -> float:
    """Return squared distances to a mean rounded to whole units, from those to the mean itself.

    The last digits of the mean, of which float64 is not sure, count as rounded too.

    >>> squares_about_rounded(2.0, 20.5, 4)
    3.0...
    """
    rounding = abs(mean - round(mean)) + 2 * math.ulp(mean)
    return total_squares + n_cells * rounding**2


def released_numbers(attribute: Attribute, values: Cells, missing: Mask | None) -> Numbers:
    """Return values of an attribute, one a record, as a column to be released."""
    categories = attribute.categories
    words = None if categories is None else categories.words
    return Numbers(values=values, missing=missing, categories=words)


def common_figures(plan: Figured) -> dict[str, Any]:
    """Return what the custodian is shown of any plan."""
    attribute, domain = plan.attribute, plan.attribute.domain
    return {
        "share": None if plan.share is None else str(plan.share),
        "bounds": None if domain is None else list(attribute.written_domain or ()),
        "bounds_source": None if domain is None else domain.source.value,
        "resolution": float(attribute.resolution),
        "resolution_source": attribute.resolution_source.value,
        "missing_cells": 0 if plan.missing is None else int(plan.missing.sum()),
    }
