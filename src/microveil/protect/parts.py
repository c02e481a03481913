"""Parts: attributes of one table that are protected by methods of their own, in one release.

What goes by column (bounds, categories, weights) and what holds of the whole table (kept columns,
units, the seed) is said once, of the table; method, k, epsilon and the steps of a method are said
by each part. A part's arguments and those of the table make a request as any other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypedDict, TypeVar, Unpack

from microveil.arguments import Argument, arguments
from microveil.arguments.general import (
    ATTRIBUTES,
    BOUNDS,
    CATEGORIES,
    KEEP,
    LOOKED_AT,
    MAX_ROWS,
    NEVER_MISSING,
    OUTSIDE,
    RESOLUTION,
    SCOPE,
    SEED,
    SHUFFLE,
    TYPES,
    UNIT,
    UNIT_ATTRIBUTES,
)
from microveil.errors import MicroveilError, RequestError, stands_alone
from microveil.guarantee import Scope, Unit
from microveil.methods import METHODS
from microveil.protect.domains import stated_kinds
from microveil.schema import Kind
from microveil.table import MissingCodes
from microveil.text import one_line

__all__ = [
    "AUTO",
    "Part",
    "PartArguments",
    "Whole",
    "in_part",
    "named_attributes",
    "part",
    "read_parts",
    "refuse_looked_at",
    "with_never_apart",
]

Value = TypeVar("Value")
AUTO = "auto"
# Said of the whole table, they hold for every part that says nothing else.
FOR_ALL = ("missing", "exact_cells", "isotonic")


class PartArguments(TypedDict, total=False):
    """The arguments of `part`, beside its attributes: those of `protect` that a part may say."""

    method: str
    k: int | Literal["auto"] | None
    epsilon: float | Fraction | None
    partition: str | None
    composition: str | None
    sensitivity: str | None
    blocks: Any
    width: float | None
    every: str | None
    noise: str | None
    exact_cells: Literal["refuse", "allow", "widen"]
    isotonic: bool
    missing: Literal["error", "keep", "protect"] | Mapping[str, Literal["never"]]
    shuffle: bool | Literal["rows", "columns"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Attributes that one method protects, as part of a release; see `part`.

    Attributes
    ----------
    attributes : tuple of str
    asked : dict
        What the part says for itself, by argument.
    """

    attributes: tuple[str, ...]
    asked: Mapping[str, Any]

    @property
    def named(self) -> str:
        """Its attributes, in a line."""
        return ", ".join(map(one_line, self.attributes))


@stands_alone
def part(attributes: Iterable[str] | str, **arguments: Unpack[PartArguments]) -> Part:
    """Name a part of a release: attributes, and the method that protects them.

    Parameters
    ----------
    attributes : str or sequence of str
        No other part of the release may name them.
    **arguments
        Those of `protect` that a method has a step for: ``method``, which is needed, ``k``,
        ``epsilon``, ``partition`` and the like; ``missing``, ``exact_cells`` and ``isotonic``.
        What goes by column, ``bounds`` for example, is an argument of `protect`. ``shuffle=True``
        releases the part's rows in a random order of their own, drawn in secret: no value of
        another part then stands beside the same person's, and what hangs on rows in random order
        holds.

    Returns
    -------
    Part
        For the argument ``parts`` of `protect`, where it is checked against the table.

    Raises
    ------
    RequestError
        If there is no attribute or no method, or an argument is none of a part.

    Examples
    --------
    >>> part(["AGE", "INCOME"], method="dp-um", k=50, epsilon=0.6).attributes
    ('AGE', 'INCOME')
    """
    return _part({"attributes": attributes, **arguments})


