"""A release held against its original: sampled linkage, worst attributes, values, relations."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import distributions
from microveil.protect.findings import (
    MovedValue,
    ReleaseFindings,
    SampledLinkage,
    WorstAttribute,
)
from microveil.risk.mixed_linkage import record_linkage_mixed
from microveil.risk.record_linkage import (
    LARGEST_VALUE,
    RecordLinkage,
    record_linkage,
    record_linkage_by_rank,
    record_linkage_standardised,
)
from microveil.risk.sampling import Sample
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
from microveil.table.keeping import pieces
from microveil.table.threads import in_threads
from microveil.text import one_line
from microveil.utility.column_moves import COMMON, ColumnMove, move_of_numbers, move_of_shares
from microveil.utility.distribution_shift import Values
from microveil.utility.relations import (
    MOST_COLUMNS,
    Relations,
    compare_relations,
    sampled_records,
)

__all__ = ["Moved", "how_moved", "release_findings"]

# So many records are looked for: a release is not to wait for what an assessment finds of all.
SAMPLED = 2000
# A common value has moved where its share in the release differs by more than this.
MOVED = 0.01
ROUNDING = 1e-9  # of the difference of two shares
LINKAGES: dict[str, Callable[..., RecordLinkage]] = {
    "in raw units": record_linkage,
    "standardised": record_linkage_standardised,
    "by rank": record_linkage_by_rank,
}
KOLMOGOROV_SMIRNOV, TOTAL_VARIATION = "Kolmogorov-Smirnov", "total variation"

Categories = Mapping[str, Sequence[str] | None]
NO_CATEGORIES: Categories = MappingProxyType({})
Progress = Callable[[str], None]
NONE_MISSING = np.zeros(0, dtype=np.bool_)
OVER_ALL = "over all attributes"
# Text of more different values is left out of relations: hardly any are categories.
MOST_CATEGORIES = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moved:
    """What became of an attribute.

    Attributes
    ----------
    worst : WorstAttribute or None
        How far its distribution moved; None where one side has no value.
    value : MovedValue or None
        Which of its common values moved most, if one did.
    column : ColumnMove or None
    samples : (array, array) or None
        Numbers of the records in which relations are looked for; None of text.
    """

    worst: WorstAttribute | None = None
    value: MovedValue | None = None
    column: ColumnMove | None = None
    samples: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None


# The name of an attribute, and its values before and after.
_Sides = tuple[str, Column, Column]


def release_findings(
    original: Any,
    protected: Any,
    attributes: Iterable[str],
    *,
    in_place: Collection[str] | None = None,
    linkage: bool | str = True,
    categories: Categories = NO_CATEGORIES,
    seed: int = 0,
    codes: tuple[MissingCodes, MissingCodes] = (MissingCodes(), MissingCodes()),
    progress: Progress = lambda _step: None,
) -> ReleaseFindings:
    """Find out about a release what information loss does not show.

    Parameters
    ----------
    original, protected : pandas.DataFrame, polars.DataFrame, pyarrow.Table or dict of arrays
        The table before and after; or what is open already.
    attributes : iterable of str
        Those that were protected.
    in_place : collection of str, optional
        Those of them whose rows stand where the original's do: by default all. Records are linked
        by these alone.
    linkage : bool or str
        Whether records are linked; or why they cannot be.
    categories : dict of str
        Attributes that are categories, with the words of those that have an order, in it; None
        where they have none. Text that is not among them has none.
    seed : int
        Decides which records are linked: no secret from whoever holds the original.
    codes : (MissingCodes, MissingCodes)
        What stands for a missing value in the original and in the release.
    progress : callable
        Gets the name of each step.

    Returns
    -------
    ReleaseFindings
        They depend on the data: for the custodian alone.

    Raises
    ------
    MicroveilError
        If an attribute is not in both tables, or is neither numbers nor text.

    Notes
    -----
    O(n log n) time for each attribute. Linkage of numbers takes the records complete in both
    tables, ranks and standard deviations included, by three distances; where there are categories
    or missing values too, all records are linked by all attributes. Of more than 2,000 records as
    many at random are linked, each against every original; an assessment links more.

    Examples
    --------
    >>> before = {"GAIN": np.array([0] * 95 + [500] * 5)}
    >>> after = {"GAIN": np.array([7] * 95 + [505] * 5)}
    >>> found = release_findings(before, after, ["GAIN"])
    >>> found.linkage.percent, found.worst.distance, found.moved[0].share_in_release
    (2.0, 0.95, 0.0)
    """
    names = list(attributes)
    released = open_table(protected, codes[1])
    tables = open_beside(original, released, codes[0]), released
    for table, side in zip(tables, ("original", "protected"), strict=True):
        check_columns(table, names, side)
    progress("comparing distributions")

    def sides(name: str) -> _Sides:
        before, after = (_usable(column_of(table, name)) for table in tables)
        return name, before, after

    def found_now(name: str) -> Moved:
        return how_moved(name, *tables, is_sampled=name in first)

    n_records, first = tables[0].n_records, set(names[:MOST_COLUMNS])
    compared_now = in_threads(found_now, names, n_records * len(names))
    compared = dict(zip(names, compared_now, strict=True))
    distances = [one.worst for one in compared.values() if one.worst is not None]
    codes_of = [name for name, words in categories.items() if words is None]
    still = [name for name in names if in_place is None or name in in_place]
    not_linked, found = _refusal(still, linkage=linkage), None
    if not_linked is None:
        progress("linking a sample")
        found = _strongest(in_threads(sides, still, n_records * len(names)), categories, seed)
        if len(still) < len(names):
            found = replace(found, known=", ".join(map(one_line, still)))
    progress("comparing relations")
    return ReleaseFindings(
        linkage=found,
        not_linked=not_linked,
        worst=max(distances, key=lambda worst: worst.distance, default=None),
        moved=tuple(one.value for one in compared.values() if one.value is not None),
        columns={
            name: replace(one.column, mean=None, spread=None) if name in codes_of else one.column
            for name, one in compared.items()
            if one.column is not None
        },
        relations=_relations(compared, tables, categories),
    )


def how_moved(
    name: str,
    before: Table,
    after: Table,
    *,
    is_sampled: bool = True,
) -> Moved:
    """Say what became of an attribute, whichever records its values belong to.

    Parameters
    ----------
    name : str
    before, after : Table
        The attribute's column is in both.
    is_sampled : bool
        Whether numbers are kept of the records in which relations are looked for.
    """
    if before.kind(name).is_numeric and after.kind(name).is_numeric:
        found = _moved_numbers(name, before, after)
        if is_sampled:
            return replace(found, samples=(_drawn(before, name), _drawn(after, name)))
        return found
    return _moved_words(name, before.counted_words(name), after.counted_words(name))


def _usable(column: Column) -> Column:
    """Mark what no distance can be taken of as missing, as a release does."""
    if column.dtype.kind == "f":
        column[~(np.abs(column) <= LARGEST_VALUE)] = np.nan
    return column


def _moved_numbers(name: str, before: Table, after: Table) -> Moved:
    """Say how far a distribution moved, and which of its common values moved most."""
    sides = (Values(table.n_records, partial(_present, table, name)) for table in (before, after))
    found = move_of_numbers(*sides, has_mean=True, sorted_values=_sorted)
    if found is None:
        return Moved()
    column, shift = found
    worst = WorstAttribute(attribute=name, distance=shift.distance, measure=KOLMOGOROV_SMIRNOV)
    value = _moved_most(name, shift.values, shift.shares, shift.shares_after)
    return Moved(worst=worst, value=value, column=column)


def _sorted(n_records: int, made: Callable[[slice], NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.sort(made(slice(0, n_records)))


def _moved_words(name: str, before: "Counter[str]", after: "Counter[str]") -> Moved:
    """Say the same of text."""
    if not before or not after:
        return Moved()
    words = sorted(before)
    shares, shares_after = (
        np.array([side[word] for word in words]) / side.total() for side in (before, after)
    )
    column = move_of_shares(shares, shares_after)
    worst = WorstAttribute(attribute=name, distance=column.distance, measure=TOTAL_VARIATION)
    is_common = shares > COMMON
    value = _moved_most(name, None, shares[is_common], shares_after[is_common])
    return Moved(worst=worst, value=value, column=column)


def _moved_most(
    name: str,
    values: NDArray[np.float64] | None,
    shares: NDArray[np.float64],
    shares_after: NDArray[np.float64],
) -> MovedValue | None:
    """Return the common value whose share changed most, where one did; the first of several."""
    changes = np.abs(shares_after - shares)
    if not len(changes) or changes.max() <= MOVED + ROUNDING:
        return None
    most = int(np.argmax(changes))
    return MovedValue(
        attribute=name,
        share=float(shares[most]),
        share_in_release=float(shares_after[most]),
        is_zero=values is not None and bool(values[most] == 0),
    )


def _drawn(table: Table, name: str) -> NDArray[np.float64]:
    """Return the numbers of the records in which relations are looked for, NaN where missing."""
    rows = sampled_records(table.n_records)
    if rows is None:
        return _usable(numbers_of(table, name))
    found = np.empty(len(rows))
    for piece in pieces(table.n_records):
        own = slice(*np.searchsorted(rows, [piece.start, piece.stop]))
        numbers = table.part(piece).numbers(name, shared=True)
        chosen = rows[own] - piece.start
        found[own] = numbers.values[chosen]
        if numbers.missing is not None:
            found[own][numbers.missing[chosen]] = np.nan
    return _usable(found)


def _relations(
    compared: Mapping[str, Moved],
    tables: tuple[Table, Table],
    categories: Categories,
) -> Relations:
    """Compare the relations of the attributes that are numbers or text of few values."""
    both: dict[str, tuple[Column, Column]] = {}
    nominal = {name for name, words in categories.items() if words is None}
    first = set(list(compared)[:MOST_COLUMNS])
    for name, moved in compared.items():
        if moved.samples is not None:
            both[name] = moved.samples
        elif name in first and moved.worst is not None and moved.worst.measure == TOTAL_VARIATION:
            words = categories.get(name)
            before, after = (_words_drawn(table, name) for table in tables)
            codes = _codes(before, after, words)
            if codes is not None:
                both[name] = codes
                nominal |= {name} if words is None else set()
    original, protected = ({name: both[name][side] for name in both} for side in (0, 1))
    found = compare_relations(original, protected, nominal, tables[0].n_records)
    return replace(found, n_all=found.n_all + len(compared) - len(first))


def _words_drawn(table: Table, name: str) -> NDArray[np.str_]:
    """Return the text of the records in which relations are looked for, empty where missing."""
    rows = sampled_records(table.n_records)
    if rows is None:
        return table.words(name)
    found = []
    for piece in pieces(table.n_records):
        own = rows[slice(*np.searchsorted(rows, [piece.start, piece.stop]))]
        found.append(table.part(piece).taken(own - piece.start).words(name))
    return np.concatenate(found)


def _codes(
    before: NDArray[np.str_], after: NDArray[np.str_], words: Sequence[str] | None
) -> tuple[Column, Column] | None:
    """Return text as ranks or codes, NaN where missing; None where it has too many values."""
    coded = [np.unique(side, return_inverse=True) for side in (before, after)]
    if max(len(own) for own, _ in coded) > MOST_CATEGORIES:
        return None
    known = words or sorted({str(word) for own, _ in coded for word in own if word})
    places = {word: float(place) for place, word in enumerate(known)}
    original, protected = (
        np.array([places.get(str(word), np.nan) for word in own])[codes] for own, codes in coded
    )
    return original, protected


def _present(table: Table, name: str, records: slice) -> NDArray[np.float64]:
    """Return the values that there are of some records: the table's own where all can be used."""
    is_all = records.stop - records.start == table.n_records
    part = table if is_all else table.part(records)
    seen = part.floats_as_they_are(name)
    if seen is not None and distributions.all_usable(seen, LARGEST_VALUE):
        return seen
    numbers = part.numbers(name, shared=True)
    values, missing = numbers.values, numbers.missing
    found = np.empty(len(values))
    none = NONE_MISSING if missing is None else missing
    return found[: distributions.usable(values, none, LARGEST_VALUE, found)]


