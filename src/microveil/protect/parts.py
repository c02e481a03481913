"""Parts: attributes of one table that are protected by methods of their own, in one release.

What goes by column (bounds, categories, weights) and what holds of the whole table (kept columns,
units, the seed) is said once, of the table; method, k, epsilon and the steps of a method are said
by each part. A part's arguments and those of the table make a request as any other.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from microveil.errors import MicroveilError, Problems, RequestError, moved, one_error, stands_alone
from microveil.methods import METHODS
from microveil.protect.arguments import DECLARED, arguments
from microveil.protect.request import read_each, said
from microveil.protect.rules import refused_for_all
from microveil.schema import Kind
from microveil.text import listed

AUTO = "auto"
# Said of the whole table, they hold for every part that says nothing else.
FOR_ALL = ("missing", "exact_cells", "isotonic", "shuffle")
# Said beside parts these are read once, of the table.
OF_WHOLE = (
    "keep", "scope", "shuffle", "looked_at", "unit", "max_rows", "unit_attributes",
    "outside", "seed", "types", "bounds", "categories", "resolution", "never_missing",
    "missing_codes", "missing_values",
)  # fmt: skip
# What is refused beside parts: the rule and the remedy.
BESIDE = {
    "epsilon": (
        "the epsilon of a release of several parts is the sum of theirs",
        "leave it out, and give each part its own",
    ),
    "attributes": ("the parts name them", "leave it out, or name them in a part"),
}
OF_PARTS = ("it is a part's to say where there are parts", "pass it to the part: {name}=...")
REMEDY = "pass parts=[mv.part(['AGE'], method='dp-um', k=50, epsilon=1), ...]"


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
        return listed(self.attributes)


@stands_alone
def part(
    attributes: Iterable[str] | str,
    *,
    method: str | None = None,
    k: int | Literal["auto"] | None = None,
    epsilon: float | Fraction | None = None,
    partition: str | None = None,
    composition: str | None = None,
    sensitivity: str | None = None,
    blocks: Iterable[Iterable[str]] | None = None,
    width: float | Fraction | None = None,
    every: str | None = None,
    noise: str | None = None,
    exact_cells: Literal["refuse", "allow", "widen"] | None = None,
    isotonic: bool | None = None,
    missing: Literal["error", "keep", "protect"] | None = None,
    shuffle: bool | Literal["rows", "columns"] | None = None,
    **of_method: Any,
) -> Part:
    """Name a part of a release: attributes, and the method that protects them.

    Parameters
    ----------
    attributes : str or sequence of str
        No other part of the release may name them.
    method, k, epsilon, partition, composition, sensitivity, blocks, width, every, noise
        As `protect` takes them; ``method`` is needed.
    exact_cells, isotonic, missing
        Likewise; by default what is said of the whole table.
    shuffle
        ``True`` releases the part's rows in a random order of their own, drawn in secret: no value
        of another part then stands beside the same person's, and what hangs on rows in random
        order holds.
    **of_method
        Arguments of a registered method. What goes by column, ``bounds`` for example, is an
        argument of `protect`.

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
    given = {**locals(), **of_method}
    del given["of_method"]
    return _part(given)


def _part(given: Mapping[str, Any]) -> Part:
    """Make a part of what was given for it, in Python or in a recipe."""
    asked = {name: value for name, value in given.items() if value is not None}
    if asked.get("shuffle") is False:
        del asked["shuffle"]  # as where it is not said
    attributes = DECLARED["attributes"].checked(asked.pop("attributes", ()))
    if not attributes:
        raise RequestError(
            "part", "it has no attributes", "name those that its method protects: ['AGE', 'INCOME']"
        )
    place, problems = f"part of {listed(attributes)}", Problems()
    known = {name: argument.of_part for name, argument in arguments().items()}
    own = sorted(name for name, of_part in known.items() if of_part)
    for name in sorted(map(str, set(asked) - set(own))):
        rule = "it is said of the whole table, and not of a part"
        problems.add(
            f"{place}, argument '{name}'",
            rule if name in known else "there is no such argument",
            f"say it beside the parts: {', '.join(own)} are a part's",
        )
    method = asked.get("method")
    if method is None or method == AUTO:
        problems.add(
            f"{place}, method",
            "a part names its method",
            "pass method='dp-um' or another; microveil.advise says what error to expect of it",
        )
    entry = METHODS.get(method) if isinstance(method, str) else None
    if entry is not None and "new table" in entry.can:
        problems.add(
            f"{place}, method",
            f"rows of {entry.id} are nobody's, and cannot stand beside those of other parts",
            "protect all attributes with it, or choose another method for the part",
        )
    problems.refuse()
    return Part(attributes=attributes, asked=asked)


def read_parts(given: Any) -> tuple[Part, ...]:
    """Read the argument ``parts``: what `part` makes, or tables of a recipe."""
    if isinstance(given, str | Mapping | Part) or not isinstance(given, Iterable):
        raise RequestError("parts", "it is a list of parts", REMEDY)
    parts, problems = list[Part](), Problems()
    for entry in given:
        with problems.noted():
            if not isinstance(entry, Mapping | Part):
                raise RequestError("parts", "each is made by microveil.part", REMEDY)
            parts.append(_part(entry) if isinstance(entry, Mapping) else entry)
    if not parts and not problems:
        raise RequestError("parts", "there is no part", REMEDY)
    names = [name for one in parts for name in one.attributes]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            rule = "it is in two parts"
            remedy = "name it in one: parts share no attribute"
            problems.add(f"column '{name}'", rule, remedy)
    problems.refuse()
    return tuple(parts)


