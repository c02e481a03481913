"""Which engine carries out a command: the one asked for, or the one that the memory calls for."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import polars
from polars import selectors

from microveil.engines import engine_of
from microveil.engines.base import Engine
from microveil.engines.disk import DiskEngine
from microveil.engines.registry import DISK
from microveil.errors import FileError
from microveil.files.formats import Format, files_of_folder, format_of
from microveil.files.parquet_format import LARGE
from microveil.files.text_sizes import size_of
from microveil.release.recipe import merged, read_recipe
from microveil.schema import Ordered
from microveil.table.keeping import pieces
from microveil.table.memory import (
    APART,
    allowed_memory,
    bytes_of,
    check_allowed,
    to_protect,
    to_read,
)

__all__ = ["as_carried_out", "check_written", "engine_for", "to_link"]

SETTINGS = ("engine", "memory", "scratch", "record_id")
# What is protected where nothing is named; text is where it is declared.
_NUMERIC = selectors.numeric() | selectors.temporal() | selectors.boolean()
# Read of a file of text to forecast how many records it holds.
LOOK = 1 << 16


def engine_for(
    path: str | Path,
    folder: str | Path,
    recipe: str | Path | Mapping[str, Any] | None,
    arguments: Mapping[str, Any],
) -> Engine:
    """Make the engine that protects a file's table.

    By default the one in memory, or where a forecast says that memory would not hold the table the
    one on the disk, with its files in the folder around the release.

    Parameters
    ----------
    path : str or Path
    folder : str or Path
        Of the release.
    recipe : str, Path or dict, optional
    arguments : dict
        Of `protect`.

    Raises
    ------
    RequestError
        If there is no such engine, or it has no use for what is said.
    """
    given = {name: arguments[name] for name in SETTINGS if arguments.get(name) is not None}
    said = merged({} if recipe is None else read_recipe(recipe), given)
    said = {name: said[name] for name in SETTINGS if said.get(name) is not None}
    if "engine" not in said:
        memory = said.get("memory")
        allowed = allowed_memory(None if memory is None else bytes_of(memory))
        if allowed is None or _forecast(Path(path)) <= allowed:
            return engine_of({"record_id": said.get("record_id")})  # which it has no use for
        said["engine"] = DISK
    if said["engine"] == DISK:
        said.setdefault("scratch", Path(folder).absolute().parent)
    return engine_of(said)


def as_carried_out(asked: dict[str, Any], engine: Engine) -> dict[str, Any]:
    """Add to what was asked the engine that was chosen for it, unless it names one.

    What decided between two is left out where the other was chosen: a request that names the engine
    in memory and how much of it may be taken is none.
    """
    if asked.get("engine") is not None:
        return asked
    if isinstance(engine, DiskEngine):
        return {**asked, "engine": DISK}
    return {name: value for name, value in asked.items() if name not in SETTINGS}


def to_link(engine: Engine, frame: polars.DataFrame, asked: Mapping[str, Any]) -> bool | str:
    """Say whether an engine's memory allows to link a sample, or why it does not."""
    if not isinstance(engine, DiskEngine) or engine.memory is None:
        return True
    n_attributes, letters = _looked_at(frame, asked)
    needed = engine.linkage_memory(frame.height, n_attributes, letters)
    if needed <= engine.memory:
        return True
    return (
        f"that takes about {needed / 1e9:.1f} GB of memory, and {engine.memory / 1e9:.1f} GB are "
        "allowed"
    )


def check_written(
    engine: Engine, frame: polars.DataFrame, asked: Mapping[str, Any], form: Format
) -> None:
    """Refuse a release of more columns than the engine's memory allows to write.

    What files of text take does not hang on the number of columns, nor does a small table.

    Raises
    ------
    DataError
        With what is needed and what is allowed.
    """
    if not isinstance(engine, DiskEngine) or form.is_text:
        return
    named = asked.get("attributes") or frame.select(_NUMERIC).columns
    released = [name for name in frame.columns if name in {*named, *(asked.get("keep") or ())}]
    needed = engine.width_memory(len(released))
    if needed is not None and size_of(frame.select(released)) > LARGE:
        work = f"to write {len(released)} columns"
        fewer = "release fewer columns at a time (--attributes, --keep)"
        check_allowed(work, needed, engine.memory, fewer)


def _looked_at(frame: polars.DataFrame, asked: Mapping[str, Any]) -> tuple[int, list[int]]:
    """Count the attributes to link by; of text return how long the longest cell of each is."""
    categories = asked.get("categories") or {}
    # Without names, text is protected where it is declared, or by a part of the request.
    named = asked.get("attributes") or (frame.columns if asked.get("parts") is not None else None)
    n_attributes, letters = 0, []
    for column in frame:
        is_text = column.dtype in (polars.String, polars.Categorical, polars.Enum)
        known = categories if named is None and is_text else named or frame.columns
        if column.name not in known:
            continue
        n_attributes += 1
        if is_text or column.name in categories:
            letters.append(_longest(column if is_text else None, categories.get(column.name)))
    return n_attributes, letters


def _longest(text: polars.Series | None, declared: Any) -> int:
    """Count the letters of the longest cell or category: a release may hold what nobody has."""
    words = declared.values if isinstance(declared, Ordered) else declared
    longest = max((len(str(word)) for word in words or ()), default=1)
    if text is None:
        return longest
    for piece in pieces(len(text)):
        letters = text[piece].cast(polars.String).str.len_chars().max()
        longest = max(longest, cast("int", letters or 0))
    return longest


def _forecast(path: Path) -> int:
    """Forecast how much memory reading and protecting a file's table takes.

    By what a Parquet file says of itself, or the first records of a file of text; of others 0:
    they can only be read whole.
    """
    try:
        files = files_of_folder(path) if path.is_dir() else [path]
        form = format_of(files[0]) if files else None
        if form is None or not form.in_pieces:
            return 0
        size = sum(file.stat().st_size for file in files)
        if form.is_text:
            with path.open("rb") as file:
                look = file.read(LOOK)
            separator = str(form.separator).encode()
            cells = (look.count(b"\n") + look.count(separator)) * size // max(1, len(look))
            n_records, width = cells, 1
        else:
            outline = polars.scan_parquet(files)
            width = len(outline.collect_schema())
            n_records = outline.select(polars.len()).collect().item()
    except (FileError, OSError, polars.exceptions.PolarsError):
        return 0  # what is wrong is said where the file is read
    return to_read(size, n_records * width) + to_protect(n_records, width, APART, written=True)
