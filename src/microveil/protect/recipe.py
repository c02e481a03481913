"""The recipe: a request in a TOML file that a person fills in and a monthly run repeats.

::

    microveil = "0.3"
    method = "idp-cbls"
    k = 10
    epsilon = 1.0

    [attributes.INCOME]
    role = "confidential"
    type = "decimal"
    resolution = 0.01
    bounds = [0, 150000]

Attributes with the role quasi-identifier or confidential are protected if they hold numbers, or
text whose categories are listed (``ordered = true`` where their order means something), learnt or
accepted; non-confidential ones are kept; identifiers, weights and attributes that are not named are
left out. ``[[parts]]`` are those of `parts`, ``[file]`` says how a file of text is written.

A recipe says the version that it was written for. One of an earlier version that asks for what
means something else by now is refused: a monthly run must not change its meaning in silence.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from functools import cache, partial
from pathlib import Path
from types import GenericAlias
from typing import Annotated, Any, Literal

from microveil.errors import FileError, Problems, RequestError, gap, stands_alone
from microveil.protect.arguments import DECLARED, Argument, Point, arguments
from microveil.schema import Kind, Ordered, Role
from microveil.table import CategoriesFromData

Recipe = str | Path | Mapping[str, Any]

# What gaps are closed by; see `microveil.errors`.
OF_COLUMNS, OF_ALL = ("bounds", "resolution", "categories"), ("epsilon", "k")
# How deep the entries of its tables lie: attributes.AGE.bounds.
DEPTHS: Mapping[Any, int] = {"attributes": 3, "parts": 3, "file": 2}
# What stands in a recipe for what a flag takes.
ENTRIES = {str: str, int: int, float: int | float, bool: bool, list: list[str]}
# What stands for the role and the type of an attribute as long as these are of another form.
INSTEAD = {"role": Role.CONFIDENTIAL.value, "type": Kind.DECIMAL.value}
# The version of recipes that are written, that of recipes that say none, and the first whose
# recipes mean what they meant.
VERSION, UNSAID, CHANGED = (0, 3), (0, 1), (0, 2)


@cache
def _form(known: tuple[Argument, ...]) -> Any:
    """Make the form of a recipe: an entry for each argument, of its very kind, and no other."""
    # It takes as long to load as the rest of a release, which needs none where no file is read.
    from pydantic import ConfigDict, Strict, create_model

    made = partial(create_model, __config__=ConfigDict(extra="forbid", strict=True))
    text = (str | None, None)
    # How the file is written that a recipe was proposed for, where it is one of text.
    of_file = made(
        "FileEntries", separator=text, decimal=text, encoding=text, dates=text, thousands=text
    )
    top: dict[str, Any] = {"microveil": text, "file": (of_file | None, None)}
    of_attribute: dict[str, Any] = {"role": (Literal[*(role.value for role in Role)], ...)}
    of_part: dict[str, Any] = {"attributes": (list[str], ...)}
    for argument in known:
        if argument.column == "role":
            continue
        entry = (argument.entry or ENTRIES[argument.flag or str]) | None
        if argument.by_column:
            of_attribute[argument.column] = (entry, None)
        else:
            top[argument.name] = (entry, None)
        if argument.of_part:
            of_part[argument.name] = (entry, None)
    # Where the kinds of a file's columns are learnt, none is stated.
    of_attribute["type"] = (DECLARED["types"].entry | None, None)
    of_attribute["ordered"] = of_attribute["categories_from_data"] = (bool | None, None)
    # TOML has lists and no pairs.
    pair = Annotated[tuple[Point, Point], Strict(False)]  # noqa: FBT003 -- as it is read
    of_attribute["bounds"] = (pair | list[str] | None, None)
    attribute = made("Attribute", **of_attribute)
    top["attributes"] = (GenericAlias(dict, (str, attribute)), {})
    part = made("Part", **of_part)
    top["parts"] = (GenericAlias(list, (part,)) | None, None)
    return made("Recipe", **top)


def _numbers_protected(asked: Mapping[str, Any]) -> int:
    types = asked.get("types", {})
    return sum(Kind(types[n]).is_numeric for n in asked.get("attributes", ()) if n in types)


# What recipes from before 0.2 asked for that means something else since: how their arguments
# show it, and what changed.
CHANGES: tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...] = (
    (
        lambda asked: (asked.get("method"), asked.get("scope")) == ("auto", "row"),
        (
            'method = "auto" at row scope chose by the error expected on the table; it now '
            "weighs methods of differential privacy by public figures alone"
        ),
    ),
    (
        lambda asked: (asked.get("k"), asked.get("missing")) == ("auto", "keep"),
        'k = "auto" was chosen by the number of values present; it is now by the number of records',
    ),
    (
        lambda asked: asked.get("method") == "kanon-dp" and _numbers_protected(asked) < 2,
        (
            "kanon-dp of one attribute drew noise as wide as its bounds times the number of "
            "clusters; it now draws noise as wide as its bounds"
        ),
    ),
)


@stands_alone
def read_recipe(recipe: Recipe, problems: Problems | None = None) -> dict[str, Any]:
    """Read a recipe file, or its contents, as arguments of `protect`.

    What is wrong is taken down among ``problems``, and the rest returned; or it is raised.

    >>> entry = {"role": "confidential", "type": "whole number", "bounds": [0, 120]}
    >>> read_recipe({"k": 10, "attributes": {"AGE": entry}})
    {'k': 10, 'types': {'AGE': 'whole number'}, 'attributes': ['AGE'], 'bounds': {'AGE': [0, 120]}}
    """
    found = Problems()
    contents, written = _contents(recipe, found)
    written.pop("file", None)  # said of the file, and no argument
    version, entries = written.pop("microveil", None), written.pop("attributes")
    learns = bool(written.get("delta")) and written.get("domains") != "declared"
    has_lists = learns or not {"accept", "codebook"}.isdisjoint(written)
    of_attributes = partial(_of_attributes, has_lists=has_lists)
    asked = written | (of_attributes(entries, contents["attributes"]) if entries else {})
    wrong = {problem.place for problem in found}
    for name in (n for n in entries if f"recipe, entry 'attributes.{n}.type'" in wrong):
        del asked["types"][name]  # what its column holds is for the table to say
    found += _of_parts(asked.get("parts", ()), entries)
    if "parts" in asked:
        asked.pop("attributes", None)  # the parts name them
    found += [*_of_version(version, asked), *_of_entries(entries)]
    found.refuse(into=problems)
    return asked


@stands_alone
def file_of_recipe(recipe: Recipe, problems: Problems | None = None) -> dict[str, str]:
    """Read what a recipe says of how the file is written: its `TextFormat`."""
    found = Problems()
    _, written = _contents(recipe, found)
    found.refuse(into=problems)
    return written.get("file") or {}


@stands_alone
def roles_of_recipe(recipe: Recipe) -> dict[str, Role]:
    """Read what each attribute of a recipe is to whoever would find a person."""
    found = Problems()
    _, written = _contents(recipe, found)
    found.refuse()
    return {name: Role(entry["role"]) for name, entry in written["attributes"].items()}


def _contents(recipe: Recipe, problems: Problems) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """Return a recipe as it stands, and what it says; what has another form is left out of both."""
    if not isinstance(recipe, Mapping | str | Path):
        rule = "it is a file or what one holds"
        raise RequestError("recipe", rule, "pass recipe='recipe.toml', or a dict")
    contents = recipe if isinstance(recipe, Mapping) else _load(Path(recipe))
    contents = _without_dots(contents, problems)
    parsed, odd = _parsed(contents)
    rule = "it is unknown or of the wrong kind"
    remedy = "see microveil inspect for a recipe that is in order"
    for place in odd.values():
        problems.add(f"recipe, entry '{place}'", rule, remedy)
    while odd:  # what is left may show more
        contents = _without(contents, odd)
        parsed, odd = _parsed(contents)
    assert parsed is not None  # noqa: S101 -- a recipe of nothing is in order
    return contents, parsed.model_dump(exclude_none=True)


def _parsed(contents: Mapping[str, Any]) -> tuple[Any, dict[tuple[Any, ...], str]]:
    """Hold a recipe against its form; or return its entries of another form, each with its path."""
    from pydantic import ValidationError

    try:
        return _form(arguments()).model_validate(dict(contents)), {}
    except ValidationError as error:
        places: dict[tuple[Any, ...], str] = {}
        for found in error.errors(include_url=False, include_input=False):
            # Behind an entry stands what it might have been, an error for each.
            entry = found["loc"][: DEPTHS.get(found["loc"][0], 1)]
            places[entry] = ".".join(map(str, entry))
        return None, places


def _without(contents: Mapping[str, Any], places: Iterable[tuple[Any, ...]]) -> dict[str, Any]:
    """Leave entries out of a recipe; a column is then protected, as what its table says it is."""
    left = deepcopy(dict(contents))
    for *path, last in places:
        inner: Any = left
        for key in path:
            inner = inner[key]
        if len(path) == 2 and last in INSTEAD:
            inner[last] = INSTEAD[last]
        elif path[:1] == ["parts"]:
            left.pop("parts", None)
        else:
            inner.pop(last, None)
    return left


def is_open(value: Any) -> bool:
    """Tell whether a value is dots, or has some among its parts.

    >>> is_open((..., ...)), is_open("..."), is_open(["north", "..."]), is_open((0, 9))
    (True, True, True, False)
    """
    if isinstance(value, Ordered):
        value = value.values
    if isinstance(value, tuple | list):
        return any(map(is_open, value))
    return value is ... or (isinstance(value, str) and value == "...")


def to_fill_in(argument: str, name: str = "") -> RequestError:
    """Return the error about dots that were left as they are."""
    place = f"{argument} of '{name}'" if name else argument
    rule, remedy = "the dots stand for what you have to say", "fill them in, or leave it out"
    if argument in (*OF_COLUMNS, *OF_ALL):
        return gap(argument, name, place, rule, remedy)
    return RequestError(place, rule, remedy)


def _without_dots(contents: Mapping[str, Any], problems: Problems) -> Mapping[str, Any]:
    """Leave out what a recipe says in dots, which are still to be filled in."""
    of_all = [name for name in OF_ALL if is_open(contents.get(name))]
    problems += map(to_fill_in, of_all)
    contents = {name: value for name, value in contents.items() if name not in of_all}
    entries = contents.get("attributes")
    if not isinstance(entries, Mapping):
        return contents
    left = {
        name: {key: value for key, value in entry.items() if not is_open(value)}
        for name, entry in entries.items()
        if isinstance(entry, Mapping)
    }
    for name, entry in left.items():
        problems += [to_fill_in(key, name) for key in entries[name] if key not in entry]
    return {**contents, "attributes": {**entries, **left}}


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = f"{path}, line {line[1]}" if line else f"{path}"
        raise FileError(where, "a recipe must be a TOML file", "correct the line") from None
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path}", "the recipe cannot be read", "check path and rights") from None


def _of_version(written: str | None, asked: Mapping[str, Any]) -> Iterator[RequestError]:
    """Refuse a recipe of a later version, and one of an earlier one whose meaning changed."""
    current = ".".join(map(str, VERSION))
    place, version = "recipe, entry 'microveil'", UNSAID
    if written is not None:
        if not re.fullmatch(r"[0-9]{1,6}[.][0-9]{1,6}([.][0-9]{1,6})?", written):
            yield RequestError(place, "it is a version", f'write microveil = "{current}"')
            return
        major, minor = written.split(".")[:2]
        version = int(major), int(minor)
    if version > VERSION:
        yield RequestError(
            place,
            f"this is microveil {current}, and the recipe was written for a later version",
            "update microveil",
        )
    for concerns, words in CHANGES if version < CHANGED else ():
        if concerns(asked):
            yield RequestError(
                place,
                f"the recipe was written for an earlier version, and means something else now: "
                f"{words}",
                f'if that is what you want, write microveil = "{current}" above everything else',
            )


def _of_entries(entries: Mapping[str, Mapping[str, Any]]) -> Iterator[RequestError]:
    """Refuse words on categories that are none, or that have an order and were read off."""
    for name, entry in entries.items():
        if "ordered" in entry and "categories" not in entry:
            yield RequestError(
                f"recipe, entry 'attributes.{name}.ordered'",
                "it says of categories whether their order means something, and none are listed",
                "list them as categories, or leave it out",
            )
        is_list = "categories" in entry and not entry.get("ordered")
        if entry.get("categories_from_data") and not is_list:
            yield RequestError(
                f"recipe, entry 'attributes.{name}.categories_from_data'",
                "it says of a list of categories, in no order, that it was read from the data",
                "list the categories, without ordered = true, or leave it out",
            )


def _of_parts(
    parts: Iterable[Mapping[str, Any]], entries: Mapping[str, Mapping[str, Any]]
) -> Iterator[RequestError]:
    """Refuse parts that protect what the roles of the same recipe leave out, or keep."""
    for name in (name for part in parts for name in part["attributes"]):
        role = entries[name]["role"] if name in entries else None
        if role in (Role.IDENTIFIER, Role.NON_CONFIDENTIAL, Role.WEIGHT):
            fate = "kept as it is" if role == Role.NON_CONFIDENTIAL else "left out"
            yield RequestError(
                f"recipe, part of '{name}'",
                f"its role is {role}: it is {fate}",
                'write role = "confidential" in its entry, or take it out of the part',
            )


def _of_attributes(
    entries: Mapping[str, Mapping[str, Any]], given: Mapping[str, Any], *, has_lists: bool
) -> dict[str, Any]:
    """Make arguments of what a recipe says of attributes.

    Values are the objects as given: some are marked as read from the data. Text needs no list of
    categories in the recipe where these are learnt, or accepted as the file declares them.
    """
    chosen = [name for name, entry in entries.items() if _is_protected(entry, has_lists=has_lists)]
    kept = [name for name, entry in entries.items() if entry["role"] == Role.NON_CONFIDENTIAL]
    # Attributes even where nothing is left to protect: a recipe's silence chooses no column.
    asked: dict[str, Any] = {
        "types": {name: entry["type"] for name, entry in entries.items() if "type" in entry},
        "attributes": chosen,
        **({"keep": kept} if kept else {}),
    }
    for argument in arguments():
        if not argument.by_column or argument.name in asked:
            continue
        key = argument.column
        values = {n: given[n][key] for n in chosen if given[n].get(key) is not None}
        if argument.name == "categories":
            values = {name: _marked(listed, entries[name]) for name, listed in values.items()}
        if values:
            asked[argument.name] = values
    return asked


def _is_protected(entry: Mapping[str, Any], *, has_lists: bool) -> bool:
    """Whether a recipe asks to protect an attribute: by its role, if it has numbers or a list."""
    has_domain = has_lists or bool(entry.get("bounds") or entry.get("categories"))
    may_be = entry["role"] in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
    return may_be and (has_domain or "type" not in entry or Kind(entry["type"]).is_numeric)


def _marked(listed: Any, entry: Mapping[str, Any]) -> Any:
    """Mark a list of categories as ordered, or as read from the data."""
    if entry.get("categories_from_data"):
        return CategoriesFromData(listed)
    return Ordered(tuple(listed)) if entry.get("ordered") else listed
