"""Counts of Spark's records: tasks ask the counter of memory of each batch, and Spark adds up."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.noise.noise import RandomSource
from microveil.protect.spark.draws import sources_of_task
from microveil.protect.spark.scratch import Scratch, lost_records
from microveil.protect.spark.table import (
    Batches,
    SparkColumn,
    SparkTable,
    grid_columns,
    in_key_order,
)
from microveil.schema import Attribute
from microveil.synthesis.cuts import Candidates, Codes
from microveil.synthesis.measuring import Counter, JitteredCodes, adopted, jittered
from microveil.synthesis.tables import Axis
from microveil.table import GridColumn

Whole = NDArray[np.int64]
# What was learnt of columns, by their places in a frame: a domain, and the place of the rest.
Learnt = Mapping[str, tuple[Attribute, int]]
# Adds figures of a batch to those of others.
Totals = NDArray[np.float64]
Add = Callable[[Totals, pa.RecordBatch], None]
# What the column of the jitter of another begins with.
JITTER = "jitter_"
# Counts of tables that one pass over the records makes, and that come to the driver: 32 MB.
MOST_COUNTS = 1 << 22


def summed(frame: Any, add: Add, n_figures: int, scratch: Scratch) -> NDArray[np.float64]:
    """Add up figures of batches, in tasks and then in Spark: whole ones below 2**53 exactly."""
    each = frame.mapInArrow(adding(add, n_figures), "figure bigint, total double")
    found = scratch.fetched(each.groupBy("figure").sum("total"))
    totals = np.zeros(n_figures)
    totals[found["figure"].to_numpy()] = found["sum(total)"].to_numpy()
    return totals


def adding(add: Add, n_figures: int) -> Callable[[Batches], Batches]:
    """Make the task that adds up figures of its batches, and gives those that are not 0."""

    def task(batches: Batches) -> Batches:
        totals = np.zeros(n_figures)
        for batch in batches:
            if batch.num_rows:
                add(totals, batch)
        there = np.flatnonzero(totals)
        yield pa.RecordBatch.from_pydict({"figure": there, "total": totals[there]})

    return task


def _counted(frame: Any, add: Add, n_counts: int, n: int, scratch: Scratch) -> Whole:
    """Count in tasks; refuse where another number of records than there are was counted."""
    counts = summed(frame, add, n_counts, scratch).astype(np.int64)
    if counts.sum() != n:
        raise lost_records()
    return counts


def read(
    batch: pa.RecordBatch, attributes: Mapping[str, Attribute], learnt: Learnt
) -> list[GridColumn]:
    """Read columns of a batch, each on the domain that was learnt of it."""
    grids = grid_columns(batch, attributes)
    return [adopted(own, *learnt[name]) if name in learnt else own for name, own in grids.items()]


def tallying(
    asked: Callable[[Counter, int], tuple[Any, int]],
    attributes: Mapping[str, Attribute],
    learnt: Learnt,
) -> Callable[[Batches], Batches]:
    """Make the task that gives the different values or words of its batches, and their counts."""

    def task(batches: Batches) -> Batches:
        for batch in batches:
            for values, counts in asked(Counter(read(batch, attributes, learnt)), 0)[0]:
                yield pa.RecordBatch.from_pydict({"value": values, "times": counts})

    return task


@dataclass(frozen=True, slots=True, eq=False)
class _Histogram:
    """The codes of a column's records as counts: how many have each code, or one below it."""

    candidates: Candidates
    ends: Whole
    atoms: Whole | None

    def below(self, code: int) -> int:
        """Count the records whose code is less."""
        return int(self.ends[code - 1]) if code else 0

    def ranked(self, start: int, stop: int) -> Whole:
        """Return the codes of ranks start to stop - 1, ascending."""
        return np.searchsorted(self.ends, np.arange(start, stop), side="right").astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class SparkCounter:
    """Counts records in Spark, as `synthesis.measuring.Counter` does in memory.

    The jitter of columns with cuts was drawn, and written, before anything is counted by it:
    histograms and pairs see the same one. It is in ``frame``, with the values, a word for each
    record. The driver takes a count for each candidate, and one below them all: 32 MB.
    """

    columns: Sequence[SparkColumn]
    frame: Any
    scratch: Scratch
    n_candidates: int = (1 << 22) - 1
    bins: dict[int, tuple[Axis, "_Histogram | None"]] = field(default_factory=dict)
    learnt: dict[str, tuple[Attribute, int]] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """How many records there are, those without a value among them."""
        return self.columns[0].n_records

    def histogram(self, column: int) -> Whole:
        """Count a column's records by value of its domain, and last those without one."""
        own = self.columns[column]
        attribute, _ = self.learnt.get(own.units, (own.attribute, 0))
        lower, upper = attribute.grid_bounds or (0, 0)
        n_counts = upper - lower + 2
        return self._asked(column, lambda here: here.histogram(0), n_counts, self.n_records)

    def decimals(self, column: int) -> Whole:
        """Count a column's values by the fewest decimals that they need: none, one, two ..."""
        own = self.columns[column]
        n_counts = len(str(own.attribute.resolution.denominator))
        return self._asked(column, lambda here: here.decimals(0), n_counts, own.n_present)

    def cells(self, column: int, borders: Whole) -> Whole:
        """Count a column's values from each border up to the next."""
        n_counts, n_present = len(borders) - 1, self.columns[column].n_present
        return self._asked(column, lambda here: here.cells(0, borders), n_counts, n_present)

    def values(self, column: int) -> tuple[Iterator[tuple[Whole, Whole]], int]:
        """Count a column's records by value, once each and ascending, and those without one."""
        return self._tally(column, Counter.values, "bigint")

    def words(self, column: int) -> tuple[Iterator[tuple[Any, Whole]], int]:
        """Count a column's records by word, once each and in order, and those without one."""
        return self._tally(column, Counter.words, "string")

    def adopt(self, column: int, attribute: Attribute, rest: int = 0) -> None:
        """Have a column read on the grid, or on the list of categories, that was learnt of it."""
        self.learnt[self.columns[column].units] = attribute, rest

    def coded(
        self,
        column: int,
        candidates: Candidates,
        source: RandomSource | None = None,
        atoms: Whole | None = None,
    ) -> _Histogram:
        """Hold a column's records against candidate cuts, by the jitter that is there."""
        del source
        own, n_counts = self.columns[column], candidates.count + 1
        attributes, learnt, jitter = {own.units: own.attribute}, self.learnt.copy(), _jitter(own)

        def add(totals: Totals, batch: pa.RecordBatch) -> None:
            (grid,) = read(batch, attributes, learnt)
            words = _words(batch, jitter, grid)
            codes, rest = jittered(grid.values, words, candidates, atoms)
            np.add.at(totals, codes[rest], 1)
            totals[-1] += np.count_nonzero(~rest)

        given = self.frame.select(own.units, jitter)
        counts = _counted(given, add, n_counts + 1, own.n_present, self.scratch)
        return _Histogram(candidates, np.cumsum(counts[:-1]), atoms)

    def set_bins(self, column: int, axis: Axis, codes: Codes | None) -> None:
        """Say how a column's records are put into bins; they are where pairs are counted."""
        held = replace(codes, ends=codes.ends[:0]) if isinstance(codes, _Histogram) else None
        self.bins[column] = axis, held

    def pairs(self, scopes: Sequence[tuple[int, ...]]) -> list[Whole]:
        """Count the records by the bins of two or more columns, many tables in one pass."""
        found = list[Whole]()
        attributes = {column.units: column.attribute for column in self.columns}
        learnt = self.learnt.copy()
        shapes = [tuple(self.bins[one][0].n_bins for one in scope) for scope in scopes]
        for some in in_passes([math.prod(shape) for shape in shapes]):
            ends = np.cumsum([math.prod(shape) for shape in shapes[some]])
            add, n = tables_of(attributes, learnt, self.bins, scopes[some]), self.n_records
            counts = _counted(self.frame, add, int(ends[-1]), n * len(ends), self.scratch)
            tables = np.split(counts, ends[:-1])
            if any(one.sum() != n for one in tables):
                raise lost_records()
            found += [one.reshape(shape) for one, shape in zip(tables, shapes[some], strict=True)]
        return found

    def _asked(
        self, column: int, asked: Callable[[Counter], Whole], n_counts: int, n: int
    ) -> Whole:
        """Ask the counter of memory of each batch of a column, and add up its answers."""
        own = self.columns[column]
        attributes, learnt = {own.units: own.attribute}, self.learnt.copy()

        def add(totals: Totals, batch: pa.RecordBatch) -> None:
            totals += asked(Counter(read(batch, attributes, learnt)))

        return _counted(own.frame.select(own.units), add, n_counts, n, self.scratch)

    def _tally(
        self, column: int, asked: Callable[[Counter, int], tuple[Any, int]], kind: str
    ) -> tuple[Iterator[tuple[Any, Whole]], int]:
        """Count different values in Spark; they come to the driver piece by piece.

        Each count gets noise of its own, so it makes no difference in which pieces they come, and
        the driver holds one piece and what is shown. However many there are nothing is refused,
        which would hang on the data.
        """
        own = self.columns[column]
        task = tallying(asked, {own.units: own.attribute}, self.learnt.copy())
        each = own.frame.select(own.units).mapInArrow(task, f"value {kind}, times bigint")
        counted = each.groupBy("value").sum("times").orderBy("value")

        def pieces() -> Iterator[tuple[Any, Whole]]:
            n_left = own.n_present
            for piece in self.scratch.in_pieces(counted):
                values, counts = (piece[name].to_numpy() for name in ("value", "sum(times)"))
                n_left -= int(counts.sum())
                yield values, counts
            if n_left:
                raise lost_records()

        return pieces(), own.n_records - own.n_present


