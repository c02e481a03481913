"""What reading a SQLite file and a PostgreSQL database have in common: names and refusals."""

from collections.abc import Sequence
from typing import Any

import polars as pl
import polars.selectors as cs

from microveil.errors import FileError
from microveil.files.checking import KnownError, in_our_words
from microveil.files.text import quoted

_SHOWN = 20  # of the names of tables


class Refused(KnownError):  # noqa: N818 -- it is caught where what was asked for is known
    """A database refused a statement, or what it gave is no table."""


def identifier(name: str) -> str:
    """Write a name as SQL takes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Write text as SQL takes it."""
    return "'" + text.replace("'", "''") + "'"


def rows(cursor: Any, statement: str) -> pl.DataFrame:
    """Return what a statement gives; Refused where a database refuses it, or no table holds it."""
    with in_our_words(lambda _error: Refused()):
        cursor.execute(statement)
        # Any bytes may come as text, which polars takes unseen.
        return pl.DataFrame(cursor.fetch_arrow()).with_columns(
            cs.string().cast(pl.Binary).cast(pl.String)
        )


def one_of(
    tables: Sequence[str], views: Sequence[str], wanted: str | None, place: str, example: str
) -> str:
    """Choose a table by its name, or the only one: a view is never chosen unasked."""
    every = [*tables, *views]
    if wanted is not None and wanted in every:
        return wanted
    if wanted is None and len(tables) == 1:
        return tables[0]
    if not every:
        raise FileError(place, "it must hold a table, and there is none", "check what was exported")
    listed = ", ".join(map(quoted, every[:_SHOWN]))
    more = f" and {len(every) - _SHOWN} more" if len(every) > _SHOWN else ""
    rule = (
        "one table must be named where there are several or none but views"
        if wanted is None
        else "the table that is named must exist, and there is none of that name"
    )
    raise FileError(place, f"{rule}: it has {listed}{more}", f"write {example}")
