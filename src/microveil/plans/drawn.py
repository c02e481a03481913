"""Plans of centroids that were drawn as soon as they were made: figures, and cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from microveil.engines.base import Engine, Widening
from microveil.noise.noise import RandomSource
from microveil.plans.base import Mask
from microveil.plans.centroids import CentroidPlan
from microveil.schema import Attribute
from microveil.table import Numbers

__all__ = ["DrawnPlan"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPlan:
    """What is left of a `CentroidPlan` without isotonic regression, once its cells are drawn.

    Clusters, sums and scales are gone: of a column at a time there is room for them, and of all
    columns there need not be. It is for one release.

    Attributes
    ----------
    attribute : Attribute
    share : Fraction or None
    missing : bool array (n_records,) or None
    n_clusters, n_cells, exact_cells : int
    vector_loss : float or None
    total_squares, squares_about_published_mean : float
    error : float
        Squared distance of released to original values that was to be expected, in all.
    widening : Widening or None
    squares_within : float
        Of the values to the centroids of their clusters.
    figures : dict
        The custodian's.
    numbers : Numbers
        What was drawn.
    """

    attribute: Attribute
    share: Fraction | None
    missing: Mask | None
    n_clusters: int
    n_cells: int
    exact_cells: int
    vector_loss: float | None
    total_squares: float
    squares_about_published_mean: float
    error: float
    widening: Widening | None
    squares_within: float
    figures: Mapping[str, Any]
    numbers: Numbers

    @classmethod
    def of(cls, part: CentroidPlan, source: RandomSource, engine: Engine) -> "DrawnPlan":
        """Draw a plan by a stream of its own, and take down its figures."""
        return cls(
            attribute=part.attribute,
            share=part.share,
            missing=part.missing,
            n_clusters=part.n_clusters,
            n_cells=part.n_cells,
            exact_cells=part.exact_cells,
            vector_loss=part.vector_loss,
            total_squares=part.total_squares,
            squares_about_published_mean=part.squares_about_published_mean,
            error=part.expected_error(isotonic=False),
            widening=part.widening,
            squares_within=part.squares_within,
            figures=part.to_dict(),
            numbers=part.draw(source, engine, isotonic=False),
        )

    def expected_error(self, *, isotonic: bool) -> float:
        """Return the error that was to be expected; never of isotonic regression."""
        assert not isotonic  # noqa: S101 -- centroids are put in order before they are drawn
        return self.error

    def draw(self, source: RandomSource, engine: Engine, *, isotonic: bool) -> Numbers:
        """Return what was drawn."""
        del source, engine
        assert not isotonic  # noqa: S101 -- as above
        return self.numbers

    def to_dict(self) -> dict[str, Any]:
        """Return the custodian's figures: they depend on the data."""
        return dict(self.figures)
