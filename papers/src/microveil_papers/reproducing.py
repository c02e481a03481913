"""The verb: a paper's experiments carried out, and written down."""

import json
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import polars

from microveil.errors import DataError, FileError, MicroveilError, RequestError, stands_alone
from microveil.files.disk import written_whole
from microveil.files.reading import SourceFile, read_file
from microveil.files.text import TextFormat
from microveil_papers.data import differing
from microveil_papers.drawing import draw_figure
from microveil_papers.page import reproduction_page
from microveil_papers.paper import Experiment, Paper, Progress, Reproduction
from microveil_papers.papers import PAPERS

__all__ = ["REPORT", "reproduce"]

REPORT, RUNS, MARK = "report.html", "runs", "reproduction.json"
# What a reproduction that is continued must have in common with what was begun.
IN_WORDS = {
    "runs": "its number of runs (--runs)",
    "quick": "its settings (--quick)",
    "data": "its data",
    "microveil": "the version of microveil",
}
# A file with semicolons, as the wines are published, is read without being named.
SEPARATORS = ",;\t"


@stands_alone
def reproduce(
    paper: str,
    data: Mapping[str, str | Path],
    folder: str | Path,
    *,
    runs: int | None = None,
    quick: bool = False,
    progress: Progress = lambda _what, _done, _total: None,
) -> Reproduction:
    """Carry out a paper's experiments and write tables, pictures and a page.

    Parameters
    ----------
    paper : str
        An id of `PAPERS`.
    data : dict of str to path
        Files by the names of the paper's data sets.
    folder : str or Path
        Gets a CSV, SVG and PNG for each figure, claims.csv and report.html. Runs are kept in
        ``runs`` there: a reproduction that was stopped is continued by the same arguments.
    runs : int, optional
        How often whatever is random is drawn; by default as often as the paper did.
    quick : bool
        Fewer runs and fewer settings, to look at.
    progress : callable
        Gets what is being done, and the runs done and in all.

    Returns
    -------
    Reproduction

    Raises
    ------
    MicroveilError
        If there is no such paper, data are missing or have other columns, or the folder holds
        something else, a reproduction by other arguments, or cannot be written.

    Notes
    -----
    Seeds are fixed: equal arguments and data give equal tables. Nothing is released. Files
    with the right columns and other values are taken, and the page says so.
    """
    chosen = _paper(paper)
    sources = _sources(chosen, data)
    drawn = _runs(runs, chosen.quick_runs if quick else chosen.runs)
    target = Path(folder)
    with _opened(target, _asked(chosen, sources, drawn, quick=quick)):
        start = time.monotonic()
        found = _carried_out(
            chosen,
            Experiment(
                tables=sources, runs=drawn, quick=quick, folder=target / RUNS, progress=progress
            ),
        )
        settings = {
            **_described(chosen, sources),
            "runs": str(drawn),
            **found.settings,
            "microveil": version("microveil"),
            "time of this call": f"{time.monotonic() - start:.0f} s (kept runs take none)",
        }
        warnings = _warnings(chosen, sources, drawn, quick=quick)
        _written(target, chosen, found, settings, warnings)
    return found


def _carried_out(paper: Paper, experiment: Experiment) -> Reproduction:
    """Carry an experiment out; what it refuses is the files' fault, whatever flag is named."""
    try:
        return paper.reproduce(experiment)
    except DataError as error:
        raise DataError(
            f"{paper.id}, {error.place}", error.rule, "pass the files as published"
        ) from None


def _warnings(
    paper: Paper, sources: Mapping[str, SourceFile], drawn: int, *, quick: bool
) -> list[str]:
    """Say why the verdicts may not be those of the paper's own experiments."""
    warnings = []
    if quick:
        warnings.append(
            "Made with --quick: few k and small forests. Verdicts may come out otherwise."
        )
    if drawn < paper.runs:
        warnings.append(
            "One run says nothing of the spread: no claim that needs it holds."
            if drawn == 1
            else f"{drawn} runs instead of {paper.runs}: intervals are wide, and claims that "
            "would hold may not."
        )
    for needed in paper.data:
        names = differing(needed, sources[needed.name].whole)
        if names:
            warnings.append(
                f"The values of {needed.name} are not those that were published: "
                f"{', '.join(names)}."
            )
    return warnings


def _paper(name: str) -> Paper:
    if name not in PAPERS:
        raise RequestError(
            f"paper '{name}'", "there is no such paper here", f"choose from {', '.join(PAPERS)}"
        )
    return PAPERS[name]


def _sources(paper: Paper, data: Mapping[str, str | Path]) -> dict[str, SourceFile]:
    names = [needed.name for needed in paper.data]
    for name in data:
        if name not in names:
            raise RequestError(
                f"data '{name}'",
                f"{paper.id} has no such data set",
                f"pass --data for {', '.join(names)}",
            )
    for needed in paper.data:
        if needed.name not in data:
            raise RequestError(
                f"data '{needed.name}'",
                f"{paper.id} needs {needed.title}, published at {needed.published}",
                f"add --data {needed.name}=FILE",
            )
    return {
        needed.name: _source(Path(data[needed.name]), needed.columns, needed.title)
        for needed in paper.data
    }


