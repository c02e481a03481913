"""The recipe that is proposed for a table: for a person to confirm and to fill in."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from microveil.arguments.general import SCOPE
from microveil.errors import DataError
from microveil.files.text import TextFormat
from microveil.guarantee import Scope
from microveil.release import remarks
from microveil.release.remarks import Remark
from microveil.schema import GivenCode, Kind
from microveil.table import (
    Labels,
    MissingCodes,
    Table,
    categories_seen,
    check_columns,
    code_for,
    decimals_seen,
    likely_identifier,
    likely_person,
    likely_units,
    likely_weights,
    missing_seen,
    numeric_look_of,
    open_table,
    values_repeated,
)
from microveil.text import one_line

__all__ = ["ProposedRecipe", "propose_recipe", "proposed_recipe", "request_for"]

# A line of a recipe, and what it says in its comment.
Line: TypeAlias = tuple[str, Remark | None]

# Of text with more different values than this none is shown: it is hardly one of categories.
MOST_CATEGORIES = 1000

HEADER = """\
# A recipe for microveil, proposed from the columns of {source}. Please confirm every line.
#
# role        identifier        left out of the release
#             quasi-identifier  known to others, helps to find a person: protected
#             confidential      to be protected
#             weight            of a survey, left out; "confidential" with bounds protects it like
#                               any number
{kept}\
# type        what the column must hold, now and at every later run
# resolution  the step to which values are rounded, 0.01 for cents
# bounds      the domain of the values as it is publicly known: a fact about the attribute,
#             never the smallest and largest value of the table, which would give two people
#             away. For you to fill in, in place of the dots.
# missing_codes  values that stand for a missing one, -9 or "refused"; missing_values above, for
#             every column: ["NA", "."]
# categories  of text, and of numbers that are codes: every one that there is, as publicly known;
#             with ordered = true where they are listed in an order that means something.

