"""The shell commands that the docs show, page by page, in the order in which they stand."""

import re
from pathlib import Path

__all__ = ["COMMANDS", "PAGES", "ROOT"]

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", ROOT / "papers" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = {
    page: [
        line[2:]
        for block in re.findall(r"```console\n(.*?)```", page.read_text("utf-8"), flags=re.DOTALL)
        for line in block.splitlines()
        if line.startswith("$ ")
    ]
    for page in PAGES
}
