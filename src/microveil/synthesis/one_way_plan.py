"""What is asked of one attribute by itself: planned by public figures, then asked of a counter.

METHODS section 11, A to C: categories that occur, numbers that many records share, decimals and
domains are learnt inside the budget where nothing is declared.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.noise.counts import CountNoise, NoisyCounts
from microveil.noise.exponential import draw_weighted, median_weights
from microveil.noise.noise import RandomSource
from microveil.noise.passing import passing
from microveil.schema import EPOCH, Attribute, Bounds, Kind, Source, widest
from microveil.synthesis.cells import Cells
from microveil.synthesis.cuts import Candidates, Codes, recursive_medians
from microveil.synthesis.kinds import kind_shown
from microveil.synthesis.measuring import Counter, Tally
from microveil.synthesis.one_way import AttributeMeasured, with_categories
from microveil.table import GridColumn

Whole = NDArray[np.int64]
# Attributes of a table, and draws of a plan, have them in common.
_weights = lru_cache(maxsize=64)(median_weights)
# Grid values around 0 that have a count of their own, whether they occur or not, and by how many
# standard deviations of the noise one stands out.
NEAR, STANDS_OUT = 16, 4
# Records without a value, or of no category that is shown, are taken to be none where their number
# stands out less than by so many deviations of its noise: of a column without any they are shown
# once in 570 draws with Laplace noise, in 31,000 with Gaussian.
CLEARLY = 4
# A learnt domain reaches so many times as far from 0 as the outermost value that was learnt: of
# three levels of cuts and more, by which a heavy tail is told from a light one, and of fewer. Of
# dates as far beyond what was learnt as that is wide.
REACH, REACH_OF_FEW, FEW_LEVELS = 16, 4, 2
# Cells of what is no atom: single values so far from 0, then up to each power of 2.
SINGLE, OCTAVES = 32, range(5, 54)
# And of dates: five years each where most of them lie.
YEARS = [1700, 1800, 1850, *range(1900, 2055, 5), 2100, 2200, 2300]
# What the rest of the categories is called.
REST = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """From when on a value is shown, by itself and with its count.

    It is where it has ``threshold`` noisy records, of a list of values that all have noise:
    ``is_declared``. Else values that occur alone have: then a value that only one unit has is
    shown with a chance of at most ``delta``, a tail of the noise beyond the threshold.
    """

    threshold: int
    delta: Fraction = Fraction(0)
    is_declared: bool = False


@dataclass(frozen=True, slots=True)
class Depth:
    """A depth of cuts: the rate of each level, and the records for which they are worth it."""

    rates: tuple[Fraction, ...]
    least_records: Fraction


def threshold(noise: CountNoise, delta: Fraction, max_rows: int) -> int:
    """Return from how many noisy records on a value may be shown for so small a delta.

    A value that only one unit has, in k of its ``max_rows`` records at most, must not be shown:
    the least whole T with max_rows P(Z >= T - k) / k <= delta for all k. Of discrete Gaussian
    noise P(Z >= m), m at least 1, is at most P(Y >= m - 1) of the continuous law: the sum from m
    on is at most the integral from m - 1 on, and the sum over all whole numbers at least that
    over all numbers (by Poisson's summation). So T is above the least one by 1 at most.

    >>> from microveil.noise.counts import gaussian_noise
    >>> threshold(gaussian_noise(Fraction(1, 100)), Fraction(1, 10**9), 1)
    62
    """
    deviation = math.sqrt(noise.variance)
    scores = (
        (k, -float(scipy.special.ndtri(float(delta * k / max_rows))))
        for k in range(1, max_rows + 1)
    )
    # Rounded up by more than floating point is off.
    return max(math.ceil(k + 1 + deviation * score * (1 + 1e-9)) for k, score in scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneWayPlan:
    """What is asked of one attribute by itself.

    ``noise`` is that on the counts of all values; of numbers with ``depths``, the deepest first,
    on those of atoms, values that are shown by ``learning``, and of the records without a value.
    Without atoms it is that on the number of records with and without one, and None unless missing
    is protected. Which depth is taken hangs on how many records are left, as noisy counts have it;
    where none is worth its budget coarse ``cells`` are counted. ``decimals`` is the noise on how
    many decimals values have. Where the kind of a column is learnt, ``kinds`` is the noise on how
    many cells are of each, and ``others`` are the plans of what it may turn out to hold, from the
    least general on; the most general is planned here. ``share`` is of epsilon all that is spent on
    it; None where it is in tables with others too, or the budget is one of rho: then the epsilon of
    the whole alone bounds what it shows.
    """

    attribute: Attribute
    n_records: int
    share: Fraction | None
    noise: CountNoise | None
    has_missing: bool
    depths: tuple[Depth, ...] = ()
    cells: CountNoise | None = None
    learning: Learning | None = None
    decimals: CountNoise | None = None
    kinds: CountNoise | None = None
    others: "tuple[OneWayPlan, ...]" = ()

    @property
    def is_number(self) -> bool:
        """Whether cuts are made, or cells counted, as of a number of many values."""
        return bool(self.depths) or self.cells is not None

    @property
    def is_computed(self) -> bool:
        """Whether nothing is asked of it, as a rule says how it is made of other columns."""
        return not self.is_number and self.noise is None

    @property
    def rates(self) -> tuple[Fraction, ...]:
        """The rates of the levels of cuts where no record is at an atom."""
        return self.depths[0].rates if self.depths else ()

    @property
    def worth(self) -> Fraction:
        """Records between the last cuts, in units of how far these lie off: n rate / 2**depth."""
        if not self.rates:
            return Fraction(0)
        return self.rates[-1] * self.n_records / (1 << len(self.rates))

    @property
    def each(self) -> "tuple[OneWayPlan, ...]":
        """The plans of all that it may turn out to hold; itself, where that is known."""
        return (*self.others, replace(self, kinds=None, others=()))

    def of_kind(self, kind: Kind) -> "OneWayPlan":
        """Return its plan where it turns out to be of a kind."""
        return next(own for own in self.each if own.attribute.kind is kind)

    def measured(
        self, counter: Counter, number: int, source: RandomSource
    ) -> tuple[AttributeMeasured, Codes | None]:
        """Ask for what is planned of a column; return codes of cuts too: their jitter is secret."""
        if self.kinds is not None:
            cells = NoisyCounts.of(counter.kinds(number), self.kinds, source)
            part = self.of_kind(kind_shown(cells, [own.attribute.kind for own in self.each]))
            counter.take_as(number, part.attribute)
            found, codes = part.measured(counter, number, source)
            return replace(found, kinds=cells), codes
        if self.is_number:
            return _numbers(self, counter, number, source)
        if self.learning is not None:
            return _categories(self, self.learning, counter, number, source), None
        assert self.noise is not None  # noqa: S101 -- all values are counted
        counts = counter.histogram(number)[: None if self.has_missing else -1]
        noisy = NoisyCounts.of(counts, self.noise, source)
        has_missing = self.has_missing and _is_clear(int(noisy.steps[-1]), self.noise, 1)
        last = len(counts) - (self.has_missing and not has_missing)
        return AttributeMeasured(
            attribute=self.attribute,
            counts=replace(noisy, steps=noisy.steps[:last]),
            has_missing=has_missing,
            n_records=self.n_records,
        ), None

    def to_dict(self) -> dict[str, Any]:
        """Return the public figures of the plan."""
        attribute, domain, learning = self.attribute, self.attribute.domain, self.learning
        found: dict[str, Any] = {
            "share": None if self.share is None else str(self.share),
            "bounds": None if domain is None else list(attribute.written_domain or ()),
            "bounds_source": attribute.domain_source.value,
            "resolution": float(attribute.resolution),
            "resolution_source": attribute.resolution_source.value,
            "missing_cells": 0,
        }
        if learning is not None:
            found |= {"shown_from": learning.threshold, "delta": float(learning.delta)}
        if self.kinds is not None:
            own = {part.attribute.kind.value: part.to_dict() for part in self.each}
            return {**found, "kind_deviation": self.kinds.variance**0.5, "by_kind": own}
        if self.is_computed:
            return {**found, "computed": True}
        if self.is_number:
            rates = [float(rate) for rate in self.rates]
            return {**found, "depth": len(rates), "rates": rates}
        assert self.noise is not None  # noqa: S101 -- all values are counted
        return {**found, "standard_deviation": self.noise.variance**0.5}


def with_kind_held(part: OneWayPlan, column: GridColumn) -> tuple[OneWayPlan, GridColumn]:
    """Take the kind that the cells of a column show as known: what is left of both."""
    if part.kinds is None:
        return part, column
    if column.untyped is None:  # it stands in for one
        return part.each[-1], column
    untyped = column.untyped.looked_at()
    cells = NoisyCounts(steps=untyped.counts() << part.kinds.bits, noise=part.kinds)
    held = part.of_kind(kind_shown(cells, [own.attribute.kind for own in part.each]))
    return held, untyped.as_kind(held.attribute)


def _categories(
    plan: OneWayPlan, learning: Learning, counter: Counter, number: int, source: RandomSource
) -> AttributeMeasured:
    """Learn the categories of text, and count them: METHODS section 11, A."""
    assert plan.noise is not None  # noqa: S101 -- all values are counted
    tally, absent = counter.words(number)
    by_word = dict[str, int]()
    for words, counts in tally:
        least = np.full(len(counts), learning.threshold << plan.noise.bits)
        shown, steps = (own.tolist() for own in _shown(plan.noise, counts, least, source))
        by_word |= {words[place]: step for place, step in zip(shown, steps, strict=True)}
    listed = sorted(by_word)
    in_order = np.array([by_word[word] for word in listed], dtype=np.int64)
    of_missing = _missing(plan, absent, source)
    rest = (plan.n_records << plan.noise.bits) - int(in_order.sum()) - int(of_missing.sum())
    has_rest = not listed or _is_clear(rest, plan.noise, len(in_order) + len(of_missing))
    in_list = [*listed, _rest_beside(listed)] if has_rest else listed
    attribute = with_categories(plan.attribute, tuple(in_list))
    # Words that are not shown are in the bin of the rest; where that is nobody, of the commonest.
    counter.adopt(number, attribute, len(listed) if has_rest else int(in_order.argmax()))
    of_rest = [rest] if has_rest else []
    return AttributeMeasured(
        attribute=attribute,
        counts=NoisyCounts(
            steps=np.concatenate((in_order, of_rest, of_missing)).astype(np.int64), noise=plan.noise
        ),
        has_missing=len(of_missing) > 0,
        has_rest=has_rest,
        n_records=plan.n_records,
    )


def _missing(plan: OneWayPlan, absent: int, source: RandomSource) -> Whole:
    """Count the records without a value: none where noise alone may have made the count."""
    assert plan.noise is not None  # noqa: S101 -- there are counts
    found = np.array([absent] if plan.has_missing else [], dtype=np.int64)
    steps = plan.noise.added(found, source)
    return steps[:0] if len(steps) and not _is_clear(int(steps[0]), plan.noise, 1) else steps


def _is_clear(steps: int, noise: CountNoise, n_summed: int) -> bool:
    """Whether a sum of noisy counts stands out of their noise."""
    return steps >= CLEARLY * math.sqrt(noise.variance * n_summed) * (1 << noise.bits)


def _rest_beside(listed: list[str]) -> str:
    """Name the rest of the categories, as none of those that are shown is named."""
    name, number = REST, 1
    while name in listed:
        number += 1
        name = f"{REST} {number}"
    return name


def _shown(
    noise: CountNoise, counts: Whole, least: Whole, source: RandomSource
) -> tuple[Whole, Whole]:
    """Return which counts reach so many steps with their noise, ascending, and the noisy counts.

    Of those that only much noise lets reach it is drawn whether they do: see `passing`.
    """
    needed = least - (counts << noise.bits)
    far = needed > 0
    near = np.flatnonzero(~far)
    steps = noise.added(counts[near], source)
    reached = steps >= least[near]
    where, drawn = passing(noise, needed[far], source)
    others = np.flatnonzero(far)[where]
    places = np.concatenate((near[reached], others))
    found = np.concatenate((steps[reached], (counts[others] << noise.bits) + drawn))
    order = np.argsort(places)
    return places[order], found[order]


def _numbers(
    plan: OneWayPlan, counter: Counter, number: int, source: RandomSource
) -> tuple[AttributeMeasured, Codes]:
    """Ask for atoms, then for cuts of the rest, or for cells: METHODS section 11, B and C."""
    attribute = plan.attribute
    if plan.decimals is not None:
        attribute = _with_decimals(plan, plan.decimals, counter, number, source)
        counter.adopt(number, attribute)
    domain = attribute.grid_bounds or widest(attribute)
    candidates = Candidates(lower=domain[0], upper=domain[1], count=counter.n_candidates)
    found = AttributeMeasured(
        attribute=attribute,
        counts=None,
        has_missing=plan.has_missing,
        candidates=candidates,
        n_records=plan.n_records,
    )
    n_rest = Fraction(plan.n_records)
    if plan.learning is not None:
        assert plan.noise is not None  # noqa: S101 -- there are atoms
        tally, absent = counter.values(number)
        atoms, steps = _atoms(plan, domain, tally, source)
        of_missing = _missing(plan, absent, source)
        steps = np.append(steps, of_missing)
        counted = NoisyCounts(steps=steps, noise=plan.noise)
        found = replace(found, atoms=atoms, counts=counted, has_missing=len(of_missing) > 0)
        of_rest = (plan.n_records << plan.noise.bits) - int(steps.sum())
        # Cuts of a rest that is noise alone would be anywhere: its values are all atoms.
        is_there = not len(steps) or _is_clear(of_rest, plan.noise, len(steps))
        n_rest = Fraction(of_rest if is_there else 0, 1 << plan.noise.bits)
    depth = next((one for one in plan.depths if n_rest >= one.least_records), None)
    if depth is None:
        assert plan.cells is not None  # noqa: S101 -- planned beside atoms
        borders = _borders(attribute, domain, found.atoms)
        own = NoisyCounts.of(counter.cells(number, borders), plan.cells, source)
        found = replace(found, cells=Cells(borders=borders, counts=own))
    codes = counter.coded(number, candidates, source.spawn(1)[0], found.atoms)
    if depth is not None:
        found = _with_cuts(found, depth.rates, codes, source)
    if plan.noise is not None and plan.learning is None:
        found = replace(found, counts=_present(found, plan.noise, codes, source))
    return (_with_domain(found) if attribute.domain is None else found), codes


def _with_cuts(
    measured: AttributeMeasured, rates: Sequence[Fraction], codes: Codes, source: RandomSource
) -> AttributeMeasured:
    """Cut what is no atom, around what is known where no domain is declared."""
    assert measured.candidates is not None  # noqa: S101 -- it is a number
    known = np.zeros(0) if measured.atoms is None else measured.atoms.astype(np.float64)
    is_declared = measured.attribute.domain_source is not Source.LEARNT
    cuts = recursive_medians(
        codes,
        measured.candidates,
        [_weights(rate, measured.n_records) for rate in rates],
        partial(draw_weighted, source=source),
        source.integer_below,
        None if is_declared else known,
    )
    return replace(measured, cuts=cuts, rates=tuple(map(float, rates)))


def _present(
    measured: AttributeMeasured, noise: CountNoise, codes: Codes, source: RandomSource
) -> NoisyCounts:
    """Count the records with and without a value."""
    assert measured.candidates is not None  # noqa: S101 -- it is a number
    n_present = codes.below(measured.candidates.count + 1)
    return NoisyCounts.of(np.array([n_present, measured.n_records - n_present]), noise, source)


def measured_again(
    measured: AttributeMeasured, counter: Counter, number: int, source: RandomSource
) -> tuple[AttributeMeasured, Codes | None]:
    """Measure an attribute as it was measured, of other records: what was learnt is held."""
    noisy, candidates = measured.counts, measured.candidates
    if candidates is None:
        counts = counter.histogram(number)[: None if measured.has_missing else -1]
        again = NoisyCounts.of(counts, measured.levels.noise, source)
        if measured.has_rest:  # nobody counted it: it is what the others leave
            place = len(counts) - 1 - measured.has_missing
            again.steps[place] = 0
            again.steps[place] = (measured.n_records << again.noise.bits) - again.steps.sum()
        return replace(measured, counts=again), None
    if measured.atoms is not None and noisy is not None:
        tally, absent = counter.values(number)
        by_value = {
            value: count
            for values, counts in tally
            for value, count in zip(values.tolist(), counts.tolist(), strict=True)
        }
        own = [by_value.get(value, 0) for value in measured.atoms.tolist()]
        counts = np.array([*own, *([absent] if measured.has_missing else [])], dtype=np.int64)
        measured = replace(measured, counts=NoisyCounts.of(counts, noisy.noise, source))
    codes = counter.coded(number, candidates, source.spawn(1)[0], measured.atoms)
    if measured.cells is not None:
        borders, noise = measured.cells.borders, measured.cells.counts.noise
        again = NoisyCounts.of(counter.cells(number, borders), noise, source)
        return replace(measured, cells=Cells(borders=borders, counts=again)), codes
    found = _with_cuts(measured, [*map(Fraction, measured.rates)], codes, source)
    if measured.atoms is None and noisy is not None:
        found = replace(found, counts=_present(found, noisy.noise, codes, source))
    return found, codes


def _with_decimals(
    plan: OneWayPlan, noise: CountNoise, counter: Counter, number: int, source: RandomSource
) -> Attribute:
    """Learn how many decimals values have: the most that enough records still need.

    Half of them are enough where noise hides as many: fractions would all be 0 or 1.
    """
    counts = NoisyCounts.of(counter.decimals(number), noise, source)
    from_here = np.cumsum(counts.counts[::-1])[::-1]
    deviations = np.sqrt(noise.variance * np.arange(len(from_here), 0, -1))
    enough = np.minimum(STANDS_OUT * deviations, plan.n_records / 2)
    reached = np.flatnonzero(from_here >= enough)
    places = int(reached[-1]) if len(reached) else 0
    step = Fraction(1, 10**places)
    return replace(plan.attribute, resolution=step, resolution_source=Source.LEARNT)


def _atoms(
    plan: OneWayPlan, domain: tuple[int, int], tally: Tally, source: RandomSource
) -> tuple[Whole, Whole]:
    """Return the values that have counts of their own, ascending, and these in steps."""
    learning, noise = plan.learning, plan.noise
    assert learning is not None  # noqa: S101 -- there are atoms
    assert noise is not None  # noqa: S101 -- with noise
    least, near = learning.threshold << noise.bits, np.zeros(0, dtype=np.int64)
    if not learning.is_declared and plan.attribute.kind is not Kind.DATE:
        near = np.arange(max(domain[0], -NEAR), min(domain[1], NEAR) + 1)
    # In whole steps, rounded up: a public figure.
    stands_out = math.ceil(STANDS_OUT * math.sqrt(noise.variance) * (1 << noise.bits))
    atoms, counted, seen = list[Whole](), list[Whole](), list[Whole]()
    for values, counts in _with_unseen(tally, near):
        needed = np.where(np.isin(values, near), min(stands_out, least), least)
        shown, steps = _shown(noise, counts, needed, source)
        atoms.append(values[shown])
        counted.append(steps)
        # A declared grid has so many values that they may all be held.
        seen += [values] if learning.is_declared else []
    if learning.is_declared:
        # Values that do not occur have noise too: which of them reach the threshold.
        those = np.concatenate(seen) if seen else near
        n_unseen = domain[1] - domain[0] + 1 - len(those)
        where, drawn = passing(noise, np.broadcast_to(least, n_unseen), source)
        before = np.searchsorted(those - domain[0] - np.arange(len(those)), where, side="right")
        atoms.append(domain[0] + where + before)
        counted.append(drawn)
    found, steps = np.concatenate(atoms), np.concatenate(counted)
    order = np.argsort(found)
    return found[order], steps[order]


def _with_unseen(tally: Tally, public: Whole) -> Iterator[tuple[Whole, Whole]]:
    """Yield the values that occur, and then those public ones that nobody has."""
    for values, counts in tally:
        public = np.setdiff1d(public, values)
        yield values, counts
    yield public, np.zeros_like(public)


def _borders(attribute: Attribute, domain: tuple[int, int], atoms: Whole | None) -> Whole:
    """Return where cells begin, and where the last ends: atoms are cells of their own."""
    if attribute.kind is Kind.DATE:
        days = [(date(year, 1, 1) - EPOCH).days for year in YEARS]
        own = np.array([math.ceil(day / attribute.resolution) for day in days])
    else:
        octaves = np.array([1 << power for power in OCTAVES])
        own = np.concatenate((np.arange(-SINGLE + 1, SINGLE + 1), octaves, -octaves + 1))
    of_atoms = np.zeros(0, dtype=np.int64) if atoms is None else np.append(atoms, atoms + 1)
    inner = np.unique(np.concatenate((own, of_atoms)))
    lower, upper = domain
    inner = inner[(inner > lower) & (inner <= upper)]
    return np.concatenate(([lower], inner, [upper + 1])).astype(np.int64)


def _with_domain(measured: AttributeMeasured) -> AttributeMeasured:
    """Let a domain that was not declared reach beyond what was learnt of it."""
    attribute = measured.attribute
    lower, upper = widest(attribute)
    atoms = np.zeros(0) if measured.atoms is None else measured.atoms
    if measured.cells is not None:
        held = measured.held
        least, most = int(held.starts[0]), int(held.ends[-1]) - 1
    else:
        assert measured.cuts is not None  # noqa: S101 -- one of both is there
        outer = np.concatenate((atoms, np.floor(measured.cuts.positions)))
        least, most = (int(outer.min()), int(outer.max())) if len(outer) else (lower, upper)
        reach = REACH if measured.cuts.depth > FEW_LEVELS else REACH_OF_FEW
        if attribute.kind is Kind.DATE:  # of which 0 is a day like another
            least, most = least - (most - least) - 1, most + (most - least) + 1
        else:
            least, most = min(0, reach * least), max(0, reach * most)
        least, most = max(least, lower), min(most, upper)
    domain = Bounds(
        lower=least * attribute.resolution, upper=most * attribute.resolution, source=Source.LEARNT
    )
    return replace(measured, attribute=replace(attribute, domain=domain))
