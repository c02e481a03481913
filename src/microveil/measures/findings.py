"""A release held against its original, for its custodian: who is found again, and what moved.

What information loss does not show: how many records an intruder who holds the originals finds
again, the columns that moved most, common values that were given to others, relations that are
lost. They are plain values, as the custodian's manifest has them; `text_of_findings` says them in
words. An assessment says more, of more records; what is said of a plan alone is in `protect`.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.measures.candidates import Sample
from microveil.measures.column_moves import COMMON, ColumnMove, move_of_numbers, move_of_shares
from microveil.measures.distributions import TOTAL_VARIATION
from microveil.measures.linkage import (
    RecordLinkage,
    record_linkage,
    record_linkage_by_rank,
    record_linkage_mixed,
    record_linkage_standardised,
)
from microveil.measures.relations import MOST_COLUMNS, Relations, compare_relations, sampled_records
from microveil.table import (
    Column,
    MissingCodes,
    Table,
    check_columns,
    column_of,
    numbers_of,
    open_beside,
    open_table,
)
from microveil.table.blocks import LARGEST_VALUE
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
# Text of more different values is left out of relations: hardly any are categories.
MOST_CATEGORIES = 1000
LINKAGES: Mapping[str, Callable[..., RecordLinkage]] = {
    "in raw units": record_linkage,
    "standardised": record_linkage_standardised,
    "by rank": record_linkage_by_rank,
}
KOLMOGOROV_SMIRNOV = "Kolmogorov-Smirnov"

Categories = Mapping[str, Sequence[str] | None]
# The name of an attribute, and its values before and after.
Sides = tuple[str, Column, Column]
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
    tables = _opened(original, protected, names, codes)
    nominal = {name for name, words in categories.items() if words is None}
    n_cells = tables[0].n_records * len(names)
    progress("comparing distributions")
    each = in_threads(lambda name: _moved(name, tables, nominal), names, n_cells, at_once=at_once)
    moved = {name: one for name, one in zip(names, each, strict=True) if one is not None}
    still = [name for name in names if in_place is None or name in in_place]
    not_linked, linked = _refusal(still, linkage=linkage), None
    if not_linked is None:
        progress("linking a sample")
        linked = _strongest(in_threads(partial(_sides, tables), still, n_cells), categories)
        if len(still) < len(names):
            linked["known"] = ", ".join(map(one_line, still))
    progress("comparing relations")
    return {
        "linkage": linked,
        "not_linked": not_linked,
        "worst_attribute": _worst(moved),
        "moved_values": [value for _, _, value in moved.values() if value is not None],
        "columns": {name: move.to_dict() for name, (move, _, _) in moved.items()},
        "relations": _relations(tables, names, moved, categories).to_dict(),
    }


def _opened(
    original: Any, protected: Any, names: Sequence[str], codes: tuple[MissingCodes, MissingCodes]
) -> tuple[Table, Table]:
    released = open_table(protected, codes[1])
    tables = open_beside(original, released, codes[0]), released
    for table, side in zip(tables, ("original", "protected"), strict=True):
        check_columns(table, names, side)
    return tables


def _refusal(names: Sequence[str], *, linkage: bool | str) -> str | None:
    """Say why records cannot be linked, or are not to be."""
    if not names:
        return "rows are in random order and follow nobody"
    if isinstance(linkage, str):
        return linkage
    return None if linkage else "it was not asked for"


def _sides(tables: tuple[Table, Table], name: str) -> Sides:
    before, after = (_usable(column_of(table, name)) for table in tables)
    return name, before, after


def _usable(column: Column) -> Column:
    """Mark what no distance can be taken of as missing, as a release does."""
    if column.dtype.kind == "f":
        column[~(np.abs(column) <= LARGEST_VALUE)] = np.nan
    return column


def _are_numbers(name: str, tables: tuple[Table, Table]) -> bool:
    return all(table.kind(name).is_numeric for table in tables)


def _moved(name: str, tables: tuple[Table, Table], nominal: Collection[str]) -> Moved | None:
    """Say what became of an attribute; None where one side has no value."""
    if _are_numbers(name, tables):
        both = (_usable(numbers_of(table, name)) for table in tables)
        every = max(1, max(table.n_records for table in tables) // COMPARED)
        found = move_of_numbers(*both, has_mean=name not in nominal, every=every)
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


def _relations(
    tables: tuple[Table, Table],
    names: Sequence[str],
    moved: Mapping[str, Moved],
    categories: Categories,
) -> Relations:
    """Compare the relations of the attributes that are numbers or text of few values."""
    both: dict[str, tuple[Column, Column]] = {}
    nominal = {name for name, words in categories.items() if words is None}
    sampled = [
        table if rows is None else records_taken(table, rows)
        for table in tables
        for rows in [sampled_records(table.n_records)]
    ]
    for name in names[:MOST_COLUMNS]:
        if _are_numbers(name, tables):
            before, after = (_usable(numbers_of(table, name)) for table in sampled)
            both[name] = before, after
        elif name in moved:
            words = categories.get(name)
            codes = _codes([table.words(name) for table in sampled], words)
            if codes is not None:
                both[name] = codes
                nominal |= {name} if words is None else set()
    original, protected = ({name: both[name][side] for name in both} for side in (0, 1))
    found = compare_relations(original, protected, nominal, tables[0].n_records)
    return replace(found, n_all=found.n_all + len(names[MOST_COLUMNS:]))


def _codes(
    sides: Sequence[NDArray[np.str_]], words: Sequence[str] | None
) -> tuple[Column, Column] | None:
    """Return text as ranks or codes, NaN where missing; None where it has too many values."""
    coded = [np.unique(side, return_inverse=True) for side in sides]
    if max(len(own) for own, _ in coded) > MOST_CATEGORIES:
        return None
    known = words or sorted({str(word) for own, _ in coded for word in own if word})
    places = {word: float(place) for place, word in enumerate(known)}
    original, protected = (
        np.array([places.get(str(word), np.nan) for word in own])[codes] for own, codes in coded
    )
    return original, protected


def _strongest(columns: Sequence[Sides], categories: Categories) -> dict[str, Any]:
    """Link a sample by the numbers of complete records, and by all there is where that is more."""
    numbers = [(x, y) for name, x, y in columns if x.dtype.kind == "f" and name not in categories]
    found = _by_numbers(numbers) if numbers else []
    lacks = any(np.isnan(x).any() or np.isnan(y).any() for x, y in numbers)
    if lacks or len(numbers) < len(columns):
        *sides, kinds = zip(*(_comparable(both, categories) for both in columns), strict=True)
        before, after = map(np.column_stack, sides)
        linked = record_linkage_mixed(before, after, np.array(kinds), sample=Sample(size=SAMPLED))
        found.append(_linkage("over all attributes", linked, len(columns[0][1])))
    return max(found, key=lambda one: float(one["percent"]))


def _by_numbers(columns: Sequence[tuple[Column, Column]]) -> list[dict[str, Any]]:
    """Link a sample of the complete records by each distance; nothing where none is complete."""
    original, protected = (np.column_stack(side) for side in zip(*columns, strict=True))
    complete = ~(np.isnan(original) | np.isnan(protected)).any(axis=1)
    n_records = int(np.count_nonzero(complete))
    if not n_records:
        return []
    if n_records < len(original):
        original, protected = original[complete], protected[complete]

    def linked(distances: str) -> dict[str, Any]:
        by = LINKAGES[distances](original, protected, sample=Sample(size=SAMPLED))
        return _linkage(distances, by, n_records)

    return in_threads(linked, list(LINKAGES))


def _comparable(sides: Sides, categories: Categories) -> tuple[Column, Column, bool]:
    """Return numbers, ranks or codes of both tables, and whether they are codes."""
    name, before, after = sides
    of_text, words = before.dtype.kind != "f", categories.get(name)
    if not of_text and name not in categories:
        return before, after, False
    if of_text and words is not None:
        ranks = {word: float(rank) for rank, word in enumerate(words)}
        before, after = (
            np.array([ranks.get(word, np.nan) for word in side.tolist()])
            for side in (before, after)
        )
        return before, after, False
    # Missing ones are one more category, as they are for the linkage.
    codes = np.unique(np.concatenate([before, after]), return_inverse=True)[1]
    return codes[: len(before)], codes[len(before) :], True


def _linkage(distances: str, linked: RecordLinkage, n_records: int) -> dict[str, Any]:
    return {
        "distances": distances,
        "percent": linked.percent,
        "interval": list(linked.interval),
        "by_chance": linked.baseline_by_chance,
        "n_sampled": linked.n_records,
        "n_records": n_records,
    }
