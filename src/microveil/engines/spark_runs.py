"""Runs of a table's records in Spark: packed as they come, then in the order of record ids.

Each function makes a task for `mapInArrow`; see `spark_tasks`.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from microveil.engines.spark_cells import Batches, Task, as_written
from microveil.engines.spark_chunks import (
    CHUNK,
    each_row,
    nth_chunk,
    packed_cells,
    together,
    unpacked_cells,
)
from microveil.engines.spark_tasks import FILE, ID, PLACE
from microveil.files.parts import path_of

__all__ = ["ENDS", "chunked", "merged", "numbered", "parted"]

# The column of a run's first and last record id.
ENDS = "ends"
# Bits of a place in a file.
ROW_BITS = 40


def chunked(
    names: Sequence[str], files: Mapping[str, int], longest: int, largest: int, step: int
) -> Task:
    """Pack records into runs as they come, each in the order of its record ids.

    A run has so many records and bytes at most; see `spark_chunks`.

    Of files, by their paths and numbers, a record's id is its file's number and its row there.
    One id of so many goes along, so that buckets of like sizes can be made, and the first and the
    last, which may say that the runs follow each other.
    """

    def task(batches: Batches) -> Batches:
        for run in _in_runs(batches, longest, largest):
            ids = run.column(ID) if ID in run.schema.names else _places_in(run, files)
            if pa.types.is_date32(ids.type):
                ids = ids.cast(pa.int32())  # of years that Python has not, too
            order = None if _are_in_order(ids) else _order(ids)
            in_order = ids if order is None else ids.take(order)
            some = in_order[min(step, len(in_order)) // 2 :: step]
            columns = {name: run.column(name) for name in names}
            if order is not None:
                columns = {name: cells.take(order) for name, cells in columns.items()}
            yield pa.RecordBatch.from_pylist(
                [
                    {
                        "count": run.num_rows,
                        "bytes": run.nbytes,
                        "nameless": ids.null_count,
                        "doubled": _doubled(in_order),
                        "some": packed_cells(some),
                        ENDS: packed_cells(pa.concat_arrays([in_order[:1], in_order[-1:]])),
                        ID: packed_cells(in_order),
                        **{name: packed_cells(cells) for name, cells in columns.items()},
                    }
                ]
            )

    return task


def _are_in_order(ids: pa.Array) -> bool:
    return not ids.null_count and bool(pc.all(pc.less_equal(ids[:-1], ids[1:])).as_py())


def _order(ids: pa.Array) -> pa.Array:
    """Return the places of ids in ascending order, without those of none."""
    return pc.sort_indices(ids)[: len(ids) - ids.null_count]


def _doubled(ids: pa.Array) -> int:
    """Count the ids, in order, that come again."""
    return pc.sum(pc.equal(ids[1:], ids[:-1])).as_py() or 0


def _places_in(run: pa.RecordBatch, files: Mapping[str, int]) -> pa.Array:
    """Return whole numbers for places in files, which stand in the order of these and of rows."""
    paths = run.column(FILE).dictionary_encode()
    numbers = [files[path_of(found)] for found in paths.dictionary.to_pylist()]
    of_records = np.array(numbers, dtype=np.int64)[paths.indices.to_numpy()]
    return pa.array((of_records << ROW_BITS) + run.column(PLACE).to_numpy())


def numbered(names: Sequence[str], firsts: Sequence[Any]) -> Task:
    """Give runs that follow each other numbers, by the first id of each; cells stay in files."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            nth = bisect_left(firsts, unpacked_cells(row[ENDS])[0].as_py())
            counts = {name: pa.array([row[name].as_py()]) for name in ("count", "doubled")}
            cells = {name: [row[name]] for name in names}
            yield as_written({CHUNK: pa.array([nth]), **counts, **cells})

    return task


def parted(names: Sequence[str], bounds: Sequence[Any]) -> Task:
    """Cut each run by bucket of record ids: those that the buckets but the first begin with."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            columns = {name: unpacked_cells(row[name]) for name in (ID, *names)}
            ids = columns[ID]
            cuts = (bisect_left(range(len(ids)), at, key=lambda n: ids[n].as_py()) for at in bounds)
            edges = [0, *cuts, len(ids)]
            for bucket, (start, end) in enumerate(pairwise(edges)):
                if start < end:
                    cells = {name: packed_cells(all_[start:end]) for name, all_ in columns.items()}
                    yield pa.RecordBatch.from_pylist([{"bucket": bucket, **cells}])

    return task


def merged(names: Sequence[str], longest: int) -> Task:
    """Put each bucket's records in the order of their ids, in runs; count ids that come again."""

    def task(batches: Batches) -> Batches:
        for bucket, parts in together(batches, "bucket"):
            ids = pa.concat_arrays([unpacked_cells(part[ID]) for part in parts])
            order = pc.sort_indices(ids)
            ids = ids.take(order)
            doubled = _doubled(ids)
            columns = {
                name: pa.concat_arrays([unpacked_cells(part[name]) for part in parts]).take(order)
                for name in names
            }
            for nth, start in enumerate(range(0, len(ids), longest)):
                cells = {name: packed_cells(all_[start : start + longest]) for name, all_ in
                         columns.items()}  # fmt: skip
                count = min(longest, len(ids) - start)
                doubled_here = doubled if start == 0 else 0
                chunk = {CHUNK: nth_chunk(bucket, nth), "count": count, "doubled": doubled_here}
                yield pa.RecordBatch.from_pylist([{**chunk, **cells}])

    return task


def _in_runs(batches: Batches, longest: int, largest: int) -> Iterator[pa.RecordBatch]:
    """Put batches together to runs; one that is larger by itself is a run of its own."""
    waiting: list[pa.RecordBatch] = []
    n_records = n_bytes = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            some = batch.slice(start, longest - n_records)
            if waiting and n_bytes + some.nbytes > largest:
                yield _as_one(waiting)
                waiting, n_records, n_bytes = [], 0, 0
                continue
            waiting.append(some)
            n_records, n_bytes = n_records + some.num_rows, n_bytes + some.nbytes
            start += some.num_rows
            if n_records == longest:
                yield _as_one(waiting)
                waiting, n_records, n_bytes = [], 0, 0
    if waiting:
        yield _as_one(waiting)


def _as_one(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """Put batches together; an error if that makes more than one, as a column of 2 GB would."""
    (one,) = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return one
