"""Runs of records, each packed into one row of a Spark frame: a column of a run is one cell.

Spark moves such rows, some ten thousand times fewer than there are records and with large cells in
files (`spark_cells`), and workers compute on arrays. A record's number says where it is: in which
run, and at which place of it.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.engines.spark_cells import Cell

__all__ = [
    "BYTES_IN_BUCKET",
    "CELL",
    "CHUNK",
    "IN_BUCKET",
    "IN_ROW",
    "LARGEST",
    "LONGEST",
    "STEP",
    "bucket_starts",
    "bytes_of",
    "bytes_of_places",
    "chunks_and_places",
    "each_row",
    "nth_chunk",
    "packed",
    "packed_cells",
    "places_in",
    "row_numbers",
    "together",
    "unpacked",
    "unpacked_cells",
    "whole_numbers",
]

Row = dict[str, Any]
Whole = NDArray[np.int64]

# The column of a run's number. Runs follow each other by number as their records do by record id.
CHUNK = "chunk"
# That of a run's cells, packed.
CELL = "cell"
# Records of a run: 2 MB for a column of whole numbers. So many bits of a record's number are its
# place, so many of a run's number count the runs of one part of the table.
PLACE_BITS, CHUNK_BITS = 18, 20
LONGEST = 1 << PLACE_BITS
_PLACE = np.dtype(np.int32)
# Bytes of a run, all columns together, unless one batch of Spark's has more: of long text fewer
# records are one, since a column of Arrow's holds 2 GB.
LARGEST = 1 << 28
# Records of a bucket, of values or of record ids, about: what a worker sorts at once. And bytes.
IN_BUCKET, BYTES_IN_BUCKET = 500_000, 1 << 29
# Bytes of a cell that goes in its row between two steps; a larger one is in a file.
IN_ROW = 1 << 12
# Of so many records of a run, in order, one is looked at to make buckets of like sizes.
STEP = 2_500


def bucket_starts(n_records: int, n_some: int, n_bytes: int = 0) -> Whole:
    """Return which of some records, in order, begin the buckets of a table, but the first.

    >>> bucket_starts(1_200_000, 480).tolist()
    [160, 320]
    """
    wanted = max(-(-n_records // IN_BUCKET), -(-n_bytes // BYTES_IN_BUCKET))
    n_buckets = max(1, min(n_some, wanted))
    return np.arange(1, n_buckets) * n_some // n_buckets


def nth_chunk(part: int, nth: int) -> int:
    """Return the number of a run, by the part of the table and its place among that part's runs.

    >>> nth_chunk(0, 3), nth_chunk(2, 0) > nth_chunk(1, 1000)
    (3, True)
    """
    return (part << CHUNK_BITS) + nth


def row_numbers(chunk: int, places: NDArray[np.integer[Any]]) -> Whole:
    """Return the numbers of records of a run, by their places in it.

    >>> row_numbers(1, np.array([0, 5])).tolist()
    [262144, 262149]
    """
    return (chunk << PLACE_BITS) + places.astype(np.int64, copy=False)


def chunks_and_places(rows: Whole) -> tuple[Whole, Whole]:
    """Return the runs that records are in, and their places in these.

    >>> [found.tolist() for found in chunks_and_places(np.array([5, 262144]))]
    [[0, 1], [5, 0]]
    """
    return rows >> PLACE_BITS, rows & (LONGEST - 1)


def packed(columns: pa.RecordBatch) -> bytes:
    """Return columns as the bytes of one cell.

    >>> unpacked(packed(pa.record_batch({"A": ["a", None]}))).to_pydict()
    {'A': ['a', None]}
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, columns.schema) as stream:
        stream.write_batch(columns)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def unpacked(cell: pa.Buffer | bytes) -> pa.RecordBatch:
    """Return the columns that were packed into a cell."""
    return pa.ipc.open_stream(cell).read_next_batch()


def packed_cells(cells: pa.Array) -> bytes:
    """Return cells of one column as the bytes of one.

    >>> unpacked_cells(pa.scalar(packed_cells(pa.array(["a", None])))).to_pylist()
    ['a', None]
    """
    return packed(pa.RecordBatch.from_arrays([cells], [CELL]))


def unpacked_cells(cell: pa.Scalar | Cell) -> pa.Array:
    """Return the cells of the one column that were packed."""
    return unpacked(cell.as_buffer()).column(0)


def bytes_of_places(arrays: Iterable[Whole]) -> pa.Array:
    """Make cells of places in runs, each of half as many bytes as whole numbers take.

    >>> [places_in(cell).tolist() for cell in bytes_of_places([np.array([7, 5])])]
    [[7, 5]]
    """
    return bytes_of(array.astype(_PLACE) for array in arrays)


def places_in(cell: pa.Scalar | Cell) -> Whole:
    """Return the places in a run whose bytes are in a cell."""
    return np.frombuffer(cell.as_buffer(), dtype=_PLACE).astype(np.int64)


def whole_numbers(cell: pa.Scalar | Cell) -> Whole:
    """Return the whole numbers whose bytes are in a cell.

    >>> whole_numbers(pa.scalar(np.array([3, 5]).tobytes())).tolist()
    [3, 5]
    """
    return np.frombuffer(cell.as_buffer(), dtype=np.int64)


def bytes_of(arrays: Iterable[NDArray[Any]]) -> pa.Array:
    """Make cells of arrays, each of whole numbers."""
    return pa.array([array.tobytes() for array in arrays], pa.binary())


def each_row(batches: Iterable[pa.RecordBatch]) -> Iterator[Row]:
    """Give the rows of batches one by one, as scalars by column, and bytes as `Cell`."""
    for batch in batches:
        for place in range(batch.num_rows):
            yield {
                name: _held(column[place])
                for name, column in zip(batch.schema.names, batch.columns, strict=True)
            }


def _held(scalar: pa.Scalar) -> Any:
    return Cell(scalar.as_buffer()) if pa.types.is_binary(scalar.type) else scalar


def together(batches: Iterable[pa.RecordBatch], key: str) -> Iterator[tuple[int, list[Row]]]:
    """Give rows that follow each other and have the same number in a column, and that number.

    >>> [(value, len(rows)) for value, rows in together([pa.record_batch({"A": [1, 1, 4]})], "A")]
    [(1, 2), (4, 1)]
    """
    for value, rows in groupby(each_row(batches), key=lambda row: int(row[key].as_py())):
        yield value, list(rows)
