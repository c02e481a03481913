"""Units: whose records a table holds, and at most so many of each.

A unit is all records with one value of a column, those of a household for example. Where a unit
is protected, records beyond a public number are left out before anything else looks at the table.
Which ones is drawn without a look at their values: for one and the same draw two neighbouring
tables, which differ in the values of one unit alone, lose the same records, and what is left
differs in so many records at most.

An attribute that is declared to be one value a unit is taken from the unit's first record: what
replacing a unit changes of it is one value, which is drawn once and copied to its records. Drawn
for each of them anew, the draws would average out.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.guarantee import Unit
from microveil.noise.noise import RandomSource, permutation
from microveil.table import Numbers, Table, check_columns
from microveil.table.table import numbered_alike, records_taken

Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Units:
    """Whose records a table holds: for the custodian."""

    unit: Unit
    of_record: Whole  # the number of each record's unit, from 0
    n_dropped: int  # how many records were left out

    def of_values(self, missing: NDArray[np.bool_] | None) -> Whole:
        """Return the unit of each record that has a value of an attribute."""
        return self.of_record if missing is None else self.of_record[~missing]

    def first_records(self) -> Whole:
        """Return, for each record, the first of its unit's in the table."""
        _, first = np.unique(self.of_record, return_index=True)
        records: Whole = first[self.of_record]
        return records

    def differing(self, numbers: Numbers) -> int:
        """Count the units whose records differ in what is to be one value a unit."""
        first = numbers.in_order(self.first_records())
        differs = numbers.values != first.values
        if numbers.missing is not None and first.missing is not None:
            differs &= ~(numbers.missing & first.missing)
            differs |= numbers.missing != first.missing
        return len(np.unique(self.of_record[differs]))

    def renumbered(self, source: RandomSource) -> Whole:
        """Draw new numbers for the units, from 1, in a secret order; one a record."""
        orders = permutation(int(self.of_record.max()) + 1, source)
        numbers: Whole = orders[self.of_record] + 1
        return numbers


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


def rows_within(of_record: Whole, max_rows: int, source: RandomSource) -> Whole:
    """Draw at most so many records of each unit, each of them as likely as another.

    >>> rows_within(np.array([0, 1, 0, 1, 0]), 2, RandomSource.seeded(1)).size
    4
    """
    drawn = np.lexsort((source.words(len(of_record)), of_record))
    sizes = np.bincount(of_record)
    place = np.arange(len(drawn)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows: Whole = np.sort(drawn[place < max_rows])
    return rows
