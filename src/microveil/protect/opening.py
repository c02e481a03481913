"""A table opened for a request: which of its columns are protected, kept or left out."""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from microveil.errors import DataError, Problems, RequestError
from microveil.files.formulas import FORMULA_SIGNS, begins_like_formula
from microveil.protect.attributes import (
    attribute_of,
    check_types,
    declared_categories,
    is_ordered,
    refuse_moments,
)
from microveil.protect.columns import Prepared, Units, limited, silent
from microveil.protect.request import NO_LIMIT, Request
from microveil.protect.rules import check_record_rules
from microveil.schema import Attribute, Code, Kind
from microveil.table import (
    BoundsFromData,
    Table,
    check_columns,
    likely_identifier,
    likely_person,
    likely_weights,
    named_like_name,
    named_like_person,
    named_like_weight,
    open_table,
)
from microveil.table.gridding import counted_records, missing_error
from microveil.table.table import check_kept

# Why a column is left out by its name.
LIKE_PERSON, LIKE_NAME = "named like a person's number", "named like a person's name"
LIKE_WEIGHT = "named like a survey's weight"


class Opened(NamedTuple):
    """A table that was opened, and limited to so many records of a unit, for several requests."""

    table: Table
    units: Units | None


def opened_for(table: Any, request: Request) -> Opened:
    """Open a table for requests that protect the same units, unless it is open."""
    if isinstance(table, Opened):
        return table
    unit = request.protected_unit
    # Where clusters count people, `Prepared` asks whether all values are one unit's.
    most = 1 if unit.max_rows == NO_LIMIT else unit.max_rows
    whole = open_table(table, request.codes, request.stated, most)
    if unit.column is None:
        return Opened(whole, None)
    return Opened(*limited(whole, unit, outside=request.outside, seed=request.seed))


def prepare(table: Any, request: Request, progress: Callable[[str], None] = silent) -> Prepared:
    """Open a table, unless it is open, and choose its columns; they are read when asked for."""
    opened, units = opened_for(table, request)
    problems, attributes = Problems(), list[Attribute]()
    names, left_out = _chosen(opened, request, problems)
    for name in names:
        with problems.noted():
            attributes.append(attribute_of(opened, name, request))
    if request["rules"] and request.method.uses("rules"):
        check_record_rules(opened, request, names, attributes, problems)
    for name in request.keep:
        with problems.noted():
            if name in opened.names:
                check_kept(opened, name)
    if opened.n_records < request.k:
        problems.append(DataError("table", "it has fewer records than k", "choose a smaller k"))
    if problems and request.missing == "error":  # else they are refused once these are mended
        problems.extend(_cells_missing(opened, names, request))
    problems.refuse()
    if request.learns:
        request = replace(request, attributes=tuple(attribute.name for attribute in attributes))
    return Prepared(
        table=opened,
        request=request,
        attributes=tuple(attributes),
        left_out=left_out,
        units=units,
        formulas=tuple(formulas_in(opened, attributes, request.keep)),
        progress=progress,
    )


def _cells_missing(table: Table, names: Iterable[str], request: Request) -> Iterator[DataError]:
    """Refuse the columns to protect that have missing cells."""
    may_be_hidden = "missing" in request.method.can
    for name in names:
        kind = table.kind(name)
        try:
            missing = (table.numbers(name) if kind.is_numeric else table.codes(name, ())).missing
        except DataError:  # it is refused as it is
            continue
        if missing is not None and missing.any():
            own = Attribute(name=name, kind=kind, never_missing=name in request.never_missing)
            counted = counted_records(missing)
            yield missing_error(own, counted, infinite=False, may_be_hidden=may_be_hidden)


def chosen_names(table: Any, request: Request) -> list[str]:
    """Name the attributes that a request protects, in the table's order."""
    opened, problems = open_table(table, request.codes, request.stated), Problems()
    names, _ = _chosen(opened, request, problems)
    problems.refuse()
    return names


def categories_in_no_order(table: Any, request: Request) -> list[str]:
    """Name the attributes of a request that are categories in no order, as declared."""
    opened = open_table(table, request.codes, request.stated)
    found = []
    for name in chosen_names(opened, request):
        categories = declared_categories(opened, name, request)
        if categories is not None and not categories.kind.is_ranked:
            refuse_moments(opened, name)
            found.append(name)
    return found


