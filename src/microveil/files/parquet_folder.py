"""Folders of Parquet files: one table in several files, as many programs write a large one."""

from pathlib import Path

import polars as pl

from microveil.errors import FileError, MicroveilError
from microveil.files.declared import Outline, kind_of
from microveil.files.file_bytes import check_unchanged, state_of
from microveil.files.text import quoted
from microveil.files.typed import (
    POLARS_ERRORS,
    TypedTable,
    broken,
    check_no_pattern,
    without_metadata,
)
from microveil.table.column_files import ColumnFiles
from microveil.table.memory import check_reading

__all__ = ["check_parts", "opened", "opened_lazily", "outlined"]


def opened(files: list[Path]) -> TypedTable:
    """Read the table of several files, one after the other.

    Raises
    ------
    FileError
        If a file is broken, changes meanwhile, or has other columns than the first.
    """
    states = [state_of(path) for path in files]
    outlines = check_parts(files)
    schema = outlines[0].collect_schema()
    check_no_pattern(files[0], schema.names())
    size = sum(path.stat().st_size for path in files)
    n_records = sum(outline.select(pl.len()).collect().item() for outline in outlines)
    check_reading(files[0].parent, size, n_records * len(schema))
    parts = list(zip(files, outlines, strict=True))
    columns = [pl.concat([_column(*part, name) for part in parts]) for name in schema.names()]
    for path, state in zip(files, states, strict=True):
        check_unchanged(path, state)
    return TypedTable(without_metadata(files[0].parent, pl.DataFrame(columns)))


def opened_lazily(files: list[Path], beside: Path) -> TypedTable:
    """Outline the table of one file or of several, whose columns are read when asked for.

    What is made of it waits in a folder beside.

    Raises
    ------
    FileError
        If a file is broken, or has other columns than the first.
    """
    place = files[0] if len(files) == 1 else files[0].parent
    frame = without_metadata(place, pl.concat(check_parts(files)))
    return TypedTable(ColumnFiles(beside).held_by(frame))


def outlined(files: list[Path]) -> Outline:
    """Read what stands at the end of each file.

    Raises
    ------
    FileError
        If a file is broken, or has other columns than the first.
    """
    outlines = check_parts(files)
    schema = outlines[0].collect_schema()
    return Outline(
        kinds={name: kind_of(dtype) for name, dtype in schema.items()},
        n_records=sum(_n_records(*part) for part in zip(files, outlines, strict=True)),
    )


def check_parts(files: list[Path]) -> list[pl.LazyFrame]:
    """Outline the files of a table, and see that all have the same columns.

    Raises
    ------
    FileError
        If one is broken, or has other columns than the first.
    """
    outlines = [_outline(path) for path in files]
    schema = outlines[0].collect_schema()
    for path, outline in zip(files, outlines, strict=True):
        _check_alike(path, outline.collect_schema(), files[0].name, schema)
    return outlines


def _outline(path: Path) -> pl.LazyFrame:
    try:
        outline = pl.scan_parquet(path, glob=False)
        outline.collect_schema()
    except POLARS_ERRORS as error:
        raise broken(path, "Parquet", error) from None
    return outline


def _column(path: Path, outline: pl.LazyFrame, name: str) -> pl.Series:
    try:
        return outline.select(name).collect().to_series()
    except MicroveilError:
        raise
    except POLARS_ERRORS as error:
        raise broken(path, "Parquet", error) from None


def _n_records(path: Path, outline: pl.LazyFrame) -> int:
    try:
        return int(outline.select(pl.len()).collect().item())
    except POLARS_ERRORS as error:
        raise broken(path, "Parquet", error) from None


def _check_alike(path: Path, schema: pl.Schema, first: str, expected: pl.Schema) -> None:
    """Refuse a file whose columns are not those of the first: by name, type and order."""
    if schema == expected:
        return
    if schema.names() != expected.names():
        rule = f"the files of a table must have the same columns, and it has others than {first}"
    else:
        name = next(name for name in schema if schema[name] != expected[name])
        rule = (
            f"the files of a table must have the same columns, and {quoted(name)} has another type "
            f"than in {first}"
        )
    raise FileError(f"{path}", rule, "write all of them by one program, or take it out")
