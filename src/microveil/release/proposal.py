"""The recipe that is proposed for a table: for a person to confirm and to fill in."""

from collections.abc import Mapping
from typing import Any

from microveil.arguments.general import SCOPE
from microveil.privacy import Scope
from microveil.schema import Kind
from microveil.table import (
    Table,
    categories_seen,
    decimals_seen,
    likely_identifier,
    numeric_look_of,
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
{kept}\
# type        what the column must hold, now and at every later run
# resolution  the step to which values are rounded, 0.01 for cents
# bounds      the domain of the values as it is publicly known: a fact about the attribute,
#             never the smallest and largest value of the table, which would give two people
#             away. For you to fill in.
# categories  of text, and of numbers that are codes: every one that there is, as publicly known;
#             with ordered = true where they are listed in an order that means something.

microveil = "0.2"        # the version that this recipe was written for
"""
KEPT = """\
#             non-confidential  released exactly as it is
"""
FOLLOWS = """\
# Each row of the release follows a person, and row scope is not covered: protect prints how many
# are found again. microveil inspect --scope row proposes a new table, whose rows are nobody's.
"""
OUTSIDE = """\
outside = "error"        # or "clamp": move values outside the bounds to the nearer one
missing = "error"        # or "keep": release missing cells as missing
"""
WIDENED = """\
exact_cells = "widen"    # clusters of equal values are merged with their neighbours; or "refuse",
                         # or "allow": publish them as they are
"""
LAST = """\
isotonic = false
shuffle = false          # or "rows"; "columns": each attribute by itself, in random order
"""
POPULATION = """\
# population = "..."     # who the people are: a ledger then counts all releases of theirs
"""
# What is asked for by scope; None where none was named.
REQUESTS: Mapping[Scope | None, str] = {
    None: f"""\
method = "idp-cbls"
k = 10
epsilon = 1.0
{OUTSIDE}\
exact_cells = "refuse"   # or "widen": merge clusters of equal values with their neighbours,
                         # or "allow": publish them as they are
{LAST}{POPULATION}""",
    Scope.CLUSTER: f"""\
{FOLLOWS}\
method = "idp-cbls"      # means of people alike, with the least noise: fitted to the clusters
scope = "cluster"        # what the epsilon must cover, or the request is refused
k = 10                   # how many people share a value at least
epsilon = 1.0
{OUTSIDE}{WIDENED}{LAST}{POPULATION}""",
    Scope.VECTOR: f"""\
{FOLLOWS}\
method = "idp-vector"    # means of people alike; one epsilon is shared out over all clusters
partition = "noise-aware" # clusters where they need least noise; or "ranking", all of one size
scope = "vector"         # what the epsilon must cover, or the request is refused
k = 3                    # how many people share a value at least
epsilon = 1.0
{OUTSIDE}{WIDENED}{LAST}{POPULATION}""",
    Scope.ROW: f"""\
method = "dp-synthetic"  # a new table, drawn from noisy counts: its rows are nobody's
scope = "row"            # what the epsilon must cover, or the request is refused
epsilon = 1.0            # where that is too little for the table, protect says what would do
delta = 1e-9             # what epsilon does not bound has at most this probability: stay far
                         # below 1/n, n the number of records. Take the line out for pure
                         # differential privacy (delta 0), which keeps less of the table.
outside = "clamp"        # move values outside the bounds to the nearer one; or "error": refuse,
                         # which shows that there are some
missing = "error"        # or "protect": having no value is then a value like another
# target = "..."         # the attribute that the others are to predict, if there is one
{POPULATION}""",
}


def propose_recipe(
    table: Any, source: str = "the table", *, scope: Any = None, show_values: bool = False
) -> str:
    """Write a commented recipe for a table: what can be seen proposed, bounds left open.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    source : str
        How the comment names the table.
    scope : {"cluster", "vector", "row"}, optional
        What the epsilon is to cover: the recipe asks for a method that does.
    show_values : bool
        Whether the categories seen stand in comments, for a person to confirm.

    Returns
    -------
    str
        TOML; `read_recipe` reads it. Unless values are asked for it holds none of the table's
        but the numbers of decimals and of categories seen, which it asks a person to confirm; at
        row scope in comments alone. Which whole numbers look like an identifier is proposed too.

    Raises
    ------
    RequestError
        If there is no such scope.
    """
    asked = None if scope is None else Scope(SCOPE.checked(scope))
    opened = open_table(table)
    shown = "".join(c if c.isprintable() else "?" for c in source)
    # No column can be kept beside rows that are nobody's.
    parts = [HEADER.format(source=shown, kept="" if asked is Scope.ROW else KEPT)]
    parts[0] += REQUESTS[asked]
    parts += [_proposal(opened, name, asked, show_values=show_values) for name in opened.names]
    return "\n".join(parts)


def _proposal(table: Table, name: str, scope: Scope | None, *, show_values: bool) -> str:
    kind = table.kind(name)
    for_rows = scope is Scope.ROW
    categories = _categories(table, name, show_values=show_values)
    lines = [f"[attributes.{_quoted(name)}]"]
    if likely_identifier(table, name):
        note = "" if scope is None else ': if it is none, "confidential"'
        lines.append(f'role = "identifier"             # whole numbers, all different{note}')
    elif kind.is_numeric:
        lines.append('role = "confidential"')
    elif for_rows and categories:
        lines.append('role = "quasi-identifier"       # left out until its categories are listed')
    elif for_rows:
        lines.append('role = "identifier"             # neither numbers nor categories: left out')
    else:
        lines.append(
            'role = "quasi-identifier"       # no number: left out unless "non-confidential"'
        )
    look = numeric_look_of(table, name)
    if look is not None:
        lines.append(f"# {look}")
    lines.append(f'type = "{kind.value}"')
    if kind is Kind.DECIMAL:
        decimals = decimals_seen(table.numbers(name))
        step = "1" if decimals == 0 else f"{10.0**-decimals:.{decimals}f}"
        # Where nothing is to hang on the data, a line that nobody looked at declares nothing.
        mark = "# " if for_rows else ""
        lines.append(f"{mark}resolution = {step}   # decimals seen in the data: confirm")
    if kind.is_numeric and kind is not Kind.BOOLEAN:
        example = "[1900-01-01, 2020-12-31]" if kind is Kind.DATE else "[0, 100000]"
        lines.append(f"# bounds = {example}")
    return "\n".join([*lines, *categories]) + "\n"


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
