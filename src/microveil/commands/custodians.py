"""What the custodian's folder of a release says of it: how it was made, to be asked once more."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from microveil.errors import FileError
from microveil.files.address import address_of, in_file
from microveil.files.text import TextFormat
from microveil.guarantee import Guarantee
from microveil.protect.arguments import DEFAULT, SPARK
from microveil.protect.parts import AUTO
from microveil.protect.recipe import read_recipe, roles_of_recipe
from microveil.schema import Ordered, Source
from microveil.table import BoundsFromData, CategoriesFromData, ResolutionFromData

# What Spark was asked is looked at in this process. What the engine in memory has no use for
# decided that it was chosen, in manifests that have both.
ALIEN = {SPARK: ("engine", "scratch", "record_id"), DEFAULT: ("memory", "scratch")}
FRACTIONS = ("epsilon", "delta", "resolution", "budget", "width")
WORDS = frozenset({"title", "source", "deed", "notes", "short", "text"})
READ_OFF: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("bounds", "domain_source", BoundsFromData),
    ("categories", "domain_source", CategoriesFromData),
    ("resolution", "resolution_source", ResolutionFromData),
)


def kept_of_recipe(
    recipe: str | Path | Mapping[str, Any] | None, text: TextFormat | None
) -> dict[str, Any]:
    """Return the manifest's entry of a recipe: what attributes are, and how the file is written."""
    types = {} if recipe is None else read_recipe(recipe).get("types", {})
    roles = {} if recipe is None else roles_of_recipe(recipe)
    stated = {name: {"type": str(kind)} for name, kind in types.items()}
    entries = {n: {"role": str(role), **stated.get(n, {})} for n, role in roles.items()}
    found: dict[str, Any] = {"attributes": entries} if entries else {}
    if text is not None and text != TextFormat():
        found["file"] = text.entries
    return {"recipe": found} if found else {}


def _manifest_of(folder: Path) -> dict[str, Any]:
    """Read the manifest of the release in a folder, from the custodian's beside it."""
    place = folder.resolve()
    path = place.with_name(f"{place.name}-custodian") / "manifest.json"
    try:
        contents = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(contents["parameters"], Mapping):
            raise TypeError  # noqa: TRY301 -- reported as what cannot be read is
    except (OSError, ValueError, TypeError, LookupError):
        raise FileError(
            f"{path}",
            "how a release was made stands in the custodian's folder beside it, and it cannot be "
            "read there",
            "put the two folders side by side again as microveil protect wrote them",
        ) from None
    found: dict[str, Any] = contents
    return found


def manifest_beside(place: str | Path) -> tuple[dict[str, Any] | None, dict[str, Any]]:
    """Return the recipe and the missing codes of a release's manifest; None and {} without one."""
    address = address_of(place)
    try:
        manifest = _manifest_of(address.path.parent) if address.scheme == "file" else {}
        if not manifest or manifest["output"]["name"] != address.path.name:
            return None, {}
    except (FileError, LookupError, TypeError):
        return None, {}
    recipe, asked = manifest.get("recipe"), manifest["parameters"]
    codes = {n: asked[n] for n in ("missing_codes", "missing_values") if asked.get(n)}
    return recipe if isinstance(recipe, dict) else None, codes


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasedRequest:
    """A request as a manifest has it, and what holds what is made of it to that."""

    folder: Path
    asked: dict[str, Any]  # arguments of `protect`
    advised: str | None
    recipe: Mapping[str, Any]  # what the manifest has of it
    input: Mapping[str, Any]  # the name and the digest of the file that was protected
    guarantee: Mapping[str, Any]

    def check_table(self, path: Path, digest: str) -> None:
        """Refuse a file that is not the one that was protected."""
        if digest != self.input["sha256"]:
            raise FileError(
                f"{path}",
                f"it is not the table that {self.folder} was made of, or not as it was then",
                "name that file, or audit a request of its own: leave out the release",
            )

    def check_claim(self, claimed: Guarantee) -> None:
        """Refuse a plan that promises other than the release does; a key may have drawn that."""
        if self.guarantee["randomness"] == "keyed":
            claimed = replace(claimed, randomness="keyed")
        if _held(claimed.to_dict()) != _held(self.guarantee):
            raise FileError(
                f"{self.folder}",
                "by this version of microveil its request comes to another guarantee than it has",
                "audit it with the version that made it, or audit the request of its recipe",
            )


