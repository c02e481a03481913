"""Columns of text: which type they have, and their values read as that type."""

from dataclasses import replace
from typing import TypeVar

import polars as pl

from microveil.files.checking import Misfit, first_true
from microveil.files.text import THOUSANDS, TextFormat

_MISSING_REMEDY = (
    "correct the value, leave the cell empty if it is missing, or say what stands for missing "
    "values (--missing-values NA)"
)
_TEXT_REMEDY = (
    "if the column is text, keep it (--keep), name the attributes without it (--attributes), or "
    'give its type as "text" in a recipe'
)

_SPACES = " \t"
_CODE = r"^[ \t]*[0+][0-9]"  # a number would not keep its digits, as the walk over the bytes says
_TRUTHS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
_PARTS = {"D": "([0-9]{1,2})", "M": "([0-9]{1,2})", "Y": "([0-9]{4})"}  # of dates in other orders
_MISSING_WORDS = [
    "",
    *("-", "--", "?", ".", "*", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none"),
    *("nil", "missing", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity"),
]
_MOSTLY = 0.9  # of a column's values: from here on the others are taken for mistakes


Found = TypeVar("Found")


def _whole(text: TextFormat) -> str:
    return rf"^[ \t]*[+-]?(?:[0-9]+{_grouped(text)})[ \t]*$"


def _number(text: TextFormat) -> str:
    return _decimal(text.decimal, _grouped(text))


def _other_number(text: TextFormat) -> str:
    return _decimal("." if text.decimal == "," else ",")


def _decimal(decimal: str, grouped: str = "") -> str:
    mark = f"[{decimal}]"
    ways = rf"[0-9]+{mark}?[0-9]*|{mark}[0-9]+" + (f"{grouped}(?:{mark}[0-9]*)?" if grouped else "")
    return rf"^[ \t]*[+-]?(?:{ways})(?:[eE][+-]?[0-9]+)?[ \t]*$"


def _grouped(text: TextFormat) -> str:
    """Look for digits in groups of three, none of which begins with a zero: 0.123 is no 123."""
    return (
        rf"|[1-9][0-9]{{0,2}}(?:{THOUSANDS[text.thousands]}[0-9]{{3}})+" if text.thousands else ""
    )


def _date(text: TextFormat) -> str:
    return "|".join([_DATE, *_ordered(text)])


def _ordered(text: TextFormat) -> list[str]:
    """Look for dates in the order that was said, with one mark in each."""
    parts = [_PARTS[letter] for letter in text.dates]
    return [f"^{mark.join(parts)}$" for mark in (r"\.", "/", "-") if parts]


def _named_dates(text: TextFormat) -> str:
    return f"dates {text.dates} or YYYY-MM-DD" if text.dates else "dates YYYY-MM-DD"


def infer(values: pl.Series, text: TextFormat) -> pl.DataType | Misfit | None:
    """Type of a column of text by its first values, null where a cell is empty."""
    n_values = len(values) - values.null_count()
    if n_values == 0:
        return None
    if (
        values.head(100).str.contains(_whole(text)).all()
        and values.str.contains(_whole(text)).all()
    ):
        return pl.Int64()
    numbers = values.str.contains(_number(text))
    n_numbers = int(numbers.sum())
    if n_numbers == n_values:
        return pl.Float64()
    if any(values.is_in(spelling).all() for spelling in _TRUTHS):
        return pl.Boolean()
    if values.str.contains(_date(text)).all():
        return pl.Date()
    return _infer_mixed(values, numbers.fill_null(value=True), n_values, text)


def _infer_mixed(
    values: pl.Series, numbers: pl.Series, n_values: int, text: TextFormat
) -> pl.DataType | Misfit | None:
    others = values.filter(~numbers)
    n_numbers = n_values - len(others)
    blank = others.str.strip_chars(_SPACES) == ""
    if blank.all() and n_numbers:
        return pl.Int64() if _all_whole(values, text) else pl.Float64()
    marked = others.str.contains(_other_number(text))
    if marked.any() and n_numbers + int(marked.sum()) >= _MOSTLY * n_values:
        index = first_true(~numbers & values.str.contains(_other_number(text)))
        return _misfit_mark(index or 0, text.decimal)
    words = others.str.strip_chars(_SPACES).str.to_lowercase().is_in(_MISSING_WORDS)
    mostly = n_numbers >= _MOSTLY * n_values or (words.all() and 2 * n_numbers >= n_values)
    if not mostly:
        return pl.String()
    index = first_true(~numbers & (values.str.strip_chars(_SPACES) != ""))
    rule = "a column whose first values are nearly all numbers must hold numbers only"
    return Misfit(index=index or 0, rule=rule, remedy=_MISSING_REMEDY)


def _all_whole(values: pl.Series, text: TextFormat) -> bool:
    return bool(
        values.filter(values.str.strip_chars(_SPACES) != "").str.contains(_whole(text)).all()
    )


def _misfit_mark(index: int, decimal: str) -> Misfit:
    other, word = (",", "a comma") if decimal == "." else (".", "a point")
    rule = f"numbers must be written with the decimal mark {decimal}, and this one has {word}"
    remedy = (
        f"pass --decimal {other} if that is the decimal mark, or --thousands {other} if it "
        "separates thousands"
    )
    return Misfit(index=index, rule=rule, remedy=remedy)


def mixture(column: pl.Series, text: TextFormat, n_first: int | None) -> Misfit | None:
    """Give the first value that alone, or with few others, makes a column text.

    None where more than one value and more than a tenth do: then it is text in every
    neighbouring table too, or refused there.
    """
    values = _present(column, n_first)
    return _in_column(column, _mixture(values, text))


def _present(column: pl.Series, n_first: int | None) -> pl.Series:
    present = column.drop_nulls()
    return present if n_first is None else present.head(n_first)


def _in_column(column: pl.Series, found: Found) -> Found:
    """Count the cells before a misfit, empty ones too."""
    if not isinstance(found, Misfit):
        return found
    return replace(found, index=int(column.is_not_null().arg_true()[found.index]))


def _mixture(values: pl.Series, text: TextFormat) -> Misfit | None:
    dates = values.str.contains(_date(text))
    codes = values.str.contains(_CODE) & ~dates
    if codes.sum() > _few(values):
        return None
    numbers = values.str.contains(_number(text)) & ~codes
    blank = values.str.strip_chars(_SPACES) == ""
    misfit = _odd(numbers, ~(numbers | blank), "numbers")
    if misfit is not None and codes[misfit.index]:
        rule = (
            "a column of numbers must hold nothing else, and this value is written like a code, "
            "with a zero or a plus sign first"
        )
        return replace(misfit, rule=rule, remedy=f"write it as a number; {_TEXT_REMEDY}")
    for spelling in _TRUTHS:
        truths = values.is_in(spelling)
        misfit = misfit or _odd(truths, ~truths, " and ".join(spelling))
    return misfit or _odd(dates, ~dates, _named_dates(text))


def _few(values: pl.Series) -> float:
    return max(1, (1 - _MOSTLY) * len(values))


def _odd(fits: pl.Series, odd: pl.Series, kind: str) -> Misfit | None:
    if not fits.any() or not 1 <= odd.sum() <= _few(odd):
        return None
    rule = f"a column whose values are {kind}, nearly all or all but one, must hold nothing else"
    return Misfit(
        index=first_true(odd) or 0, rule=rule, remedy=f"{_MISSING_REMEDY}; {_TEXT_REMEDY}"
    )


def late(column: pl.Series, text: TextFormat, n_first: int) -> pl.Series | Misfit:
    """Read a whole column of text by its first values, wherever these are."""
    found = _in_column(column, infer(_present(column, n_first), text))
    if isinstance(found, Misfit):
        return found
    return convert(column, found or pl.String(), text, spelling_of(column))


def convert(
    column: pl.Series, dtype: pl.DataType, text: TextFormat, spelling: tuple[str, str] | None
) -> pl.Series | Misfit:
    """Read a column of text, or a part of one, as a type; yes and no by how they are spelt."""
    if dtype == pl.Boolean:
        return _convert_truths(column, spelling or _TRUTHS[0])
    if dtype == pl.Date:
        return _checked(column, _days(column, text), _named_dates(text))
    if dtype == pl.String:
        return column
    return _convert_numbers(column, dtype, text)


def _days(column: pl.Series, text: TextFormat) -> pl.Series:
    places = {letter: f"${{{place}}}" for place, letter in enumerate(text.dates, 1)}
    shaped = column.set(~column.str.contains(_date(text)), None)
    for ordered in _ordered(text):
        shaped = shaped.str.replace(ordered, "-".join(places[letter] for letter in "YMD"))
    return shaped.str.to_date("%Y-%m-%d", strict=False)


def spelling_of(column: pl.Series) -> tuple[str, str]:
    """Say how yes and no are spelt in a column: by its first value."""
    first = set(column.drop_nulls().head(1))
    return next((pair for pair in _TRUTHS if first <= set(pair)), _TRUTHS[0])


def _convert_truths(values: pl.Series, spelling: tuple[str, str]) -> pl.Series | Misfit:
    true, false = spelling
    read = values == true
    return _checked(values, read.set(~read & (values != false), None), f"{true} or {false}")


def _checked(values: pl.Series, read: pl.Series, kind: str) -> pl.Series | Misfit:
    index = first_true(read.is_null() & values.is_not_null())
    if index is None:
        return read
    rule = f"a column whose first values are {kind} must hold nothing else"
    return Misfit(index=index, rule=rule, remedy=_MISSING_REMEDY)


def _convert_numbers(values: pl.Series, dtype: pl.DataType, text: TextFormat) -> pl.Series | Misfit:
    values = values.str.strip_chars(_SPACES)
    values = values.set(values == "", None)
    whole = dtype == pl.Int64
    wrong = first_true(~values.str.contains(_whole(text) if whole else _number(text)))
    plain = values.str.replace_all(THOUSANDS[text.thousands], "") if text.thousands else values
    plain = plain.str.replace(text.decimal, ".", literal=True)
    read = plain.cast(dtype, strict=False)
    held = read.is_not_null() if whole else read.is_finite().fill_null(value=False)
    beyond = first_true(values.is_not_null() & ~held)
    index = beyond if wrong is None else wrong if beyond is None else min(wrong, beyond)
    if index is None:
        return read
    if index != wrong:
        rule = "a number must fit 64 bits, and this one does not"
        return Misfit(index=index, rule=rule, remedy="correct the value, or leave the column out")
    value = values.slice(index, 1)
    if value.str.contains(_other_number(text)).all() and not (
        value.str.contains(_number(text)).all()
    ):
        return _misfit_mark(index, text.decimal)
    if whole and value.str.contains(_number(text)).all():
        rule = "a column whose first values are whole must hold whole numbers"
        remedy = (
            "declare its resolution, for example --resolution NAME=0.01 with the column's name, "
            "so that it is read as decimal"
        )
        return Misfit(index=index, rule=rule, remedy=remedy)
    rule = "a column whose first values are numbers must hold numbers only"
    return Misfit(index=index, rule=rule, remedy=_MISSING_REMEDY)
