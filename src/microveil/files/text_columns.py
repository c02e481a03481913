"""Tables whose cells are text: which type each column has, and its values read as that type."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from microveil.errors import FileError
from microveil.files.checking import Misfit, first_true, fitting
from microveil.files.formats import Cells, Opened
from microveil.files.text import TextFormat, place
from microveil.table.column_files import ColumnFiles, height_of, side_by_side
from microveil.table.threads import READ_AT_ONCE, in_threads
from microveil.table.untyped import Spelling, days_of

N_SAMPLE = 10_000  # records that a column's type is read off

_MISSING_REMEDY = (
    "correct the value, leave the cell empty if it is missing, or say what stands for missing "
    "values (--missing-values NA)"
)
_TEXT_REMEDY = (
    "if the column is text, keep it (--keep), name the attributes without it (--attributes), or "
    'give its type as "text" in a recipe'
)
_SPACES = " \t"
_CODE = r"^[ \t]*[0+][0-9]"  # a number would not keep its digits
_TRUTHS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))
_MISSING_WORDS = [
    *("-", "--", "?", ".", "*", "na", "n/a", "#n/a", "<na>", "nan", "-nan", "null", "none"),
    *("", "nil", "missing", "inf", "-inf", "+inf", "infinity", "-infinity", "+infinity"),
]
_MOSTLY = 0.9  # of a column's values: from here on the others are taken for mistakes


def text_table(
    path: Path,
    frame: pl.DataFrame | pl.LazyFrame,
    text: TextFormat | None,
    line_of: Callable[[int], str],
    files: ColumnFiles | None = None,
) -> Opened:
    """Return a table of text, null where a cell is empty: of a file of text, or of a sheet.

    The columns of a lazy one wait in ``files``.
    """
    names = frame.collect_schema().names()

    def read(cells: Cells) -> pl.DataFrame | pl.LazyFrame:
        try:
            found = _read(frame, names, (text or TextFormat()).spelling, cells, files)
            _refuse_second_header(path, found, (text or TextFormat()).header)
            fine = fitting(path, names, found, line_of)
        except BaseException:  # nothing waits of a file that is refused
            if files is not None:
                files.close()
            raise
        if files is None:
            return pl.DataFrame(list(fine.values()))
        lazy = {name: own for name, own in fine.items() if isinstance(own, pl.LazyFrame)}
        return side_by_side(lazy, files)

    return Opened(names=names, read=read, text=text)


def _read(
    frame: pl.DataFrame | pl.LazyFrame,
    names: list[str],
    spelling: Spelling,
    cells: Cells,
    files: ColumnFiles | None,
) -> dict[str, pl.Series | pl.LazyFrame | Misfit]:
    """Give columns the types that their first values have."""

    def typed(name: str) -> pl.Series | pl.LazyFrame | Misfit:
        column = frame.lazy().select(name).collect().to_series()
        found = _typed(column, cells, spelling)
        if files is None or isinstance(found, Misfit):
            return found
        return frame.lazy() if found is column else files.put(found)

    at_once = None if files is None else READ_AT_ONCE
    columns = in_threads(typed, names, height_of(frame) * len(names), at_once=at_once)
    return dict(zip(names, columns, strict=True))


def _refuse_second_header(
    path: Path, found: Mapping[str, pl.Series | pl.LazyFrame | Misfit], header: int
) -> None:
    """Refuse a second line of names: text above the numbers of every column that has any."""
    n = sum(isinstance(own, Misfit) and own.index == 0 for own in found.values())
    dtypes = (
        own.dtype if isinstance(own, pl.Series) else own.collect_schema()[name]
        for name, own in found.items()
        if not isinstance(own, Misfit)
    )
    if n > 1 and not any(dtype.is_numeric() for dtype in dtypes):
        rule = f"text stands above the numbers of {n} columns, like a second line of names"
        line = header + 1
        remedy = f"pass --header {line} if line {line} has the names that you want, or delete it"
        raise FileError(place(path, line), rule, remedy)


def _typed(column: pl.Series, cells: Cells, spelling: Spelling) -> pl.Series | Misfit:
    """Read a column as the type that is declared of it, or else as that of its first values."""
    is_decimal, is_kept = column.name in cells.decimals, cells.as_text(column.name)
    if not is_kept and (words := [*cells.missing(column.name)]):
        column = column.set(column.is_in(words), None)
    if is_decimal or is_kept:
        return _numbers(column, pl.Float64(), spelling) if is_decimal else column
    return _as_first(column, spelling, is_strict=cells.of_one_kind(column.name))


def _as_first(column: pl.Series, spelling: Spelling, *, is_strict: bool) -> pl.Series | Misfit:
    """Read a column as what its first values are; if strict, few others make it no text."""
    first = column.head(N_SAMPLE).drop_nulls()
    first = first if len(first) else column.drop_nulls().head(N_SAMPLE)
    dtype = _infer(first, spelling) if len(first) else pl.String()
    if dtype == pl.String and not is_strict:
        return column
    has_codes = bool(column.str.contains(_CODE).any())
    if has_codes and not isinstance(dtype, pl.Date):  # of the first thousand years
        dtype = pl.String()
    if dtype == pl.Date:
        return _checked(column, days_of(column, spelling), _named_dates(spelling))
    if dtype == pl.Boolean:
        return _truths(column, str(first[0]))
    if dtype in (pl.Int64, pl.Float64):
        return _numbers(column, dtype, spelling)
    misfit = dtype if isinstance(dtype, Misfit) else None
    if misfit is None and is_strict:
        # A code makes a column text wherever it stands, other words at its beginning.
        values = column.drop_nulls()
        misfit = _mixture(values if has_codes else values.head(N_SAMPLE), spelling)
    if misfit is None:
        return column
    # Empty cells count, too.
    return replace(misfit, index=int(column.is_not_null().arg_true()[misfit.index]))


# What a value may look like.


def _whole(spelling: Spelling) -> str:
    return rf"^[ \t]*[+-]?(?:[0-9]+{spelling.grouped(99)})[ \t]*$"


def _number(decimal: str, grouped: str = "") -> str:
    mark = f"[{decimal}]"
    ways = rf"[0-9]+{mark}?[0-9]*|{mark}[0-9]+" + (f"{grouped}(?:{mark}[0-9]*)?" if grouped else "")
    return rf"^[ \t]*[+-]?(?:{ways})(?:[eE][+-]?[0-9]+)?[ \t]*$"


def _own_number(spelling: Spelling) -> str:
    return _number(spelling.decimal, spelling.grouped(99))


def _other_number(spelling: Spelling) -> str:
    return _number("." if spelling.decimal == "," else ",")


def _named_dates(spelling: Spelling) -> str:
    return f"dates {spelling.dates} or YYYY-MM-DD" if spelling.dates else "dates YYYY-MM-DD"


# What a column is.


def _infer(values: pl.Series, spelling: Spelling) -> pl.DataType | Misfit:
    """Type of a column by its first values, none missing, or the first of its numbers is none."""
    whole = values.str.contains(_whole(spelling))
    numbers = values.str.contains(_own_number(spelling))
    blank = values.str.strip_chars(_SPACES) == ""
    n_numbers = int(numbers.sum())
    if n_numbers and (numbers | blank).all():
        return pl.Int64() if (whole | blank).all() else pl.Float64()
    if any(values.is_in(pair).all() for pair in _TRUTHS):
        return pl.Boolean()
    if values.str.contains(spelling.date).all():
        return pl.Date()
    marked = ~numbers & values.str.contains(_other_number(spelling))
    if marked.any() and n_numbers + int(marked.sum()) >= _MOSTLY * len(values):
        return _misfit_mark(int(marked.arg_max() or 0), spelling.decimal)
    others = values.filter(~numbers).str.strip_chars(_SPACES).str.to_lowercase()
    are_words = others.is_in(_MISSING_WORDS).all() and 2 * n_numbers >= len(values)
    if n_numbers < _MOSTLY * len(values) and not are_words:
        return pl.String()
    rule = "a column whose first values are nearly all numbers must hold numbers only"
    index = first_true(~numbers & ~blank) or 0
    return Misfit(index=index, rule=rule, remedy=_MISSING_REMEDY)


def _misfit_mark(index: int, decimal: str) -> Misfit:
    other, word = (",", "a comma") if decimal == "." else (".", "a point")
    rule = f"numbers must be written with the decimal mark {decimal}, and this one has {word}"
    remedy = (
        f"pass --decimal {other} if that is the decimal mark, or --thousands {other} if it "
        "separates thousands"
    )
    return Misfit(index=index, rule=rule, remedy=remedy)


def _mixture(values: pl.Series, spelling: Spelling) -> Misfit | None:
    """Give the first value that alone, or with few others, makes a column text.

    None where more than one value and more than a tenth do: then it is text in every
    neighbouring table too, or refused there.
    """
    dates = values.str.contains(spelling.date)
    codes = values.str.contains(_CODE) & ~dates
    if codes.sum() > _few(values):
        return None
    numbers = values.str.contains(_own_number(spelling)) & ~codes
    blank = values.str.strip_chars(_SPACES) == ""
    misfit = _odd(numbers, ~(numbers | blank), "numbers")
    if misfit is not None and codes[misfit.index]:
        rule = (
            "a column of numbers must hold nothing else, and this value is written like a code, "
            "with a zero or a plus sign first"
        )
        return replace(misfit, rule=rule, remedy=f"write it as a number; {_TEXT_REMEDY}")
    for pair in _TRUTHS:
        truths = values.is_in(pair)
        misfit = misfit or _odd(truths, ~truths, " and ".join(pair))
    return misfit or _odd(dates, ~dates, _named_dates(spelling))


def _few(values: pl.Series) -> float:
    return max(1, (1 - _MOSTLY) * len(values))


def _odd(fits: pl.Series, odd: pl.Series, kind: str) -> Misfit | None:
    if not fits.any() or not 1 <= odd.sum() <= _few(odd):
        return None
    rule = f"a column whose values are {kind}, nearly all or all but one, must hold nothing else"
    return Misfit(
        index=first_true(odd) or 0, rule=rule, remedy=f"{_MISSING_REMEDY}; {_TEXT_REMEDY}"
    )


# Its values.


def _truths(values: pl.Series, first: str) -> pl.Series | Misfit:
    """Read yes and no, by how the first one is spelt."""
    true, false = next(pair for pair in _TRUTHS if first in pair)
    read = values == true
    return _checked(values, read.set(~read & (values != false), None), f"{true} or {false}")


def _checked(values: pl.Series, read: pl.Series, kind: str) -> pl.Series | Misfit:
    index = first_true(read.is_null() & values.is_not_null())
    if index is None:
        return read
    rule = f"a column whose first values are {kind} must hold nothing else"
    return Misfit(index=index, rule=rule, remedy=_MISSING_REMEDY)


def _numbers(column: pl.Series, dtype: pl.DataType, spelling: Spelling) -> pl.Series | Misfit:
    is_whole = dtype == pl.Int64
    if spelling.decimal == "." and not spelling.thousands:
        # Whatever polars reads is of the forms below but for infinities and NaN; most columns are.
        read = column.cast(dtype, strict=False)
        if read.null_count() == column.null_count() and (is_whole or read.is_finite().all()):
            return read
    bare = column.str.strip_chars(_SPACES)
    bare = bare.set(bare == "", None)
    fits = bare.str.contains(_whole(spelling) if is_whole else _own_number(spelling))
    plain = bare.str.replace_all(spelling.thousands, "") if spelling.thousands else bare
    if spelling.decimal != ".":
        plain = plain.str.replace(spelling.decimal, ".", literal=True)
    read = plain.cast(dtype, strict=False)
    held = read.is_not_null() if is_whole else read.is_finite().fill_null(value=False)
    index = first_true(bare.is_not_null() & ~(fits & held))
    if index is None:
        return read
    if fits[index]:
        rule = "a number must fit 64 bits, and this one does not"
        return Misfit(index=index, rule=rule, remedy="correct the value, or leave the column out")
    one = bare.slice(index, 1)
    is_number = one.str.contains(_own_number(spelling)).all()
    if not is_number and one.str.contains(_other_number(spelling)).all():
        return _misfit_mark(index, spelling.decimal)
    if is_whole and is_number:
        rule = "a column whose first values are whole must hold whole numbers"
        remedy = (
            "declare its resolution, for example --resolution NAME=0.01 with the column's name, "
            "so that it is read as decimal"
        )
        return Misfit(index=index, rule=rule, remedy=remedy)
    rule = "a column whose first values are numbers must hold numbers only"
    return Misfit(index=index, rule=rule, remedy=_MISSING_REMEDY)
