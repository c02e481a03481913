"""The recipe: a request in a TOML file that a person fills in and a monthly run repeats.

::

    microveil = "0.2"
    method = "idp-cbls"
    k = 10
    epsilon = 1.0

    [attributes.INCOME]
    role = "confidential"
    type = "decimal"
    resolution = 0.01
    bounds = [0, 150000]

Attributes with the role quasi-identifier or confidential are protected if they hold numbers,
or text with its list of categories (``ordered = true`` where their order means something; in
no order for pram alone), and left out otherwise; non-confidential ones are kept as they are;
identifiers and attributes that the recipe does not name are left out.

A recipe says the version that it was written for. One of an earlier version that asks for what
means something else by now is refused: a monthly run must not change its meaning in silence.
"""

import datetime
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from microveil.errors import FileError, RequestError, stands_alone
from microveil.schema import Kind, Ordered, Role
from microveil.table import (
    Table,
    categories_seen,
    decimals_seen,
    likely_identifier,
    open_table,
)

__all__ = ["merged", "propose_recipe", "read_recipe"]

BY_COLUMN = ("bounds", "categories", "resolution", "budget", "types", "matrix")
Number = int | float
Point = int | float | datetime.date


# Of text with more different values than this none is shown: it is hardly one of categories.
MOST_CATEGORIES = 1000


