"""A table of Spark on its grids: its records by their key, written once, and what is known of them.

A column is put on its grid in tasks, by the function that serves tables in memory. Counts come to
the driver, and the least and greatest value; no error names a value.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute

from microveil.errors import DataError, RequestError
from microveil.files.parquet_format import path_of
from microveil.protect.spark.scratch import Scratch
from microveil.schema import Attribute
from microveil.table import GridColumn, numbers_of_attribute, on_grid
from microveil.table.frames import table_of_frame
from microveil.table.gridding import missing_error, outside_error

KEY, NUMBER, TOLD = "key", "number", "told"
# Of a record's number so many bits count the records of one part; above them is the part.
BITS = 33
# Records that a task sorts at once, about.
IN_PART = 500_000
# What a record id may be: its order decides between equal values.
OF_KEYS = ("ByteType", "ShortType", "IntegerType", "LongType", "DateType", "StringType")
# What a column may be that is protected or kept, but a decimal.
TYPES = {
    "ByteType": pa.int8(),
    "ShortType": pa.int16(),
    "IntegerType": pa.int32(),
    "LongType": pa.int64(),
    "FloatType": pa.float32(),
    "DoubleType": pa.float64(),
    "BooleanType": pa.bool_(),
    "DateType": pa.date32(),
    "StringType": pa.string(),
    "TimestampType": pa.timestamp("us", "UTC"),
    "TimestampNTZType": pa.timestamp("us"),
}
BROKEN = ("missing", "infinite", "outside")
Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparkColumn:
    """A column of whole grid units or words, ``units`` in the table's frame, null where missing."""

    attribute: Attribute
    frame: Any
    units: str
    n_records: int
    n_present: int
    least: int
    greatest: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparkTable:
    """Records that were written once: columns on grids, and what names are ``kept`` by.

    Their numbers are written, too, and are in the order of the keys.
    """

    frame: Any
    n_records: int
    columns: Mapping[str, SparkColumn]
    kept: Mapping[str, str]


def arrow_type(kind: Any) -> pa.DataType:
    """Return the type that cells of a type of Spark's have in tasks; any other is as one nested."""
    name = type(kind).__name__
    if name == "DecimalType":
        return pa.decimal128(kind.precision, kind.scale)
    return TYPES.get(name, pa.list_(pa.int8()))


