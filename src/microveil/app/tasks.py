"""The tasks of the page, each as the command line carries it out: a mapping in, a mapping out.

A recipe is a mapping in the form of a recipe file, paths are absolute. What is said of progress is
``{"progress": ...}``, with ``done`` and ``total`` where it is counted.
"""

import tempfile
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from microveil.files.text import TextFormat

# Of a list of categories in a field; the form is sent with those of all columns.
MOST_LETTERS = 50_000
# Of a release so many rows are shown.
ROWS_SHOWN = 10

Say = Callable[[Mapping[str, Any]], None]
Task = Mapping[str, Any]


def inspected(task: Task, say: Say) -> dict[str, Any]:
    """Look at the file in `path` and propose a recipe for a new table; return no value of it."""
    from microveil.commands.files import inspect_file

    source, found = inspect_file(
        task["path"], text_of(task.get("file")), progress=_steps(say), scope="row"
    )
    proposed = tomllib.loads(found.text)
    # In a form a person says what each column holds.
    kinds = {name: {"type": column.kind.value} for name, column in found.columns.items()}
    entries = {n: {**kinds[n], **e} for n, e in proposed.get("attributes", {}).items()}
    return {
        "n_records": source.n_records,
        "columns": {
            name: {
                "entry": entry,
                "notes": list(found.remarks.get(name, ())),
                "title": found.columns[name].label,
                "by_file": found.columns[name].by_file,
            }
            for name, entry in entries.items()
        },
        "file": proposed.get("file"),
        "unit": found.unit,
    }


def text_of(written: Mapping[str, str] | None) -> "TextFormat":
    """Return how a file of text is written, by what a recipe says of it."""
    from microveil.files.text import UNSAID

    return replace(UNSAID, **(written or {}))  # type: ignore[arg-type]


def listed(task: Task, say: Say) -> dict[str, Any]:
    """List the different values of a column of text, none if there are too many: see `inspect`."""
    from microveil.commands.files import categories_of_file
    from microveil.commands.proposed_columns import MOST_CATEGORIES

    say({"progress": "reading the table"})
    column = str(task["column"])
    seen = categories_of_file(
        task["path"],
        text_of(task.get("file")),
        column,
        missing_codes=task.get("missing_codes"),
        missing_values=task.get("missing_values"),
    )
    too_long = sum(map(len, seen)) > MOST_LETTERS
    shown = [] if too_long or len(seen) > MOST_CATEGORIES else seen
    return {"column": column, "n_values": len(seen), "values": shown}


def advised(task: Task, say: Say) -> dict[str, Any]:
    """Say what to expect of the `recipe`; figures depend on the data unless `is_public`."""
    from microveil.commands.measuring import foresee_file

    advice, _ = foresee_file(task["path"], recipe=task["recipe"], progress=_steps(say))
    return {
        "advice": advice.to_dict(),
        "is_public": advice.is_public,
        "refused": advice.refused,
    }


def compared(task: Task, say: Say) -> dict[str, Any]:
    """Compare methods in a folder for the time of it: all that is found depends on the data."""
    from microveil.commands.measuring import compare_file

    def counted(done: int, total: int, *_what: str) -> None:
        say({"progress": "comparing", "done": done, "total": total})

    say({"progress": "reading the table"})
    asked = {"k": task.get("ks"), "epsilon": task.get("epsilons")}
    with tempfile.TemporaryDirectory(prefix="microveil-") as folder:
        found, report, drawn = compare_file(
            task["path"],
            Path(folder, "comparison"),
            methods=task["methods"],
            runs=task["runs"],
            progress=counted,
            recipe=task["recipe"],
            **{name: value for name, value in asked.items() if value is not None},
        )
        return {
            "comparison": found.to_dict(),
            "answer": found.document.to_dict(),
            "report": report.read_text("utf-8"),
            "picture": None if drawn is None else drawn.read_text("utf-8"),
        }


def protected(task: Task, say: Say) -> dict[str, Any]:
    """Protect a file into `folder`; the `custodian_lines` depend on the data."""
    from microveil.commands.files import counted_releases, protect_file
    from microveil.measures.findings import custodian_lines

    options = task.get("options", {})
    folder = Path(task["folder"])
    release = protect_file(
        task["path"], folder, recipe=task["recipe"], progress=_steps(say), **options
    )
    custodian = folder.with_name(f"{folder.name}-custodian")
    counted = counted_releases(release, folder, options.get("ledger"))
    head = release.data.lazy().head(ROWS_SHOWN).collect()
    return {
        "folder": f"{folder}",
        "custodian": f"{custodian}",
        "files": {
            place: sorted(path.name for path in where.iterdir())
            for place, where in (("folder", folder), ("custodian", custodian))
        },
        "linkage": options.get("linkage", True),
        "guarantee": release.guarantee.to_dict(),
        "summary": release.guarantee.summary(),
        "notes": list(release.notes),
        "head": {
            "columns": head.columns,
            "rows": [["" if one is None else f"{one}" for one in row] for row in head.iter_rows()],
        },
        "counted": [] if counted is None else counted["in_words"],
        "custodian_lines": list(custodian_lines(release.manifest.to_dict())),
    }


TASKS: Mapping[str, Callable[[Task, Say], dict[str, Any]]] = {
    "inspect": inspected,
    "list": listed,
    "advise": advised,
    "compare": compared,
    "protect": protected,
}


def _steps(say: Say) -> Callable[[str], None]:
    return lambda step: say({"progress": step})