def tables_of(
    attributes: Mapping[str, Attribute],
    learnt: Learnt,
    bins: Mapping[int, tuple[Axis, _Histogram | None]],
    scopes: Sequence[tuple[int, ...]],
) -> Add:
    """Make what counts tables of a batch, one behind the other, by the counter of memory."""

    def add(totals: Totals, batch: pa.RecordBatch) -> None:
        grids = read(batch, attributes, learnt)
        here = Counter(grids)
        for (nth, (axis, held)), name in zip(sorted(bins.items()), attributes, strict=True):
            codes = None
            if held is not None:
                words = _words(batch, f"{JITTER}{name}", grids[nth])
                own, _ = jittered(grids[nth].values, words, held.candidates, held.atoms)
                codes = JitteredCodes(own, own)
            here.set_bins(nth, axis, codes)
        totals += np.concatenate([table.ravel() for table in here.pairs(scopes)])

    return add


def _words(batch: pa.RecordBatch, jitter: str, grid: GridColumn) -> NDArray[np.uint64]:
    """Return the words of jitter of the records that have a value."""
    words: NDArray[np.uint64] = batch[jitter].to_numpy().view(np.uint64)
    return words if grid.missing is None else words[~grid.missing]


def in_passes(sizes: Sequence[int]) -> Iterator[slice]:
    """Put tables together whose counts one pass makes, in order."""
    start = total = 0
    for nth, size in enumerate(sizes):
        if nth > start and total + size > MOST_COUNTS:
            yield slice(start, nth)
            start, total = nth, 0
        total += size
    if start < len(sizes):
        yield slice(start, len(sizes))


def counter(
    table: SparkTable, jittered: Sequence[str], seed: int | None, scratch: Scratch
) -> SparkCounter:
    """Draw a word of jitter for each record and column that gets cuts, and write it once."""
    from pyspark.sql.types import LongType, StructField, StructType

    columns, names = [*table.columns.values()], [_jitter(table.columns[one]) for one in jittered]
    units = [column.units for column in columns]
    frame = in_key_order(table, units).select(*units)
    # A schema of its own: to add to a frame's changes that frame.
    schema = StructType([*frame.schema, *(StructField(name, LongType()) for name in names)])

    def task(batches: Batches) -> Batches:
        sources = sources_of_task(names, seed)
        for batch in batches:
            words = [pa.array(sources[one].words(batch.num_rows).view(np.int64)) for one in names]
            yield pa.RecordBatch.from_arrays([*batch.columns, *words], [*units, *names])

    return SparkCounter(columns, scratch.written(frame.mapInArrow(task, schema)), scratch)


def _jitter(column: SparkColumn) -> str:
    return f"{JITTER}{column.units}"
