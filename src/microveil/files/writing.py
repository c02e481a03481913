"""Writing files of any format."""

import ctypes
import errno
import hashlib
import os
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

import polars as pl

from microveil.errors import FileError, one_error, stands_alone
from microveil.files.compression import packed
from microveil.files.formats import Format, format_of
from microveil.files.storing import UnwritableError
from microveil.files.text import TextFormat, quoted
from microveil.table import Labels
from microveil.table.column_files import height_of
from microveil.table.memory import check_held

__all__ = ["collected", "write_data"]

# Where Linux is asked to begin to write pages of a file to the disk, and to wait for none.
_LIBRARY = ctypes.CDLL(None) if os.name == "posix" else None
_SYNC_FILE_RANGE = getattr(_LIBRARY, "sync_file_range", None)
_WRITE = 2

# polars raises its panics past Exception; they may quote a value like its errors.
_POLARS_ERRORS = (pl.exceptions.PolarsError, pl.exceptions.PanicException)


@stands_alone
def write_data(
    frame: pl.DataFrame | pl.LazyFrame,
    path: Path,
    *,
    text: TextFormat | None,
    escape_formulas: bool = False,
    form: Format | None = None,
    labels: Mapping[str, Labels] = MappingProxyType({}),
) -> str:
    r"""Write a table to a new file, to the disk itself, and give the file's digest.

    Only names, types and values are written: no metadata of the file that the table
    came from, and no category that no record has.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "data.csv")
    ...     digest = write_data(pl.DataFrame({"AGE": [41, None]}), path, text=TextFormat())
    ...     path.read_text()
    'AGE\n41\n""\n'
    """
    form = form or format_of(path)
    if not form.is_written_lazily:
        frame = collected(frame)
    how = form.text(text)
    written = partial(
        form.load().batches,
        text=how,
        escape_formulas=escape_formulas,
        labels=labels,
        name=form.name,
    )
    try:
        file = path.open("xb")
    except FileExistsError:
        rule, remedy = "the file must not exist", "remove it or choose another name"
        raise FileError(str(path), rule, remedy) from None
    except OSError as error:
        raise _unwritten(path, error) from None
    done = False
    try:
        with file:
            batches = written(frame)
            if form.compression is not None:
                batches = packed(batches, form.compression)
            digest = _write(file, batches)
        done = True
    except UnwritableError as error:
        raise one_error([_refusal(path, one) for one in (error, *error.others)]) from None
    except UnicodeError:
        rule = "the encoding must hold every character, and one it does not"
        where = _where(path, frame, written, UnicodeError)
        raise FileError(where, rule, "write the input in UTF-8 and pass --encoding utf-8") from None
    except OSError as error:
        raise _unwritten(path, error) from None
    except _POLARS_ERRORS:
        rule = "columns must hold numbers, text, dates or truth values"
        where = _where(path, frame, written, _POLARS_ERRORS)
        remedy = "leave other columns out" + (" or write Parquet" if form.is_text else "")
        raise FileError(where, rule, remedy) from None
    finally:
        if not done:
            path.unlink(missing_ok=True)
    return digest


def collected(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return a table in memory."""
    if isinstance(frame, pl.DataFrame):
        return frame
    check_held(height_of(frame), len(frame.collect_schema()))
    return frame.collect()


def _where(
    path: Path,
    frame: pl.DataFrame | pl.LazyFrame,
    written: Callable[..., Iterator[bytes | memoryview]],
    refusals: type[Exception] | tuple[type[BaseException], ...],
) -> str:
    """Name the first column that cannot be written, where one alone cannot."""
    for name in frame.collect_schema().names():
        try:
            for _ in written(frame.select(name)):
                pass
        except refusals:
            return f"{path}, column {quoted(name)}"
    return str(path)


def _refusal(path: Path, error: UnwritableError) -> FileError:
    where = "" if error.column is None else f", column {quoted(error.column)}"
    return FileError(f"{path}{where}", error.rule, error.remedy)


def _unwritten(path: Path, error: OSError) -> FileError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) and path.exists():
        written = path.stat().st_size / 1e6
        rule = f"there must be room for the file, and there was none after {written:.0f} MB of it"
        return FileError(str(path), rule, "make room, or name a folder on a larger disk")
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    rule = f"the file must be writable, and the system says: {reason}"
    return FileError(str(path), rule, "check the folder, its rights and the space left")


def _write(file: BinaryIO, batches: Iterator[bytes | memoryview]) -> str:
    """Hash and write each batch; a format whose tables are large makes the next one meanwhile."""
    digest = hashlib.sha256()
    try:
        for batch in batches:
            digest.update(batch)
            file.write(batch)
            _begin(file.fileno())
        file.flush()
    finally:
        # Whoever makes them may have threads of its own, which wait until all are taken.
        if isinstance(batches, Generator):
            batches.close()
    os.fsync(file.fileno())
    return digest.hexdigest()


def _begin(descriptor: int) -> None:
    """Have the system bring to the disk what was written, while the next batch is made.

    It is waited for at the end alone; where the system cannot begin it, all of it is.
    """
    if _SYNC_FILE_RANGE is not None:
        _SYNC_FILE_RANGE(descriptor, ctypes.c_int64(0), ctypes.c_int64(0), _WRITE)
