"""A release held against its original, for its custodian: who is found again, and what moved.

What information loss does not show: how many records an intruder who holds the originals finds
again, the columns that moved most, common values that were given to others, relations that are
lost. They are plain values, as the custodian's manifest has them; `text_of_findings` says them in
words. An assessment says more, of more records; what is said of a plan alone is in `protect`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.base import Measure, Measured, Takes
from microveil.measures.candidates import Sample
from microveil.measures.column_moves import COMMON, ColumnMove, move_of_numbers, move_of_shares
from microveil.measures.distributions import TOTAL_VARIATION
from microveil.measures.key_figures import distances_of, strongest_linkage
from microveil.measures.linkage import RECORD_LINKAGE, RecordLinkage
from microveil.measures.measuring import measured
from microveil.measures.opening import Opened, tables_of, usable
from microveil.measures.registry import MEASURES
from microveil.measures.relations import MOST_COLUMNS, PAIRS_KEPT, Relations, sampled_records
from microveil.table import MissingCodes, numbers_of, open_beside, open_table
from microveil.table.table import counted_words, records_taken
from microveil.table.threads import in_threads
from microveil.text import one_line

__all__ = ["release_findings"]

# So many records are looked for: a release is not to wait for what an assessment finds of all.
SAMPLED = 2000
# Distances and common values of more records are those of so many or twice that, evenly spaced.
COMPARED = 1 << 18
# A common value has moved where its share in the release differs by more than this.
MOVED = 0.01
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

    ``attributes`` were protected, and the rows of those ``in_place``, by default of all, stand
    where the original's do: by these records are linked, unless ``linkage`` says why not.
    ``categories`` are attributes in no order (None), or with their words in order. ``codes`` stand
    for missing values in the original and in the release. So many attributes are at hand at a time.

    >>> before = {"GAIN": np.array([0] * 95 + [500] * 5)}
    >>> found = release_findings(before, {"GAIN": np.array([7] * 95 + [505] * 5)}, ["GAIN"])
    >>> found["linkage"]["percent"], found["worst_attribute"]["distance"]
    (2.0, 0.95)
    """
    names = list(attributes)
    both = _opened(original, protected, names, codes, categories)
    still = [name for name in names if in_place is None or name in in_place]
    n_cells = both.original.n_records * len(names)
    progress("comparing distributions")
    each = in_threads(lambda name: _moved(both, name), names, n_cells, at_once=at_once)
    moved = {name: one for name, one in zip(names, each, strict=True) if one is not None}
    not_linked, linked = _refusal(still, linkage=linkage), None
    if not_linked is None:
        progress("linking a sample")
        linked = _strongest(both, still)
        if linked is None:
            not_linked = "there are no numbers and no categories to link records by"
        elif len(still) < len(names):
            linked["known"] = ", ".join(map(one_line, still))
    progress("comparing relations")
    return {
        "linkage": linked,
        "not_linked": not_linked,
        "worst_attribute": _worst(moved),
        "moved_values": [value for _, _, value in moved.values() if value is not None],
        "columns": {name: move.to_dict() for name, (move, _, _) in moved.items()},
        "relations": _relations(both, names).to_dict(),
    }


def _opened(
    original: Any,
    protected: Any,
    names: Sequence[str],
    codes: tuple[MissingCodes, MissingCodes],
    categories: Categories,
) -> Opened:
    released = open_table(protected, codes[1])
    before = open_beside(original, released, codes[0])
    both = Opened(original=before, protected=released, paired=True, orders=categories)
    both.check(names)
    return both


def _refusal(names: Sequence[str], *, linkage: bool | str) -> str | None:
    """Say why records cannot be linked, or are not to be."""
    if not names:
        return "rows are in random order and follow nobody"
    if isinstance(linkage, str):
        return linkage
    return None if linkage else "it was not asked for"


def _moved(both: Opened, name: str) -> Moved | None:
    """Say what became of an attribute; None where one side has no value."""
    tables = both.original, both.protected
    if all(table.kind(name).is_numeric for table in tables):
        sides = (usable(numbers_of(table, name)) for table in tables)
        every = max(1, max(table.n_records for table in tables) // COMPARED)
        has_mean = both.orders.get(name, ()) is not None
        found = move_of_numbers(*sides, has_mean=has_mean, every=every)
        if found is None:
            return None
        move, (values, shares, after) = found
        measure = KOLMOGOROV_SMIRNOV + (f" of one record in {every}" if every > 1 else "")
        return move, measure, _moved_most(name, shares, after, values == 0)
    counts = [counted_words(table, name) for table in tables]
    if not all(counts):
        return None
    words = sorted(counts[0])
    shares, after = (np.array([own[word] for word in words]) / own.total() for own in counts)
    is_common = shares > COMMON
    value = _moved_most(name, shares[is_common], after[is_common], np.zeros(len(words), np.bool_))
    return move_of_shares(shares, after), TOTAL_VARIATION.label, value


def _moved_most(
    name: str,
    shares: NDArray[np.float64],
    after: NDArray[np.float64],
    is_zero: NDArray[np.bool_],
) -> dict[str, Any] | None:
    """Return the common value whose share changed most, where one did, but not which it is."""
    changes = np.abs(after - shares)
    if not len(changes) or changes.max() <= MOVED + ROUNDING:
        return None
    most = int(np.argmax(changes))
    return {
        "attribute": name,
        "share": float(shares[most]),
        "share_in_release": float(after[most]),
        "is_zero": bool(is_zero[most]),  # which tells nothing about a person
    }


def _worst(moved: Mapping[str, Moved]) -> dict[str, Any] | None:
    """Return the attribute whose distribution moved most."""
    name = max(moved, key=lambda name: moved[name][0].distance, default=None)
    if name is None:
        return None
    move, measure, _ = moved[name]
    return {"attribute": name, "distance": move.distance, "measure": measure}


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
    strongest = strongest_linkage(_measured(both, names, measures))
    if strongest is None:
        return None
    own: RecordLinkage = strongest.result
    return {
        "distances": distances_of(strongest.measure),
        "percent": own.percent,
        "interval": list(own.interval),
        "by_chance": own.baseline_by_chance,
        "n_sampled": own.n_records,
        "n_records": round(100 / own.baseline_by_chance),
    }


def _measured(
    both: Opened, names: Sequence[str], measures: Sequence[Measure]
) -> dict[str, Measured]:
    """Take measures of attributes; numbers that none can be taken of are missing."""
    tables = tables_of(both, names, {"sample": Sample(size=SAMPLED)}, masked=True)
    if any(one.takes is Takes.COMPLETE and tables.takes_part(one) for one in measures):
        _ = tables.complete  # once, and not in each thread
    each = in_threads(lambda one: measured(tables, [one]), measures)
    return {name: found for own in each for name, found in own.items()}
