"""The command line: parse, call, print."""

import itertools
import os
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Annotated, Any

import typer

from microveil.cli.console import (
    command_line,
    counted_progress,
    print_json,
    print_message,
    print_text,
    show_every_character,
    step_progress,
)
from microveil.cli.flags import (
    CODES,
    SAMPLE,
    Data,
    Folder,
    GroupedCommand,
    Json,
    Original,
    Protected,
    Shuffled,
    flag,
    takes,
    takes_analyses,
    takes_inspection,
    takes_request,
    takes_requests,
    takes_text,
)
from microveil.errors import MicroveilError, RequestError, lines_of, stands_alone
from microveil.files import written_formats
from microveil.files.text import TextFormat
from microveil.protect.arguments import DECLARED

# What typer ends with on Ctrl-C, as shells do.
INTERRUPTED = 130

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    # Markup in a help text would change what is to be typed: rich has an emoji for ":100:".
    rich_markup_mode=None,
    # A traceback with its local variables would show the table.
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Run the command line: 0 done, 2 the request or the data is wrong, 1 our bug, 130 Ctrl-C."""
    _end_in_order()
    show_every_character()
    try:
        stands_alone(app)()
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            print_message("microveil: interrupted. What was released, if anything, is whole.")
        raise
    except MicroveilError as error:
        has_recipe = any(word.partition("=")[0] == "--recipe" for word in sys.argv)
        for line in lines_of(error, "recipe" if has_recipe else "flags"):
            print_message(line if line.startswith(" ") else f"microveil: {line}")
        sys.exit(2)
    except Exception as error:
        if os.environ.get("MICROVEIL_DEBUG"):
            raise
        # The message of an unforeseen error may hold a value of the table.
        print_message(
            f"microveil: an error of our own ({type(error).__name__}). What was released, if "
            "anything, is whole. MICROVEIL_DEBUG=1 shows where, and may show values of the table."
        )
        sys.exit(1)


def _end_in_order() -> None:
    """Let SIGTERM and the terminal's end leave no temporary file, as Ctrl-C leaves none."""
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, _frame: sys.exit(128 + number))


@contextmanager
def _warnings_in_words() -> Iterator[None]:
    """Say what is outdated as other messages are said."""
    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=FutureWarning, module="microveil")
        warnings.showwarning = lambda words, *_where, **_how: print_message(f"warning: {words}")
        yield


def _show_version(*, asked: bool) -> None:
    if asked:
        print_text(f"microveil {version('microveil')}")
        raise typer.Exit


@app.callback()
def microveil(
    *,
    asked: Annotated[
        bool,
        typer.Option(
            "--version",
            help="Show the version and exit.",
            callback=lambda asked: _show_version(asked=asked),
            is_eager=True,
        ),
    ] = False,
) -> None:
    """Publish a table about people so that the people cannot be found in it."""


@app.command(cls=GroupedCommand)
def demo(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A new folder for the people and their release.")
    ] = Path("microveil-demo"),
) -> None:
    """Protect invented people by one command, and show what came out."""
    from microveil.commands.demo import COMPARED, INVENTED, write_people

    table, release = write_people(output), output / "release"
    words = ("protect", f"{table}", "--epsilon", "3", "--delta", "1e-9", "-o", f"{release}")
    print_text(f"{INVENTED:,} invented people, protected by one command:")
    print_text(f"  {command_line(*words)}\n\n")
    typer.main.get_command(app).main(list(words), standalone_mode=False)
    print_text(f"\nThe report: {release}-custodian/report.html")
    comparison = command_line("compare", table, *COMPARED, "-o", output / "comparison")
    print_text(f"Other methods on these people: {comparison}")


@app.command(cls=GroupedCommand)
@takes_inspection
def inspect(
    data: Data,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the recipe to this file.")
    ] = None,
    *,
    show_values: Annotated[
        bool,
        typer.Option(
            "--show-values",
            help="Write the values seen too, steps and likely codes for missing ones, to be "
            "confirmed.",
        ),
    ] = False,
    write_codebook: Annotated[
        Path | None,
        typer.Option(help="Write the form of a codebook to this file instead, to be filled in."),
    ] = None,
    request: dict[str, Any],
) -> None:
    """Write a recipe to fill in, or say what to expect of one."""
    from microveil.commands.files import inspect_file, write_form
    from microveil.commands.proposal import left_to_type
    from microveil.files.address import shown

    if write_codebook is not None:
        write_form(data, request["text"], write_codebook)
        print_text(f"Form written to {write_codebook}: fill it in, then protect --codebook it.")
        return
    if request["recipe"] is not None:
        if output is not None or show_values:
            named = "--output" if output is not None else "--show-values"
            rule = "a look at what to expect of a request writes no recipe"
            raise RequestError(named, rule, "leave it out, or leave out --recipe")
        _print_advice(data, request)
        return
    text = request.pop("text")
    with step_progress() as progress:
        source, proposed = inspect_file(
            data, text, output, show_values=show_values, progress=progress, **request
        )
    told = left_to_type(proposed, show_values=show_values).to_text()
    if output is None:
        typer.echo(proposed.text, nl=False)  # its names are quoted as TOML has it
        for line in told.splitlines():
            print_message(line)
        return
    print_text(f"{source.name}: {source.n_records} records, {len(source.columns)} columns.\n")
    print_text(told)
    stem = Path(source.table or source.name.partition(".")[0]).name
    folder = _free(f"{stem or 'table'}-release")
    command = command_line("protect", shown(data), "--recipe", output, "-o", folder)
    print_text(f"Recipe written to {output}. Confirm its roles and types, then\n\n  {command}")


