"""What was asked of a release, read back from its manifest, to be asked of its table once more."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from microveil.commands.custodians import manifest_of
from microveil.errors import FileError
from microveil.files.address import in_file
from microveil.guarantee import Guarantee
from microveil.protect.arguments import DEFAULT, SPARK
from microveil.protect.parts import AUTO
from microveil.schema import Ordered, Source
from microveil.table import BoundsFromData, CategoriesFromData, ResolutionFromData

__all__ = ["ReleasedRequest", "original_of", "request_of"]

OF_SPARK = ("engine", "scratch", "record_id")
OF_DISK = ("memory", "scratch")
_FRACTIONS = ("epsilon", "delta", "resolution", "budget", "width")


class ReleasedRequest:
    """A request as a manifest has it, and what holds what is made of it to that.

    Parameters
    ----------
    folder : Path
        Of the release.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._manifest = folder, manifest_of(folder)
        parameters = self._manifest["parameters"]
        self.advised: str | None = parameters.get("advised")
        guarantee = self._manifest["guarantee"]
        entries = {name: value for name, value in parameters.items() if name != "advised"}
        without = guarantee["k"] is None or entries.get("width") is not None
        if without and "k" not in self._manifest["unused_parameters"]:
            entries.pop("k", None)  # written as 1 where none was asked for
        if "parts" in entries:
            own = zip(entries["parts"], guarantee["parts"], strict=True)
            entries["parts"] = [_part(asked, terms) for asked, terms in own]
        # What Spark was asked is looked at in this process. What the engine in memory has no use
        # for decided that it was chosen, in manifests that have both.
        alien = {SPARK: OF_SPARK, DEFAULT: OF_DISK}.get(entries.get("engine", DEFAULT), ())
        entries = {name: value for name, value in entries.items() if name not in alien}
        self.asked = _asked(entries, guarantee["attributes"])

    @property
    def recipe(self) -> Mapping[str, Any]:
        """What the manifest has of the recipe."""
        found: Mapping[str, Any] = self._manifest.get("recipe", {})
        return found

    @property
    def input(self) -> Mapping[str, Any]:
        """The name and the digest of the file that was protected."""
        found: Mapping[str, Any] = self._manifest["input"]
        return found

    def check_table(self, path: Path, digest: str) -> None:
        """Refuse a file that is not the one that was protected."""
        if digest != self.input["sha256"]:
            raise FileError(
                f"{path}",
                f"it is not the table that {self._folder} was made of, or not as it was then",
                "name that file, or audit a request of its own: leave out the release",
            )

    def check_claim(self, claimed: Guarantee) -> None:
        """Refuse a plan that promises other than the release does; a key may have drawn that."""
        released = self._manifest["guarantee"]
        if released["randomness"] == "keyed":
            claimed = claimed.drawn_by_key()
        if claimed.to_dict() != released:
            raise FileError(
                f"{self._folder}",
                "by this version of microveil its request comes to another guarantee than it has",
                "audit it with the version that made it, or audit the request of its recipe",
            )


def request_of(folder: str | Path) -> ReleasedRequest:
    """Read back what was asked of the release in a folder.

    Raises
    ------
    FileError
        If its manifest cannot be read, or is not that of a file.
    """
    place = Path(folder)
    try:
        found = ReleasedRequest(place)
        complete = {"name", "sha256"} <= set(found.input)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, FileError):
            raise
        complete = False
    if not complete:
        raise FileError(
            f"{place}",
            "its manifest does not say which file was protected, and what was asked for",
            "name the table, and what is asked for by flags or a recipe",
        )
    return found


def original_of(folder: str | Path, found: ReleasedRequest) -> str:
    """Find the table that a release was made of: by its name, beside the release or here.

    Of a database's file it is the table or the query that the manifest names.

    Raises
    ------
    FileError
        If it is at neither place.
    """
    name = Path(str(found.input["name"])).name
    places = (Path(name), Path(folder).resolve().parent / name)
    for path in places:
        if path.is_file():
            return in_file(path, found.input.get("table"), found.input.get("query"))
    raise FileError(
        f"{folder}",
        "the table that it was made of lies neither beside it nor here",
        f"name the table first: microveil audit TABLE {folder}",
    )


def _asked(parameters: Mapping[str, Any], terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as `protect` takes them: numbers exact, marks of what was read off data."""
    asked = {name: value for name, value in parameters.items() if value not in (None, {}, [])}
    for name in _FRACTIONS:
        if name in asked:
            asked[name] = _each(asked[name], _exact)
    asked["categories"] = _each(asked.get("categories", {}), _listed)
    for argument, said, mark in (
        ("bounds", "domain_source", BoundsFromData),
        ("categories", "domain_source", CategoriesFromData),
        ("resolution", "resolution_source", ResolutionFromData),
    ):
        if argument in asked:
            asked[argument] = {
                name: mark(value) if terms.get(name, {}).get(said) == Source.DATA.value else value
                for name, value in asked[argument].items()
            }
    return asked


def _part(parameters: Mapping[str, Any], terms: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a part as `protect` takes them."""
    asked = {name: value for name, value in parameters.items() if value not in (None, {}, [])}
    is_advised = asked.pop("advised", None) is not None
    if terms["k"] is None:
        asked.pop("k", None)
    elif is_advised:
        asked["k"] = AUTO  # chosen again, as it was: on the same table
    return {n: _exact(value) if n in _FRACTIONS else value for n, value in asked.items()}


def _each(given: Any, read: Any) -> Any:
    if isinstance(given, Mapping):
        return {name: read(value) for name, value in given.items()}
    return read(given)


def _exact(value: Any) -> Any:
    return Fraction(value) if isinstance(value, str) else value


def _listed(value: Any) -> Any:
    return Ordered(tuple(value["ordered"])) if isinstance(value, Mapping) else value
