"""Columns that a recipe names and the table lacks: why that is refused, and how to go on."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from microveil.app.drafts import Draft
from microveil.errors import MicroveilError

__all__ = ["lacking", "without"]

_LISTS = ("unit_attributes", "blocks")


def lacking(draft: Draft) -> dict[str, str]:
    """Return why each column is refused that the recipe names and the table lacks.

    Parameters
    ----------
    draft : Draft

    Returns
    -------
    dict of str
        By column, the sentence of the command line; none before the columns of the table are
        known.
    """
    here = set(draft.columns)
    names = [name for name in dict.fromkeys(_named(draft.recipe)) if here and name not in here]
    return {name: _sentence(draft, name) for name in names}


def _named(recipe: Mapping[str, Any]) -> Iterator[str]:
    """Yield every column that a recipe names."""
    yield from recipe.get("attributes", {})
    for part in recipe.get("parts", ()):
        yield from part["attributes"]
    yield from [recipe["unit"]] if recipe.get("unit") else []
    yield from _target(recipe)
    yield from recipe.get("unit_attributes", ())
    for block in recipe.get("blocks", ()):
        yield from [block] if isinstance(block, str) else block


def _target(recipe: Mapping[str, Any]) -> list[str]:
    """Name the column that is to be predicted: alone, or with the value that it is cut at."""
    target = recipe.get("target") or []
    return [target] if isinstance(target, str) else list(target)


def _sentence(draft: Draft, name: str) -> str:
    from microveil.protect.attributes import lacking_column
    from microveil.protect.recipe import read_recipe
    from microveil.schema import Kind
    from microveil.table import unknown_column

    with suppress(MicroveilError):
        asked = read_recipe(draft.recipe)
        is_asked_for = name in {*(asked.get("attributes") or ()), *asked.get("keep", ())}
        if not is_asked_for and name in asked.get("types", {}):
            return f"{lacking_column(name, Kind(asked['types'][name]))}"
    return f"{unknown_column(name, draft.columns)}"


def without(draft: Draft, name: str) -> Draft:
    """Take a column out of a recipe, wherever that names it; a part without any goes too."""
    recipe = draft.recipe
    changed: dict[str, Any] = {}
    if name in recipe.get("attributes", {}):
        entries: Mapping[str, Any] = recipe["attributes"]
        changed["attributes"] = {other: entries[other] for other in entries if other != name}
    if "parts" in recipe:
        parts = [
            {**part, "attributes": [other for other in part["attributes"] if other != name]}
            for part in recipe["parts"]
        ]
        changed["parts"] = [part for part in parts if part["attributes"]] or None
    if recipe.get("unit") == name:  # who is protected is to be said anew
        changed |= {"unit": None, "max_rows": None, "unit_attributes": None, "scope": None}
    if name in _target(recipe):
        changed["target"] = None
    for entry in _LISTS:
        if entry in recipe and entry not in changed:
            changed[entry] = _left(recipe[entry], name) or None
    return draft.choosing(**changed)


def _left(listed: Any, name: str) -> list[Any]:
    """Leave a name out of a list, and of the lists in it."""
    left = [
        one if isinstance(one, str) else [other for other in one if other != name]
        for one in listed
        if one != name
    ]
    return [one for one in left if one]
