"""The main job on a table: a new table, and three ways to protect each row, explained."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import polars

from microveil.datasets import DOMAINS, REGIONS, RESOLUTIONS, invented_people
from microveil.errors import DataError, FileError, RequestError
from microveil.files import FORMATS
from microveil.files.disk import written_whole
from microveil.files.folders import check_absent
from microveil.files.reading import read_file
from microveil.files.text import TextFormat
from microveil.files.writing import write_data
from microveil.measures import Assessment
from microveil.measures.assess import assess
from microveil.protect.protecting import protect
from microveil.protect.release import Release
from microveil.report import custodian_report, demonstration_report
from microveil.table import bounds_from_data, categories_from_data, resolution_from_data
from microveil.text import aligned, one_line
from microveil.text.figures import figure

__all__ = ["run_demo"]

METHODS = ("dp-synthetic", "laplace", "idp-vector", "idp-cbls")
# Clusters formed so that what they lose and their noise are least together.
STEPS: dict[str, dict[str, Any]] = {"idp-vector": {"partition": "noise-aware"}}
EPSILON = 1
# Of a new table: a chance so small that it means nothing, and the budget goes further.
DELTA = 1e-9
INVENTED = 5000
K = 10
# What a page on a file's people goes to, in a folder that only its owner can open.
CUSTODIANS = "report-custodian"
ORIGINAL, PAGE = "original.csv", "report.html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """A table, and what is asked of each way: a new table takes categories too."""

    people: polars.DataFrame
    numbers: dict[str, Any]  # arguments of the ways that follow individuals
    table: dict[str, Any]  # and of a new table
    left_out: tuple[str, ...] = ()
    invented: bool = True

    @property
    def who(self) -> str:
        """Whose records they are."""
        return "invented people; none of them exists" if self.invented else "records of your file"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One way of protecting the table, and what it came to."""

    method: str
    release: Release
    assessment: Assessment


def run_demo(
    folder: Path,
    *,
    data: str | Path | None = None,
    text: TextFormat | None,
    overwrite: bool = False,
    progress: Callable[[str], None] = lambda _step: None,
) -> str:
    """Protect invented people, or a file's, in several ways; return what came out, explained.

    The folder gets one release folder (and its custodian's, with its report) for each method. Of
    invented people it gets original.csv and report.html on all releases too. Of a file's bounds and
    decimals are read off the data; the page shows figures of the original, and is in
    report-custodian, which only its owner can open.
    """
    page = folder / PAGE if data is None else folder / CUSTODIANS / PAGE
    original = folder / ORIGINAL
    _check_free(folder, [page, *([original] if data is None else [])], overwrite=overwrite)
    given = _invented() if data is None else _given(data, text)
    people, outcomes, refused = given.people, list[Outcome](), ""
    for method in METHODS:
        progress(f"protecting with {method}")
        try:
            outcomes.append(_outcome(method, given))
        except RequestError as error:
            # A table may be too small for it; the other ways are to be seen all the same.
            if method != METHODS[0]:
                raise
            refused = str(error)
    progress("writing the report")
    contents = demonstration_report(
        {outcome.method: (outcome.release, outcome.assessment) for outcome in outcomes},
        people,
        lead=f"{people.height} {given.who}, protected in {len(outcomes)} ways.",
        invented=data is None,
    )
    _make(folder)
    for outcome in outcomes:
        outcome.release.write(
            folder / outcome.method,
            overwrite=overwrite,
            text=text,
            report=partial(custodian_report, original=people, assessment=outcome.assessment),
        )
    if data is None:
        written_whole(
            original, lambda part: write_data(people, part, text=TextFormat(), form=FORMATS["csv"])
        )
    else:
        _make(page.parent, mode=0o700)
    written_whole(
        page,
        lambda part: part.write_text(contents, encoding="utf-8", newline="\n"),
        private=data is not None,
    )
    return "\n".join(_words(given, outcomes, folder, page, refused))


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
    always = {name for method in METHODS[1:] for name in (method, f"{method}-custodian")}
    pages = {ORIGINAL, PAGE, CUSTODIANS} if always <= held else set()
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


