"""Columns that wait on the disk, each in an Arrow file, until a release is written."""

import itertools
import os
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

import polars

from microveil.errors import FileError

__all__ = ["ColumnFiles", "files_of", "like"]

# Records of a batch: as many are in memory at a time where rows are written.
BATCH = 1 << 18
# What a lazy frame has that reads such files: they are there as long as it is.
_HELD = "_microveil_files"

Frame = TypeVar("Frame", polars.DataFrame, polars.LazyFrame)


class ColumnFiles:
    """Arrow files of a column each, in a folder of their own that nobody else may enter.

    A file has no name from the moment it is written, where the system lets it be read all the same:
    it then goes with the last frame that reads it. Others go with this object, or at exit, and so
    does the folder.

    Parameters
    ----------
    beside : Path, optional
        The folder to put it in; by default the one for temporary files.

    Examples
    --------
    >>> files = ColumnFiles()
    >>> files.put(polars.Series("AGE", [31, 45])).collect().to_dict(as_series=False)
    {'AGE': [31, 45]}
    """

    def __init__(self, beside: Path | None = None) -> None:
        self._beside = beside
        self._numbers = itertools.count()
        try:
            self._folder = Path(tempfile.mkdtemp(prefix=".microveil-", dir=beside))
        except OSError as error:
            raise self._refused(error) from None
        self.close = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def put(self, column: polars.Series) -> polars.LazyFrame:
        """Write a column, and return it as a frame that reads it when it is asked for.

        Raises
        ------
        FileError
            If the disk has no room.
        """

        def write(path: Path) -> None:
            column.to_frame().write_ipc(path, compression="uncompressed", record_batch_size=BATCH)

        return self._written(write)

    def put_all(self, parts: Iterable[polars.DataFrame]) -> polars.LazyFrame:
        """Write the records of a table, part after part, into one file; see `put`."""

        def write(path: Path) -> None:
            from pyarrow import ipc  # most tables do without

            tables = (part.to_arrow() for part in parts)
            first = next(tables)
            with ipc.new_file(str(path), first.schema) as file:
                for table in itertools.chain([first], tables):
                    file.write_table(table)

        return self._written(write)

    def held_by(self, frame: polars.LazyFrame) -> polars.LazyFrame:
        """Have a frame of columns that wait here hold the files until it goes."""
        setattr(frame, _HELD, self)
        return frame

    def _written(self, write: Callable[[Path], None]) -> polars.LazyFrame:
        path = self._folder / f"{next(self._numbers)}.arrow"
        try:
            write(path)
            if os.name == "posix":
                with path.open("rb") as file:
                    path.unlink()
                    return polars.scan_ipc(file)  # the frame has the file open by itself
        except (OSError, polars.exceptions.PolarsError) as error:
            raise self._refused(error) from None
        return polars.scan_ipc(path)

    def _refused(self, error: BaseException) -> FileError:
        reason = getattr(error, "strerror", None) or "it has no room, or may not be written to"
        return FileError(
            str(self._beside or tempfile.gettempdir()),
            f"columns wait there until the release is written, and the system says: {reason}",
            "make room, or name a folder on another disk (TMPDIR; of the command the release's)",
        )


def files_of(frame: object) -> ColumnFiles | None:
    """Return the files that a frame holds, where it does: for what is made of it as well."""
    found: ColumnFiles | None = getattr(frame, _HELD, None)
    return found


def like(frame: Frame, made: Frame) -> Frame:
    """Have what was made of a frame hold the files that this one reads."""
    files = files_of(frame)
    return made if files is None else files.held_by(made)  # type: ignore[arg-type, return-value]