def named_attributes(asked: Mapping[str, Any]) -> list[str] | None:
    """Return the attributes that arguments name, in parts or without; None where they name none."""
    if asked.get("parts") is None:
        return list(asked["attributes"]) if "attributes" in asked else None
    return [name for one in read_parts(asked["parts"]) for name in one.attributes]


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """What is asked of several parts, and of the table that they make together."""

    parts: tuple[Part, ...]
    asked: Mapping[str, Any]  # what was said of the table, as it bears on the parts
    keep: tuple[str, ...]
    scope: str | None
    shuffle: str | None
    unit_attributes: tuple[str, ...]
    types: Mapping[str, Kind]

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> "Whole":
        """Check what is said of a release of several parts."""
        given, problems, known = said(asked), Problems(), arguments()
        parts = read_parts(given.pop("parts"))
        of_whole = dict[str, Any]()
        for name, value in given.items():
            own = known.get(name)
            if name in BESIDE or (own is not None and own.of_part and name not in FOR_ALL):
                rule, remedy = BESIDE.get(name, OF_PARTS)
                problems.add(name, rule, remedy.format(name=name))
            if name in OF_WHOLE or own is None:
                of_whole[name] = value
        read = {name: known[name].default for name in OF_WHOLE} | read_each(of_whole, problems)
        problems.refuse()
        # A part says these for itself, or they are said of all rows.
        rest = {n: v for n, v in given.items() if n not in ("keep", "scope", "shuffle")}
        if "never_missing" in rest:
            rest["never_missing"] = read["never_missing"]
        named = ("keep", "scope", "shuffle", "unit_attributes", "types")
        whole = cls(parts=parts, asked=rest, **{name: read[name] for name in named})
        problems += whole._wrong_together()
        problems.refuse()
        return whole

    @property
    def attributes(self) -> tuple[str, ...]:
        """The attributes of all parts."""
        return tuple(name for one in self.parts for name in one.attributes)

    def alone(self) -> dict[str, Any]:
        """Return the arguments of a single part as those of a request like any other."""
        (one,) = self.parts
        of_all = {"keep": self.keep or None, "scope": self.scope, "shuffle": self.shuffle}
        return {**of_all, **self.asked, **one.asked, "attributes": list(one.attributes)}

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield the arguments of each part, as if it were asked for alone.

        Whole rows in random order are no part's own: they join its values to others all the same.
        """
        by_column = {name for name, argument in arguments().items() if argument.by_column}
        shared = {"shuffle": self.shuffle} if self.shuffle == "columns" else {}
        for one in self.parts:
            names = one.attributes
            given = {name: value for name, value in self.asked.items() if name != "types"}
            if "unit_attributes" in given:
                given["unit_attributes"] = [name for name in self.unit_attributes if name in names]
            for name in by_column & set(given):
                if isinstance(given[name], Mapping):
                    given[name] = {c: value for c, value in given[name].items() if c in names}
            if not given.get("missing_codes"):
                given.pop("missing_reasons", None)
            kept = {name: v for name, v in given.items() if v or name not in by_column}
            asked = {"attributes": list(names), **kept, **shared, **one.asked}
            # A k that is left to advice is to keep what the whole is asked to.
            yield {**asked, "scope": self.scope} if asked.get("k") == AUTO else asked

    def _wrong_together(self) -> Iterator[RequestError]:
        """Yield what is wrong between parts, and between them and what is said of the table."""
        looked_at = self.asked.get("looked_at")
        yield from refused_for_all(self.scope, looked_at, self.attributes, self.keep, self.shuffle)
        for argument in ("budget", "matrix", "never_missing"):
            given = self.asked.get(argument)
            named = given if isinstance(given, Mapping | list | tuple) else ()
            for name in sorted({*named} - {*self.attributes}):
                yield RequestError(
                    f"{argument} of '{name}'", "it is no protected attribute", "leave it out"
                )
        for name in self.unit_attributes:
            if name not in self.attributes:
                yield RequestError(
                    f"unit_attributes, column '{name}'",
                    "no part protects it",
                    "name it in a part too, or leave it out",
                )
        yield from self._wrong_in_rows()

    def _wrong_in_rows(self) -> Iterator[RequestError]:
        """Yield what cannot stand in one row, or be put in a random order of its own."""
        apart = [one for one in self.parts if one.asked.get("shuffle")]
        if apart and self.shuffle is not None:
            yield RequestError(
                "shuffle",
                f"it is said of the whole table, and of the part of {apart[0].named}",
                "say it once",
            )
        unit = self.asked.get("unit")
        by_units = {method.id for method in METHODS.values() if "units" in method.can}
        counting = [one for one in self.parts if str(one.asked["method"]) in by_units]
        if unit is not None and counting and len(self.parts) > 1:
            yield RequestError(
                "unit",
                f"the part of {counting[0].named} counts the people of a cluster, and beside other "
                "parts its records are not k-anonymous",
                "protect all attributes by one method, or leave out unit",
            )
        if unit is not None and unit in (*self.attributes, *self.keep):
            yield RequestError(
                f"column '{unit}'",
                "it says which records are one unit's, and is not released: new numbers take its "
                "place where rows are kept",
                "leave it out of parts and keep",
            )
        beside = unit or listed(self.keep)
        if apart and beside and len(self.parts) > 1:
            yield RequestError(
                f"part of {apart[0].named}, shuffle",
                f"its values would stand beside other people's in {beside}",
                "leave out shuffle, or keep no column and name no unit beside it",
            )


@contextmanager
def in_part(number: int, one: Part) -> Iterator[None]:
    """Say of an error in which part it arose."""
    try:
        yield
    except MicroveilError as error:
        place = f"part {number} ({one.named})"
        raise one_error([moved(own, f"{place}, {own.place}") for own in error.problems]) from None
