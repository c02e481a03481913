"""Flags of the form NAME=VALUES, read once the columns of the table are known."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from microveil.errors import RequestError
from microveil.protect.arguments import arguments as declared
from microveil.schema import Ordered
from microveil.table import unknown_column

__all__ = ["split_pairs", "with_named_values"]


def with_named_values(arguments: Mapping[str, Any], columns: Sequence[str]) -> dict[str, Any]:
    """Return arguments with what flags say of single columns as mappings by name.

    Parameters
    ----------
    arguments : dict
        Of `protect`. Those whose flags go by column, ``bounds`` for example, may be lists of
        NAME=VALUES; so may ``ordered``, which goes into the categories.
    columns : sequence of str
        Of the table.

    Raises
    ------
    RequestError
        If an entry names no column or has no values of the form it wants. Of two entries for
        one column the last counts.

    Examples
    --------
    >>> with_named_values({"bounds": ["a=0:9"], "ordered": ["b=c=low,high"]}, ["a", "b", "b=c"])
    {'bounds': {'a': ('0', '9')}, 'categories': {'b=c': Ordered(values=('low', 'high'))}}
    """
    found = {name: value for name, value in arguments.items() if name != "ordered"}
    of_columns = (argument.name for argument in declared() if argument.flag is dict)
    for name in of_columns:
        if name != "categories" and _is_flag(found.get(name)):
            flag = f"--{name.replace('_', '-')}"
            found[name] = split_pairs(found[name], flag, columns)
            if name == "bounds":
                found[name] = {column: _ends(column, ends) for column, ends in found[name].items()}
            if name == "missing_codes":
                found[name] = {
                    column: _list(column, flag, codes, "code")
                    for column, codes in found[name].items()
                }
    categories = found.get("categories")
    if categories is not None and _is_flag(categories):
        pairs = split_pairs(categories, "--categories", columns)
        found["categories"] = {name: _list(name, "--categories", v) for name, v in pairs.items()}
    if arguments.get("ordered"):
        pairs = split_pairs(arguments["ordered"], "--ordered", columns)
        listed = {name: Ordered(tuple(_list(name, "--ordered", v))) for name, v in pairs.items()}
        others = found.get("categories") or {}
        if twice := sorted(set(listed) & set(others)):
            raise RequestError(
                f"--ordered {twice[0]}", "its categories are given already", "list them once"
            )
        found["categories"] = {**others, **listed}
    return found


def _is_flag(value: Any) -> bool:
    return isinstance(value, list | tuple)


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


def _ends(name: str, value: str) -> tuple[str, ...]:
    parts = tuple(value.split(":"))
    if len(parts) < 2:
        raise RequestError(f"--bounds {name}", "bounds are two values", f"write {name}=LOWER:UPPER")
    return parts


def _list(name: str, flag: str, value: str, noun: str = "category") -> list[str]:
    """Read a list; an entry with a comma in it needs a recipe."""
    parts = value.split(",")
    if not all(parts):
        example = "-9,-8" if noun == "code" else "North,South"
        raise RequestError(
            f"{flag} {name}",
            f"a {noun} is empty",
            f"write {name}={example}; one that holds a comma can be listed in a recipe",
        )
    return parts
