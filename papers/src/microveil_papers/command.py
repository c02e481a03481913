"""The command `microveil reproduce`, found by its entry point: flags in, text out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import microveil as mv
from microveil_papers.paper import Progress, Reproduction, Verdict
from microveil_papers.reproducing import REPORT, reproduce

__all__ = ["named_files", "run", "summary"]


def run(
    paper: str,
    data: Sequence[str],
    folder: Path,
    *,
    runs: int | None,
    quick: bool,
    progress: Progress,
) -> str:
    """Reproduce a paper, and return each claim's verdict and where the page is.

    Parameters
    ----------
    paper : str
        An id of `PAPERS`.
    data : sequence of str
        Entries NAME=FILE.
    folder : Path
    runs, quick, progress
        As of `reproduce`.

    Raises
    ------
    MicroveilError
        If an entry is not of that form, and as `reproduce` does.
    """
    files = named_files(data)
    found = reproduce(paper, files, folder, runs=runs, quick=quick, progress=progress)
    return f"{summary(found)}\nThe page: {folder / REPORT}"


def named_files(given: Iterable[str]) -> dict[str, str]:
    """Read NAME=FILE entries; the first equals sign ends the name.

    >>> named_files(["census=a=b.csv"])
    {'census': 'a=b.csv'}
    """
    files: dict[str, str] = {}
    for entry in given:
        name, equals, path = entry.partition("=")
        if not (name and equals and path):
            raise mv.RequestError(
                f"--data {entry}", "it wants a data set's name and a file", "write NAME=FILE"
            )
        if name in files:
            raise mv.RequestError(f"--data {name}", "it is given twice", "give it once")
        files[name] = path
    return files


def summary(found: Reproduction) -> str:
    """Write each claim's verdict on a line of its own, the counts last."""
    lines = [f"{claim.verdict.value:15} {claim.section:6} {claim.text}" for claim in found.claims]
    counts = Counter(claim.verdict for claim in found.claims)
    counted = ", ".join(f"{counts[verdict]} {verdict.value}" for verdict in Verdict)
    return "\n".join([*lines, f"{len(found.claims)} claims: {counted}."])
