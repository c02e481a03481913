"""From a request and a table to the columns to protect, in whole units of their grids."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

from microveil.errors import DataError, Problems, RequestError
from microveil.files.formulas import FORMULA_SIGNS, begins_like_formula
from microveil.guarantee import Unit
from microveil.protect.attributes import (
    attribute_of,
    check_types,
    declared_categories,
    is_ordered,
    refuse_moments,
)
from microveil.protect.parts import Whole
from microveil.protect.record_rules import check_record_rules
from microveil.protect.request import NO_LIMIT, Request
from microveil.protect.units import Units, limited
from microveil.schema import Attribute, Kind, Source
from microveil.table import (
    BoundsFromData,
    GridColumn,
    MissingCodes,
    Table,
    check_columns,
    likely_identifier,
    likely_person,
    named_like_person,
    numbers_of_attribute,
    on_grid,
    open_table,
    words_of_attribute,
)
from microveil.table.table import check_kept
from microveil.table.threads import in_threads
from microveil.table.untyped import untyped_column


def silent(_step: str) -> None:
    """Say nothing of a step."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """A table opened for a request, and the attributes that it protects.

    Attributes
    ----------
    table : Table
    request : Request
        Of several parts that of the first.
    asked : dict
        The arguments of which the request was made.
    attributes : tuple of Attribute
        Those to protect, in the table's order.
    left_out : tuple of str
        Columns that are neither protected nor kept.
    units : Units or None
        Whose records they are, where all of a unit are protected together.
    formulas : tuple of str
        Columns to be released whose name, category or kept cell begins like a formula.
    held : tuple of GridColumn or None
        All columns on their grids, where they are at hand.
    progress : callable
        Gets the name of each step.
    whole : Whole or None
        What is asked of several parts together.
    parts : tuple of Prepared
        The columns of each of them.
    """

    table: Table
    request: Request
    attributes: tuple[Attribute, ...]
    left_out: tuple[str, ...]
    asked: Mapping[str, Any] = field(default_factory=dict)
    units: Units | None = None
    formulas: tuple[str, ...] = ()
    held: tuple[GridColumn, ...] | None = None
    progress: Callable[[str], None] = silent
    whole: Whole | None = None
    parts: "tuple[Prepared, ...]" = ()

    @property
    def each(self) -> "tuple[Prepared, ...]":
        """The parts; itself, where it is the only one."""
        return self.parts or (self,)

    @property
    def keep(self) -> tuple[str, ...]:
        """Columns that are released unprotected."""
        return self.request.keep if self.whole is None else self.whole.keep

    @property
    def names(self) -> list[str]:
        """Names of the attributes to protect."""
        return [attribute.name for attribute in self.attributes]

    def column(self, number: int) -> GridColumn:
        """Put the column of an attribute on its grid, unless it is at hand, and do not keep it."""
        if self.held is not None:
            return self.held[number]
        attribute = self.attributes[number]
        self.progress(f"reading {attribute.name}")
        try:
            return _column(self.table, attribute, self.request, self.units)
        except DataError:
            self._refuse_columns()
            raise

    def _refuse_columns(self) -> None:
        """Refuse all columns that break a rule together, once one does."""
        problems = Problems()
        for attribute in self.attributes:
            with problems.noted():
                _column(self.table, attribute, self.request, self.units)
        problems.refuse()

    def for_request(self, request: Request) -> "Prepared":
        """Return the same columns for another request, read once for both."""
        return replace(self, request=request, held=self.columns)

    @cached_property
    def columns(self) -> tuple[GridColumn, ...]:
        """All columns on their grids: for who needs them together, or again."""
        if self.held is not None:
            return self.held
        numbers = range(len(self.attributes))
        return tuple(in_threads(self.column, numbers, len(numbers) * self.table.n_records))


class Opened(NamedTuple):
    """A table that was opened, and limited to so many records of a unit, for several requests."""

    table: Table
    units: Units | None


def open_for(
    table: Any,
    codes: MissingCodes,
    unit: Unit,
    stated: Mapping[str, Kind],
    *,
    outside: str,
    seed: int | None,
) -> Opened:
    """Open a table for requests that protect the same units."""
    # Where clusters count people, `_column` asks whether all values are one unit's.
    whole = open_table(table, codes, stated, 1 if unit.max_rows == NO_LIMIT else unit.max_rows)
    return Opened(*limited(whole, unit, outside=outside, seed=seed))


def opened_for(table: Any, request: Request) -> Opened:
    """Open a table for a request, unless it is open."""
    if isinstance(table, Opened):
        return table
    return open_for(
        table,
        request.codes,
        request.protected_unit,
        request.stated,
        outside=request.outside,
        seed=request.seed,
    )


def prepare(
    table: Any,
    request: Request,
    progress: Callable[[str], None] = silent,
) -> Prepared:
    """Open a table, unless it is open, and choose its columns; they are read when asked for."""
    for_all = opened_for(table, request)
    opened = for_all.table
    problems = Problems()
    attributes, left_out = _outline(opened, request, problems)
    for name in request.keep:
        with problems.noted():
            if name in opened.names:
                check_kept(opened, name)
    if opened.n_records < request.k:
        problems.append(DataError("table", "it has fewer records than k", "choose a smaller k"))
    problems.refuse()
    if request.learns:
        request = replace(request, attributes=tuple(attribute.name for attribute in attributes))
    return Prepared(
        table=opened,
        request=request,
        attributes=tuple(attributes),
        left_out=tuple(left_out),
        units=for_all.units,
        formulas=tuple(formulas_in(opened, attributes, request.keep)),
        progress=progress,
    )


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


def outlined(table: Any, request: Request) -> tuple[Table, list[Attribute], list[str]]:
    """Open a table and choose its columns, without a look at their values."""
    opened, problems = opened_for(table, request).table, Problems()
    attributes, left_out = _outline(opened, request, problems)
    problems.refuse()
    return opened, attributes, left_out


def _outline(
    table: Table, request: Request, problems: Problems
) -> tuple[list[Attribute], list[str]]:
    names, left_out = _chosen(table, request, problems)
    attributes = list[Attribute]()
    for name in names:
        with problems.noted():
            attributes.append(attribute_of(table, name, request))
    check_record_rules(table, request, names, attributes, problems)
    return attributes, left_out


def formulas_in(
    table: Table, attributes: Iterable[Attribute], keep: Collection[str]
) -> Iterator[str]:
    """Yield the columns to be released that hold text which a spreadsheet would run."""
    listed = {attribute.name: attribute.categories for attribute in attributes}
    reasons = {attribute.name: attribute.reasons for attribute in attributes}

    def texts(name: str) -> Iterator[str]:
        yield name
        categories = listed.get(name)
        yield from (categories and categories.words) or ()
        yield from (code for code in reasons.get(name, ()) if isinstance(code, str))
        yield from table.texts_beginning(name, FORMULA_SIGNS) if name in keep else ()

    for name in table.names:
        if (name in keep or name in listed) and any(map(begins_like_formula, texts(name))):
            yield name


def _chosen(table: Table, request: Request, problems: Problems) -> tuple[list[str], list[str]]:
    """Return the attributes to protect, in the table's order, and the columns left out."""
    domains = (
        *request.bounds, *request.categories, *request.resolution, *request.missing_codes,
        *request.unit_attributes, *request.never_missing,
    )  # fmt: skip
    named = (*(request.attributes or ()), *request.keep, *domains)
    with problems.noted():
        check_columns(table, named)
    unknown = {*named} - {*table.names}
    with problems.noted():
        check_types(table, {n: kind for n, kind in request.types.items() if n not in unknown})
    if request.attributes is not None:
        # A recipe may name text with categories in no order, which only some methods protect.
        skipped = {
            name
            for name, kind in request.types.items()
            if kind is Kind.OTHER
            and "categories" not in request.method.can
            and not is_ordered(name, request)
        }
        names = [name for name in table.names if name in request.attributes and name not in skipped]
    elif request.learns:
        # By names alone: which columns are released must not hang on a value.
        names = [
            name
            for name in table.names
            if name not in (*request.keep, request.unit, request.record_id)
            and not named_like_person(name)
        ]
    else:
        names = [
            name
            for name in table.names
            if name not in (*request.keep, request.unit)
            and table.kind(name).is_numeric
            and not likely_identifier(table, name)
            and not likely_person(table, name)
        ]
    if not names and not problems:
        problems.add(
            "attributes",
            "there is no attribute to protect"
            + (
                ": numeric columns of all-different whole numbers, and those named like a person's "
                "number, are taken for identifiers"
                if request.attributes is None
                else ", in the list given or by the roles of the recipe"
            ),
            "name the attributes to protect",
        )
    problems.extend((*_alien_to_units(names, request), *_numbers_of_people(table, names, request)))
    released = {*names, *request.keep, request.unit}
    return names, [name for name in table.names if name not in released]


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


