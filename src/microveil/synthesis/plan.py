"""The plan of a new table, public figures only, and its draw: ask, choose, fit, generate.

A plan knows no value, so a column without a domain has one too: shares, thresholds and steps.
Its draw asks a `Counter`, and the stream that draws records never asked the data.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeVar

import numpy as np

from microveil.noise.counts import NoisyCounts
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute
from microveil.synthesis.choosing import TablesPlan, choose_and_measure
from microveil.synthesis.fitting import Fitting
from microveil.synthesis.generation import Drawing
from microveil.synthesis.keeping import Repairs, Values
from microveil.synthesis.measurements import Measurements
from microveil.synthesis.measuring import Counter
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.one_way_plan import OneWayPlan, measured_again
from microveil.synthesis.possible import Possible
from microveil.synthesis.tables import Axis, axis_at
from microveil.table import GridColumn, Numbers
from microveil.table.record_rules import RecordRule
from microveil.table.threads import in_threads

Progress = Callable[[str], None]


class HasAttribute(Protocol):
    """A column, wherever it lies."""

    @property
    def attribute(self) -> Attribute:
        """What it is."""
        ...


Column = TypeVar("Column", bound=HasAttribute)


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

    @property
    def may_lack(self) -> frozenset[str]:
        """The columns whose records may be without a value, as far as is known before the draw."""
        parts = (*self.attributes, *self.computed)
        return frozenset(part.attribute.name for part in parts if part.has_missing)

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
        attributes = [own for own, _ in drawing.released]
        return NewColumns(attributes, records, repairs, self.may_lack)

    def measured(
        self, counter: Counter, source: RandomSource, progress: Progress = lambda _step: None
    ) -> Measurements:
        """Ask the data, and spend the budget: what comes back may be published."""
        *streams, choice = source.spawn(len(self.attributes) + 1)
        tables = self.tables

        def one_way(number: int) -> tuple[AttributeMeasured, Axis]:
            part = self.attributes[number]
            progress(f"measuring {part.attribute.name}")
            measured, codes = part.measured(counter, number, streams[number])
            half = {} if tables is None else tables.half(number, part.attribute, measured.attribute)
            axis = axis_at(number, measured, 1 if tables is None else tables.parts, half)
            if tables is not None:  # at once: the codes are needed no more
                counter.set_bins(number, axis, codes)
            return measured, axis

        numbers = range(len(self.attributes))
        found = in_threads(one_way, numbers, len(numbers) * self.n_records)
        attributes, axes = zip(*found, strict=True)
        computed = tuple(part.attribute for part in self.computed)
        halves: dict[int, int | None] = {}
        for number, part in enumerate(self.attributes):
            known = attributes[number].attribute
            halves |= {} if tables is None else tables.half(number, part.attribute, known)
        own = Measurements(
            n_records=self.n_records,
            attributes=attributes,
            tables={},
            parts=1 if tables is None else tables.parts,
            halves=halves,
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
        may_lack: frozenset[str] = frozenset(),
    ) -> None:
        self.repairs, self._may_lack = repairs, may_lack
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
        # Where being without a value is protected, no type may show that some record was, or none.
        hidden = name in self._may_lack and attribute.resolution.denominator == 1
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
    given = (one.candidates for one in measurements.attributes if one.candidates is not None)
    counter = Counter(columns, next((own.count for own in given), 0))
    found = list[AttributeMeasured]()
    for number, measured in enumerate(measurements.attributes):
        again, codes = measured_again(measured, counter, number, source)
        axis = axis_at(number, again, measurements.parts, measurements.halves)
        counter.set_bins(number, axis, codes)
        found.append(again)
    counts = counter.pairs([*measurements.tables])
    tables = {
        scope: NoisyCounts.of(own, table.noise, source)
        for own, (scope, table) in zip(counts, measurements.tables.items(), strict=True)
    }
    return replace(measurements, attributes=tuple(found), tables=tables)
