"""Releases of Spark: cells of clusters joined to their records, draws for records, new tables.

What is drawn for a cluster is drawn on the driver. What is drawn for a record is drawn in a task,
as the last step before Spark's committer writes the release: a task that is carried out again draws
anew, and one of its draws is there to be read.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa

from microveil.noise.noise import RandomSource
from microveil.protect.spark.clusters import CLUSTER
from microveil.protect.spark.scratch import Scratch, lost_records
from microveil.protect.spark.table import KEY, Batches, SparkTable, grid_columns, in_key_order
from microveil.table import GridColumn, Numbers
from microveil.table.restore import arrow_array

__all__ = ["Draw", "drawn_release", "joined_release", "new_table", "sources_of_task"]

# Draws the cells of some records of a column.
Draw = Callable[[GridColumn, RandomSource], Numbers]
# Blocks of a new table that one task draws, at most.
BLOCKS_OF_A_TASK = 4


def joined_release(
    table: SparkTable, cells: Mapping[str, tuple[Any, Numbers]], schema: Any, scratch: Scratch
) -> Any:
    """Bring the cells of clusters to their records, and write the release of a schema once.

    ``cells`` has for each attribute a frame of (key, cluster), and one cell for each cluster.
    """
    from pyspark.sql import functions as sql

    frame = in_key_order(table.frame.select(KEY, *table.kept.values()), table.n_records)
    called = {**table.kept, **{name: f"cell{nth}" for nth, name in enumerate(cells)}}
    for name, (clusters, numbers) in cells.items():
        own = _of_clusters(numbers, schema[name].dataType, called[name], scratch.spark)
        of_records = clusters.join(own, CLUSTER).select(KEY, called[name])
        # Both sides are parted by their keys whichever way Spark joins: see `in_key_order`.
        frame = frame.join(in_key_order(of_records, table.n_records), KEY, "left")
    released = scratch.released(
        _named(frame.sortWithinPartitions(KEY), called, schema), table.n_records
    )
    found = released.toDF(*(f"c{nth}" for nth in range(len(schema.names))))
    counted = [sql.count(f"c{nth}").alias(f"c{nth}") for nth in range(len(schema.names))]
    (counts,) = scratch.fetched(found.agg(*counted)).to_pylist()
    of_columns = dict(zip(schema.names, counts.values(), strict=True))
    if any(of_columns[name] != table.columns[name].n_present for name in cells):
        raise lost_records()
    return released


def _of_clusters(numbers: Numbers, of_spark: Any, called: str, spark: Any) -> Any:
    """Return the cells of clusters as a frame of (cluster, cell)."""
    from pyspark.sql.pandas.types import to_arrow_type

    cells = arrow_array(pa, numbers, to_arrow_type(of_spark))
    clusters = pa.array(range(len(cells)), pa.int64())
    return spark.createDataFrame(pa.table({CLUSTER: clusters, called: cells}))


def _named(frame: Any, called: Mapping[str, str], schema: Any) -> Any:
    """Return the columns of a release by their names and types, and nothing said of them."""
    from pyspark.sql import functions as sql

    return frame.select(
        *(
            sql.col(called[field.name]).cast(field.dataType).alias(field.name, metadata={})
            for field in schema.fields
        )
    )


def drawn_release(
    table: SparkTable, draws: Mapping[str, Draw], schema: Any, seed: int | None, scratch: Scratch
) -> Any:
    """Draw for every record in tasks, and write the release of a schema once.

    A task is given the draws, which hold what is public or a plan made of it. Under a seed the same
    table is drawn alike, whatever Spark does.
    """
    from pyspark.sql.pandas.types import to_arrow_type

    attributes = {table.columns[name].units: table.columns[name].attribute for name in draws}
    units = {name: table.columns[name].units for name in draws}
    called = dict(zip(schema.names, _called(schema), strict=True))
    kept = dict(table.kept)
    kinds = {name: to_arrow_type(schema[name].dataType) for name in draws}

    def task(batches: Batches) -> Batches:
        sources = sources_of_task([*draws], seed)
        for batch in batches:
            columns = grid_columns(batch, attributes)
            cells = {name: batch[own] for name, own in kept.items()}
            for name, draw in draws.items():
                drawn = draw(columns[units[name]], sources[name])
                cells[name] = arrow_array(pa, drawn, kinds[name])
            in_order = [cells[name] for name in called]
            yield pa.RecordBatch.from_arrays(in_order, [*called.values()])

    drawn = in_key_order(table.frame, table.n_records).mapInArrow(task, _bare(schema))
    return scratch.released(_named(drawn, called, schema), table.n_records)


def sources_of_task(names: Sequence[str], seed: int | None) -> dict[str, RandomSource]:
    """Return a stream for each column, of the operating system; of a seed one for this part.

    Parts, and the order in them, follow from the keys of a table: see `table.in_key_order`.
    """
    from pyspark import TaskContext

    context = TaskContext.get()
    part = 0 if context is None else context.partitionId()
    return {name: RandomSource.of(seed, f" part {part} of {name}") for name in names}


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
    from pyspark.sql.pandas.types import to_arrow_type

    kinds = {field.name: to_arrow_type(field.dataType) for field in schema.fields}
    called = dict(zip(schema.names, _called(schema), strict=True))

    def task(batches: Batches) -> Batches:
        for number in (one for batch in batches for one in batch.column(0).to_pylist()):
            drawn = block(number)
            cells = [arrow_array(pa, drawn[name], kind) for name, kind in kinds.items()]
            yield pa.RecordBatch.from_arrays(cells, [*called.values()])

    numbers = scratch.spark.range(0, n_blocks, 1, -(-n_blocks // BLOCKS_OF_A_TASK))
    drawn = numbers.mapInArrow(task, _bare(schema))
    return scratch.released(_named(drawn, called, schema), n_records)


def _called(schema: Any) -> list[str]:
    return [f"cell{nth}" for nth in range(len(schema.names))]


def _bare(schema: Any) -> Any:
    """Return the types of cells that a task gives: text is of no order of its own."""
    from pyspark.sql.types import StringType, StructField, StructType

    kinds = [field.dataType for field in schema.fields]
    plain = [StringType() if isinstance(kind, StringType) else kind for kind in kinds]
    return StructType([StructField(*one) for one in zip(_called(schema), plain, strict=True)])