def _alien_to_units(names: Collection[str], request: Request) -> Iterator[RequestError]:
    """Refuse what is said of single attributes where it is not protected at all."""
    # What a recipe names and its method leaves out is named among the attributes all the same.
    protected = {*names, *(request.attributes or ())}
    for argument in ("unit_attributes", "never_missing"):
        for alien in (name for name in getattr(request, argument) if name not in protected):
            yield RequestError(
                f"{argument}, column '{alien}'",
                "it is no protected attribute",
                "name it among the attributes too, or leave it out",
            )


def _column(
    table: Table, attribute: Attribute, request: Request, units: Units | None
) -> GridColumn:
    """Read a column, round it to its grid and hold it against its domain."""
    is_protected, is_synthetic = request.missing == "protect", "new table" in request.method.can
    most = request.protected_unit.max_rows
    if attribute.kind_source is Source.LEARNT:
        return untyped_column(table, attribute, clamp=request.outside == "clamp")
    if attribute.is_words:
        keep_missing = is_protected and not attribute.never_missing
        column = words_of_attribute(table, attribute, keep_missing=keep_missing)
        refuse_few(column, most)
        return column
    column = on_grid(
        numbers_of_attribute(table, attribute, shared=is_synthetic),
        attribute,
        keep_missing=request.missing != "error" and not attribute.never_missing,
        clamp=request.outside == "clamp",
        may_be_empty=is_protected,
        may_be_hidden="missing" in request.method.can,
    )
    if attribute.is_learnt:
        refuse_few(column, most)
    if is_protected and (attribute.name in table.of_few or _is_of_one(column, units)):
        raise DataError(
            attribute.place,
            "it has a value in one record at most, or in those of one unit, and that value alone "
            "would decide the type in which the column is released",
            "leave it out, or convert it to the type that it is to be released in",
        )
    if attribute.of_unit and units is not None:
        column = _of_units(column, units, may_be_empty=is_protected)
    if is_synthetic or is_protected:
        # How many values there are is for the noise to hide, few ones too.
        return column.narrowed() if is_synthetic else column
    check_enough([column], request)
    # One value alone would also decide the type of a column that is read from text.
    if column.n_present == 1:
        raise DataError(attribute.place, "one value cannot be hidden among others", "leave it out")
    return column


