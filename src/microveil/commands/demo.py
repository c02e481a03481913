"""The main job on a table, by the strongest, a middle and the weakest promise, explained."""

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars

from microveil.compare.store import written_whole
from microveil.datasets import DOMAINS, RESOLUTIONS, invented_people
from microveil.errors import DataError, FileError
from microveil.evaluation import Assessment
from microveil.evaluation.assess import assess
from microveil.files import FORMATS
from microveil.files.folders import check_absent
from microveil.files.reading import read_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from microveil.protect import protect
from microveil.release import Release
from microveil.report import custodian_report, demonstration_report, key_figures
from microveil.table import bounds_from_data, resolution_from_data
from microveil.text import aligned

__all__ = ["run_demo"]

METHODS = ("laplace", "idp-vector", "idp-cbls")
# Clusters formed so that what they lose and their noise are least together.
STEPS: dict[str, dict[str, Any]] = {"idp-vector": {"partition": "noise-aware"}}
EPSILON = 1
K = 10
# What a page on a file's people goes to, in a folder that only its owner can open.
CUSTODIANS = "report-custodian"
ORIGINAL, PAGE = "original.csv", "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One way of protecting the table, and what it came to."""

    release: Release
    assessment: Assessment
    exact_percent: float


def run_demo(
    folder: Path,
    *,
    data: Path | None = None,
    text: TextFormat | None,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _step: None,
) -> str:
    """Protect invented people, or a file's, with three methods, and explain.

    Parameters
    ----------
    folder : Path
        Gets one release folder (and its custodian's, with its report) for each method. Of
        invented people it gets original.csv and report.html on all releases too; of a file's
        the page shows figures of the original, and is in report-custodian, which only its
        owner can open.
    data : Path, optional
        A file of the user's. Its bounds and decimals are then read off the data.
    text : TextFormat or None
    overwrite : bool
    progress : callable
        Gets the name of each step.

    Returns
    -------
    str
        What was done and came out, for a newcomer.

    Raises
    ------
    MicroveilError
        If something is there that may not be replaced, the file cannot be protected, or the
        folder cannot be written.
    """
    page = folder / PAGE if data is None else folder / CUSTODIANS / PAGE
    original = folder / ORIGINAL
    _check_free(folder, [page, *([original] if data is None else [])], overwrite=overwrite)
    people, asked, left_out = (*_invented(), []) if data is None else _given(data, text)
    outcomes = []
    for method in METHODS:
        progress(f"protecting with {method}")
        outcomes.append(_outcome(people, method, asked))
    progress("writing the report")
    contents = demonstration_report(
        {method: (o.release, o.assessment) for method, o in zip(METHODS, outcomes, strict=True)},
        people,
        lead=f"{people.height} {_who(invented=data is None)}, protected in three ways.",
        invented=data is None,
    )
    _make(folder)
    for method, outcome in zip(METHODS, outcomes, strict=True):
        outcome.release.write(
            folder / method,
            overwrite=overwrite,
            text=text,
            report=partial(custodian_report, original=people, assessment=outcome.assessment),
        )
    if data is None:
        _appear(
            original, lambda part: write_data(people, part, text=TextFormat(), form=FORMATS["csv"])
        )
    else:
        _make(page.parent, mode=0o700)
    _appear(
        page, lambda part: part.write_text(contents, encoding="utf-8"), private=data is not None
    )
    return "\n".join(_words(people, outcomes, folder, page, left_out, invented=data is None))


def _check_free(folder: Path, files: list[Path], *, overwrite: bool) -> None:
    """Refuse what could not be written in the end, before long work."""
    is_folder = os.path.isdir(folder)  # noqa: PTH112 -- never raises
    if os.path.lexists(folder) and not is_folder:
        raise FileError(f"{folder}", "it is a file", "name a folder")
    for file in files:
        if os.path.lexists(file) and not overwrite:
            raise FileError(
                f"{file}", "it exists already", "name another folder, or pass --overwrite"
            )
    if is_folder and overwrite:
        _check_demo(folder)
    for method in METHODS if is_folder else ():
        check_absent(folder / method, overwrite=overwrite)


