"""Records that are drawn for in Spark: each by a secret key and its number, where it is.

What is drawn twice, for one reason or another, then comes out the same. See `spark_keys` for where
the key is.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.engines.base import RecordLaw
from microveil.engines.spark_cells import Batches, Task
from microveil.engines.spark_chunks import (
    CELL,
    CHUNK,
    bytes_of_places,
    each_row,
    packed,
    row_numbers,
    unpacked_cells,
)
from microveil.engines.spark_scratch import SparkScratch
from microveil.engines.spark_tasks import Rounding, present
from microveil.noise.keyed import RecordStreams
from microveil.schema import Attribute
from microveil.table import Numbers
from microveil.table.restore import arrow_array

__all__ = ["DrawnCells", "counted", "summed"]

Whole = NDArray[np.int64]
# What a key is for: another purpose would make other streams of it.
PURPOSE = "cells"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DrawnCells:
    """Stands for the array of a released column: a draw for each record, by key and number.

    Attributes
    ----------
    cells : pyspark.sql.DataFrame
        Of (chunk, count, cell): the cells of each run of records, packed, as they are in the table.
    rounding : Rounding
    law : RecordLaw
    attribute : Attribute
    key : Path
        Of the file with the key.
    scratch : SparkScratch
    """

    cells: Any
    rounding: Rounding
    law: RecordLaw
    attribute: Attribute
    key: Path
    scratch: SparkScratch

    def frame(self, numbers: Numbers, kind: pa.DataType) -> Any:
        """Return cells as a frame of (chunk, places, cell): made again they are equal."""
        del numbers
        return self.scratch.mapped(
            self.cells,
            _drawn(self.rounding, self.law, self.attribute.name, self.key, kind),
            f"{CHUNK} bigint, places binary, {CELL} binary",
        )


def _drawn(rounding: Rounding, law: RecordLaw, name: str, key: Path, kind: pa.DataType) -> Task:
    """Draw for each record of a run by the words of its own stream."""

    def task(batches: Batches) -> Batches:
        streams = RecordStreams.keyed(key.read_bytes(), PURPOSE, name)
        for row in each_row(batches):
            column, _ = rounding.on_grid(unpacked_cells(row[CELL]))
            chunk, places = row[CHUNK].as_py(), np.arange(row["count"].as_py())
            records = row_numbers(chunk, places) if law.draws_missing else present(row, column)
            cells = arrow_array(pa, law.drawn(column, streams.of(records)), kind)
            yield pa.RecordBatch.from_pydict(
                {
                    CHUNK: pa.array([chunk], pa.int64()),
                    "places": bytes_of_places([places]),
                    CELL: pa.array([packed(pa.record_batch({CELL: cells}))], pa.binary()),
                }
            )

    return task


def summed(rounding: Rounding, figures: Callable[[Whole], NDArray[np.float64]]) -> Task:
    """Add up figures of the present values: one row for each partition that has any."""

    def task(batches: Batches) -> Batches:
        total: NDArray[np.float64] | None = None
        for values in _present(batches, rounding):
            found = figures(values)
            total = found if total is None else total + found
        if total is not None:
            yield pa.RecordBatch.from_pydict(
                {"figure": np.arange(len(total)), "total": total.astype(np.float64)}
            )

    return task


def counted(rounding: Rounding, lower: int, upper: int) -> Task:
    """Count the records of each value: one row for each that a partition has."""

    def task(batches: Batches) -> Batches:
        counts = np.zeros(upper - lower + 1, dtype=np.int64)
        for values in _present(batches, rounding):
            counts += np.bincount(values - lower, minlength=len(counts))
        (there,) = np.nonzero(counts)
        yield pa.RecordBatch.from_pydict({"value": there, "count": counts[there]})

    return task


def _present(batches: Batches, rounding: Rounding) -> Iterator[Whole]:
    for row in each_row(batches):
        column, _ = rounding.on_grid(unpacked_cells(row[CELL]))
        if column.n_present:
            yield np.asarray(column.values, dtype=np.int64)
