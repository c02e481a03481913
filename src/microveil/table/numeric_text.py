"""Text that looks like numbers or dates: what keeps it from being read so, and what would do."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from microveil.errors import DataError
from microveil.schema import Kind
from microveil.table.restore import MOST_DIGITS

if TYPE_CHECKING:
    from microveil.table.table import Table

N_LOOKED_AT = 10_000  # records that a column's look is read off
_LONGEST = 60  # letters of a number, its currency among them
_SIGN = r"[+-]?"
_EXPONENT = r"(?:[eE][+-]?[0-9]+)?"
_SPACES = " '\N{RIGHT SINGLE QUOTATION MARK}\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
_SIGNS, _WORDS, _PLAIN = "currency or percent signs", "words among them", "plain"
LEADING_ZEROS = "leading zeros"
_COMMAS, _THOUSANDS = "decimal commas", "thousands separators"
# Which flags read a file that is written so.
_FLAGS = {
    _COMMAS: "; --decimal , reads a CSV file with decimal commas",
    _THOUSANDS: "; --thousands reads a CSV file so, as --thousands . --decimal , do 1.234,56",
}
# Of a number first what would lose its meaning: a code its zeros, then what stands in its way.
_LOOKS = (
    (LEADING_ZEROS, re.compile(rf"{_SIGN}0[0-9]+(?:[.,][0-9]*)?")),
    (
        _THOUSANDS,
        re.compile(
            rf"{_SIGN}[0-9]{{1,3}}(?:(?:,[0-9]{{3}})+(?:\.[0-9]*)?|(?:\.[0-9]{{3}})+,[0-9]*"
            rf"|(?:\.[0-9]{{3}}){{2,}}|(?:[{_SPACES}][0-9]{{3}})+(?:[.,][0-9]*)?)"
        ),
    ),
    (_PLAIN, re.compile(rf"{_SIGN}(?:[0-9]+\.?[0-9]*|\.[0-9]+){_EXPONENT}")),
    (_COMMAS, re.compile(rf"{_SIGN}[0-9]*,[0-9]+{_EXPONENT}")),
)
# Day and month in either order before the year, or the year first but not as ISO 8601 has it.
_DAY_OR_MONTH = "(?:0?[1-9]|[12][0-9]|3[01])"
_DATE = re.compile(
    rf"(?:{_DAY_OR_MONTH}(?P<mark>[./-]){_DAY_OR_MONTH}(?P=mark)[12][0-9]{{3}}"
    rf"|{_DAY_OR_MONTH}(?P<sign>[./]){_DAY_OR_MONTH}(?P=sign)[0-9]{{2}}"
    rf"|[12][0-9]{{3}}(?P<slash>[./]){_DAY_OR_MONTH}(?P=slash){_DAY_OR_MONTH})"
    r"(?:,? +[0-2]?[0-9]:[0-5][0-9](?::[0-5][0-9])?)?"
)
_ISO_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MONEY = "[$%\N{POUND SIGN}\N{YEN SIGN}\N{EURO SIGN}]|[A-Z]{3}"
_MARKED = re.compile(rf"(?P<sign>[+-]?)(?:{_MONEY})\s*(?P<after>.*)|(?P<before>.*?)\s*(?:{_MONEY})")


def numeric_look_of(table: "Table", name: str) -> str | None:
    """Say what a column of text looks like, as `numeric_look` does; None of any other column."""
    if table.kind(name) is not Kind.OTHER:
        return None
    try:
        return numeric_look(table.words(name, first=N_LOOKED_AT).tolist())
    except DataError:
        return None


def not_numeric(table: "Table", name: str) -> DataError:
    """Return the error about a column that holds no numbers."""
    look = numeric_look_of(table, name)
    rule, remedy = "it must hold numbers, true and false, or dates", "leave it out"
    if look is not None:
        remedy = f"{look}; or {remedy}, or list its categories (categories=, --categories)"
        return DataError(f"attribute '{name}'", rule, remedy)
    return DataError(
        f"attribute '{name}'",
        f"{rule}; text, moments with a time of day, nested values, codes with leading zeros and "
        f"decimals of more than {MOST_DIGITS} digits are none of these",
        f"{remedy} or convert it: to numbers, moments to dates",
    )


def numeric_look(cells: Iterable[str]) -> str | None:
    """Say why text that looks like numbers or dates is none and what would do, without a cell."""
    cells = [cell for cell in map(str.strip, cells) if cell]
    others = sum(map(bool, map(_DATE.fullmatch, cells)))
    dates = others + sum(map(bool, map(_ISO_DATE.fullmatch, cells)))
    if others and dates > 1 and 2 * dates >= len(cells):
        return (
            "its text looks like dates that are not written YYYY-MM-DD: write each so, as "
            "1980-02-01, or leave the cell empty; --dates DMY reads a CSV file with the day first, "
            "MDY with the month, YMD with the year"
        )
    kinds = [_kind(cell) for cell in cells]
    numbers = [kind for kind in kinds if kind != _WORDS]
    if len(numbers) < 2 or 2 * len(numbers) < len(kinds):
        return None
    reasons = [kind for kind, _ in _LOOKS if kind in kinds and kind != _PLAIN]
    reasons += [kind for kind in (_SIGNS, _WORDS) if kind in kinds]
    if not reasons and _digits_in_use(cells) > MOST_DIGITS:
        return (
            f"its numbers have more than {MOST_DIGITS} digits, too many to be told apart: round "
            "them, or convert them to a column of floating-point numbers"
        )
    if not reasons:
        return "its text looks like numbers: convert it to a column of numbers"
    looks = f"its text looks like numbers with {', '.join(reasons)}"
    if LEADING_ZEROS in reasons:
        return f"{looks}, and stays text: codes keep their zeros; write quantities without"
    flags = "".join(said for kind, said in _FLAGS.items() if kind in reasons)
    return f"{looks}: write each cell as a plain number, or leave it empty{flags}"


def are_dates(words: Iterable[str]) -> bool:
    """Whether text is dates as they are to be written."""
    return all(map(_ISO_DATE.fullmatch, words))


def _digits_in_use(cells: Iterable[str]) -> int:
    """Count digits from the first of the largest plain number to the last decimal in use."""
    parts = [cell.lstrip("+-").partition(".") for cell in cells]
    return max(len(whole) for whole, _, _ in parts) + max(
        len(after.rstrip("0")) for _, _, after in parts
    )


def _kind(cell: str) -> str:
    """Name what a cell is: a word, or how a number is written."""
    plain = _written(cell)
    if plain is not None:
        return plain
    if len(cell) > _LONGEST:
        return _WORDS
    marked = _MARKED.fullmatch(cell)
    if marked is None:
        return _WORDS
    rest = f"{marked['sign'] or ''}{marked['after'] or marked['before'] or ''}"
    return _WORDS if _written(rest) is None else _SIGNS


def _written(cell: str) -> str | None:
    return next((kind for kind, look in _LOOKS if look.fullmatch(cell)), None)
