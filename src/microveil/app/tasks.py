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

from microveil.errors import RequestError

if TYPE_CHECKING:
    from microveil.files.text import TextFormat
    from microveil.guarantee import Guarantee

__all__ = [
    "OPTIONS",
    "TASKS",
    "Say",
    "Task",
    "advised",
    "compared",
    "inspected",
    "listed",
    "protected",
    "text_of",
]

# Of a list of categories in a field; the form is sent with those of all columns.
MOST_LETTERS = 50_000

Say = Callable[[Mapping[str, Any]], None]
Task = Mapping[str, Any]

# What a task to protect may say beside the recipe: arguments of `protect_file`.
OPTIONS = frozenset(
    {
        "bounds_alpha",
        "decimals_from_data",
        "escape_formulas",
        "format",
        "into",
        "ledger",
        "linkage",
        "overwrite",
        "public_report",
        "with_measurements",
    }
)


def inspected(task: Task, say: Say) -> dict[str, Any]:
    """Look at a file and propose a recipe: what `microveil inspect` prints, as entries.

    Parameters
    ----------
    task : dict
        ``path``; ``scope``, and of ``file`` separator, decimal and encoding, where they are said.
    say : callable
        Gets the progress.

    Returns
    -------
    dict
        ``name`` of the source, ``n_records``, ``columns``: by name the ``kind``, the ``entry``
        proposed and ``notes``, sentences about it; ``request``, what is proposed of the
        request; ``file``, how a file of text is written; ``unit``, a column whose values repeat
        like the numbers of households, or None; and the ``recipe`` as text. No value of the table.
    """
    from microveil.commands.files import look_at_file

    say({"progress": "reading the table"})
    source, found = look_at_file(task["path"], text_of(task.get("file")), scope=task.get("scope"))
    proposed = tomllib.loads(found.text)
    # In a form a person says what each column holds.
    kinds = {name: {"type": column.kind.value} for name, column in found.columns.items()}
    entries = {n: {**kinds[n], **e} for n, e in proposed.pop("attributes", {}).items()}
    steps = {name: column.step for name, column in found.columns.items() if column.step}
    if task.get("scope") != "row":  # where nothing is to hang on the data none is proposed
        entries = {
            name: {**entry, **({"resolution": float(steps[name])} if name in steps else {})}
            for name, entry in entries.items()
        }
    return {
        "name": source.name,
        "n_records": source.n_records,
        "columns": {
            name: {
                "kind": entry["type"],
                "entry": entry,
                "notes": list(found.remarks.get(name, ())),
            }
            for name, entry in entries.items()
        },
        "file": proposed.pop("file", None),
        "request": proposed,
        "unit": found.unit,
        "recipe": found.text,
    }


def text_of(written: Mapping[str, str] | None) -> "TextFormat":
    """Return how a file of text is written, by what a recipe says of it.

    Raises
    ------
    RequestError
        If it says what no file is written like.
    """
    from microveil.files.text import UNSAID

    return replace(UNSAID, **(written or {}))  # type: ignore[arg-type]


def listed(task: Task, say: Say) -> dict[str, Any]:
    """List the different values of a column of text: what `inspect --show-values` shows of it.

    Parameters
    ----------
    task : dict
        ``path``, ``column`` and, where they are said, ``file`` as for `inspected`,
        ``missing_codes`` of columns and ``missing_values``.
    say : callable
        Gets the progress.

    Returns
    -------
    dict
        ``column``, its ``values``, and how many there are in ``n_values``: of more than `inspect`
        shows, or than a form can send, none is listed.
    """
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
    """Say what to expect of a request, and what its release would guarantee.

    Parameters
    ----------
    task : dict
        ``path`` and ``recipe``.
    say : callable
        Gets the progress.

    Returns
    -------
    dict
        ``advice`` as `Advice.to_dict` has it, its ``text``, whether it is ``is_public``, why
        `protect` would refuse the request in ``refused``; the ``guarantee``, its ``summary`` and
        the ``notes`` on the plan. Figures of the advice depend on the data.
    """
    from microveil.commands.auditing import foresee_file

    advice, planned = foresee_file(task["path"], recipe=task["recipe"], progress=_steps(say))
    return {
        "advice": advice.to_dict(),
        "text": advice.to_text(),
        "is_public": advice.is_public,
        "refused": advice.refused,
        **_promised(planned.guarantee),
        "notes": list(planned.notes),
    }


def _promised(guarantee: "Guarantee") -> dict[str, Any]:
    return {"guarantee": guarantee.to_dict(), "summary": guarantee.summary()}


def compared(task: Task, say: Say) -> dict[str, Any]:
    """Compare methods on a table, in a folder for the time of it.

    Parameters
    ----------
    task : dict
        ``path``, ``recipe``, ``methods``, ``ks``, ``epsilons`` and ``runs``; ``jobs`` and
        ``linkage``, where they are said.
    say : callable
        Gets the runs done and the runs in all.

    Returns
    -------
    dict
        ``comparison`` as `Comparison.to_dict` has it, its ``answer`` as `Document.to_dict` has it,
        the ``report``, a page of HTML, and the ``picture``, an SVG, None where records are not
        linked. All of it depends on the data.
    """
    from microveil.commands.comparing import compare_file

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
            jobs=task.get("jobs"),
            linkage=task.get("linkage", True),
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
    """Protect the table of a file and write the release.

    Parameters
    ----------
    task : dict
        ``path``, ``recipe``, ``folder`` and ``options``, arguments of `protect_file`: see
        `OPTIONS`.
    say : callable
        Gets the progress.

    Returns
    -------
    dict
        ``folder`` and ``custodian``, the names of the ``files`` in each, whether records were to
        be linked in ``linkage``, the ``guarantee``, its
        ``summary``, the ``notes``, what the releases of the population come to in
        ``counted``, and the ``custodian_lines``, which depend on the data.

    Raises
    ------
    RequestError
        If there is no such option.
    """
    from microveil.commands.files import counted_releases, protect_file
    from microveil.measures.findings import custodian_lines

    options = dict(task.get("options") or {})
    for name in sorted(options.keys() - OPTIONS):
        rule = "a release has no such option"
        raise RequestError(f"option '{name}'", rule, f"choose from {', '.join(sorted(OPTIONS))}")
    folder = Path(task["folder"])
    release = protect_file(
        task["path"], folder, recipe=task["recipe"], progress=_steps(say), **options
    )
    custodian = folder.with_name(f"{folder.name}-custodian")
    counted = counted_releases(release, folder, options.get("ledger"))
    return {
        "folder": f"{folder}",
        "custodian": f"{custodian}",
        "files": {
            place: sorted(path.name for path in where.iterdir())
            for place, where in (("folder", folder), ("custodian", custodian))
        },
        "linkage": options.get("linkage", True),
        **_promised(release.guarantee),
        "notes": list(release.notes),
        "counted": [] if counted is None else list(counted.in_words()),
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
