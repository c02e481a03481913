"""Releases of Spark: cells drawn in tasks, or taken from what was drawn of clusters; new tables.

What is drawn for a cluster is drawn on the driver, and its records take it as they lie in it.
What is drawn for a record is drawn in a task, as the last step before Spark's committer writes the
release: a task that is carried out again draws anew, and one of its draws is there to be read.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.noise.noise import RandomSource
from microveil.protect.spark.scratch import Scratch
from microveil.protect.spark.table import (
    NUMBER,
    Batches,
    SparkTable,
    arrow_type,
    grid_columns,
    in_key_order,
    part_of_task,
)
from microveil.table import GridColumn, Numbers
from microveil.table.restore import arrow_array

# Draws the cells of some records of a column, or takes them by value and the record's number.
Draw = Callable[[GridColumn, NDArray[np.int64], RandomSource], Numbers]
# Blocks of a new table that one task draws, at most.
BLOCKS_OF_A_TASK = 4


def drawn_release(
    table: SparkTable, draws: Mapping[str, Draw], schema: Any, seed: int | None, scratch: Scratch
) -> Any:
    """Draw for every record, and write the release of a schema once.

    A task is given the draws, which hold what is public or was drawn, and where clusters begin.
    Under a seed the same table is drawn alike, whatever Spark does.
    """
    own = {name: table.columns[name] for name in draws}
    attributes = {column.units: column.attribute for column in own.values()}
    units, kept = {name: column.units for name, column in own.items()}, dict(table.kept)
    kinds = _arrow_types(schema)

    def task(batches: Batches) -> Batches:
        sources = sources_of_task([*draws], seed)
        for batch in batches:
            columns, numbers = grid_columns(batch, attributes), batch[NUMBER].to_numpy()
            yield pa.RecordBatch.from_arrays(
                [
                    arrow_array(pa, draws[name](columns[units[name]], numbers, sources[name]), kind)
                    if name in draws
                    else batch[kept[name]]
                    for name, kind in kinds.items()
                ],
                [f"cell{nth}" for nth in range(len(kinds))],
            )

    frame = in_key_order(table, [*units.values(), *kept.values()])
    return scratch.released(_mapped(frame, task, schema), table.n_records)


def sources_of_task(names: Sequence[str], seed: int | None) -> dict[str, RandomSource]:
    """Return a stream for each column, of the operating system; of a seed one for this part.

    Parts, and the order in them, follow from the keys of a table: see `table.in_key_order`.
    """
    return {name: RandomSource.of(seed, f" part {part_of_task()} of {name}") for name in names}


def new_table(
    block: Callable[[int], Mapping[str, Numbers]],
    n_blocks: int,
    n_records: int,
    schema: Any,
    scratch: Scratch,
) -> Any:
    """Draw a new table by blocks in tasks, and write it once; nothing of the data is looked at.

    ``block`` draws the one of a number, as its own function of it: again it comes out alike.
    """
    kinds = _arrow_types(schema)

    def task(batches: Batches) -> Batches:
        for number in (one for batch in batches for one in batch.column(0).to_pylist()):
            drawn = block(number)
            cells = [arrow_array(pa, drawn[name], kind) for name, kind in kinds.items()]
            yield pa.RecordBatch.from_arrays(cells, [f"cell{nth}" for nth in range(len(cells))])

    numbers = scratch.spark.range(0, n_blocks, 1, -(-n_blocks // BLOCKS_OF_A_TASK))
    return scratch.released(_mapped(numbers, task, schema), n_records)


def _arrow_types(schema: Any) -> dict[str, pa.DataType]:
    return {field.name: arrow_type(field.dataType) for field in schema.fields}


def _mapped(frame: Any, task: Callable[[Batches], Batches], schema: Any) -> Any:
    """Have a task make the columns of a schema, and nothing be said of them but name and type."""
    from pyspark.sql import functions as sql
    from pyspark.sql.types import StringType, StructType

    cells, columns = StructType(), []
    for nth, field in enumerate(schema.fields):
        kind = field.dataType  # a task gives text of no order of its own
        cells = cells.add(f"cell{nth}", StringType() if isinstance(kind, StringType) else kind)
        columns.append(sql.col(f"cell{nth}").cast(kind).alias(field.name, metadata={}))
    return frame.mapInArrow(task, cells).select(*columns)
