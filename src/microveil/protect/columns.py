"""The columns that a request protects, in whole units of their grids, and whose records they are.

A unit is all records with one value of a column, those of a household for example. Where a unit
is protected, records beyond a public number are left out before anything else looks at the table.
Which ones is drawn without a look at their values: for one and the same draw two neighbouring
tables, which differ in the values of one unit alone, lose the same records, and what is left
differs in so many records at most.

An attribute that is declared to be one value a unit is taken from the unit's first record: what
replacing a unit changes of it is one value, which is drawn once and copied to its records. Drawn
for each of them anew, the draws would average out.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, Problems
from microveil.guarantee import Unit
from microveil.noise.noise import RandomSource, permutation
from microveil.protect.parts import Whole
from microveil.protect.request import Request
from microveil.schema import Attribute, Kind, Source, written
from microveil.table import (
    GridColumn,
    Numbers,
    Table,
    check_columns,
    numbers_of_attribute,
    on_grid,
    words_of_attribute,
)
from microveil.table.table import counted_words, numbered_alike, records_taken
from microveil.table.threads import in_threads
from microveil.table.untyped import untyped_column

Positions = NDArray[np.int64]
# So many different values of a column are named.
MOST = 20


def silent(_step: str) -> None:
    """Say nothing of a step."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """Whose records a table holds: for the custodian."""

    unit: Unit
    of_record: Positions  # the number of each record's unit, from 0
    n_dropped: int  # how many records were left out

    def of_values(self, missing: NDArray[np.bool_] | None) -> Positions:
        """Return the unit of each record that has a value of an attribute."""
        return self.of_record if missing is None else self.of_record[~missing]

    def first_records(self) -> Positions:
        """Return, for each record, the first of its unit's in the table."""
        _, first = np.unique(self.of_record, return_index=True)
        records: Positions = first[self.of_record]
        return records

    def differing(self, numbers: Numbers) -> int:
        """Count the units whose records differ in what is to be one value a unit."""
        first = numbers.in_order(self.first_records())
        differs = numbers.values != first.values
        if numbers.missing is not None and first.missing is not None:
            differs &= ~(numbers.missing & first.missing)
            differs |= numbers.missing != first.missing
        return len(np.unique(self.of_record[differs]))

    def renumbered(self, source: RandomSource) -> Positions:
        """Draw new numbers for the units, from 1, in a secret order; one a record."""
        orders = permutation(int(self.of_record.max()) + 1, source)
        numbers: Positions = orders[self.of_record] + 1
        return numbers


@dataclass(frozen=True, kw_only=True, eq=False)
class Prepared:
    """A table opened for a request, and the attributes that it protects."""

    table: Table
    request: Request  # of several parts that of the first
    attributes: tuple[Attribute, ...]  # those to protect, in the table's order
    left_out: Mapping[str, str]  # columns that are neither protected nor kept, and why
    asked: Mapping[str, Any] = field(default_factory=dict)  # what the request was made of
    units: Units | None = None  # whose records they are, where a unit's are protected together
    # Columns to be released whose name, category or kept cell begins like a formula.
    formulas: tuple[str, ...] = ()
    held: tuple[GridColumn, ...] | None = None  # all columns on their grids, where at hand
    progress: Callable[[str], None] = silent  # gets the name of each step
    whole: Whole | None = None  # what is asked of several parts together
    parts: "tuple[Prepared, ...]" = ()  # the columns of each of them

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
        except DataError:  # all columns that break a rule are refused together
            problems = Problems()
            for own in self.attributes:
                with problems.noted():
                    _column(self.table, own, self.request, self.units)
            problems.refuse()
            raise

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


