"""Columns of files without types: text, until it is learnt what kind of values they hold."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from microveil.schema import Attribute, Kind, Source
from microveil.table.column_files import columns_of, side_by_side
from microveil.table.gridding import GridColumn, on_grid, words_on_grid
from microveil.table.spelling import CELLS, EMPTY, HOLDS, kinds_of_cells, values_of_cells
from microveil.table.table import Table, missing_words, native_column

# Of the cells with something in them, where a kind is guessed for a person to see.
NEARLY_ALL = 0.98


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UntypedColumn:
    """The cells of a column, read when they are asked for, and what each of them is.

    ``clamp`` says whether values outside the domain are moved to its ends, or refused. ``kinds``
    are places in `CELLS`, see `kinds_of_cells`, once they were looked at.
    """

    table: Table
    name: str
    clamp: bool
    kinds: NDArray[np.uint8] | None = None

    @property
    def n_records(self) -> int:
        """How many cells there are."""
        return self.table.n_records

    @property
    def cells(self) -> pl.Series:
        """The cells as they stand in the file."""
        cells: pl.Series = native_column(self.table, self.name)
        return cells

    def looked_at(self) -> Self:
        """Look what each cell is, unless that is known."""
        if self.kinds is not None:
            return self
        spelling = self.table.untyped[self.name]
        missing = missing_words(self.table, self.name)
        return replace(self, kinds=kinds_of_cells(self.cells, spelling, missing))

    def counts(self) -> NDArray[np.int64]:
        """Count the cells by what they are, in the order of `CELLS`."""
        return np.bincount(self._kinds, minlength=len(CELLS)).astype(np.int64)

    def as_kind(self, attribute: Attribute) -> GridColumn:
        """Put the cells on the grid of an attribute; what is no value of its kind is missing."""
        if attribute.kind is Kind.OTHER:
            cells = self.cells
            return words_on_grid(cells.set(pl.Series(self._kinds == EMPTY), None), attribute)
        numbers = values_of_cells(
            self.cells, self._kinds, attribute.kind, self.table.untyped[self.name]
        )
        return on_grid(
            numbers, attribute, keep_missing=True, clamp=self.clamp, may_be_empty=True
        ).narrowed()

    @property
    def _kinds(self) -> NDArray[np.uint8]:
        kinds = self.looked_at().kinds
        assert kinds is not None  # noqa: S101 -- they were looked at
        return kinds


def untyped_column(table: Table, attribute: Attribute, *, clamp: bool) -> GridColumn:
    """Return a column whose kind is learnt, on no grid yet."""
    nobody = np.zeros(0, dtype=np.int64)
    own = UntypedColumn(table=table, name=attribute.name, clamp=clamp)
    return GridColumn(attribute=attribute, values=nobody, missing=None, untyped=own)


def typed_as(table: Table, attributes: Iterable[Attribute]) -> Table:
    """Return a table whose columns have the types of what was learnt of them, and no cells."""
    empty = {own.name: pl.Series(own.name, [], dtype=dtype_of(own)) for own in attributes}
    columns = {
        name: nw.from_native(own, series_only=True)
        if table.files is None
        else own.to_frame().lazy()
        for name, own in empty.items()
    }
    return replace(table, columns={**table.columns, **columns}, kinds={}, untyped={})


def dtype_of(attribute: Attribute) -> pl.DataType:
    """Return the type in which an attribute is released whose kind was learnt: of this alone."""
    is_whole = attribute.resolution.denominator == 1
    types = {
        Kind.WHOLE: pl.Int64(),
        Kind.DECIMAL: pl.Int64() if is_whole else pl.Float64(),
        Kind.DATE: pl.Date(),
        Kind.BOOLEAN: pl.Boolean(),
    }
    return types.get(attribute.kind, pl.String())


def likely_kinds(table: Table) -> list[Attribute]:
    """Say what each column is likely to be learnt as, by nearly all of its cells: no release."""
    found = []
    for name in table.untyped:
        counts = UntypedColumn(table=table, name=name, clamp=True).counts()
        there = {
            kind: n
            for kind, n in zip(CELLS, counts.tolist(), strict=True)
            if isinstance(kind, Kind)
        }
        total = sum(there.values())
        kind = next(
            (own for own in HOLDS if sum(there[one] for one in HOLDS[own]) >= NEARLY_ALL * total),
            Kind.OTHER,
        )
        found.append(text_column(name).of_kind(kind if total else Kind.OTHER))
    return found


def text_column(name: str) -> Attribute:
    """Return the attribute of a column of which nothing is known."""
    return Attribute(
        name=name, kind=Kind.OTHER, resolution=Fraction(1), resolution_source=Source.TYPE
    )


def typed_frame(
    table: Table, frame: pl.DataFrame | pl.LazyFrame, attributes: Iterable[Attribute]
) -> pl.DataFrame | pl.LazyFrame:
    """Return the records of a table with the cells of columns as the kinds that were learnt."""
    found = {own.name: _typed(table, own) for own in attributes}
    if isinstance(frame, pl.DataFrame) or table.files is None:
        return frame.with_columns(**found)
    columns = columns_of(frame)
    waiting = {name: table.files.put(own) for name, own in found.items()}
    return side_by_side({**columns, **waiting}, table.files)


def _typed(table: Table, attribute: Attribute) -> pl.Series:
    column = UntypedColumn(table=table, name=attribute.name, clamp=True).looked_at()
    cells, kinds = column.cells, column.kinds
    assert kinds is not None  # noqa: S101 -- they were looked at
    if not attribute.kind.is_numeric:
        return cells.set(pl.Series(kinds == EMPTY), None)
    numbers = values_of_cells(cells, kinds, attribute.kind, table.untyped[attribute.name])
    values = np.rint(numbers.values) if attribute.kind is Kind.WHOLE else numbers.values
    dtype = dtype_of(attribute.of_kind(attribute.kind))
    read = pl.Series(attribute.name, values)
    read = read.cast(pl.Int32).cast(dtype) if attribute.kind is Kind.DATE else read.cast(dtype)
    return read if numbers.missing is None else read.set(pl.Series(numbers.missing), None)
