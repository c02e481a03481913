"""How the columns of a file are read for a request, so that no single record decides it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import polars

from microveil.errors import RequestError
from microveil.files.reading import SourceFile
from microveil.methods import METHODS
from microveil.protect.domains import interval_kind
from microveil.protect.parts import named_attributes, read_parts
from microveil.schema import Kind
from microveil.table import ResolutionFromData, open_table, resolution_from_data

__all__ = ["read_as_decimals", "read_as_text", "refuse_unbounded", "resolutions_seen"]


def read_as_decimals(asked: Mapping[str, Any]) -> list[str]:
    """Columns to be read as decimals, whatever their values look like.

    Where a person declared a resolution and no type, one record with decimals must not decide
    the type of the released column.
    """
    types = asked.get("types", {})
    typed = [name for name, kind in types.items() if kind == "decimal"]
    stepped = [name for name in asked.get("resolution", {}) if name not in types]
    return sorted({*typed, *stepped})


def read_as_text(asked: Mapping[str, Any], calculated: Iterable[str]) -> Callable[[str], bool]:
    """Find the columns that nobody calculates with: kept as they stand, or not asked for.

    A column whose categories are declared is text too, though they look like numbers. Where a
    recipe states a column's type, the column is held against it instead.
    """
    types = asked.get("types", {})
    kept = _mentioned(asked.get("keep", ()))
    used = frozenset(calculated)
    named = named_attributes(asked)
    protected = None if named is None else _mentioned(named)
    bounds = asked.get("bounds", {})
    listed = {
        name
        for name, given in bounds.items()
        if _lists_categories(given) and _takes_categories(asked, name)
    }
    listed |= set(asked.get("categories", {}))

    def as_text(name: str) -> bool:
        if name in types:
            return bool(types[name] == Kind.OTHER)
        if name in used:
            return False
        if name in listed:
            return True
        return name in kept or (protected is not None and name not in protected)

    return as_text


def _takes_categories(asked: Mapping[str, Any], name: str) -> bool:
    """Whether the method that an attribute is protected by can take text."""
    chosen = [asked.get("method")]
    if asked.get("parts") is not None:
        parts = read_parts(asked["parts"])
        chosen = [part.asked["method"] for part in parts if name in part.attributes]
    known = [METHODS[str(method)] for method in chosen if str(method) in METHODS]
    return any("categories" in method.can for method in known)


def _lists_categories(given: Any) -> bool:
    """Tell a list of categories from two numbers or dates."""
    if not isinstance(given, tuple | list) or not all(isinstance(word, str) for word in given):
        return False
    return interval_kind(given) is None


def _mentioned(given: Iterable[str]) -> set[str]:
    """Every name that a list with commas may mean, before the columns are known."""
    names: set[str] = set()
    for entry in given:
        names |= {entry, *(part.strip() for part in entry.split(","))}
    return names


def resolutions_seen(source: SourceFile, asked: Mapping[str, Any]) -> dict[str, Any]:
    """Read resolutions off the data, of columns of a CSV file without decimals too.

    That a column of text has no decimals is seen in its values like the number of those it has;
    of a column whose type is declared, or comes with the file, it is known.
    """
    codes = {name: asked.get(name) for name in ("missing_codes", "missing_values")}
    found: dict[str, Any] = dict(resolution_from_data(source.frame, **codes))
    if not source.format.has_types:
        types = asked.get("types", {})
        whole = [
            name for name, dtype in source.frame.collect_schema().items() if dtype == polars.Int64
        ]
        found |= {name: ResolutionFromData(1) for name in whole if name not in types}
    return found


def refuse_unbounded(frame: polars.DataFrame | polars.LazyFrame, asked: Mapping[str, Any]) -> None:
    """Refuse a named attribute that no bounds could be read for, where its neighbours have some."""
    opened = open_table(frame)
    for name in named_attributes(asked) or ():
        bounded = (Kind.WHOLE, Kind.DECIMAL, Kind.DATE)
        known = name in asked["bounds"] or name in asked.get("categories", {})
        if name in opened.names and not known and opened.kind(name) in bounded:
            raise RequestError(
                f"bounds of '{name}'",
                "none can be read from values that are all 0 or missing",
                f"declare them, for example --bounds {name}=0:100",
            )