class AttributeEntry(BaseModel):
    """What a recipe says of one attribute."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Literal["identifier", "quasi-identifier", "confidential", "non-confidential"]
    type: Literal["whole number", "decimal", "yes/no", "date", "text"]
    bounds: tuple[Point, Point] | list[str] | None = None
    categories: list[str | int | bool] | tuple[str, ...] | None = None
    ordered: bool | None = None
    resolution: Number | None = None
    budget: Number | None = None
    matrix: list[list[Number]] | Literal["invariant"] | None = None


class Recipe(BaseModel):
    """A recipe file."""

    model_config = ConfigDict(extra="forbid", strict=True)

    microveil: str | None = None
    method: str | None = None
    k: int | Literal["auto"] | None = None
    epsilon: Number | None = None
    scope: str | None = None
    outside: str | None = None
    missing: str | None = None
    exact_cells: str | None = None
    partition: str | None = None
    composition: str | None = None
    sensitivity: str | None = None
    blocks: list[list[str]] | None = None
    width: Number | None = None
    every: str | None = None
    noise: str | None = None
    isotonic: bool | None = None
    shuffle: bool | Literal["rows", "columns"] | None = None
    seed: int | None = None
    population: str | None = None
    attributes: dict[str, AttributeEntry] = {}


# The version whose recipes are read as they stand, and that of recipes that say none.
VERSION, UNSAID = (0, 2), (0, 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Change:
    """What recipes from before a version asked for that means something else since."""

    since: tuple[int, int]
    concerns: Callable[[Recipe], bool]
    words: str


CHANGES = (
    _Change(
        since=(0, 2),
        concerns=lambda recipe: recipe.method == "auto" and recipe.scope == "row",
        words='method = "auto" at row scope chose by the error expected on the table; it now '
        "weighs methods of differential privacy by public figures alone",
    ),
    _Change(
        since=(0, 2),
        concerns=lambda recipe: recipe.k == "auto" and recipe.missing == "keep",
        words='k = "auto" was chosen by the number of values present; it is now by the number of '
        "records",
    ),
    _Change(
        since=(0, 2),
        concerns=lambda recipe: recipe.method == "kanon-dp" and _numbers_protected(recipe) < 2,
        words="kanon-dp of one attribute drew noise as wide as its bounds times the number of "
        "clusters; it now draws noise as wide as its bounds",
    ),
)


@stands_alone
def read_recipe(recipe: str | Path | Mapping[str, Any]) -> dict[str, Any]:
    """Read a recipe file, or its contents, as arguments of `protect`.

    Parameters
    ----------
    recipe : str, Path or dict

    Raises
    ------
    FileError
        If the file cannot be read or is not TOML.
    RequestError
        If an entry is unknown or of the wrong kind.

    Examples
    --------
    >>> entry = {"role": "confidential", "type": "whole number", "bounds": [0, 120]}
    >>> read_recipe({"k": 10, "attributes": {"AGE": entry}})
    {'k': 10, 'types': {'AGE': 'whole number'}, 'attributes': ['AGE'], 'bounds': {'AGE': [0, 120]}}
    """
    contents = recipe if isinstance(recipe, Mapping) else _load(Path(recipe))
    try:
        parsed = Recipe.model_validate(_with_tuples(contents))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        raise RequestError(
            f"recipe, entry '{place}'",
            "it is unknown or of the wrong kind",
            "see microveil inspect for a recipe that is in order",
        ) from None
    _check_version(parsed)
    for name, entry in parsed.attributes.items():
        if entry.ordered is not None and entry.categories is None:
            raise RequestError(
                f"recipe, entry 'attributes.{name}.ordered'",
                "it says of categories whether their order means something, and none are listed",
                "list them as categories, or leave it out",
            )
    return _arguments(parsed, contents)


def _check_version(recipe: Recipe) -> None:
    """Refuse a recipe of a later version, and one of an earlier one whose meaning changed."""
    current = ".".join(map(str, VERSION))
    place, version = "recipe, entry 'microveil'", UNSAID
    if recipe.microveil is not None:
        if not re.fullmatch(r"[0-9]{1,6}[.][0-9]{1,6}([.][0-9]{1,6})?", recipe.microveil):
            raise RequestError(place, "it is a version", f'write microveil = "{current}"')
        major, minor = recipe.microveil.split(".")[:2]
        version = int(major), int(minor)
    if version > VERSION:
        raise RequestError(
            place,
            f"this is microveil {current}, and the recipe was written for a later version",
            "update microveil",
        )
    for change in CHANGES:
        if version < change.since and change.concerns(recipe):
            raise RequestError(
                place,
                f"the recipe was written for an earlier version, and means something else now: "
                f"{change.words}",
                f'if that is what you want, write microveil = "{current}" above everything else',
            )


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = f"{path}, line {line[1]}" if line else f"{path}"
        raise FileError(where, "a recipe must be a TOML file", "correct the line") from None
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path}", "the recipe cannot be read", "check path and rights") from None


def _with_tuples(contents: Mapping[str, Any]) -> dict[str, Any]:
    """TOML has lists where bounds are pairs."""
    attributes = contents.get("attributes", {})
    if not isinstance(attributes, Mapping):
        return dict(contents)
    paired = {
        name: {
            key: tuple(value) if key == "bounds" and _is_pair(value) else value
            for key, value in entry.items()
        }
        if isinstance(entry, Mapping)
        else entry
        for name, entry in attributes.items()
    }
    return {**contents, "attributes": paired}


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and not any(isinstance(part, str) for part in value)


def merged(recipe: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Let arguments override a recipe's; of those that go by column, column by column.

    >>> merged({"k": 5, "bounds": {"A": (0, 1), "B": (0, 1)}}, {"bounds": {"A": (0, 9)}})
    {'k': 5, 'bounds': {'A': (0, 9), 'B': (0, 1)}}
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    both = {**recipe, **given}
    for name in BY_COLUMN:
        if isinstance(recipe.get(name), Mapping) and isinstance(given.get(name), Mapping):
            both[name] = {**recipe[name], **given[name]}
    # One attribute has one domain: the one given goes before the recipe's.
    for name, other in (("bounds", "categories"), ("categories", "bounds")):
        if isinstance(recipe.get(name), Mapping) and isinstance(given.get(other), Mapping):
            both[name] = {
                column: value
                for column, value in both[name].items()
                if column not in given[other] or column in given.get(name, {})
            }
    wanted = given.get("attributes")
    if isinstance(wanted, list | tuple) and "budget" in recipe:
        # The recipe's weights of attributes that are not asked for this time fall away.
        asked = {part for entry in wanted for part in (entry, *str(entry).split(","))}
        kept = asked | set(given.get("budget", ()))
        both["budget"] = {name: weight for name, weight in both["budget"].items() if name in kept}
    return both


def _arguments(recipe: Recipe, contents: Mapping[str, Any]) -> dict[str, Any]:
    arguments = recipe.model_dump(exclude_none=True, exclude={"attributes", "microveil"})
    entries = recipe.attributes
    if not entries:
        return arguments
    chosen = _protected(recipe)
    kept = [name for name, entry in entries.items() if Role(entry.role) is Role.NON_CONFIDENTIAL]
    arguments["types"] = {name: entry.type for name, entry in entries.items()}
    # Even where nothing is left to protect: a recipe's silence chooses no column.
    arguments["attributes"] = chosen
    if kept:
        arguments["keep"] = kept
    for key in ("bounds", "resolution", "budget", "matrix"):
        # The objects as given: some are marked as read from the data.
        values = {
            name: contents["attributes"][name][key]
            for name in chosen
            if contents["attributes"][name].get(key) is not None
        }
        if values:
            arguments[key] = values
    listed = {
        name: Ordered(tuple(values)) if entries[name].ordered else values
        for name in chosen
        if (values := contents["attributes"][name].get("categories")) is not None
    }
    if listed:
        arguments["categories"] = listed
    return arguments


def _protected(recipe: Recipe) -> list[str]:
    """Name the attributes that a recipe asks to protect."""
    protected = (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
    return [
        name
        for name, entry in recipe.attributes.items()
        if Role(entry.role) in protected
        and (Kind(entry.type).is_numeric or entry.bounds or entry.categories)
    ]


def _numbers_protected(recipe: Recipe) -> int:
    kinds = (Kind(recipe.attributes[name].type) for name in _protected(recipe))
    return sum(kind.is_numeric for kind in kinds)


HEADER = """\
# A recipe for microveil, proposed from the columns of {source}. Please confirm every line.
#
# role        identifier        left out of the release
#             quasi-identifier  known to others, helps to find a person: protected
#             confidential      to be protected
#             non-confidential  released exactly as it is
# type        what the column must hold, now and at every later run
# resolution  the step to which values are rounded, 0.01 for cents
# bounds      the domain of the values as it is publicly known: a fact about the attribute,
#             never the smallest and largest value of the table, which would give two people
#             away. For you to fill in.
# categories  of text, and of numbers that are codes: every one that there is, as publicly known;
#             with ordered = true where they are listed in an order that means something.

