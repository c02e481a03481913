"""The command line: every help, what each command prints as text and as JSON, and its files."""

import datetime
import json
import re
import shlex
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import typer

from command import run
from microveil.cli import app
from record.canonical import figures, plain_frame, shortened, text_of
from record.keeping import Case
from record.people import columns

__all__ = ["cases", "settled", "typed"]

RECIPE = """
method = "idp-vector"
k = 4
epsilon = 40
exact_cells = "allow"
partition = "ranking"
[attributes.AGE]
role = "quasi-identifier"
type = "whole number"
bounds = [0, 120]
[attributes.INCOME]
role = "confidential"
type = "decimal"
resolution = 0.5
bounds = [0, 50000]
budget = 2
[attributes.REGION]
role = "non-confidential"
type = "text"
"""
CATEGORIES = """
method = "pram"
epsilon = 3
[attributes.REGION]
role = "confidential"
type = "text"
bounds = ["north", "south", "west"]
matrix = "invariant"
"""
DOMAINS = "--bounds AGE=0:120 --bounds INCOME=0:50000 --resolution INCOME=0.01"
OF_TWO = f"--k 5 --epsilon 40 --attributes AGE,INCOME {DOMAINS}"
PROTECT = f"protect people.csv -o out --method dp-um {OF_TWO}"
INTERVALS = "protect people.csv -o out --method k-noise --attributes INCOME --resolution INCOME=1"
GRID = f"compare people.csv -o out --k 3,5 --epsilon 1,40 --attributes AGE,INCOME {DOMAINS}"
# By name: lines typed one after the other in a folder of people. All that they print is kept,
# and every file that they leave.
LINES: dict[str, tuple[str, ...]] = {
    "methods": ("methods",),
    "demo": ("demo -o out",),
    "inspect": ("inspect people.csv", "inspect people.csv -o new.toml"),
    "inspect for a scope": (
        "inspect people.csv --scope row --show-values", "inspect people.csv --scope vector",
        "inspect people.csv --scope cluster", "inspect people.csv --scope row -o new.toml",
    ),
    "inspect a request": (
        f"inspect people.csv --method dp-um {OF_TWO}", "inspect people.csv --recipe recipe.toml",
    ),
    "protect": (PROTECT,),
    "protect, json": (f"{PROTECT} --json",),
    "protect, public report": (f"{PROTECT} --public-report --keep REGION",),
    "protect, recipe": ("protect people.csv --recipe recipe.toml -o out",),
    "protect, recipe and flags": (
        "protect people.csv --recipe recipe.toml --k 6 --exact-cells widen --no-linkage -o out",
    ),
    "protect, population": (
        f"{PROTECT} --population people --ledger book.jsonl",
        f"{PROTECT} --population people --ledger book.jsonl --overwrite --json",
    ),
    "protect, from data": (
        ("protect people.csv -o out --method dp-um --k 5 --epsilon 40 --attributes AGE,INCOME "
        "--bounds-from-data 1.5 --resolution-from-data"),
    ),
    "protect, auto": (
        (f"protect people.csv -o out --method auto --k auto --scope vector --epsilon 40 "
        f"--attributes AGE,INCOME {DOMAINS}"),
    ),
    "protect, shuffle": (f"{PROTECT} --shuffle --isotonic --budget INCOME=2",),
    "protect, shuffle columns": (f"{PROTECT} --shuffle-columns",),
    "protect, seed": (f"{PROTECT} --seed 3 --outside clamp --bounds AGE=40:60",),
    "protect, dates": (
        ("protect people.csv -o out --method dp-um --k 5 --epsilon 40 --attributes SINCE "
        "--bounds SINCE=2000-01-01:2020-12-31"),
    ),
    "protect, categories": (
        ("protect people.csv -o out --method pram --epsilon 3 --attributes REGION "
        "--bounds REGION=north:south:west"),
    ),
    "protect, recipe of categories": ("protect people.csv --recipe categories.toml -o out",),
    "protect, gaps": (f"{PROTECT.replace('people', 'gaps')} --missing keep --keep REGION",),
    "protect, blocks": (
        (f"protect people.csv -o out --method kanon-dp {OF_TWO} --blocks AGE --blocks INCOME "
        "--composition parallel"),
        f"protect people.csv -o more --method kanon-dp {OF_TWO} --sensitivity vector",
    ),
    "protect, partition": ((f"protect people.csv -o out --method record-dp {OF_TWO} "
                           "--partition optimal"),),
    "protect, intervals": (f"{INTERVALS} --k 5 --every average --noise triangular",),
    "protect, width": (f"{INTERVALS} --width 500",),
    "protect, separators": (
        f"{PROTECT.replace('people.csv', 'semicolons.csv')} --separator ';' --decimal ,",
    ),
    "protect, formulas": (f"{PROTECT.replace('people', 'formulas')} --keep T --escape-formulas",),
    "protect, parquet": (PROTECT.replace("people.csv", "people.parquet"),),
    "audit": (f"audit people.csv --method idp-ls {OF_TWO}",),
    "audit, json": (f"audit people.csv --method idp-ls {OF_TWO} --json",),
    "audit, runs": (
        f"audit people.csv --method idp-cbls {OF_TWO} --runs 300 --json",
        f"audit people.csv --method idp-cbls {OF_TWO} --runs 300",
    ),
    "assess": (PROTECT, "assess people.csv out/data.csv"),
    "assess, json": (PROTECT, "assess people.csv out/data.csv --k 5 --json"),
    "assess, analyses": (
        f"{PROTECT} --keep REGION",
        "assess people.csv out/data.csv --formula 'INCOME ~ AGE' --propensity",
    ),
    "assess, shuffled": (
        f"{PROTECT} --shuffle", "assess people.csv out/data.csv --shuffled --json",
    ),
    "attack": (PROTECT, "attack people.csv out/data.csv --known AGE --secret INCOME"),
    "attack, json": (PROTECT, ("attack people.csv out/data.csv --control gaps.csv --json "
                     "--attributes AGE")),
    "compare": (f"{GRID} --methods dp-um,idp-vector:partition=ranking --runs 2 --seed 1 --jobs 1",),
    "compare, analyses": (
        (f"{GRID} --methods dp-um,mdav --runs 2 --seed 1 --jobs 1 --no-linkage --propensity "
        "--formula 'INCOME ~ AGE'"),
    ),
    "refused, no file": ("protect nobody.csv -o out --method dp-um",),
    "refused, no method": ("protect people.csv -o out",),
    "refused, no bounds": ("protect people.csv -o out --method dp-um --k 5 --epsilon 1",),
    "refused, half a bound": (f"{PROTECT} --bounds AGE=5", f"{PROTECT} --bounds AGE"),
    "refused, no such column": (f"{PROTECT} --keep NOBODY",),
    "refused, two shuffles": (f"{PROTECT} --shuffle --shuffle-columns",),
    "refused, k of text": (f"{PROTECT} --k many",),
    "refused, no such flag": (f"{PROTECT} --delta 1", "protect"),
    "refused, folder exists": (PROTECT, PROTECT),
    "refused, ledger alone": (f"{PROTECT} --ledger book.jsonl",),
    "refused, recipe": ("protect people.csv --recipe people.csv -o out",),
}  # fmt: skip
# Pictures by matplotlib, and what holds no result.
LEFT_OUT = (".png", ".svg", ".lock")
TIME = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\+00:00")
VERSION = re.compile(r'(?<=<th scope="row">)([a-z]+)</th><td>\d+(\.\d+)+</td>')
# Vega's programs and its pictures, which differ by its version; their figures stand beside them.
DRAWN = re.compile(r"<script>.*?</script>|<svg\b.*?</svg>|'sha256-[^']*'", re.DOTALL)
OWN_VERSION = re.compile(r"microveil \d+\.\d+\.\d+")


