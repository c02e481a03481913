"""What the custodian's folder of a release says of it: how it was made."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from microveil.errors import FileError
from microveil.files.text import TextFormat
from microveil.protect.recipe import read_recipe, roles_of_recipe

__all__ = ["kept_of_recipe", "manifest_of", "missing_beside", "recipe_beside"]


def manifest_of(folder: Path) -> dict[str, Any]:
    """Read the manifest of the release in a folder, from the custodian's beside it.

    Raises
    ------
    FileError
        If it is not there, or is none.
    """
    place = folder.resolve()
    path = place.with_name(f"{place.name}-custodian") / "manifest.json"
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(contents["parameters"], Mapping):
            raise TypeError  # noqa: TRY301 -- reported as what cannot be read is
    except (OSError, ValueError, TypeError, LookupError):
        raise FileError(
            f"{path}",
            "how a release was made stands in the custodian's folder beside it, and it cannot be "
            "read there",
            "put the two folders side by side again as microveil protect wrote them",
        ) from None
    found: dict[str, Any] = contents
    return found


def kept_of_recipe(
    recipe: str | Path | Mapping[str, Any] | None, text: TextFormat | None
) -> dict[str, Any]:
    """Return the manifest's entry of a recipe: what attributes are, and how the file is written.

    Parameters
    ----------
    recipe : str, Path or dict, optional
        What the release was asked for by.
    text : TextFormat or None
        How its file is written; as files of text mostly are, it is not said.

    Returns
    -------
    dict
        ``recipe``, a recipe itself, or nothing.
    """
    types = {} if recipe is None else read_recipe(recipe).get("types", {})
    roles = {} if recipe is None else roles_of_recipe(recipe)
    entries = {n: {"role": str(role), "type": str(types[n])} for n, role in roles.items()}
    found: dict[str, Any] = {"attributes": entries} if entries else {}
    if text is not None and text != TextFormat():
        found["file"] = {
            "separator": text.separator, "decimal": text.decimal, "encoding": text.encoding
        }  # fmt: skip
    return {"recipe": found} if found else {}


def recipe_beside(table: Path) -> dict[str, Any] | None:
    """Return what the manifest of a release has of a recipe; None where there is none.

    Parameters
    ----------
    table : Path
        The protected table.
    """
    found = _manifest_beside(table).get("recipe")
    return found if isinstance(found, dict) else None


def missing_beside(table: Path) -> dict[str, Any]:
    """Return what stood for a missing value in the table that a release was made of.

    Parameters
    ----------
    table : Path
        The protected table.

    Returns
    -------
    dict
        ``missing_codes`` and ``missing_values`` as they were declared; nothing where the manifest
        is not beside the release.
    """
    asked = _manifest_beside(table).get("parameters", {})
    names = ("missing_codes", "missing_values")
    return {name: asked[name] for name in names if asked.get(name)}


def _manifest_beside(table: Path) -> dict[str, Any]:
    try:
        manifest = manifest_of(table.parent)
        return manifest if manifest["output"]["name"] == table.name else {}
    except (FileError, LookupError, TypeError):
        return {}  # it is no release, or the custodian's folder is elsewhere
