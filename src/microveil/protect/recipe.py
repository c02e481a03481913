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

What is said by column may stand at the top, too: ``bounds.INCOME = [0, 150000]``.

Attributes with the role quasi-identifier or confidential are protected if they hold numbers, or
text whose categories are listed (``ordered = true`` where their order means something), learnt or
accepted; non-confidential ones are kept; identifiers, weights and attributes that are not named are
left out. ``[[parts]]`` are those of `parts`, ``[file]`` says how a file of text is written.

A recipe says the version that it was written for. One of an earlier version that asks for what
means something else by now is refused: a monthly run must not change its meaning in silence.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from microveil.errors import FileError, Problems, RequestError, moved, stands_alone
from microveil.protect.arguments import arguments
from microveil.protect.reading import OF_ALL, is_open, to_fill_in
from microveil.schema import COLUMN_KINDS, Kind, Ordered, Role
from microveil.table import CategoriesFromData

Recipe = str | Path | Mapping[str, Any]

# What a recipe holds beside arguments: of its file of text, and of lists of categories.
OF_FILE = ("separator", "decimal", "encoding", "dates", "thousands", "header")
OF_LISTS = ("ordered", "categories_from_data")
ROLES = [role.value for role in Role]
# The version of recipes that are written, that of recipes that say none, and the first whose
# recipes mean what they meant.
VERSION, UNSAID, CHANGED = (0, 3), (0, 1), (0, 2)


@stands_alone
def read_recipe(recipe: Recipe, problems: Problems | None = None) -> dict[str, Any]:
    """Read a recipe file, or its contents, as arguments of `protect`.

    What is wrong is taken down among ``problems``, and the rest returned; or it is raised.
    """
    found = Problems()
    asked = _contents(recipe, found)
    asked.pop("file", None)  # said of the file, and no argument
    version, entries = asked.pop("microveil", None), asked.pop("attributes")
    learns = bool(asked.get("delta")) and asked.get("domains") != "declared"
    has_lists = learns or not {"accept", "codebook"}.isdisjoint(asked)
    of_entries = _of_attributes(entries, has_lists=has_lists) if entries else {}
    without_entry = {name: asked[name] for name in _by_column() if name in asked}
    asked |= of_entries
    asked |= {name: {**of_entries.get(name, {}), **own} for name, own in without_entry.items()}
    found += _of_parts(asked.get("parts"), entries)
    if "parts" in asked:
        asked.pop("attributes", None)  # the parts name them
    found += [*_of_version(version, asked), *_of_entries(entries)]
    found.refuse(into=problems)
    return asked


@stands_alone
def file_of_recipe(recipe: Recipe, problems: Problems | None = None) -> dict[str, str]:
    """Read what a recipe says of how the file is written: its `TextFormat`."""
    found = Problems()
    file: dict[str, str] = _contents(recipe, found).get("file", {})
    found.refuse(into=problems)
    return file


@stands_alone
def roles_of_recipe(recipe: Recipe) -> dict[str, Role]:
    """Read what each attribute of a recipe is to whoever would find a person."""
    found = Problems()
    entries = _contents(recipe, found)["attributes"]
    found.refuse()
    return {name: Role(entry["role"]) for name, entry in entries.items()}


def _contents(recipe: Recipe, problems: Problems) -> dict[str, Any]:
    """Return what a recipe says; what has another form is taken down and left out."""
    if not isinstance(recipe, Mapping | str | Path):
        rule = "it is a file or what one holds"
        raise RequestError("recipe", rule, "pass recipe='recipe.toml', or a dict")
    contents = recipe if isinstance(recipe, Mapping) else _load(Path(recipe))
    known = {name: own for name, own in arguments().items() if not own.column}
    found: dict[str, Any] = {"attributes": {}}
    for name, value in _in_entries(contents).items():
        if value is None:
            continue
        if name in OF_ALL and is_open(value):
            problems.append(to_fill_in(name))
        elif name in ("attributes", "file") and isinstance(value, Mapping):
            read = _attributes if name == "attributes" else _file
            found[name] = read(value, problems)
        elif name in known:
            wrong = Problems()
            if not (isinstance(value, str) and value == "auto"):
                with wrong.noted():
                    known[name].checked(value)
            # What is wrong with a column, or with a method, is said of it later.
            odd = [moved(one, f"recipe, entry '{name}'") for one in wrong if one.place == name]
            problems += odd
            found |= {} if odd else {name: value}
        elif name in ("microveil", "parts") or (
            name in _by_column() and isinstance(value, Mapping)
        ):
            found[name] = value
        else:
            problems.append(_odd(name))
    return found


