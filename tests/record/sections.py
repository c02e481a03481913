"""The sections of the record, and the files that they are kept in."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from record import answers, commands, papers, refusals, releases
from record.keeping import Case

__all__ = ["HOUSE", "PAPERS", "RECORDS"]

Sections = Mapping[str, Callable[[], Iterable[Case]]]
HOUSE, PAPERS = (Path(__file__).with_name(name) for name in ("record.json", "papers.json"))
# Papers take minutes and reference data: they are recorded and checked apart.
RECORDS: Mapping[Path, Sections] = {
    HOUSE: {
        "releases": releases.cases,
        "refusals": refusals.cases,
        "answers": answers.cases,
        "commands": commands.cases,
    },
    PAPERS: {"papers": papers.cases},
}
