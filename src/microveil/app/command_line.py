"""The one command that does what was done on the page."""

import os
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from microveil.app.drafts import Draft
from microveil.app.recipes import recipe_text
from microveil.files.address import shown
from microveil.text import typed

__all__ = ["command_of"]


def command_of(draft: Draft, found: Mapping[str, Any]) -> str:
    """Write the command that does with the recipe what was done here, into a folder beside.

    It names the recipe's file where that was saved from the page.
    """
    has_report = "report.html" in found["files"]["folder"]
    flags = [
        *(["--public-report"] if has_report else []),
        *([] if found["linkage"] else ["--no-linkage"]),
    ]
    drawn_with = recipe_text(draft.worked_on["protect"], draft.opened)
    saved = next((path for path, text in draft.saved.items() if text == drawn_with), "recipe.toml")
    words = ["microveil", "protect", shown(draft.path), "--recipe", saved, *flags]
    return typed([*words, "-o", _beside(Path(found["folder"]))])


def _beside(folder: Path) -> str:
    """Name a folder for the next release: nothing is written over."""
    numbered = (folder.with_name(f"{folder.name}-{number}") for number in count(2))
    return str(next(place for place in numbered if not os.path.lexists(place)))