def _by_column() -> dict[str, str]:
    """Return the arguments that go by column, and their keys in an attribute's entry."""
    return {name: own.column for name, own in arguments().items() if own.by_column}


def _in_entries(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Put what the top says by column, as keyword arguments do, into the entries of attributes.

    It goes before an entry of its own, which may hold the dots that it fills in. Of a column
    without an entry it stays where it is.
    """
    top, entries = {**contents}, contents.get("attributes")
    for argument, key in _by_column().items():
        if not isinstance(top.get(argument), Mapping) or not isinstance(entries, Mapping):
            continue
        given = top.pop(argument)
        has_entry = {name for name in given if isinstance(entries.get(name), Mapping)}
        entries = {**entries, **{name: {**entries[name], key: given[name]} for name in has_entry}}
        top[argument] = {name: own for name, own in given.items() if name not in has_entry} or None
    return top if entries is None else {**top, "attributes": entries}


def _attributes(entries: Mapping[str, Any], problems: Problems) -> dict[str, dict[str, Any]]:
    """Read what a recipe says of attributes; one of no role that there is counts as protected."""
    by_column = (one.column for one in arguments().values() if one.by_column)
    keys = ["role", "type", *OF_LISTS, *by_column]
    found = {}
    for name, entry in entries.items():
        if not isinstance(entry, Mapping):
            problems.append(_odd(f"attributes.{name}"))
            continue
        given = {key: value for key, value in entry.items() if value is not None}
        problems += [to_fill_in(key, name) for key in given if is_open(given[key])]
        own = {"role": None} | {key: value for key, value in given.items() if not is_open(value)}
        odd = [key for key in own if key not in keys]
        odd += [key for key in OF_LISTS if not isinstance(own.get(key, True), bool)]
        odd += ["type"] if own.get("type", Kind.WHOLE.value) not in COLUMN_KINDS else []
        odd += ["role"] if own["role"] not in ROLES else []
        problems += [_odd(f"attributes.{name}.{key}") for key in odd]
        instead = {"role": Role.CONFIDENTIAL.value} if "role" in odd else {}
        found[name] = {key: value for key, value in own.items() if key not in odd} | instead
    return found


def _file(entries: Mapping[str, Any], problems: Problems) -> dict[str, str]:
    """Read what a recipe says of how its file of text is written."""
    given = {key: value for key, value in entries.items() if value is not None}
    kinds = {**dict.fromkeys(OF_FILE, str), "header": int}
    odd = [key for key in given if type(given[key]) is not kinds.get(key)]
    problems += [_odd(f"file.{key}") for key in odd]
    return {key: value for key, value in given.items() if key not in odd}


def _odd(place: str) -> RequestError:
    rule = "it is unknown or of the wrong kind"
    remedy = "see microveil inspect for a recipe that is in order"
    return RequestError(f"recipe, entry '{place}'", rule, remedy)


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"at line (\d+)", str(error))
        where = f"{path}, line {line[1]}" if line else f"{path}"
        # Its reasons name keys and signs, and end with the place.
        reason = re.sub(r" \(at (line|end).*", "", str(error))
        rule = f"a recipe must be a TOML file, and its reader says: {reason}"
        raise FileError(where, rule, "correct the line") from None
    except (OSError, UnicodeDecodeError):
        raise FileError(f"{path}", "the recipe cannot be read", "check path and rights") from None


def _of_version(written: Any, asked: Mapping[str, Any]) -> Iterator[RequestError]:
    """Refuse a recipe of a later version, and one of an earlier one whose meaning changed."""
    current = ".".join(map(str, VERSION))
    place, version = "recipe, entry 'microveil'", UNSAID
    if written is not None:
        form = r"[0-9]{1,6}[.][0-9]{1,6}([.][0-9]{1,6})?"
        if not isinstance(written, str) or not re.fullmatch(form, written):
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
    for words in _changed(asked) if version < CHANGED else ():
        yield RequestError(
            place,
            f"the recipe was written for an earlier version, and means something else now: {words}",
            f'if that is what you want, write microveil = "{current}" above everything else',
        )


def _changed(asked: Mapping[str, Any]) -> Iterator[str]:
    """Say what of a recipe from before 0.2 means something else since."""
    method, types = asked.get("method"), asked.get("types", {})
    if (method, asked.get("scope")) == ("auto", "row"):
        yield (
            'method = "auto" at row scope chose by the error expected on the table; it now weighs '
            "methods of differential privacy by public figures alone"
        )
    if (asked.get("k"), asked.get("missing")) == ("auto", "keep"):
        yield (
            'k = "auto" was chosen by the number of values present; it is now by the number of '
            "records"
        )
    kinds = [types[name] for name in asked.get("attributes", ()) if name in types]
    if method == "kanon-dp" and sum(Kind(kind).is_numeric for kind in kinds) < 2:
        yield (
            "kanon-dp of one attribute drew noise as wide as its bounds times the number of "
            "clusters; it now draws noise as wide as its bounds"
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


def _of_parts(parts: Any, entries: Mapping[str, Mapping[str, Any]]) -> Iterator[RequestError]:
    """Refuse parts that protect what the roles of the same recipe leave out, or keep."""
    tables = parts if isinstance(parts, list | tuple) else ()
    named = [part.get("attributes") for part in tables if isinstance(part, Mapping)]
    for name in (name for names in named if isinstance(names, list | tuple) for name in names):
        role = entries[name]["role"] if name in entries else None
        if role in (Role.IDENTIFIER, Role.NON_CONFIDENTIAL, Role.WEIGHT):
            fate = "kept as it is" if role == Role.NON_CONFIDENTIAL else "left out"
            yield RequestError(
                f"recipe, part of '{name}'",
                f"its role is {role}: it is {fate}",
                'write role = "confidential" in its entry, or take it out of the part',
            )


def _of_attributes(entries: Mapping[str, Mapping[str, Any]], *, has_lists: bool) -> dict[str, Any]:
    """Make arguments of what a recipe says of attributes.

    Values are the objects as given: some are marked as read from the data. Text needs no list of
    categories in the recipe where these are learnt, or accepted as the file declares them.
    """

    def is_protected(entry: Mapping[str, Any]) -> bool:  # by its role, if it has numbers or a list
        has_domain = has_lists or bool(entry.get("bounds") or entry.get("categories"))
        may_be = entry["role"] in (Role.QUASI_IDENTIFIER, Role.CONFIDENTIAL)
        return may_be and (has_domain or "type" not in entry or Kind(entry["type"]).is_numeric)

    chosen = [name for name, entry in entries.items() if is_protected(entry)]
    kept = [name for name, entry in entries.items() if entry["role"] == Role.NON_CONFIDENTIAL]
    # Attributes even where nothing is left to protect: a recipe's silence chooses no column.
    asked: dict[str, Any] = {
        "types": {name: entry["type"] for name, entry in entries.items() if "type" in entry},
        "attributes": chosen,
        **({"keep": kept} if kept else {}),
    }
    for argument in arguments().values():
        if not argument.by_column or argument.name in asked:
            continue
        key = argument.column
        values = {n: entries[n][key] for n in chosen if key in entries[n]}
        if argument.name == "categories":
            values = {name: _marked(listed, entries[name]) for name, listed in values.items()}
        if values:
            asked[argument.name] = values
    return asked


def _marked(listed: Any, entry: Mapping[str, Any]) -> Any:
    """Mark a list of categories as ordered, or as read from the data."""
    if not isinstance(listed, list | tuple):  # it is refused where its column is read
        return listed
    if entry.get("categories_from_data"):
        return CategoriesFromData(listed)
    return Ordered(tuple(listed)) if entry.get("ordered") else listed
