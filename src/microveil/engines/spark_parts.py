"""Parquet files of a release, as workers write them: one for each part, there whole or not at all.

A part has a number, and a file of its own by it: of two attempts of a task, which give the same,
one file is left.
"""

import uuid
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

__all__ = ["PART", "n_records_of", "write_part"]

# The column of how many records a part has.
PART = "count bigint"
# Of so many cells, the first of a part, at most half may be different where a column is written as
# places in a list of its values: the list of others takes three quarters of the time, and room.
LOOKED_AT = 4_096


def write_part(folder: Path, number: int, batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """Write a part of a release, and return how many records it has, as a row.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    import pyspark

    # Files that do not say it may be of a Spark whose dates were of another calendar.
    says = {"org.apache.spark.version": pyspark.__version__}
    half = folder / f".{uuid.uuid4().hex}"
    count = 0
    writer: parquet.ParquetWriter | None = None
    try:
        for batch in batches:
            if writer is None:
                writer = parquet.ParquetWriter(
                    half,
                    batch.schema,
                    use_dictionary=_repeated(batch),
                    store_schema=False,
                    store_decimal_as_integer=True,
                )
            writer.write_batch(batch)
            count += batch.num_rows
        if writer is not None:
            writer.add_key_value_metadata(says)
            writer.close()
            half.replace(folder / f"part-{number:016}.parquet")
    finally:
        with suppress(FileNotFoundError):
            half.unlink()
    return pa.RecordBatch.from_pydict({"count": pa.array([count], pa.int64())})


def _repeated(batch: pa.RecordBatch) -> list[str]:
    """Name the columns whose first cells are alike in part."""
    some = batch.slice(0, LOOKED_AT)
    columns = zip(batch.schema.names, some.columns, strict=True)
    return [name for name, cells in columns if 2 * pc.count_distinct(cells).as_py() <= len(cells)]


def n_records_of(folder: Path) -> int:
    """Count the records of all parts in a folder, by what the files say."""
    return sum(parquet.read_metadata(path).num_rows for path in folder.glob("part-*.parquet"))
