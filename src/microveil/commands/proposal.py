"""The recipe that is proposed for a table, and what the custodian is told is left to type."""

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from microveil.commands.coverage import check_scope, method_asked, request_for
from microveil.commands.proposed_columns import Looked, ProposedColumn, quoted, written
from microveil.errors import MicroveilError, Problems
from microveil.files.text import TextFormat
from microveil.guarantee import Scope
from microveil.methods import METHODS
from microveil.protect.arguments import arguments
from microveil.protect.attributes import attribute_of
from microveil.protect.declarations import declared_by_file, to_accept
from microveil.protect.notes import pairs_expected
from microveil.protect.parts import AUTO
from microveil.protect.planning import new_table
from microveil.protect.recipe import read_recipe
from microveil.protect.request import Request, read_each
from microveil.table import (
    LARGEST_UNIT,
    MissingCodes,
    Table,
    check_columns,
    likely_person,
    likely_units,
    likely_weights,
    open_table,
    values_repeated,
)
from microveil.table.record_rules import kinds_of_rules
from microveil.text import one_line
from microveil.text.document import Code, Document, Given, items, paragraph, tabulated
from microveil.text.templates import text_of

# So many columns are named in a sentence.
MOST_NAMED = 20
WAYS = {
    "missing": "missing, since cells are: the recipe says what else it may be (--missing)",
    "max_rows": "max_rows: how many records one unit has at most, as publicly known",
    "accept": 'accept = "file", where what the file lists is publicly known, or --accept file',
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedRecipe:
    """A recipe for a person to confirm, and what the custodian alone is told."""

    text: str  # TOML
    columns: Mapping[str, ProposedColumn]
    left: tuple[str, ...]  # entries above the columns that are left to type
    unit: str | None  # the column that a comment offers as the unit
    learnt: str = ""  # from how many records on a value is learnt, by public figures
    flags: tuple[str, ...] = ()  # that fill in what is left and has one likely value

    @property
    def remarks(self) -> dict[str, tuple[str, ...]]:
        """By column what is said of it, in sentences: for the custodian."""
        return {
            name: tuple(remark.sentence for remark in column.remarks)
            for name, column in self.columns.items()
        }


def proposed_recipe(
    table: Any,
    source: str = "the table",
    *,
    show_values: bool = False,
    text: TextFormat | None = None,
    **asked: Any,
) -> ProposedRecipe:
    """Write a commented recipe for a table: what can be seen proposed, domains left open.

    What was seen in the values stands in it only where ``show_values`` asks for it.
    """
    given = _checked(asked)
    look = _looked(table, given, show_values=show_values)
    columns = {name: ProposedColumn(look=look, name=name) for name in look.table.names}
    unit = look.unit if look.unit != given.get("unit") else None
    request, left = _request(look, given, columns)
    recipe = "\n".join([
        _head(look, source, request, text, _declared(columns), unit),
        *(_entry(look, name, column) for name, column in columns.items()),
    ])  # fmt: skip
    _check_request(recipe, given)
    learnt = _learnt(look, request, columns)
    return ProposedRecipe(
        text=recipe,
        columns=columns,
        left=left,
        unit=unit,
        learnt=learnt,
        flags=_flags(look, left, columns),
    )


def _flags(
    look: Looked, left: Sequence[str], columns: Mapping[str, ProposedColumn]
) -> tuple[str, ...]:
    """Return flags for protect that say what is left above the columns, as it is proposed."""
    accept = ("--accept", "file") if "accept" in left else ()
    lacks = "missing" in left or (accept and any(own.own.missing_codes for own in columns.values()))
    if not lacks or look.is_for_rows:
        return accept
    return (*accept, "--missing", "protect" if look.can("missing") else "keep")


def _learnt(look: Looked, request: Mapping[str, Any], columns: Mapping[str, ProposedColumn]) -> str:
    """Say how many people a value needs to be learnt, or that the budget is not enough."""
    names = [name for name, column in columns.items() if column.is_protected]
    if not look.learns or not names or ("unit" in request and "max_rows" not in request):
        return ""
    asked = {**look.given, **request, "attributes": names, "accept": None, "codebook": None}
    untyped = [name for name in names if columns[name].is_untyped]
    if asked.get("rules") and kinds_of_rules(asked["rules"], untyped):
        asked["rules"] = None  # protect states what such columns hold, and checks them then
    try:
        asks = Request.of(asked)
        attributes = [attribute_of(look.table, name, asks) for name in names]
        plan, pairs = new_table(attributes, look.table.n_records, asks)
    except MicroveilError as error:
        return f"As it stands it would be refused: {error}"
    texts, numbers, said = list[int](), list[int](), list[str]()
    for own in [own for part in plan.attributes for own in part.each]:
        if own.learning is not None and not own.learning.is_declared:
            of_kind = numbers if own.attribute.kind.is_numeric else texts
            of_kind.append(own.learning.threshold)
    if texts:
        said.append(f"A category needs about {max(texts):,} records to keep its name")
    if numbers:
        said.append(f"a number {max(numbers):,} to have a count of its own")
    shown = ", and ".join(said)
    here = "at this budget, for so many columns and records."
    sentences = [f"{shown[:1].upper()}{shown[1:]}: {here}"] if said else []
    return " ".join((*sentences, *pairs_expected(pairs)))


def _checked(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Check what is asked for, argument by argument; a method or k may be left to advice."""
    said = {name: value for name, value in asked.items() if value is not None}
    given = {name: value for name, value in said.items() if value != AUTO}
    problems = Problems()
    read = read_each(given, problems)
    problems.refuse()
    # A target and a table's order are written as they were said.
    as_said: dict[str, Any] = {n: said[n] for n in ("target", "shuffle", "memory") if n in said}
    return {**said, **read, **as_said}


def _looked(table: Any, given: Mapping[str, Any], *, show_values: bool) -> Looked:
    """Look at a table: by names, by values, and by what its file declares."""
    declared = to_accept(table) if given.get("accept") else declared_by_file(table)
    codes = MissingCodes.of(given.get("missing_codes"), given.get("missing_values"))
    opened = open_table(table, codes)
    if given.get("accept"):
        of_file = {name: own.missing_codes for name, own in declared.items() if own.missing_codes}
        opened = open_table(table, codes.and_of(of_file))
    check_columns(opened, _columns_of(given))
    weights = {name for name in opened.names if likely_weights(opened, name)}
    others = [name for name in opened.names if name not in weights]
    people = [name for name in others if likely_person(opened, name)]
    return Looked(
        table=opened,
        declared=declared,
        given=given,
        method=method_asked(given),
        weights=weights,
        people=people,
        unit=given.get("unit") or _unit(opened, others, people),
        show_values=show_values,
    )


def _columns_of(given: Mapping[str, Any]) -> Iterator[str]:
    """Go through the columns that are named by what is asked for."""
    yield from (given[name] for name in ("unit",) if name in given)
    for name in ("attributes", "keep", "unit_attributes"):
        yield from given.get(name, ())
    for argument in arguments().values():
        if argument.by_column and isinstance(given.get(argument.name), Mapping):
            yield from given[argument.name]


def _unit(table: Table, names: Sequence[str], people: Sequence[str]) -> str | None:
    """Name the column that may tell units apart: the finest of people's numbers that repeat."""
    counted = {name: values_repeated(table, name) for name in people}
    # A number within the household, 1 to 7, is no unit's: too many have the same one.
    repeated = {n: c for n, c in counted.items() if c > 1 and table.n_records <= LARGEST_UNIT * c}
    if repeated:
        return max(repeated, key=lambda name: repeated[name])
    return next((name for name in names if likely_units(table, name)), None)


def _request(
    look: Looked, given: Mapping[str, Any], columns: Mapping[str, ProposedColumn]
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return what a recipe asks for above its columns, and what of it is left to type."""
    check_scope(given, look.table.n_records)
    scope = given.get("scope")
    rest = {name: value for name, value in given.items() if name != "scope"}
    found = request_for(None if scope is None else Scope(scope), **rest)
    lacking = any(column.n_missing for column in columns.values() if column.is_protected)
    if "missing" not in given and (
        (look.show_values and lacking and not look.is_for_rows)
        or (look.accepts and any(look.declared[name].missing_codes for name in columns))
    ):
        found["missing"] = "protect" if look.can("missing") else "keep"
    left = ["missing"] if lacking and found.get("missing") == "error" else []
    if found.get("unit") and look.method and look.method.uses("max_rows"):
        left += [] if "max_rows" in found else ["max_rows"]
    if _declared(columns) and not look.accepts:
        left.append("accept")
    return found, tuple(left)


def _declared(columns: Mapping[str, ProposedColumn]) -> int:
    """Count the columns of which the file declares what a person may accept."""
    return sum(bool(column.by_file) for column in columns.values())


def _head(
    look: Looked,
    source: str,
    request: Mapping[str, Any],
    text: TextFormat | None,
    n_declared: int,
    unit: str | None,
) -> str:
    """Write what comes before the columns."""

    def may(argument: str, *, unknown: bool = False) -> bool:
        return unknown if look.method is None else look.method.uses(argument)

    order = ["method", "partition", "scope", *arguments(), "missing"]
    names, is_of_units = sorted(request, key=order.index), "unit" in request and may("max_rows")
    may_copy = is_of_units and not look.is_for_rows
    entries = {} if text is None else text.entries
    return text_of(
        "commands/recipe.jinja",
        source="".join(c if c.isprintable() else "?" for c in source),
        is_new=look.is_for_rows,  # no column can be kept beside rows that are nobody's
        lines=[(name, f"{name} = {written(request[name])}") for name in names],
        asked=request,
        follows=request.get("scope", Scope.ROW) != Scope.ROW and may("shuffle", unknown=True),
        counts_missing=look.can("missing"),
        may_target=may("target") and "target" not in request,
        n_declared=0 if look.accepts else n_declared,
        unit=None if unit is None or "unit" in request else written(unit),
        max_rows=is_of_units and "max_rows" not in request,
        unit_attributes=may_copy and "unit_attributes" not in request,
        entries=[f"{name} = {written(value)}" for name, value in entries.items()],
    )


def _entry(look: Looked, name: str, column: ProposedColumn) -> str:
    """Write the entry of a column: without what was seen, unless values are asked for."""
    lines = [f"[attributes.{quoted(name)}]"]
    for entry, remark in column.lines:
        shown = remark if remark is None or look.show_values or not remark.is_seen else None
        if shown is None:
            lines += [entry] if entry else []
        else:
            lines.append(f"{entry:31} # {shown.comment}" if entry else f"# {shown.comment}")
    return "\n".join(lines) + "\n"


def _check_request(recipe: str, given: Mapping[str, Any]) -> None:
    """Refuse flags that no request could have together, before a recipe is written of them."""
    if not given or given.get("method") == AUTO or given.get("k") == AUTO:
        return
    asked = read_recipe(tomllib.loads(recipe))
    if asked.get("unit") and METHODS[asked["method"]].uses("max_rows"):
        asked.setdefault("max_rows", 1)  # where it is left to type
    Request.of({name: value for name, value in asked.items() if name != "types"})


def n_left(proposed: ProposedRecipe) -> int:
    """Count the entries that a person has to type."""
    return len(proposed.left) + sum(len(column.left) for column in proposed.columns.values())


def left_to_type(proposed: ProposedRecipe, *, show_values: bool = False) -> Document:
    """Say by column what it is, what its file declares, and what is left to type."""
    # A column of the table that says nothing would make it too wide for a terminal.
    is_declared = any(column.by_file for column in proposed.columns.values())
    heads = ["column", "role", "kind", *["by the file"] * is_declared, "to type"]
    heads += ["values"] * show_values
    rows = []
    for name, column in proposed.columns.items():
        kind = f"{column.kind.value}{' (learnt)' * column.is_untyped}"
        left = (f"resolution ({column.step} seen)" if w == "resolution" else w for w in column.left)
        row: list[Given] = [Code(name), column.role.value, kind, *[column.by_file] * is_declared]
        rows.append([*row, ", ".join(left), *([f"{len(column.values)}"] if show_values else [])])
    notes = list(_notes(proposed))
    said = paragraph(_summed(proposed))
    return Document((tabulated(heads, rows), *([items(notes)] if notes else []), said))


def _notes(proposed: ProposedRecipe) -> Iterator[Given]:
    """Say what else a person should know of single columns, and of the request."""
    for name, column in proposed.columns.items():
        for remark in column.remarks:
            if remark.is_notable:
                yield [Code(name), f": {remark.sentence}"]
    lacking = [column for column in proposed.columns.values() if column.n_missing]
    if lacking:
        most = max(column.n_missing for column in lacking)
        in_all = "1 column" if len(lacking) == 1 else f"{len(lacking)} columns"
        yield f"Cells are missing in {in_all}, {most} at most in one."
    if proposed.learnt:
        yield proposed.learnt
    if proposed.unit is not None:
        yield [Code(proposed.unit), " may say which records belong together: see unit."]


def to_do(proposed: ProposedRecipe) -> str:
    """Say what a person does before the command that follows works."""
    columns: dict[str, list[str]] = {}
    for name, column in proposed.columns.items():
        for entry in column.left:
            columns.setdefault(entry, []).append(name)
    typed = [f"{entry} of {_some(names)}" for entry, names in columns.items()]
    typed += ["max_rows"] if "max_rows" in proposed.left else []
    steps = [f"Type {'; '.join(typed)}." if typed else ""]
    steps.append("Confirm its roles and types.")
    if proposed.flags:
        steps.append(f"{' '.join(proposed.flags)} is proposed: confirm it too.")
    return " ".join(filter(None, steps))


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return f"{', '.join(map(one_line, names[:MOST_NAMED]))}{more}"


def _unsuited(proposed: ProposedRecipe) -> str:
    """Say which columns the method leaves out because it cannot take them."""
    names = [name for name, column in proposed.columns.items() if column.is_unsuited]
    if not names:
        return ""
    return (
        f" {len(names)} of {len(proposed.columns)} columns will not be released, since the method "
        f"takes no categories in no order: {_some(names)}."
    )


def _summed(proposed: ProposedRecipe) -> str:
    counts = Counter(entry for column in proposed.columns.values() for entry in column.left)
    parts = [f"{entry} of {n} column{'s' if n > 1 else ''}" for entry, n in counts.items()]
    parts += [WAYS[entry] for entry in proposed.left]
    total = n_left(proposed)
    if not total:
        kinds = "" if any(own.is_untyped for own in proposed.columns.values()) else " and types"
        return f"No entry is left to type. Confirm roles{kinds}.{_unsuited(proposed)}"
    noun = "entry is" if total == 1 else "entries are"
    return f"{total} {noun} left to type: {'; '.join(parts)}.{_unsuited(proposed)}"