def _held(guarantee: Mapping[str, Any]) -> Mapping[str, Any]:
    """Leave out its words, which another version may have put otherwise.

    A synthetic table is held to them too: they change with the algorithm, which has no other mark.
    """
    if guarantee.get("synthetic"):
        return guarantee
    lists = {name: guarantee.get(name, ()) for name in ("conditions", "parts")}
    # Earlier versions left unsaid of an epsilon that it is that of a record.
    lists["conditions"] = [own for own in lists["conditions"] if own["id"] != "repeated-people"]
    plain = {name: [_unworded(own) for own in found] for name, found in lists.items()}
    return {**_unworded(guarantee), **plain}


def _unworded(contents: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in contents.items() if name not in WORDS}


def request_of(folder: str | Path) -> ReleasedRequest:
    """Read back what was asked of the release in a folder."""
    place = Path(folder)
    manifest = _manifest_of(place)
    try:
        if {"name", "sha256"} <= set(manifest["input"]):
            return ReleasedRequest(
                folder=place,
                asked=_asked(manifest),
                advised=manifest["parameters"].get("advised"),
                recipe=manifest.get("recipe", {}),
                input=manifest["input"],
                guarantee=manifest["guarantee"],
            )
    except (LookupError, TypeError, ValueError, AttributeError):
        pass
    raise FileError(
        f"{place}",
        "its manifest does not say which file was protected, and what was asked for",
        "name the table, and what is asked for by flags or a recipe",
    )


def original_of(folder: str | Path, found: ReleasedRequest) -> str:
    """Find the table that a release was made of: by its name, beside the release or here."""
    name = Path(str(found.input["name"])).name
    for path in (Path(name), Path(folder).resolve().parent / name):
        if path.is_file():
            return in_file(path, found.input.get("table"), found.input.get("query"))
    raise FileError(
        f"{folder}",
        "the table that it was made of lies neither beside it nor here",
        f"name the table first: microveil audit TABLE {folder}",
    )


def _asked(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as `protect` takes them: numbers exact, marks of what was read off data."""
    parameters, guarantee = manifest["parameters"], manifest["guarantee"]
    alien = {"advised", *ALIEN.get(parameters.get("engine", DEFAULT), ())}
    without = guarantee["k"] is None or parameters.get("width") is not None
    if without and "k" not in manifest["unused_parameters"]:
        alien.add("k")  # written as 1 where none was asked for
    asked = {name: value for name, value in _said(parameters).items() if name not in alien}
    if "parts" in asked:
        own = zip(asked["parts"], guarantee["parts"], strict=True)
        asked["parts"] = [_part(part, terms) for part, terms in own]
    asked["categories"] = {
        name: Ordered(tuple(listed["ordered"])) if isinstance(listed, Mapping) else listed
        for name, listed in asked.get("categories", {}).items()
    }
    terms = guarantee["attributes"]
    for argument, source, mark in READ_OFF:
        if argument in asked:
            asked[argument] = {
                name: mark(value) if terms.get(name, {}).get(source) == Source.DATA.value else value
                for name, value in asked[argument].items()
            }
    return asked


def _part(parameters: Mapping[str, Any], terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a part as `protect` takes them."""
    asked = _said(parameters)
    is_advised = asked.pop("advised", None) is not None
    if terms["k"] is None:
        asked.pop("k", None)
    elif is_advised:
        asked["k"] = AUTO  # chosen again, as it was: on the same table
    return asked


def _said(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return what parameters say, with exact numbers."""
    said = {name: value for name, value in parameters.items() if value not in (None, {}, [])}
    return {name: _exact(value) if name in FRACTIONS else value for name, value in said.items()}


def _exact(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _exact(part) for name, part in value.items()}
    return Fraction(value) if isinstance(value, str) else value
