"""Columns of files without types: text, until it is learnt what kind of values they hold.

What a cell is (nothing, a number, a date, yes or no, text) is told of it alone, so that one record
changes what one cell counts as.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Self

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from microveil.schema import Attribute, Cells, Kind, Source
from microveil.table.column_files import columns_of, side_by_side
from microveil.table.gridding import GridColumn, on_grid, words_on_grid
from microveil.table.missing import WORDS
from microveil.table.restore import Numbers
from microveil.table.table import Table, missing_words, native_column

# The kinds, the least general first, and of which kinds cells are values of each: of cells that
# are not all numbers, dates or truth values text alone remains.
KINDS = (Kind.WHOLE, Kind.DECIMAL, Kind.DATE, Kind.BOOLEAN, Kind.OTHER)
HOLDS = {kind: {kind} for kind in KINDS} | {
    Kind.DECIMAL: {Kind.WHOLE, Kind.DECIMAL},
    Kind.OTHER: {*KINDS},
}
# What a cell may be: empty, a word that stands for nothing in a column of numbers, or of a kind.
CELLS = ("empty", "word for nothing", *KINDS)
EMPTY, WORD, WHOLE, DECIMAL, DATE, BOOLEAN, TEXT = range(len(CELLS))

SPACES = " \t"
SIGN, EXPONENT = "-?", "[eE][+-]?[0-9]+"
# Without zeros in front: 007 is a code. Longer numbers are codes, too, as those of accounts.
PLAIN, LONGEST = "(?:0|[1-9][0-9]*)", 16
TRUTHS = {"true": 1, "True": 1, "TRUE": 1, "false": 0, "False": 0, "FALSE": 0}
ISO_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
PARTS = {"D": "([0-9]{1,2})", "M": "([0-9]{1,2})", "Y": "([0-9]{4})"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """How a file of text writes numbers and dates.

    ``thousands`` is a pattern of what stands between groups of three digits, ``dates`` the order
    of day, month and year besides YYYY-MM-DD; "" where there is none.
    """

    decimal: str = "."
    thousands: str = ""
    dates: str = ""

    @property
    def whole(self) -> str:
        """The pattern of whole numbers of so many digits at most."""
        return f"^{SIGN}(?:0|[1-9][0-9]{{0,{LONGEST - 1}}}{self.grouped(4)})$"

    @property
    def decimals(self) -> str:
        """The pattern of numbers with a decimal mark or an exponent."""
        mark = f"[{self.decimal}]"
        whole = f"(?:{PLAIN}{self.grouped(99)})"
        marked = f"{whole}{mark}[0-9]*|{mark}[0-9]+"
        return f"^{SIGN}(?:(?:{marked})(?:{EXPONENT})?|{whole}{EXPONENT})$"

    @property
    def date(self) -> str:
        """The pattern of dates, which need not exist."""
        return "|".join([f"^{ISO_DATE}$", *self.ordered])

    @property
    def ordered(self) -> list[str]:
        """The patterns of dates in the order that was said, with one mark in each."""
        parts = [PARTS[letter] for letter in self.dates]
        return [f"^{mark.join(parts)}$" for mark in (r"\.", "/", "-") if parts]

    def grouped(self, most: int) -> str:
        """Return what digits may be besides: in so many groups of three at most, as 1.234."""
        groups = f"(?:(?:{self.thousands})[0-9]{{3}}){{1,{most}}}"
        return f"|[1-9][0-9]{{0,2}}{groups}" if self.thousands else ""


def kinds_of_cells(
    cells: pl.Series, spelling: Spelling, missing: Sequence[str] = ()
) -> NDArray[np.uint8]:
    """Say what each cell is, a place in `CELLS`: text to uint8 (n_records,).

    ``missing`` stands for a missing value: text, or a number as the cell is one.

    >>> cells = pl.Series(["41", "007", "1.5e3", " ", "n/a", "-9.0", "2020-02-30", "TRUE", None])
    >>> [str(CELLS[one]) for one in kinds_of_cells(cells, Spelling(), ["-9"])]
    ['whole number', 'text', 'decimal', 'empty', 'word for nothing', 'empty', 'text', 'yes/no',
    'empty']
    """
    bare = cells.str.strip_chars(SPACES)
    found = np.full(len(bare), EMPTY, dtype=np.uint8)
    rest = np.flatnonzero((bare != "").fill_null(value=False).to_numpy())
    for place, is_one in (
        (WHOLE, lambda own: own.str.contains(spelling.whole)),
        (DECIMAL, lambda own: _is_decimal(own, spelling)),
        (DATE, lambda own: days_of(own, spelling).is_not_null()),
        (BOOLEAN, lambda own: own.is_in([*TRUTHS])),
        (WORD, lambda own: own.str.to_lowercase().is_in([*WORDS])),
    ):
        if not len(rest):
            break
        one = is_one(bare if len(rest) == len(bare) else bare.gather(rest)).to_numpy()
        found[rest[one]], rest = place, rest[~one]
    found[rest] = TEXT
    found[_among(bare, found, spelling, missing)] = EMPTY
    return found


def values_of_cells(
    cells: pl.Series, kinds: NDArray[np.uint8], kind: Kind, spelling: Spelling
) -> Numbers:
    """Read the cells of a kind as numbers, see `kinds_of_cells`; what is no such cell is missing.

    Whole numbers are read as decimals are, so that both come to be rounded alike.
    """
    is_number = kind in {Kind.WHOLE, Kind.DECIMAL}
    wanted = [WHOLE, DECIMAL] if is_number else [CELLS.index(kind)]
    present = np.isin(kinds, wanted)
    own = cells.str.strip_chars(SPACES)
    own = own if present.all() else own.filter(pl.Series(present))
    if is_number:
        read = _numbers(own, spelling)
    elif kind is Kind.DATE:
        read = days_of(own, spelling).cast(pl.Int64)
    else:
        read = own.replace_strict(TRUTHS, return_dtype=pl.Int64)
    values: Cells = np.zeros(len(cells), dtype=np.float64 if is_number else np.int64)
    values[present] = read.to_numpy()
    return Numbers(values=values, missing=None if present.all() else ~present)


def _is_decimal(bare: pl.Series, spelling: Spelling) -> pl.Series:
    """Find the numbers with decimals; one that no float holds is none."""
    shaped = bare.str.contains(spelling.decimals)
    return shaped & _numbers(bare, spelling).is_finite().fill_null(value=False)


def _numbers(bare: pl.Series, spelling: Spelling) -> pl.Series:
    plain = bare.str.replace_all(spelling.thousands, "") if spelling.thousands else bare
    if spelling.decimal != ".":
        plain = plain.str.replace(spelling.decimal, ".", literal=True)
    return plain.cast(pl.Float64, strict=False)


def days_of(bare: pl.Series, spelling: Spelling) -> pl.Series:
    """Read dates that exist, from the year 1 on."""
    places = {letter: f"${{{place}}}" for place, letter in enumerate(spelling.dates, 1)}
    shaped = bare.set(~bare.str.contains(spelling.date), None)
    for ordered in spelling.ordered:
        shaped = shaped.str.replace(ordered, "-".join(places[letter] for letter in "YMD"))
    days = shaped.str.to_date("%Y-%m-%d", strict=False)
    return days.set(days.dt.year() < 1, None)


def _among(
    bare: pl.Series, found: NDArray[np.uint8], spelling: Spelling, missing: Sequence[str]
) -> NDArray[np.bool_]:
    """Find the cells that hold a code for a missing value, as it is written or as a number."""
    if not missing:
        return np.zeros(len(bare), dtype=np.bool_)
    is_code = bare.is_in([*missing]).fill_null(value=False).to_numpy()
    codes = pl.Series([*missing], dtype=pl.String)
    plain = Spelling()
    are_numbers = np.isin(kinds_of_cells(codes, plain), [WHOLE, DECIMAL])
    numbers = _numbers(codes.filter(pl.Series(are_numbers)), plain)
    at = np.flatnonzero(np.isin(found, [WHOLE, DECIMAL]))
    if len(numbers) and len(at):
        held = _numbers(bare.gather(at), spelling).to_numpy()
        is_code[at[np.isin(held, numbers.to_numpy())]] = True
    return is_code


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
