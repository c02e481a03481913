r"""Text that a spreadsheet would run as a formula, and how it is written so that it is not.

Programs that open a CSV file as a spreadsheet take text for a formula by its first character,
in quotes too. The list is OWASP's ("CSV Injection"). A number is none, whatever its sign, nor
are signs alone: they stay as they are.
"""

import re

import polars as pl

# The wide ones count in editions for languages that are written with them.
FORMULA_SIGNS = ("=", "+", "-", "@", "\t", "\r", "\n", "\0", "＝", "＋", "－", "＠")
_BEGINNING = r"^'*[=+\-@\t\r\n\x00＝＋－＠]"
# Signs alone, or digits with marks and spaces between them, of which there are wide and narrow.
_SPACES = " \u00a0\u202f"
HARMLESS = rf"[ \t]*(?:[+-]+|[+-]?[0-9.,{_SPACES}]*[0-9][0-9.,]*(?:[eE][+-]?[0-9]+)?)[ \t]*"


def begins_like_formula(text: str) -> bool:
    """Whether a spreadsheet would take text for a formula."""
    return text.startswith(FORMULA_SIGNS) and not re.fullmatch(HARMLESS, text)


def escaped(frame: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before the names and the cells of text that would be formulas.

    One more is put before those that begin with apostrophes already, so that what differed
    differs still.

    >>> escaped(pl.DataFrame({"@A": ["=1+1", "-5", "'=1+1"]})).to_dict(as_series=False)
    {"'@A": ["'=1+1", '-5', "''=1+1"]}
    """
    texts = [
        name
        for name, dtype in frame.schema.items()
        if isinstance(dtype, pl.String | pl.Categorical | pl.Enum)
    ]
    cells = [_escaped_cells(frame[name].cast(pl.String)) for name in texts]
    names = {name: f"'{name}" for name in frame.columns if begins_like_formula(name.lstrip("'"))}
    return frame.with_columns(cells).rename(names)


def _escaped_cells(text: pl.Series) -> pl.Series:
    begins = text.str.contains(_BEGINNING)
    if not begins.any():  # nearly always, and the other look takes as long
        return text
    formula = begins & ~text.str.contains(f"^'*(?:{HARMLESS})$")
    return pl.select(pl.when(formula).then("'" + text).otherwise(text).alias(text.name)).to_series()
