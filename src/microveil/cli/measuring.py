"""What a custodian asks of a table and of its release: audit, assess, compare, attack."""

import os
from importlib.metadata import entry_points
from pathlib import Path
from typing import Annotated, Any

import typer

from microveil.cli.console import counted_progress, print_json, print_text, step_progress
from microveil.cli.flags import (
    ANALYSES,
    CODES,
    SAMPLE,
    TEXT,
    Data,
    Flag,
    Json,
    Original,
    Protected,
    Shuffled,
    takes,
    takes_request,
    takes_requests,
    with_text_and_analyses,
)
from microveil.errors import RequestError


def _print_found(found: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(found.to_text())


@takes_request
def audit(
    data: Annotated[str, typer.Argument(metavar="DATA", help="The table, or a release's folder.")],
    release: Annotated[
        Path | None,
        typer.Argument(metavar="RELEASE", help="The folder of a release of DATA, to audit."),
    ] = None,
    *,
    runs: Annotated[
        int | None,
        typer.Option(help="Attack it so often: lower bounds on epsilon."),
    ] = None,
    as_json: Json = False,
    request: dict[str, Any],
) -> None:
    """Find what a release would really guarantee at vector scope.

    For the custodian. Of a release that was written, its folder alone says what was asked; the
    table is looked for by its name, beside the folder and here.
    """
    from microveil.commands.measuring import audit_file, audit_release

    is_folder = os.path.isdir(data)  # noqa: PTH112 -- it may be an address
    original = None if is_folder else data
    folder = release if release is not None else Path(data) if is_folder else None
    given = [n for n, value in request.items() if n != "text" and value not in (None, False)]
    if folder is not None and given:
        rule = "of a release it is audited what was asked of it, and nothing else"
        remedy = "leave out the flags of a request, or the folder of the release"
        raise RequestError("audit", rule, remedy)
    with step_progress() as progress:
        if folder is None:
            found, attacked = audit_file(data, **request, runs=runs, progress=progress)
        else:
            found, attacked = audit_release(
                folder, original=original, runs=runs, text=request["text"], progress=progress
            )
    if as_json:
        empirical = {} if attacked is None else {"empirical": attacked.to_dict()}
        print_json({**found.to_dict(), **empirical})
        return
    print_text(found.to_text())
    if attacked is not None:
        print_text(f"\n{attacked.to_text()}")


NAMES = Flag("attributes", list, "Columns, with commas or repeated.")
ROLES = Flag("recipe", Path, "A recipe whose roles count; else the release's.")
MEASURED = (
    Flag("k", int, "Count neighbours within intervals of k records."),
    Flag("by", list, "Counts and means by columns, with their margins."),
    Flag("rules", list, "Who breaks it, as 'TAX <= INCOME'; repeated.", written="--rule"),
    *CODES,
    Flag("quasi_identifiers", list, "Columns that others may know a person by."),
    ROLES,
    Flag("weights", str, "The column of survey weights; else the recipe's."),
    Flag("corrected", bool, "Correct shares that pram drew, by its matrix."),
    Flag("linkage", bool, "Link the release with the original.", default=True, denied=True),
    SAMPLE,
)
ATTACKED = (
    NAMES,
    Flag("known", list, "Columns the intruder knows of people."),
    Flag("secret", list, "Columns the intruder wants to know."),
    ROLES,
    Flag("control", str, "People held out before the release was made."),
    Flag("tolerance", float, "How near a guess must come.", default=0.05),
    SAMPLE,
    Flag("seed", int, "Decides who is attacked.", default=0),
)


@takes("asked", (NAMES, *TEXT, *MEASURED, *ANALYSES), with_text_and_analyses)
def assess(
    original: Original,
    protected: Protected,
    *,
    shuffled: Shuffled = False,
    as_json: Json = False,
    asked: dict[str, Any],
) -> None:
    """Measure what protection cost and what it hides."""
    from microveil.commands.measuring import assess_files

    with step_progress():
        found = assess_files(original, protected, **asked, paired=not shuffled)
    _print_found(found, as_json=as_json)


@takes("asked", (*ATTACKED, *TEXT, *CODES), with_text_and_analyses)
def attack(
    original: Original,
    protected: Protected,
    *,
    shuffled: Shuffled = False,
    as_json: Json = False,
    asked: dict[str, Any],
) -> None:
    """Attack a release as an intruder with partial knowledge would.

    For the custodian.
    """
    from microveil.commands.measuring import attack_files

    with step_progress() as progress:
        found = attack_files(original, protected, **asked, paired=not shuffled, progress=progress)
    _print_found(found, as_json=as_json)


@takes_requests
@takes("analyses", ANALYSES, with_text_and_analyses)
def compare(
    data: Data,
    methods: Annotated[
        list[str],
        typer.Option(
            help="Ids with commas or repeated, with steps: idp-vector:partition=ranking; parts: "
            "those of the recipe."
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for the results.")],
    runs: Annotated[int, typer.Option(help="How often each is drawn.")] = 10,
    jobs: Annotated[int | None, typer.Option(help="Threads; by default one a processor.")] = None,
    *,
    linkage: Annotated[
        bool,
        typer.Option(
            "--linkage/--no-linkage", help="Link records: most of the cost for a large table."
        ),
    ] = True,
    analyses: dict[str, Any],
    request: dict[str, Any],
) -> None:
    """Compare methods on a table.

    --k and --epsilon take lists and ranges: 3,5,10:100:10.
    """
    from microveil.commands.measuring import compare_file

    with counted_progress() as progress:
        found, report, drawn = compare_file(
            data,
            output,
            methods=[part for entry in methods for part in entry.split(",")],
            runs=runs, jobs=jobs, linkage=linkage, analyses=analyses, progress=progress,
            **request,
        )  # fmt: skip
    print_text(f"{found.document.to_text()}\n")
    print_text(f"Results: {output}. They depend on the data: for the custodian only.")
    print_text(f"Report: {report}")
    if drawn is not None:
        print_text(f"Risk-utility map: {drawn}")


def reproduce(
    paper: Annotated[str, typer.Argument(help="idp-2025, kanon-2013, record-2018 or knoise.")],
    data: Annotated[list[str], typer.Option(help="NAME=FILE, repeated: the paper's data sets.")],
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for what comes out.")],
    runs: Annotated[int | None, typer.Option(help="How often whatever is random is drawn.")] = None,
    *,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs and settings.")] = False,
) -> None:
    """Draw a paper's figures again, and check its claims."""
    found = next(iter(entry_points(group="microveil.commands", name="reproduce")), None)
    if found is None:
        rule = "the papers' experiments are in the package microveil-papers, which is not installed"
        remedy = "pip install ./papers in a clone of microveil, or pip install microveil-papers"
        raise RequestError("reproduce", rule, remedy)
    reproduced = found.load()  # of a package of its own, by its entry point
    with counted_progress() as progress:
        shown = reproduced(
            paper, data, output, runs=runs, quick=quick,
            progress=lambda what, done, total: progress(done, total, what),
        )  # fmt: skip
    print_text(shown)
