"""A release held against its original, for its custodian: who is found again, and what moved.

They are plain values, as the custodian's manifest has them; the last functions say them in words.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any

import numpy as np

from microveil.measures.base import Measure, Measured
from microveil.measures.column_moves import (
    COMMON,
    HEADS,
    ColumnMove,
    move_of_numbers,
    move_of_shares,
    order_in_words,
    worst_rows,
)
from microveil.measures.distributions import TOTAL_VARIATION
from microveil.measures.key_figures import linkage_found, linkage_of, most_moved
from microveil.measures.linkage import RECORD_LINKAGE
from microveil.measures.opening import Opened, tables_of, usable
from microveil.measures.registry import MEASURES, measured
from microveil.measures.relations import MOST_COLUMNS, PAIRS_KEPT, Relations, sampled_records
from microveil.measures.values import Floats, plain
from microveil.schema import Kind
from microveil.table import MissingCodes, numbers_of, open_beside, open_table
from microveil.table.table import counted_words, records_taken
from microveil.table.threads import in_threads
from microveil.text import aligned, one_line, shortened, some_of, wrapped
from microveil.text.figures import figure

# So many records are looked for: a release is not to wait for what an assessment finds of all.
SAMPLED = 2000
# Distances and common values of more records are those of so many or twice that, evenly spaced.
COMPARED = 1 << 18
# A common value has moved where its share in the release differs by more than this, and by more
# than so many deviations of the difference of two samples.
MOVED, BEYOND_CHANCE = 0.02, 4
ROUNDING = 1e-9  # of the difference of two shares
KOLMOGOROV_SMIRNOV = "Kolmogorov-Smirnov"

Categories = Mapping[str, Sequence[str] | None]
# How far an attribute's distribution moved and by which measure, and which common value most.
Moved = tuple[ColumnMove, str, dict[str, Any] | None]


def release_findings(
    original: Any,
    protected: Any,
    attributes: Iterable[str],
    *,
    in_place: Collection[str] | None = None,
    linkage: bool | str = True,
    categories: Categories = MappingProxyType({}),
    codes: tuple[MissingCodes, MissingCodes] = (MissingCodes(), MissingCodes()),
    at_once: int | None = None,
    progress: Callable[[str], None] = lambda _step: None,
) -> dict[str, Any]:
    """Find out about a release what information loss does not show: for the custodian alone.

    Records are linked by the attributes ``in_place``, whose rows stand where the original's do,
    unless ``linkage`` says why not. ``categories`` are attributes in no order (None), or their
    words in order.
    """
    names, released = list(attributes), open_table(protected, codes[1])
    before = open_beside(original, released, codes[0])
    both = Opened(original=before, protected=released, paired=True, orders=categories)
    both.check(names)
    still = [name for name in names if in_place is None or name in in_place]
    n_cells = both.original.n_records * len(names)
    progress("comparing distributions")
    each = in_threads(lambda name: _moved(both, name), names, n_cells, at_once=at_once)
    moved = {name: one for name, one in zip(names, each, strict=True) if one is not None}
    not_linked, linked = None if linkage is True else linkage or "it was not asked for", None
    if not still:
        not_linked = "rows are in random order and follow nobody"
    if not_linked is None:
        progress("linking a sample")
        linked = _strongest(both, still)
        if linked is None:
            not_linked = "there are no numbers and no categories to link records by"
        elif len(still) < len(names):
            linked["known"] = some_of(still)
    progress("comparing relations")
    return {
        "linkage": linked,
        "not_linked": not_linked,
        "worst_attribute": _worst(moved),
        "moved_values": [value for _, _, value in moved.values() if value is not None],
        "columns": {name: plain(move) for name, (move, _, _) in moved.items()},
        "relations": plain(_relations(both, names)),
    }


def _moved(both: Opened, name: str) -> Moved | None:
    """Say what became of an attribute; None where one side has no value."""
    tables = both.original, both.protected
    if all(table.kind(name).is_numeric for table in tables):
        sides = [usable(numbers_of(table, name)) for table in tables]
        every = max(1, max(table.n_records for table in tables) // COMPARED)
        has_mean = both.orders.get(name, ()) is not None
        is_date = both.original.kind(name) is Kind.DATE
        found = move_of_numbers(*sides, has_mean=has_mean, is_date=is_date, every=every)
        if found is None:
            return None
        move, (_, shares, after) = found
        sizes = [int(np.count_nonzero(~np.isnan(side[::every]))) for side in sides]
        measure = KOLMOGOROV_SMIRNOV + (f" of one record in {every}" if every > 1 else "")
        return move, measure, _moved_most(name, shares, after, sizes)
    counts = [counted_words(table, name) for table in tables]
    if not all(counts):
        return None
    words = sorted(counts[0])
    shares, after = (np.array([own[word] for word in words]) / own.total() for own in counts)
    is_common = shares > COMMON
    sizes = [own.total() for own in counts]
    value = _moved_most(name, shares[is_common], after[is_common], sizes)
    return move_of_shares(shares, after), TOTAL_VARIATION.label, value


def _moved_most(
    name: str, shares: Floats, after: Floats, sizes: Sequence[int]
) -> dict[str, Any] | None:
    """Return the common value whose share changed most, but not which it is.

    None where no change is both of more than two points and of more than four deviations of the
    difference of two samples of so many values: a second sample would then differ as well.
    """
    pooled = (shares * sizes[0] + after * sizes[1]) / sum(sizes)
    by_chance = np.sqrt(pooled * (1 - pooled) * (1 / sizes[0] + 1 / sizes[1]))
    changes = np.abs(after - shares)
    has_moved = changes > np.maximum(MOVED + ROUNDING, BEYOND_CHANCE * by_chance)
    if not has_moved.any():
        return None
    most = int(np.argmax(np.where(has_moved, changes, 0.0)))
    share, share_in_release = float(shares[most]), float(after[most])
    return {"attribute": name, "share": share, "share_in_release": share_in_release}


def _worst(moved: Mapping[str, Moved]) -> dict[str, Any] | None:
    """Return the attribute whose distribution moved most."""
    found = [
        {"attribute": name, "distance": move.distance, "measure": measure}
        for name, (move, measure, _) in moved.items()
    ]
    return max(found, key=itemgetter("distance"), default=None)


def _relations(both: Opened, names: Sequence[str]) -> Relations:
    """Compare the relations of the first attributes, in records that are drawn."""
    sides = both.original, both.protected
    rows = [sampled_records(side.n_records) for side in sides]
    before, after = (
        side if own is None else records_taken(side, own)
        for side, own in zip(sides, rows, strict=True)
    )
    sampled = replace(both, original=before, protected=after)
    found: Relations = _measured(sampled, names[:MOST_COLUMNS], [PAIRS_KEPT])[PAIRS_KEPT.id].result
    return replace(
        found,
        is_sampled=before.n_records < both.original.n_records,
        n_all=found.n_all + len(names[MOST_COLUMNS:]),
    )


def _strongest(both: Opened, names: Sequence[str]) -> dict[str, Any] | None:
    """Link a sample by every measure of record linkage, and take the one that finds the most."""
    measures = [one for one in MEASURES.values() if one.group == RECORD_LINKAGE and one.tabulated]
    return linkage_of(_measured(both, names, measures))


def _measured(
    both: Opened, names: Sequence[str], measures: Sequence[Measure]
) -> dict[str, Measured]:
    """Take measures of attributes; numbers that none can be taken of are missing."""
    tables = tables_of(both, names, {"sample": SAMPLED}, masked=True)
    return measured(tables, measures)


# So many values that moved are named, and the others counted.
NAMED = 3
LONGEST_NAME = 16  # in a table of 80 columns
NOT_HELD = "It was not held against its original: microveil assess says what was kept."


def custodian_lines(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the custodian is to read of a release, a line each; by its manifest."""
    *said, kept = _prose(manifest)
    return tuple(map(one_line, (*chain(*said), *kept)))


