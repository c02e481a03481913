"""The record of reproduced papers, table by table: minutes, on reference data.

`record_papers.json` is kept and read as the record of microveil itself is (`tests/record`):
`make test-slow` holds the papers to it, `make record-papers` writes it anew.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from record.commands import settled, typed
from record.keeping import Case
from record.writing import write_record

__all__ = ["RECORD", "cases"]

RECORD = Path(__file__).with_suffix(".json")
FILES = {"census": "census.csv", "wine": "winequality-white.csv"}
PAPERS = {"idp-2025": ("census", "wine"), "kanon-2013": ("census",)}


def cases() -> Iterator[Case]:
    """Go through the papers."""
    for paper, names in PAPERS.items():
        yield Case(name=paper, parts=_reproduced(paper, names))


def _reproduced(paper: str, names: tuple[str, ...]) -> Any:
    def parts() -> dict[str, str]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place).resolve()
            for name in names:
                file = Path(os.environ["MICROVEIL_DATA"], FILES[name]).resolve()
                (folder / FILES[name]).symlink_to(file)
            data = " ".join(f"--data {name}={FILES[name]}" for name in names)
            shown = typed(f"reproduce {paper} {data} --quick -o out", folder)
            tables = sorted((folder / "out").glob("*.csv"))
            return {
                "shown": shown,
                **{file.stem: settled(file.read_text(encoding="utf-8")) for file in tables},
            }

    return parts


if __name__ == "__main__":
    write_record(RECORD, {"papers": cases})
