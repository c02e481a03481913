"""Plans by which every record is randomised on its own.

Noise on every value, a draw inside the value's interval, and a draw by a transition matrix.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee.terms import Transition
from microveil.methods.planned import Figures, SinglePlan, about_mean, released_numbers
from microveil.noise.expected_error import (
    expected_interval_error,
    expected_noise_error,
    expected_transition_error,
)
from microveil.noise.noise import RandomSource, continuous_noise
from microveil.noise.shares import posterior_odds
from microveil.noise.transition import drawn_by_rows, drawn_within
from microveil.partition import Partition
from microveil.table import GridColumn, Numbers, Reasons, spread
from microveil.table.threads import pieces

# Noise that is larger counts as so large: 2**62 is a float64 and fits 64 bits.
FARTHEST = 2.0**62


@dataclass(frozen=True, kw_only=True)
class ValuesPlan(SinglePlan):
    """A plan by which every value is randomised on its own: int64 (n_present,), in grid units."""

    values: NDArray[np.int64]

    def _about_mean(self) -> tuple[float, float]:
        """Return squared distances of the values to their mean, and that mean."""
        values, n_values = self.values, len(self.values)
        if not n_values:
            return 0.0, 0.0
        first = values[0]
        apart = _added(values, lambda some: (some - first).astype(np.float64)) / n_values
        squares = _added(values, lambda some: ((some - first).astype(np.float64) - apart) ** 2)
        return squares, _added(values, lambda some: some.astype(np.float64)) / n_values

    def _released(self, units: NDArray[np.int64]) -> Numbers:
        bounds, missing = self.attribute.grid_bounds, self.missing
        clamped = units if bounds is None else np.clip(units, *bounds)
        values = self.attribute.from_grid(clamped)
        return released_numbers(self.attribute, spread(values, missing), missing)


def _added(
    values: NDArray[np.int64], figure: Callable[[NDArray[np.int64]], NDArray[np.float64]]
) -> float:
    """Add up a figure of every value, of some values after others."""
    return sum(float(figure(values[some]).sum()) for some in pieces(len(values)))


@dataclass(frozen=True, kw_only=True)
class NoisePlan(ValuesPlan):
    """Noise of a law on every value (k-noise), of variance delta**2 / 3 in grid units.

    ``delta`` is half the width of an interval.
    """

    law: str
    delta: float

    @cached_property
    def figures(self) -> Figures:
        """What is known of it."""
        values, bounds = self.values, self.attribute.grid_bounds
        return self._figures(
            self._about_mean(),
            len(values),
            {"law": self.law, "delta": self.delta * float(self.attribute.resolution)},
            n_clusters=len(values),
            error=sum(
                expected_noise_error(self.law, self.delta, values[some], bounds)
                for some in pieces(len(values))
            ),
        )

    def draw(self, source: RandomSource) -> Numbers:
        """Add noise to every value, round and clamp."""
        values, limits = self.values.astype(np.int64, copy=False), np.iinfo(np.int64)
        noise = continuous_noise(self.law, self.delta, len(values), source)
        steps = np.clip(np.rint(noise), -FARTHEST, FARTHEST).astype(np.int64)
        # A sum beyond 64 bits would come out at the other end.
        steps = np.clip(
            steps, limits.min - np.minimum(values, 0), limits.max - np.maximum(values, 0)
        )
        return self._released(values + steps)


@dataclass(frozen=True, kw_only=True)
class IntervalPlan(ValuesPlan):
    """A draw among the values of the record's own interval (k-PRAM), or a permutation of these.

    Intervals are clusters of the present records, ascending; ``in_order`` has their values.
    """

    partition: Partition
    in_order: NDArray[np.int64]
    permute: bool

    @cached_property
    def figures(self) -> Figures:
        """What is known of it; cells of intervals that hold one value only come out exactly."""
        sizes, n_intervals = self.partition.sizes, self.partition.n_clusters
        starts = np.cumsum(sizes) - sizes
        least = np.minimum.reduceat(self.in_order, starts)
        exact = int(sizes[least == np.maximum.reduceat(self.in_order, starts)].sum())
        return self._figures(
            self._about_mean(),
            len(self.values),
            {
                "n_intervals": n_intervals,
                "exact_cells": exact,
                "smallest_interval": int(sizes.min()),
                "largest_interval": int(sizes.max()),
            },
            n_clusters=n_intervals,
            error=expected_interval_error(self.in_order, sizes),
            exact_cells=exact,
        )

    def draw(self, source: RandomSource) -> Numbers:
        """Give every record a value of its interval."""
        return self._released(
            drawn_within(self.in_order, self.partition, source, permute=self.permute)
        )


@dataclass(frozen=True, kw_only=True)
class TransitionPlan(SinglePlan):
    """A draw by the row of a transition matrix that belongs to the value (PRAM).

    Its figures follow from how many records have each category. Being missing may be one more,
    behind the values, and each reason of the attribute another. Row k of the weights holds whole
    numbers in proportion to the probabilities of l given k. ``stated`` is the matrix as a guarantee
    states it, or a word where share and domain say it all.
    """

    column: GridColumn
    weights: NDArray[np.int64]
    category_counts: NDArray[np.int64]
    stated: Transition | None = None

    @property
    def _value_counts(self) -> NDArray[np.int64]:
        """How many records have each value of the domain."""
        lower, upper = self.attribute.grid_bounds or (0, 0)
        return self.category_counts[: upper - lower + 1]

    @property
    def _draws_missing(self) -> bool:
        return len(self.weights) > len(self._value_counts)

    @property
    def codes(self) -> NDArray[np.int64]:
        """The category of every record that is drawn for."""
        return self._codes(self.column)

    def _codes(self, column: GridColumn) -> NDArray[np.int64]:
        """Return the category of every record of a column that is drawn for."""
        lower, _ = self.attribute.grid_bounds or (0, 0)
        codes: NDArray[np.int64] = column.values - lower
        absent, reasons = column.missing, column.reasons
        if not self._draws_missing or absent is None:
            return codes
        spent = spread(codes, absent).astype(np.int64)
        spent[absent] = len(self._value_counts)
        if reasons is not None:
            spent += np.maximum(reasons.which + 1, 0)
        return spent

    @cached_property
    def figures(self) -> Figures:
        """What is known of it: of values that stay values, none of which is far from a missing."""
        counts, (lower, _) = self._value_counts, self.attribute.grid_bounds or (0, 0)
        chances = self.weights / self.weights.sum(axis=1, keepdims=True)
        staying, n_cells, error = chances.diagonal(), int(counts.sum()), None
        if self.attribute.kind.is_ranked:
            among_values = self.weights[: len(counts), : len(counts)]
            error = expected_transition_error(among_values, counts)
        return self._figures(
            about_mean(np.arange(len(counts)) + lower, counts),
            n_cells,
            {
                "n_categories": len(self.weights),
                "posterior_odds": posterior_odds(self.weights, self.category_counts).to_dict(),
                "probability_to_stay": {
                    "smallest": float(staying.min()),
                    "largest": float(staying.max()),
                },
            },
            n_clusters=n_cells,
            error=error,
            vector_loss=None if self.share is None else self._loss(chances),
            differing=float(1 - np.average(staying, weights=self.category_counts)),
            category_counts=self.category_counts,
            stated=self.stated,
        )

    def _loss(self, chances: NDArray[np.float64]) -> float | None:
        """Return the largest log-ratio of two chances, from a category there is to any other."""
        there = np.flatnonzero(self.category_counts)
        likeliest, unlikeliest = chances.max(axis=0), chances.min(axis=0)
        if not (unlikeliest > 0).all():
            return None
        most = np.maximum(likeliest / chances[there], chances[there] / unlikeliest)
        return math.log(float(most.max()))

    def draw(self, source: RandomSource) -> Numbers:
        """Give every record a category by its row, exactly in proportion to the weights."""
        return self.drawn(self.column, source)

    def drawn(self, column: GridColumn, source: RandomSource) -> Numbers:
        """Draw the records of a column: the plan's own, or some of them."""
        attribute = self.attribute
        codes = drawn_by_rows(self.weights, self._codes(column), source)
        lower, _ = attribute.grid_bounds or (0, 0)
        if not self._draws_missing:
            values, missing = attribute.from_grid(codes + lower), column.missing
            return released_numbers(attribute, spread(values, missing), missing)
        behind = codes - len(self._value_counts)
        absent, reasons = behind >= 0, None
        if attribute.reasons:
            which = np.maximum(behind - 1, -1).astype(np.int16)
            reasons = Reasons(codes=attribute.reasons, which=which)
        values = attribute.from_grid(np.where(absent, lower, codes + lower))
        missing = absent if absent.any() else None
        return replace(released_numbers(attribute, values, missing), reasons=reasons)