def _outcome(method: str, given: Given) -> Outcome:
    people = given.people
    if method == METHODS[0]:
        release = protect(people, method=method, epsilon=EPSILON, delta=DELTA, **given.table)
    else:
        release = protect(
            people,
            method=method,
            k=K,
            epsilon=EPSILON,
            exact_cells="allow",
            **STEPS.get(method, {}),
            **given.numbers,
        )
    names = [terms.name for terms in release.guarantee.attributes]
    return Outcome(
        method=method,
        release=release,
        assessment=assess(people, release.data, names, guarantee=release.guarantee),
    )


def _invented() -> Given:
    domains = {"bounds": DOMAINS, "resolution": RESOLUTIONS}
    return Given(
        people=invented_people(INVENTED),
        numbers={"attributes": [*DOMAINS], **domains},
        table={
            "attributes": ["REGION", "EMPLOYED", *DOMAINS],
            "categories": {"REGION": [*REGIONS]},
            **domains,
        },
    )


def _given(data: str | Path, text: TextFormat | None) -> Given:
    """Read a file, with bounds, decimals and categories off the data; name the columns left out.

    Where all values are 0 no bounds can be read, and there is nothing to protect.
    """
    source = read_file(data, text=text)
    people = source.whole
    bounds = bounds_from_data(people)
    if not bounds:
        raise DataError(
            f"{source.path}",
            "no column holds numbers or dates that differ",
            "choose a file with columns that can be protected",
        )
    left_out = tuple(
        name
        for name, kind in people.schema.items()
        if (kind.is_numeric() or kind.is_temporal())
        and name not in bounds
        and people[name].drop_nulls().n_unique() < 2
    )
    people = people.drop(left_out)
    domains = {"bounds": bounds, "resolution": resolution_from_data(people)}
    categories = {
        name: seen for name, seen in categories_from_data(people).items() if name not in bounds
    }
    return Given(
        people=people,
        numbers=domains,
        table={
            "attributes": [*bounds, *categories],
            "categories": categories,
            "missing": "protect",
            **domains,
        },
        left_out=left_out,
        invented=False,
    )


def _exact_percent(release: Release) -> float:
    if not release.guarantee.has_pairs:
        return 0.0
    figures = release.manifest.to_dict()["attributes"].values()
    cells = sum(release.guarantee.n_records - part["missing_cells"] for part in figures)
    exact = sum(part["exact_cells"] for part in figures)
    return float(100 * exact / cells)


def _words(
    given: Given, outcomes: list[Outcome], folder: Path, page: Path, refused: str
) -> list[str]:
    people = given.people
    head = (
        f"{people.height} {given.who}. Protected in {len(outcomes)} ways, each with a budget "
        f"(epsilon) of {EPSILON}:"
    )
    lines = [head, ""]
    if given.invented:
        lines += [*_one_person(people, outcomes), ""]
    else:
        lines.append(
            "Bounds, decimals and categories were read from the data, which a release should not "
            "do: this is to look at, not to publish."
        )
        if given.left_out:
            named = ", ".join(given.left_out)
            lines.append(f"Left out, since all their values are alike: {named}.")
        lines.append("")
    if refused:
        lines += [f"{METHODS[0]} was refused. {one_line(refused)}", ""]
    lines += [*_figures(outcomes), "", *_lesson(outcomes, folder, invented=given.invented), ""]
    for outcome in outcomes:
        lines.append(f"{outcome.method}, the figures that matter:")
        lines += [f"  {figure}" for figure in outcome.assessment.key_figures]
    return [*lines, "", f"The report: {page}"]


