"""The command line: parse, call, print."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

import typer

from microveil.cli.console import (
    command_line,
    print_json,
    print_message,
    print_text,
    show_every_character,
    step_progress,
)
from microveil.cli.flags import (
    Data,
    Flag,
    Folder,
    GroupedCommand,
    Json,
    takes,
    takes_inspection,
    takes_request,
)
from microveil.cli.measuring import assess, attack, audit, compare, reproduce
from microveil.errors import MicroveilError, RequestError, lines_of, stands_alone
from microveil.files import written_formats
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
            help="Write the values seen too, to be confirmed.",
        ),
    ] = False,
    write_codebook: Annotated[
        Path | None,
        typer.Option(help="Write the form of a codebook instead."),
    ] = None,
    request: dict[str, Any],
) -> None:
    """Write a recipe to fill in, or say what to expect of one."""
    from microveil.commands.files import inspect_file, write_form
    from microveil.commands.proposal import left_to_type, to_do
    from microveil.files.address import shown
    from microveil.files.disk import free_name

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
    folder = free_name(Path(), f"{stem or 'table'}-release")
    command = command_line(
        "protect", shown(data), "--recipe", output, *proposed.flags, "-o", folder
    )
    print_text(f"Recipe written to {output}. {to_do(proposed)} Then:\n\n  {command}")


@takes_request
def advise(data: Data, *, request: dict[str, Any]) -> None:
    """Say what to expect of a request, and what would be better."""
    _print_advice(data, request)


def _print_advice(data: str, request: Mapping[str, Any]) -> None:
    from microveil.commands.measuring import foresee_file

    with step_progress() as progress:
        advice, _ = foresee_file(data, **request, progress=progress)
    print_text(advice.to_text())


RELEASE = (
    Flag("overwrite", bool, "Replace an earlier release."),
    Flag("public_report", bool, "Write a page that may be published too."),
    Flag("custodian_report", bool, "Write the report of 50,000 records or more too."),
    Flag("with_measurements", bool, "dp-synthetic: publish the noisy counts too."),
    Flag("population", str, DECLARED["population"].help),
    Flag("ledger", Path, "The file that counts releases."),
    Flag("format", str, f"{', '.join(written_formats())}; else as DATA."),
    Flag("into", str, "postgresql://HOST/DATABASE?table=NAME to be made too."),
    Flag("escape_formulas", bool, "In CSV, mark text that a spreadsheet would run."),
    Flag("findings", bool, "Say what was kept and found.", default=True, denied=True),
    Flag("linkage", bool, "Link a sample with the original.", default=True, denied=True),
)


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
    for sentence in counted["in_words"] if counted else ():
        print_text(sentence)
    print_text("\nFor the custodian, not for logs:")
    print_text(custodian_text(made.manifest.to_dict()))


def methods() -> None:
    """List the methods: what each is, needs and promises."""
    from microveil.commands.listing import methods_listed

    print_text(methods_listed().to_text())


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


for command in (
    demo, inspect, advise, protect, audit, assess, compare, reproduce, attack, methods,
):  # fmt: skip
    app.command(cls=GroupedCommand)(command)
app.command("app", cls=GroupedCommand)(page)
