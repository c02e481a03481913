"""All sentences of the page, in one catalogue for each language."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["Texts", "texts"]


class Texts:
    """The sentences of one language.

    Parameters
    ----------
    entries : dict
        Sections of sentences by name; ``{name}`` in one stands for a value.

    Examples
    --------
    >>> Texts({"file": {"title": "Choose {what}"}})("file.title", what="a table")
    'Choose a table'
    """

    def __init__(self, entries: dict[str, Any]) -> None:
        self._entries = entries

    def __call__(self, name: str, /, **values: object) -> str:
        """Return a sentence, with values in it.

        Raises
        ------
        KeyError
            If there is none of this name.
        """
        found: Any = self._entries
        for part in name.split("."):
            found = found[part]
        return str(found).format(**values) if values else str(found)

    def section(self, name: str) -> dict[str, str]:
        """Return all sentences of a section by their names."""
        return dict(self._entries[name])


@cache
def texts(language: str = "en") -> Texts:
    """Read the catalogue of a language.

    Raises
    ------
    FileNotFoundError
        If there is none.
    """
    written = files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return Texts(tomllib.loads(written))
