"""What several commands take, declared once: files, folders, and the flags of a request."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from microveil.cli.shared_flags import takes
from microveil.errors import RequestError
from microveil.files import FORMATS, titles

if TYPE_CHECKING:
    from microveil.files.text import TextFormat

__all__ = [
    "Data",
    "Decimal",
    "Encoding",
    "Folder",
    "Json",
    "LedgerFile",
    "Names",
    "OutputFormat",
    "Population",
    "RequestFlags",
    "Separator",
    "takes_request",
    "takes_requests",
    "text_format",
    "whole_or_auto",
]

Data = Annotated[
    Path, typer.Argument(metavar="DATA", help=f"A {titles()} file, one row per person.")
]
Folder = Annotated[
    Path, typer.Option("-o", "--output", help="Folder for the release; FOLDER-custodian beside it.")
]
OutputFormat = Annotated[
    str | None,
    typer.Option(
        "--format", help=f"Of the release: {', '.join(FORMATS)}; by default that of DATA."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Population = Annotated[
    str | None,
    typer.Option(help="Who the people are: a ledger then counts all releases of theirs."),
]
LedgerFile = Annotated[
    Path | None,
    typer.Option(
        "--ledger", help="Counts releases; by default microveil-ledger.jsonl beside FOLDER."
    ),
]
Names = Annotated[list[str] | None, typer.Option(help="Columns, with commas or repeated.")]
Separator = Annotated[str, typer.Option(help="What separates the fields of a CSV file.")]
Decimal = Annotated[str, typer.Option(help="The decimal mark of a CSV file: . or ,")]
Encoding = Annotated[str, typer.Option(help="The encoding of a CSV file.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestFlags:
    """What the flags of a request say.

    Attributes
    ----------
    arguments : dict
        Of `protect`, None where a flag was not given; entries NAME=VALUES as they were given.
    recipe : Path or None
    bounds_alpha : float or None
    decimals_from_data : bool
    text : TextFormat or None
    """

    arguments: dict[str, Any]
    recipe: Path | None
    bounds_alpha: float | None
    decimals_from_data: bool
    text: "TextFormat | None"


def text_format(separator: str, decimal: str, encoding: str) -> "TextFormat | None":
    """Return how a CSV file is written; None leaves it to the file's name (.tsv has tabs)."""
    from microveil.files.text import TextFormat

    if (separator, decimal, encoding) == (",", ".", "utf-8"):
        return None
    separator = "\t" if separator == "\\t" else separator
    return TextFormat(separator=separator, decimal=decimal, encoding=encoding)


