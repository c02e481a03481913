"""The recipe that is proposed for a table: for a person to confirm and to fill in."""

from typing import Any

from microveil.schema import Kind
from microveil.table import (
    Table,
    categories_seen,
    decimals_seen,
    likely_identifier,
    open_table,
)

__all__ = ["propose_recipe"]

# Of text with more different values than this none is shown: it is hardly one of categories.
MOST_CATEGORIES = 1000

HEADER = """\
# A recipe for microveil, proposed from the columns of {source}. Please confirm every line.
#
# role        identifier        left out of the release
#             quasi-identifier  known to others, helps to find a person: protected
#             confidential      to be protected
#             non-confidential  released exactly as it is
# type        what the column must hold, now and at every later run
# resolution  the step to which values are rounded, 0.01 for cents
# bounds      the domain of the values as it is publicly known: a fact about the attribute,
#             never the smallest and largest value of the table, which would give two people
#             away. For you to fill in.
# categories  of text, and of numbers that are codes: every one that there is, as publicly known;
#             with ordered = true where they are listed in an order that means something.

microveil = "0.2"        # the version that this recipe was written for
method = "idp-cbls"
k = 10
epsilon = 1.0
outside = "error"        # or "clamp": move values outside the bounds to the nearer one
missing = "error"        # or "keep": release missing cells as missing
exact_cells = "refuse"   # or "widen": merge clusters of equal values with their neighbours,
                         # or "allow": publish them as they are
isotonic = false
shuffle = false          # or "rows"; "columns": each attribute by itself, in random order
# population = "..."     # who the people are: a ledger then counts all releases of theirs
"""


def propose_recipe(table: Any, source: str = "the table", *, show_values: bool = False) -> str:
    """Write a commented recipe for a table: what can be seen proposed, bounds left open.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    source : str
        How the comment names the table.
    show_values : bool
        Whether the categories seen stand in comments, for a person to confirm.

    Returns
    -------
    str
        TOML; `read_recipe` reads it. Unless values are asked for it holds none of the table's
        but the numbers of decimals and of categories seen, which it asks a person to confirm.
    """
    opened = open_table(table)
    shown = "".join(c if c.isprintable() else "?" for c in source)
    parts = [HEADER.format(source=shown)]
    parts += [_proposal(opened, name, show_values=show_values) for name in opened.names]
    return "\n".join(parts)


def _proposal(table: Table, name: str, *, show_values: bool) -> str:
    kind = table.kind(name)
    lines = [f"[attributes.{_quoted(name)}]"]
    if likely_identifier(table, name):
        lines.append('role = "identifier"             # whole numbers, all different')
    elif kind.is_numeric:
        lines.append('role = "confidential"')
    else:
        lines.append(
            'role = "quasi-identifier"       # no number: left out unless "non-confidential"'
        )
    lines.append(f'type = "{kind.value}"')
    if kind is Kind.DECIMAL:
        decimals = decimals_seen(table.numbers(name))
        step = "1" if decimals == 0 else f"{10.0**-decimals:.{decimals}f}"
        lines.append(f"resolution = {step}   # decimals seen in the data: confirm")
    if kind.is_numeric and kind is not Kind.BOOLEAN:
        example = "[1900-01-01, 2020-12-31]" if kind is Kind.DATE else "[0, 100000]"
        lines.append(f"# bounds = {example}")
    lines += _categories(table, name, show_values=show_values)
    return "\n".join(lines) + "\n"


def _categories(table: Table, name: str, *, show_values: bool) -> list[str]:
    """Say how many categories text has, and which where that is asked for: as comments."""
    seen = categories_seen(table, name)
    if not seen:
        return []
    if not show_values or len(seen) > MOST_CATEGORIES:
        return [f"# categories = [...]           # different values seen in the data: {len(seen)}"]
    listed = [f"#   {_string(category)}," for category in seen]
    return [
        "# categories = [               # seen in the data: confirm, and add what there is besides",
        *listed,
        "# ]",
        "# ordered = true               # if they are listed in an order that means something",
    ]


def _quoted(name: str) -> str:
    if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
        return name
    return _string(name)


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
    return f'"{plain}"'