def _check_demo(folder: Path) -> None:
    """Refuse to overwrite in a folder that holds what no demo has, or a demo's pages alone."""
    try:
        held = {entry.name for entry in folder.iterdir() if not entry.name.startswith(".")}
    except OSError:
        raise FileError(f"{folder}", "it cannot be read", "name another folder") from None
    releases = {name for method in METHODS for name in (method, f"{method}-custodian")}
    # They are written when the releases are there: without these they are somebody else's.
    pages = {ORIGINAL, PAGE, CUSTODIANS} if releases <= held else set()
    others = sorted(held - releases - pages)
    if others:
        raise FileError(
            f"{folder}",
            f"only a demo may be overwritten, and the folder holds something else: {others[0]!r}",
            "move it elsewhere, or name another folder",
        )


def _make(folder: Path, mode: int = 0o777) -> None:
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
        if mode == 0o700:
            folder.chmod(mode)  # it may have been there
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "unknown reason"
        raise FileError(
            f"{folder}", f"it cannot be made, and the system says: {reason}", "name another folder"
        ) from None


def _appear(path: Path, write: Callable[[Path], Any], *, private: bool = False) -> None:
    """Write a file whole; of one that could not be written nothing is left."""
    part = path.with_name(f".{path.name}.part")
    with suppress(OSError):
        part.unlink()  # of a process that was killed
    try:
        written_whole(path, write, private=private)
    finally:
        with suppress(OSError):
            part.unlink()


def _outcome(people: polars.DataFrame, method: str, asked: dict[str, Any]) -> Outcome:
    release = protect(
        people,
        method=method,
        k=K,
        epsilon=EPSILON,
        exact_cells="allow",
        **STEPS.get(method, {}),
        **asked,
    )
    names = [terms.name for terms in release.guarantee.attributes]
    return Outcome(
        release=release,
        assessment=assess(people, release.data, names),
        exact_percent=_exact_percent(release),
    )


def _invented() -> tuple[polars.DataFrame, dict[str, Any]]:
    people = invented_people()
    asked = {
        "attributes": [*DOMAINS],
        "bounds": DOMAINS,
        "resolution": RESOLUTIONS,
    }
    return people, asked


def _given(
    data: Path, text: TextFormat | None
) -> tuple[polars.DataFrame, dict[str, Any], list[str]]:
    """Read a file, with bounds and decimals off the data, and name the columns left out.

    Where all values are 0 no bounds can be read, and there is nothing to protect.
    """
    people = read_file(data, text=text).frame
    bounds = bounds_from_data(people)
    if not bounds:
        raise DataError(
            f"{data}",
            "no column holds numbers or dates that differ",
            "choose a file with columns that can be protected",
        )
    left_out = [
        name
        for name, kind in people.schema.items()
        if (kind.is_numeric() or kind.is_temporal())
        and name not in bounds
        and people[name].drop_nulls().n_unique() < 2
    ]
    people = people.drop(left_out)
    return people, {"bounds": bounds, "resolution": resolution_from_data(people)}, left_out


def _exact_percent(release: Release) -> float:
    figures = release.manifest.to_dict()["attributes"].values()
    cells = sum(release.guarantee.n_records - part["missing_cells"] for part in figures)
    exact = sum(part["exact_cells"] for part in figures)
    return float(100 * exact / cells)


def _words(
    people: polars.DataFrame,
    outcomes: list[Outcome],
    folder: Path,
    page: Path,
    left_out: list[str],
    *,
    invented: bool,
) -> list[str]:
    names = [terms.name for terms in outcomes[0].release.guarantee.attributes]
    who = _who(invented=invented)
    lines = [
        (
            f"{people.height} {who}. {len(names)} attributes protected in three ways, each with a "
            f"budget (epsilon) of {EPSILON}:"
        ),
        "",
    ]
    if invented:
        lines += [*_one_person(people, outcomes, names), ""]
    else:
        lines += [
            (
                "Bounds and decimals were read from the data, which a release should not do: this "
                "is to look at, not to publish."
            ),
            *(
                [f"Left out, since all their values are alike: {', '.join(left_out)}."]
                if left_out
                else []
            ),
            "",
        ]
    lines += [*_figures(outcomes), "", *_lesson(folder, invented=invented), ""]
    for method, outcome in zip(METHODS, outcomes, strict=True):
        lines.append(f"{method}, the four figures that matter:")
        figures = key_figures(outcome.release, outcome.assessment)
        lines += [f"  {figure}" for figure in figures]
    return [*lines, "", f"The report: {page}"]