def _request(
    *,
    recipe: Annotated[Path | None, typer.Option(help="A recipe; flags override it.")] = None,
    method: Annotated[
        str | None, typer.Option(help="See microveil methods; auto takes the best for --scope.")
    ] = None,
    k: Annotated[
        str | None, typer.Option("--k", help="Least records in a cluster; auto takes advice.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="The budget, above 0.")] = None,
    scope: Annotated[
        str | None,
        typer.Option(help="What the epsilon must cover: cluster, vector or row. Else refused."),
    ] = None,
    attributes: Annotated[
        list[str] | None, typer.Option(help="Columns, with commas or repeated.")
    ] = None,
    keep: Annotated[list[str] | None, typer.Option(help="Columns to release unprotected.")] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(help="A column's domain: NAME=0:150000.")
    ] = None,
    categories: Annotated[
        list[str] | None, typer.Option(help="A column's categories: NAME=North,South.")
    ] = None,
    ordered: Annotated[
        list[str] | None,
        typer.Option(help="Its categories in an order that counts: NAME=low,middle,high."),
    ] = None,
    bounds_from_data: Annotated[
        float | None, typer.Option(help="Read bounds from the data, times this factor: a leak.")
    ] = None,
    resolution: Annotated[
        list[str] | None, typer.Option(help="A column's step: NAME=0.01.")
    ] = None,
    resolution_from_data: Annotated[
        bool, typer.Option("--resolution-from-data", help="Take the decimals seen in the data.")
    ] = False,
    outside: Annotated[str | None, typer.Option(help="error or clamp.")] = None,
    missing: Annotated[str | None, typer.Option(help="error or keep.")] = None,
    exact_cells: Annotated[str | None, typer.Option(help="refuse, allow or widen.")] = None,
    partition: Annotated[
        str | None,
        typer.Option(
            help="record-dp: mdav, ranking, optimal or noise-aware; idp-vector: ranking or "
            "noise-aware."
        ),
    ] = None,
    composition: Annotated[
        str | None, typer.Option(help="kanon-dp: sequential or parallel.")
    ] = None,
    sensitivity: Annotated[str | None, typer.Option(help="kanon-dp: global or vector.")] = None,
    blocks: Annotated[
        list[str] | None,
        typer.Option(help="Columns microaggregated together: A,B; repeated for each block."),
    ] = None,
    width: Annotated[
        float | None, typer.Option(help="k-pram, k-noise: the width of an interval.")
    ] = None,
    every: Annotated[str | None, typer.Option(help="k-pram, k-noise: group or average.")] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="k-noise: uniform, laplace, gaussian, triangular; k-pram: draw, permutation."
        ),
    ] = None,
    budget: Annotated[
        list[str] | None, typer.Option(help="A column's weight in epsilon: NAME=2.")
    ] = None,
    isotonic: Annotated[
        bool | None,
        typer.Option("--isotonic/--no-isotonic", help="Put noisy means in order: more linkage."),
    ] = None,
    shuffle: Annotated[
        bool | None, typer.Option("--shuffle/--no-shuffle", help="Rows in random order.")
    ] = None,
    shuffle_columns: Annotated[
        bool,
        typer.Option(
            "--shuffle-columns",
            help="Each attribute in a random order of its own: no row is a person's.",
        ),
    ] = False,
    seed: Annotated[int | None, typer.Option(help="Experiments only: protects nobody.")] = None,
    separator: Separator = ",",
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
) -> RequestFlags:
    """Read the flags; their signature is what the command line shows."""
    arguments = {
        "method": method,
        "k": k,
        "epsilon": epsilon,
        "scope": scope,
        "attributes": attributes or None,
        "keep": keep or None,
        "bounds": bounds or None,
        "categories": categories or None,
        "ordered": ordered or None,
        "resolution": resolution or None,
        "budget": budget or None,
        "outside": outside,
        "missing": missing,
        "exact_cells": exact_cells,
        "partition": partition,
        "composition": composition,
        "sensitivity": sensitivity,
        "blocks": blocks or None,
        "width": width,
        "every": every,
        "noise": noise,
        "isotonic": isotonic,
        "shuffle": _shuffle(rows=shuffle, columns=shuffle_columns),
        "seed": seed,
    }
    return RequestFlags(
        arguments=arguments,
        recipe=recipe,
        bounds_alpha=bounds_from_data,
        decimals_from_data=resolution_from_data,
        text=text_format(separator, decimal, encoding),
    )


def _shuffle(*, rows: bool | None, columns: bool) -> bool | str | None:
    """Read what is to be shuffled: the two flags exclude each other."""
    if columns and rows is not None:
        raise RequestError(
            "--shuffle-columns",
            "rows are shuffled with it, and cannot be otherwise",
            "leave out --shuffle and --no-shuffle",
        )
    return "columns" if columns else rows


def whole_or_auto(k: str | None) -> int | str | None:
    """Read --k where one is asked for."""
    if k is None or k == "auto":
        return k
    try:
        return int(k)
    except ValueError:
        raise RequestError(
            "--k", "k is a whole number or auto", "pass for example --k 10"
        ) from None


# Its commands get `RequestFlags` as the argument `request`.
takes_request = takes("request", _request)
# The same for a command that goes through methods, which it has a flag of its own for.
takes_requests = takes(
    "request",
    _request,
    without=("method",),
    helps={
        "k": "Least records in a cluster: a list with ranges, 3,5,10:100:10.",
        "epsilon": "The budgets, above 0: a list with ranges, 0.1,1:5:1.",
        "seed": "Decides what is drawn; by default a fresh one, recorded in the results.",
    },
)