microveil = "0.2"        # the version that this recipe was written for
method = "idp-cbls"
k = 10
epsilon = 1.0
outside = "error"        # or "clamp": move values outside the bounds to the nearer one
missing = "error"        # or "keep": release missing cells as missing
exact_cells = "refuse"   # or "widen": merge clusters of equal values with their neighbours,
                         # or "allow": publish them as they are
isotonic = false
shuffle = false          # or "rows"; "columns": each attribute by itself, in random order
# population = "..."     # who the people are: a ledger then counts all releases of theirs
"""


def propose_recipe(table: Any, source: str = "the table", *, show_values: bool = False) -> str:
    """Write a commented recipe for a table: what can be seen proposed, bounds left open.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    source : str
        How the comment names the table.
    show_values : bool
        Whether the categories seen stand in comments, for a person to confirm.

    Returns
    -------
    str
        TOML; `read_recipe` reads it. Unless values are asked for it holds none of the table's
        but the numbers of decimals and of categories seen, which it asks a person to confirm.
    """
    opened = open_table(table)
    shown = "".join(c if c.isprintable() else "?" for c in source)
    parts = [HEADER.format(source=shown)]
    parts += [_proposal(opened, name, show_values=show_values) for name in opened.names]
    return "\n".join(parts)


def _proposal(table: Table, name: str, *, show_values: bool) -> str:
    kind = table.kind(name)
    lines = [f"[attributes.{_quoted(name)}]"]
    if likely_identifier(table, name):
        lines.append('role = "identifier"             # whole numbers, all different')
    elif kind.is_numeric:
        lines.append('role = "confidential"')
    else:
        lines.append(
            'role = "quasi-identifier"       # no number: left out unless "non-confidential"'
        )
    lines.append(f'type = "{kind.value}"')
    if kind is Kind.DECIMAL:
        decimals = decimals_seen(table.numbers(name))
        step = "1" if decimals == 0 else f"{10.0**-decimals:.{decimals}f}"
        lines.append(f"resolution = {step}   # decimals seen in the data: confirm")
    if kind.is_numeric and kind is not Kind.BOOLEAN:
        example = "[1900-01-01, 2020-12-31]" if kind is Kind.DATE else "[0, 100000]"
        lines.append(f"# bounds = {example}")
    lines += _categories(table, name, show_values=show_values)
    return "\n".join(lines) + "\n"


def _categories(table: Table, name: str, *, show_values: bool) -> list[str]:
    """Say how many categories text has, and which where that is asked for: as comments."""
    seen = categories_seen(table, name)
    if not seen:
        return []
    if not show_values or len(seen) > MOST_CATEGORIES:
        return [f"# categories = [...]           # different values seen in the data: {len(seen)}"]
    listed = [f"#   {_string(category)}," for category in seen]
    return [
        "# categories = [               # seen in the data: confirm, and add what there is besides",
        *listed,
        "# ]",
        "# ordered = true               # if they are listed in an order that means something",
    ]


def _quoted(name: str) -> str:
    if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
        return name
    return _string(name)


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
    return f'"{plain}"'
