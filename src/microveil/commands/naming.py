"""What flags say of single columns, and lists of columns with commas, once these are known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from microveil.errors import Problems, RequestError
from microveil.protect.arguments import arguments as known_arguments
from microveil.schema import Ordered
from microveil.table import unknown_column

LISTS = ("attributes", "keep", "unit_attributes", "never_missing")


def resolve_names(given: Iterable[str], columns: Sequence[str]) -> list[str]:
    """Split lists at their commas, but for names that hold commas."""
    names: list[str] = []
    for entry in given:
        names += [entry] if entry in columns else [part.strip() for part in entry.split(",")]
    return names


def with_named_values(
    arguments: Mapping[str, Any], columns: Sequence[str], problems: Problems | None = None
) -> dict[str, Any]:
    """Return arguments of `protect` with what flags say of single columns as mappings by name.

    Lists of columns are split at their commas, and ``ordered`` goes into the categories; of two
    entries for one column the last counts.
    """
    wrong = Problems()
    found = {name: value for name, value in arguments.items() if name != "ordered"}
    of_columns = [name for name, own in known_arguments().items() if own.flag is dict]
    for name in sorted(of_columns, key=lambda name: name == "categories"):
        if isinstance(found.get(name), list | tuple):
            found[name] = _by_column(name, found[name], columns, wrong)
    if arguments.get("ordered"):
        lists = _by_column("ordered", arguments["ordered"], columns, wrong)
        others = found.get("categories") or {}
        for name in sorted(set(lists) & set(others)):
            wrong.add(f"--ordered {name}", "its categories are given already", "list them once")
        ordered = {name: Ordered(tuple(listed)) for name, listed in lists.items()}
        found["categories"] = {**others, **ordered}
    wrong.refuse(into=problems)
    for name in LISTS:
        if isinstance(found.get(name), list | tuple):
            found[name] = resolve_names(found[name], columns)
    return found


def _by_column(
    name: str, given: Iterable[str], columns: Sequence[str], problems: Problems
) -> dict[str, Any]:
    """Read the entries of a flag; those that are wrong are taken down."""
    flag = f"--{name.replace('_', '-')}"
    found, read = dict[str, Any](), READ.get(name)
    for entry in given:
        with problems.noted():
            column, value = split_pair(entry, flag, columns)
            found[column] = read(flag, column, value) if read else value
    return found


def split_pair(entry: str, flag: str, columns: Sequence[str]) -> tuple[str, str]:
    """Split a NAME=VALUES entry behind the longest name that a column of the table has."""
    begun, equals, _ = entry.partition("=")
    if not equals or not begun:
        raise RequestError(f"{flag} {entry}", "it wants a column and a value", "write NAME=VALUE")
    name = max((c for c in columns if entry.startswith(f"{c}=")), key=len, default=None)
    if name is None:
        raise unknown_column(begun, columns)
    return name, entry[len(name) + 1 :]


def _ends(flag: str, name: str, value: str) -> tuple[str, ...]:
    parts = tuple(value.split(":"))
    if len(parts) < 2:
        raise RequestError(f"{flag} {name}", "bounds are two values", f"write {name}=LOWER:UPPER")
    return parts


def _list(flag: str, name: str, value: str) -> list[str]:
    """Read a list; an entry with a comma in it needs a recipe."""
    parts = value.split(",")
    if not all(parts):
        is_code = flag == "--missing-codes"
        noun, example = ("code", "-9,-8") if is_code else ("category", "North,South")
        raise RequestError(
            f"{flag} {name}",
            f"a {noun} is empty",
            f"write {name}={example}; one that holds a comma can be listed in a recipe",
        )
    return parts


READ: Mapping[str, Callable[[str, str, str], Any]] = {
    "bounds": _ends, "missing_codes": _list, "categories": _list, "ordered": _list,
}  # fmt: skip
