"""The error to expect of a plan, attribute by attribute, before any noise is drawn.

Of rows that follow individuals it is known in closed form; see `utility.expected_error`. Of a new
table it is that of the distributions, on a stand-in; see `stand_in`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from microveil.methods.category_plans import CategoryPlan, HistogramPlan
from microveil.methods.cluster_values import ClusterValuePlan
from microveil.methods.planned import AttributePlan
from microveil.methods.randomised import TransitionPlan
from microveil.release.columns import Prepared
from microveil.release.plan import Plan
from microveil.release.stand_in import Distance, differing, distances, stood_in
from microveil.table import GridColumn
from microveil.table.threads import SideBySide, in_threads

__all__ = ["Expectation", "all_expected", "average", "expectations", "expected_distributions"]

# Sums of squares that are equal may differ so much, relatively, when they are added up.
LAST_DIGITS = 1e-9
# Plans of attributes that may be categories in no order, of which it is expected that some change.
OF_CATEGORIES = (TransitionPlan, CategoryPlan, ClusterValuePlan, HistogramPlan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """The error to expect of one attribute.

    Attributes
    ----------
    mean_squared_error : float
        In squared units of the attribute.
    variance : float
        Of the original, with n - 1.
    hopeless : bool
        Whether publishing the mean in every row, rounded as cells are, would be nearer to the
        original; of categories in no order the commonest of them.
    of_categories : bool
        Whether values are categories in no order, of which two differ by 1 or not at all.
    """

    mean_squared_error: float
    variance: float
    hopeless: bool
    of_categories: bool = False

    @property
    def over_variance(self) -> float:
        """The error over the variance: about 1 is as good as publishing the mean."""
        if self.variance > 0:
            return self.mean_squared_error / self.variance
        return math.inf if self.mean_squared_error > 0 else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the expectation as plain values."""
        ratio = self.over_variance
        return {
            "mean_squared_error": self.mean_squared_error,
            "variance": self.variance,
            "over_variance": ratio if math.isfinite(ratio) else None,
            "hopeless": self.hopeless,
        }


def expectations(planned: Plan, side_by_side: SideBySide = in_threads) -> dict[str, Expectation]:
    """Return the error to expect of each attribute, but for categories."""
    if planned.parts:
        of_parts = (expectations(part, side_by_side) for part in planned.parts)
        return {name: own for found in of_parts for name, own in found.items()}
    parts = planned.attributes
    found = side_by_side(
        lambda part: _expectation(part, isotonic=planned.isotonic),
        parts,
        0,
        sum(part.n_clusters for part in parts),
    )
    by_part = zip(parts, found, strict=True)
    return {part.attribute.name: entry for part, entry in by_part if entry is not None}


def _expectation(part: AttributePlan, *, isotonic: bool) -> Expectation | None:
    error = part.expected_error(isotonic=isotonic)
    if error is None or not part.n_cells:
        return None
    squared_unit = float(part.attribute.resolution) ** 2
    total = part.total_squares
    return Expectation(
        mean_squared_error=error / part.n_cells * squared_unit,
        variance=total / max(part.n_cells - 1, 1) * squared_unit,
        hopeless=error > part.squares_about_published_mean * (1 + LAST_DIGITS),
    )


def expected_distributions(planned: Plan, prepared: Prepared) -> dict[str, Expectation]:
    """Return the error to expect of the distributions of a new table, by attribute.

    Parameters
    ----------
    planned : Plan
        Of a new table.
    prepared : Prepared
        Of which attributes and the number of records are taken, and no value.
    """
    assert planned.synthetic is not None  # noqa: S101 -- of a new table
    columns = stood_in(prepared).columns
    found = distances(planned.synthetic, columns)
    return {
        column.attribute.name: _of_distance(column, distance)
        for column, distance in zip(columns, found, strict=True)
    }


def _of_distance(column: GridColumn, distance: Distance) -> Expectation:
    attribute = column.attribute
    in_order = attribute.kind.is_ranked
    squared_unit = float(attribute.resolution) ** 2 if in_order else 1.0
    return Expectation(
        mean_squared_error=distance.squares * squared_unit,
        variance=distance.variance * squared_unit,
        hopeless=distance.squares > distance.of_mean * (1 + LAST_DIGITS),
        of_categories=not in_order,
    )


def all_expected(planned: Plan, prepared: Prepared) -> dict[str, Expectation]:
    """Return what to expect of every attribute, of categories in no order too."""
    if planned.synthetic is not None:
        return expected_distributions(planned, prepared)
    found = expectations(planned)
    for part, column in zip(planned.attributes, prepared.columns, strict=True):
        if getattr(part, "differing", None) is not None and not part.attribute.kind.is_ranked:
            found[part.attribute.name] = _of_distance(column, differing(part))
    return found


def average(expected: Mapping[str, Expectation]) -> float:
    """Average error over variance, leaving out attributes without variance if others have it."""
    varied = [entry for entry in expected.values() if entry.variance > 0]
    ratios = [entry.over_variance for entry in varied or expected.values()]
    return math.fsum(ratios) / len(ratios) if ratios else math.nan