def n_parts(n_records: int) -> int:
    """Return in how many parts so many records are sorted."""
    return max(1, -(-n_records // IN_PART))


def part_of_task() -> int:
    """Return the part of a frame that this task is carried out on."""
    from pyspark import TaskContext

    context = TaskContext.get()
    return 0 if context is None else context.partitionId()


def in_key_order(table: SparkTable, columns: Sequence[str]) -> Any:
    """Bring records to parts by their keys alone, and in each part into the order of these.

    A release in these parts shows nothing of the values. Those that the table was written in it
    would: Spark makes them by the bytes that records take.
    """
    frame = table.frame.select(KEY, NUMBER, *columns)
    return frame.repartition(n_parts(table.n_records), KEY).sortWithinPartitions(NUMBER).drop(KEY)


def open_table(
    frame: Any,
    key: Any,
    attributes: Sequence[Attribute],
    kept: Sequence[str],
    scratch: Scratch,
    *,
    clamp: bool,
    missing: str,
    may_be_hidden: bool,
) -> SparkTable:
    """Put attributes on their grids, write the table by its keys, hold it against what is declared.

    ``key`` is the column of record ids, or what makes one of a record; ``kept`` are columns that
    stay as they are. For the rest see `protect` and `table.on_grid`.
    """
    from pyspark.sql.types import LongType, StringType

    named = isinstance(key, str)
    names = {name: f"kept{nth}" for nth, name in enumerate(kept)}
    cells = {one.name: f"units{nth}" for nth, one in enumerate(attributes)}
    given = frame.select(
        (_record_key(frame, key) if named else key).alias(KEY),
        *(_plain(frame, *one) for one in {**names, **cells}.items()),
    )
    schema = given.select(KEY, *names.values()).schema.add(NUMBER, LongType())
    schema = schema.add(TOLD, StringType())
    for one in attributes:
        schema = schema.add(cells[one.name], StringType() if one.is_words else LongType())
    task = on_grids(dict(zip(cells.values(), attributes, strict=True)), [*names.values()], clamp)
    by_key = given.repartitionByRange(KEY).sortWithinPartitions(KEY)
    written = scratch.written(by_key.mapInArrow(task, schema))
    told = scratch.fetched(written.select(TOLD).dropna())[TOLD].to_pylist()
    found = [json.loads(one) for one in told]
    n_records = sum(one["n_records"] for one in found)
    if n_others := sum(one["n_others"] for one in found):
        raise DataError(
            f"column '{key if named else 'record_id'}', {_said(n_others)}",
            "a record id must be there and be nobody else's: it decides between equal values",
            "name another column (record_id=), or mend it",
        )
    columns = {
        one.name: column_of(
            one,
            [batch[cells[one.name]] for batch in found],
            n_records,
            missing=missing,
            may_be_hidden=may_be_hidden,
            frame=written,
            units=cells[one.name],
        )
        for one in attributes
    }
    return SparkTable(frame=written.drop(TOLD), n_records=n_records, columns=columns, kept=names)


def column_of(
    attribute: Attribute,
    told: Sequence[Mapping[str, Any]],
    n_records: int,
    *,
    missing: str,
    may_be_hidden: bool,
    **place: Any,
) -> SparkColumn:
    """Make a column of what all its batches told, and refuse it where it breaks a rule."""
    if rules := [one["rule"] for one in told if one["rule"]]:
        raise DataError(attribute.place, *max(rules))
    counts = {name: sum(one[name] for one in told) for name in BROKEN}
    n_present = n_records - counts["missing"] - counts["infinite"]
    keeps = missing != "error" and not attribute.never_missing
    for name in BROKEN[:2]:
        if counts[name] and not keeps:
            raise missing_error(
                attribute,
                _said(counts[name]),
                infinite=name == "infinite",
                may_be_hidden=may_be_hidden,
            )
    if not n_present and missing != "protect":
        raise DataError(attribute.place, "every value is missing", "leave the attribute out")
    if counts["outside"]:
        raise outside_error(attribute, _said(counts["outside"]))
    ends = [end for one in told for end in one["ends"] or ()] or attribute.grid_bounds or (0,)
    return SparkColumn(
        attribute=attribute,
        n_records=n_records,
        n_present=n_present,
        least=min(ends),
        greatest=max(ends),
        **place,
    )


def place_in_files(frame: Any, files: Sequence[str]) -> Any:
    """Return a record's place in files, whose paths come in order, as its id."""
    from pyspark.sql import functions as sql

    nth = {path: number for number, path in enumerate(files)}
    in_order = sorted(frame.inputFiles(), key=lambda address: nth[path_of(address)])
    bare = (sql.lit(address.removeprefix("file:").lstrip("/")) for address in in_order)
    path = sql.regexp_replace("_metadata.file_path", "^file:/+", "")
    number = sql.array_position(sql.array(*bare), path).cast("bigint")
    return sql.shiftleft(number, 40) + sql.col("_metadata.row_index")


def _record_key(frame: Any, name: str) -> Any:
    """Return the record ids of a column, text by its bytes, whatever order it is compared in."""
    from pyspark.sql import functions as sql

    types = {field.name: type(field.dataType).__name__ for field in frame.schema.fields}
    if name not in types:
        rule = "the table has no such column"
        raise RequestError("record_id", rule, "check the name against its columns")
    if types[name] not in OF_KEYS:
        rule = "it must hold whole numbers, text or dates: they decide between equal values"
        raise RequestError("record_id", rule, "name another column")
    column = sql.col(_quoted(name))
    return column.cast("binary") if types[name] == "StringType" else column


def on_grids(
    attributes: Mapping[str, Attribute], kept: Sequence[str], clamp: bool
) -> Callable[[Batches], Batches]:
    """Make a task that puts cells on their grids, and tells once a batch what it found.

    Records come in the order of their keys, and are numbered.
    """

    def task(batches: Batches) -> Batches:
        number, before = part_of_task() << BITS, None
        for batch in batches:
            if batch.num_rows:
                keys, numbers = batch[KEY], np.arange(number, number + batch.num_rows)
                every = keys if before is None else pa.concat_arrays([before, keys])
                repeated = pa.compute.sum(pa.compute.equal(every[1:], every[:-1])).as_py()
                n_others = keys.null_count + (repeated or 0)
                number, before = number + batch.num_rows, keys[-1:]
                found = [_on_grid(batch[name], own, clamp) for name, own in attributes.items()]
                told = dict(zip(attributes, (one for _, one in found), strict=True))
                said = json.dumps({"n_records": batch.num_rows, "n_others": n_others, **told})
                once = pa.array([said, *[None] * (batch.num_rows - 1)], pa.string())
                as_they_are = [batch[name] for name in (KEY, *kept)]
                yield pa.RecordBatch.from_arrays(
                    [*as_they_are, pa.array(numbers), once, *(units for units, _ in found)],
                    [KEY, *kept, NUMBER, TOLD, *attributes],
                )

    return task


def _on_grid(cells: pa.Array, attribute: Attribute, clamp: bool) -> tuple[pa.Array, dict[str, Any]]:
    """Return whole grid units, null where there is no value, and what breaks a rule."""
    told: dict[str, Any] = {**dict.fromkeys(BROKEN, 0), "ends": None, "rule": None}
    if attribute.is_words:
        words = pa.compute.if_else(pa.compute.equal(cells, ""), None, cells)
        return words, {**told, "missing": words.null_count}
    clamps = clamp and attribute.categories is None
    try:
        numbers = numbers_of_attribute(table_of_frame(pa.table({attribute.name: cells})), attribute)
        # Values outside the bounds stay where they are, to be counted.
        own = attribute if clamps else replace(attribute, domain=None)
        column = on_grid(numbers, own, keep_missing=True, clamp=clamps, may_be_empty=True)
    except DataError as error:
        return pa.nulls(len(cells), pa.int64()), {**told, "rule": [error.rule, error.remedy]}
    told["missing"] = 0 if numbers.missing is None else int(numbers.missing.sum())
    told["infinite"] = column.n_missing - told["missing"]
    if column.n_present:
        lower, upper = attribute.grid_bounds or column.extremes
        told["ends"] = column.extremes
        told["outside"] = int(((column.values < lower) | (column.values > upper)).sum())
    if column.missing is None:
        return pa.array(column.values), told
    units = np.zeros(len(cells), dtype=np.int64)
    units[~column.missing] = column.values
    return pa.array(units, mask=column.missing), told


def grid_columns(
    batch: pa.RecordBatch, attributes: Mapping[str, Attribute]
) -> dict[str, GridColumn]:
    """Return columns of a batch of the table as methods in memory have them."""
    found = {}
    for name, attribute in attributes.items():
        absent = batch[name].is_null().to_numpy(zero_copy_only=False)
        present, words = batch[name].drop_null(), []
        if attribute.is_words:
            coded = present.dictionary_encode()
            present, words = coded.indices, coded.dictionary.to_pylist()
        values = present.to_numpy(zero_copy_only=False)
        missing = absent if absent.any() else None
        found[name] = GridColumn(attribute=attribute, values=values, missing=missing, words=words)
    return found


def _plain(frame: Any, name: str, called: str) -> Any:
    """Return a column without what its frame says of it, text without an order of its own."""
    from pyspark.sql import functions as sql

    column, kind = sql.col(_quoted(name)), frame.schema[name].dataType
    is_text = type(kind).__name__ == "StringType"
    # A comment or a code list may name what a column holds.
    return (column.cast("string") if is_text else column).alias(called, metadata={})


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"


def _said(count: int) -> str:
    return f"{count} record" + ("s" if count > 1 else "")
