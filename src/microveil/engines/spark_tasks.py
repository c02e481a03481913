"""What the workers of a Spark cluster compute: the house's own kernels over batches of Arrow.

Each function makes a task for `mapInArrow`. Nothing in a task is random: a task that is tried
again must give what it gave before, or two draws of one cell could be compared.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.engines.local import summarised
from microveil.errors import DataError
from microveil.partition import ranking_sizes
from microveil.schema import Attribute
from microveil.table import GridColumn, numbers_of_attribute, on_grid
from microveil.table.frames import part_of_table

__all__ = ["CELL", "Rounding", "checked", "numbered", "placed", "summaries", "units"]

# The column of an attribute's cells as they are in the table.
CELL = "cell"

Batches = Iterator[pa.RecordBatch]
Task = Callable[[Batches], Batches]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """How cells of an attribute become whole units: what every worker is given of it.

    Attributes
    ----------
    attribute : Attribute
    clamp : bool
        Move values outside the bounds to the nearer bound.
    """

    attribute: Attribute
    clamp: bool

    def on_grid(self, cells: pa.Array) -> tuple[GridColumn, int]:
        """Return the cells of a batch on the grid, and how many of them are missing.

        Values outside the bounds stay where they are, for who counts them.

        Raises
        ------
        DataError
            If they would not fit the grid.
        """
        attribute = self.attribute
        table = part_of_table(pa.table({attribute.name: cells}))
        numbers = numbers_of_attribute(table, attribute)
        clamped = self.clamp and attribute.categories is None
        column = on_grid(
            numbers,
            attribute if clamped else replace(attribute, domain=None),
            keep_missing=True,
            clamp=clamped,
            may_be_empty=True,
        )
        return column, 0 if numbers.missing is None else int(numbers.missing.sum())


def checked(rounding: Rounding) -> Task:
    """Count what a column holds, batch by batch, and what of it breaks a rule."""

    def task(batches: Batches) -> Batches:
        for batch in batches:
            if batch.num_rows:
                yield pa.RecordBatch.from_pylist([_counted(batch.column(CELL), rounding)])

    return task


def _counted(cells: pa.Array, rounding: Rounding) -> dict[str, Any]:
    try:
        column, n_missing = rounding.on_grid(cells)
    except DataError as error:
        nothing = dict.fromkeys(("present", "missing", "infinite", "outside"), 0)
        return {**nothing, "least": None, "greatest": None, "rule": error.rule,
                "remedy": error.remedy}  # fmt: skip
    values, bounds = column.values, rounding.attribute.grid_bounds
    outside = 0
    if bounds is not None:
        outside = int(np.count_nonzero((values < bounds[0]) | (values > bounds[1])))
    return {
        "present": len(values),
        "missing": n_missing,
        "infinite": column.n_missing - n_missing,
        "outside": outside,
        "least": int(values.min()) if len(values) else None,
        "greatest": int(values.max()) if len(values) else None,
        "rule": None,
        "remedy": None,
    }


def units(rounding: Rounding) -> Task:
    """Make (row, id, unit) of (row, id, cell), for the records that have a value."""

    def task(batches: Batches) -> Batches:
        for batch in batches:
            if not batch.num_rows:
                continue
            column, _ = rounding.on_grid(batch.column(CELL))
            there = batch.drop_columns([CELL])
            if column.missing is not None:
                there = there.filter(pa.array(~column.missing))
            yield there.append_column("unit", pa.array(column.values, pa.int64()))

    return task


def numbered(batches: Batches) -> Batches:
    """Write down where each record of a partition stands, and in which partition."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part, start = (0 if context is None else context.partitionId()), 0
    for batch in batches:
        stop = start + batch.num_rows
        yield batch.append_column(
            "part", pa.array(np.full(batch.num_rows, part, dtype=np.int32))
        ).append_column("place", pa.array(np.arange(start, stop)))
        start = stop


def placed(starts: Mapping[int, int], n_records: int, k: int) -> Task:
    """Find the rank and the cluster of records by their partition and their place in it."""

    def task(batches: Batches) -> Batches:
        ends: Whole | None = None
        first = np.zeros(max(starts, default=0) + 1, dtype=np.int64)
        first[list(starts)] = list(starts.values())
        for batch in batches:
            if ends is None:
                ends = np.cumsum(ranking_sizes(n_records, k))
            ranks = first[batch.column("part").to_numpy()] + batch.column("place").to_numpy()
            clusters = np.searchsorted(ends, ranks, side="right")
            yield (
                batch.drop_columns(["part", "place"])
                .append_column("rank", pa.array(ranks))
                .append_column("cluster", pa.array(clusters, pa.int64()))
            )

    return task


def summaries(batches: Batches) -> Batches:
    """Summarise clusters whose records follow each other in the order of rank."""
    left: list[Whole] = [np.empty(0, dtype=np.int64)] * 2
    for batch in batches:
        read = [batch.column(name).to_numpy() for name in ("cluster", "unit")]
        clusters, values = (np.concatenate(pair) for pair in zip(left, read, strict=True))
        # The last cluster may go on in the next batch.
        whole = int(np.searchsorted(clusters, clusters[-1])) if len(clusters) else 0
        left = [clusters[whole:], values[whole:]]
        if whole:
            yield _summary(clusters[:whole], values[:whole])
    if len(left[0]):
        yield _summary(*left)


def _summary(clusters: Whole, values: Whole) -> pa.RecordBatch:
    numbers, sizes = np.unique(clusters, return_counts=True)
    found = summarised(values, sizes)
    ends = {f"smallest_{nth}": found.smallest[nth] for nth in range(3)}
    ends |= {f"largest_{nth}": found.largest[nth] for nth in range(3)}
    return pa.RecordBatch.from_pydict(
        {"cluster": numbers, "size": sizes, "sum": found.sums, "squares": found.squares, **ends}
    )
