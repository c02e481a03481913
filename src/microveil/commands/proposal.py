"""The recipe that is proposed for a table: for a person to confirm and to fill in."""

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from microveil.commands import remarks
from microveil.commands.remarks import Remark
from microveil.errors import DataError
from microveil.files.text import TextFormat
from microveil.guarantee import Scope
from microveil.protect.arguments import DECLARED
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

__all__ = ["MOST_CATEGORIES", "ProposedRecipe", "proposed_recipe", "request_for"]

# A line of a recipe, and what it says in its comment.
Line = tuple[str, Remark | None]

# Of text with more different values than this none is shown: it is hardly one of categories.
MOST_CATEGORIES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedRecipe:
    """A recipe for a person to confirm."""

    text: str  # TOML
    remarks: Mapping[str, tuple[str, ...]]  # by column the sentences that its comments say
    unit: str | None  # the column that a comment offers as the unit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seen:
    """A table that is looked at, and what its columns look like by their names and values."""

    table: Table
    codes: MissingCodes
    weights: Collection[str]
    people: Collection[str]
    unit: str | None
    for_rows: bool
    show_values: bool


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

    Unless values are asked for it holds none of the table's but the numbers of decimals, of
    categories and of missing cells seen, and whether cells are missing, which it asks a person to
    confirm; at row scope in comments alone. Which whole numbers look like an identifier is proposed
    too. Its sentences hold no value whatever is asked for. ``text`` says how the file is written
    that the table came from; codes for missing values, as of `protect`, go into the recipe.
    """
    asked = None if scope is None else Scope(DECLARED["scope"].checked(scope))
    codes = MissingCodes.of(missing_codes, missing_values)
    opened = open_table(table, codes)
    check_columns(opened, codes.by_column)
    weights = {name for name in opened.names if likely_weights(opened, name)}
    others = [name for name in opened.names if name not in weights]
    people = [name for name in others if likely_person(opened, name)]
    seen = _Seen(
        table=opened,
        codes=codes,
        weights=weights,
        people=people,
        unit=_unit(opened, others, people),
        for_rows=asked is Scope.ROW,
        show_values=show_values,
    )
    columns = {name: _column(seen, name) for name in opened.names}
    parts = [_head(seen, source, asked, text)]
    parts += ["\n".join(line for line, _ in lines) + "\n" for lines in columns.values()]
    return ProposedRecipe(
        text="\n".join(parts),
        remarks={
            name: tuple(remark.sentence for _, remark in lines if remark is not None)
            for name, lines in columns.items()
        },
        unit=seen.unit,
    )


def request_for(scope: Scope | None, *, misses_values: bool) -> dict[str, Any]:
    """Return what a proposed recipe asks for at a scope, where cells are missing or none is.

    >>> asked = request_for(Scope.CLUSTER, misses_values=False)
    >>> asked["method"], asked["k"], asked["missing"]
    ('idp-cbls', 10, 'error')
    """
    return tomllib.loads(_request(scope, misses_values=misses_values))


def _request(scope: Scope | None, *, misses_values: bool) -> str:
    missing = remarks.MISSING_FOR_ROWS if scope is Scope.ROW else remarks.MISSING
    return remarks.REQUESTS[scope].format(missing=missing[misses_values])


def _head(seen: _Seen, source: str, scope: Scope | None, text: TextFormat | None) -> str:
    """Write what comes before the columns."""
    shown = "".join(c if c.isprintable() else "?" for c in source)
    # No column can be kept beside rows that are nobody's.
    head = remarks.HEADER.format(source=shown, kept="" if seen.for_rows else remarks.KEPT)
    head += _request(scope, misses_values=_misses_values(seen.table))
    if seen.codes.of_text:
        head += f"missing_values = [{', '.join(map(_written, seen.codes.of_text))}]\n"
    if seen.unit is not None:
        head += remarks.UNIT.format(name=_written(seen.unit))
    if text is not None:
        # A file that is no text has an encoding alone.
        of_text = ("separator", "decimal") if text.separator else ()
        entries = (f"{name} = {_written(getattr(text, name))}" for name in (*of_text, "encoding"))
        head += remarks.FILE.format(entries="\n".join(entries))
    return head if seen.for_rows else head + remarks.PARTS


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


def _column(seen: _Seen, name: str) -> list[Line]:
    """Propose the entries of a column."""
    table, kind = seen.table, seen.table.kind(name)
    values, labels = categories_seen(table, name) or [], table.labels.get(name, Labels())
    listed = (
        _code_list(table, name, values)
        if labels.valid and kind is not Kind.DATE
        else _categories(values, show_values=seen.show_values)
    )
    lines: list[Line] = [(f"[attributes.{_quoted(name)}]", None)]
    if labels.column:
        lines.append(_line(remarks.titled(one_line(labels.column))))
    role, remark = _role(seen, name, n_values=len(values), is_listed=bool(listed))
    entry = f'role = "{role}"'
    lines.append((entry, None) if remark is None else _line(remark, f"{entry:31} "))
    look = numeric_look_of(table, name)
    if look is not None:
        lines.append(_line(remarks.looks_like(look)))
    lines.append((f'type = "{kind.value}"', None))
    if kind is Kind.DECIMAL:
        lines.append(_resolution(table, name, for_rows=seen.for_rows))
    if kind in remarks.BOUNDS and role != "identifier":
        lines.append((remarks.BOUNDS[kind], None))
    return [*lines, *_missing(seen, name), *listed]


def _role(seen: _Seen, name: str, *, n_values: int, is_listed: bool) -> tuple[str, Remark | None]:
    """Propose a role, and say by what."""
    table = seen.table
    roles = (
        (name in seen.weights, "weight", remarks.WEIGHT),
        (likely_identifier(table, name), "identifier", remarks.NUMBERS_IDENTIFY),
        (name == seen.unit, "identifier", remarks.UNIT_NUMBERS),
        (name in seen.people, "identifier", remarks.PERSON_NUMBERS),
        (table.kind(name).is_numeric, "confidential", None),
        (n_values == table.n_records, "identifier", remarks.TEXT_IDENTIFIES),
        (not seen.for_rows, "quasi-identifier", remarks.NO_NUMBER),
        (is_listed, "quasi-identifier", remarks.UNLISTED),
        (True, "identifier", remarks.NEITHER),
    )
    return next((role, remark) for holds, role, remark in roles if holds)


def _line(remark: Remark, entry: str = "") -> Line:
    return f"{entry}# {remark.comment}", remark


def _missing(seen: _Seen, name: str) -> list[Line]:
    """Say how many cells are missing, and what looks like a code for that: as comments."""
    table, kind, lines = seen.table, seen.table.kind(name), list[Line]()
    codes, found = seen.codes.of_column(name), missing_seen(table, name)
    if found is not None and found.n_missing:
        lines.append(_line(remarks.missing_cells(found.n_missing, table.n_records)))
    if codes:
        read = ((code, code_for(code, name, kind)) for code in codes)
        written = (code if kind is Kind.DATE or own is None else own for code, own in read)
        lines.append((f"missing_codes = [{', '.join(map(_written, written))}]", None))
    elif name in table.labels and table.labels[name].missing_codes:
        listed = ", ".join(map(_written, table.labels[name].missing_codes))
        lines.append(_line(remarks.codes_of_file(listed), f"# missing_codes = [{listed}]   "))
    elif found is not None and found.likely_codes:
        listed = ", ".join(map(_written, found.likely_codes)) if seen.show_values else "..."
        remark = remarks.likely_codes(len(found.likely_codes), are_shown=seen.show_values)
        gap = "   " if seen.show_values else "        "
        lines.append(_line(remark, f"# missing_codes = [{listed}]{gap}"))
    return lines


def _resolution(table: Table, name: str, *, for_rows: bool) -> Line:
    """Propose the decimals in use; where nothing is to hang on the data, as a comment.

    A line that nobody looked at then declares nothing.
    """
    decimals = decimals_seen(table.numbers(name))
    step = "1" if decimals == 0 else f"{10.0**-decimals:.{decimals}f}"
    seen = remarks.DECIMALS_SEEN if decimals else remarks.WHOLE_SEEN
    return _line(seen, f"{'# ' if for_rows else ''}resolution = {step}   ")


def _code_list(table: Table, name: str, seen: list[str]) -> list[Line]:
    """Propose a code list of the file's metadata: as comments, for a person to declare."""
    labels = table.labels[name]
    listed = {code: one_line(text) for code, text in labels.valid.items()}
    lines: list[Line] = [
        _line(remarks.code_list(listed), "# categories = [               "),
        *((f"#   {_written(code)},  # {text}", None) for code, text in listed.items()),
        ("# ]", None),
    ]
    if labels.is_ordinal:
        lines.append(_line(remarks.LIST_ORDERED, "# ordered = true               "))
    if table.kind(name).is_numeric:
        numbers = table.numbers(name)
        present = numbers.values if numbers.missing is None else numbers.values[~numbers.missing]
        held = set(np.unique(present).tolist())
    else:
        held = set(seen)
    if not held <= {*labels.codes, *labels.missing_codes}:
        lines.append(_line(remarks.LIST_LACKS_VALUES))
    return lines


def _categories(seen: list[str], *, show_values: bool) -> list[Line]:
    """Say how many categories text has, and which where that is asked for: as comments."""
    if not seen:
        return []
    are_shown = show_values and len(seen) <= MOST_CATEGORIES
    remark = remarks.categories_seen_of(len(seen), are_shown=are_shown)
    if not are_shown:
        return [_line(remark, "# categories = [...]           ")]
    return [
        _line(remark, "# categories = [               "),
        *((f"#   {_written(category)},", None) for category in seen),
        ("# ]", None),
        (f"{'# ordered = true':31}# if they are listed in an order that means something", None),
    ]


def _quoted(name: str) -> str:
    is_bare = name and all(c.isascii() and (c.isalnum() or c in "-_") for c in name)
    return name if is_bare else _written(name)


def _written(code: GivenCode) -> str:
    """Write a value as TOML has it."""
    if not isinstance(code, str):
        return str(code).lower() if isinstance(code, bool) else str(code)
    escaped = code.replace("\\", "\\\\").replace('"', '\\"')
    plain = "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in escaped)
    return f'"{plain}"'
