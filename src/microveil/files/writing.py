"""Writing files of any format."""

import errno
import hashlib
import io
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType

import polars as pl

from microveil.errors import FileError, one_error, refused_by_system, stands_alone
from microveil.files.compression import packing
from microveil.files.formats import Format, format_of
from microveil.files.storing import UnwritableError
from microveil.files.text import TextFormat, quoted
from microveil.table import Labels
from microveil.table.column_files import height_of
from microveil.table.memory import check_held

__all__ = ["collected", "write_data"]

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
    how = {"text": form.text(text), "escape_formulas": escape_formulas, "labels": labels}
    write = partial(form.load().write, **how, name=form.name)
    try:
        file = path.open("xb+")
    except FileExistsError:
        rule, remedy = "the file must not exist", "remove it or choose another name"
        raise FileError(str(path), rule, remedy) from None
    except OSError as error:
        raise _unwritten(path, error) from None
    try:
        with file:
            with packing(file, form.compression) as packed:
                write(frame, packed)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            return hashlib.file_digest(file, "sha256").hexdigest()
    except UnwritableError as error:
        refusal = one_error([_refusal(path, one) for one in (error, *error.others)])
    except UnicodeError:
        rule = "the encoding must hold every character, and one it does not"
        remedy = "write the input in UTF-8 and pass --encoding utf-8"
        refusal = FileError(_where(path, frame, write, UnicodeError), rule, remedy)
    except OSError as error:
        refusal = _unwritten(path, error)
    except _POLARS_ERRORS:
        rule = "columns must hold numbers, text, dates or truth values"
        remedy = "leave other columns out" + (" or write Parquet" if form.is_text else "")
        refusal = FileError(_where(path, frame, write, _POLARS_ERRORS), rule, remedy)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)
    raise refusal


def collected(frame: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return a table in memory; refuse a lazy one that does not fit."""
    if isinstance(frame, pl.DataFrame):
        return frame
    check_held(height_of(frame), len(frame.collect_schema()))
    return frame.collect()


def _where(
    path: Path,
    frame: pl.DataFrame | pl.LazyFrame,
    write: Callable[..., None],
    refusals: type[Exception] | tuple[type[BaseException], ...],
) -> str:
    """Name the first column that cannot be written, where one alone cannot."""
    for name in frame.collect_schema().names():
        try:
            write(frame.select(name), io.BytesIO())
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
    remedy = "check the folder, its rights and the space left"
    return refused_by_system(path, "the file must be writable", error, remedy)
