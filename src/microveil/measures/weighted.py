"""Means, variances, totals and shares by a survey's weights, before and after protection.

A weight says how many people a record stands for. Moments are over the cells that are present; what
is not defined is NaN, as is all of a release that cannot be weighted.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError
from microveil.measures.base import NUMBERS, TEXT, Better, By, Group, Measure, Measured, figures
from microveil.measures.moments import MEAN, VARIANCE, by_name
from microveil.measures.opening import Opened
from microveil.measures.values import Floats, plain
from microveil.schema import Kind, Role
from microveil.table import Table, check_columns, numbers_of
from microveil.table.blocks import Matrix
from microveil.text import listed, one_line
from microveil.text.document import Block, paragraph, tabulated
from microveil.text.figures import figure

REMEDY = "name a column that says of every record how many people it stands for"
# More categories than a person reads are in `to_dict` alone.
MOST_CATEGORIES = 20


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Weights:
    """By which weights the records of two tables are weighted: for the custodian."""

    column: str
    original: Floats  # 0 or more, not all 0; empty where the column holds no weights
    protected: Floats | None  # None where the release cannot be weighted
    are_its_own: bool = False  # the release's, and not the original's
    reason: str = ""  # why it, or either table, cannot be weighted

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
    """Of each attribute of a table, float64 arrays (n_attributes,)."""

    means: Floats  # sum of w x over the sum of w
    # n/(n - 1) times the sum of w (x - mean)^2 over the sum of w, n the values of a weight above 0:
    # the sample variance where all weights are equal.
    variances: Floats
    totals: Floats  # sum of w x


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedComparison:
    """Weighted moments before and after."""

    original: WeightedMoments
    protected: WeightedMoments

    @property
    def total_errors(self) -> Floats:
        """How far each total moved, over its size before; NaN where that is 0."""
        before, after = self.original.totals, self.protected.totals
        errors = np.full_like(before, np.nan)
        np.divide(after - before, np.abs(before), out=errors, where=before != 0)
        return errors

    def to_dict(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the moments by attribute; what is undefined is None."""
        found = by_name(self, names, "mean", "variance", "total")
        for name, error in zip(names, plain(self.total_errors), strict=True):
            found[name]["total"]["relative_error"] = error
        return found


def weighted_moments(matrix: Matrix, weights: Floats | None) -> WeightedMoments:
    """Take weighted means, variances and totals of the columns of a matrix; NaN without weights."""
    means, variances, totals = np.full((3, matrix.shape[1]), np.nan)
    if weights is None:
        return WeightedMoments(means=means, variances=variances, totals=totals)
    largest = weights.max()
    # Weights up to 1 keep squares of what may be large finite.
    relative = weights / largest
    for a in range(matrix.shape[1]):
        column = matrix[:, a]
        present = ~np.isnan(column) & (relative > 0)
        values, own = column[present], relative[present]
        if not len(values):
            continue
        total, of_all = own @ values, own.sum()
        means[a] = total / of_all
        with np.errstate(over="ignore"):
            totals[a] = total * largest
        if len(values) > 1:
            squares = own @ (values - means[a]) ** 2
            variances[a] = squares / of_all * (len(values) / (len(values) - 1))
    return WeightedMoments(means=means, variances=variances, totals=totals)


