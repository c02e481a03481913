"""Columns on their public grids: read, rounded and held against their bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.kernels import ranking as kernel
from microveil.schema import Attribute, Source, widest
from microveil.table.cells import spread
from microveil.table.restore import Numbers, Reasons
from microveil.table.table import Table, coded_words, words_coded

if TYPE_CHECKING:
    from microveil.table.untyped import UntypedColumn

# Grid units of a learnt number go so far at most, which no record changes: a whole number, so that
# what is moved there needs no decimals.
LARGEST = (1 << 61) // 10**6 * 10**6
# What can be done about missing cells.
KEEP = 'complete it, or pass missing="keep" (--missing keep) to release such cells as missing'
HIDE = (
    'complete it, or pass missing="protect" (--missing protect): being without a value is then a '
    "value like another"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GridColumn:
    """An attribute's values in whole grid units.

    Those that are not missing: int64 (n_present,), but of an attribute of a new table, which is
    only ever counted, any signed whole numbers, and the table's own where they can be.
    """

    attribute: Attribute
    values: NDArray[np.signedinteger[Any]]
    missing: NDArray[np.bool_] | None  # (n_records,), None where no value is missing
    reasons: Reasons | None = None  # where the attribute keeps them apart
    words: Sequence[str] = ()  # which values are positions in, where no list is declared
    untyped: "UntypedColumn | None" = None  # the cells themselves, where their kind is learnt

    @property
    def n_records(self) -> int:
        """How many records there are."""
        if self.untyped is not None:
            return self.untyped.n_records
        return len(self.values) if self.missing is None else len(self.missing)

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
        """Return the column with other records in the place of each: (n_records,)."""
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
        """Keep the values in as few bytes as their domain, which is public, needs."""
        if not self.values.flags.owndata:
            return self
        kind = self.attribute.grid_type
        return replace(self, values=self.values.astype(kind, copy=False))


def words_of_attribute(table: Table, attribute: Attribute, *, keep_missing: bool) -> GridColumn:
    """Read a column of text of which no list is declared: positions among its own words."""
    coded = coded_words(table, attribute.name, table.n_records)
    places, words = coded or (np.zeros(0, int), ())
    return _of_words(places, words, attribute, keep_missing=keep_missing)


def words_on_grid(words: polars.Series, attribute: Attribute) -> GridColumn:
    """Make a column of words, null where missing, see `words_of_attribute`."""
    places, listed = words_coded(words, len(words)) or (np.zeros(0, int), ())
    return _of_words(places, listed, attribute, keep_missing=True)


def _of_words(
    places: NDArray[Any], words: tuple[str, ...], attribute: Attribute, *, keep_missing: bool
) -> GridColumn:
    # Empty text is first, and is missing.
    has_empty = bool(words) and words[0] == ""
    missing = places == 0 if has_empty else np.zeros(len(places), dtype=np.bool_)
    if missing.any() and not keep_missing:
        counted = counted_records(missing)
        raise missing_error(attribute, counted, infinite=False, may_be_hidden=True)
    values = places[~missing].astype(np.int64) - has_empty
    return GridColumn(
        attribute=attribute,
        values=values,
        missing=missing if missing.any() else None,
        words=words[1:] if has_empty else words,
    )


def numbers_of_attribute(table: Table, attribute: Attribute, *, shared: bool = False) -> Numbers:
    """Read a column as an attribute has it: numbers, or positions of categories; -1 of others."""
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

    Each record is rounded by itself, to the nearest grid point, so that a neighbouring table
    changes one grid value only. Refused are missing and infinite values, unless they are to be
    kept; none at all, unless it may be empty; values outside the bounds, unless they are clamped;
    and those too large. A refusal proposes to hide which cells are missing where they may be.
    """
    values, missing, infinite = _rounded(numbers, attribute, clamp=clamp)
    if not keep_missing:
        for absent, is_infinite in ((missing, False), (infinite, True)):
            if absent is not None and absent.any():
                raise missing_error(
                    attribute,
                    counted_records(absent),
                    infinite=is_infinite,
                    may_be_hidden=may_be_hidden,
                )
    absent = _either(missing, infinite)
    if absent is not None:
        values = values[~absent]
    if not len(values) and not may_be_empty:
        raise DataError(attribute.place, "every value is missing", "leave the attribute out")
    bounds = attribute.grid_bounds
    if attribute.is_learnt:
        is_fine = attribute.resolution_source is Source.LEARNT
        bounds, clamp = ((-LARGEST, LARGEST) if is_fine else widest(attribute)), True
    if (
        bounds is not None
        and len(values)
        and (values.min() < bounds[0] or values.max() > bounds[1])
    ):
        if not clamp or attribute.categories is not None:
            outside = spread((values < bounds[0]) | (values > bounds[1]), absent)
            raise outside_error(attribute, counted_records(outside))
        values = np.clip(values, *bounds)
    reasons = None
    if attribute.reasons and numbers.reasons is not None:
        reasons = numbers.reasons.of_first(len(attribute.reasons))
    return GridColumn(attribute=attribute, values=values, missing=absent, reasons=reasons)


def counted_records(records: NDArray[np.bool_]) -> str:
    """Say how many records break a rule, and which is the first, from 1."""
    count, first = int(records.sum()), int(records.argmax()) + 1
    return f"record {first}" if count == 1 else f"{count} records, the first record {first}"


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
    if n_huge and attribute.is_learnt:
        # Farther than they are clamped: no value moves another.
        most = float(LARGEST * resolution) * 1.5
        inside = np.clip(values, -most, most)
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
