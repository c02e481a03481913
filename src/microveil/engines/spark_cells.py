"""Cells of the rows between two steps in Spark: small ones are in the row, large ones in files.

A cell of a run's column is of megabytes. In a row it would go through Java some four times a step,
and through a shuffle; in a file of the scratch folder a worker writes it once, and another reads it
where it is needed. Of such a cell the row says where it is.
"""

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

import pyarrow as pa

__all__ = ["Batches", "Cell", "Task", "as_written", "in_files"]

Batches = Iterator[pa.RecordBatch]
Task = Callable[[Batches], Batches]

# What a cell begins with. Eight bytes, so that whole numbers behind them lie as they lay.
HERE, IN_FILE = b"in row: ", b"in file:"
N_SIGN = len(HERE)
# What the name of a column says whose cells are passed on as a row before has them.
_AS_WRITTEN = {b"cells": b"as written"}


@dataclass(frozen=True, slots=True)
class Cell:
    """The bytes of a cell, as a row of a step before has them.

    Attributes
    ----------
    written : pyarrow.Buffer
        The bytes, or the file that they are in.
    """

    written: pa.Buffer

    def as_buffer(self) -> pa.Buffer:
        """Return the bytes, from their file where they are in one.

        Raises
        ------
        OSError
            If the file cannot be read whole.

        >>> Cell(pa.py_buffer(b"in row: abc")).as_buffer().to_pybytes()
        b'abc'
        """
        if self._is_here:
            return self.written[N_SIGN:]
        start, size, name = self._place
        with Path(os.fsdecode(name)).open("rb", buffering=0) as file:
            found = os.pread(file.fileno(), size, start)
        if len(found) != size:
            raise OSError("a cell is not whole")
        return pa.py_buffer(found)

    @property
    def size(self) -> int:
        """How many bytes it has, without a look at them."""
        return self.written.size - N_SIGN if self._is_here else self._place[1]

    def part(self, start: int, end: int) -> "Cell":
        """Return the bytes from a place to another as a cell: of a file they stay in it.

        >>> Cell(pa.py_buffer(b"in row: abcd")).part(1, 3).as_buffer().to_pybytes()
        b'bc'
        """
        if self._is_here:
            return Cell(pa.py_buffer(HERE + self.written[N_SIGN:][start:end].to_pybytes()))
        first, _, name = self._place
        return Cell(pa.py_buffer(_in_file(first + start, end - start, name)))

    @property
    def _is_here(self) -> bool:
        return bool(self.written[:N_SIGN].to_pybytes() == HERE)

    @property
    def _place(self) -> tuple[int, int, bytes]:
        """Where its file has it, how many bytes, and the file."""
        start, size, name = self.written[N_SIGN:].to_pybytes().split(b" ", 2)
        return int(start), int(size), name


class _File:
    """A file that one attempt of a task writes its large cells to: another attempt has its own."""

    def __init__(self, folder: Path, largest: int) -> None:
        self._path, self._largest, self._end = folder / uuid.uuid4().hex, largest, 0
        self._descriptor: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)

    def column(self, cells: pa.Array) -> pa.Array:
        """Return cells of a column as they go into a row."""
        if not pa.types.is_binary(cells.type):
            return cells
        return pa.array([self._cell(cell) for cell in cells], pa.binary())

    def _cell(self, cell: pa.Scalar) -> bytes | None:
        if not cell.is_valid:
            return None
        found = memoryview(cell.as_buffer())
        if len(found) <= self._largest:
            return HERE + found.tobytes()
        start = self._end
        self._write(found)
        return _in_file(start, self._end - start, os.fsencode(self._path))

    def _write(self, found: memoryview) -> None:
        if self._descriptor is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            self._descriptor = os.open(self._path, flags, 0o600)
        while len(found):
            n_written = os.write(self._descriptor, found)
            self._end += n_written
            found = found[n_written:]


def _in_file(start: int, size: int, name: bytes) -> bytes:
    return IN_FILE + b"%d %d " % (start, size) + name


def as_written(columns: Mapping[str, pa.Array | Sequence[Cell]]) -> pa.RecordBatch:
    """Make a batch of which some columns are cells of a row before: their bytes are not looked at.

    >>> batch = as_written({"run": pa.array([7]), "cell": [Cell(pa.py_buffer(b"in row: abc"))]})
    >>> batch.to_pydict()
    {'run': [7], 'cell': [b'in row: abc']}
    """
    arrays, fields = [], []
    for name, cells in columns.items():
        if isinstance(cells, pa.Array):
            arrays.append(cells)
            fields.append(pa.field(name, cells.type))
        else:
            arrays.append(pa.array([cell.written.to_pybytes() for cell in cells], pa.binary()))
            fields.append(pa.field(name, pa.binary(), metadata=_AS_WRITTEN))
    return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def in_files(task: Task, folder: Path, largest: int) -> Task:
    """Have a task write cells of more than so many bytes to files of a folder.

    What it gives is read as `Cell`: see `spark_chunks.each_row`. Columns of `as_written` stay as
    they are.
    """

    def kept(batches: Batches) -> Batches:
        with _File(folder, largest) as file:
            for batch in task(batches):
                columns = [
                    cells if field.metadata == _AS_WRITTEN else file.column(cells)
                    for field, cells in zip(batch.schema, batch.columns, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(columns, batch.schema.names)

    return kept