@app.command(cls=GroupedCommand)
@takes_request
def advise(data: Data, *, request: dict[str, Any]) -> None:
    """Say what to expect of a request, and what would be better."""
    _print_advice(data, request)


def _print_advice(data: str, request: Mapping[str, Any]) -> None:
    from microveil.commands.auditing import foresee_file

    with step_progress() as progress:
        advice, _ = foresee_file(data, **request, progress=progress)
    print_text(advice.to_text())


def _print_found(found: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
    else:
        print_text(found.to_text())


def _free(stem: str, suffix: str = "") -> str:
    """Return a name that is free, as its custodian's folder is: with a number if need be."""
    names = (f"{stem}{'' if n == 1 else f'-{n}'}{suffix}" for n in itertools.count(1))
    return next(n for n in names if not any(map(os.path.lexists, (n, f"{n}-custodian"))))


RELEASE = (
    flag("overwrite", bool, "Replace an earlier release."),
    flag("public_report", bool, "Write a page that may be published too."),
    flag("custodian_report", bool, "Write the report of 50,000 records or more too."),
    flag("with_measurements", bool, "dp-synthetic: publish the noisy counts too."),
    flag("population", str, DECLARED["population"].help),
    flag("ledger", Path, "The file that counts releases."),
    flag("format", str, f"{', '.join(written_formats())}; else as DATA."),
    flag("into", str, "postgresql://HOST/DATABASE?table=NAME to be made too."),
    flag("escape_formulas", bool, "In CSV, mark text that a spreadsheet would run."),
    flag("findings", bool, "Say what was kept and found.", default=True, denied=True),
    flag("linkage", bool, "Link a sample with the original.", default=True, denied=True),
)


@app.command(cls=GroupedCommand)
@takes_request
@takes("release", RELEASE)
def protect(
    data: Data,
    output: Folder,
    *,
    release: dict[str, Any],
    spark: Annotated[
        bool, typer.Option("--spark", help="Have Spark do it; DATA is Parquet.")
    ] = False,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Name values that are refused, for the custodian.")
    ] = False,
    as_json: Json = False,
    request: dict[str, Any],
) -> None:
    """Protect a table.

    The release and its guarantee come into one folder, what is the custodian's into another.
    """
    from microveil.commands.files import counted_releases, protect_file
    from microveil.measures.findings import custodian_text

    request |= {"engine": "spark"} if spark else {}
    with step_progress() as progress, _warnings_in_words():
        show = print_message if show_values else None
        made = protect_file(data, output, **request, **release, show=show, progress=progress)
    for note in made.notes:
        print_message(f"note: {note}")
    if as_json:
        told = {"folder": str(output), "custodian": f"{output}-custodian"}
        print_json({**told, "guarantee": made.guarantee.to_dict(), "notes": list(made.notes)})
        return
    page = ", report.html" if release["public_report"] else ""
    counts = ", measurements.json, margins.json" if release["with_measurements"] else ""
    print_text(f"Released to {output}: the table{page}{counts}, guarantee.json and guarantee.md.")
    if release["into"] is not None:
        print_text("Its records are in the table of PostgreSQL too.")
    print_text(f"For the custodian only: {output}-custodian.")
    if os.name == "nt":
        print_text("Windows: whoever may open the folder around it may open it too.")
    print_text(made.guarantee.summary())
    counted = counted_releases(made, output, release["ledger"])
    for sentence in counted.in_words() if counted else ():
        print_text(sentence)
    print_text("\nFor the custodian, not for logs:")
    print_text(custodian_text(made.manifest.to_dict()))


@app.command(cls=GroupedCommand)
@takes_request
def audit(
    data: Annotated[
        str, typer.Argument(metavar="DATA", help="The table, or the folder of a release.")
    ],
    release: Annotated[
        Path | None,
        typer.Argument(
            metavar="RELEASE",
            help="The folder of a release of DATA: what was asked of it is audited.",
        ),
    ] = None,
    *,
    runs: Annotated[
        int | None,
        typer.Option(help="Attack it so many times too: a lower bound on epsilon at each scope."),
    ] = None,
    as_json: Json = False,
    request: dict[str, Any],
) -> None:
    """Find what a release would really guarantee at vector scope.

    For the custodian. Of a release that was written, its folder alone says what was asked; the
    table is looked for by its name, beside the folder and here.
    """
    from microveil.commands.auditing import audit_file, audit_release

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


