"""Columns that wait on the disk, each in an Arrow file, until a release is written."""

import itertools
import os
import secrets
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import polars

from microveil.errors import FileError

# Records of a batch: as many are in memory at a time where rows are written.
BATCH = 1 << 18
# What a lazy frame has that reads such files: they are there as long as it is.
_HELD, _COLUMNS = "_microveil_files", "_microveil_columns"


class ColumnFiles:
    """Arrow files of a column each, in a folder of their own that nobody else may enter.

    A file has no name from the moment it is written, where the system lets it be read all the same:
    it then goes with the last frame that reads it. Others go with this object, or at exit, and so
    does the folder, which is made for the first file: beside a release, or where temporary files
    are.
    """

    def __init__(self, beside: Path | None = None) -> None:
        self._beside = Path(tempfile.gettempdir()) if beside is None else beside
        self._numbers = itertools.count()
        self._folder = self._beside / f".microveil-{secrets.token_hex(8)}"
        self.close = weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)

    def put(self, column: polars.Series) -> polars.LazyFrame:
        """Write a column, and return it as a frame that reads it when it is asked for."""

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
            self._folder.mkdir(mode=0o700, exist_ok=True)
            write(path)
            if os.name == "posix":
                with path.open("rb") as file:
                    path.unlink()
                    return polars.scan_ipc(file)  # the frame has the file open by itself
        except (OSError, polars.exceptions.PolarsError) as error:
            reason = getattr(error, "strerror", None) or "it has no room, or may not be written to"
            raise FileError(
                str(self._beside),
                f"columns wait there until the release is written, and the system says: {reason}",
                "make room, or name a folder on another disk (TMPDIR; of the command the "
                "release's)",
            ) from None
        return polars.scan_ipc(path)


def files_of(frame: object) -> ColumnFiles | None:
    """Return the files that a frame holds, where it does: for what is made of it as well."""
    found: ColumnFiles | None = getattr(frame, _HELD, None)
    return found


def side_by_side(
    columns: Mapping[str, polars.LazyFrame], files: ColumnFiles | None
) -> polars.LazyFrame:
    """Make a frame of columns that are one each; it holds the files that these wait in."""
    frame: polars.LazyFrame = polars.concat(
        [own.select(name) for name, own in columns.items()], how="horizontal"
    )
    # polars reads all of them for any.
    setattr(frame, _COLUMNS, dict(columns))
    return frame if files is None else files.held_by(frame)


def columns_of(frame: polars.LazyFrame) -> dict[str, polars.LazyFrame]:
    """Return by column what it is to be read from."""
    found: dict[str, polars.LazyFrame] | None = getattr(frame, _COLUMNS, None)
    return found or dict.fromkeys(frame.collect_schema(), frame)


def height_of(frame: polars.DataFrame | polars.LazyFrame) -> int:
    """Count the records of a table, which may be lazy: one column of it says as much as all."""
    if isinstance(frame, polars.DataFrame):
        return frame.height
    for name, own in columns_of(frame).items():
        return int(own.select(name).select(polars.len()).collect().item())
    return 0
