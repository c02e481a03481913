"""A recipe as text: what the page and the command line read and write alike."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microveil.app.drafts import Draft
from microveil.commands.free_names import free_name
from microveil.errors import FileError
from microveil.files.address import shown
from microveil.protect.recipe import VERSION, read_recipe
from microveil.text import typed

HEADER = "# A recipe for microveil protect, written by microveil app.\n\n"


def new_recipe() -> dict[str, Any]:
    """Return a recipe that asks for nothing yet, of the version that is written now."""
    return {"microveil": ".".join(map(str, VERSION))}


def parsed_recipe(place: str, text: bytes) -> tuple[str, dict[str, Any]]:
    """Read the text of a recipe's file and what it says; refuse what is no recipe."""
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
    """Write a recipe as TOML: one that was opened and not changed as it stood, comments and all."""
    import tomli_w

    if opened is not None and opened[1] == recipe:
        return opened[0]
    # Single entries before tables: behind one they would belong to it.
    tables = {name: value for name, value in recipe.items() if isinstance(value, Mapping)}
    single = {name: value for name, value in recipe.items() if name not in tables}
    return HEADER + tomli_w.dumps({**single, **tables})


def command_of(draft: Draft, found: Mapping[str, Any]) -> str:
    """Write the command that does what was done here, into a folder that is free."""
    has_report = "report.html" in found["files"]["folder"]
    flags = [
        *(["--public-report"] if has_report else []),
        *([] if found["linkage"] else ["--no-linkage"]),
    ]
    drawn_with = recipe_text(draft.worked_on["protect"], draft.opened)
    saved = next((path for path, text in draft.saved.items() if text == drawn_with), "recipe.toml")
    folder = Path(found["folder"])
    free = folder.with_name(free_name(folder.parent, folder.name))
    words = ["microveil", "protect", shown(draft.path), "--recipe", saved, *flags]
    return typed([*words, "-o", f"{free}"])