def _who(*, invented: bool) -> str:
    return "invented people; none of them exists" if invented else "records of your file"


def _one_person(people: polars.DataFrame, outcomes: list[Outcome], names: list[str]) -> list[str]:
    frames = {
        "the first person": people,
        **dict(zip(METHODS, (o.release.data for o in outcomes), strict=True)),
    }
    rows = [["", *names]]
    for title, frame in frames.items():
        first = frame.row(0, named=True)
        rows.append([title, *(str(first[name]) for name in names)])
    return aligned(rows, widths=(18, *[11] * len(names)))


def _figures(outcomes: list[Outcome]) -> list[str]:
    measured = [outcome.assessment.to_dict() for outcome in outcomes]
    scopes = [outcome.release.guarantee.scopes.to_dict() for outcome in outcomes]
    chance = measured[0]["record_linkage_by_chance"]

    def scope(name: str) -> list[str]:
        return [f"{s[name]['epsilon']:g}" if s[name]["covered"] else "none" for s in scopes]

    rows = {
        "": METHODS,
        "error (0: unchanged; 1: as if only means were published)": _short(measured, "mean_sse"),
        f"% of rows found by who knows all these values (chance {chance:.2g})": [
            _most_linked(outcome.assessment) for outcome in outcomes
        ],
        "% of cells published as they are": [f"{o.exact_percent:.3g}" for o in outcomes],
        "epsilon while everybody stays in their cluster": scope("cluster"),
        "epsilon when the clusters are formed anew, of the same sizes": scope("vector"),
        "epsilon when it is also seen who shares a cluster": scope("row"),
    }
    table = aligned(((title, *cells) for title, cells in rows.items()), widths=(62, 9, 9, 9))
    return [*table, *_conditions(outcomes)]


def _conditions(outcomes: list[Outcome]) -> list[str]:
    """Say below the epsilons what they are conditional on and leave out."""
    provisos = {
        method: outcome.release.guarantee.provisos
        for method, outcome in zip(METHODS, outcomes, strict=True)
    }
    return [f"{method}: {'; '.join(found)}" for method, found in provisos.items() if found]


def _short(measured: list[dict[str, Any]], key: str) -> list[str]:
    return ["-" if m.get(key) is None else f"{m[key]:.3g}" for m in measured]


def _most_linked(assessment: Assessment) -> str:
    """Return the share that the distance which finds most of them finds, as reports do."""
    found = assessment.strongest_linkage
    return "-" if found is None else f"{found.value:.3g}"


def _lesson(folder: Path, *, invented: bool) -> list[str]:
    whatever = (
        "laplace keeps that promise whatever is"
        if invented
        else "With declared bounds laplace keeps it whatever is"
    )
    return [
        "An epsilon bounds what one person's data can change in what is published: any",
        f"probability by a factor of at most e^epsilon. {whatever}",
        "looked at, and pays with noise as wide as each attribute's bounds. The other two publish",
        f"means of {K} or more people who are alike, and fit their noise to this very table: what",
        "they promise is conditional on that, and nothing is promised where it is fitted anew.",
        "idp-cbls adds little noise and keeps its epsilon only while everybody stays in their",
        "cluster. idp-vector shares its epsilon out over clusters that it forms so as to lose",
        "least, and keeps it when they are formed anew, as long as they keep their sizes, but for",
        "who shares a cluster. Values of both are useful, and rows of both can be found again by",
        "those who know them.",
        "What each release guarantees, in words for whoever must answer for it:",
        "",
        *(f"  {folder / method / 'guarantee.md'}" for method in METHODS),
        "",
        "The folders named -custodian hold what must not be published.",
    ]
