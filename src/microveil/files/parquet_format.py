"""Parquet files."""

import io
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO

import polars as pl

from microveil.files.declared import Outline, kind_of
from microveil.files.text import TextFormat
from microveil.files.text_sizes import size_of, text_of_a_record
from microveil.files.typed import (
    POLARS_ERRORS,
    TypedTable,
    broken,
    opened_by,
    to_publish,
)
from microveil.table import Labels
from microveil.table.pieces import PIECE

__all__ = ["LARGE", "batches", "opened", "outlined"]

# A table of more bytes is written piece by piece, and compressed as Spark and pandas do it: in
# three fifths of the time that zstd takes at its fastest, and a quarter larger.
LARGE = 1 << 26
# What is said of the values in each row group: records in the order of a table are in none that
# would tell where a value is, and to find the ends of whole numbers takes a fifth of the time.
_SAID = {"min": False, "max": False, "distinct_count": False, "null_count": True}
# Of text so many bytes at a time, and in a row group, of which many are at hand: the library itself
# goes by the number of records. Of numbers some row groups are at hand as well, six or seven at
# times: they are of so many records, or bytes, at most.
_TEXT, _GROUP, _LONG = 1 << 21, 1 << 22, 50
_RECORDS, _BYTES = 1 << 18, 1 << 24
# Parts of a file that wait to be taken, and from how many bytes on one is passed on.
_WAITING, _PART = 8, 1 << 18
# How often is looked whether somebody takes them still, in seconds.
_LOOK = 0.1


def opened(path: Path, raw: bytes, text: TextFormat | None) -> TypedTable:  # noqa: ARG001
    """Read a file."""
    return opened_by(pl.read_parquet, path, raw, "Parquet", pl.scan_parquet)


def outlined(path: Path, text: TextFormat | None) -> Outline:  # noqa: ARG001
    """Read what stands at the end of a file: its columns, and how many records it has."""
    try:
        outline = pl.scan_parquet(path, glob=False)
        kinds = {name: kind_of(dtype) for name, dtype in outline.collect_schema().items()}
        n_records = outline.select(pl.len()).collect().item()
    except POLARS_ERRORS as error:
        raise broken(path, "Parquet", error) from None
    return Outline(kinds=kinds, n_records=int(n_records))


def batches(
    frame: pl.DataFrame,
    text: TextFormat | None,  # noqa: ARG001 -- it has types and holds no formulas
    *,
    escape_formulas: bool,  # noqa: ARG001
    labels: Mapping[str, Labels],  # noqa: ARG001 -- it has no place for them
) -> Iterator[bytes | memoryview]:
    """Write a table, names, types and values alone: in one part, or a large one in many."""
    published = to_publish(frame)
    size = size_of(frame)
    if size > LARGE:
        of_text = text_of_a_record(published)
        together = max(1, min(_RECORDS, _BYTES // max(1, size // frame.height)))
        if of_text > _LONG:
            together = max(1, min(together, _GROUP // of_text))
        cuts = _slices(published.height, of_text, 2 * together)
        slices = (published[records].lazy() for records in cuts)
        yield from _as_written(
            lambda file: pl.concat(slices).sink_parquet(
                file, compression="snappy", statistics=_SAID, row_group_size=together
            )
        )
        return
    buffer = io.BytesIO()
    published.write_parquet(buffer)
    yield buffer.getbuffer()


def _slices(n_records: int, of_text: int, most: int) -> Iterator[slice]:
    """Cut records into runs, of long text into shorter ones: some are in memory at a time."""
    at_once = max(1, min(PIECE, most, _TEXT // max(1, of_text)))
    for start in range(0, n_records, at_once):
        yield slice(start, min(start + at_once, n_records))


class _Pipe(io.RawIOBase):
    """A file whose parts are passed on as they are written."""

    def __init__(self) -> None:
        self.parts: queue.Queue[memoryview | BaseException | None] = queue.Queue(_WAITING)
        self.is_wanted = True
        self._gathered = bytearray()

    def writable(self) -> bool:
        return True

    def write(self, part: "bytes | memoryview") -> int:  # type: ignore[override]
        self._gathered += part
        if len(self._gathered) >= _PART:
            self.pass_on()
        return len(part)

    def pass_on(self) -> None:
        """Pass on what was gathered: a hundred bytes are not worth waking somebody."""
        while self.is_wanted:
            try:
                self.parts.put(memoryview(self._gathered), timeout=_LOOK)
            except queue.Full:
                continue
            self._gathered = bytearray()
            return
        raise OSError("nobody takes it any more")


def _as_written(write: Callable[[IO[bytes]], object]) -> Iterator[memoryview]:
    """Yield a file's parts while it is written, in a thread of its own."""
    pipe = _Pipe()

    def work() -> None:
        try:
            write(pipe)  # type: ignore[arg-type]
            pipe.pass_on()
            pipe.parts.put(None)
        except BaseException as error:  # noqa: BLE001 -- raised where the parts are taken
            pipe.parts.put(error)

    writer = threading.Thread(target=work, name="parquet")
    writer.start()
    try:
        while (part := pipe.parts.get()) is not None:
            if isinstance(part, BaseException):
                raise part
            yield part
    finally:
        pipe.is_wanted = False
        while writer.is_alive():
            try:
                pipe.parts.get(timeout=_LOOK)
            except queue.Empty:
                continue
        writer.join()
