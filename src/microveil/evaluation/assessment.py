"""What was found of a protected table, as values and as JSON."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.evaluation.promised import promised
from microveil.evaluation.text import text_of
from microveil.privacy import Guarantee
from microveil.risk.neighbourhoods import Neighbourhoods
from microveil.risk.posterior_odds import posterior_odds
from microveil.risk.record_linkage import RecordLinkage
from microveil.utility.categories import CategoryComparison
from microveil.utility.goodness_of_fit import GoodnessOfFit
from microveil.utility.learning import ClassificationComparison
from microveil.utility.mean_errors import MeanErrors
from microveil.utility.moments import MomentComparison
from microveil.utility.propensity import Propensity
from microveil.utility.regression import RegressionComparison

__all__ = ["Assessment", "PairedMeasures"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedMeasures:
    """What can be measured where the records of both tables are in the same order.

    Parameters
    ----------
    sse, mean_sse, mean_sse_published, information_loss : float
        As the functions of these names in `microveil.utility.information_loss`.
    n_cells_compared : int
        Number of cells present in both tables.
    n_records_complete : int
        Number of records without a missing cell in either table: those that are linked.
    linkage : dict[str, RecordLinkage or None]
        Under ``record_linkage``, ``record_linkage_standardised`` and
        ``record_linkage_by_rank``; None without a complete record.
    """

    sse: float
    mean_sse: float
    mean_sse_published: float
    information_loss: float
    n_cells_compared: int
    n_records_complete: int
    linkage: dict[str, RecordLinkage | None]
    errors: MeanErrors

    def __repr__(self) -> str:
        """Name the measures without their figures: notebooks print it."""
        return f"PairedMeasures({self.n_cells_compared} cells)"

    @property
    def strongest(self) -> tuple[str, RecordLinkage] | None:
        """The linkage that finds the most, by name: which one is used is not ours to choose."""
        found = [(name, linked) for name, linked in self.linkage.items() if linked is not None]
        return max(found, key=lambda entry: entry[1].percent, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the measures as JSON knows them; what is undefined is None.

        Returns
        -------
        dict
            The measures, each linkage as its percentage, and one chance baseline.
        """
        percents = {
            name: None if linkage is None else linkage.percent
            for name, linkage in self.linkage.items()
        }
        intervals = {
            name: None if linkage is None else list(linkage.interval)
            for name, linkage in self.linkage.items()
        }
        n_linked = self.n_records_complete
        return {
            "n_cells_compared": self.n_cells_compared,
            "n_records_complete": n_linked,
            "sse": _plain(self.sse),
            "mean_sse": _plain(self.mean_sse),
            "mean_sse_published": _plain(self.mean_sse_published),
            "information_loss": _plain(self.information_loss),
            **percents,
            "record_linkage_by_chance": 100.0 / n_linked if n_linked else None,
            "record_linkage_intervals": intervals,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Assessment:
    """Utility and risk of a protected table, compared with its original.

    It holds figures of the original, so it is for the custodian, not for publication.

    Parameters
    ----------
    n_records : int
        Number of records of either table.
    attributes : tuple[str, ...]
        Names of the attributes compared.
    constant_attributes : tuple[str, ...]
        Those that do not vary in the original: no part of the measures that divide by a
        variance.
    moments : MomentComparison
        Means, variances, covariances and correlations, before and after.
    fits : tuple of GoodnessOfFit
        How well the distribution of each attribute is kept.
    paired : PairedMeasures or None
        What needs records in the same order; None for a shuffled release.
    neighbourhoods : dict of Neighbourhoods or None
        By attribute, where a k was given; constant attributes have none.
    left_out : tuple of str
        Columns of the original that were not compared: not released, no numbers, or not
        asked for.
    categories : dict of CategoryComparison
        By text attribute that was compared.
    class_attribute : str or None
        What a classifier learnt, where it was asked for.
    classification : ClassificationComparison or None
    regression : RegressionComparison or None
    propensity : Propensity or None
        What an analyst would find, where it was asked for.
    kept : tuple of str
        Columns that were released as they are: by the guarantee, or cell by cell.
    guarantee : Guarantee or None
        What the release promises; None where that is not known.
    """

    n_records: int
    attributes: tuple[str, ...]
    constant_attributes: tuple[str, ...]
    moments: MomentComparison
    fits: tuple[GoodnessOfFit, ...]
    paired: PairedMeasures | None
    neighbourhoods: Mapping[str, Neighbourhoods] | None = None
    left_out: tuple[str, ...] = ()
    categories: Mapping[str, CategoryComparison] = field(default_factory=dict)
    class_attribute: str | None = None
    classification: ClassificationComparison | None = None
    regression: RegressionComparison | None = None
    propensity: Propensity | None = None
    kept: tuple[str, ...] = ()
    guarantee: Guarantee | None = None

    @property
    def distances(self) -> Mapping[str, float | None]:
        """How far each distribution moved (Kolmogorov-Smirnov); None where it cannot be said."""
        tests = {
            name: fit.kolmogorov_smirnov
            for name, fit in zip(self.attributes, self.fits, strict=True)
        }
        return {name: None if test is None else test.statistic for name, test in tests.items()}

    @property
    def worst_attribute(self) -> tuple[str, float] | None:
        """The attribute whose distribution moved most, and how far."""
        found = [(name, moved) for name, moved in self.distances.items() if moved is not None]
        return max(found, key=lambda entry: entry[1], default=None)

    def __repr__(self) -> str:
        """Name the assessment without its figures: notebooks print it."""
        return f"Assessment({self.n_records} records, {', '.join(self.attributes)})"

    def to_dict(self) -> dict[str, Any]:
        """Return the assessment as JSON knows it: no NaN, no infinity, None instead.

        Returns
        -------
        dict
            Measures by name; those that need pairing only for a paired assessment.
        """
        return {
            "schema": 1,
            "n_records": self.n_records,
            "attributes": list(self.attributes),
            "left_out": list(self.left_out),
            "kept": list(self.kept),
            "promised": promised(self.guarantee),
            "paired": self.paired is not None,
            **({} if self.paired is None else self.paired.to_dict()),
            "constant_attributes": list(self.constant_attributes),
            "categories": {name: _categorical(found) for name, found in self.categories.items()},
            "moments": self._by_attribute(),
            **({} if self.paired is None else {"errors": self._errors(self.paired.errors)}),
            "goodness_of_fit": {
                name: fit.to_dict() for name, fit in zip(self.attributes, self.fits, strict=True)
            },
            "kolmogorov_smirnov": dict(self.distances),
            "worst_attribute": self._worst(),
            **self._neighbours(),
            **self._matrices(),
            **self._analyses(),
        }

    def _by_attribute(self) -> dict[str, Any]:
        """Write mean and variance by attribute."""
        before, after = self.moments.original, self.moments.protected
        return {
            name: {
                "mean": {
                    "original": _plain(before.means[a]),
                    "protected": _plain(after.means[a]),
                },
                "variance": {
                    "original": _plain(before.variances[a]),
                    "protected": _plain(after.variances[a]),
                },
            }
            for a, name in enumerate(self.attributes)
        }

    def _errors(self, errors: MeanErrors) -> dict[str, Any]:
        """Write bias, MSE and RMSE by attribute."""
        return {
            name: {
                "bias": _plain(errors.bias[a]),
                "mse": _plain(errors.mse[a]),
                "rmse": _plain(errors.rmse[a]),
                "n_cells": int(errors.n_cells[a]),
            }
            for a, name in enumerate(self.attributes)
        }

    def _worst(self) -> dict[str, Any] | None:
        """Write the attribute whose distribution moved most."""
        if self.worst_attribute is None:
            return None
        name, distance = self.worst_attribute
        return {"attribute": name, "kolmogorov_smirnov": distance}

    def _neighbours(self) -> dict[str, Any]:
        """Write the counts of neighbours, where they were asked for."""
        if self.neighbourhoods is None:
            return {}
        counted = {name: counts.to_dict() for name, counts in self.neighbourhoods.items()}
        return {"neighbourhoods": counted}

    def _matrices(self) -> dict[str, Any]:
        """Write covariances and correlations."""
        before, after = self.moments.original, self.moments.protected
        return {
            "covariances": {
                "original": _rows(before.covariances),
                "protected": _rows(after.covariances),
            },
            "correlations": {
                "original": _rows(before.correlations),
                "protected": _rows(after.correlations),
                "mean_absolute_change": _plain(self.moments.mean_absolute_change),
                "largest_absolute_change": _plain(self.moments.largest_absolute_change),
            },
        }

    def _analyses(self) -> dict[str, Any]:
        """Write the analyses that were asked for."""
        found: dict[str, Any] = {}
        if self.classification is not None:
            attribute = {"attribute": self.class_attribute}
            found["classification"] = attribute | self.classification.to_dict()
        if self.regression is not None:
            found["regression"] = self.regression.to_dict()
        if self.propensity is not None:
            found["propensity"] = self.propensity.to_dict()
        return found

    def to_text(self) -> str:
        """Write the assessment as an aligned table of at most 100 columns.

        Returns
        -------
        str
            Lines for a terminal, each measure with what it means.
        """
        return text_of(self)


def _categorical(compared: CategoryComparison) -> dict[str, Any]:
    """Write a comparison of categories with its posterior odds."""
    odds = posterior_odds(compared.observed_transitions, compared.original)
    return {**compared.to_dict(), "posterior_odds": odds.to_dict()}


def _rows(matrix: NDArray[np.float64]) -> list[list[float | None]]:
    return [[_plain(value) for value in row] for row in matrix]


def _plain(value: float) -> float | None:
    """Return a Python float, or None for what JSON cannot hold."""
    return float(value) if math.isfinite(value) else None
