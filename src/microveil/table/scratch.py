"""Scratch: arrays and columns on disk, in files without a name, mapped into memory to be looked at.

What is mapped is read from the disk when it is looked at, and the system may take its pages back
at any time. So does this process: a table, and all that is planned and drawn of it, then takes
little more memory than the column at hand. A file has no name from the moment it is open: whatever
ends the process, nothing of it can be found.
"""

import errno
import io
import itertools
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from microveil.errors import FileError, RequestError
from microveil.table.extents import Extent, Extents
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
# What the system refuses by a limit of the process, and how a shell sets it.
_LIMITS = {
    errno.EFBIG: ("such large files", "ulimit -f"),
    errno.ENOMEM: ("so much memory, mapped files too", "ulimit -v"),
    errno.EMFILE: ("so many open files", "ulimit -n"),
}
# Zeros, and truth values, that are written at a time.
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
        is_watched = memory is not None and can_be_watched()
        self._pages = Pages(of_files() + memory // PART if memory and is_watched else None)
        self._extents = Extents(self._opened, self._pages.add)
        if memory and is_watched:
            watch(self, self._pages, memory)

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
        extent = self._place(array.nbytes)
        self._write(extent, 0, np.ascontiguousarray(array).data.cast("B"))
        return extent.array().view(array.dtype).reshape(array.shape)

    def empty(self, n_values: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        """Return an array on disk to be filled: what it holds until then is of no meaning."""
        size = n_values * np.dtype(dtype).itemsize
        if size < SMALL:
            return np.empty(n_values, dtype)
        extent = self._place(size)
        self._written(extent, extent.reserve, size)
        return extent.array().view(dtype)

    def filling(self, n_values: int, dtype: "np.dtype[Any] | type") -> Filling:
        """Return an array on disk that is filled by writing to its file: no page of it is held."""
        if n_values * np.dtype(dtype).itemsize < SMALL:
            return FillingInMemory(n_values, dtype)
        return _ScratchFilling(self, n_values, np.dtype(dtype))

    def relieve(self) -> None:
        """Give pages of files back to the system, now, where they take too much memory."""
        if self._pages.most is not None:
            self._pages.relieve(of_files())

    def give_back(self) -> None:
        """Give the system what is held for arrays and columns that nobody looks at any more."""
        self._extents.give_back()

    def column(self, column: "polars.Series") -> "polars.Series":
        """Return a column as it is on disk, of the same type."""
        import polars
        import pyarrow
        import pyarrow.ipc

        # Python's own objects have no form on a disk, and wide whole numbers none that Arrow reads.
        if column.dtype == polars.Object or str(column.dtype) in ("Int128", "UInt128"):
            return column
        if column.estimated_size() < SMALL:
            return column
        if _has_codes(column):
            return self.column(column.to_physical()).cat.to(column.dtype)
        if self._has_column(column):
            return column
        written = io.BytesIO()
        column.rechunk().to_frame().write_ipc(written, compression="uncompressed")
        data = written.getbuffer()
        extent = self._place(len(data))
        self._write(extent, 0, data)
        buffer = pyarrow.py_buffer(extent.array())
        table = pyarrow.ipc.open_file(pyarrow.BufferReader(buffer)).read_all()
        frame = cast("polars.DataFrame", polars.from_arrow(table, rechunk=False))
        return frame.to_series()

    def joined(self, n_records: int, pieces: "Iterable[polars.Series]") -> "polars.Series":
        """Return a column on disk of so many records, made of pieces that follow each other.

        Numbers, yes/no, dates, moments and categories of a type are one chunk, whatever the pieces
        are; text and others are as many chunks as there are pieces.
        """
        import polars

        first, *others = itertools.islice(iterator := iter(pieces), 2)
        if not others:
            return self.column(first)
        iterator = itertools.chain((first, *others), iterator)
        if first.dtype.is_temporal() or first.dtype == polars.Boolean or _is_plain(first):
            return self._side_by_side(n_records, first, iterator)
        if _has_codes(first):
            # As a column of categories it would come back from Arrow into memory.
            codes = (piece.to_physical() for piece in iterator)
            joined = self._side_by_side(n_records, first.to_physical(), codes)
            return joined.cat.to(first.dtype)
        listed = first.dtype in (polars.Enum, polars.Categorical, polars.Object)
        if listed or str(first.dtype) in _WIDE:
            return self.column(polars.concat(iterator, rechunk=True))
        return polars.concat(map(self._one_of_many, iterator), rechunk=False)

    def _one_of_many(self, piece: "polars.Series") -> "polars.Series":
        own = self.column(piece)
        self.relieve()
        return own

    def seen_as(self, column: "polars.Series", values: NDArray[Any]) -> "polars.Series | None":
        """Return values on the disk as a column named and typed like another: nothing is copied.

        None where they are not on the disk, or of another type.
        """
        import polars
        import pyarrow

        if not _is_plain(column) or not self.has(values):
            return None
        first = column.head(0)
        if first.to_numpy().dtype != values.dtype or not values.flags.c_contiguous:
            return None
        buffers = [None, pyarrow.py_buffer(values)]
        array = pyarrow.Array.from_buffers(first.to_arrow().type, len(values), buffers)
        return polars.Series(column.name, array, dtype=column.dtype)

    def _side_by_side(
        self, n_records: int, first: "polars.Series", pieces: "Iterable[polars.Series]"
    ) -> "polars.Series":
        """Write values of one width one after another, and which of them there are, if not all."""
        import polars
        import pyarrow

        dtype = first.head(0).to_physical().to_numpy().dtype
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
            there = pyarrow.py_buffer(self._bits(absent.array(), np.True_))
        kind = first.head(0).to_arrow().type
        array = pyarrow.Array.from_buffers(kind, n_records, [there, pyarrow.py_buffer(cells)])
        return polars.Series(first.name, array, dtype=first.dtype)

    def _bits(self, truths: NDArray[np.bool_], flipped: np.bool_) -> NDArray[np.uint8]:
        """Pack truth values, or their opposites, eight to a byte, as columns of Arrow have them."""
        bits = self.filling(-(-len(truths) // 8), np.uint8)
        for start in range(0, len(truths), ZEROS):
            some = truths[start : start + ZEROS] ^ flipped
            bits.write(start // 8, np.packbits(some, bitorder="little"))
            self.relieve()
        return bits.array()

    def has(self, array: NDArray[Any]) -> bool:
        """Whether an array is on disk, as a whole or as a part of one."""
        return self._pages.has(_address(array))

    def _has_column(self, column: "polars.Series") -> bool:
        if not _is_plain(column) or column.null_count() or column.n_chunks() > 1 or not len(column):
            return False
        return self.has(column.to_numpy(allow_copy=False))

    def _opened(self) -> IO[bytes]:
        """Open a new file, which has no name from then on, for nobody but this process."""
        return tempfile.TemporaryFile(dir=self.folder, prefix=".microveil-")

    def _place(self, size: int) -> Extent:
        """Return a place for so many bytes."""
        return self._done(lambda: self._extents.take(size), size)

    def _write(self, extent: Extent, place: int, data: memoryview) -> None:
        self._written(extent, lambda: extent.write(place, data), len(data))

    def _written(self, extent: Extent, write: Callable[[], object], size: int) -> None:
        """Write so many bytes where there is room: of a place that was used there is."""
        if extent.is_fresh and shutil.disk_usage(self.folder).free <= size:
            raise self._full(size)
        self._done(write, size)

    def _done(self, step: Callable[[], Value], size: int) -> Value:
        """Take a step that needs room for so many bytes."""
        try:
            return step()
        except OSError as error:
            is_beyond = size >= shutil.disk_usage(self.folder).free
            if error.errno in (errno.ENOSPC, errno.EDQUOT) or is_beyond:
                raise self._full(size) from None
            if error.errno in _LIMITS:
                raise self._limited(error, size) from None
            raise self._refused(error) from None

    def _full(self, size: int) -> FileError:
        free = shutil.disk_usage(self.folder).free
        return FileError(
            f"{self.folder}",
            f"the disk must have room for scratch files: of the next one, of {size / 1e6:.0f} MB, "
            f"not all fits where {free / 1e6:.0f} MB were free",
            "name a folder on a larger disk (--scratch), or make room",
        )

    def _limited(self, error: OSError, size: int) -> FileError:
        what, limit = _LIMITS[error.errno or 0]
        return FileError(
            f"{self.folder}",
            f"the process must be allowed {what}, and a scratch file of {size / 1e6:.0f} MB goes "
            "beyond its limit",
            f"raise the limit ({limit}), or work on a part of the table",
        )

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
        self._scratch, self._dtype = scratch, dtype
        self._extent = scratch._place(n_values * dtype.itemsize)  # noqa: SLF001 -- of one module
        # What was in a place before is not 0: nothing from here on may be looked at.
        self._end = self._extent.size if self._extent.is_fresh else 0

    def write(self, start: int, values: NDArray[Any]) -> None:
        place = start * self._dtype.itemsize
        data = np.ascontiguousarray(values, dtype=self._dtype).view(np.uint8).data
        self._clear(place)
        self._scratch._write(self._extent, place, data)  # noqa: SLF001
        self._end = max(self._end, place + len(data))

    def read(self, places: slice) -> NDArray[Any]:
        self._clear(places.stop * self._dtype.itemsize)
        values = np.empty(places.stop - places.start, dtype=self._dtype)
        self._extent.read(places.start * self._dtype.itemsize, values.view(np.uint8).data)
        return values

    def array(self) -> NDArray[Any]:
        self._clear(self._extent.size)
        return self._extent.array().view(self._dtype)

    def _clear(self, end: int) -> None:
        """Write zeros where nothing was written, up to a place."""
        zeros = memoryview(bytes(min(ZEROS, max(0, end - self._end))))
        while self._end < end:
            some = zeros[: end - self._end]
            self._scratch._write(self._extent, self._end, some)  # noqa: SLF001
            self._end += len(some)


def _is_plain(column: "polars.Series") -> bool:
    """Whether these are numbers that numpy and Arrow hold alike."""
    is_number = column.dtype.is_integer() or column.dtype.is_float()
    return is_number and str(column.dtype) not in _WIDE


def _has_codes(column: "polars.Series") -> bool:
    """Whether the type lists categories, and the library takes codes for cells without a copy."""
    import polars

    return column.dtype in (polars.Enum, polars.Categorical) and hasattr(column.cat, "to")


def _address(array: NDArray[Any]) -> int:
    address: int = array.__array_interface__["data"][0]
    return address
