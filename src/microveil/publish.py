"""A file in, two folders out: what the command line does, as functions."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars

from microveil.assess import assess
from microveil.assessment import Assessment
from microveil.engines import LocalEngine
from microveil.errors import FileError, RequestError, stands_alone
from microveil.files import SourceFile, TextFormat, check_absent, read_file
from microveil.planning import make_plan
from microveil.protect import draw
from microveil.recipe import merged, propose_recipe, read_recipe
from microveil.release import Release
from microveil.request import Request
from microveil.schema import Kind
from microveil.table import bounds_from_data, resolution_from_data

__all__ = ["assess_files", "inspect_file", "protect_file", "resolve_names", "split_pairs"]

Progress = Callable[[str], None]
LISTS = ("attributes", "keep")


@stands_alone
def protect_file(
    path: str | Path,
    folder: str | Path,
    *,
    recipe: str | Path | Mapping[str, Any] | None = None,
    bounds_alpha: float | None = None,
    decimals_from_data: bool = False,
    text: TextFormat | None = None,
    overwrite: bool = False,
    progress: Progress = lambda _step: None,
    **arguments: Any,
) -> Release:
    """Protect the table of a CSV or Parquet file and write the release.

    Parameters
    ----------
    path : str or Path
    folder : str or Path
        For what may be published; the custodian's folder appears beside it.
    recipe : str, Path or dict, optional
    bounds_alpha : float, optional
        Read bounds that are not declared off the data, stretched by this factor.
    decimals_from_data : bool
        Read resolutions that are not declared off the data.
    text : TextFormat, optional
        How a CSV file is written.
    overwrite : bool
    progress : callable
        Told each step.
    **arguments
        As for `protect`; names in ``attributes`` and ``keep`` may be lists with commas.

    Returns
    -------
    Release

    Raises
    ------
    MicroveilError
        If anything breaks a rule; nothing is written then.
    """
    check_absent(Path(folder), overwrite=overwrite)
    asked = merged({} if recipe is None else read_recipe(recipe), arguments)
    progress("reading the table")
    source = read_file(path, text=text, decimals=_decimals(asked), as_text=_as_text(asked))
    for name in LISTS:
        if name in asked:
            asked[name] = resolve_names(asked[name], source.frame.columns)
    if "blocks" in asked:
        asked["blocks"] = [
            resolve_names([block], source.frame.columns) if isinstance(block, str) else block
            for block in asked["blocks"]
        ]
    if bounds_alpha is not None:
        asked["bounds"] = {
            **bounds_from_data(source.frame, bounds_alpha),
            **asked.get("bounds", {}),
        }
    if decimals_from_data:
        asked["resolution"] = {**resolution_from_data(source.frame), **asked.get("resolution", {})}
    release = draw(make_plan(source.frame, Request.of(asked), LocalEngine(), progress), progress)
    release = replace(
        release,
        data=_written_whole(release, source),
        manifest=release.manifest.with_entries(
            input={"name": source.path.name, "sha256": source.digest}
        ),
    )
    release.write(
        folder, format=source.format, text=source.text, overwrite=overwrite, progress=progress
    )
    return release


def _written_whole(release: Release, source: SourceFile) -> polars.DataFrame:
    """Write columns of a whole declared resolution as whole numbers: text has no types."""
    data: polars.DataFrame = release.data
    if source.format != "csv":
        return data
    whole = [
        terms.attribute.name
        for terms in release.guarantee.attributes
        if terms.attribute.kind is Kind.DECIMAL and terms.attribute.resolution.denominator == 1
    ]
    return data.with_columns(polars.col(whole).cast(polars.Int64)) if whole else data


def _decimals(asked: Mapping[str, Any]) -> list[str]:
    """Columns to be read as decimals, whatever their values look like.

    Where a person declared a resolution and no type, one record with decimals must not decide
    the type of the released column.
    """
    types = asked.get("types", {})
    typed = [name for name, kind in types.items() if kind == "decimal"]
    stepped = [name for name in asked.get("resolution", {}) if name not in types]
    return sorted({*typed, *stepped})


def _as_text(asked: Mapping[str, Any]) -> Callable[[str], bool]:
    """Tell the columns that nobody calculates with: kept as they stand, or not asked for.

    Where a recipe states a column's type, the column is held against it instead.
    """
    types = asked.get("types", {})
    kept = _mentioned(asked.get("keep", ()))
    protected = _mentioned(asked["attributes"]) if "attributes" in asked else None

    def as_text(name: str) -> bool:
        if name in types:
            return bool(types[name] == Kind.OTHER)
        return name in kept or (protected is not None and name not in protected)

    return as_text


def _mentioned(given: Iterable[str]) -> set[str]:
    """Every name that a list with commas may mean, before the columns are known."""
    names: set[str] = set()
    for entry in given:
        names |= {entry, *(part.strip() for part in entry.split(","))}
    return names


def resolve_names(given: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Split lists at their commas, but for names that hold commas.

    >>> resolve_names(["AGE,TAX", "Net, monthly"], ["AGE", "TAX", "Net, monthly"])
    ['AGE', 'TAX', 'Net, monthly']
    """
    names: list[str] = []
    for entry in given:
        names += [entry] if entry in columns else [part.strip() for part in entry.split(",")]
    return names


def split_pairs(given: Iterable[str], flag: str) -> dict[str, str]:
    """Split NAME=VALUE entries at the last equals sign.

    >>> split_pairs(["AGE=0:120", "a=b=2"], "--bounds")
    {'AGE': '0:120', 'a=b': '2'}
    """
    pairs = {}
    for entry in given:
        name, equals, value = entry.rpartition("=")
        if not equals or not name:
            raise RequestError(
                f"{flag} {entry}", "it wants a column and a value", "write NAME=VALUE"
            )
        pairs[name] = value
    return pairs


@stands_alone
def inspect_file(
    path: str | Path, text: TextFormat | None, output: Path | None
) -> tuple[SourceFile, str]:
    """Look at a file and propose a recipe, written to ``output`` where one is given.

    Raises
    ------
    FileError
        If ``output`` exists already or cannot be written.
    """
    source = read_file(path, text=text)
    recipe = propose_recipe(source.frame, source.path.name)
    if output is not None:
        try:
            with output.open("x", encoding="utf-8") as file:
                file.write(recipe)
        except FileExistsError:
            raise FileError(f"{output}", "it exists already", "name another file") from None
        except OSError:
            raise FileError(f"{output}", "it cannot be written", "name another place") from None
    return source, recipe


def assess_files(
    original: str | Path,
    protected: str | Path,
    attributes: Iterable[str] | None,
    *,
    text: TextFormat | None,
    paired: bool = True,
    k: int | None = None,
) -> Assessment:
    """Measure a protected file against its original; see `assess`."""
    before = read_file(original, text=text).frame
    after = read_file(protected, text=text).frame
    names = None if attributes is None else resolve_names(attributes, before.columns)
    return assess(before, after, names, paired=paired, k=k)
