"""The plan of a new table, public figures only, and its draw: ask, choose, fit, generate.

A plan knows no value, so a column without a domain has one too: shares, thresholds and steps.
Its draw asks a `Counter`, and the stream that draws records never asked the data.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy  # which loads its parts when they are used

from microveil.errors import RequestError
from microveil.noise.counts import CountNoise
from microveil.noise.exponential import draw_weighted, median_weights
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute
from microveil.synthesis.cuts import Candidates, Codes, recursive_medians
from microveil.synthesis.fitting import Fitting
from microveil.synthesis.generation import Drawing
from microveil.synthesis.keeping import Repairs, Values
from microveil.synthesis.measurements import (
    AttributeMeasured,
    Measurements,
    NoisyCounts,
)
from microveil.synthesis.measuring import Counter, TablesPlan, choose_and_measure
from microveil.synthesis.possible import Possible
from microveil.synthesis.tables import Axis, axis_at
from microveil.table import GridColumn, Numbers
from microveil.table.record_rules import RecordRule
from microveil.table.threads import in_threads

__all__ = [
    "Learning",
    "NewColumns",
    "OneWayPlan",
    "SyntheticPlan",
    "remeasured",
    "threshold",
]

# Attributes of a table, and draws of a plan, have them in common.
_weights = lru_cache(maxsize=64)(median_weights)
Progress = Callable[[str], None]


class HasAttribute(Protocol):
    """A column, wherever it lies."""

    @property
    def attribute(self) -> Attribute:
        """What it is."""
        ...


Column = TypeVar("Column", bound=HasAttribute)


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """How values that occur are learnt of a column whose domain is not declared.

    A value is shown from so many noisy records on, the ``threshold``. ``atoms`` is the noise on
    single values of a number, ``decimals`` that on how many decimals they have; of categories the
    counts are the attribute's own measurement.
    """

    delta: Fraction
    threshold: int
    atoms: CountNoise | None = None
    decimals: CountNoise | None = None


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
    """What is asked of one attribute by itself: private medians, or a noisy count of each value.

    Medians have a rate for each level of them, and counts none. ``noise`` is that on the counts of
    all values; beside medians on the number of records with and without a value, and None unless
    missing is protected. ``share`` is of epsilon all that is spent on it; None where it is in
    tables with others too, or the budget is one of rho: then the epsilon of the whole alone bounds
    what it shows. ``learning`` is for an attribute whose domain is not declared.
    """

    attribute: Attribute
    n_records: int
    share: Fraction | None
    noise: CountNoise | None
    has_missing: bool
    rates: tuple[Fraction, ...] = ()
    learning: Learning | None = None
    # No record is in a cluster, no cell is anybody's, and no value is known before the draw.
    missing: None = None
    n_clusters: int = 0
    exact_cells: int = 0
    total_squares: float = 0.0
    squares_about_published_mean: float = 0.0

    @property
    def n_cells(self) -> int:
        """Cells with a value, as far as the public number of records says."""
        return self.n_records

    @property
    def is_computed(self) -> bool:
        """Whether nothing is asked of it, as a rule says how it is made of other columns."""
        return not self.rates and self.noise is None

    @property
    def vector_loss(self) -> float | None:
        """What is spent on it, whatever the table; None where that is no share of its own."""
        return None if self.share is None else float(self.share)

    def expected_error(self, *, isotonic: bool) -> None:
        """No record has a counterpart whose distance could be expected."""

    @property
    def bounds(self) -> tuple[int, int]:
        """The domain in grid units; an error where there is none."""
        found = self.attribute.grid_bounds
        if found is None:
            raise RequestError(
                self.attribute.place,
                "its domain is not declared, and it is not learnt yet",
                "declare the bounds of a number, or the list of its categories",
            )
        return found

    @property
    def worth(self) -> Fraction:
        """Records between the last cuts, in units of how far these lie off: n rate / 2**depth."""
        return self.rates[-1] * self.n_records / (1 << len(self.rates))

    def measured(
        self, counter: Counter, number: int, source: RandomSource
    ) -> tuple[AttributeMeasured, Codes | None]:
        """Ask for what is planned of a column; return codes of cuts too: their jitter is secret."""
        cuts = codes = None
        if self.rates:
            lower, upper = self.bounds
            candidates = Candidates(lower=lower, upper=upper, count=counter.n_candidates)
            codes = counter.coded(number, candidates, source.spawn(1)[0])
            weights = [_weights(rate, self.n_records) for rate in self.rates]
            draw = partial(draw_weighted, source=source)
            cuts = recursive_medians(codes, candidates, weights, draw, source.integer_below)
            n_present = codes.below(candidates.count + 1)
            counts = np.array([n_present, self.n_records - n_present])
        else:
            counts = counter.histogram(number)[: None if self.has_missing else -1]
        return AttributeMeasured(
            attribute=self.attribute,
            counts=None if self.noise is None else NoisyCounts.of(counts, self.noise, source),
            has_missing=self.has_missing,
            cuts=cuts,
            rates=tuple(map(float, self.rates)),
        ), codes

    def to_dict(self) -> dict[str, Any]:
        """Return the public figures of the plan."""
        attribute, domain = self.attribute, self.attribute.domain
        rates = [float(rate) for rate in self.rates]
        found: dict[str, Any] = {
            "share": None if self.share is None else str(self.share),
            "bounds": None if domain is None else list(attribute.written_domain or ()),
            "bounds_source": None if domain is None else domain.source.value,
            "resolution": float(attribute.resolution),
            "resolution_source": attribute.resolution_source.value,
            "missing_cells": 0,
        }
        if self.is_computed:
            return {**found, "computed": True}
        if rates or self.noise is None:
            return {**found, "depth": len(rates), "rates": rates}
        return {**found, "standard_deviation": self.noise.variance**0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticPlan:
    """Everything about a synthetic table that is decided before the data are counted.

    Without ``tables`` attributes are drawn independently of each other. ``n_records`` are those
    of the original, ``n_drawn`` of the release. Drawn records keep ``rules``, by which what is
    ``computed`` is made of the other columns, at no cost.
    """

    attributes: tuple[OneWayPlan, ...]
    tables: TablesPlan | None
    n_records: int
    n_drawn: int
    rules: tuple[RecordRule, ...] = ()
    computed: tuple[OneWayPlan, ...] = ()

    def asked(self, columns: Iterable[Column]) -> list[Column]:
        """Return the columns that counts are asked of: not those that rules compute."""
        names = {part.attribute.name for part in self.computed}
        return [column for column in columns if column.attribute.name not in names]

    def draw(
        self, counter: Counter, source: RandomSource, progress: Progress = lambda _step: None
    ) -> "tuple[Measurements, NewColumns]":
        """Ask the data, then draw records of the answers, by a stream that they never saw."""
        asking, drawing = source.spawn(2)
        measurements = self.measured(counter, asking, progress)
        progress("drawing records")
        return measurements, self.drawn(measurements, drawing)

    def drawn(self, measurements: Measurements, source: RandomSource) -> "NewColumns":
        """Draw the columns of measurements: nothing of the data is looked at."""
        # Post-processing needs no cryptographic stream, only one of its own.
        seed = int.from_bytes(source.words(4).tobytes(), "little")
        generator = np.random.Generator(np.random.PCG64(seed))
        drawing = Drawing.of(measurements)
        records, repairs = drawing.drawn(self.n_drawn, generator)
        return NewColumns([own for own, _ in drawing.released], records, repairs)

    def measured(
        self, counter: Counter, source: RandomSource, progress: Progress = lambda _step: None
    ) -> Measurements:
        """Ask the data, and spend the budget: what comes back may be published."""
        *streams, choice = source.spawn(len(self.attributes) + 1)
        tables = self.tables
        for part in self.attributes:
            part.bounds  # noqa: B018 -- refuses before anything is asked

        def one_way(number: int) -> tuple[AttributeMeasured, Axis]:
            part = self.attributes[number]
            progress(f"measuring {part.attribute.name}")
            measured, codes = part.measured(counter, number, streams[number])
            parts, halves = (1, {}) if tables is None else (tables.parts, tables.halves)
            axis = axis_at(number, measured, parts, halves)
            if tables is not None:  # at once: the codes are needed no more
                counter.set_bins(number, axis, codes)
            return measured, axis

        numbers = range(len(self.attributes))
        found = in_threads(one_way, numbers, len(numbers) * self.n_records)
        attributes, axes = zip(*found, strict=True)
        computed = tuple(part.attribute for part in self.computed)
        own = Measurements(
            n_records=self.n_records,
            attributes=attributes,
            tables={},
            parts=1 if tables is None else tables.parts,
            halves={} if tables is None else tables.halves,
            rules=self.rules,
            computed=computed,
        )
        if tables is None:
            return own
        progress("counting pairs")
        possible = Possible.of(self.rules, attributes, axes, computed)
        fitting = Fitting(
            n_records=self.n_records, attributes=attributes, axes=axes, possible=possible
        )
        measured = choose_and_measure(tables, counter, fitting, choice, progress)
        return replace(own, tables=measured)


class NewColumns(Mapping[str, Numbers]):
    """Drawn columns as numbers, each made when it is asked for: grid units may be far smaller."""

    def __init__(
        self,
        attributes: Sequence[Attribute],
        drawn: Sequence[Values],
        repairs: Repairs | None = None,
    ) -> None:
        self.repairs = repairs
        own = zip(attributes, drawn, strict=True)
        self._drawn = {attribute.name: (attribute, *values) for attribute, values in own}

    def __getitem__(self, name: str) -> Numbers:
        attribute, units, missing = self._drawn[name]
        categories = attribute.categories
        numbers = Numbers(
            values=attribute.from_grid(units.astype(np.int64)),
            missing=missing,
            categories=None if categories is None else categories.words,
        )
        # Where being without a value is protected, no type may show that some record was.
        hidden = missing is not None and attribute.resolution.denominator == 1
        return replace(numbers, nullable=True) if hidden else numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawn)

    def __len__(self) -> int:
        return len(self._drawn)


def remeasured(
    measurements: Measurements, records: Sequence[Values], source: RandomSource
) -> Measurements:
    """Measure trial records as the original was measured, with the same laws of noise.

    As many records as the original had, drawn of a model; what rules compute of them, behind the
    others, is passed over. Which tables there are is held, not chosen anew. Post-processing of
    published measurements: trial records and trial noise spend no budget and protect nobody.
    """
    columns = [
        GridColumn(
            attribute=measured.attribute,
            values=units if missing is None else units[~missing],
            missing=missing,
        )
        for measured, (units, missing) in zip(measurements.attributes, records, strict=False)
    ]
    cuts = (one.cuts for one in measurements.attributes if one.cuts is not None)
    counter = Counter(columns, next((own.candidates.count for own in cuts), 0))
    found = list[AttributeMeasured]()
    for number, measured in enumerate(measurements.attributes):
        plan = OneWayPlan(
            attribute=measured.attribute,
            n_records=measurements.n_records,
            share=None,
            noise=None if measured.counts is None else measured.counts.noise,
            has_missing=measured.has_missing,
            rates=tuple(map(Fraction, measured.rates)),
        )
        again, codes = plan.measured(counter, number, source)
        axis = axis_at(number, again, measurements.parts, measurements.halves)
        counter.set_bins(number, axis, codes)
        found.append(again)
    counts = counter.pairs([*measurements.tables])
    tables = {
        scope: NoisyCounts.of(own, table.noise, source)
        for own, (scope, table) in zip(counts, measurements.tables.items(), strict=True)
    }
    return replace(measurements, attributes=tuple(found), tables=tables)