def cases() -> Iterator[Case]:
    """Go through the commands."""
    for name in ("", *typer.main.get_command(app).commands):
        yield _case(f"microveil {name} --help".replace("  ", " "), (f"{name} --help",))
    for name, lines in LINES.items():
        yield _case(name, lines)


def _case(name: str, lines: tuple[str, ...]) -> Case:
    def parts() -> dict[str, Any]:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place).resolve()
            _fill(folder)
            given = set(folder.iterdir())
            shown = [typed(line, folder) for line in lines]
            left = sorted(file for file in folder.rglob("*") if file.is_file())
            return {
                "shown": "\n".join(shown),
                **{
                    file.relative_to(folder).as_posix(): _contents(file)
                    for file in left
                    if file not in given and not file.name.endswith(LEFT_OUT)
                },
            }

    return Case(name=name, parts=parts)


def _fill(folder: Path) -> None:
    people = pl.DataFrame(columns())
    people.write_csv(folder / "people.csv")
    people.write_parquet(folder / "people.parquet")
    people.write_csv(folder / "semicolons.csv", separator=";", decimal_comma=True)
    people.with_columns(T=pl.lit("=1+1")).write_csv(folder / "formulas.csv")
    pl.DataFrame(columns(gaps=True)).write_csv(folder / "gaps.csv")
    (folder / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    (folder / "categories.toml").write_text(CATEGORIES, encoding="utf-8")


def typed(line: str, folder: Path) -> str:
    """Type a line in a folder, and return what is shown."""
    done = run(*shlex.split(line), folder=folder, COLUMNS="80")
    shown = f"$ microveil {line}\n{done.stdout}{done.stderr}exit {done.returncode}\n"
    return settled(shown.replace(f"{folder}/", ""))


def _contents(file: Path) -> str:
    if file.suffix == ".parquet":
        return text_of(plain_frame(pl.read_parquet(file)))
    text = file.read_text(encoding="utf-8")
    if file.name == "manifest.json":
        text = text_of(figures(json.loads(text)))
    return settled(DRAWN.sub("", text) if file.suffix == ".html" else text)


def settled(text: str) -> str:
    """Leave out when and by which versions a text was made, and the digits that are not sure."""
    text = TIME.sub("(time)", text).replace(f"{datetime.datetime.now(datetime.UTC):%Y-%m-%d}", "")
    text = OWN_VERSION.sub("microveil", text)
    return shortened(VERSION.sub(r"\1</th><td></td>", text))
