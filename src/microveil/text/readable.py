"""Names and other text of a table, as they can be shown."""

import os
import shlex
import subprocess
from collections.abc import Iterable

# A name that ends so would end the sentence that it stands in.
ENDS = (".", ",", ";", ":", "!", "?")
# Of more names the first are written.
MOST_NAMED, FIRST_NAMED = 8, 5


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
    """Write names, which are anybody's text, in a row; one that ends like a sentence in quotes."""
    lines = map(one_line, names)
    return ", ".join(f"'{line}'" if line.endswith(ENDS) else line for line in lines)


def some_of(names: Iterable[str]) -> str:
    """Write names in a row; of many the first, and how many more there are."""
    every = [*names]
    if len(every) <= MOST_NAMED:
        return listed(every)
    return f"{listed(every[:FIRST_NAMED])} and {len(every) - FIRST_NAMED:,} more"


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
