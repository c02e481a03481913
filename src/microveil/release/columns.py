"""From a request and a table to the columns to protect, in whole units of their grids."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from microveil.arguments.steps import N_RECORDS, PARTITION
from microveil.engines.base import Engine, GridRules, as_clusters, as_searched
from microveil.errors import DataError, RequestError
from microveil.files.formulas import FORMULA_SIGNS, begins_like_formula
from microveil.guarantee import Unit
from microveil.release.attributes import (
    attribute_of,
    check_types,
    declared_categories,
    is_ordered,
    refuse_moments,
)
from microveil.release.request import Request
from microveil.release.units import Units, limited
from microveil.release.whole_columns import RANKING, needs_whole_columns
from microveil.schema import Attribute, Kind
from microveil.table import (
    BoundsFromData,
    GridColumn,
    MissingCodes,
    Table,
    check_columns,
    likely_identifier,
    likely_person,
    open_table,
)
from microveil.table.memory import check_column, check_protecting

__all__ = [
    "Opened",
    "Prepared",
    "categories_in_no_order",
    "check_enough",
    "check_fits",
    "chosen_names",
    "formulas_in",
    "open_for",
    "outlined",
    "prepare",
]

# Bytes for a cell of text that is written anew, of those that are at hand: of 524,288 cells of up
# to 25 letters what is beside the column at hand took 40 MB more than without, at its peak; so many
# cells are made codes at a time, and those of 16 letters made anew.
A_TEXT, BATCH = 120, 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A table opened for a request.

    Attributes
    ----------
    table : Table
    columns : tuple of GridColumn
        The attributes to protect, in the table's order.
    left_out : tuple of str
        Columns that are neither protected nor kept.
    units : Units or None
        Whose records they are, where all of a unit are protected together.
    formulas : tuple of str
        Columns to be released whose name, category or kept cell begins like a formula.
    """

    table: Table
    columns: tuple[GridColumn, ...]
    left_out: tuple[str, ...]
    units: Units | None = None
    formulas: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the attributes to protect."""
        return [column.attribute.name for column in self.columns]


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A table that was opened, and limited to so many records of a unit, for several requests.

    Attributes
    ----------
    table : Table
    units : Units or None
    """

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
    """Open a table for requests that protect the same units.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    codes : MissingCodes
        Of all of them: what stands for a missing value.
    unit, outside, seed
        See `limited`.
    stated : mapping of str to Kind
        See `stated_kinds`.

    Raises
    ------
    RequestError, DataError
        If there are no such units, or one has more records than it may.
    """
    whole = open_table(table, codes, stated, unit.max_rows)
    opened, units = limited(whole, unit, outside=outside, seed=seed)
    return Opened(table=opened, units=units)


def _opened(table: Any, request: Request) -> Opened:
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
    engine: Engine,
    progress: Callable[[str], None] = lambda _step: None,
) -> Prepared:
    """Open a table, unless it is open, choose its columns and put them on their grids.

    Parameters
    ----------
    table : data frame, dict of numpy arrays or Opened
    request : Request
    engine : Engine
        Keeps the columns.
    progress : callable
        Gets the name of each step.

    Raises
    ------
    RequestError, DataError
        If the request does not fit the table or a column breaks a rule.
    """
    for_all = _opened(table, request)
    opened, units = for_all.table, for_all.units
    _fits_by_columns(opened, request, engine)
    attributes, left_out = _outline(opened, request)
    for name in request.keep:
        opened.check_kept(name)
    if opened.n_records < request.k:
        raise DataError("table", "it has fewer records than k", "choose a smaller k")
    check_fits(opened, len(attributes), request, engine)

    def gridded(attribute: Attribute) -> GridColumn:
        progress(f"reading {attribute.name}")
        return engine.kept(_column(opened, attribute, request, units, engine))

    n_values = opened.n_records * len(attributes)
    columns = tuple(engine.side_by_side(gridded, attributes, n_values))
    return Prepared(
        table=opened,
        columns=columns,
        left_out=tuple(left_out),
        units=units,
        formulas=tuple(formulas_in(opened, attributes, request.keep)),
    )


def check_fits(
    table: Table,
    n_attributes: int,
    request: Request,
    engine: Engine,
    *,
    linked: bool | None = None,
) -> None:
    """Refuse a request that takes more memory than there is.

    Parameters
    ----------
    table : Table
    n_attributes : int
    request : Request
    engine : Engine
    linked : bool, optional
        Whether records are linked with the original before the release is written; by default
        it is not written.

    Raises
    ------
    DataError
        With what is needed, what is there, and what would fit.
    """
    if not engine.in_process:
        return
    method, wanted = request.method, request[N_RECORDS] or 0
    follow = not method.is_synthetic and request.shuffle is None
    n_records = max(table.n_records, wanted if method.is_synthetic else 0)
    if _fits_by_columns(table, request, engine):
        return
    check_protecting(
        n_records,
        n_attributes,
        method.memory,
        written=linked is not None,
        linked=bool(linked) and follow,
    )


def _fits_by_columns(table: Table, request: Request, engine: Engine) -> bool:
    """Refuse a column that does not fit; say whether an engine holds no more than columns."""
    if not engine.in_process:
        return False
    method, wanted = request.method, request[N_RECORDS] or 0
    n_records = max(table.n_records, wanted if method.is_synthetic else 0)
    whole = needs_whole_columns(table, request)
    n_clusters = n_records // request.k if method.ranks_each else as_clusters(n_records)
    if request[PARTITION] not in (None, RANKING):
        n_clusters = as_searched(n_records)
    # What is planned and drawn in parts holds no clusters where the column is not at hand.
    in_parts = None if whole is not None else 0 if method.goes_in_parts else n_clusters
    needed = engine.column_memory(n_records, n_clusters, in_parts)
    if needed is not None:
        if request.shuffle is not None:
            needed = max(needed, engine.order_memory(n_records) or 0)
        if any(table.is_text(name) for name in request.attributes or () if name in table.names):
            needed += A_TEXT * min(n_records, BATCH)
        check_column(n_records, needed, engine.memory, whole)
    return needed is not None


