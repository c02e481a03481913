"""Names and other text of a table, as they can be shown."""

import os
import shlex
import subprocess
from collections.abc import Iterable


def readable(text: str) -> str:
    """Replace what is not to be seen: controls, and marks that turn the direction of text."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() else " " if letter.isspace() else "\ufffd" for letter in text
    )


def one_line(text: str) -> str:
    """Write text so that it is readable and has no line of its own."""
    return " ".join(readable(text).split())


def listed(names: Iterable[str]) -> str:
    """Write names, which are anybody's text, in a row."""
    return ", ".join(map(one_line, names))


def enumerated(parts: Iterable[str]) -> str:
    """Write parts of a sentence in a row."""
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last


def shortened(name: str, width: int = 40) -> str:
    """Write a name so that it takes one line of a sentence or a cell of a table."""
    words = one_line(name)
    return words if len(words) <= width else words[: width - 1] + "…"


def typed(words: Iterable[str]) -> str:
    """Write a command as it is typed in the shell of this system."""
    return subprocess.list2cmdline([*words]) if os.name == "nt" else shlex.join(words)
