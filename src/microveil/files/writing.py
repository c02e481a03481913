"""Writing CSV and Parquet files."""

import codecs
import hashlib
import io
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl

from microveil.errors import FileError, stands_alone
from microveil.files.columns import plain
from microveil.files.formulas import escaped
from microveil.files.text import TextFormat, quoted

__all__ = ["write_data"]

_BATCH = 1 << 16  # records turned into text while the batch before is hashed and written


@stands_alone
def write_data(
    frame: pl.DataFrame, path: Path, *, text: TextFormat | None, escape_formulas: bool = False
) -> str:
    r"""Write a table to a new file, to the disk itself, and give the file's digest.

    Only names, types and values are written: no metadata of the file that the table
    came from, and no category that no record has.

    Parameters
    ----------
    frame : polars.DataFrame
        The table.
    path : pathlib.Path
        The file; it must not exist.
    text : TextFormat or None
        How to write CSV; None for Parquet.
    escape_formulas : bool
        Put an apostrophe before text of a CSV file that a spreadsheet would run as a formula.

    Returns
    -------
    str
        SHA-256 of the file's bytes, in hexadecimal digits.

    Raises
    ------
    FileError
        The file exists or cannot be written, or the table holds what CSV or the
        encoding cannot. Nothing is left behind.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "data.csv")
    ...     digest = write_data(pl.DataFrame({"AGE": [41, None]}), path, text=TextFormat())
    ...     path.read_text()
    'AGE\n41\n""\n'
    """
    batches = _parquet(frame) if text is None else _csv(frame, text, escape=escape_formulas)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        rule, remedy = "the file must not exist", "remove it or choose another name"
        raise FileError(str(path), rule, remedy) from None
    except OSError as error:
        raise _unwritten(path, error) from None
    done = False
    try:
        digest = _write(descriptor, batches)
        done = True
    except UnicodeError:
        rule = "the encoding must hold every character, and one it does not"
        where = _where(path, frame, lambda column: _encodable(column, text or TextFormat()))
        raise FileError(where, rule, "write the input in UTF-8 and pass --encoding utf-8") from None
    except OSError as error:
        raise _unwritten(path, error) from None
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        rule = "columns must hold numbers, text, dates or truth values"
        where = _where(path, frame, lambda column: _writable(column, text))
        remedy = "leave other columns out" + (" or write Parquet" if text else "")
        raise FileError(where, rule, remedy) from None
    finally:
        os.close(descriptor)
        if not done:
            path.unlink(missing_ok=True)
    return digest


def _where(path: Path, frame: pl.DataFrame, is_sound: Callable[[pl.Series], bool]) -> str:
    """Name the first column that cannot be written, where one alone cannot."""
    for column in frame:
        if not is_sound(column):
            return f"{path}, column {quoted(column.name)}"
    return str(path)


def _encodable(column: pl.Series, text: TextFormat) -> bool:
    try:
        for _ in _csv(column.to_frame(), text):
            pass
    except UnicodeError:
        return False
    return True


def _writable(column: pl.Series, text: TextFormat | None) -> bool:
    try:
        for _ in _parquet(column.to_frame()) if text is None else _csv(column.to_frame(), text):
            pass
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
        return False
    return True


def _unwritten(path: Path, error: OSError) -> FileError:
    reason = os.strerror(error.errno) if error.errno else "unknown reason"
    rule = f"the file must be writable, and the system says: {reason}"
    return FileError(str(path), rule, "check the folder, its rights and the space left")


def _write(descriptor: int, batches: Iterator[bytes | memoryview]) -> str:
    """Hash and write each batch while the next one is made."""
    digest = hashlib.sha256()

    def put(batch: bytes | memoryview) -> None:
        digest.update(batch)
        left = memoryview(batch)
        while left:
            left = left[os.write(descriptor, left) :]

    with ThreadPoolExecutor(1) as beside:
        pending = None
        for batch in batches:
            if pending:
                pending.result()
            pending = beside.submit(put, batch)
        if pending:
            pending.result()
    os.fsync(descriptor)
    return digest.hexdigest()


def _csv(
    frame: pl.DataFrame, text: TextFormat, *, escape: bool = False
) -> Iterator[bytes | memoryview]:
    encode = None if text.codec == "utf-8" else _encoder(text)
    for start in range(0, max(frame.height, 1), _BATCH):
        buffer = io.BytesIO()
        batch = frame.slice(start, _BATCH)
        (escaped(batch) if escape else batch).write_csv(
            buffer,
            include_header=start == 0,
            separator=text.separator,
            decimal_comma=text.decimal == ",",
            # In a file of one column, a missing value would be a blank line.
            null_value='""' if frame.width == 1 else None,
        )
        yield buffer.getbuffer() if encode is None else encode(buffer.getvalue().decode())


def _encoder(text: TextFormat) -> Callable[[str], bytes]:
    # Behind the first batch, no second byte order mark must come.
    encoder = codecs.getincrementalencoder(text.encoding)()
    decoder = codecs.getincrementaldecoder(text.encoding)()

    def encode(batch: str) -> bytes:
        encoded = encoder.encode(batch, final=True)  # a codec may hold characters back
        # Some write another character for one they lack: shift_jis a backslash for a yen sign.
        if decoder.decode(encoded, final=True) != batch:
            raise UnicodeError
        return encoded

    return encode


def _parquet(frame: pl.DataFrame) -> Iterator[bytes | memoryview]:
    narrowed = [
        column.cast(_used(column, column.dtype)) if isinstance(column.dtype, pl.Enum) else column
        for column in map(plain, frame)
    ]
    buffer = io.BytesIO()
    pl.DataFrame(narrowed).write_parquet(buffer)
    yield buffer.getbuffer()


def _used(column: pl.Series, dtype: pl.Enum) -> pl.Enum:
    """Leave out the categories that no record has: the file would list them all."""
    present = set(column.unique().cast(pl.String))
    return pl.Enum([category for category in dtype.categories if category in present])
