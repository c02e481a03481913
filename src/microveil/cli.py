"""The command line: parse, call, print."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from microveil.errors import MicroveilError, RequestError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Publish a table about people so that the people cannot be found in it.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with its local variables would show the table.
    pretty_exceptions_enable=False,
)

Data = Annotated[
    Path, typer.Argument(metavar="DATA", help="A CSV or Parquet file, one row per person.")
]
Folder = Annotated[
    Path, typer.Option("-o", "--output", help="Folder for the release; FOLDER-custodian beside it.")
]
Separator = Annotated[str, typer.Option(help="What separates the fields of a CSV file.")]
Decimal = Annotated[str, typer.Option(help="The decimal mark of a CSV file: . or ,")]
Encoding = Annotated[str, typer.Option(help="The encoding of a CSV file.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Names = Annotated[list[str] | None, typer.Option(help="Columns, with commas or repeated.")]


def main() -> None:
    """Run the command line: 0 done, 2 the request or the data is wrong, 1 our bug."""
    try:
        app()
    except MicroveilError as error:
        typer.echo(f"microveil: {error}", err=True)
        sys.exit(2)
    except Exception as error:
        if os.environ.get("MICROVEIL_DEBUG"):
            raise
        # The message of an unforeseen error may hold a value of the table.
        typer.echo(
            f"microveil: an error of our own ({type(error).__name__}). What was released, if "
            "anything, is whole. MICROVEIL_DEBUG=1 shows where, and may show values of the table.",
            err=True,
        )
        sys.exit(1)


@app.command()
def demo(
    data: Annotated[
        Path | None,
        typer.Option(
            help="A file of yours instead of invented people; its bounds and decimals are then "
            "read from it, so the outcome is to look at, not to publish."
        ),
    ] = None,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="Folder for the two releases.")
    ] = Path("microveil-demo"),
    separator: Separator = ",",
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    *,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier demo.")
    ] = False,
) -> None:
    """Show the main job on invented people, protected in two ways."""
    from microveil.demo import run_demo

    text = _text(separator, decimal, encoding)
    with _progress() as progress:
        told = run_demo(output, data=data, text=text, overwrite=overwrite, progress=progress)
    typer.echo(told)


@app.command()
def inspect(
    data: Data,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write the recipe to this file.")
    ] = None,
    separator: Separator = ",",
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
) -> None:
    """Look at a table and write a recipe to fill in."""
    from microveil.publish import inspect_file

    source, recipe = inspect_file(data, _text(separator, decimal, encoding), output)
    if output is None:
        typer.echo(recipe, nl=False)
        return
    frame = source.frame
    typer.echo(f"{data.name}: {frame.height} records, {frame.width} columns.")
    typer.echo(
        f"Recipe written to {output}: confirm the roles and types, fill in the bounds, then\n"
        f"  microveil protect {data} --recipe {output} -o FOLDER"
    )


@app.command()
def protect(
    data: Data,
    output: Folder,
    recipe: Annotated[Path | None, typer.Option(help="A recipe; flags override it.")] = None,
    method: Annotated[str | None, typer.Option(help="See microveil methods.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="Least records in a cluster.")] = None,
    epsilon: Annotated[str | None, typer.Option(help="The budget, above 0.")] = None,
    attributes: Names = None,
    keep: Annotated[list[str] | None, typer.Option(help="Columns to release unprotected.")] = None,
    bounds: Annotated[
        list[str] | None, typer.Option(help="A column's domain: NAME=0:150000.")
    ] = None,
    bounds_from_data: Annotated[
        float | None, typer.Option(help="Read bounds from the data, times this factor: a leak.")
    ] = None,
    resolution: Annotated[
        list[str] | None, typer.Option(help="A column's step: NAME=0.01.")
    ] = None,
    outside: Annotated[str | None, typer.Option(help="error or clamp.")] = None,
    missing: Annotated[str | None, typer.Option(help="error or keep.")] = None,
    exact_cells: Annotated[str | None, typer.Option(help="refuse or allow.")] = None,
    partition: Annotated[
        str | None,
        typer.Option(help="record-dp: mdav, ranking, optimal or noise-aware."),
    ] = None,
    composition: Annotated[
        str | None,
        typer.Option(help="kanon-dp: sequential or parallel."),
    ] = None,
    sensitivity: Annotated[
        str | None,
        typer.Option(help="No method of this version uses it."),
    ] = None,
    blocks: Annotated[
        list[str] | None,
        typer.Option(help="Columns microaggregated together: A,B; repeated for each block."),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(help="k-pram, k-noise: the width of an interval."),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(help="k-pram, k-noise: group or average."),
    ] = None,
    noise: Annotated[
        str | None,
        typer.Option(
            help="k-noise: uniform, laplace, gaussian, triangular; k-pram: draw, permutation."
        ),
    ] = None,
    budget: Annotated[
        list[str] | None, typer.Option(help="A column's weight in epsilon: NAME=2.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Experiments only: protects nobody.")] = None,
    separator: Separator = ",",
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    *,
    resolution_from_data: Annotated[
        bool, typer.Option("--resolution-from-data", help="Take the decimals seen in the data.")
    ] = False,
    isotonic: Annotated[
        bool | None,
        typer.Option("--isotonic/--no-isotonic", help="Put noisy means in order: more linkage."),
    ] = None,
    shuffle: Annotated[
        bool | None, typer.Option("--shuffle/--no-shuffle", help="Rows in random order.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier release.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Protect a table: the release and its guarantee in one folder, the rest in another."""
    from microveil.publish import protect_file, split_pairs

    arguments: dict[str, Any] = {
        "method": method,
        "k": k,
        "epsilon": epsilon,
        "attributes": attributes or None,
        "keep": keep or None,
        "bounds": _ranges(split_pairs(bounds or (), "--bounds")) or None,
        "resolution": split_pairs(resolution or (), "--resolution") or None,
        "budget": split_pairs(budget or (), "--budget") or None,
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
        "shuffle": shuffle,
        "seed": seed,
    }
    with _progress() as progress:
        release = protect_file(
            data,
            output,
            recipe=recipe,
            bounds_alpha=bounds_from_data,
            decimals_from_data=resolution_from_data,
            text=_text(separator, decimal, encoding),
            overwrite=overwrite,
            progress=progress,
            **arguments,
        )
    for note in release.notes:
        typer.echo(f"note: {note}", err=True)
    if as_json:
        _print_json(
            {
                "folder": str(output),
                "custodian": f"{output}-custodian",
                "guarantee": release.guarantee.to_dict(),
                "notes": list(release.notes),
            }
        )
        return
    typer.echo(f"Released to {output}: the table, guarantee.json and guarantee.md.")
    typer.echo(f"For the custodian only: {output}-custodian.")
    typer.echo(release.guarantee.summary())


