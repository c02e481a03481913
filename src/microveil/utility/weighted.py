"""Means, variances, totals and shares by a survey's weights, before and after protection.

A weight says how many people of the population a record stands for. A mean, a variance or a total
is taken over the cells that are present (the others are NaN). What is not defined is NaN: the mean
where the weights are 0, the variance of fewer than two values that have one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.text import one_line
from microveil.utility.undefined import none_if_undefined

__all__ = [
    "WeightedComparison",
    "WeightedMoments",
    "WeightedShares",
    "Weights",
    "compare_weighted_moments",
    "compare_weighted_shares",
    "weighted_moments",
]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """By which weights the records of two tables are weighted: for the custodian.

    Attributes
    ----------
    column : str
    original : float64 array (n_records,)
        0 or more, not all 0; empty where the column holds no weights.
    protected : float64 array (n_protected,) or None
        None where the release cannot be weighted.
    are_its_own : bool
        Whether the release is weighted by a column of its own, and not by the original's weights.
    reason : str
        Why it, or either table, cannot be weighted.
    """

    column: str
    original: Floats
    protected: Floats | None
    are_its_own: bool = False
    reason: str = ""

    def __repr__(self) -> str:
        """Name the column without its values: notebooks print it."""
        return f"Weights({self.column})"

    @property
    def are_usable(self) -> bool:
        """Whether the original can be weighted by them."""
        return len(self.original) > 0

    @property
    def in_words(self) -> str:
        """Say which column weighs which table, or why none does."""
        if not self.are_usable:
            return f"none ({self.reason})"
        whose = "the release, which has no such column, by the original's, record by record"
        if self.protected is None:
            whose = f"the release cannot be weighted: {self.reason}"
        elif self.are_its_own:
            whose = "the release by its own column of that name"
        return f"{one_line(self.column)} ({whose})"

    def to_dict(self) -> dict[str, Any]:
        """Return whose weights they are as plain values, without the weights."""
        whose = "release" if self.are_its_own else "original"
        return {
            "column": self.column,
            "release_weighted_by": None if self.protected is None else whose,
            "reason": self.reason or None,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedMoments:
    """Of each attribute of a table, float64 arrays (n_attributes,).

    Attributes
    ----------
    means : ndarray
        Sum of w x over the sum of w.
    variances : ndarray
        n/(n - 1) times the sum of w (x - mean)^2 over the sum of w, n the values of a weight above
        0: the sample variance where all weights are equal.
    totals : ndarray
        Sum of w x.
    """

    means: Floats
    variances: Floats
    totals: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedComparison:
    """Weighted moments before and after; after is None where the release cannot be weighted."""

    original: WeightedMoments
    protected: WeightedMoments | None

    @property
    def total_errors(self) -> Floats:
        """How far each total moved, over its size before; NaN where that is 0 or there is none."""
        before = self.original.totals
        if self.protected is None:
            return np.full_like(before, np.nan)
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = (self.protected.totals - before) / np.abs(before)
        return np.where(before == 0, np.nan, errors)

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the moments by attribute; what is undefined is None."""
        sides = {"original": self.original, "protected": self.protected}
        errors = self.total_errors
        found: dict[str, Any] = {}
        for place, name in enumerate(names):
            found[name] = {
                moment.removesuffix("s"): {
                    side: None
                    if of is None
                    else none_if_undefined(float(getattr(of, moment)[place]))
                    for side, of in sides.items()
                }
                for moment in ("means", "variances", "totals")
            }
            found[name]["total"]["relative_error"] = none_if_undefined(float(errors[place]))
        return found


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedShares:
    """Shares of the categories of one attribute, float64 arrays (n_categories,).

    Attributes
    ----------
    categories : tuple of str
    original, protected : ndarray
        Of the records.
    weighted_original : ndarray
        Of the weights.
    weighted_protected : ndarray or None
        None where the release cannot be weighted.
    """

    categories: tuple[str, ...]
    original: Floats
    protected: Floats
    weighted_original: Floats
    weighted_protected: Floats | None

    @property
    def total_variation(self) -> float:
        """Half the sum of the differences of the shares of the records."""
        return float(np.abs(self.original - self.protected).sum() / 2)

    @property
    def weighted_total_variation(self) -> float:
        """The same of the weighted shares, NaN where the release cannot be weighted."""
        if self.weighted_protected is None:
            return float("nan")
        return float(np.abs(self.weighted_original - self.weighted_protected).sum() / 2)

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain values."""
        after = self.weighted_protected
        return {
            "categories": list(self.categories),
            "unweighted": {
                "original": self.original.tolist(),
                "protected": self.protected.tolist(),
                "total_variation": self.total_variation,
            },
            "weighted": {
                "original": self.weighted_original.tolist(),
                "protected": None if after is None else after.tolist(),
                "total_variation": none_if_undefined(self.weighted_total_variation),
            },
        }


def weighted_moments(matrix: Floats, weights: Floats) -> WeightedMoments:
    """Take weighted means, variances and totals of the columns of a matrix.

    Parameters
    ----------
    matrix : float64 array (n_records, n_attributes)
        NaN where missing.
    weights : float64 array (n_records,)
        0 or more, not all 0.

    Examples
    --------
    >>> found = weighted_moments(np.array([[20.0], [30.0]]), np.array([1.0, 3.0]))
    >>> found.means, found.variances, found.totals
    (array([27.5]), array([37.5]), array([110.]))
    """
    largest = weights.max()
    # Weights up to 1 keep squares of what may be large finite.
    relative = weights / largest
    means, variances, totals = (np.full(matrix.shape[1], np.nan) for _ in range(3))
    for place, column in enumerate(matrix.T):
        present = ~np.isnan(column) & (weights > 0)
        values, own = column[present], relative[present]
        n_values = len(values)
        if not n_values:
            continue
        total = own @ values
        means[place] = total / own.sum()
        with np.errstate(over="ignore"):
            totals[place] = total * largest
        if n_values > 1:
            squares = own @ (values - means[place]) ** 2
            variances[place] = squares / own.sum() * (n_values / (n_values - 1))
    return WeightedMoments(means=means, variances=variances, totals=totals)


def compare_weighted_moments(
    original: Floats, protected: Floats, *, weights: Weights
) -> WeightedComparison:
    """Take weighted moments of two tables.

    Parameters
    ----------
    original, protected : float64 arrays (n_records, n_attributes)
        NaN where missing.
    weights : Weights

    Examples
    --------
    >>> weights = Weights(column="W", original=np.array([1.0, 3.0]), protected=np.ones(2))
    >>> found = compare_weighted_moments(
    ...     np.array([[20.0], [30.0]]), np.array([[25.0], [41.0]]), weights=weights
    ... )
    >>> found.total_errors
    array([-0.4])
    """
    after = weights.protected
    return WeightedComparison(
        original=weighted_moments(original, weights.original),
        protected=None if after is None else weighted_moments(protected, after),
    )


def compare_weighted_shares(
    original: NDArray[np.intp],
    protected: NDArray[np.intp],
    categories: Sequence[str],
    *,
    weights: Weights,
) -> WeightedShares:
    """Take the shares of categories in two tables, of the records and of the weights.

    Parameters
    ----------
    original, protected : int arrays (n_records,)
        Positions in ``categories``.
    categories : sequence of str
    weights : Weights

    Examples
    --------
    >>> weights = Weights(column="W", original=np.array([1.0, 3.0]), protected=None)
    >>> codes = np.array([0, 1])
    >>> compare_weighted_shares(codes, codes, ["a", "b"], weights=weights).weighted_original
    array([0.25, 0.75])
    """
    size = len(categories)

    def shares(codes: NDArray[np.intp], own: Floats | None = None) -> Floats:
        counts = np.bincount(codes, None if own is None else own / own.max(), minlength=size)
        return np.asarray(counts / counts.sum())

    after = weights.protected
    return WeightedShares(
        categories=tuple(categories),
        original=shares(original),
        protected=shares(protected),
        weighted_original=shares(original, weights.original),
        weighted_protected=None if after is None else shares(protected, after),
    )
