"""Parquet files, and folders of them: one table in several, as many programs write a large one."""

import hashlib
import io
import shutil
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit

import polars as pl

from microveil.errors import FileError
from microveil.files.checking import broken, in_our_words
from microveil.files.formats import Opened
from microveil.files.text import TextFormat, quoted
from microveil.files.typed import (
    Outline,
    check_no_pattern,
    kind_of,
    opened_by,
    to_publish,
    typed,
    without_metadata,
)
from microveil.table.column_files import ColumnFiles, height_of
from microveil.table.memory import check_reading

# A table of more bytes is written row group by row group, and compressed as Spark and pandas do
# it: in three fifths of the time that zstd takes at its fastest, and a quarter larger.
LARGE = 1 << 26
# Records of a row group, and bytes of one of long text, by the first records.
ROWS, BYTES, FIRST = 1 << 18, 1 << 26, 1 << 10
# What every reader of Arrow knows.
_LEVEL = pl.CompatLevel.oldest()


def opened(path: Path, raw: bytes, text: TextFormat | None) -> Opened:  # noqa: ARG001
    """Read a file."""
    return opened_by(pl.read_parquet, path, raw, "whole Parquet", pl.scan_parquet)


def opened_lazily(path: Path, text: TextFormat | None, beside: Path) -> Opened:  # noqa: ARG001
    """Outline a file: a column is read when it is asked for."""
    return parts_lazily([path], beside)


def outlined(path: Path, text: TextFormat | None) -> Outline:  # noqa: ARG001
    """Read what stands at the end of a file: its columns, and how many records it has."""
    return parts_outlined([path])


def parts_opened(files: list[Path]) -> Opened:
    """Read the table of several files, one after the other."""
    outlines = check_parts(files)
    schema, home = outlines[0].collect_schema(), files[0].parent
    check_no_pattern(files[0], schema.names())
    size = sum(path.stat().st_size for path in files)
    check_reading(home, size, _n_records(files, outlines) * len(schema))
    parts = []
    for path, outline in zip(files, outlines, strict=True):
        with _whole(path):
            parts.append(outline.collect())
    return typed(without_metadata(home, pl.concat(parts)))


def parts_lazily(files: list[Path], beside: Path) -> Opened:
    """Outline the table of some files: columns are read when asked for, what waits lies beside."""
    place = files[0] if len(files) == 1 else files[0].parent
    frame = without_metadata(place, pl.concat(check_parts(files)))
    return typed(ColumnFiles(beside).held_by(frame))


def parts_outlined(files: list[Path]) -> Outline:
    """Read what stands at the end of each file."""
    outlines = check_parts(files)
    schema = outlines[0].collect_schema()
    kinds = {name: kind_of(dtype) for name, dtype in schema.items()}
    return Outline(kinds=kinds, n_records=_n_records(files, outlines))


def check_parts(files: list[Path]) -> list[pl.LazyFrame]:
    """Outline the files of a table, and refuse one that is broken or has other columns."""
    outlines = []
    for path in files:
        with _whole(path):
            outlines.append(pl.scan_parquet(path, glob=False))
            schema = outlines[-1].collect_schema()
        expected = outlines[0].collect_schema()
        if schema == expected:
            continue
        other = "it has others than"
        if schema.names() == expected.names():
            name = next(name for name in schema if schema[name] != expected[name])
            other = f"{quoted(name)} has another type than in"
        rule = f"the files of a table must have the same columns, and {other} {files[0].name}"
        raise FileError(f"{path}", rule, "write all of them by one program, or take it out")
    return outlines


def _n_records(files: list[Path], outlines: list[pl.LazyFrame]) -> int:
    n_records = 0
    for path, outline in zip(files, outlines, strict=True):
        with _whole(path):
            n_records += int(outline.select(pl.len()).collect().item())
    return n_records


def _whole(path: Path) -> AbstractContextManager[None]:
    """Refuse a file that polars cannot read."""
    return in_our_words(lambda error: broken(path, "whole Parquet", error))


def write(frame: pl.DataFrame | pl.LazyFrame, file: IO[bytes], **_how: Any) -> None:
    """Write a table, names, types and values alone: in one part, or a large one in many."""
    if isinstance(frame, pl.LazyFrame) or frame.estimated_size() > LARGE:
        _write_row_groups(to_publish(frame.lazy()), height_of(frame), file)
        return
    buffer = io.BytesIO()  # an error of the disk is then Python's
    to_publish(frame).write_parquet(buffer)
    file.write(buffer.getbuffer())


def _write_row_groups(frame: pl.LazyFrame, n_records: int, file: IO[bytes]) -> None:
    """Write some records after others: as many as are in memory at a time."""
    from pyarrow import ArrowException, parquet

    first = frame.head(FIRST).collect()
    together = max(1, min(ROWS, BYTES * FIRST // max(1, int(first.estimated_size()))))
    schema = first.clear().to_arrow(compat_level=_LEVEL).schema
    # Numbers hardly repeat: to list those that do takes longer than to write them.
    listed = [name for name, dtype in first.schema.items() if not dtype.is_numeric()]
    try:
        with parquet.ParquetWriter(
            file, schema, compression="snappy", use_dictionary=listed, write_statistics=False
        ) as writer:
            for start in range(0, n_records, together):
                records = frame.slice(start, together).collect()
                writer.write_table(records.to_arrow(compat_level=_LEVEL), row_group_size=together)
    except ArrowException:
        raise pl.exceptions.ComputeError("a type that Parquet has no place for") from None


def copy_parts(files: Sequence[str], folder: Path) -> str:
    """Copy files, by their addresses, into a new folder by numbers; return `digest_of_parts`."""
    folder.mkdir()
    copies = []
    try:
        for number, address in enumerate(sorted(files)):
            copies.append(folder / f"part-{number:05}.parquet")
            shutil.copyfile(path_of(address), copies[-1])
        return digest_of_parts(copies)
    except OSError:
        raise FileError(
            f"{folder.name}", "a part of the table cannot be copied", "see that there is room"
        ) from None


def address_of(path: Path) -> str:
    """Return a file's address as Spark takes one: nothing in its name is written in codes."""
    return f"file://{path.as_posix()}"


def path_of(address: str) -> str:
    """Return a file's path of its address as Spark gives one: some of its name in codes."""
    return unquote(urlsplit(address).path)


def digest_of_parts(files: Iterable[Path]) -> str:
    """Return the SHA-256 of the bytes of all files, in the order of their names."""
    digest = hashlib.sha256()
    for path in sorted(files):
        with path.open("rb") as file:
            hashlib.file_digest(file, lambda: digest)
    return digest.hexdigest()
