"""Names of columns: those that are not there, and those that none may have."""

from collections.abc import Iterable, Sequence
from typing import Any

from microveil.errors import DataError, RequestError
from microveil.table.protocol import Table

__all__ = ["PATTERN_RULE", "check_columns", "check_names", "pattern_among", "unknown_column"]

# polars takes such a name for a pattern, and gives other columns, or none, in the place of its own.
PATTERN_RULE = (
    "no name may be an asterisk, or begin with ^ and end with $: it would be taken for a pattern"
)


def check_columns(table: Table, names: Iterable[str], side: str = "") -> None:
    """Refuse names that a table does not have.

    Parameters
    ----------
    table : Table
    names : iterable of str
    side : str
        Which table it is, in the error, where there are several: "original", "protected".

    Raises
    ------
    RequestError
        If a name is not among the table's columns.
    """
    for name in names:
        if name not in table.names:
            raise unknown_column(name, table.names, side)


def unknown_column(name: str, names: Sequence[str], side: str = "") -> RequestError:
    """Return the error about a name that is none of a table's columns; see `check_columns`."""
    which = f"{side} table" if side else "table"
    return RequestError(
        f"column '{name}'", f"the {which} has no such column", _spelling(name, names)
    )


def _spelling(name: str, names: Sequence[str]) -> str:
    """Say what to do about a name that is not there.

    The names that are there are not listed: where a file had no header they are a person's
    values. One that is the name asked for but for capitals and spaces shows nothing new.
    """
    alike = [other for other in names if _folded(other) == _folded(name)]
    if alike:
        return f"write '{alike[0]}'"
    return f"check the name against those of its {len(names)} columns"


def _folded(name: str) -> str:
    return "".join(name.split()).casefold()


def check_names(names: list[Any]) -> None:
    """Refuse columns that are not named by text, by the same, or by a pattern.

    Raises
    ------
    DataError
        By the columns' numbers.
    """
    for name in names:
        if not isinstance(name, str) or not name:
            raise DataError("table", "column names must be text", "name every column")
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in first:
            # By number: the names are a person's values where a file had no header.
            raise DataError(
                f"columns {first[name]} and {number}",
                "two columns must not have one name",
                "rename one",
            )
        first[name] = number
    if number_of_one := pattern_among(names):
        raise DataError(f"column {number_of_one}", PATTERN_RULE, "rename it")


def pattern_among(names: Iterable[str]) -> int | None:
    """Return the number of the first name that a library would take for a pattern, from 1.

    >>> pattern_among(["A", "^B$"])
    2
    """
    numbered = enumerate(names, start=1)
    is_one = (
        number
        for number, name in numbered
        if name == "*" or (name.startswith("^") and name.endswith("$"))
    )
    return next(is_one, None)