def _column(
    table: Table, attribute: Attribute, request: Request, units: Units | None
) -> GridColumn:
    """Read a column, round it to its grid and hold it against its domain."""
    is_protected, is_synthetic = request.missing == "protect", "new table" in request.method.can
    if attribute.kind_source is Source.LEARNT:
        return untyped_column(table, attribute, clamp=request.outside == "clamp")
    if attribute.is_words:
        keep_missing = is_protected and not attribute.never_missing
        column = words_of_attribute(table, attribute, keep_missing=keep_missing)
        check_enough([column], request)
        return column
    column = on_grid(
        numbers_of_attribute(table, attribute, shared=is_synthetic),
        attribute,
        keep_missing=request.missing != "error" and not attribute.never_missing,
        clamp=request.outside == "clamp",
        may_be_empty=is_protected,
        may_be_hidden="missing" in request.method.can,
    )
    check_enough([column], request)
    is_of_one = False
    if is_protected and units is not None:
        of_values = units.of_values(column.missing)
        is_of_one = len(of_values) > 0 and bool((of_values == of_values[0]).all())
    if is_protected and (attribute.name in table.of_few or is_of_one):
        raise DataError(
            attribute.place,
            "it has a value in one record at most, or in those of one unit, and that value alone "
            "would decide the type in which the column is released",
            "leave it out, or convert it to the type that it is to be released in",
        )
    if attribute.of_unit and units is not None:
        column = _of_units(column, units, may_be_empty=is_protected)
        check_enough([column], request)
    return column.narrowed() if is_synthetic else column


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
    """Refuse attributes of fewer values than a cluster needs, or than hide what they hold.

    How many values there are is for the noise of a new table to hide, few ones too.
    """
    is_hidden = "new table" in request.method.can or request.missing == "protect"
    for column in columns:
        place, n_present = column.attribute.place, column.n_present
        if column.attribute.is_learnt and 0 < n_present <= request.protected_unit.max_rows:
            # They alone would decide what it holds: numbers, dates or text.
            raise DataError(
                place,
                "so few records have a value that those of one person or unit may decide what "
                "kind of values it holds",
                "leave it out, or declare what it holds (bounds or categories)",
            )
        if n_present < request.k and not is_hidden:
            rule, remedy = "it has fewer values than k", "choose a smaller k or leave it out"
            raise DataError(place, rule, remedy)
        # One value alone would also decide the type of a column that is read from text.
        if n_present == 1 and not is_hidden:
            raise DataError(place, "one value cannot be hidden among others", "leave it out")


def values_outside(prepared: Prepared) -> Iterator[str]:
    """Yield a line for each attribute that has values outside its domain, with these values."""
    for part in prepared.each:
        for attribute in part.attributes:
            if attribute.domain is None:
                continue
            found = sorted(
                set(_outside(part.table, attribute)), key=lambda one: (isinstance(one, str), one)
            )
            if found:
                more = f", and {len(found) - MOST} more" if len(found) > MOST else ""
                domain = "bounds" if attribute.categories is None else "categories"
                named = ", ".join(map(str, found[:MOST]))
                yield (
                    f"For the custodian only, values outside the {domain} of {attribute.name}: "
                    f"{named}{more}"
                )


def _outside(table: Table, attribute: Attribute) -> Iterator[int | float | str]:
    """Yield the values of an attribute that lie outside its domain, as people write them."""
    categories = attribute.categories
    if categories is not None and categories.words is not None:
        yield from (
            word for word in counted_words(table, attribute.name) if word not in categories.words
        )
        return
    if categories is not None:
        numbers = table.numbers(attribute.name)
        present = numbers.values if numbers.missing is None else numbers.values[~numbers.missing]
        listed = {*categories.values}
        yield from (value for value in np.unique(present).tolist() if value not in listed)
        return
    numbers = numbers_of_attribute(table, attribute)
    own = on_grid(
        numbers, replace(attribute, domain=None), keep_missing=True, clamp=False, may_be_empty=True
    )
    lower, upper = attribute.grid_bounds or (0, 0)
    for value in np.unique(own.values[(own.values < lower) | (own.values > upper)]).tolist():
        kind = Kind.WHOLE if attribute.kind is Kind.BOOLEAN else attribute.kind
        yield written(value * attribute.resolution, kind)


def limited(table: Table, unit: Unit, *, outside: str, seed: int | None) -> tuple[Table, Units]:
    """Leave out the records of a unit beyond those that it may have; see `rows_within`."""
    column = str(unit.column)
    check_columns(table, (column,))
    alike, absent = numbered_alike(table, column)
    place = f"column '{column}'"
    if absent.any():
        raise DataError(
            f"{place}, {absent.sum()} records, the first is record {absent.argmax() + 1}",
            "every record must be of a unit, and they have no value",
            "fill in whose records they are, each its own where it is nobody else's, or leave "
            "them out",
        )
    _, of_record = np.unique(alike, return_inverse=True)
    too_large = int((np.bincount(of_record) > unit.max_rows).sum())
    if not too_large:
        return table, Units(unit=unit, of_record=of_record, n_dropped=0)
    if outside == "error":
        raise DataError(
            f"{place}, {too_large} units",
            f"they have more than the {unit.max_rows} records that a unit may have",
            'pass a larger max_rows, as publicly known, or outside="clamp" (--outside clamp) to '
            "leave out what is beyond, drawn without a look at the values",
        )
    # A stream of its own: the noise is drawn by another.
    rows = rows_within(of_record, unit.max_rows, RandomSource.of(seed, " units"))
    kept = Units(unit=unit, of_record=of_record[rows], n_dropped=len(of_record) - len(rows))
    return records_taken(table, rows), kept


def rows_within(of_record: Positions, max_rows: int, source: RandomSource) -> Positions:
    """Draw at most so many records of each unit, each of them as likely as another."""
    drawn = np.lexsort((source.words(len(of_record)), of_record))
    sizes = np.bincount(of_record)
    place = np.arange(len(drawn)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows: Positions = np.sort(drawn[place < max_rows])
    return rows
