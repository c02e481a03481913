"""Whether a regression comes out the same: the same model fitted to both tables.

Confidence intervals of coefficients are laid over one another (Karr, Kohnen, Oganian, Reiter and
Sanil 2006); the release's are those of an analyst who knows nothing of noise or clusters.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import ArrayLike

from microveil.errors import DataError
from microveil.measures.base import (
    Better,
    Compared,
    Group,
    Measure,
    Measured,
    Takes,
    figures,
    result_in,
)
from microveil.measures.models import (
    Attributes,
    Basis,
    Formula,
    basis_of,
    checked_attributes,
    coded_designs,
    complete_records,
    fit_logistic,
    parse_formula,
)
from microveil.measures.values import Floats, as_json
from microveil.text.document import Block, tabulated
from microveil.text.figures import figure

CONFIDENCE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class CoefficientEstimate:
    """A coefficient fitted to one table; NaN where the table does not determine it."""

    value: float  # in units of the outcome, or of its log odds, by unit of the term
    standard_error: float
    interval: tuple[float, float]  # confidence interval


@dataclass(frozen=True, slots=True, kw_only=True)
class CoefficientComparison:
    """A coefficient before and after."""

    term: str  # its term; of categories also which, the first of the original's being the reference
    original: CoefficientEstimate  # from either table
    protected: CoefficientEstimate

    @property
    def overlap(self) -> float:
        """Overlap of the intervals, 1 where equal, negative where disjoint; NaN if undefined."""
        return interval_overlap(self.original.interval, self.protected.interval)

    @property
    def overlap_from_zero(self) -> float:
        """The same with disjoint intervals counted as 0."""
        return max(0.0, self.overlap) if not math.isnan(self.overlap) else math.nan

    @property
    def standardised_difference(self) -> float:
        """Protected less original value, in the original's standard errors."""
        if not self.original.standard_error > 0:
            return math.nan
        return (self.protected.value - self.original.value) / self.original.standard_error

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON knows it."""
        return as_json(self, "overlap", "overlap_from_zero", "standardised_difference")


@dataclass(frozen=True, slots=True, kw_only=True)
class RegressionComparison:
    """A regression before and after; for the custodian, as it shows the original's."""

    formula: Formula  # what was fitted
    logistic: bool  # whether as log odds of an outcome of 0 and 1; otherwise by least squares
    n_original: int  # records without a missing cell in the attributes of the formula: those fitted
    n_protected: int
    n_left_out: int  # the others, of both tables together
    coefficients: tuple[CoefficientComparison, ...]  # in the order of the formula

    @property
    def mean_overlap(self) -> float:
        """Mean overlap over all coefficients; NaN if one of them is undefined."""
        return float(np.mean([found.overlap for found in self.coefficients]))

    @property
    def mean_overlap_from_zero(self) -> float:
        """The same with disjoint intervals counted as 0."""
        return float(np.mean([found.overlap_from_zero for found in self.coefficients]))

    @property
    def undetermined(self) -> tuple[str, ...]:
        """Terms whose overlap is undefined, as a table does not determine the coefficient."""
        return tuple(found.term for found in self.coefficients if math.isnan(found.overlap))

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as JSON knows it."""
        figures = as_json(self, "mean_overlap", "mean_overlap_from_zero", "undetermined")
        model = "logistic" if figures.pop("logistic") else "least squares"
        return figures | {"formula": str(self.formula), "model": model, "confidence": CONFIDENCE}


def interval_overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    """Average the shares in common (Karr et al. 2006), below 0 if disjoint (Snoke et al. 2018)."""
    if any(math.isnan(end) for end in (*one, *other)):
        return math.nan
    if one == other:
        return 1.0
    widths = one[1] - one[0], other[1] - other[0]
    common = min(one[1], other[1]) - max(one[0], other[0])
    if min(widths) <= 0:
        return math.nan
    return (common / widths[0] + common / widths[1]) / 2


def compare_regressions(
    original: Mapping[str, ArrayLike],
    protected: Mapping[str, ArrayLike],
    formula: str | Formula,
    *,
    logistic: bool = False,
) -> RegressionComparison:
    """Fit the same regression to both tables and compare its coefficients.

    Complete records take part. Intervals are Student's for least squares, Wald's for log odds; what
    a table does not determine has neither value nor overlap.
    """
    model = formula if isinstance(formula, Formula) else parse_formula(formula)
    before, n_without = _needed(original, model, "original data")
    after, n_more = _needed(protected, model, "protected data")
    terms, *designs = coded_designs(model, before, after)
    outcomes = before[model.outcome], after[model.outcome]
    fitted = [
        _estimates(design, outcome, f"{side} data", model.outcome, logistic=logistic)
        for side, design, outcome in zip(("original", "protected"), designs, outcomes, strict=True)
    ]
    return RegressionComparison(
        formula=model,
        logistic=logistic,
        n_original=len(outcomes[0]),
        n_protected=len(outcomes[1]),
        n_left_out=n_without + n_more,
        coefficients=tuple(
            CoefficientComparison(term=term, original=one, protected=other)
            for term, one, other in zip(terms, *fitted, strict=True)
        ),
    )


def _needed(table: Mapping[str, ArrayLike], formula: Formula, place: str) -> tuple[Attributes, int]:
    """Return the columns of the formula, of complete records, and how many records are not."""
    columns = checked_attributes({name: table[name] for name in formula.attributes}, place)
    if columns[formula.outcome].dtype.kind == "U":
        rule = "the outcome of a regression must be numbers"
        remedy = "write categories of the outcome as 0 and 1"
        raise DataError(f"{place}, '{formula.outcome}'", rule, remedy)
    kept = complete_records(columns)
    return {name: column[kept] for name, column in columns.items()}, int((~kept).sum())


def _estimates(
    design: Floats, outcome: Floats, place: str, explained: str, *, logistic: bool
) -> list[CoefficientEstimate]:
    """Fit the model to one table."""
    if len(outcome) <= design.shape[1]:
        rule = "a regression needs more complete records than coefficients"
        raise DataError(place, rule, "leave terms out of the formula")
    if logistic and not np.isin(outcome, (0, 1)).all():
        rule = "the outcome of a logistic regression must be 0 or 1"
        remedy = "fit it by least squares, or publish the outcome as categories"
        raise DataError(f"{place}, '{explained}'", rule, remedy)
    basis = basis_of(design)
    freedom = len(outcome) - basis.rank
    values, errors = (_log_odds if logistic else _least_squares)(basis, outcome)
    known = basis.identified & ~np.isnan(errors)
    values, errors = np.where(known, values, np.nan), np.where(known, errors, np.nan)
    tail = (1 + CONFIDENCE) / 2
    width = float(scipy.special.ndtri(tail) if logistic else scipy.special.stdtrit(freedom, tail))
    return [
        CoefficientEstimate(
            value=value,
            standard_error=error,
            interval=(value - width * error, value + width * error),
        )
        for value, error in zip(values.tolist(), errors.tolist(), strict=True)
    ]


def _least_squares(basis: Basis, outcome: Floats) -> tuple[Floats, Floats]:
    """Return coefficients and their standard errors."""
    weights = basis.directions.T @ outcome
    residual = outcome - basis.directions @ weights
    variance = residual @ residual / (len(outcome) - basis.rank)
    errors = np.sqrt(variance * np.sum(basis.to_coefficients**2, axis=1))
    return basis.to_coefficients @ weights, errors


def _log_odds(basis: Basis, outcome: Floats) -> tuple[Floats, Floats]:
    """Return the same for log odds; errors are NaN where no finite coefficients fit best."""
    fit = fit_logistic(basis, outcome)
    spread = (basis.to_coefficients @ fit.covariance) * basis.to_coefficients
    errors = np.sqrt(spread.sum(axis=1)) if fit.converged else np.full(len(spread), np.nan)
    return basis.to_coefficients @ fit.weights, errors


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show every coefficient before and after, and how far their intervals overlap."""
    own = result_in(found, RegressionComparison)
    if own is None:
        return figures(found)
    rows = (
        (one.term, figure(one.original.value), figure(one.protected.value), figure(one.overlap))
        for one in own.coefficients
    )
    said = (
        f"{own.formula}; with disjoint intervals counted as 0 the mean overlap is "
        f"{figure(own.mean_overlap_from_zero)}."
    )
    heads = "coefficient", "before", "after", "overlap"
    return (*figures(found, said), tabulated(heads, rows))


MEASURES = (
    Measure(
        id="coefficient_overlap",
        label="confidence-interval overlap",
        explanation="1 = equal, below 0 = disjoint",
        scale="mean overlap of 95 % intervals",
        function=compare_regressions,
        figure=attrgetter("mean_overlap"),
        takes=Takes(lambda own: own.columns(parse_formula(own.asked["formula"]).attributes)),
        needs_pairs=False,
        # Intervals that are apart overlap by less than nothing, without limit.
        lowest=-math.inf,
        highest=1.0,
        better=Better.HIGHER,
        group=Group(title="Regression", show=_show),
        entry="regression",
        asked_by="formula",
        arguments=("formula", "logistic"),
        compared=Compared(in_answer=True, counted=True, level=("the original", 1.0)),
    ),
)
