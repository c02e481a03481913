"""What the custodian is told of a proposed recipe: a line a column, and what is left to type."""

from collections import Counter
from collections.abc import Iterator

from microveil.commands.proposal import ProposedRecipe
from microveil.commands.proposed_columns import ProposedColumn
from microveil.text.document import Code, Document, Given, items, paragraph, tabulated

__all__ = ["left_to_type", "n_left"]

WAYS = {
    "missing": "missing, since cells are: the recipe says what else it may be (--missing)",
    "max_rows": "max_rows: how many records one unit has at most, as publicly known",
    "accept": 'accept = "file", where what the file lists is publicly known, or --accept file',
}


def n_left(proposed: ProposedRecipe) -> int:
    """Count the entries that a person has to type."""
    return len(proposed.left) + sum(len(column.left) for column in proposed.columns.values())


def left_to_type(proposed: ProposedRecipe, *, show_values: bool = False) -> Document:
    """Say by column what it is, what its file declares, and what is left to type.

    How many different values a column has is said where values are asked for.
    """
    rows = [_row(name, column) for name, column in proposed.columns.items()]
    # A column of the table that says nothing would make it too wide for a terminal.
    heads = [
        head
        for head in rows[0]
        if (head != "values" or show_values)
        and (head != "by the file" or any(r[head] for r in rows))
    ]
    blocks = [tabulated(heads, ([row[head] for head in heads] for row in rows))]
    notes = list(_notes(proposed))
    return Document((*blocks, *([items(notes)] if notes else []), paragraph(_summed(proposed))))


def _row(name: str, column: ProposedColumn) -> dict[str, Given]:
    left = [f"resolution ({column.step} seen)" if w == "resolution" else w for w in column.left]
    return {
        "column": Code(name),
        "role": column.role.value,
        "kind": column.kind.value,
        "by the file": column.by_file,
        "to type": ", ".join(left),
        "values": f"{column.n_values}",
    }


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


def _summed(proposed: ProposedRecipe) -> str:
    counts = Counter(entry for column in proposed.columns.values() for entry in column.left)
    parts = [f"{entry} of {n} column{'s' if n > 1 else ''}" for entry, n in counts.items()]
    parts += [WAYS[entry] for entry in proposed.left]
    total = n_left(proposed)
    if not total:
        return "No entry is left to type. Confirm roles and types."
    noun = "entry is" if total == 1 else "entries are"
    return f"{total} {noun} left to type: {'; '.join(parts)}."