def refuse_few(column: GridColumn, most: int) -> None:
    """Refuse a column of which one unit's records may be all that have a value.

    They alone would decide what it holds: numbers, dates or text.
    """
    if 0 < column.n_present <= most:
        raise DataError(
            column.attribute.place,
            "so few records have a value that those of one person or unit may decide what kind of "
            "values it holds",
            "leave it out, or declare what it holds (bounds or categories)",
        )


def _is_of_one(column: GridColumn, units: Units | None) -> bool:
    """Whether all values of a column are one unit's."""
    if units is None:
        return False
    absent = column.missing
    present = units.of_record if absent is None else units.of_record[~absent]
    return bool(len(present)) and bool((present == present[0]).all())


def _of_units(column: GridColumn, units: Units, *, may_be_empty: bool) -> GridColumn:
    """Give all records of a unit the value of its first one."""
    copied = column.in_order(units.first_records())
    if not copied.n_present and not may_be_empty:
        raise DataError(
            column.attribute.place,
            "the first records of all units are without a value, and these stand for the others",
            "leave it out, or out of unit_attributes",
        )
    return copied


def check_enough(columns: Iterable[GridColumn], request: Request) -> None:
    """Refuse attributes that have fewer values than a cluster needs.

    Not where that is for noise to hide, as of a new table.
    """
    if "new table" in request.method.can or request.missing == "protect":
        return
    for column in columns:
        if column.n_present < request.k:
            raise DataError(
                column.attribute.place,
                "it has fewer values than k",
                "choose a smaller k or leave it out",
            )
