"""A file, and what is asked of it: recipe and flags in one, read once its columns are known."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from microveil.commands.column_types import (
    read_as_decimals,
    read_as_text,
    refuse_unbounded,
    resolutions_seen,
)
from microveil.commands.named_values import with_named_values
from microveil.files.outline import size_of
from microveil.files.reading import OpenedFile, SourceFile, open_file
from microveil.files.text import UNSAID, TextFormat
from microveil.methods import METHODS
from microveil.protect.parts import named_attributes
from microveil.protect.recipe import file_of_recipe, merged, read_recipe
from microveil.table import MissingCodes, bounds_from_data
from microveil.table.memory import allowed_memory, bytes_of, to_protect

__all__ = [
    "apart",
    "asked_of",
    "codes_of",
    "declared_missing",
    "read_with_codes",
    "resolve_names",
    "text_of_recipe",
    "with_names_resolved",
    "words_but",
]

Progress = Callable[[str], None]
LISTS = ("attributes", "keep")


def asked_of(
    path: str | Path,
    arguments: Mapping[str, Any],
    *,
    recipe: str | Path | Mapping[str, Any] | None = None,
    bounds_alpha: float | None = None,
    decimals_from_data: bool = False,
    text: TextFormat | None = None,
    calculated: Iterable[str] = (),
    beside: Path | None = None,
    progress: Progress,
) -> tuple[SourceFile, dict[str, Any]]:
    """Read a file, and what is asked of it: recipe and arguments in one.

    Arguments by column may be entries NAME=VALUES, see `with_named_values`. ``calculated`` names
    columns that are calculated with though they are not protected. A table that would not fit is
    lazy where there is a folder ``beside``, for columns to wait in.
    """
    of_recipe = {} if recipe is None else read_recipe(recipe)
    progress("reading the table")
    text = text_of_recipe(recipe, text)
    is_large = beside is not None and _is_large(path, text, merged(of_recipe, arguments))
    file = open_file(path, text=text, progress=progress, lazily=beside if is_large else None)
    given = with_named_values(arguments, file.names)
    if isinstance(given.get("never_missing"), list | tuple):
        given["never_missing"] = resolve_names(given["never_missing"], file.names)
    asked = merged(of_recipe, given)
    codes = codes_of(asked)
    source = file.read(
        decimals=read_as_decimals(asked),
        as_text=read_as_text(asked, calculated),
        of_one_kind=lambda name: name not in calculated,
        missing=codes.words_of,
    )
    with_names_resolved(asked, source.columns)
    declared = {*source.never_missing} & {*(named_attributes(asked) or ())}
    if declared and asked.get("missing") == "protect":
        never = {name: "never" for name in source.columns if name in declared}
        asked["never_missing"] = {**never, **asked.get("never_missing", {})}
    if "blocks" in asked:
        asked["blocks"] = [
            resolve_names([block], source.columns) if isinstance(block, str) else block
            for block in asked["blocks"]
        ]
    if bounds_alpha is not None:
        found = bounds_from_data(source.frame, bounds_alpha, **declared_missing(asked))
        listed = asked.get("categories", {})
        asked["bounds"] = {
            **{name: pair for name, pair in found.items() if name not in listed},
            **asked.get("bounds", {}),
        }
        refuse_unbounded(source.frame, asked)
    if decimals_from_data:
        asked["resolution"] = {**resolutions_seen(source, asked), **asked.get("resolution", {})}
    return source, asked


def _is_large(path: str | Path, text: TextFormat | None, asked: Mapping[str, Any]) -> bool:
    """Whether protecting a file would take more than it may, were its table read whole."""
    found = size_of(path, text)
    if found is None:
        return False
    memory, method = asked.get("memory"), METHODS.get(str(asked.get("method")))
    allowed = allowed_memory(None if memory is None else bytes_of(memory))
    one_by_one = method is not None and "one by one" in method.can
    return allowed is not None and allowed < to_protect(
        *found, one_by_one=one_by_one, from_file=True
    )


def with_names_resolved(asked: dict[str, Any], columns: Sequence[str]) -> None:
    """Split lists of columns among arguments at their commas, see `resolve_names`."""
    for name in LISTS:
        if name in asked:
            asked[name] = resolve_names(asked[name], columns)


def text_of_recipe(
    recipe: str | Path | Mapping[str, Any] | None, given: TextFormat | None
) -> TextFormat | None:
    """Read how files are written off a recipe, unless it is given otherwise.

    What neither says of the separator is the format's own.
    """
    if recipe is None or not (given is None or given.is_unsaid):
        return given
    return replace(UNSAID, **file_of_recipe(recipe))  # type: ignore[arg-type]


def declared_missing(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Return of arguments what stands for a missing value."""
    return {name: asked.get(name) for name in ("missing_codes", "missing_values")}


def codes_of(asked: Mapping[str, Any]) -> MissingCodes:
    """Read of arguments what stands for a missing value."""
    return MissingCodes.of(**declared_missing(asked))


def apart(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Divide what is said of the file from what is asked of its table."""
    of_file = ("recipe", "bounds_alpha", "decimals_from_data", "text")
    rest = {name: value for name, value in arguments.items() if name not in of_file}
    return {"arguments": rest, **{n: arguments[n] for n in of_file if n in arguments}}


def resolve_names(given: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Split lists at their commas, but for names that hold commas.

    >>> resolve_names(["AGE,TAX", "Net, monthly"], ["AGE", "TAX", "Net, monthly"])
    ['AGE', 'TAX', 'Net, monthly']
    """
    names: list[str] = []
    for entry in given:
        names += [entry] if entry in columns else [part.strip() for part in entry.split(",")]
    return names


def read_with_codes(
    path: str | Path,
    text: TextFormat | None,
    missing_codes: Any,
    missing_values: Any,
    apart: Collection[str] = (),
    declared_before: Mapping[str, Any] = MappingProxyType({}),
) -> tuple[SourceFile, dict[str, Any]]:
    """Read a file and what stands for missing values in it, as flags or arguments have it.

    Words that do are emptied as they are read, but in the columns that keep them apart. What
    flags or arguments do not say is as it was declared before, when a release was made.
    """
    file = open_file(path, text=text)
    given = {"missing_codes": missing_codes, "missing_values": missing_values}
    said = {name: value for name, value in given.items() if value is not None}
    declared = {**_of_columns(declared_before, file), **with_named_values(said, file.names)}
    words_of = words_but(codes_of(declared), apart)
    return file.read(missing=words_of), declared_missing(declared)


def _of_columns(declared: Mapping[str, Any], file: OpenedFile) -> dict[str, Any]:
    """Leave out codes of columns that a file has not."""
    codes = declared.get("missing_codes", {})
    return {
        "missing_codes": {name: codes[name] for name in codes if name in file.names} or None,
        "missing_values": declared.get("missing_values"),
    }


def words_but(codes: MissingCodes, apart: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Return what says which words of a column are missing: none of those kept apart."""
    return lambda name: () if name in apart else codes.words_of(name)
