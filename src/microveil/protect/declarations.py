"""What a table's file declares of its columns, filled into a request that accepts it."""

from collections.abc import Collection, Mapping
from typing import Any

from microveil.errors import Problems, RequestError
from microveil.files.codebook import read_codebook
from microveil.protect.arguments import DECLARED
from microveil.protect.parts import named_attributes
from microveil.schema import Categories, Declared, Kind, Ordered, Source
from microveil.table import LabelledTable, Labels, open_table
from microveil.table.frames import is_of_spark
from microveil.table.table import listed_categories

# A list of fewer categories names a value or two of a number, as 99 for "99 or more".
FEWEST = 2
DOMAINS = ("bounds", "categories")


def declared_by_file(table: Any) -> dict[str, Declared]:
    """Return by column what a table declares beside its values: a code list, missing codes.

    A table is one of `read`, or any other: of that the categories of its types are declared.
    """
    if is_of_spark(table):
        return {}
    if isinstance(table, LabelledTable):
        schema = table.schema.items()
        return {name: _declared(own.kind, own.labels, own.categories) for name, own in schema}
    opened = open_table(table)
    found = {}
    for name in opened.names:
        words = listed_categories(opened, name)
        listed = Categories(values=words, ordered=False, source=Source.TYPE) if words else None
        found[name] = _declared(opened.kind(name), opened.labels.get(name, Labels()), listed)
    return found


def _declared(kind: Kind, labels: Labels, listed: Categories | None) -> Declared:
    """Say what is declared of a column; of yes and no nothing is left to be a missing code."""
    missing = () if kind is Kind.BOOLEAN else labels.missing_codes
    codes = labels.valid or {value: str(value) for value in (listed.values if listed else ())}
    is_list = kind is not Kind.DATE and len(codes) >= FEWEST
    return Declared(
        label=labels.column,
        kind=kind,
        bounds=labels.bounds,
        categories=codes if is_list and not any(isinstance(c, float) for c in codes) else {},
        is_ordered=labels.is_ordinal,
        missing_codes=missing,
    )


def accepted(
    table: Any, asked: Mapping[str, Any], problems: Problems | None = None
) -> dict[str, Any]:
    """Return arguments of `protect` with what a codebook says, and the table where they accept it.

    What the arguments say themselves comes first, and what the codebook says before the table.
    What is wrong with a codebook is raised, or taken down as one of the problems.
    """
    if asked.get("codebook") is not None:
        names = table.columns if is_of_spark(table) else open_table(table).names
        asked = with_codebook(asked, names, problems=problems)
    rest = {name: value for name, value in asked.items() if name != "accept"}
    if asked.get("accept") != "file":
        return {**asked}  # a wrong word is refused with everything else that is wrong
    return with_declared(rest, to_accept(table))


def to_accept(table: Any) -> dict[str, Declared]:
    """Return what a table declares; refused is one that declares nothing."""
    found = declared_by_file(table)
    if not any(own.has_domain or own.missing_codes for own in found.values()):
        raise RequestError(
            "accept",
            "the table declares nothing of its columns: no code lists, bounds or missing codes",
            "leave it out (--accept); in Python pass the table that microveil.read returns",
        )
    return found


def with_codebook(
    asked: Mapping[str, Any],
    columns: Collection[str],
    *,
    typed: bool = True,
    problems: Problems | None = None,
) -> dict[str, Any]:
    """Return arguments of `protect` with what their codebook says of the columns of a table.

    What the arguments say themselves comes first. Where a file has no types, the kinds that the
    codebook gives are those of its columns. What is wrong with it is raised, or taken down as one
    of the problems.
    """
    if asked.get("codebook") is None:
        return {**asked}
    declared = read_codebook(DECLARED["codebook"].checked(asked["codebook"]), columns, problems)
    both = with_declared({n: v for n, v in asked.items() if n != "codebook"}, declared)
    types = both.get("types") or {}
    if not typed and isinstance(types, Mapping):
        named = _protected(both, declared)
        kinds = {n: str(declared[n].kind) for n in named if declared[n].kind is not None}
        both["types"] = {**kinds, **types}
    return both


def with_declared(asked: Mapping[str, Any], declared: Mapping[str, Declared]) -> dict[str, Any]:
    """Fill in what is publicly declared of the columns that a request protects.

    A domain, a resolution and missing codes are each filled in where the request has none.
    """
    both, named, has_domain = {**asked}, _protected(asked, declared), set[str]()
    for argument in DOMAINS:
        has_domain.update(asked[argument] if isinstance(asked.get(argument), Mapping) else ())
    for argument in (*DOMAINS, "resolution", "missing_codes"):
        own, found = asked.get(argument), dict[str, Any]()
        for name in named:
            value = getattr(declared[name], argument)
            if value and not (argument in DOMAINS and name in has_domain):
                found[name] = value
                if argument == "categories":
                    listed = tuple(value)
                    found[name] = Ordered(listed) if declared[name].is_ordered else [*listed]
        if found and (own is None or isinstance(own, Mapping)):
            both[argument] = {**found, **(own or {})}
    return both


def _protected(asked: Mapping[str, Any], declared: Mapping[str, Declared]) -> list[str]:
    """Name the declared columns that a request may protect."""
    if asked.get("attributes") is not None:
        asked = {**asked, "attributes": DECLARED["attributes"].checked(asked["attributes"])}
    named = named_attributes(asked)
    if named is not None:
        return [name for name in named if name in declared]
    aside = {asked.get("unit"), *DECLARED["keep"].checked(asked.get("keep") or ())}
    return [name for name in declared if name not in aside]