def chosen_names(table: Any, request: Request) -> list[str]:
    """Name the attributes that a request protects, in the table's order.

    Raises
    ------
    RequestError, DataError
        If there are none, or a column that is named is not there or of another type.
    """
    return _chosen(open_table(table, request.codes, request.stated), request)[0]


def categories_in_no_order(table: Any, request: Request) -> list[str]:
    """Name the attributes of a request that are categories in no order, as declared.

    Raises
    ------
    RequestError, DataError
        As `chosen_names`, and for what is neither numbers nor text, whatever was declared.
    """
    opened = open_table(table, request.codes, request.stated)
    found = []
    for name in _chosen(opened, request)[0]:
        categories = declared_categories(opened, name, request)
        if categories is not None and not categories.kind.is_ranked:
            refuse_moments(opened, name)
            found.append(name)
    return found


def outlined(table: Any, request: Request) -> tuple[Table, list[Attribute], list[str]]:
    """Open a table and choose its columns, without a look at their values.

    Returns
    -------
    (Table, list of Attribute, list of str)
        The table, the attributes to protect, and the columns that are left out.

    Raises
    ------
    RequestError, DataError
        If the request does not fit the table.
    """
    opened = _opened(table, request).table
    return opened, *_outline(opened, request)


def _outline(table: Table, request: Request) -> tuple[list[Attribute], list[str]]:
    names, left_out = _chosen(table, request)
    return [attribute_of(table, name, request) for name in names], left_out


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


def _chosen(table: Table, request: Request) -> tuple[list[str], list[str]]:
    """Return the attributes to protect, in the table's order, and the columns left out."""
    domains = (
        *request.bounds, *request.categories, *request.resolution, *request.missing_codes,
        *request.unit_attributes, *request.never_missing,
    )  # fmt: skip
    check_columns(table, (*(request.attributes or ()), *request.keep, *domains))
    check_types(table, request.types)
    if request.attributes is not None:
        # A recipe may name text with categories in no order, which only some methods protect.
        skipped = {
            name
            for name, kind in request.types.items()
            if kind is Kind.OTHER
            and not request.method.takes_categories
            and not is_ordered(name, request)
        }
        names = [name for name in table.names if name in request.attributes and name not in skipped]
    else:
        names = [
            name
            for name in table.names
            if name not in (*request.keep, request.unit)
            and table.kind(name).is_numeric
            and not likely_identifier(table, name)
            and not likely_person(table, name)
        ]
    if not names:
        raise RequestError(
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
    _check_of_units(names, request)
    _refuse_numbers_of_people(table, names, request)
    released = {*names, *request.keep, request.unit}
    return names, [name for name in table.names if name not in released]


def _refuse_numbers_of_people(table: Table, names: Iterable[str], request: Request) -> None:
    """Refuse what looks like the number of a person, unless its domain says that it is none."""
    for name in request.attributes or ():
        bounds = request.bounds.get(name)
        is_declared = bounds is not None and not isinstance(bounds, BoundsFromData)
        if is_declared or name in request.categories or name not in names:
            continue
        if table.kind(name).is_numeric and likely_person(table, name):
            raise RequestError(
                f"column '{name}'",
                "it is named like a person's number, which says who somebody is and has no mean",
                f"leave it out, name it as the unit (unit={name!r}, --unit {name}), or, if it is a "
                f"quantity, declare its bounds (bounds={{{name!r}: (0, 99)}}, --bounds "
                f"{name}=0:99)",
            )


def _check_of_units(names: Collection[str], request: Request) -> None:
    """Refuse what is said of single attributes where it is not protected at all."""
    # What a recipe names and its method leaves out is named among the attributes all the same.
    protected = {*names, *(request.attributes or ())}
    for argument in ("unit_attributes", "never_missing"):
        alien = next((name for name in getattr(request, argument) if name not in protected), None)
        if alien is not None:
            raise RequestError(
                f"{argument}, column '{alien}'",
                "it is no protected attribute",
                "name it among the attributes too, or leave it out",
            )


def _column(
    table: Table, attribute: Attribute, request: Request, units: Units | None, engine: Engine
) -> GridColumn:
    is_protected, is_synthetic = request.missing == "protect", request.method.is_synthetic
    rules = GridRules(
        keep_missing=request.missing != "error" and not attribute.never_missing,
        clamp=request.outside == "clamp",
        may_be_empty=is_protected,
        may_be_hidden=request.method.hides_missing,
        shared=is_synthetic,
    )
    column = engine.gridded(table, attribute, rules)
    if is_protected and attribute.name in table.of_few:
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
        return column.narrowed() if is_synthetic and engine.in_process else column
    check_enough([column], request)
    # One value alone would also decide the type of a column that is read from text.
    if column.n_present == 1:
        raise DataError(attribute.place, "one value cannot be hidden among others", "leave it out")
    return column


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

    Raises
    ------
    DataError
        With the attribute.
    """
    if request.method.is_synthetic or request.missing == "protect":
        return
    for column in columns:
        if column.n_present < request.k:
            raise DataError(
                column.attribute.place,
                "it has fewer values than k",
                "choose a smaller k or leave it out",
            )