def with_never_apart(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Say apart what ``missing`` says by column; what is None is not said.

    >>> with_never_apart({"missing": {"WAGE": "never"}, "k": None})
    {'never_missing': {'WAGE': 'never'}}
    """
    given = {name: value for name, value in asked.items() if value is not None}
    if isinstance(given.get("missing"), Mapping):
        listed = NEVER_MISSING.checked(given.get("never_missing", {}))
        given["never_missing"] = {**listed, **NEVER_MISSING.checked(given.pop("missing"))}
    return given


def _part(given: Mapping[str, Any]) -> Part:
    """Make a part of what was given for it, in Python or in a recipe."""
    asked = {name: value for name, value in given.items() if value is not None}
    if asked.get("shuffle") is False:
        del asked["shuffle"]  # as where it is not said
    names = asked.pop("attributes", ())
    attributes = ATTRIBUTES.read(names)
    if not attributes:
        raise RequestError(
            "part", "it has no attributes", "name those that its method protects: ['AGE', 'INCOME']"
        )
    place = f"part of {', '.join(map(one_line, attributes))}"
    own = {argument.name for argument in arguments() if argument.of_part}
    if alien := sorted(map(str, set(asked) - own)):
        known = alien[0] in {argument.name for argument in arguments()}
        raise RequestError(
            f"{place}, argument '{alien[0]}'",
            "it is said of the whole table, and not of a part"
            if known
            else "there is no such argument",
            f"say it beside the parts: {', '.join(sorted(own))} are a part's",
        )
    method = asked.get("method")
    if method is None or method == AUTO:
        raise RequestError(
            f"{place}, method",
            "a part names its method",
            "pass method='dp-um' or another; microveil.advise says what error to expect of it",
        )
    entry = METHODS.get(method) if isinstance(method, str) else None
    if entry is not None and "new table" in entry.can:
        raise RequestError(
            f"{place}, method",
            f"rows of {entry.id} are nobody's, and cannot stand beside those of other parts",
            "protect all attributes with it, or choose another method for the part",
        )
    return Part(attributes=attributes, asked=asked)


def read_parts(given: Any) -> tuple[Part, ...]:
    """Read the argument ``parts``: what `part` makes, or tables of a recipe.

    Raises
    ------
    RequestError
        If there are none, or an attribute is in two of them.
    """
    remedy = "pass parts=[mv.part(['AGE'], method='dp-um', k=50, epsilon=1), ...]"
    if isinstance(given, str | Mapping | Part) or not isinstance(given, Iterable):
        raise RequestError("parts", "it is a list of parts", remedy)
    parts = []
    for entry in given:
        if isinstance(entry, Mapping):
            parts.append(_part(entry))
        elif isinstance(entry, Part):
            parts.append(entry)
        else:
            raise RequestError("parts", "each is made by microveil.part", remedy)
    if not parts:
        raise RequestError("parts", "there is no part", remedy)
    seen: set[str] = set()
    for name in (name for one in parts for name in one.attributes):
        if name in seen:
            raise RequestError(
                f"column '{name}'", "it is in two parts", "name it in one: parts share no attribute"
            )
        seen.add(name)
    return tuple(parts)


def named_attributes(asked: Mapping[str, Any]) -> list[str] | None:
    """Return the attributes that arguments name, in parts or without; None where they name none.

    >>> named_attributes({"parts": [{"attributes": ["AGE"], "method": "mdav", "k": 3}]})
    ['AGE']
    """
    if asked.get("parts") is None:
        return list(asked["attributes"]) if "attributes" in asked else None
    return [name for one in read_parts(asked["parts"]) for name in one.attributes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What is asked of several parts, and of the table that they make together.

    Attributes
    ----------
    parts : tuple of Part
    asked : dict
        What was said of the table, by argument.
    keep : tuple of str
        Columns that are released unprotected.
    scope : str or None
        That the epsilons together must cover.
    shuffle : {"rows", "columns"} or None
        Whether whole rows, or each attribute by itself, are released in random order.
    """

    parts: tuple[Part, ...]
    asked: Mapping[str, Any]
    keep: tuple[str, ...]
    scope: str | None
    shuffle: str | None

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> "Whole":
        """Check what is said of a release of several parts.

        Raises
        ------
        RequestError
            If what is said beside them is a part's to say, or contradicts them.
        """
        given = with_never_apart(asked)
        if "never_missing" in given:
            given["never_missing"] = NEVER_MISSING.checked(given["never_missing"])
        parts = read_parts(given.pop("parts"))
        known = {argument.name: argument for argument in arguments()}
        if unknown := [name for name in given if name not in known]:
            raise RequestError(
                f"argument '{unknown[0]}'",
                "there is no such argument",
                "see help(microveil.protect)",
            )
        for name in given:
            _refuse_of_parts(name, is_of_part=known[name].of_part)
        keep = KEEP.checked(given.pop("keep")) if "keep" in given else ()
        scope = SCOPE.checked(given.pop("scope")) if "scope" in given else None
        shuffle = SHUFFLE.checked(given.pop("shuffle")) if "shuffle" in given else None
        whole = cls(parts=parts, asked=given, keep=keep, scope=scope, shuffle=shuffle)
        whole._check_together()
        return whole

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of all parts."""
        return tuple(name for one in self.parts for name in one.attributes)

    @property
    def codes(self) -> MissingCodes:
        """What stands for a missing value."""
        return MissingCodes.of(self.asked.get("missing_codes"), self.asked.get("missing_values"))

    @property
    def unit(self) -> Unit:
        """Who is protected; a column without a number of records is for a part's request to say."""
        if self._said(UNIT) is None or self._said(MAX_ROWS) is None:
            return Unit()
        return Unit(column=self._said(UNIT), max_rows=self._said(MAX_ROWS) or 1)

    @property
    def unit_attributes(self) -> tuple[str, ...]:
        """The attributes that are one value a unit, whichever part protects them."""
        return self._said(UNIT_ATTRIBUTES) or ()

    @property
    def outside(self) -> str:
        """What becomes of values outside their bounds, and of a unit's surplus records."""
        return self._said(OUTSIDE) or "error"

    @property
    def seed(self) -> int | None:
        """For experiments only."""
        return self._said(SEED)

    @property
    def types(self) -> Mapping[str, Any]:
        """What columns must hold."""
        return self._said(TYPES) or {}

    @property
    def stated(self) -> Mapping[str, Kind]:
        """What columns hold by what is declared of them."""
        declared = (BOUNDS, CATEGORIES, RESOLUTION)
        return stated_kinds(self.types, *(self._said(argument) or {} for argument in declared))

    def _said(self, argument: Argument[Value]) -> Value | None:
        given = self.asked.get(argument.name)
        return None if given is None else argument.checked(given)

    def alone(self) -> dict[str, Any]:
        """Return the arguments of a single part as those of a request like any other."""
        (one,) = self.parts
        said = {"keep": self.keep or None, "scope": self.scope, "shuffle": self.shuffle}
        return {**said, **self.asked, **one.asked, "attributes": list(one.attributes)}

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield the arguments of each part, as if it were asked for alone.

        Whole rows in random order are no part's own: they join its values to others all the same.
        """
        shared = {"shuffle": self.shuffle} if self.shuffle == "columns" else {}
        for one in self.parts:
            asked = {**self._for(one.attributes), **shared, **one.asked}
            # A k that is left to advice is to keep what the whole is asked to.
            yield {**asked, "scope": self.scope} if asked.get("k") == AUTO else asked

    def _for(self, names: Sequence[str]) -> dict[str, Any]:
        """Return what is said of the table, as it bears on some of its attributes."""
        known = {argument.name: argument for argument in arguments()}
        said = {name: value for name, value in self.asked.items() if name != "types"}
        if "unit_attributes" in said:
            said["unit_attributes"] = [name for name in self.unit_attributes if name in names]
        for name, value in self.asked.items():
            if name in said and known[name].by_column and isinstance(value, Mapping):
                said[name] = {column: value[column] for column in value if column in names}
        if not said.get("missing_codes"):
            said.pop("missing_reasons", None)
        empty = [name for name in said if known[name].by_column and not said[name]]
        return {
            "attributes": list(names),
            **{name: value for name, value in said.items() if name not in empty},
        }

    def _check_together(self) -> None:
        refuse_looked_at(self.scope, self._said(LOOKED_AT))
        if both := sorted(set(self.keep) & set(self.attributes)):
            raise RequestError(
                f"column '{both[0]}'", "it is both to be protected and to be kept", "name it once"
            )
        for argument in ("budget", "matrix", "never_missing"):
            alien = sorted(set(self.asked.get(argument) or ()) - set(self.attributes))
            if alien:
                raise RequestError(
                    f"{argument} of '{alien[0]}'", "it is no protected attribute", "leave it out"
                )
        if alien := [name for name in self.unit_attributes if name not in self.attributes]:
            raise RequestError(
                f"unit_attributes, column '{alien[0]}'",
                "no part protects it",
                "name it in a part too, or leave it out",
            )
        apart = [one for one in self.parts if one.asked.get("shuffle")]
        if apart and self.shuffle is not None:
            raise RequestError(
                "shuffle",
                f"it is said of the whole table, and of the part of {apart[0].named}",
                "say it once",
            )
        if self.shuffle == "columns" and self.keep:
            raise RequestError(
                "shuffle",
                "columns that are kept would stand beside values of other people once each "
                "attribute is shuffled by itself",
                "leave out keep, or shuffle the rows",
            )
        unit = self.asked.get("unit")
        ids = {method.id for method in METHODS.values() if "units" in method.can}
        counting = [one for one in self.parts if one.asked["method"] in ids]
        if unit is not None and counting and len(self.parts) > 1:
            raise RequestError(
                "unit",
                f"the part of {counting[0].named} counts the people of a cluster, and beside other "
                "parts its records are not k-anonymous",
                "protect all attributes by one method, or leave out unit",
            )
        if unit is not None and unit in (*self.attributes, *self.keep):
            raise RequestError(
                f"column '{unit}'",
                "it says which records are one unit's, and is not released: new numbers take its "
                "place where rows are kept",
                "leave it out of parts and keep",
            )
        beside = unit or ", ".join(map(one_line, self.keep))
        if apart and beside and len(self.parts) > 1:
            raise RequestError(
                f"part of {apart[0].named}, shuffle",
                f"its values would stand beside other people's in {beside}",
                "leave out shuffle, or keep no column and name no unit beside it",
            )


def refuse_looked_at(scope: str | None, looked_at: str | None) -> None:
    """Refuse at row scope what was chosen by the data.

    Raises
    ------
    RequestError
        Another table might have led to another choice, which is published.
    """
    if scope == Scope.ROW and looked_at == "data":
        raise RequestError(
            "looked_at",
            "at row scope method, k and epsilon must not be chosen by figures that come from the "
            "data: what was chosen would hang on them",
            "choose them anew by public figures, by an earlier table or by invented people, or ask "
            "for a weaker scope",
        )


def _refuse_of_parts(name: str, *, is_of_part: bool) -> None:
    """Refuse beside parts what each of them says for itself."""
    if name == "epsilon":
        raise RequestError(
            "epsilon",
            "the epsilon of a release of several parts is the sum of theirs",
            "leave it out, and give each part its own",
        )
    if name == "attributes":
        raise RequestError(
            "attributes", "the parts name them", "leave it out, or name them in a part"
        )
    if is_of_part and name not in (*FOR_ALL, "shuffle"):
        raise RequestError(
            name, "it is a part's to say where there are parts", f"pass it to the part: {name}=..."
        )


def in_part(number: int, one: Part, error: MicroveilError) -> MicroveilError:
    """Say of an error in which part it arose.

    >>> print(
    ...     in_part(
    ...         2,
    ...         part("AGE", method="dp-um", k=3, epsilon=1),
    ...         RequestError("k", "it is odd", "pass 4"),
    ...     )
    ... )
    part 2 (AGE), k: it is odd; pass 4.
    """
    return type(error)(f"part {number} ({one.named}), {error.place}", error.rule, error.remedy)
