"""A recipe as text: what the page and the command line read and write alike."""

import tomllib
from collections.abc import Mapping
from typing import Any

from microveil.errors import FileError
from microveil.protect.recipe import VERSION, read_recipe

__all__ = ["new_recipe", "parsed_recipe", "recipe_text"]

HEADER = "# A recipe for microveil protect, written by microveil app.\n\n"


def new_recipe() -> dict[str, Any]:
    """Return a recipe that asks for nothing yet, of the version that is written now."""
    return {"microveil": ".".join(map(str, VERSION))}


def parsed_recipe(place: str, text: bytes) -> tuple[str, dict[str, Any]]:
    """Read the text of a recipe's file and what it says.

    Raises
    ------
    FileError
        If it is no TOML.
    RequestError
        If it is no recipe.
    """
    try:
        written = text.decode("utf-8-sig")
        contents = tomllib.loads(written)
    except (tomllib.TOMLDecodeError, UnicodeDecodeError):
        raise FileError(
            place,
            "a recipe must be a TOML file",
            "open one that microveil wrote or inspect proposed",
        ) from None
    read_recipe(contents)
    return written, contents


def recipe_text(
    recipe: Mapping[str, Any], opened: tuple[str, Mapping[str, Any]] | None = None
) -> str:
    """Write a recipe as TOML: one that was opened and not changed as it stood, comments and all.

    Examples
    --------
    >>> print(recipe_text({"k": 5, "attributes": {"AGE": {"bounds": [0, 120]}}}))
    # A recipe for microveil protect, written by microveil app.
    <BLANKLINE>
    k = 5
    <BLANKLINE>
    [attributes.AGE]
    bounds = [
        0,
        120,
    ]
    <BLANKLINE>
    """
    import tomli_w

    if opened is not None and opened[1] == recipe:
        return opened[0]
    # Single entries before tables: behind one they would belong to it.
    tables = {name: value for name, value in recipe.items() if isinstance(value, Mapping)}
    single = {name: value for name, value in recipe.items() if name not in tables}
    return HEADER + tomli_w.dumps({**single, **tables})
