"""What was found of a release, in the sentences and the table that its custodian reads."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from microveil.measures.base import Figure
from microveil.measures.column_moves import COMMON, HEADS, ColumnMove, worst_rows
from microveil.measures.key_figures import (
    FOUND_AGAIN,
    PROTECTED,
    KeyFigure,
    found_again,
    most_moved,
)
from microveil.measures.relations import Relations
from microveil.text import aligned, one_line, shortened, wrapped
from microveil.text.figures import figure

__all__ = ["custodian_lines", "custodian_text", "linkage_found", "warnings_of"]

# So many values that moved are named, and the others counted.
NAMED = 3
LONGEST_NAME = 16  # in a table of 80 columns
NOT_HELD = "It was not held against its original: microveil assess says what was kept."


def custodian_lines(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the custodian is to read of a release, a line each; by its manifest."""
    return tuple(map(one_line, (*chain(*_prose(manifest)), *_kept(_found(manifest)))))


def custodian_text(manifest: Mapping[str, Any]) -> str:
    """Return the same for a terminal, with the worst columns as a table."""
    found = _found(manifest)
    columns = _moves(found)
    rows = ((shortened(name, LONGEST_NAME), *cells) for name, *cells in worst_rows(columns))
    moved, *others = _prose(manifest, in_table=bool(columns))
    lines = (
        *(wrapped(one_line(line), "  ") for line in moved),
        *(aligned([HEADS, *rows], indent="  ") if columns else ()),
        *(wrapped(one_line(line), "  ") for line in (*_kept(found), *chain(*others))),
    )
    return "\n".join(lines)


def warnings_of(found: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what a person should know before publishing, in sentences."""
    most = sorted(
        found["moved_values"], key=lambda one: -abs(one["share_in_release"] - one["share"])
    )
    if not most:
        return ()
    where = "; ".join(map(_moved_value, most[:NAMED]))
    more = f"; and in {len(most) - NAMED} more attributes" if len(most) > NAMED else ""
    moved = f"A value that makes up more than {100 * COMMON:g} % of a column has moved: {where}"
    return (f"{moved}{more}. Whoever counts it is misled.",)


def linkage_found(found: Mapping[str, Any]) -> KeyFigure:
    """Say how many records were found again, beside the interval and chance."""
    linked = found["linkage"]
    if linked is None:
        return KeyFigure(name=FOUND_AGAIN, value=f"not measured: {found['not_linked']}")
    n_sampled, n_records = linked["n_sampled"], linked["n_records"]
    low, high = linked["interval"]
    return found_again(
        Figure(value=linked["percent"], interval=(low, high), beside=linked["by_chance"]),
        who=f"all {n_records:,}" if n_sampled == n_records else f"{n_sampled:,} sampled",
        distances=linked["distances"],
        known=linked.get("known", PROTECTED),
    )


def _prose(manifest: Mapping[str, Any], *, in_table: bool = False) -> Iterator[list[str]]:
    """Say what moved, who was found again, and what is to be known of the plan.

    Which columns moved most goes unsaid where a table says it.
    """
    found, notes = _found(manifest), manifest["custodian_notes"]
    if not found:
        yield [NOT_HELD]
        yield notes
        return
    warnings, worst = [*warnings_of(found)], found["worst_attribute"]
    farthest = worst and (worst["attribute"], worst["distance"], worst["measure"])
    moves = {} if in_table else _moves(found)
    is_said = not in_table and (moves or farthest)
    yield [*warnings, *([most_moved(moves, farthest).sentence] if is_said else [])]
    yield [linkage_found(found).sentence]
    yield [note for note in notes if note not in warnings]


def _found(manifest: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what was found of a release: nothing where it was not held against its original."""
    found: Mapping[str, Any] = manifest.get("findings", {})
    return found


def _kept(found: Mapping[str, Any]) -> Sequence[str]:
    """Say how many pairs of attributes are still related, and how strongly."""
    relations = found.get("relations")  # which manifests of version 0.2 lack, as they do columns
    return () if relations is None else Relations.of(relations).lines


def _moves(found: Mapping[str, Any]) -> dict[str, ColumnMove]:
    return {name: ColumnMove.of(move) for name, move in found.get("columns", {}).items()}


def _moved_value(value: Mapping[str, Any]) -> str:
    before, after = figure(100 * value["share"]), figure(100 * value["share_in_release"])
    what = "are 0" if value["is_zero"] else "are one and the same"
    return (
        f"{shortened(value['attribute'])}: {before} % of the values {what} in the original, "
        f"{after} % in the release"
    )
