"""What a new table asks of records in Spark, counts alone, and how Spark draws its records.

Codes of records hang on a secret key and the record's number, so that what is counted twice is
counted alike; see `spark_keys` for where the key is. New records hang on a seed and the number of
their block: none of the data is looked at for them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.engines.base import NewRecords
from microveil.engines.handles import LocalCodes
from microveil.engines.local import LocalEngine
from microveil.engines.spark_cells import Batches, Task
from microveil.engines.spark_chunks import (
    CELL,
    Row,
    bytes_of,
    each_row,
    together,
    unpacked_cells,
    whole_numbers,
)
from microveil.engines.spark_parts import write_part
from microveil.engines.spark_tasks import Rounding, present
from microveil.noise.keyed import RecordStreams
from microveil.partition.quantiles import Candidates
from microveil.synthesis.axes import Axis
from microveil.table import GridColumn
from microveil.table.restore import arrow_array

__all__ = [
    "BLOCK",
    "COUNTS",
    "MOST_COUNTS",
    "N_CANDIDATES",
    "Coding",
    "GeneratedCells",
    "HistogramOfCodes",
    "SparkBins",
    "added_up",
    "generated",
    "groups_of_scopes",
    "histogram",
    "pair_tables",
    "tallied",
]

Whole = NDArray[np.int64]
# What counts one run of records, adding to counts of all runs so far.
Counting = Callable[[Row, Whole], None]
# Candidates of an attribute: the driver takes a count for each, and one below them all, 8 MB.
N_CANDIDATES = (1 << 20) - 1
# Counts of tables that are made in one pass over the records, and come to the driver: 32 MB.
MOST_COUNTS = 1 << 22
# Counts that are added up in one place: 2 MB.
BLOCK = 1 << 18
# The columns of counts on their way: which block they are of, which of it they are, and how many.
COUNTS = "block bigint, cells binary, counts binary"
# What a key is for: another purpose would make other streams of it.
PURPOSE = "jitter"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Coding:
    """How workers put values of an attribute on the candidates for cuts.

    Attributes
    ----------
    candidates : Candidates
    name : str
        Of the attribute.
    key : Path
        Of the file with the key of its jitter.
    """

    candidates: Candidates
    name: str
    key: Path

    def streams(self) -> RecordStreams:
        """Take the key from its file, for the time of a task."""
        return RecordStreams.keyed(self.key.read_bytes(), PURPOSE, self.name)

    def codes(self, row: Row, column: GridColumn, streams: RecordStreams) -> Whole:
        """Return the codes of a run's values: of each by the jitter of its record."""
        words = streams.of(present(row, column)).words()
        return self.candidates.codes(column.values, words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class HistogramOfCodes:
    """The codes of an attribute's records as counts: see `partition.quantiles.Codes`.

    Attributes
    ----------
    coding : Coding
    ends : int64 array (n_candidates + 1,)
        How many records have each code or one below it.
    """

    coding: Coding
    ends: Whole

    def below(self, code: int) -> int:
        """Count the records whose code is less."""
        return int(self.ends[code - 1]) if code else 0

    def ranked(self, start: int, stop: int) -> Whole:
        """Return the codes of ranks start to stop - 1, ascending."""
        return np.searchsorted(self.ends, np.arange(start, stop), side="right").astype(np.int64)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparkBins:
    """Stands for the bin of every record: how a worker finds it.

    Attributes
    ----------
    rounding : Rounding
    axis : Axis
    coding : Coding or None
        Of an attribute with cuts.
    """

    rounding: Rounding
    axis: Axis
    coding: Coding | None

    @property
    def n_bins(self) -> int:
        """How many bins there are."""
        return self.axis.n_bins


def histogram(rounding: Rounding, coding: Coding) -> Callable[[], Counting]:
    """Count codes of one column's runs: a count for each candidate, and one below them all."""

    def begun() -> Counting:
        streams = coding.streams()

        def count(row: Row, counts: Whole) -> None:
            column, _ = rounding.on_grid(unpacked_cells(row[CELL]))
            if column.n_present:
                codes = coding.codes(row, column, streams)
                counts += np.bincount(codes, minlength=len(counts))

        return count

    return begun


def pair_tables(
    binned: Sequence[SparkBins], scopes: Sequence[tuple[int, ...]]
) -> Callable[[], Counting]:
    """Count the tables of scopes one behind the other, by the steps of the engine in memory."""

    def begun() -> Counting:
        engine = LocalEngine()
        streams = [None if one.coding is None else one.coding.streams() for one in binned]

        def count(row: Row, counts: Whole) -> None:
            handles = []
            for nth, (bins, own) in enumerate(zip(binned, streams, strict=True)):
                column, _ = bins.rounding.on_grid(unpacked_cells(row[f"{CELL}{nth}"]))
                codes = None
                if bins.coding is not None and own is not None:
                    found = bins.coding.codes(row, column, own)
                    codes = LocalCodes(codes=found, in_order=found)
                handles.append(engine.binned(engine.column(column), bins.axis, codes))
            tables = engine.cross_counts(handles, scopes)
            counts += np.concatenate([table.ravel() for table in tables])

        return count

    return begun


def groups_of_scopes(
    sizes: Sequence[int], scopes: Sequence[tuple[int, ...]]
) -> list[list[tuple[int, ...]]]:
    """Put tables together whose counts are made in one pass, in order.

    >>> groups_of_scopes([2000, 2000, 2000], [(0, 1), (0, 2), (1, 2)])
    [[(0, 1)], [(0, 2)], [(1, 2)]]
    >>> groups_of_scopes([10, 20, 30], [(0, 1), (0, 2), (1, 2)])
    [[(0, 1), (0, 2), (1, 2)]]
    """
    found: list[list[tuple[int, ...]]] = []
    room = 0
    for scope in scopes:
        cells = int(np.prod([sizes[one] for one in scope]))
        if cells > room:
            found.append([])
            room = MOST_COUNTS
        found[-1].append(scope)
        room -= cells
    return found


def tallied(begun: Callable[[], Counting], n_counts: int) -> Task:
    """Count the runs of a partition: one row for each block of counts that are not all 0."""

    def task(batches: Batches) -> Batches:
        count = begun()
        counts = np.zeros(n_counts, dtype=np.int64)
        for row in each_row(batches):
            count(row, counts)
        for start in range(0, n_counts, BLOCK):
            yield from _those_of(start // BLOCK, counts[start : start + BLOCK])

    return task


def added_up(batches: Batches) -> Batches:
    """Add up the counts of each block, whose rows come one after another."""
    for block, rows in together(batches, "block"):
        counts = np.zeros(BLOCK, dtype=np.int64)
        for row in rows:
            counts[whole_numbers(row["cells"])] += whole_numbers(row["counts"])
        yield from _those_of(block, counts)


def _those_of(block: int, counts: Whole) -> Batches:
    (there,) = np.nonzero(counts)
    if len(there):
        yield pa.RecordBatch.from_pydict(
            {
                "block": pa.array([block], pa.int64()),
                "cells": bytes_of([there.astype(np.int64, copy=False)]),
                "counts": bytes_of([counts[there]]),
            }
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GeneratedCells:
    """Stands for the arrays of all columns of a new table.

    Attributes
    ----------
    records : NewRecords
    seed : Path
        Of the file with the seed of all blocks.
    """

    records: NewRecords
    seed: Path


def generated(cells: GeneratedCells, kinds: Mapping[str, pa.DataType], folder: Path) -> Task:
    """Draw the blocks whose numbers come, as columns of these types: tried again they are equal.

    They are written to a folder, those of a task as one part.
    """

    def task(batches: Batches) -> Batches:
        seed = cells.seed.read_bytes()
        numbers = [row["id"].as_py() for row in each_row(batches)]
        blocks = (_block(cells.records, seed, number, kinds) for number in numbers)
        if numbers:
            yield write_part(folder, numbers[0], blocks)

    return task


def _block(
    records: NewRecords, seed: bytes, number: int, kinds: Mapping[str, pa.DataType]
) -> pa.RecordBatch:
    drawn = records.block(seed, number)
    arrays = [arrow_array(pa, drawn[name], kind) for name, kind in kinds.items()]
    return pa.RecordBatch.from_arrays(arrays, [*kinds])
