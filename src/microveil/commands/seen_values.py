"""The values of one column of a file, for a person who asks for them: none is shown unasked."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from microveil.commands.asking import codes_of, read_with_codes
from microveil.errors import DataError, stands_alone
from microveil.files.labelled import labelled
from microveil.files.text import TextFormat
from microveil.table import categories_seen, open_table

__all__ = ["categories_of_file"]


@stands_alone
def categories_of_file(
    path: str | Path,
    text: TextFormat | None,
    column: str,
    *,
    missing_codes: Mapping[str, Any] | None = None,
    missing_values: Sequence[str] | None = None,
) -> list[str]:
    """Read the different values of a column of text, as `inspect_file` shows them.

    Parameters
    ----------
    path : str or Path
    text : TextFormat or None
        How a file of text is written.
    column : str
    missing_codes, missing_values : optional
        What stands for a missing value, as for `protect`: it is no category.

    Returns
    -------
    list of str
        In alphabetical order, however many there are.

    Raises
    ------
    FileError
        If the file cannot be read.
    DataError
        If it has no such column of text.
    """
    source, declared = read_with_codes(path, text, missing_codes, missing_values)
    opened = open_table(labelled(source), codes_of(declared))
    seen = categories_seen(opened, column) if column in opened.names else None
    if seen is None:
        rule = "values are listed of columns of text, and the table has none of this name"
        raise DataError(f"column '{column}'", rule, "choose a column of text")
    return seen