def custodian_text(manifest: Mapping[str, Any]) -> str:
    """Return the same for a terminal, with the worst columns as a table."""
    columns = _moves(manifest.get("findings", {}))
    rows = ((shortened(name, LONGEST_NAME), *cells) for name, *cells in worst_rows(columns))
    moved, *others, kept = _prose(manifest, in_table=bool(columns))
    lines = (
        *(wrapped(one_line(line), "  ") for line in moved),
        *([wrapped(said, "  ")] if (said := order_in_words(columns)) else []),
        *(aligned([HEADS, *rows], indent="  ") if columns else ()),
        *(wrapped(one_line(line), "  ") for line in (*kept, *chain(*others))),
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


def _prose(manifest: Mapping[str, Any], *, in_table: bool = False) -> Iterator[Sequence[str]]:
    """Say what moved, unless a table does, who was found again, what is to be known, pairs kept."""
    found: Mapping[str, Any] = manifest.get("findings", {})
    notes = manifest["custodian_notes"]
    if not found:  # it was not held against its original
        yield from ([NOT_HELD], notes, [])
        return
    warnings, worst = [*warnings_of(found)], found["worst_attribute"]
    farthest = worst and (worst["attribute"], worst["distance"], worst["measure"])
    moves = {} if in_table else _moves(found)
    is_said = not in_table and (moves or farthest)
    yield [*warnings, *([most_moved(moves, farthest).sentence] if is_said else [])]
    yield [linkage_found(found).sentence]
    yield [note for note in notes if note not in warnings]
    relations = found.get("relations")  # which manifests of version 0.2 lack, as they do columns
    yield () if relations is None else Relations.of(relations).lines


def _moves(found: Mapping[str, Any]) -> dict[str, ColumnMove]:
    return {name: ColumnMove.of(move) for name, move in found.get("columns", {}).items()}


def _moved_value(value: Mapping[str, Any]) -> str:
    before, after = figure(100 * value["share"]), figure(100 * value["share_in_release"])
    return (
        f"{shortened(value['attribute'])}: {before} % of the values are one and the same in the "
        f"original, {after} % in the release"
    )
