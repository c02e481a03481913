"""The parts of the docs that are made of the code: ``make docs`` writes them, a test checks them.

A page holds such a part between two comments::

    <!-- made by make docs: NAME -->
    <!-- made -->
"""

import ast
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PART = re.compile(
    r"(?<=<!-- made by make docs: )([a-z-]+)( -->\n)(.*?)(?=<!-- made -->)", flags=re.DOTALL
)


def layers() -> list[str]:
    """Make the table of layers of the contract on imports, the lowest first."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    floors = reversed(rules["contracts"][0]["layers"])
    rows = [
        f"| {number} | `{room}` | {_subject(room)} |"
        for number, floor in enumerate(floors, start=1)
        for room in floor.split(" | ")
    ]
    return ["| layer | room | what it is for |", "|---|---|---|", *rows]


def _subject(room: str) -> str:
    """Return the first sentence of a room's own docstring."""
    place = ROOT / "src" / "microveil" / room
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return said.splitlines()[0].removesuffix(".")


PARTS: Mapping[str, Callable[[], list[str]]] = {"layers": layers}


def made(page: Path) -> str:
    """Return a page with its parts as the code has them now."""
    return PART.sub(
        lambda part: f"{part[1]}{part[2]}\n" + "\n".join([*PARTS[part[1]](), "", ""]),
        page.read_text("utf-8"),
    )


def main() -> None:
    """Write every page that has changed, and name it."""
    for page in PAGES:
        text = made(page)
        if text != page.read_text("utf-8"):
            page.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