def _compared_moments(
    original: Matrix, protected: Matrix, *, weights: Weights
) -> WeightedComparison:
    """Take weighted moments of two tables."""
    return WeightedComparison(
        original=weighted_moments(original, weights.original),
        protected=weighted_moments(protected, weights.protected),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WeightedShares:
    """Shares of the categories of one attribute, before and after."""

    categories: tuple[str, ...]
    of_records: tuple[Floats, Floats]
    of_weights: tuple[Floats, Floats]

    @property
    def weighted_total_variation(self) -> float:
        """Half the sum of the differences of the weighted shares."""
        return _total_variation(self.of_weights)

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as plain values."""
        found: dict[str, Any] = {"categories": list(self.categories)}
        for name, sides in (("unweighted", self.of_records), ("weighted", self.of_weights)):
            before, after = sides
            found[name] = {
                "original": before.tolist(),
                "protected": None if np.isnan(after).all() else after.tolist(),
                "total_variation": plain(_total_variation(sides)),
            }
        return found


def _total_variation(shares: tuple[Floats, Floats]) -> float:
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def compare_weighted_shares(
    original: NDArray[np.signedinteger],
    protected: NDArray[np.signedinteger],
    categories: Sequence[str],
    *,
    weights: Weights,
) -> WeightedShares:
    """Take the shares of categories in two tables, of the records and of the weights."""
    size, after = len(categories), weights.protected

    def shares(codes: NDArray[np.signedinteger], own: Floats | None = None) -> Floats:
        counts = np.bincount(codes, None if own is None else own / own.max(), minlength=size)
        return np.asarray(counts / counts.sum())

    weighted = np.full(size, np.nan) if after is None else shares(protected, after)
    return WeightedShares(
        categories=tuple(categories),
        of_records=(shares(original), shares(protected)),
        of_weights=(shares(original, weights.original), weighted),
    )


def _show(found: Sequence[Measured]) -> tuple[Block, ...]:
    """Show moments and totals, and the shares of categories of the records and by weights."""
    blocks = figures(found)
    for one in found:
        if one.measure.function is compare_weighted_shares:
            for name, shares in (one.result or {}).items():
                blocks += _shares(name, shares)
    return blocks


def _shares(name: str, found: WeightedShares) -> tuple[Block, ...]:
    sides = *found.of_records, *found.of_weights
    rows = (
        (category or "missing", *(figure(100 * share) for share in own))
        for category, *own in zip(found.categories[:MOST_CATEGORIES], *sides, strict=False)
    )
    said = f"Shares of {listed([name])}, in percent: of the records, then weighted."
    if len(found.categories) > MOST_CATEGORIES:
        said += f" The first {MOST_CATEGORIES} of {len(found.categories)}; --json has all of them."
    return paragraph(said), tabulated(("category", "before", "after", "weighted", "after"), rows)


_measure = partial(
    Measure,
    needs_pairs=False,
    by=By.ATTRIBUTE,
    group=Group(title="Weighted figures", show=_show),
    asked_by="weights",
    arguments=("weights",),
)
_moment = partial(
    _measure,
    function=_compared_moments,
    takes=NUMBERS,
    in_blocks=True,
    better=Better.UNCHANGED,
    explanation="closer is better",
    entry="weighted_moments",
    write=WeightedComparison.to_dict,
)

MEASURES = (
    _moment(id="weighted_mean", label="weighted mean", **MEAN),
    _moment(id="weighted_variance", label="weighted variance", **VARIANCE),
    _moment(
        id="weighted_total_error",
        label="relative error of the weighted total",
        short="error of the total",
        explanation="0 = unchanged",
        figure=attrgetter("total_errors"),
        better=Better.ZERO,
        lowest=-math.inf,
    ),
    _measure(
        id="weighted_total_variation",
        label="total variation of weighted shares",
        short="TV",
        explanation="0 = alike, 1 = apart",
        function=compare_weighted_shares,
        takes=TEXT,
        figure=attrgetter("weighted_total_variation"),
        highest=1.0,
        entry="weighted_shares",
    ),
)


def weights_of(both: Opened, column: str | None) -> Weights | None:
    """Read the weights asked for, or the recipe's first, which are no error but a reason."""
    if column is not None:
        return _read(both, column)
    by_role = both.of_role(Role.WEIGHT)
    if not by_role:
        return None
    try:
        return _read(both, by_role[0])
    except DataError as error:
        reason = f"{error.place}: {error.rule}"
        return Weights(column=by_role[0], original=np.empty(0), protected=None, reason=reason)


def _read(both: Opened, column: str) -> Weights:
    """Read weights of both tables; a release whose own are none, by noise, is not weighted."""
    if not isinstance(column, str):
        raise RequestError("weights", "it is the name of a column", "pass weights='WEIGHT'")
    check_columns(both.original, (column,), "original")
    own = _of_original(both.original, column)
    is_there = column in both.protected.names
    if is_there:
        after = _numbers(both.protected, column)
        is_usable = after is not None and bool((after >= 0).all()) and bool(after.any())
        reason = f"its own {column} is no number of 0 or more for every record"
    else:
        after, is_usable = own, both.paired
        reason = f"it has no {column}, and its records are in no common order with the original's"
    return Weights(
        column=column,
        original=own,
        protected=after if is_usable else None,
        are_its_own=is_there and is_usable,
        reason="" if is_usable else reason,
    )


def _of_original(table: Table, column: str) -> Floats:
    """Read weights, each a number of 0 or more, not all 0."""
    own = _numbers(table, column)
    place = f"weights '{column}'"
    if own is None:
        found = table.kind(column).value
        raise DataError(place, f"they are numbers, and the original has: {found}", REMEDY)
    for wrong, rule in (
        (np.isnan(own), "every record needs a weight, and they have none"),
        (own < 0, "a weight is 0 or more"),
    ):
        if wrong.any():
            raise DataError(
                f"{place}, {wrong.sum()} records, the first is record {wrong.argmax() + 1}",
                rule,
                "mend them, with 0 for a record that stands for nobody, or leave them out of both "
                "tables",
            )
    if not own.any():
        raise DataError(place, "they are all 0", REMEDY)
    return own


def _numbers(table: Table, column: str) -> Floats | None:
    """Read a column as numbers, NaN where missing; None where it holds others than numbers."""
    if table.kind(column) not in {Kind.WHOLE, Kind.DECIMAL}:
        return None
    values = numbers_of(table, column)
    return np.where(np.isinf(values), np.nan, values)
