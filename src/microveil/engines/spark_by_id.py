"""A Spark frame's records in runs, in the order of their ids: packed as they come, then sorted.

Runs of a file, or of a frame that was sorted, often follow each other as they come: these get
numbers alone. Others are cut by buckets of ids, and merged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from microveil.engines import spark_chunks as chunks
from microveil.engines import spark_runs as runs
from microveil.engines.spark_cells import Cell
from microveil.engines.spark_chunks import CHUNK, bucket_starts, unpacked_cells
from microveil.engines.spark_scratch import SparkScratch
from microveil.engines.spark_tasks import ID

__all__ = ["Runs", "by_id"]

# Runs that are kept as they come are at most so many times as many as they could be.
SHORT = 2


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Runs:
    """The records of a table in runs that were written out.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        Of (chunk, count, doubled, a column for each that is looked at), a row for each run: runs by
        number, and records in each of them, are in the order of their ids.
    n_records, n_runs : int
    n_nameless, n_doubled : int
        Records without an id, which are in no run; and those whose id is another's too.
    """

    frame: Any
    n_records: int
    n_runs: int
    n_nameless: int
    n_doubled: int


def by_id(
    scratch: SparkScratch, given: Any, looked_at: Sequence[str], files: Sequence[str]
) -> Runs:
    """Write the records out as they come, and from there in the order of the record id.

    Parameters
    ----------
    scratch : SparkScratch
    given : pyspark.sql.DataFrame
        The columns that are looked at, and what record ids are of.
    looked_at : sequence of str
        What these columns are called.
    files : sequence of str
        The paths of the frame's files, in the order that their records have.
    """
    of_columns = ", ".join(f"{name} binary" for name in looked_at)
    numbers = {path: nth for nth, path in enumerate(files)}
    as_they_come, place = scratch.placed(
        scratch.mapped(
            given,
            runs.chunked(looked_at, numbers, chunks.LONGEST, chunks.LARGEST, chunks.STEP),
            "count bigint, bytes bigint, nameless bigint, doubled bigint, "
            f"some binary, {runs.ENDS} binary, {ID} binary, {of_columns}",
        )
    )
    read = scratch.read(place, ["count", "bytes", "nameless", "some", runs.ENDS])
    n_records, n_bytes, n_nameless = (
        int(pc.sum(read[name]).as_py() or 0) for name in ("count", "bytes", "nameless")
    )
    numbered = f"{CHUNK} bigint, count bigint, doubled bigint, {of_columns}"
    firsts = None if n_nameless else _following(n_records, n_bytes, read[runs.ENDS])
    if firsts is None:
        bounds = _bounds(n_records, n_bytes, read["some"])
        cut = scratch.mapped(
            as_they_come.select(ID, *looked_at),
            runs.parted(looked_at, bounds),
            f"bucket bigint, {ID} binary, {of_columns}",
        )
        in_order = scratch.mapped(
            scratch.gathered(cut, len(bounds) + 1, "bucket"),
            runs.merged(looked_at, chunks.LONGEST),
            numbered,
        )
    else:
        in_order = scratch.mapped(
            as_they_come.select("count", "doubled", runs.ENDS, *looked_at),
            runs.numbered(looked_at, firsts),
            numbered,
        )
    frame, place = scratch.placed(in_order)
    counts = scratch.read(place, ["count", "doubled"])
    return Runs(
        frame=frame,
        n_records=int(pc.sum(counts["count"]).as_py() or 0),
        n_runs=len(counts),
        n_nameless=n_nameless,
        n_doubled=int(pc.sum(counts["doubled"]).as_py() or 0),
    )


def _following(n_records: int, n_bytes: int, ends: pa.ChunkedArray) -> list[Any] | None:
    """Return the first id of each run, in order, where each run ends before the next begins.

    None where one does not, or where many of them are short.
    """
    most = max(-(-n_records // chunks.LONGEST), -(-n_bytes // chunks.LARGEST))
    if len(ends) > SHORT * most:
        return None
    of_runs = sorted(_cells(each).to_pylist() for each in ends)
    if any(last >= first for (_, last), (first, _) in pairwise(of_runs)):
        return None
    return [first for first, _ in of_runs]


def _bounds(n_records: int, n_bytes: int, some: pa.ChunkedArray) -> list[Any]:
    """Return the record ids that buckets of like sizes begin with, but the first."""
    ids = pa.concat_arrays([_cells(each) for each in some])
    first = bucket_starts(n_records, len(ids), n_bytes)
    found: list[Any] = ids.take(pc.sort_indices(ids)).take(pa.array(first)).to_pylist()
    return found


def _cells(written: pa.Scalar) -> pa.Array:
    return unpacked_cells(Cell(written.as_buffer()))
