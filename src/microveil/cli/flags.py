"""What several commands take, declared once: files, folders, and the flags of a request."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from microveil.cli.shared_flags import declared, takes
from microveil.errors import RequestError
from microveil.files import titles, written_formats
from microveil.files.text import text_format
from microveil.protect.arguments import DECLARED, arguments

__all__ = [
    "Data",
    "Decimal",
    "Encoding",
    "Folder",
    "Into",
    "Json",
    "LedgerFile",
    "LinkedSample",
    "MissingCodesFlag",
    "MissingValuesFlag",
    "Names",
    "Original",
    "OutputFormat",
    "Population",
    "Protected",
    "Separator",
    "Shuffled",
    "takes_inspection",
    "takes_request",
    "takes_requests",
]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help=f"A {titles()} file, its URL, or a table of PostgreSQL (docs/files.md), one row per "
        "person.",
    ),
]
Original = Annotated[str, typer.Argument(help="The table before.")]
Protected = Annotated[str, typer.Argument(help="The table after, or the folder of its release.")]
Folder = Annotated[
    Path, typer.Option("-o", "--output", help="Folder for the release; FOLDER-custodian beside it.")
]
OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--format", help=f"Of the release: {', '.join(written_formats())}; by default that of DATA."
    ),
]
Into = Annotated[
    str | None,
    typer.Option(
        "--into",
        help="A table of PostgreSQL to be made too: postgresql://HOST/DATABASE?table=NAME.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Population = Annotated[str | None, typer.Option(help=DECLARED["population"].help)]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger", help="Counts releases; by default microveil-ledger.jsonl beside FOLDER."
    ),
]
Names = Annotated[list[str] | None, typer.Option(help="Columns, with commas or repeated.")]
MissingCodesFlag = Annotated[
    list[str] | None, typer.Option("--missing-codes", help=DECLARED["missing_codes"].help)
]
MissingValuesFlag = Annotated[
    list[str] | None, typer.Option("--missing-values", help=DECLARED["missing_values"].help)
]
Shuffled = Annotated[
    bool,
    typer.Option(
        "--shuffled", help="Rows of the two do not correspond: a shuffled or synthetic release."
    ),
]
LinkedSample = Annotated[
    int | None,
    typer.Option(
        "--sample",
        help="Link so many records, drawn at random, always the same; by default all of up to "
        "50,000, and of more 10,000.",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="What separates the fields of a file of text: by default a comma, a tab in TSV, a "
        "semicolon where commas are decimal marks."
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(help="The decimal mark of a file of text: . or , and by default a point."),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="The encoding of a file of text, by default UTF-8, or of an SPSS, Stata or SAS file "
        "that does not say its own."
    ),
]


def _of_file(
    *,
    recipe: Annotated[Path | None, typer.Option(help="A recipe; flags override it.")] = None,
    bounds_from_data: Annotated[
        float | None, typer.Option(help="Read bounds from the data, times this factor: a leak.")
    ] = None,
    resolution_from_data: Annotated[
        bool, typer.Option("--resolution-from-data", help="Take the decimals seen in the data.")
    ] = False,
    separator: Separator = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
) -> dict[str, Any]:
    """Read the flags that say how a file is read, and what is read off it."""
    return {
        "recipe": recipe,
        "bounds_alpha": bounds_from_data,
        "decimals_from_data": resolution_from_data,
        "text": text_format(separator, decimal, encoding),
    }


OF_FILE = inspect.signature(_of_file).parameters
# Each is shown behind what it spares a person to declare.
READ_OFF = {"categories": "bounds_from_data", "resolution": "resolution_from_data"}


def _flags() -> Iterator[inspect.Parameter]:
    """Go through the flags of a request: those that its arguments declare, and those of its file.

    A population is of a release, and so for `protect` alone.
    """
    yield OF_FILE["recipe"]
    for argument in arguments():
        if argument.name != "population":
            for name, (taken, words) in argument.flags.items():
                denied = taken is bool and name == argument.name
                yield declared(name, taken, words, denied=denied)
        if argument.name in READ_OFF:
            yield OF_FILE[READ_OFF[argument.name]]
    yield from (OF_FILE[name] for name in ("separator", "decimal", "encoding"))


def _of_many(**given: Any) -> dict[str, Any]:
    """Read the flags; their signature is what the command line shows."""
    of_file = {name: given.pop(name) for name in OF_FILE}
    shuffle = _shuffle(rows=given["shuffle"], columns=bool(given.pop("shuffle_columns")))
    # A flag that may be repeated is an empty list where it is not given.
    asked = {name: None if value == [] else value for name, value in given.items()}
    return {**asked, "shuffle": shuffle, **_of_file(**of_file)}


def _of_one(**given: Any) -> dict[str, Any]:
    """Read the flags where one release is asked for: --k is no list then."""
    return _of_many(**{**given, "k": _whole_or_auto(given["k"])})


for _read in (_of_one, _of_many):
    _read.__signature__ = inspect.Signature(list(_flags()))  # type: ignore[attr-defined]


def _shuffle(*, rows: bool | None, columns: bool) -> bool | str | None:
    """Read what is to be shuffled: the two flags exclude each other."""
    if columns and rows is not None:
        raise RequestError(
            "--shuffle-columns",
            "rows are shuffled with it, and cannot be otherwise",
            "leave out --shuffle and --no-shuffle",
        )
    return "columns" if columns else rows


def _whole_or_auto(k: str | None) -> int | str | None:
    """Read --k where one is asked for."""
    if k is None or k == "auto":
        return k
    try:
        return int(k)
    except ValueError:
        raise RequestError(
            "--k", "k is a whole number or auto", "pass for example --k 10"
        ) from None


# Its commands get as the argument `request` what the functions of `commands.files` take: how the
# file is read, and the arguments of `protect`, None where a flag was not given.
takes_request = takes("request", _of_one)
# The same for a command that proposes a recipe where no request is made.
takes_inspection = takes(
    "request",
    _of_one,
    helps={
        "scope": "What the epsilon must cover: cluster, vector or row; the recipe asks for a "
        "method that does."
    },
)
# The same for a command that goes through methods, which it has a flag of its own for.
takes_requests = takes(
    "request",
    _of_many,
    without=("method",),
    helps={
        "k": "Least records in a cluster: a list with ranges, 3,5,10:100:10.",
        "epsilon": "The budgets, above 0: a list with ranges, 0.1,1:5:1.",
        "seed": "Decides what is drawn; by default a fresh one, recorded in the results.",
    },
)
