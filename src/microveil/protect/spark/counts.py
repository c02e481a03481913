"""Counts of Spark's records: by value, by candidate for cuts, and by the bins of columns."""

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
from microveil.synthesis.cuts import Candidates, Codes
from microveil.synthesis.measuring import Counter, JitteredCodes, is_atom
from microveil.synthesis.tables import Axis

__all__ = ["SparkCounter", "counter", "summed", "value_counts"]

Whole = NDArray[np.int64]
# Counts of tables that one pass over the records makes, and that come to the driver: 32 MB.
MOST_COUNTS = 1 << 22


def summed(
    frame: Any, figures: Callable[[pa.RecordBatch], NDArray[Any]], n_figures: int, scratch: Scratch
) -> NDArray[np.float64]:
    """Add up figures of batches, in tasks and then in Spark: whole ones below 2**53 exactly."""
    from pyspark.sql import functions as sql

    each = frame.mapInArrow(adding(figures, n_figures), "figure bigint, total double")
    found = scratch.fetched(each.groupBy("figure").agg(sql.sum("total").alias("total")))
    totals = np.zeros(n_figures)
    totals[found["figure"].to_numpy()] = found["total"].to_numpy()
    return totals


def adding(
    figures: Callable[[pa.RecordBatch], NDArray[Any]], n_figures: int
) -> Callable[[Batches], Batches]:
    """Make the task that adds up figures of its batches, and gives those that are not 0."""

    def task(batches: Batches) -> Batches:
        totals = np.zeros(n_figures)
        for batch in batches:
            if batch.num_rows:
                totals += figures(batch)
        there = np.flatnonzero(totals)
        yield pa.RecordBatch.from_pydict({"figure": there, "total": totals[there]})

    return task


def _counted(
    frame: Any, count: Callable[[pa.RecordBatch], Whole], n_counts: int, n: int, scratch: Scratch
) -> Whole:
    """Count in tasks; refuse where another number of records than there are was counted."""
    counts = summed(frame, count, n_counts, scratch).astype(np.int64)
    if counts.sum() != n:
        raise lost_records()
    return counts


def value_counts(column: SparkColumn, scratch: Scratch) -> Whole:
    """Count a column's records by value of its domain, lowest first, and last those without one."""
    lower, upper = column.attribute.grid_bounds or (column.least, column.greatest)
    n_counts = upper - lower + 2

    def count(batch: pa.RecordBatch) -> Whole:
        places = batch.column(0).fill_null(upper + 1).to_numpy() - lower
        return np.bincount(places, minlength=n_counts)

    frame = column.frame.select(column.units)
    return _counted(frame, count, n_counts, column.n_records, scratch)


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
    record. The driver takes a count for each candidate, and one below them all: 8 MB.
    """

    columns: Sequence[SparkColumn]
    frame: Any
    scratch: Scratch
    n_candidates: int = (1 << 20) - 1
    bins: dict[int, tuple[Axis, "_Histogram | None"]] = field(default_factory=dict)

    @property
    def n_records(self) -> int:
        """How many records there are, those without a value among them."""
        return self.columns[0].n_records

    def histogram(self, column: int) -> Whole:
        """Count a column's records by value of its domain, and last those without one."""
        return value_counts(self.columns[column], self.scratch)

    def values(self, column: int) -> tuple[Whole, Whole, int]:
        """Return a column's different values, ascending, how many records have each, and none."""
        own = self.columns[column]
        each = own.frame.select(own.units).dropna().groupBy(own.units).count()
        found = self.scratch.fetched(each)
        values, counts = (found[name].to_numpy().astype(np.int64) for name in (own.units, "count"))
        if counts.sum() != own.n_present:
            raise lost_records()
        order = np.argsort(values)
        return values[order], counts[order], own.n_records - own.n_present

    def coded(
        self,
        column: int,
        candidates: Candidates,
        source: RandomSource | None = None,
        atoms: Whole | None = None,
    ) -> _Histogram:
        """Hold a column's records against candidate cuts, by the jitter that is there."""
        del source
        own, n_counts, codes = self.columns[column], candidates.count + 1, candidates.codes

        def count(batch: pa.RecordBatch) -> Whole:
            units, words = (cells.to_numpy() for cells in batch.columns)
            rest = _rest(units, atoms)
            counts = np.bincount(codes(units[rest], words[rest].view(np.uint64)), None, n_counts)
            return np.append(counts, len(rest) - np.count_nonzero(rest))

        given = self.frame.select(own.units, _jitter(own)).dropna()
        counts = _counted(given, count, n_counts + 1, own.n_present, self.scratch)
        return _Histogram(candidates, np.cumsum(counts[:-1]), atoms)

    def set_bins(self, column: int, axis: Axis, codes: Codes | None) -> None:
        """Say how a column's records are put into bins; they are where pairs are counted."""
        held = replace(codes, ends=codes.ends[:0]) if isinstance(codes, _Histogram) else None
        self.bins[column] = axis, held

    def pairs(self, scopes: Sequence[tuple[int, ...]]) -> list[Whole]:
        """Count the records by the bins of two or more columns, many tables in one pass."""
        found: list[Whole] = []
        shapes = [tuple(self.bins[one][0].n_bins for one in scope) for scope in scopes]
        for some in in_passes([math.prod(shape) for shape in shapes]):
            ends = np.cumsum([math.prod(shape) for shape in shapes[some]])
            count, n = tables_of(self.columns, self.bins, scopes[some]), self.n_records
            counts = _counted(self.frame, count, int(ends[-1]), n * len(ends), self.scratch)
            tables = np.split(counts, ends[:-1])
            if any(one.sum() != n for one in tables):
                raise lost_records()
            found += [one.reshape(shape) for one, shape in zip(tables, shapes[some], strict=True)]
        return found


def tables_of(
    columns: Sequence[SparkColumn],
    bins: Mapping[int, tuple[Axis, _Histogram | None]],
    scopes: Sequence[tuple[int, ...]],
) -> Callable[[pa.RecordBatch], Whole]:
    """Make what counts tables of a batch, one behind the other, by the counter of memory."""
    attributes = {column.units: column.attribute for column in columns}
    jitters = [_jitter(column) for column in columns]

    def count(batch: pa.RecordBatch) -> Whole:
        grids = [*grid_columns(batch, attributes).values()]
        here = Counter(grids)
        for nth, (axis, held) in bins.items():
            codes = None
            if held is not None:
                words, missing = batch[jitters[nth]].to_numpy().view(np.uint64), grids[nth].missing
                words = words if missing is None else words[~missing]
                words = np.where(_rest(grids[nth].values, held.atoms), words, np.uint64(0))
                own = held.candidates.codes(grids[nth].values, words)
                codes = JitteredCodes(own, own)
            here.set_bins(nth, axis, codes)
        return np.concatenate([table.ravel() for table in here.pairs(scopes)])

    return count


def _rest(units: NDArray[Any], atoms: Whole | None) -> NDArray[np.bool_]:
    """Say which values are no atoms."""
    if atoms is None or not len(atoms):
        return np.ones(len(units), dtype=np.bool_)
    return ~is_atom(units, atoms)


def in_passes(sizes: Sequence[int]) -> Iterator[slice]:
    """Put tables together whose counts one pass makes, in order.

    >>> [[*range(3)][some] for some in in_passes([MOST_COUNTS, 10, 20])]
    [[0], [1, 2]]
    """
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
    return f"jitter_{column.units}"