def _chosen(table: Table, request: Request, problems: Problems) -> tuple[list[str], dict[str, str]]:
    """Return the attributes to protect, in the table's order, and the columns left out, with why.

    Nothing is said of those that nobody asked for.
    """
    named = (
        *(request.attributes or ()), *request.keep, *request.bounds, *request.categories,
        *request.resolution, *request.missing_codes, *request.unit_attributes,
        *request.never_missing,
    )  # fmt: skip
    with problems.noted():
        check_columns(table, named)
    if request.types:
        unknown = {*named} - {*table.names}
        with problems.noted():
            check_types(table, {n: kind for n, kind in request.types.items() if n not in unknown})
    names, left_out = list[str](), dict[str, str]()
    for name in table.names:
        if name not in request.keep and name != request.unit:
            why = _why_left_out(table, name, request)
            if why is None:
                names.append(name)
            else:
                left_out[name] = why
    if not names and not problems:
        left = ", in the list given or by the roles of the recipe"
        if request.attributes is None:
            left = (
                ": numeric columns of all-different whole numbers, and those named like a person's "
                "number or a survey's weight, are left out"
            )
        rule, remedy = "there is no attribute to protect", "name the attributes to protect"
        problems.add("attributes", rule + left, remedy)
    for argument in ("unit_attributes", "never_missing"):
        for name in getattr(request, argument):
            # What a recipe names and its method leaves out is named among the attributes.
            if name not in names and name not in (request.attributes or ()):
                problems.add(
                    f"{argument}, column '{name}'",
                    "it is no protected attribute",
                    "name it among the attributes too, or leave it out",
                )
    problems.extend(_numbers_of_people(table, names, request))
    return names, left_out


def _why_left_out(table: Table, name: str, request: Request) -> str | None:
    """Say why a column is not protected; "" where nobody asked for it, None of one that is."""
    if request.attributes is not None:
        if name not in request.attributes:
            return ""
        # A recipe may name text with categories in no order, which only some methods protect.
        is_text = request.types.get(name) is Kind.OTHER and not is_ordered(name, request)
        if is_text and "categories" not in request.method.can:
            return f"text in no order, which {request.method.id} does not take"
        return None
    return (_why_by_name if request.learns else _why_by_look)(table, name, request)


def _why_by_name(table: Table, name: str, request: Request) -> str | None:
    """Say why a column is left out by its name, and the type that was declared; None of others.

    Which columns are released must not depend on a value.
    """
    if name == request.record_id:
        return "the number of a record"
    if named_like_person(name):
        return LIKE_PERSON
    if named_like_weight(name, table.names):
        return LIKE_WEIGHT
    may_be_text = name in table.untyped or table.kind(name) is Kind.OTHER
    return LIKE_NAME if may_be_text and named_like_name(name) else None


def _why_by_look(table: Table, name: str, _request: Request) -> str | None:
    """Say why a column is left out by its name or a look at it; None of others."""
    if likely_person(table, name):
        return LIKE_PERSON
    if not table.kind(name).is_numeric:
        return "no numbers"
    if likely_identifier(table, name):
        return "whole numbers that all differ"
    return LIKE_WEIGHT if likely_weights(table, name) else None


def _numbers_of_people(
    table: Table, names: Iterable[str], request: Request
) -> Iterator[RequestError]:
    """Refuse what looks like the number of a person, unless its domain says that it is none."""
    for name in request.attributes or ():
        bounds = request.bounds.get(name)
        is_declared = bounds is not None and not isinstance(bounds, BoundsFromData)
        if is_declared or name in request.categories or name not in names:
            continue
        is_number = table.kind(name).is_numeric and likely_person(table, name)
        if is_number or (name in table.untyped and named_like_person(name)):
            yield RequestError(
                f"column '{name}'",
                "it is named like a person's number, which says who somebody is and has no mean",
                f"leave it out, name it as the unit (unit={name!r}, --unit {name}), or, if it is a "
                f"quantity, declare its bounds (bounds={{{name!r}: (0, 99)}}, --bounds "
                f"{name}=0:99)",
            )


def formulas_in(
    table: Table, attributes: Iterable[Attribute], keep: Collection[str]
) -> Iterator[str]:
    """Yield the columns to be released that hold text which a spreadsheet would run."""
    protected = {attribute.name: attribute for attribute in attributes}
    for name in table.names:
        texts: list[Code] = [name]
        if name in protected:
            texts += protected[name].reasons
            categories = protected[name].categories
            texts += () if categories is None else categories.values
        elif name in keep:
            texts += table.texts_beginning(name, FORMULA_SIGNS)
        else:
            continue
        if any(isinstance(text, str) and begins_like_formula(text) for text in texts):
            yield name
