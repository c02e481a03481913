"""The plan of a new table: public figures only, until the data are counted in the draw."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

Binned = Any
Column = Any
Engine = Any
from microveil.methods.planned import Mask, common_figures, released_numbers
from microveil.noise.counts import CountNoise
from microveil.noise.exponential import draw_weighted, median_weights
from microveil.noise.noise import RandomSource
from microveil.partition.quantiles import Candidates, Codes, recursive_medians
from microveil.plans.choosing import Choosing, TablesPlan, noisy_counts
from microveil.schema import Attribute
from microveil.synthesis.axes import Axis
from microveil.synthesis.fitting import Fitting
from microveil.synthesis.generation import Drawing, block_source, blocks_of, drawn_values
from microveil.synthesis.measurements import (
    AttributeMeasured,
    CountsMeasured,
    CutsMeasured,
    Measurements,
    NoisyCounts,
)
from microveil.synthesis.synthesis import axis_at, drawing_of
from microveil.table import Numbers

__all__ = ["CutsPlan", "LevelsPlan", "SyntheticPlan"]

Units = NDArray[np.signedinteger[Any]]
Scope = tuple[int, ...]
# Makes a column of so many records, of all at once or of some after others.
Whole = Callable[[int, Callable[[slice], Numbers]], Numbers]
# Attributes of a table, and draws of a plan, have them in common.
_weights = lru_cache(maxsize=64)(median_weights)


@dataclass(frozen=True, slots=True, kw_only=True)
class _AttributePlan:
    """What is public of an attribute's plan: all of it, but for the column itself.

    Attributes
    ----------
    column : Column
        The engine's handle.
    n_records : int
    share : Fraction or None
        Of epsilon, all that is spent on it; None where it is in tables with others too, or the
        budget is one of rho: then the epsilon of the whole alone bounds what it shows.
    """

    column: Column
    n_records: int
    share: Fraction | None

    @property
    def attribute(self) -> Attribute:
        """The attribute."""
        return self.column.attribute

    @property
    def missing(self) -> Mask | None:
        """Nothing of the original's missing cells shows."""
        return None

    @property
    def n_clusters(self) -> int:
        """No record is in a cluster."""
        return 0

    @property
    def exact_cells(self) -> int:
        """No cell is anybody's."""
        return 0

    @property
    def n_cells(self) -> int:
        """Cells with a value, as far as the public number of records says."""
        return self.n_records

    @property
    def vector_loss(self) -> float | None:
        """What is spent on it, whatever the table; None where that is no share of its own."""
        return None if self.share is None else float(self.share)

    @property
    def total_squares(self) -> float:
        """Nothing is known of the values before the draw."""
        return 0.0

    @property
    def squares_about_published_mean(self) -> float:
        """Nothing is known of the values before the draw."""
        return 0.0

    def expected_error(self, *, isotonic: bool) -> float | None:
        """No record has a counterpart whose distance could be expected."""
        del isotonic
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class CutsPlan(_AttributePlan):
    """Private medians of a numeric attribute.

    Attributes
    ----------
    candidates : Candidates
    rates : tuple of Fraction
        By level.
    present : CountNoise or None
        On the number of records with a value, where missing is protected.
    """

    candidates: Candidates
    rates: tuple[Fraction, ...]
    present: CountNoise | None

    @property
    def worth(self) -> Fraction:
        """Records between the last cuts, in units of how far these lie off: n rate / 2**depth."""
        return self.rates[-1] * self.n_records / (1 << len(self.rates))

    def measured(self, engine: Engine, source: RandomSource) -> tuple[CutsMeasured, Codes]:
        """Draw the cuts; return the codes too, whose jitter stays secret."""
        codes = engine.coded(self.column, self.candidates, source.spawn(1)[0])
        in_parts = engine.in_process and not engine.holds_records(self.column)
        # Where memory is short they are worked out again, and not kept beside what comes later.
        weights = partial(median_weights, held=False) if in_parts else _weights
        cuts = recursive_medians(
            codes,
            self.candidates,
            [weights(rate, self.n_records) for rate in self.rates],
            partial(draw_weighted, source=source),
            source.integer_below,
        )
        present = None
        if self.present is not None:
            counts = np.array([self.column.n_present, self.n_records - self.column.n_present])
            present = noisy_counts(counts, self.present, source)
        return CutsMeasured(
            attribute=self.attribute,
            candidates=self.candidates,
            cuts=cuts,
            rates=tuple(float(rate) for rate in self.rates),
            present=present,
        ), codes

    def to_dict(self) -> dict[str, Any]:
        """Return the public figures of the plan."""
        return {
            **common_figures(self),
            "depth": len(self.rates),
            "rates": [float(rate) for rate in self.rates],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelsPlan(_AttributePlan):
    """A noisy histogram over a whole domain.

    Attributes
    ----------
    noise : CountNoise
    has_missing : bool
        Whether being without a value is a value like another.
    """

    noise: CountNoise
    has_missing: bool

    def measured(self, engine: Engine, source: RandomSource) -> tuple[CountsMeasured, None]:
        """Count every value and add noise."""
        counts = engine.counts(self.column)
        if self.has_missing:
            counts = np.append(counts, self.n_records - self.column.n_present)
        return CountsMeasured(
            attribute=self.attribute,
            levels=noisy_counts(counts, self.noise, source),
            has_missing=self.has_missing,
        ), None

    def to_dict(self) -> dict[str, Any]:
        """Return the public figures of the plan."""
        return {**common_figures(self), "standard_deviation": self.noise.variance**0.5}


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticPlan:
    """Everything about a synthetic table that is decided before the data are counted.

    Attributes
    ----------
    attributes : tuple of CutsPlan or LevelsPlan
    tables : TablesPlan or None
        None where attributes are drawn independently of each other.
    n_records : int
        Of the original.
    n_drawn : int
        Of the release.
    """

    attributes: tuple[CutsPlan | LevelsPlan, ...]
    tables: TablesPlan | None
    n_records: int
    n_drawn: int

    def measured(
        self,
        source: RandomSource,
        engine: Engine,
        progress: Callable[[str], None] = lambda _step: None,
    ) -> Measurements:
        """Ask the data, and spend the budget: what comes back may be published."""
        *own, choice = source.spawn(len(self.attributes) + 1)
        parts = 1 if self.tables is None else self.tables.parts
        halves = {} if self.tables is None else self.tables.halves

        def one_way(number: int) -> tuple[AttributeMeasured, Axis, Binned | None]:
            part = self.attributes[number]
            progress(f"measuring {part.attribute.name}")
            measured, codes = part.measured(engine, own[number])
            axis = axis_at(number, measured, parts, halves)
            if self.tables is None:
                return measured, axis, None
            # Put into bins at once: the codes are needed no more.
            return measured, axis, engine.kept(engine.binned(part.column, axis, codes))

        numbers = range(len(self.attributes))
        found = engine.side_by_side(one_way, numbers, len(numbers) * self.n_records)
        attributes = tuple(measured for measured, _, _ in found)
        tables: dict[Scope, NoisyCounts] = {}
        if self.tables is not None:
            progress("counting pairs")
            axes = [axis for _, axis, _ in found]
            tables = Choosing(
                plan=self.tables,
                engine=engine,
                binned=[binned for _, _, binned in found if binned is not None],
                axes=axes,
                fitting=Fitting(n_records=self.n_records, attributes=attributes, axes=axes),
                source=choice,
                progress=progress,
            ).measured()
        return Measurements(
            n_records=self.n_records,
            attributes=attributes,
            tables=tables,
            parts=parts,
            halves=halves,
        )

    def draw(
        self,
        source: RandomSource,
        engine: Engine,
        progress: Callable[[str], None] = lambda _step: None,
    ) -> tuple[Measurements, Mapping[str, Numbers]]:
        """Ask the data, then draw records of the answers, by a stream that they never saw."""
        asking, drawing = source.spawn(2)
        measurements = self.measured(asking, engine, progress)
        return measurements, self.drawn(measurements, drawing, engine, progress)

    def drawn(
        self,
        measurements: Measurements,
        source: RandomSource,
        engine: Engine,
        progress: Callable[[str], None] = lambda _step: None,
    ) -> Mapping[str, Numbers]:
        """Draw the table's columns of measurements: nothing of the data is looked at."""
        progress("drawing records")
        # Post-processing needs no cryptographic stream, only one of its own.
        seed = source.words(4).tobytes()
        drawing = drawing_of(measurements)
        return engine.generated(_NewRecords(drawing=drawing, n_records=self.n_drawn), seed)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _NewRecords:
    """A new table, as engines draw it: all at once, or block by block."""

    drawing: Drawing
    n_records: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(measured.attribute.name for measured in self.drawing.attributes)

    @property
    def n_blocks(self) -> int:
        return blocks_of(self.n_records)

    def drawn(
        self, seed: bytes, empty: Callable[..., NDArray[Any]], whole: Whole
    ) -> Mapping[str, Numbers]:
        generator = np.random.Generator(np.random.PCG64(_number(seed)))
        return self._columns(drawn_values(self.drawing, self.n_records, generator, empty), whole)

    def block(self, seed: bytes, number: int) -> Mapping[str, Numbers]:
        generator = block_source(_number(seed), number)
        return self._columns(self.drawing.block(number, self.n_records, generator), _at_once)

    def _columns(
        self, values: Iterable[tuple[Units, Mask | None]], whole: Whole
    ) -> Mapping[str, Numbers]:
        attributes = (measured.attribute for measured in self.drawing.attributes)
        return _Columns(
            {
                attribute.name: (attribute, units, missing)
                for attribute, (units, missing) in zip(attributes, values, strict=True)
            },
            whole,
        )


def _number(seed: bytes) -> int:
    return int.from_bytes(seed, "little")


def _at_once(n_records: int, made: Callable[[slice], Numbers]) -> Numbers:
    return made(slice(0, n_records))


class _Columns(Mapping[str, Numbers]):
    """Drawn columns as numbers, each made when it is asked for: grid units may be far smaller."""

    def __init__(
        self, drawn: Mapping[str, tuple[Attribute, Units, Mask | None]], whole: Whole
    ) -> None:
        self._drawn, self._whole = drawn, whole

    def __getitem__(self, name: str) -> Numbers:
        attribute, units, missing = self._drawn[name]

        def made(records: slice) -> Numbers:
            values = attribute.from_grid(units[records].astype(np.int64))
            absent = None if missing is None else missing[records]
            return released_numbers(attribute, values, absent)

        numbers = self._whole(len(units), made)
        # Where being without a value is protected, no type may show that some record was.
        hidden = missing is not None and attribute.resolution.denominator == 1
        return replace(numbers, nullable=True) if hidden else numbers

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawn)

    def __len__(self) -> int:
        return len(self._drawn)
