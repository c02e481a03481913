"""Flags of the form NAME=VALUES, read once the columns of the table are known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from microveil.errors import RequestError
from microveil.protect.arguments import arguments as declared
from microveil.schema import Ordered
from microveil.table import unknown_column

__all__ = ["split_pairs", "with_named_values"]


def with_named_values(arguments: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return arguments of `protect` with what flags say of single columns as mappings by name.

    Those whose flags go by column, ``bounds`` for example, may be lists of NAME=VALUES; so may
    ``ordered``, which goes into the categories. Of two entries for one column the last counts.

    >>> with_named_values({"bounds": ["a=0:9"], "ordered": ["b=c=low,high"]}, ["a", "b", "b=c"])
    {'bounds': {'a': ('0', '9')}, 'categories': {'b=c': Ordered(values=('low', 'high'))}}
    """
    found = {name: value for name, value in arguments.items() if name != "ordered"}
    of_columns = [argument.name for argument in declared() if argument.flag is dict]
    for name in sorted(of_columns, key=lambda name: name == "categories"):
        if isinstance(found.get(name), list | tuple):
            found[name] = _by_column(name, found[name], columns)
    if arguments.get("ordered"):
        lists = _by_column("ordered", arguments["ordered"], columns)
        others = found.get("categories") or {}
        if twice := sorted(set(lists) & set(others)):
            raise RequestError(
                f"--ordered {twice[0]}", "its categories are given already", "list them once"
            )
        ordered = {name: Ordered(tuple(listed)) for name, listed in lists.items()}
        found["categories"] = {**others, **ordered}
    return found


def _by_column(name: str, given: Iterable[str], columns: Sequence[str]) -> dict[str, Any]:
    """Read the entries of a flag."""
    flag = f"--{name.replace('_', '-')}"
    pairs, read = split_pairs(given, flag, columns), READ.get(name)
    return {column: read(flag, column, value) if read else value for column, value in pairs.items()}


def split_pairs(given: Iterable[str], flag: str, columns: Sequence[str]) -> dict[str, str]:
    """Split NAME=VALUES entries behind the longest name that a column of the table has.

    >>> split_pairs(["AGE=0:120", "a=b=-9:9"], "--bounds", ["AGE", "a", "a=b"])
    {'AGE': '0:120', 'a=b': '-9:9'}
    >>> split_pairs(["income=<=50K,>50K"], "--categories", ["income"])
    {'income': '<=50K,>50K'}
    """
    pairs: dict[str, str] = {}
    for entry in given:
        begun, equals, _ = entry.partition("=")
        if not equals or not begun:
            raise RequestError(
                f"{flag} {entry}", "it wants a column and a value", "write NAME=VALUE"
            )
        name = max((c for c in columns if entry.startswith(f"{c}=")), key=len, default=None)
        if name is None:
            raise unknown_column(begun, columns)
        pairs[name] = entry[len(name) + 1 :]
    return pairs


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
