"""Scratch: arrays and columns on disk, in files without a name, mapped into memory to be looked at.

What is mapped is read from the disk when it is looked at, and the system may take its pages back
at any time. So does this process: a table, and all that is planned and drawn of it, then takes
little more memory than the column at hand. A file has no name from the moment it is open: whatever
ends the process, nothing of it can be found.
"""

import errno
import itertools
import mmap
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from microveil.errors import FileError, RequestError
from microveil.table.keeping import Filling, FillingInMemory
from microveil.table.pages import PART, Pages, can_be_watched, of_files, watch

if TYPE_CHECKING:
    import polars

__all__ = ["Scratch"]

Value = TypeVar("Value")
# Smaller arrays stay in memory.
SMALL = 1 << 16
# Types of polars that Arrow has not, or not everywhere.
_WIDE = ("Int128", "UInt128", "Float16")
# Written at a time where the system reserves no place.
ZEROS = 1 << 22


class Scratch:
    """A place for arrays and columns that do not fit into memory together.

    Parameters
    ----------
    folder : str or Path, optional
        Where the files are; by default the folder for temporary files. One that is not there is
        made, for its owner alone. The disk must have room, and be none in memory.
    memory : int, optional
        How many bytes the process may take; by default the system takes pages back alone.

    Examples
    --------
    >>> kept = Scratch().array(np.arange(100_000))
    >>> int(kept.sum()), kept.base is None
    (4999950000, False)
    """

    def __init__(self, folder: str | Path | None = None, memory: int | None = None) -> None:
        self.folder = Path(tempfile.gettempdir() if folder is None else folder)
        if folder is not None:
            try:
                self.folder.mkdir(mode=0o700, exist_ok=True)
            except OSError as error:
                raise self._refused(error) from None
        most = of_files() + memory // PART if memory is not None and can_be_watched() else None
        self._pages = Pages(most)
        if most is not None:
            watch(self, self._pages)

    def kept(self, value: Value) -> Value:
        """Return a value as it is on disk: an array, a column, or a dataclass that holds some."""
        if isinstance(value, np.ndarray):
            return cast("Value", self.array(value))
        if type(value).__module__.startswith("polars."):
            return cast("Value", self.column(cast("polars.Series", value)))
        if not is_dataclass(value) or isinstance(value, type):
            return value
        changed = {}
        for field in fields(value):
            own = getattr(value, field.name)
            if (other := self.kept(own)) is not own:
                changed[field.name] = other
        return replace(value, **changed) if changed else value

    def array(self, array: NDArray[Any]) -> NDArray[Any]:
        """Return an array as it is on disk; a small one, or one that is there, as it is."""
        if array.nbytes < SMALL or 0 in array.strides or self.has(array):
            return array
        with self._opened() as file:
            plain = np.ascontiguousarray(array)
            self._written(lambda: file.write(plain.data.cast("B")), array.nbytes)
            pages = self._mapped(file)
        return np.frombuffer(pages, dtype=array.dtype).reshape(array.shape)

    def empty(self, n_values: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        """Return an array on disk to be filled."""
        size = n_values * np.dtype(dtype).itemsize
        if size < SMALL:
            return np.empty(n_values, dtype)
        with self._opened() as file:
            # Without its place on the disk a page that is written would end the process.
            self._written(lambda: _reserve(file, size), size)
            pages = self._mapped(file)
        return np.frombuffer(pages, dtype=dtype)

    def filling(self, n_values: int, dtype: "np.dtype[Any] | type") -> Filling:
        """Return an array on disk that is filled by writing to its file: no page of it is held."""
        if n_values * np.dtype(dtype).itemsize < SMALL:
            return FillingInMemory(n_values, dtype)
        return _ScratchFilling(self, n_values, np.dtype(dtype))

    def relieve(self) -> None:
        """Give pages of files back to the system, now, where they take too much memory."""
        if self._pages.most is not None:
            self._pages.relieve(of_files())

    def column(self, column: "polars.Series") -> "polars.Series":
        """Return a column as it is on disk, of the same type."""
        import polars

        # Python's own objects have no form on a disk, and wide whole numbers none that Arrow reads.
        if column.dtype == polars.Object or str(column.dtype) in ("Int128", "UInt128"):
            return column
        if (size := column.estimated_size()) < SMALL:
            return column
        if self._has_column(column):
            return column
        _arrow()
        with self._opened() as file:
            frame = column.rechunk().to_frame()
            self._written(lambda: frame.write_ipc(file, compression="uncompressed"), int(size))
            pages = self._mapped(file)
        return self._read(pages)

    def _read(self, pages: mmap.mmap) -> "polars.Series":
        import polars

        arrow = _arrow()
        table = arrow.ipc.open_file(arrow.BufferReader(arrow.py_buffer(pages))).read_all()
        frame = cast("polars.DataFrame", polars.from_arrow(table, rechunk=False))
        return frame.to_series()

    def joined(self, n_records: int, pieces: "Iterable[polars.Series]") -> "polars.Series":
        """Return a column on disk of so many records, made of pieces that follow each other.

        Numbers, yes/no, dates and moments are one chunk, whatever the pieces are; text and others
        are as many chunks as there are pieces. Categories of a type are joined in memory.
        """
        import polars

        first, *others = itertools.islice(iterator := iter(pieces), 2)
        if not others:
            return self.column(first)
        iterator = itertools.chain((first, *others), iterator)
        if first.dtype.is_temporal() or first.dtype == polars.Boolean or _is_plain(first):
            return self._side_by_side(n_records, first, iterator)
        listed = first.dtype in (polars.Enum, polars.Categorical, polars.Object)
        if listed or str(first.dtype) in _WIDE:
            return self.column(polars.concat(iterator, rechunk=True))
        return self._in_chunks(first, iterator)

    def seen_as(self, column: "polars.Series", values: NDArray[Any]) -> "polars.Series | None":
        """Return values on the disk as a column named and typed like another: nothing is copied.

        None where they are not on the disk, or of another type.
        """
        import polars

        if not _is_plain(column) or not self.has(values):
            return None
        first = column.head(0)
        if first.to_numpy().dtype != values.dtype or not values.flags.c_contiguous:
            return None
        arrow = _arrow()
        buffers = [None, arrow.py_buffer(values)]
        array = arrow.Array.from_buffers(first.to_arrow().type, len(values), buffers)
        return polars.Series(column.name, array, dtype=column.dtype)

    def _side_by_side(
        self, n_records: int, first: "polars.Series", pieces: "Iterable[polars.Series]"
    ) -> "polars.Series":
        """Write values of one width one after another, and which of them there are, if not all."""
        import polars

        arrow, dtype = _arrow(), first.head(0).to_physical().to_numpy().dtype
        values, absent, done = self.filling(n_records, dtype), None, 0
        for piece in pieces:
            plain = piece.to_physical()
            if piece.null_count():
                if absent is None:
                    absent = self.filling(n_records, np.bool_)
                absent.write(done, piece.is_null().to_numpy())
                plain = plain.fill_null(False if plain.dtype == polars.Boolean else 0)
            values.write(done, plain.to_numpy())
            done += len(piece)
        if done != n_records:
            raise ValueError("the pieces must hold as many records as the column")
        cells, there = values.array(), None
        if dtype == np.bool_:
            cells = self._bits(cells, np.False_)
        if absent is not None:
            there = arrow.py_buffer(self._bits(absent.array(), np.True_))
        kind = first.head(0).to_arrow().type
        array = arrow.Array.from_buffers(kind, n_records, [there, arrow.py_buffer(cells)])
        return polars.Series(first.name, array, dtype=first.dtype)

    def _bits(self, truths: NDArray[np.bool_], flipped: np.bool_) -> NDArray[np.uint8]:
        """Pack truth values, or their opposites, eight to a byte, as columns of Arrow have them."""
        bits = self.filling(-(-len(truths) // 8), np.uint8)
        for start in range(0, len(truths), ZEROS):
            some = truths[start : start + ZEROS] ^ flipped
            bits.write(start // 8, np.packbits(some, bitorder="little"))
            self.relieve()
        return bits.array()

    def _in_chunks(
        self, first: "polars.Series", pieces: "Iterable[polars.Series]"
    ) -> "polars.Series":
        """Write cells of any length, a batch for each piece."""
        import polars

        arrow = _arrow()
        newest = polars.CompatLevel.newest()
        with self._opened() as file:
            schema = first.head(0).to_frame().to_arrow(compat_level=newest).schema
            with arrow.ipc.new_file(file, schema) as writer:
                for piece in pieces:
                    batches = piece.rechunk().to_frame().to_arrow(compat_level=newest).to_batches()
                    size = int(piece.estimated_size())
                    self._written(lambda: [writer.write_batch(one) for one in batches], size)  # noqa: B023
            pages = self._mapped(file)
        return self._read(pages)

    def has(self, array: NDArray[Any]) -> bool:
        """Whether an array is on disk, as a whole or as a part of one."""
        return self._pages.has(_address(array))

    def _has_column(self, column: "polars.Series") -> bool:
        if not _is_plain(column) or column.null_count() or column.n_chunks() > 1 or not len(column):
            return False
        return self.has(column.to_numpy(allow_copy=False))

    def watch(self, pages: mmap.mmap) -> None:
        """Give the pages of a map back as those of scratch files are: of a file that is read."""
        self._pages.add(pages)

    def _opened(self) -> IO[bytes]:
        """Open a new file, which has no name from then on, for nobody but this process."""
        try:
            return tempfile.TemporaryFile(dir=self.folder, prefix=".microveil-")
        except OSError as error:
            raise self._refused(error) from None

    def _written(self, write: Callable[[], object], size: int) -> None:
        free = shutil.disk_usage(self.folder).free
        if size < free:
            try:
                write()
            except OSError as error:
                # Of what a library writes the number is lost.
                is_full = error.errno is None and shutil.disk_usage(self.folder).free < size
                if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) and not is_full:
                    raise self._refused(error) from None
            else:
                return
        raise FileError(
            f"{self.folder}",
            f"the disk must have room for scratch files: of the next one, of {size / 1e6:.0f} MB, "
            f"not all fits where {free / 1e6:.0f} MB were free",
            "name a folder on a larger disk (--scratch), or make room",
        )

    def _mapped(self, file: IO[bytes]) -> mmap.mmap:
        file.flush()
        pages = mmap.mmap(file.fileno(), os.fstat(file.fileno()).st_size)
        self.watch(pages)
        return pages

    def _refused(self, error: OSError) -> RequestError:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        return RequestError(
            "scratch",
            f"files must be writable in {self.folder}, and the system says: {reason}",
            "name another folder (--scratch)",
        )


class _ScratchFilling:
    """An array in a file without a name that is being filled, and read, without a map."""

    def __init__(self, scratch: Scratch, n_values: int, dtype: "np.dtype[Any]") -> None:
        self._scratch, self._n_values, self._dtype = scratch, n_values, dtype
        self._file = scratch._opened()  # noqa: SLF001 -- of one module
        self._file.truncate(n_values * dtype.itemsize)
        # One that is given up, or that an error ends, leaves nothing open.
        weakref.finalize(self, self._file.close)

    def write(self, start: int, values: NDArray[Any]) -> None:
        data = np.ascontiguousarray(values, dtype=self._dtype).view(np.uint8).data

        def write() -> None:
            self._file.seek(start * self._dtype.itemsize)
            self._file.write(data)
            self._file.flush()

        self._scratch._written(write, len(data))  # noqa: SLF001

    def read(self, places: slice) -> NDArray[Any]:
        values = np.empty(places.stop - places.start, dtype=self._dtype)
        self._file.seek(places.start * self._dtype.itemsize)
        self._file.readinto(values.view(np.uint8).data)  # type: ignore[attr-defined]
        return values

    def array(self) -> NDArray[Any]:
        pages = self._scratch._mapped(self._file)  # noqa: SLF001
        self._file.close()
        return np.frombuffer(pages, dtype=self._dtype)


def _is_plain(column: "polars.Series") -> bool:
    """Whether these are numbers that numpy and Arrow hold alike."""
    is_number = column.dtype.is_integer() or column.dtype.is_float()
    return is_number and str(column.dtype) not in _WIDE


def _reserve(file: IO[bytes], size: int) -> None:
    """Take the place of so many bytes on the disk: by the system, or by writing zeros."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    zeros = bytes(ZEROS)
    for start in range(0, size, ZEROS):
        file.write(zeros[: size - start])


def _arrow() -> Any:
    """Import what sees a file that is mapped as a column, without a copy."""
    try:
        import pyarrow as arrow
        import pyarrow.ipc
    except ImportError:
        raise RequestError(
            "engine",
            "columns on the disk are read by pyarrow, which is not installed",
            "install it with: pip install 'microveil[disk]'",
        ) from None
    return arrow


def _address(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
