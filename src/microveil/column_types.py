"""How the columns of a file are read for a request, so that no single record decides it."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from microveil.schema import Kind

__all__ = ["read_as_decimals", "read_as_text"]


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
    """Tell the columns that nobody calculates with: kept as they stand, or not asked for.

    Where a recipe states a column's type, the column is held against it instead.
    """
    types = asked.get("types", {})
    kept = _mentioned(asked.get("keep", ()))
    used = frozenset(calculated)
    protected = _mentioned(asked["attributes"]) if "attributes" in asked else None

    def as_text(name: str) -> bool:
        if name in types:
            return bool(types[name] == Kind.OTHER)
        if name in used:
            return False
        return name in kept or (protected is not None and name not in protected)

    return as_text


def _mentioned(given: Iterable[str]) -> set[str]:
    """Every name that a list with commas may mean, before the columns are known."""
    names: set[str] = set()
    for entry in given:
        names |= {entry, *(part.strip() for part in entry.split(","))}
    return names
