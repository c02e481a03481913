"""Columns on their public grids: read, rounded and held against their bounds, at once or in pieces.

An error names the records that break a rule by how many they are and by the first of them, of the
whole column, however it was read.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.kernels import grid as kernel
from microveil.schema import Attribute
from microveil.table.keeping import IN_MEMORY, Room
from microveil.table.protocol import Table
from microveil.table.restore import Numbers, Reasons

__all__ = [
    "Checked",
    "Found",
    "GridColumn",
    "checked",
    "missing_error",
    "numbers_of_attribute",
    "on_grid",
    "on_grid_in_pieces",
    "outside_error",
    "refuse",
    "units_again",
]

# What can be done about missing cells.
KEEP = 'complete it, or pass missing="keep" (--missing keep) to release such cells as missing'
HIDE = (
    'complete it, or pass missing="protect" (--missing protect): being without a value is then a '
    "value like another"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GridColumn:
    """An attribute's values in whole grid units.

    Attributes
    ----------
    attribute : Attribute
    values : int64 array (n_present,)
        Without the missing ones. Of an attribute of a new table, which is only ever counted, any
        signed whole numbers, and the table's own where they can be.
    missing : bool array (n_records,) or None
        None where no value is missing.
    reasons : Reasons or None
        Of missing cells, where the attribute keeps them apart and some cell has a code.
    """

    attribute: Attribute
    values: NDArray[np.signedinteger[Any]]
    missing: NDArray[np.bool_] | None
    reasons: Reasons | None = None

    @property
    def n_present(self) -> int:
        """How many records have a value."""
        return len(self.values)

    @property
    def n_missing(self) -> int:
        """How many records have no value."""
        return 0 if self.missing is None else int(self.missing.sum())

    @property
    def extremes(self) -> tuple[int, int]:
        """The least and the greatest value, in grid units."""
        return int(self.values.min()), int(self.values.max())

    def in_order(self, order: NDArray[np.int64]) -> "GridColumn":
        """Return the column with other records in the place of each: (n_records,).

        >>> from fractions import Fraction
        >>> from microveil.schema import Kind, Source
        >>> age = Attribute(
        ...     name="AGE",
        ...     kind=Kind.WHOLE,
        ...     resolution=Fraction(1),
        ...     resolution_source=Source.TYPE,
        ... )
        >>> column = GridColumn(
        ...     attribute=age, values=np.array([30, 40]), missing=np.array([False, True, False])
        ... )
        >>> column.in_order(np.array([2, 1, 2])).values
        array([40, 40])
        """
        if self.missing is None:
            return replace(self, values=self.values[order])
        missing = self.missing[order]
        # The place of each present record among the values that there are.
        place = np.cumsum(~self.missing) - 1
        values = self.values[place[order[~missing]]]
        reasons = self.reasons
        if reasons is not None:
            reasons = replace(reasons, which=reasons.which[order])
        return replace(
            self, values=values, missing=missing if missing.any() else None, reasons=reasons
        )

    def narrowed(self) -> "GridColumn":
        """Keep the values in as few bytes as their domain, which is public, needs.

        Those that are the table's own stay: they take no memory beside it.
        """
        if not self.values.flags.owndata:
            return self
        kind = self.attribute.grid_type
        return replace(self, values=self.values.astype(kind, copy=False))


def numbers_of_attribute(table: Table, attribute: Attribute, *, shared: bool = False) -> Numbers:
    """Read a column as an attribute has it: numbers, or the positions of its categories.

    Shared numbers may be the table's own, see `Table.numbers`.

    >>> from fractions import Fraction
    >>> from microveil.schema import Categories, Kind, Source
    >>> from microveil.table import open_table
    >>> size = Attribute(
    ...     name="SIZE",
    ...     kind=Kind.ORDINAL,
    ...     resolution=Fraction(1),
    ...     resolution_source=Source.TYPE,
    ...     domain=Categories(values=("S", "M"), ordered=True, source=Source.DECLARED),
    ... )
    >>> numbers_of_attribute(open_table({"SIZE": np.array(["M", "S", "XL"])}), size).values
    array([ 1,  0, -1])
    """
    categories = attribute.categories
    if categories is None:
        return table.numbers(attribute.name, shared=shared)
    if categories.words is not None:
        return table.codes(attribute.name, categories.words)
    numbers = table.numbers(attribute.name, shared=shared)
    return replace(numbers, values=categories.positions(numbers.values))


def on_grid(
    numbers: Numbers,
    attribute: Attribute,
    *,
    keep_missing: bool,
    clamp: bool,
    may_be_empty: bool = False,
    may_be_hidden: bool = False,
) -> GridColumn:
    """Round a column to its grid and hold it against its declared bounds.

    Parameters
    ----------
    numbers : Numbers
    attribute : Attribute
    keep_missing : bool
        Leave missing and infinite values out instead of refusing them.
    clamp : bool
        Move values outside the bounds to the nearer bound instead of refusing them.
    may_be_empty : bool
        Take a column without any value instead of refusing it.
    may_be_hidden : bool
        Whether which cells are missing could be hidden: then that is what a refusal proposes.

    Raises
    ------
    DataError
        On missing or infinite values, values outside the bounds, or values too large.

    Notes
    -----
    Each record is rounded by itself, to the nearest grid point, so that a neighbouring table
    changes one grid value only.
    """
    own = checked(numbers, attribute, clamp=clamp)
    refuse(
        attribute,
        own.found,
        keep_missing=keep_missing,
        is_empty=not len(own.values) and not may_be_empty,
        may_be_hidden=may_be_hidden,
    )
    reasons = None
    if attribute.reasons and numbers.reasons is not None:
        reasons = numbers.reasons.of_first(len(attribute.reasons))
    return GridColumn(attribute=attribute, values=own.values, missing=own.missing, reasons=reasons)


def on_grid_in_pieces(
    pieces: Iterable[Numbers],
    n_records: int,
    attribute: Attribute,
    *,
    keep_missing: bool,
    clamp: bool,
    may_be_empty: bool = False,
    may_be_hidden: bool = False,
    room: Room = IN_MEMORY,
) -> GridColumn:
    """Return what `on_grid` does, of a column that is read some records after others.

    Parameters
    ----------
    pieces : iterable of Numbers
        The column, piece by piece.
    n_records : int
        In all of them.
    attribute, keep_missing, clamp, may_be_empty, may_be_hidden
        See `on_grid`.
    room : Room
        For the arrays of the column.

    Raises
    ------
    DataError
        As `on_grid`.
    """
    values, missing, which = room.filling(n_records, np.int64), None, None
    found, start, n_present = Found(), 0, 0
    for piece in pieces:
        own = checked(piece, attribute, clamp=clamp)
        found = found.and_then(own.found, start)
        values.write(n_present, own.values)
        if own.missing is not None:
            missing = missing or room.filling(n_records, np.bool_)
            missing.write(start, own.missing)
        if attribute.reasons and piece.reasons is not None:
            which = which or room.filling(n_records, np.int16)
            # From 1 on: what is not written is 0, which stands for no reason.
            which.write(start, piece.reasons.of_first(len(attribute.reasons)).which + 1)
        start, n_present = start + len(piece.values), n_present + len(own.values)
        room.relieve()
    refuse(
        attribute,
        found,
        keep_missing=keep_missing,
        is_empty=not n_present and not may_be_empty,
        may_be_hidden=may_be_hidden,
    )
    return GridColumn(
        attribute=attribute,
        values=values.array()[:n_present],
        missing=None if missing is None else missing.array(),
        reasons=None
        if which is None
        else Reasons(codes=attribute.reasons, which=which.array() - np.int16(1)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """How many records break a rule, and the number of the first of them, from 1.

    >>> Where.of(np.array([False, True, True])).counted
    '2 records, the first record 2'
    """

    count: int = 0
    first: int = 0

    @classmethod
    def of(cls, records: NDArray[np.bool_] | None) -> "Where":
        """Count them."""
        if records is None or not records.any():
            return cls()
        return cls(count=int(records.sum()), first=int(np.argmax(records)) + 1)

    def and_then(self, other: "Where", n_before: int) -> "Where":
        """Add those of a piece that begins behind so many records."""
        if not other.count:
            return self
        first = self.first if self.count else n_before + other.first
        return Where(count=self.count + other.count, first=first)

    @property
    def counted(self) -> str:
        """Them, in the words of an error."""
        if self.count == 1:
            return f"record {self.first}"
        return f"{self.count} records, the first record {self.first}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Which records may have to be refused: without a value, infinite, or out of bounds."""

    missing: Where = Where()
    infinite: Where = Where()
    outside: Where = Where()

    def and_then(self, other: "Found", n_before: int) -> "Found":
        """Add those of a piece that begins behind so many records."""
        return Found(
            missing=self.missing.and_then(other.missing, n_before),
            infinite=self.infinite.and_then(other.infinite, n_before),
            outside=self.outside.and_then(other.outside, n_before),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Checked:
    """Values on their grid, which records lack one, and what may have to be refused."""

    values: NDArray[np.int64]
    missing: NDArray[np.bool_] | None
    found: Found
    ends: tuple[int, int] | None  # the least and the greatest value; None where there is none


def checked(numbers: Numbers, attribute: Attribute, *, clamp: bool) -> Checked:
    """Round records, and hold them against the bounds; refuse nothing yet."""
    values, missing, infinite = _rounded(numbers, attribute, clamp=clamp)
    absent, outside, ends = _either(missing, infinite), None, None
    if absent is not None:
        values = values[~absent]
    if len(values):
        ends = int(values.min()), int(values.max())
        lower, upper = attribute.grid_bounds or ends
        if ends[0] < lower or ends[1] > upper:
            if not clamp or attribute.categories is not None:
                outside = _outside(values, absent, (lower, upper))
            values = np.clip(values, lower, upper)
            ends = int(values.min()), int(values.max())
    found = Found(missing=Where.of(missing), infinite=Where.of(infinite), outside=Where.of(outside))
    return Checked(values=values, missing=absent, found=found, ends=ends)


def units_again(numbers: Numbers, attribute: Attribute) -> NDArray[np.int64]:
    """Round records that were checked before, of which none was missing or had to be moved."""
    return _rounded(numbers, attribute, clamp=False)[0]


def refuse(
    attribute: Attribute,
    found: Found,
    *,
    keep_missing: bool,
    is_empty: bool,
    may_be_hidden: bool,
) -> None:
    """Refuse a column by what was found out about all of it."""
    if not keep_missing:
        for where, is_infinite in ((found.missing, False), (found.infinite, True)):
            if where.count:
                raise missing_error(
                    attribute, where.counted, infinite=is_infinite, may_be_hidden=may_be_hidden
                )
    if is_empty:
        raise DataError(attribute.place, "every value is missing", "leave the attribute out")
    if found.outside.count:
        raise outside_error(attribute, found.outside.counted)


def _rounded(
    numbers: Numbers, attribute: Attribute, *, clamp: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None, NDArray[np.bool_] | None]:
    """Round to grid units; also which records are missing and which infinite."""
    values, resolution = numbers.values, attribute.resolution
    if values.dtype == np.int64:
        if resolution == 1:
            return values.astype(np.int64, copy=False), numbers.missing, None
        units, rest = np.divmod(values, resolution.numerator)
        beyond = 2 * rest - resolution.numerator
        # Halves go to the even one, as those of floats do.
        units += (beyond > 0) | ((beyond == 0) & (units % 2 == 1))
        return units, numbers.missing, None
    grid = np.empty(len(values), dtype=np.int64)
    step = float(resolution.numerator), float(resolution.denominator)
    n_missing, n_infinite, n_huge = kernel.to_grid(values, *step, grid)
    if n_huge and clamp and attribute.bounds is not None:
        # What no 64 bits hold is moved to the bound like any other: to refuse would show it.
        inside = np.clip(values, float(attribute.bounds.lower), float(attribute.bounds.upper))
        n_missing, n_infinite, n_huge = kernel.to_grid(
            np.where(np.isinf(values), values, inside), *step, grid
        )
    if n_huge:
        raise DataError(
            attribute.place,
            "values would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {attribute.name}=...)",
        )
    missing = _either(numbers.missing, np.isnan(values) if n_missing else None)
    return grid, missing, np.isinf(values) if n_infinite else None


def _either(
    one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None
) -> NDArray[np.bool_] | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other


def missing_error(
    attribute: Attribute, counted: str, *, infinite: bool, may_be_hidden: bool
) -> DataError:
    """Return the error about missing or infinite values of an attribute, in so many records."""
    what = "a value is infinite" if infinite else "a value is missing"
    if attribute.never_missing:
        return DataError(
            f"{attribute.place}, {counted}",
            f"{what}, and the column is declared never to lack one",
            "complete it, or take the column out of never_missing (--never-missing; in a recipe "
            'the entry missing = "never")',
        )
    return DataError(f"{attribute.place}, {counted}", what, HIDE if may_be_hidden else KEEP)


def outside_error(attribute: Attribute, counted: str) -> DataError:
    """Return the error about values outside an attribute's domain, in so many records."""
    if attribute.categories is None:
        what = "values lie outside the declared bounds"
        remedy = (
            'widen the bounds, or pass outside="clamp" (--outside clamp) to move them to the bound'
        )
    else:
        what = "values are none of the declared categories"
        remedy = "add what is missing to the list of categories"
    return DataError(f"{attribute.place}, {counted}", what, remedy)


def _outside(
    values: NDArray[np.int64], absent: NDArray[np.bool_] | None, bounds: tuple[int, int]
) -> NDArray[np.bool_]:
    """Say of each record whether its value lies outside the bounds."""
    outside = (values < bounds[0]) | (values > bounds[1])
    if absent is None:
        return outside
    everywhere = np.zeros(len(absent), dtype=np.bool_)
    everywhere[~absent] = outside
    return everywhere
