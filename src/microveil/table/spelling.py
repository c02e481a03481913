"""What a cell of a file of text is, by itself: nothing, a number, a date, yes or no, or text.

The rule looks at one cell alone, so that one record changes what one cell counts as.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from microveil.schema import Cells, Kind
from microveil.table.missing import WORDS
from microveil.table.restore import Numbers

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