def _source(path: Path, columns: tuple[str, ...], title: str) -> SourceFile:
    """Read a file and find the paper's attributes in it."""
    try:
        source = read_file(path, text=_text_format(path))
    except (DataError, FileError) as error:
        remedy = "pass the file as published, as CSV in UTF-8 with a line of names on top"
        raise type(error)(error.place, error.rule, remedy) from None
    for name in columns:
        if name not in source.columns:
            raise DataError(
                f"{path}, column '{name}'",
                f"it is none of the file's, and {title} has it",
                "pass the file as published, with a line of names on top",
            )
        column = source.whole[name]
        if not column.dtype.is_numeric() or column.null_count():
            raise DataError(
                f"{path}, column '{name}'",
                "it must hold a number in every record",
                "pass the file as published",
            )
    return source


def _text_format(path: Path) -> TextFormat | None:
    """Read off its first line what separates a file's fields; None to leave it to the reader."""
    try:
        with path.open("rb") as file:
            first = file.readline(10_000)
    except OSError:
        return None  # said by the reader, in its own words
    counts = {separator: first.count(separator.encode()) for separator in SEPARATORS}
    most = max(counts, key=lambda separator: counts[separator])
    return TextFormat(separator=most) if most != "," and counts[most] > counts[","] else None


def _runs(asked: Any, default: int) -> int:
    if asked is None:
        return default
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 1:
        raise RequestError("runs", "runs must be a whole number of 1 or more", "pass runs=10")
    return asked


def _asked(
    paper: Paper, sources: Mapping[str, SourceFile], drawn: int, *, quick: bool
) -> dict[str, Any]:
    """Return all that the runs of a reproduction depend on, as plain values."""
    return {
        "paper": paper.id,
        "runs": drawn,
        "quick": quick,
        "data": {name: source.digest for name, source in sources.items()},
        "microveil": version("microveil"),
    }


@contextmanager
def _opened(folder: Path, asked: Mapping[str, Any]) -> Iterator[None]:
    """Make the folder, or go on in one of the same; what was made for nothing goes again."""
    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        begins = not any(folder.iterdir())
        if begins:
            _begin(folder, asked)
        else:
            _check_same(folder, asked)
        (folder / RUNS).mkdir(exist_ok=True)
    except OSError:
        raise FileError(f"{folder}", "it cannot be written", "name another folder") from None
    try:
        yield
    except MicroveilError as error:
        # Runs on data that were refused are of no use, others may be.
        if begins and (isinstance(error, DataError) or not any((folder / RUNS).iterdir())):
            shutil.rmtree(folder / RUNS, ignore_errors=True)
            (folder / MARK).unlink()
            if not was_there:
                folder.rmdir()
        raise _explained(folder, error) from None


def _begin(folder: Path, asked: Mapping[str, Any]) -> None:
    text = json.dumps(asked, indent=2, ensure_ascii=False) + "\n"
    written_whole(folder / MARK, lambda part: part.write_text(text, encoding="utf-8", newline="\n"))


def _check_same(folder: Path, asked: Mapping[str, Any]) -> None:
    """Refuse a folder of something else; what an earlier version did not note is not checked."""
    try:
        begun = json.loads((folder / MARK).read_text(encoding="utf-8"))
        paper = begun["paper"]
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        begun, paper = {}, None
    if paper != asked["paper"]:
        raise FileError(
            f"{folder}",
            f"it must be empty or hold a reproduction of {asked['paper']}, and holds something "
            "else",
            "name another folder",
        )
    differing = [
        words for name, words in IN_WORDS.items() if name in begun and begun[name] != asked[name]
    ]
    if differing:
        raise FileError(
            f"{folder}",
            f"a reproduction was begun there that differs in {' and '.join(differing)}",
            "ask for the same to continue it, or name another folder",
        )


def _explained(folder: Path, error: MicroveilError) -> MicroveilError:
    """Name the folder that was asked for, not that of one experiment within it."""
    inner = isinstance(error, FileError) and (folder / RUNS) in Path(error.place).parents
    if not inner or not Path(error.place).is_dir():
        return error
    return FileError(f"{folder}", error.rule, error.remedy)


def _described(paper: Paper, sources: Mapping[str, SourceFile]) -> dict[str, str]:
    return {
        f"data '{needed.name}'": (
            f"{sources[needed.name].path.name}, {sources[needed.name].n_records} records, "
            f"SHA-256 {sources[needed.name].digest}; {needed.title}, {needed.published}"
        )
        for needed in paper.data
    }


def _written(
    folder: Path,
    paper: Paper,
    found: Reproduction,
    settings: Mapping[str, str],
    warnings: Sequence[str],
) -> None:
    """Write every file, the page last: where it is, the others are."""
    for figure in found.figures:
        draw_figure(figure, folder)
        _write_table(folder / f"{figure.identifier}.csv", figure.table)
    for listing in found.listings:
        _write_table(folder / f"{listing.identifier}.csv", listing.table)
    _write_table(folder / "claims.csv", _claims_table(found))
    text = reproduction_page(paper, found, settings, warnings)
    written_whole(
        folder / REPORT, lambda part: part.write_text(text, encoding="utf-8", newline="\n")
    )


def _write_table(path: Path, table: polars.DataFrame) -> None:
    written_whole(path, lambda part: part.write_text(table.write_csv(), "utf-8", newline="\n"))


def _claims_table(found: Reproduction) -> polars.DataFrame:
    """Lay the claims out: one row for every case."""
    rows = [
        {
            # A word with it, or readers of CSV take "4.1" for a number and fail at "4.2.1".
            "section": claim.place,
            "claim": claim.text,
            "verdict": claim.verdict.value,
            "criterion": claim.criterion,
            "case": case.where,
            "holds": case.holds,
            "measured": case.measured,
            "remark": claim.remark,
        }
        for claim in found.claims
        for case in claim.cases
    ]
    return polars.DataFrame(rows)