def _one_person(people: polars.DataFrame, outcomes: list[Outcome]) -> list[str]:
    frames = {"the first person": people}
    for outcome in outcomes:
        whose = "" if outcome.release.guarantee.has_pairs else ", nobody's row"
        frames[f"{outcome.method}{whose}"] = outcome.release.data
    names = [terms.name for terms in outcomes[0].release.guarantee.attributes]
    rows = [["", *names]]
    for title, frame in frames.items():
        first = frame.row(0, named=True)
        rows.append([title, *(str(first.get(name, "-")) for name in names)])
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    return aligned(rows, widths=tuple(widths))


def _figures(outcomes: list[Outcome]) -> list[str]:
    measured = [outcome.assessment.to_dict() for outcome in outcomes]
    scopes = [outcome.release.guarantee.scopes.to_dict() for outcome in outcomes]
    chance = next(m["record_linkage_by_chance"] for m in measured if m.get("paired"))

    def scope(name: str) -> list[str]:
        return [f"{s[name]['epsilon']:g}" if s[name]["covered"] else "none" for s in scopes]

    rows: dict[str, list[str]] = {
        "": [outcome.method for outcome in outcomes],
        "epsilon whatever is looked at (row scope)": scope("row"),
        "epsilon when the clusters are formed anew, of the same sizes": scope("vector"),
        "epsilon while everybody stays in their cluster": scope("cluster"),
        "distributions (sorted values; 0: unchanged; 1: means alone)": _short(
            measured, "sorted_error"
        ),
        "pairs of attributes (0: unchanged; 1: nothing in common)": [
            figure(m["total_variation"]["two_way"]) for m in measured
        ],
        "each row's values (0: unchanged; 1: means alone)": _short(measured, "mean_sse"),
        f"% of rows found by who knows all these values (chance {figure(chance)})": [
            figure(None if found is None else found.value)
            for found in (outcome.assessment.strongest_linkage for outcome in outcomes)
        ],
        "% of cells published as they are": [
            figure(_exact_percent(outcome.release)) for outcome in outcomes
        ],
    }
    widths = (62, *[max(10, len(outcome.method)) for outcome in outcomes])
    table = aligned(((title, *cells) for title, cells in rows.items()), widths=widths)
    return [*table, *_conditions(outcomes)]


def _conditions(outcomes: list[Outcome]) -> list[str]:
    """Say below the epsilons what they are conditional on and leave out."""
    said = {}
    for outcome in outcomes:
        guarantee = outcome.release.guarantee
        left = (
            [f"but for events of probability {DELTA:g} in all (delta)"] if guarantee.delta else []
        )
        said[outcome.method] = [*left, *guarantee.provisos]
    return [f"{method}: {'; '.join(found)}" for method, found in said.items() if found]


def _short(measured: list[dict[str, Any]], key: str) -> list[str]:
    return [figure(m.get(key)) for m in measured]


def _lesson(outcomes: list[Outcome], folder: Path, *, invented: bool) -> list[str]:
    declared = "" if invented else "With declared domains: "
    return [
        "An epsilon bounds what one person's data can change in what is published: any",
        "probability by a factor of at most e^epsilon. What is looked at is the scope.",
        f"{declared}dp-synthetic keeps it whatever is looked at, and is useful: its",
        "rows are nobody's, drawn anew from noisy counts of single columns and of pairs of them.",
        "Distributions, groups and relations are as they were but for noise, and nobody's row is",
        "there to be found. laplace keeps it too, in rows that follow individuals, and pays with",
        "noise as wide as each attribute's bounds. The other two publish means of",
        f"{K} or more people who are alike, and fit their noise to this very table: what they",
        "promise is conditional on that, and rows of both can be found again by those who know",
        "them. idp-cbls adds little noise and keeps its epsilon only while everybody stays in",
        "their cluster. idp-vector keeps it when clusters are formed anew, as long as they keep",
        "their sizes, but for who shares a cluster.",
        "What each release guarantees, in words for whoever must answer for it:",
        "",
        *(f"  {folder / outcome.method / 'guarantee.md'}" for outcome in outcomes),
        "",
        "The folders named -custodian hold what must not be published.",
    ]
