"""The parts of the docs that are made of the code: ``make docs`` writes them, a test checks them.

A page holds such a part between two comments::

    <!-- made by make docs: NAME -->
    <!-- made -->
"""

import ast
import math
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from microveil.files import Format
    from microveil.files.formats import Carries
    from microveil.protect.arguments import Argument

from microveil.measures.base import Measure
from microveil.measures.registry import MEASURES

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PART = re.compile(
    r"(?<=<!-- made by make docs: )([a-z-]+)( -->\n)(.*?)(?=<!-- made -->)", flags=re.DOTALL
)
# What is asked in Python and recipes alone.
NO_FLAG = "Without a flag"


def words() -> list[str]:
    """Say what the words of the page mean, as the page itself does."""
    from microveil.app.drafts import WORDS

    return "\n\n".join(
        f"**{word}**: {said}" for word, said in WORDS["glossary"].items()
    ).splitlines()


def layers() -> list[str]:
    """Make the table of layers of the contract on imports, the lowest first."""
    rules = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]
    floors = reversed(rules["contracts"][0]["layers"])
    rows = [
        f"|{number}|`{room}`|{_subject(room)}|"
        for number, floor in enumerate(floors, start=1)
        for room in re.split(r" [|:] ", floor)
    ]
    return ["|layer|room|what it is for|", "|---|---|---|", *rows]


def _subject(room: str) -> str:
    """Return the first sentence of a room's own docstring."""
    place = ROOT / "src" / "microveil" / room
    path = place / "__init__.py" if place.is_dir() else place.with_suffix(".py")
    said = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return said.splitlines()[0].removesuffix(".")


def arguments() -> list[str]:
    """Make the table of what may be asked of a release, in the groups of the command line."""
    from microveil.cli.flags import GROUPS, OWN
    from microveil.protect.arguments import arguments as declared

    groups: dict[str, list[str]] = {title: [] for title in (*GROUPS, NO_FLAG)}
    of_flags = {name: title for title, names in GROUPS.items() for name in names.split()}
    for a in declared().values():
        first = next((flag.replace("_", "-") for flag in a.flags), None)
        cells = [f"`{a.name}`", _flags(a), _entry(a), *_values(a), _methods(a)]
        title = NO_FLAG if first is None else of_flags.get(first, OWN)  # as in the help
        groups[title].append(f"|{'|'.join(cells)}|")
    rows = [row for title, own in groups.items() if own for row in (f"|**{title}**||||||", *own)]
    return ["|argument|flag|in a recipe|takes|default|methods|", "|---|---|---|---|---|---|", *rows]


def _flags(argument: "Argument") -> str:
    written = []
    for flag, (taken, _) in argument.flags.items():
        name = flag.replace("_", "-")
        written.append(f"`--{name}{' NAME=VALUES' if taken is dict else ''}`")
        written += [f"`--no-{name}`"] if taken is bool and flag == argument.name else []
    return ", ".join(written) or "-"


def _entry(argument: "Argument") -> str:
    return f"`{argument.column}` of an attribute" if argument.column else f"`{argument.name}`"


def _values(argument: "Argument") -> tuple[str, str]:
    """Say what it takes and what its default is, method by method where they differ."""
    from microveil.methods import METHODS
    from microveil.protect.request import offered

    own = {m.id: a for m in METHODS.values() for a in offered(m) if a.name == argument.name}
    offered = {name: a for name, a in own.items() if a.choices} or {"": argument}
    takes = {name: _choices(a) or a.takes for name, a in offered.items()}
    defaults = {name: _default(a.default) for name, a in offered.items()}
    return _by_method(takes), _by_method(defaults)


def _choices(argument: "Argument") -> str:
    return ", ".join(f"`{choice}`" for choice in argument.choices)


