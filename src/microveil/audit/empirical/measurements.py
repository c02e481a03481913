"""Runs of what a new table is measured by, and what an attacker makes of each.

Everything that is asked of an attribute by itself is run: its private medians, or its noisy
histogram. Nothing is tuned to the table: plan and scales are public, and the same for a
neighbour. The attacker knows both tables but not the jitter of the records, which is drawn anew
in each run: likelihoods are those of an even one, as any function of the outcome will do.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.audit.empirical.experiments import CERTAIN, DECIMALS, Experiment
from microveil.kernels.whole_weights import whole_numbers
from microveil.noise.counts import CountNoise
from microveil.noise.exponential import median_weights
from microveil.noise.noise import RandomSource
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.measurements import (
    AttributeMeasured,
    NoisyCounts,
)
from microveil.synthesis.measuring import CANDIDATES, Counter
from microveil.synthesis.plan import OneWayPlan
from microveil.table import GridColumn

__all__ = ["MeasurementExperiment", "measurement_experiment"]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Runs on the table by which the neighbour that is attacked is chosen.
PILOTS = 100
# Beyond this a pilot's score says no more.
LARGE = 100.0
# Of the ranks, between which records are moved.
QUARTERS = 4


class Score(Protocol):
    """How much more likely an outcome is of one table than of another, in logarithms."""

    def __call__(self, measured: AttributeMeasured) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurementExperiment:
    """The measurement of one attribute on a table and on a neighbour.

    Attributes
    ----------
    part : OneWayPlan
    table, neighbour : Counter
        Of either column.
    score : Score
    """

    part: OneWayPlan
    table: Counter
    neighbour: Counter
    score: Score

    def scores(self, runs: int, source: RandomSource, *, of_neighbour: bool) -> Real:
        """Measure, once a run, and weigh; see `Experiment`."""
        counter = self.neighbour if of_neighbour else self.table
        ratios = [self.score(self.part.measured(counter, 0, source)[0]) for _ in range(runs)]
        clipped: Real = np.clip(np.round(ratios, DECIMALS), -CERTAIN, CERTAIN)
        return clipped


def measurement_experiment(
    part: OneWayPlan,
    column: GridColumn,
    source: RandomSource,
    of_value: Whole | None = None,
) -> Experiment:
    """Make the experiment on a column and on the neighbour of it that is told from it best.

    Parameters
    ----------
    part : OneWayPlan
    column : GridColumn
        Of the table that the plan was made for.
    source : RandomSource
        Of the runs that choose the neighbour.
    of_value : int64 array (n_values,), optional
        The unit of each record that has a value, where all records of one are replaced.
    """
    against, counter = _scoring(part, column), Counter([column])
    candidates = [
        MeasurementExperiment(
            part=part,
            table=counter,
            neighbour=Counter([neighbour]),
            score=against(neighbour),
        )
        for neighbour in (
            _neighbours(part, column) if of_value is None else _of_units(column, of_value)
        )
    ]
    if len(candidates) == 1:
        return candidates[0]
    pilots = [part.measured(counter, 0, source)[0] for _ in range(PILOTS)]
    return max(candidates, key=lambda one: _apart([one.score(pilot) for pilot in pilots]))


def _apart(scores: Sequence[float]) -> float:
    """Estimate how far two laws are apart, by divergences of order 2: large ratios count most.

    By scores of draws from the first law: the mean of P/Q, and of (Q/P)**2.
    """
    ratios = np.clip(scores, -LARGE, LARGE)
    return float(max(np.exp(ratios).mean(), np.exp(-2 * ratios).mean()))


def _neighbours(part: OneWayPlan, column: GridColumn) -> Iterator[GridColumn]:
    """Move a record from one tail to the other; where missing is protected, out and in too."""
    lower, upper = column.attribute.grid_bounds or (0, 0)
    if not len(column.values):
        yield _filled(column, lower)
        return
    least, greatest = int(column.values.argmin()), int(column.values.argmax())
    if not part.rates:
        # Whatever value becomes whatever other one, two counts change by 1.
        yield _moved(column, least, upper if column.values[least] < upper else lower)
        return
    yield from _far_and_near(column)
    if part.has_missing:
        yield from (_emptied(column, record) for record in (least, greatest))
        if column.n_missing:
            yield from (_filled(column, value) for value in (lower, upper))


def _far_and_near(column: GridColumn) -> Iterator[GridColumn]:
    """Move a record from one quarter of the ranks, or end, to each other, or end of the domain.

    From tail to tail a record is felt in every node on the way, within a half in one alone and
    there the more.
    """
    lower, upper = column.attribute.grid_bounds or (0, 0)
    order = np.argsort(column.values, kind="stable")
    ranks = np.linspace(0, len(order) - 1, QUARTERS + 1).astype(np.int64)
    places = [lower, *column.values[order[ranks[1:-1]]].tolist(), upper]
    for record in order[ranks].tolist():
        for place in places:
            if place != column.values[record]:
                yield _moved(column, record, place)


def _of_units(column: GridColumn, of_value: Whole) -> Iterator[GridColumn]:
    """Move all records of a unit to one place: of two of the largest, at the ends of the ranks."""
    lower, upper = column.attribute.grid_bounds or (0, 0)
    sizes = np.bincount(of_value)
    means = np.bincount(of_value, weights=column.values) / np.maximum(sizes, 1)
    largest = np.flatnonzero(sizes == sizes.max())
    in_order = np.sort(column.values)
    ranks = np.linspace(0, len(in_order) - 1, QUARTERS + 1).astype(np.int64)
    places = [lower, *in_order[ranks[1:-1]].tolist(), upper]
    for unit in (largest[means[largest].argmin()], largest[means[largest].argmax()]):
        yield from (_moved(column, np.flatnonzero(of_value == unit), place) for place in places)


def _moved(column: GridColumn, record: int | Whole, value: int) -> GridColumn:
    values = column.values.copy()
    values[record] = value
    return replace(column, values=values)


def _emptied(column: GridColumn, record: int) -> GridColumn:
    """Take the value of a record away; which one of those that are missing it is, is no matter."""
    n_records = len(column.values) + column.n_missing
    missing = np.arange(n_records) <= column.n_missing
    return replace(column, values=np.delete(column.values, record), missing=missing)


def _filled(column: GridColumn, value: int) -> GridColumn:
    """Give a record that lacks one a value."""
    n_records = len(column.values) + column.n_missing
    missing = np.arange(n_records) < column.n_missing - 1
    return replace(column, values=np.append(column.values, value), missing=missing)


def _scoring(part: OneWayPlan, table: GridColumn) -> Callable[[GridColumn], Score]:
    """Return what makes the score of a table against a neighbour."""
    if not part.rates:
        before, noise = _counts(part, table), part.noise
        assert noise is not None  # noqa: S101 -- all counts have noise
        return lambda neighbour: partial(_of_levels, noise, before, _counts(part, neighbour))
    weights = [_Weights.of(rate, part.n_records) for rate in part.rates]
    one, present = _Codes.of(part, table, weights), part.noise
    return lambda neighbour: partial(_of_cuts, present, one, _Codes.of(part, neighbour, weights))


def _counts(part: OneWayPlan, column: GridColumn) -> Whole:
    lower, upper = column.attribute.grid_bounds or (0, 0)
    units = np.subtract(column.values, lower, dtype=np.int64)
    counts = np.bincount(units, minlength=upper - lower + 1)
    return np.append(counts, column.n_missing) if part.has_missing else counts


def _of_levels(
    noise: CountNoise, table: Whole, neighbour: Whole, measured: AttributeMeasured
) -> float:
    return _log_ratio(noise, measured.levels, table, neighbour)


def _log_ratio(noise: CountNoise, seen: NoisyCounts, table: Whole, neighbour: Whole) -> float:
    """Weigh noisy counts by the law of their noise."""
    changed = table != neighbour
    off = [
        (seen.steps[changed] - (counts[changed] << noise.bits)).astype(np.float64)
        for counts in (table, neighbour)
    ]
    if noise.is_gaussian:
        return float((off[1] ** 2 - off[0] ** 2).sum() / (2 * float(noise.scale)))
    return float((np.abs(off[1]) - np.abs(off[0])).sum() / float(noise.scale))


def _of_cuts(
    noise: CountNoise | None, table: "_Codes", neighbour: "_Codes", measured: AttributeMeasured
) -> float:
    assert measured.cuts is not None  # noqa: S101 -- by a plan of cuts
    ratio = table.log_probability(measured.cuts) - neighbour.log_probability(measured.cuts)
    if noise is None or measured.counts is None:
        return ratio
    counts = [np.array([side.n_present, side.n_missing]) for side in (table, neighbour)]
    return ratio + _log_ratio(noise, measured.counts, *counts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weights:
    """The weights of one level by rank, each number of records a stretch about the middle.

    Attributes
    ----------
    even, odd : float64 arrays
        By twice the distance from the middle, which is even where the number of records is, and
        mirrored.
    """

    even: Real
    odd: Real

    @classmethod
    def of(cls, rate: Fraction, n_records: int) -> "_Weights":
        found = whole_numbers(median_weights(rate, n_records))
        # Over the largest, which is 2**160 times the smallest at most.
        falling = np.array([weight / found[0] for weight in found])
        reach = n_records // 2 + 1
        even, odd = (
            falling[np.minimum(np.abs(2 * np.arange(-reach, reach + 1) + shift), len(found) - 1)]
            for shift in (0, 1)
        )
        return cls(even=even, odd=odd)

    def by_rank(self, n_records: int) -> Real:
        """Return the weights of candidates with 0, 1, ... of so many records below them."""
        weights = self.odd if n_records % 2 else self.even
        first = len(weights) // 2 - (n_records + 1) // 2
        return weights[first : first + n_records + 1]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Codes:
    """A column on the candidates for cuts, equal values spread evenly over their grid step.

    Attributes
    ----------
    codes : int64 array (n_present,)
        Ascending.
    candidates : Candidates
    weights : list of _Weights
        By level.
    n_missing : int
    """

    codes: Whole
    candidates: Candidates
    weights: Sequence[_Weights]
    n_missing: int

    @classmethod
    def of(
        cls,
        part: OneWayPlan,
        column: GridColumn,
        weights: Sequence[_Weights],
        n_candidates: int = CANDIDATES,
    ) -> "_Codes":
        values = np.sort(column.values)
        _, first, sizes = np.unique(values, return_index=True, return_counts=True)
        place = np.arange(len(values)) - np.repeat(first, sizes)
        even = (place + 0.5) / np.repeat(sizes, sizes)
        words = (even * 2.0**53).astype(np.uint64) << np.uint64(11)
        lower, upper = part.bounds
        candidates = Candidates(lower=lower, upper=upper, count=n_candidates)
        return cls(
            codes=np.sort(candidates.codes(values, words)),
            candidates=candidates,
            weights=weights,
            n_missing=column.n_missing,
        )

    @property
    def n_present(self) -> int:
        """How many records have a value."""
        return len(self.codes)

    def log_probability(self, cuts: Cuts) -> float:
        """Return the logarithm of the chance of these cuts, node by node of the tree."""
        ends = {0: 0, 1 << cuts.depth: self.candidates.count + 1}
        ends |= dict(zip(cuts.numbers.tolist(), cuts.codes.tolist(), strict=True))
        total = 0.0
        for level, weights in enumerate(self.weights):
            step = 1 << (cuts.depth - level)
            for left in range(0, 1 << cuts.depth, step):
                middle = left + step // 2
                if middle in ends:
                    total += self._node(ends[left], ends[left + step], ends[middle], weights)
        return total

    def _node(self, i: int, j: int, cut: int, weights: _Weights) -> float:
        """Weigh a cut in the node of the candidates between i and j; see `recursive_medians`."""
        low, at, high = self.codes.searchsorted((i, cut, j)).tolist()
        borders = np.empty(high - low + 2, dtype=np.int64)
        borders[0], borders[1:-1], borders[-1] = i, self.codes[low:high], j - 1
        by_rank = weights.by_rank(high - low)
        return math.log(by_rank[at - low] / float((borders[1:] - borders[:-1]) @ by_rank))