microveil = "0.2"        # the version that this recipe was written for
"""
KEPT = """\
#             non-confidential  released exactly as it is; weights too, if they are declared public:
#                               they can show a person's stratum, and so help to find the person
"""
# How a file is written, so that the recipe alone says how to read the next one.
FILE = """
[file]                   # how the file is written; --separator, --decimal, --encoding go before it
{entries}
"""
FOLLOWS = """\
# Each row of the release follows a person, and row scope is not covered: protect prints how many
# are found again. microveil inspect --scope row proposes a new table, whose rows are nobody's.
"""
OUTSIDE = """\
outside = "error"        # or "clamp": move values outside the bounds to the nearer one
{missing}\
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
PARTS = """\

# [[parts]]              # in place of method, k and epsilon: methods for attributes of their own,
# attributes = ["..."]   # each with its method, k and epsilon; as many as there are kinds
"""
# By whether cells without a value were seen.
MISSING = {
    False: """\
missing = "error"        # or "keep": release missing cells as missing
""",
    True: """\
missing = "keep"         # cells without a value, seen in the data, stay missing; or "error": refuse
""",
}
# Of a new table nothing may hang on what was seen but what a person confirms.
MISSING_FOR_ROWS = {
    False: """\
missing = "error"        # or "protect": having no value is then a value like another
""",
    True: """\
missing = "error"        # cells without a value were seen in the data: write "protect", by which
                         # having no value is a value like another, or complete them
""",
}
# What bounds of a kind look like; a person who fills them in looks at the line.
BOUNDS = {
    Kind.WHOLE: "# bounds = [..., ...]       # whole numbers, as [0, 120] of ages",
    Kind.DECIMAL: "# bounds = [..., ...]       # numbers, as [0, 500000] of yearly incomes",
    Kind.DATE: "# bounds = [..., ...]       # dates, as [1900-01-01, 2030-12-31] of births",
}
UNIT = """\
# unit = {name}     # its values repeat like the numbers of people or households: mdav, v-mdav and
                         # mdav-insensitive then count people and not records; laplace, pram and
                         # dp-synthetic protect all records of one together
# max_rows = ...         # how many records one has at most, as publicly known (laplace, pram,
                         # dp-synthetic)
# unit_attributes = [...]  # those that all records of one have alike, as the region of a household:
                         # drawn once and copied (laplace, pram)
"""
# What is asked for by scope; None where none was named.
REQUESTS: Mapping[Scope | None, str] = {
    None: f"""\
method = "idp-cbls"
k = 10
epsilon = 1.0
{OUTSIDE}{WIDENED}{LAST}{POPULATION}""",
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
{{missing}}\
# target = "..."         # the attribute that the others are to predict, if there is one
{POPULATION}""",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedRecipe:
    """A recipe for a person to confirm.

    Attributes
    ----------
    text : str
        TOML, see `propose_recipe`.
    remarks : mapping of str to tuple of str
        By column the sentences that its comments say.
    unit : str or None
        The column that a comment offers as the unit.
    """

    text: str
    remarks: Mapping[str, tuple[str, ...]]
    unit: str | None


def propose_recipe(table: Any, source: str = "the table", **how: Any) -> str:
    """Write a commented recipe for a table, see `proposed_recipe`.

    Returns
    -------
    str
        TOML; `read_recipe` reads it.
    """
    return proposed_recipe(table, source, **how).text


def proposed_recipe(
    table: Any,
    source: str = "the table",
    *,
    scope: Any = None,
    show_values: bool = False,
    text: TextFormat | None = None,
    missing_codes: Mapping[str, Any] | None = None,
    missing_values: Iterable[str] | None = None,
) -> ProposedRecipe:
    """Write a commented recipe for a table: what can be seen proposed, bounds left open.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    source : str
        How the comment names the table.
    scope : {"cluster", "vector", "row"}, optional
        What the epsilon is to cover: the recipe asks for a method that does.
    show_values : bool
        Whether the categories seen stand in comments, for a person to confirm, and values that
        look like codes for missing ones.
    text : TextFormat, optional
        How the file is written that the table came from, where something can be said of it.
    missing_codes, missing_values : optional
        What stands for a missing value, as for `protect`: it goes into the recipe.

    Returns
    -------
    ProposedRecipe
        Unless values are asked for it holds none of the table's but the numbers of decimals, of
        categories and of missing cells seen, and whether cells are missing, which it asks a person
        to confirm; at row scope in comments alone. Which whole numbers look like an identifier is
        proposed too. Its sentences hold no value whatever is asked for.

    Raises
    ------
    RequestError
        If there is no such scope.
    """
    asked = None if scope is None else Scope(SCOPE.checked(scope))
    codes = MissingCodes.of(missing_codes, missing_values)
    opened = open_table(table, codes)
    check_columns(opened, codes.by_column)
    shown = "".join(c if c.isprintable() else "?" for c in source)
    # No column can be kept beside rows that are nobody's.
    parts = [HEADER.format(source=shown, kept="" if asked is Scope.ROW else KEPT)]
    missing = MISSING_FOR_ROWS if asked is Scope.ROW else MISSING
    parts[0] += REQUESTS[asked].format(missing=missing[_misses_values(opened)])
    if codes.of_text:
        parts[0] += f"missing_values = [{', '.join(map(_string, codes.of_text))}]\n"
    weights = {name for name in opened.names if likely_weights(opened, name)}
    others = [name for name in opened.names if name not in weights]
    people = [name for name in others if likely_person(opened, name)]
    numbers = _unit(opened, others, people)
    if numbers is not None:
        parts[0] += UNIT.format(name=_string(numbers))
    if text is not None:
        # A file that is no text has an encoding alone.
        of_text = ("separator", "decimal") if text.separator else ()
        entries = (f"{name} = {_string(getattr(text, name))}" for name in (*of_text, "encoding"))
        parts[0] += FILE.format(entries="\n".join(entries))
    if asked is not Scope.ROW:
        parts[0] += PARTS
    proposed = {
        name: _proposal(
            opened,
            name,
            codes.of_column(name),
            for_rows=asked is Scope.ROW,
            show_values=show_values,
            is_unit=name == numbers,
            is_weight=name in weights,
            is_person=name in people,
        )
        for name in opened.names
    }
    parts += ["\n".join(line for line, _ in lines) + "\n" for lines in proposed.values()]
    return ProposedRecipe(
        text="\n".join(parts),
        remarks={
            name: tuple(remark.sentence for _, remark in lines if remark is not None)
            for name, lines in proposed.items()
        },
        unit=numbers,
    )


def request_for(scope: Scope, *, misses_values: bool) -> dict[str, Any]:
    """Return what a proposed recipe asks for at a scope.

    Parameters
    ----------
    scope : Scope
    misses_values : bool
        Whether cells without a value were seen.

    Examples
    --------
    >>> asked = request_for(Scope.CLUSTER, misses_values=False)
    >>> asked["method"], asked["k"], asked["missing"]
    ('idp-cbls', 10, 'error')
    """
    missing = MISSING_FOR_ROWS if scope is Scope.ROW else MISSING
    return tomllib.loads(REQUESTS[scope].format(missing=missing[misses_values]))


def _unit(table: Table, names: Sequence[str], people: Sequence[str]) -> str | None:
    """Name the column that may say which records belong together: of people's numbers the finest.

    Their values repeat. Else the first that repeats as the numbers of households do.
    """
    repeated = {name: n for name in people if (n := values_repeated(table, name)) > 1}
    if repeated:
        return max(repeated, key=lambda name: repeated[name])
    return next((name for name in names if likely_units(table, name)), None)


def _misses_values(table: Table) -> bool:
    """Whether a column that a recipe may ask for lacks a value."""
    for name in table.names:
        try:
            numeric = table.kind(name).is_numeric
            column = table.numbers(name) if numeric else table.codes(name, ())
        except DataError:
            continue  # neither numbers nor text: left out
        if column.missing is not None:
            return True
    return False


def _proposal(
    table: Table,
    name: str,
    codes: Sequence[GivenCode],
    *,
    for_rows: bool,
    show_values: bool,
    is_unit: bool,
    is_weight: bool,
    is_person: bool,
) -> list[Line]:
    kind = table.kind(name)
    seen = categories_seen(table, name) or []
    labels = table.labels.get(name, Labels())
    categories = (
        _code_list(table, name, seen)
        if labels.valid and kind is not Kind.DATE
        else _categories(seen, show_values=show_values)
    )
    lines: list[Line] = [(f"[attributes.{_quoted(name)}]", None)]
    if labels.column:
        lines.append(_alone(remarks.titled(one_line(labels.column))))
    identifies = likely_identifier(table, name) and not is_weight
    if is_weight:
        lines.append(_role("weight", remarks.WEIGHT))
    elif identifies:
        lines.append(_role("identifier", remarks.NUMBERS_IDENTIFY))
    elif is_unit:
        lines.append(_role("identifier", remarks.UNIT_NUMBERS))
    elif is_person:
        lines.append(_role("identifier", remarks.PERSON_NUMBERS))
    elif kind.is_numeric:
        lines.append(('role = "confidential"', None))
    else:
        all_differ = len(seen) == table.n_records
        lines.append(
            _role_of_text(all_differ=all_differ, listed=bool(categories), for_rows=for_rows)
        )
    look = numeric_look_of(table, name)
    if look is not None:
        lines.append(_alone(remarks.looks_like(look)))
    lines.append((f'type = "{kind.value}"', None))
    if kind is Kind.DECIMAL:
        lines.append(_resolution(table, name, for_rows=for_rows))
    if kind in BOUNDS and not (identifies or is_unit or is_person):
        lines.append((BOUNDS[kind], None))
    missing = _missing(table, name, codes, show_values=show_values)
    return [*lines, *missing, *categories]


def _role(role: str, remark: Remark) -> Line:
    entry = f'role = "{role}"'
    return f"{entry:31} # {remark.comment}", remark


def _alone(remark: Remark) -> Line:
    return f"# {remark.comment}", remark


def _role_of_text(*, all_differ: bool, listed: bool, for_rows: bool) -> Line:
    """Propose a role for what is no number."""
    if all_differ:
        return _role("identifier", remarks.TEXT_IDENTIFIES)
    if not for_rows:
        return _role("quasi-identifier", remarks.NO_NUMBER)
    if listed:
        return _role("quasi-identifier", remarks.UNLISTED)
    return _role("identifier", remarks.NEITHER)


def _missing(
    table: Table, name: str, codes: Sequence[GivenCode], *, show_values: bool
) -> list[Line]:
    """Say how many cells are missing, and what looks like a code for that: as comments."""
    kind, lines = table.kind(name), list[Line]()
    seen = missing_seen(table, name)
    if seen is not None and seen.n_missing:
        lines.append(_alone(remarks.missing_cells(seen.n_missing, table.n_records)))
    if codes:
        read = ((code, code_for(code, name, kind)) for code in codes)
        written = (code if kind is Kind.DATE or own is None else own for code, own in read)
        lines.append((f"missing_codes = [{', '.join(map(_code, written))}]", None))
    elif name in table.labels and table.labels[name].missing_codes:
        listed = ", ".join(map(_code, table.labels[name].missing_codes))
        remark = remarks.codes_of_file(listed)
        lines.append((f"# missing_codes = [{listed}]   # {remark.comment}", remark))
    elif seen is not None and seen.likely_codes:
        listed = ", ".join(map(_code, seen.likely_codes)) if show_values else "..."
        remark = remarks.likely_codes(len(seen.likely_codes), are_shown=show_values)
        gap = "   " if show_values else "        "
        lines.append((f"# missing_codes = [{listed}]{gap}# {remark.comment}", remark))
    return lines


def _code(code: GivenCode) -> str:
    if isinstance(code, bool):
        return str(code).lower()
    return _string(code) if isinstance(code, str) else str(code)


def _resolution(table: Table, name: str, *, for_rows: bool) -> Line:
    """Propose the decimals in use; where nothing is to hang on the data, as a comment.

    A line that nobody looked at then declares nothing.
    """
    decimals = decimals_seen(table.numbers(name))
    step = "1" if decimals == 0 else f"{10.0**-decimals:.{decimals}f}"
    seen = remarks.DECIMALS_SEEN if decimals else remarks.WHOLE_SEEN
    return f"{'# ' if for_rows else ''}resolution = {step}   # {seen.comment}", seen


def _code_list(table: Table, name: str, seen: list[str]) -> list[Line]:
    """Propose a code list of the file's metadata: as comments, for a person to declare."""
    labels = table.labels[name]
    listed = {code: one_line(text) for code, text in labels.valid.items()}
    remark = remarks.code_list(listed)
    lines: list[Line] = [
        (f"# categories = [               # {remark.comment}", remark),
        *((f"#   {_code(code)},  # {text}", None) for code, text in listed.items()),
        ("# ]", None),
    ]
    if labels.is_ordinal:
        ordered = remarks.LIST_ORDERED
        lines.append((f"# ordered = true               # {ordered.comment}", ordered))
    if table.kind(name).is_numeric:
        numbers = table.numbers(name)
        present = numbers.values if numbers.missing is None else numbers.values[~numbers.missing]
        held = set(np.unique(present).tolist())
    else:
        held = set(seen)
    if not held <= {*labels.codes, *labels.missing_codes}:
        lines.append(_alone(remarks.LIST_LACKS_VALUES))
    return lines


def _categories(seen: list[str], *, show_values: bool) -> list[Line]:
    """Say how many categories text has, and which where that is asked for: as comments."""
    if not seen:
        return []
    are_shown = show_values and len(seen) <= MOST_CATEGORIES
    remark = remarks.categories_seen_of(len(seen), are_shown=are_shown)
    if not are_shown:
        return [(f"# categories = [...]           # {remark.comment}", remark)]
    return [
        (f"# categories = [               # {remark.comment}", remark),
        *((f"#   {_string(category)},", None) for category in seen),
        ("# ]", None),
        (
            "# ordered = true               # if they are listed in an order that means something",
            None,
        ),
    ]


def _quoted(name: str) -> str:
    if name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name):
        return name
    return _string(name)


def _string(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
    return f'"{plain}"'