def _default(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"`{value}`" if value else "-"


def _by_method(words: Mapping[str, str]) -> str:
    if len({*words.values()}) == 1:
        return next(iter(words.values()))
    return "; ".join(f"{name}: {word}" for name, word in words.items())


def _methods(argument: "Argument") -> str:
    from microveil.methods import METHODS

    using = [name for name, method in METHODS.items() if method.uses(argument.name)]
    others = [name for name in METHODS if name not in using]
    if not others:
        return "every"
    few = len(others) < len(using)
    return f"every but {', '.join(others)}" if few else ", ".join(using)


def methods() -> list[str]:
    """Make the table of the methods: what each is, needs and offers, and its source."""
    from microveil.methods import methods as listed

    rows = [
        f"|[`{one['id']}`](methods/{_page(one['id'])}.md)|{one['title']}|"
        f"{', '.join(f'`{name}`' for name in one['needs'])}|"
        f"{', '.join(f'`{name}`' for name in one['offers']) or '-'}|{one['source']}|"
        for one in listed()
    ]
    return ["|method|what it is|needs|offers|source|", "|---|---|---|---|---|", *rows]


def _page(method: str) -> str:
    """Return the page of a method: its own, or one whose first line names it."""
    folder = ROOT / "docs" / "methods"
    if (folder / f"{method}.md").exists():
        return method
    named = re.compile(rf"(?<![\w-]){method}(?![\w-])")
    pages = sorted(folder.glob("*.md"))
    found = [own.stem for own in pages if named.search(own.read_text("utf-8").splitlines()[0])]
    if not found:
        raise LookupError(f"{method} has no page: write docs/methods/{method}.md")
    return found[0]


def measures() -> list[str]:
    """Make the table of all measures: what they are of, how they are read, and their range."""
    rows = [
        f"|`{measure.id}`|{measure.label}|{measure.meaning}|{_range(measure)}|"
        for measure in MEASURES.values()
    ]
    return ["|id|measure|how it is read|range|", "|---|---|---|---|", *rows]


def _range(measure: Measure) -> str:
    low, high = measure.lowest, measure.highest
    unit = f" {measure.unit}" if measure.unit else ""
    if math.isinf(low):
        return "any" if math.isinf(high) else f"at most {high:g}{unit}"
    return f"{low:g}{unit} or more" if math.isinf(high) else f"{low:g} to {high:g}{unit}"


def formats() -> list[str]:
    """Make the table of the formats of files: what each is called, and how its files are named."""
    from microveil.files import FORMATS

    rows = [
        f"|`{form.name}`|{form.title}{f', {form.compression}' if form.compression else ''}|"
        f"{', '.join(f'`{suffix}`' for suffix in form.suffixes)}|{_released(form)}|"
        f"{_types(form)}|{_labels_kept(form)}|"
        for form in FORMATS.values()
    ]
    head = (
        "|`--format`|what it is|names of files end with|a release's file|columns|"
        "labels that it has a place for|"
    )
    return [head, "|---|---|---|---|---|---|", *rows]


def _released(form: "Format") -> str:
    return f"`data{form.suffixes[0]}`" if form.is_written else "read alone"


def _types(form: "Format") -> str:
    if form.has_types:
        return "typed"
    return "text" if form.is_text else "read as text"


def _labels_kept(form: "Format") -> str:
    words = {
        "column": "of columns",
        "codes": "of whole numbers",
        "text codes": "of text",
        "missing codes": "missing codes",
    }
    return ", ".join(shown for part, shown in words.items() if part in form.carries.labels) or "-"


def limits() -> list[str]:
    """Make the table of what files can hold, of the formats that cannot hold everything."""
    from microveil.files import FORMATS
    from microveil.files.formats import ANYTHING

    limited = {form.title: form.carries for form in FORMATS.values() if form.is_written}
    shown = {title: own for title, own in limited.items() if own != ANYTHING}
    rows = [
        f"|{what}|{'|'.join(say(own) or 'any' for own in shown.values())}|"
        for what, say in _LIMITS.items()
    ]
    return [f"||{'|'.join(shown)}|", "|---" * (len(shown) + 1) + "|", *rows]


def _longest(part: str) -> "Callable[[Carries], str]":
    return lambda own: str(own.labels.get(part, "in schema.json"))


_LIMITS: "Mapping[str, Callable[[Carries], str | None]]" = {
    "a column's name": lambda own: own.names and f"{own.names.most}",
    "whole numbers": lambda own: f"within 2^{math.log2(own.whole or 2**63):.0f}",
    "decimal numbers": lambda own: own.decimal and f"within {own.decimal:.2g}",
    "yes and no": lambda own: None if own.has_truths else "as 1 and 0",
    "years of dates": lambda own: f"{own.first_year} to 9999",
    "moments": lambda own: own.moments and f"whole {own.moments}",
    "text": lambda own: own.text and f"{own.text}",
    "records": lambda own: own.records and f"{own.records:,}",
    "columns": lambda own: own.columns and f"{own.columns:,}",
    "label of a column": _longest("column"),
    "label of a number": _longest("codes"),
    "label of text": _longest("text codes"),
    "missing code that is text": _longest("missing codes"),
}


def round_trips() -> list[str]:
    """Make the table of what formats change: each column that some format does not keep."""
    from microveil.files import FORMATS
    from round_trips import COLUMNS, LABELS, fate, fate_of_labels

    titles: dict[str, list[str]] = {}
    for form in (form for form in FORMATS.values() if form.is_written):
        if form.title in titles:
            continue  # compressed it keeps the same: see tests/contract/test_round_trips.py
        titles[form.title] = [fate(column, form) for column in COLUMNS.values()]
        titles[form.title] += [fate_of_labels(*said, form) for said in LABELS.values()]
    rows = []
    for number, shown in enumerate([*COLUMNS, *(f"labels: {said}" for said in LABELS)]):
        changed: dict[str, list[str]] = {}
        for title, cells in titles.items():
            changed.setdefault(cells[number], []).append(title)
        changed.pop("kept", None)
        if changed:
            said = "; ".join(f"{', '.join(where)}: {what}" for what, where in changed.items())
            rows.append(f"|{shown}|{said}|")
    return ["|a column of|what changes where|", "|---|---|", *rows]


def conditions() -> list[str]:
    """Make the table of conditions: what each is about, and when a guarantee has it."""
    from microveil.guarantee.condition import WORDS

    own = {name: entry for name, entry in WORDS.items() if "id" not in entry}
    rows = [
        f"|`{name}`|{re.sub(r':? [(]?{[^}]*}[)]?', '', entry['short'])}|{entry['when']}|"
        for name, entry in own.items()
    ]
    return ["|condition|taken as given, or left out|when|", "|---|---|---|", *rows]


PARTS: Mapping[str, Callable[[], list[str]]] = {
    "arguments": arguments,
    "conditions": conditions,
    "formats": formats,
    "limits": limits,
    "layers": layers,
    "measures": measures,
    "methods": methods,
    "round-trips": round_trips,
    "words": words,
}


def made(page: Path) -> str:
    """Return a page with its parts as the code has them now."""
    return PART.sub(
        lambda part: f"{part[1]}{part[2]}\n" + "\n".join([*PARTS[part[1]](), "", ""]),
        page.read_text("utf-8"),
    )


def main() -> None:
    """Write every page that has changed, and name it."""
    for page in PAGES:
        text = made(page)
        if text != page.read_text("utf-8"):
            page.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{page.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
