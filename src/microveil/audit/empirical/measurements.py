"""Runs of what a new table is measured by, and what an attacker makes of each.

Everything that is asked of an attribute by itself is run: its private medians, or its noisy
histogram. Nothing is tuned to the table: plan and scales are public, and the same for a
neighbour. The attacker knows both tables but not the jitter of the records, which is drawn anew
in each run: likelihoods are those of an even one, as any function of the outcome will do.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from microveil.audit.empirical.experiments import Experiment, weighed
from microveil.kernels.synthesis import whole_numbers
from microveil.noise.counts import CountNoise
from microveil.noise.exponential import median_weights
from microveil.noise.noise import RandomSource
from microveil.noise.passing import tail_bounds
from microveil.schema import widest
from microveil.synthesis.cuts import Candidates, Cuts
from microveil.synthesis.measuring import CANDIDATES, Counter, is_atom
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.one_way_plan import CLEARLY, OneWayPlan
from microveil.table import GridColumn

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Runs on the table by which the neighbour that is attacked is chosen.
PILOTS = 100
# Beyond this a pilot's score says no more.
LARGE = 100.0
# Bits of the tails of noise.
TAIL_BITS = 128
# Of the ranks, between which records are moved.
QUARTERS = 4


# How much more likely an outcome is of one table than of another, in logarithms.
Score = Callable[[AttributeMeasured], float]


def measurement_experiment(
    part: OneWayPlan,
    column: GridColumn,
    source: RandomSource,
    of_value: Whole | None = None,
) -> Experiment:
    """Make the experiment on a column and on the neighbour of it that is told from it best.

    ``source`` is of the runs that choose the neighbour. ``of_value`` is the unit of each record
    that has a value, where all records of one are replaced.
    """
    against, table = _scoring(part, column), Counter([column])
    tried = _neighbours(part, column) if of_value is None else _of_units(column, of_value)
    neighbours = [(against(one), Counter([one])) for one in tried]
    chosen = neighbours[0]
    if len(neighbours) > 1:
        pilots = [part.measured(table, 0, source)[0] for _ in range(PILOTS)]
        chosen = max(neighbours, key=lambda one: _apart([one[0](pilot) for pilot in pilots]))
    score, neighbour = chosen

    def scores(runs: int, source: RandomSource, of_neighbour: bool) -> Real:
        counter = neighbour if of_neighbour else table
        return weighed([score(part.measured(counter, 0, source)[0]) for _ in range(runs)])

    return scores


def _apart(scores: Sequence[float]) -> float:
    """Estimate how far two laws are apart, by divergences of order 2: large ratios count most.

    By scores of draws from the first law: the mean of P/Q, and of (Q/P)**2.
    """
    ratios = np.clip(scores, -LARGE, LARGE)
    return float(max(np.exp(ratios).mean(), np.exp(-2 * ratios).mean()))


def _neighbours(part: OneWayPlan, column: GridColumn) -> Iterator[GridColumn]:
    """Move a record from one tail to the other; where missing is protected, out and in too."""
    lower, upper = _ends(column)
    if not len(column.values):
        yield _filled(column, lower)
        return
    least, greatest = int(column.values.argmin()), int(column.values.argmax())
    if not part.is_number:
        # Whatever value becomes whatever other one, two counts change by 1.
        yield _moved(column, least, upper if column.values[least] < upper else lower)
        return
    yield from _far_and_near(column)
    if part.has_missing:
        # Which one of those that are missing it becomes, is no matter.
        missing = np.arange(len(column.values) + column.n_missing) <= column.n_missing
        for record in (least, greatest):
            yield replace(column, values=np.delete(column.values, record), missing=missing)
        if column.n_missing:
            yield from (_filled(column, value) for value in (lower, upper))


def _far_and_near(column: GridColumn) -> Iterator[GridColumn]:
    """Move a record from one quarter of the ranks, or end, to each other, or end of the domain.

    From tail to tail a record is felt in every node on the way, within a half in one alone and
    there the more.
    """
    order = np.argsort(column.values, kind="stable")
    ranks = np.linspace(0, len(order) - 1, QUARTERS + 1).astype(np.int64)
    places = _places(column)
    for record in order[ranks].tolist():
        for place in places:
            if place != column.values[record]:
                yield _moved(column, record, place)


def _of_units(column: GridColumn, of_value: Whole) -> Iterator[GridColumn]:
    """Move all records of a unit to one place: of two of the largest, at the ends of the ranks."""
    sizes = np.bincount(of_value)
    means = np.bincount(of_value, weights=column.values) / np.maximum(sizes, 1)
    largest = np.flatnonzero(sizes == sizes.max())
    for unit in (largest[means[largest].argmin()], largest[means[largest].argmax()]):
        records = np.flatnonzero(of_value == unit)
        yield from (_moved(column, records, place) for place in _places(column))


def _places(column: GridColumn) -> list[int]:
    """Return the ends of a domain, and the quarters of the values between them."""
    lower, upper = _ends(column)
    ranks = np.linspace(0, len(column.values) - 1, QUARTERS + 1).astype(np.int64)
    return [lower, *np.sort(column.values)[ranks[1:-1]].tolist(), upper]


def _ends(column: GridColumn) -> tuple[int, int]:
    """Return the ends of a domain; where none is declared values beyond those that occur."""
    if column.words:
        return 0, len(column.words) - 1
    if column.attribute.grid_bounds is not None or not len(column.values):
        return column.attribute.grid_bounds or (0, 0)
    return int(column.values.min()) - 1, int(column.values.max()) + 1


def _moved(column: GridColumn, record: int | Whole, value: int) -> GridColumn:
    values = column.values.copy()
    values[record] = value
    return replace(column, values=values)


def _filled(column: GridColumn, value: int) -> GridColumn:
    """Give a record that lacks one a value."""
    n_records = len(column.values) + column.n_missing
    missing = np.arange(n_records) < column.n_missing - 1
    return replace(column, values=np.append(column.values, value), missing=missing)


def _scoring(part: OneWayPlan, table: GridColumn) -> Callable[[GridColumn], Score]:
    """Return what makes the score of a table against a neighbour."""
    if not part.is_number and part.learning is None:
        before, noise = _counts(part, table), part.noise
        assert noise is not None  # noqa: S101 -- all counts have noise
        return lambda neighbour: partial(_of_levels, noise, before, _counts(part, neighbour))
    weights = {
        len(depth.rates): [_Weights.of(rate, part.n_records) for rate in depth.rates]
        for depth in part.depths
    }
    one = _Codes.of(part, table, weights)
    return lambda neighbour: partial(_of_numbers, part, one, _Codes.of(part, neighbour, weights))


def _counts(part: OneWayPlan, column: GridColumn) -> Whole:
    lower, upper = column.attribute.grid_bounds or (0, 0)
    units = np.subtract(column.values, lower, dtype=np.int64)
    counts = np.bincount(units, minlength=upper - lower + 1)
    return np.append(counts, column.n_missing) if part.has_missing else counts


def _of_levels(
    noise: CountNoise, table: Whole, neighbour: Whole, measured: AttributeMeasured
) -> float:
    # A count of the missing ones that does not stand out is not shown.
    steps = measured.levels.steps
    return _log_ratio(noise, steps, table[: len(steps)], neighbour[: len(steps)])


def _log_ratio(noise: CountNoise, steps: Whole, table: Whole, neighbour: Whole) -> float:
    """Weigh noisy counts by the law of their noise."""
    changed = table != neighbour
    off = [
        (steps[changed] - (counts[changed] << noise.bits)).astype(np.float64)
        for counts in (table, neighbour)
    ]
    if noise.is_gaussian:
        return float((off[1] ** 2 - off[0] ** 2).sum() / (2 * float(noise.scale)))
    return float((np.abs(off[1]) - np.abs(off[0])).sum() / float(noise.scale))


def _of_numbers(
    part: OneWayPlan, table: "_Codes", neighbour: "_Codes", measured: AttributeMeasured
) -> float:
    """Weigh what is shown, what is not, and cuts of the rest or cells."""
    ratio, noise, counts = 0.0, part.noise, measured.counts
    sides = table, neighbour
    if part.learning is not None and noise is not None and counts is not None:
        ratio = _of_shown(part, sides, measured)
        if measured.has_missing:
            absent = (np.array([side.n_missing]) for side in sides)
            ratio += _log_ratio(noise, counts.steps[-1:], *absent)
        elif part.has_missing:  # it did not stand out, and is not shown
            least = math.ceil(CLEARLY * math.sqrt(noise.variance) * (1 << noise.bits))
            hidden = [_hidden(noise, least - (side.n_missing << noise.bits)) for side in sides]
            ratio += hidden[0] - hidden[1]
    elif noise is not None and counts is not None:
        present = (np.array([side.n_present, side.n_missing]) for side in sides)
        ratio = _log_ratio(noise, counts.steps, *present)
    if measured.cells is not None:
        cells = measured.cells
        held = (np.histogram(side.values, cells.borders)[0] for side in sides)
        return ratio + _log_ratio(cells.counts.noise, cells.counts.steps, *held)
    if measured.cuts is not None:
        logs = [side.log_probability(measured.cuts, measured.atoms) for side in sides]
        ratio += logs[0] - logs[1]
    return ratio


def _of_shown(
    part: OneWayPlan, sides: "tuple[_Codes, _Codes]", measured: AttributeMeasured
) -> float:
    """Weigh the counts that are shown, and those that changed and are not."""
    learning, noise, counts = part.learning, part.noise, measured.counts
    assert learning is not None  # noqa: S101 -- there are values that may be shown
    assert noise is not None  # noqa: S101 -- with noise
    assert counts is not None  # noqa: S101 -- and counts
    names = measured.attribute.categories
    total = 0.0
    for value in sides[0].changed(sides[1]):
        own = [side.count(value) for side in sides]
        place = -1
        if measured.atoms is not None:
            found = np.flatnonzero(measured.atoms == value)
            place = int(found[0]) if len(found) else -1
        elif names is not None and sides[0].words[value] in _listed(measured):
            place = _listed(measured).index(sides[0].words[value])
        if place >= 0:
            one, other = (np.array([count]) for count in own)
            total += _log_ratio(noise, counts.steps[place : place + 1], one, other)
        else:
            hidden = [_hidden(noise, (learning.threshold - count) << noise.bits) for count in own]
            total += hidden[0] - hidden[1]
    return total


def _listed(measured: AttributeMeasured) -> tuple[str | int, ...]:
    """Return the words that are shown, each with a count of its own."""
    categories = measured.attribute.categories
    listed = () if categories is None else categories.values
    return listed[:-1] if measured.has_rest else listed


def _hidden(noise: CountNoise, least: int) -> float:
    """Return the logarithm of the chance that noise is less than so many steps."""
    if least > 0:
        return math.log1p(-tail_bounds(noise, least, TAIL_BITS)[0] / 2.0**TAIL_BITS)
    return math.log(max(tail_bounds(noise, 1 - least, TAIL_BITS)[1], 1) / 2.0**TAIL_BITS)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Weights:
    """The weights of one level by rank, for an even and an odd number of records, mirrored."""

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

    Weights are by depth and level; words are what values of text are.
    """

    values: Whole
    codes: Whole
    candidates: Candidates
    weights: Mapping[int, Sequence[_Weights]]
    n_missing: int
    words: Sequence[str] = ()

    @classmethod
    def of(
        cls,
        part: OneWayPlan,
        column: GridColumn,
        weights: Mapping[int, Sequence[_Weights]],
        n_candidates: int = CANDIDATES,
    ) -> "_Codes":
        values = np.sort(column.values).astype(np.int64)
        _, first, sizes = np.unique(values, return_index=True, return_counts=True)
        place = np.arange(len(values)) - np.repeat(first, sizes)
        even = (place + 0.5) / np.repeat(sizes, sizes)
        words = (even * 2.0**53).astype(np.uint64) << np.uint64(11)
        lower, upper = part.attribute.grid_bounds or widest(part.attribute)
        candidates = Candidates(lower=lower, upper=upper, count=n_candidates)
        return cls(
            values=values,
            codes=candidates.codes(values, words) if part.is_number else values,
            candidates=candidates,
            weights=weights,
            n_missing=column.n_missing,
            words=column.words,
        )

    @property
    def n_present(self) -> int:
        """How many records have a value."""
        return len(self.codes)

    def count(self, value: int) -> int:
        """Count the records with a value."""
        return int(np.diff(self.values.searchsorted((value, value + 1)))[0])

    def changed(self, other: "_Codes") -> list[int]:
        """List the values that more, or fewer, records have than in another table."""
        both = np.union1d(self.values, other.values)
        own, others = (np.searchsorted(side.values, both, side="right") for side in (self, other))
        differ = np.diff(own - others, prepend=0) != 0
        found: list[int] = both[differ].tolist()
        return found

    def log_probability(self, cuts: Cuts, atoms: Whole | None) -> float:
        """Return the logarithm of the chance of these cuts, node by node of the tree."""
        ends = {0: 0, 1 << cuts.depth: self.candidates.count + 1}
        ends |= dict(zip(cuts.numbers.tolist(), cuts.codes.tolist(), strict=True))
        codes = self.codes
        if atoms is not None and len(atoms):
            codes = codes[~is_atom(self.values, atoms)]
        total = 0.0
        for level, weights in enumerate(self.weights[cuts.depth]):
            step = 1 << (cuts.depth - level)
            for left in range(0, 1 << cuts.depth, step):
                middle = left + step // 2
                if middle in ends:
                    own = ends[left], ends[left + step], ends[middle]
                    total += _node(codes, *own, weights)
        return total


def _node(codes: Whole, i: int, j: int, cut: int, weights: _Weights) -> float:
    """Weigh a cut in the node of the candidates between i and j; see `recursive_medians`.

    Candidates are taken as the list has them, also where a level has more around what is known.
    """
    low, at, high = codes.searchsorted((i, cut, j)).tolist()
    borders = np.empty(high - low + 2, dtype=np.int64)
    borders[0], borders[1:-1], borders[-1] = i, codes[low:high], j - 1
    by_rank = weights.by_rank(high - low)
    return math.log(by_rank[at - low] / float((borders[1:] - borders[:-1]) @ by_rank))