def _refusal(names: list[str], *, linkage: bool | str) -> str | None:
    """Say why records cannot be linked, or are not to be."""
    if not names:
        return "rows are in random order and follow nobody"
    if isinstance(linkage, str):
        return linkage
    return None if linkage else "it was not asked for"


def _strongest(columns: list[_Sides], categories: Categories, seed: int) -> SampledLinkage:
    """Link a sample by the numbers of complete records, and by all there is where that is more."""
    numbers = [(x, y) for name, x, y in columns if x.dtype.kind == "f" and name not in categories]
    found = []
    if numbers:
        original, protected = (np.column_stack(side) for side in zip(*numbers, strict=True))
        found.append(_strongest_of_numbers(original, protected, seed))
    lacks = any(np.isnan(x).any() or np.isnan(y).any() for x, y in numbers)
    if lacks or len(numbers) < len(columns):
        found.append(_over_all(columns, categories, seed))
    return max((one for one in found if one is not None), key=lambda one: one.percent)


def _over_all(columns: list[_Sides], categories: Categories, seed: int) -> SampledLinkage:
    """Link a sample of all records by all attributes, missing values among them."""
    n_records = len(columns[0][1])
    mixed = [_mixed(sides, categories) for sides in columns]
    linked = record_linkage_mixed(
        [before for before, _, _ in mixed],
        [after for _, after, _ in mixed],
        [is_category for _, _, is_category in mixed],
        sample=Sample(size=SAMPLED, seed=seed),
    )
    return _sampled(OVER_ALL, linked, n_records)


def _mixed(sides: _Sides, categories: Categories) -> tuple[Column, Column, bool]:
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


def _sampled(distances: str, linked: RecordLinkage, n_records: int) -> SampledLinkage:
    return SampledLinkage(
        distances=distances,
        percent=linked.percent,
        interval=linked.interval,
        by_chance=linked.baseline_by_chance,
        n_sampled=linked.n_records,
        n_records=n_records,
    )


def _strongest_of_numbers(
    original: NDArray[np.float64], protected: NDArray[np.float64], seed: int
) -> SampledLinkage | None:
    """Link a sample of the complete records by each distance; keep what finds the most."""
    complete = ~(np.isnan(original) | np.isnan(protected)).any(axis=1)
    n_records = int(np.count_nonzero(complete))
    if not n_records:
        return None
    if n_records < len(original):
        original, protected = original[complete], protected[complete]
    sample = Sample(size=SAMPLED, seed=seed)

    def linked(distances: str) -> RecordLinkage:
        return LINKAGES[distances](original, protected, sample=sample)

    found = zip(LINKAGES, in_threads(linked, list(LINKAGES)), strict=True)
    distances, strongest = max(found, key=lambda entry: entry[1].percent)
    return _sampled(distances, strongest, n_records)