@app.command()
def assess(
    original: Annotated[Path, typer.Argument(help="The table before.")],
    protected: Annotated[Path, typer.Argument(help="The table after, record by record.")],
    attributes: Names = None,
    separator: Separator = ",",
    decimal: Decimal = ".",
    encoding: Encoding = "utf-8",
    *,
    k: Annotated[
        int | None, typer.Option("--k", help="Count neighbours within intervals of k records.")
    ] = None,
    shuffled: Annotated[
        bool, typer.Option("--shuffled", help="Rows of the two do not correspond.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure what protection cost and what it hides."""
    from microveil.publish import assess_files

    text = _text(separator, decimal, encoding)
    with _progress():
        assessment = assess_files(
            original, protected, attributes, text=text, paired=not shuffled, k=k
        )
    if as_json:
        _print_json(assessment.to_dict())
    else:
        typer.echo(assessment.to_text(), nl=False)


@app.command()
def methods() -> None:
    """List the methods: what each is, needs and promises."""
    from microveil.methods import methods as registry

    for entry in registry():
        least = f" (k of {entry['smallest_k']} or more)" if entry["smallest_k"] else ""
        typer.echo(f"{entry['id']:16} {entry['title']}")
        typer.echo(f"{'':16} needs {', '.join(entry['needs']) or 'nothing'}{least}")
        for argument, values in entry["offers"].items():
            typer.echo(f"{'':16} offers {argument}: {', '.join(values) or 'see the docs'}")
        typer.echo(f"{'':16} {entry['source']}")


def _text(separator: str, decimal: str, encoding: str) -> Any:
    from microveil.files import TextFormat

    if (separator, decimal, encoding) == (",", ".", "utf-8"):
        return None  # as the file's name says: .tsv has tabs
    separator = "\t" if separator == "\\t" else separator
    return TextFormat(separator=separator, decimal=decimal, encoding=encoding)


def _ranges(pairs: dict[str, str]) -> dict[str, tuple[str, ...]]:
    ranges = {}
    for name, value in pairs.items():
        parts = tuple(value.split(":"))
        if len(parts) < 2:
            raise RequestError(
                f"--bounds {name}", "bounds are two values", f"write {name}=LOWER:UPPER"
            )
        ranges[name] = parts
    return ranges


def _print_json(contents: dict[str, Any]) -> None:
    typer.echo(json.dumps(contents, indent=2, ensure_ascii=False))


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """Show steps on a terminal, nothing in a pipe."""
    if not sys.stderr.isatty():
        yield lambda _step: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=None)
        yield lambda step: bar.update(task, description=step)