MEASURED = (
    flag("k", int, "Count neighbours within intervals of k records."),
    flag(
        "by",
        list,
        "Counts and means in subgroups: columns, with commas. Of a new table with "
        "measurements.json beside it, the margins of noise too.",
    ),
    flag(
        "rules",
        list,
        "Who breaks it before and after: 'TAX <= INCOME', 'AGE >= 18'; repeated.",
        written="--rule",
    ),
    *CODES,
    flag(
        "quasi_identifiers",
        list,
        "Columns that a person may be known by: how many records share their values.",
    ),
    flag(
        "recipe",
        Path,
        "Its quasi-identifiers are what a person may be known by, its identifiers are dropped; by "
        "default the recipe that the release was made by.",
    ),
    flag(
        "weights",
        str,
        "The column of survey weights: figures by it beside the others; by default the recipe's.",
    ),
    flag("corrected", bool, "Correct the shares of what pram drew, by its public matrix."),
    flag(
        "linkage", bool, "Link records of the release with the original.", default=True, denied=True
    ),
    SAMPLE,
)
NAMES = flag("attributes", list, "Columns, with commas or repeated.")


@app.command(cls=GroupedCommand)
@takes_analyses
@takes_text
@takes("measured", MEASURED)
@takes("named", [NAMES])
def assess(
    original: Original,
    protected: Protected,
    *,
    named: dict[str, Any],
    text: TextFormat,
    measured: dict[str, Any],
    shuffled: Shuffled = False,
    as_json: Json = False,
    analyses: dict[str, Any],
) -> None:
    """Measure what protection cost and what it hides."""
    from microveil.commands.measuring import assess_files

    asked = {**named, **measured, **analyses, "text": text, "paired": not shuffled}
    with step_progress():
        assessment = assess_files(original, protected, **asked)
    _print_found(assessment, as_json=as_json)


@app.command(cls=GroupedCommand)
@takes_requests
@takes_analyses
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
    from microveil.commands.comparing import compare_file

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


@app.command(cls=GroupedCommand)
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
    reproduce = found.load()  # of a package of its own, by its entry point
    with counted_progress() as progress:
        shown = reproduce(
            paper, data, output, runs=runs, quick=quick,
            progress=lambda what, done, total: progress(done, total, what),
        )  # fmt: skip
    print_text(shown)


ATTACKED = (
    NAMES,
    flag("known", list, "Columns the intruder knows of people."),
    flag("secret", list, "Columns the intruder wants to know."),
    flag(
        "recipe",
        Path,
        "Its quasi-identifiers are known, its confidential columns secret, its identifiers "
        "dropped; by default the recipe that the release was made by.",
    ),
    flag("control", str, "A table of people held out before the release was made."),
    flag("tolerance", float, "How near a guess has to come, in standard deviations.", default=0.05),
    SAMPLE,
    flag("seed", int, "Decides who is attacked.", default=0),
)


@app.command(cls=GroupedCommand)
@takes_text
@takes("how", ATTACKED)
@takes("codes", CODES)
def attack(
    original: Original,
    protected: Protected,
    *,
    how: dict[str, Any],
    text: TextFormat,
    codes: dict[str, Any],
    shuffled: Shuffled = False,
    as_json: Json = False,
) -> None:
    """Attack a release as an intruder with partial knowledge would.

    For the custodian.
    """
    from microveil.commands.measuring import attack_files

    asked = {**how, **codes, "text": text, "paired": not shuffled}
    with step_progress() as progress:
        report = attack_files(original, protected, **asked, progress=progress)
    _print_found(report, as_json=as_json)


@app.command(cls=GroupedCommand)
def methods() -> None:
    """List the methods: what each is, needs and promises."""
    from microveil.commands.listing import methods_listed

    print_text(methods_listed().to_text())


@app.command("app", cls=GroupedCommand)
def page(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="FOLDER",
            help="Where files may be opened and written, and below it; by default this folder.",
            show_default=False,
        ),
    ] = Path(),
    file: Annotated[
        list[Path] | None,
        typer.Option(
            "--file", help="A file elsewhere that may be opened too; repeated for several."
        ),
    ] = None,
    *,
    browser: Annotated[
        bool,
        typer.Option(
            "--browser/--no-browser", help="Open the page, or say what to open in a browser."
        ),
    ] = True,
) -> None:
    """Open a page in the browser that does all this.

    It is for one person: files are read where they are, and other machines get no answer. Ctrl-C
    ends it, and what it is doing.
    """
    from microveil.app.places import Folder as PageFolder
    from microveil.app.serving import serve

    serve(PageFolder(folder, tuple(file or ())), open_browser=browser, say=print_text)
