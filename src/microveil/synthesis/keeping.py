"""Drawn records that break rules are drawn again, or moved: so that none is left that does.

First they exchange values with records of the same bins; what breaks a rule still is drawn again
inside its bins, then in bins drawn anew within a clique, at last to the nearest values of
the domain, fewest changes first. Nothing of the data is looked at.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.clauses import Clauses
from microveil.synthesis.possible import Possible

Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]
# An attribute's values in grid units, and which are missing.
Values = tuple[NDArray[np.signedinteger[Any]], Mask | None]
# Exchanges of a value with another record of the same bin, draws of a record inside its bins, of
# the bin of one column of a broken clause, and of those of all, before the next thing is tried.
EXCHANGES, INSIDE, ONE, ALL = 32, 256, 16, 16
# Columns that are moved at a time, and trial records at hand.
MOST_MOVED, TRIALS = 3, 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """How many records were drawn again so that rules hold, or moved; each is counted once."""

    n_records: int
    inside: int = 0
    within: int = 0
    moved: int = 0

    def __add__(self, other: "Repairs") -> "Repairs":
        return Repairs(
            n_records=self.n_records + other.n_records,
            inside=self.inside + other.inside,
            within=self.within + other.within,
            moved=self.moved + other.moved,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Records as places of the columns of clauses, and which have no value there."""

    places: Whole
    absent: Mask

    def rows(self, rows: Any) -> "Drawn":
        """Copy some records."""
        return Drawn(self.places[rows], self.absent[rows])

    def take(self, rows: Whole, others: "Drawn") -> None:
        """Put other records in their place."""
        self.places[rows], self.absent[rows] = others.places, others.absent


# Draws values of an attribute in bins, one for each record.
Inside = Callable[[int, Whole], Values]
# Draws bins of some attributes of a clause anew, given each record's bins of all others in a
# clique that has all of the clause; None where no clique has.
Within = Callable[[Sequence[int], Sequence[int], Sequence[Whole]], dict[int, Whole] | None]


def kept(
    possible: Possible,
    values: list[Values],
    bins: Sequence[Whole],
    inside: Inside,
    within: Within,
    generator: np.random.Generator,
) -> Repairs:
    """Change records so that none breaks a rule, in place; say how many were changed."""
    clauses = possible.clauses
    drawn = _drawn(clauses, values)
    broken = clauses.broken(drawn.places, drawn.absent)
    bad, changed = np.flatnonzero(broken.any(axis=1)), list[int]()
    if not len(bad):
        return Repairs(n_records=len(broken))
    n_bad, own_bins = len(bad), [bins[number] for number in clauses.involved]
    sorted_bins = [(one, np.argsort(one, kind="stable")) for one in own_bins]
    for _ in range(EXCHANGES):
        bad = _exchanged(clauses, drawn, sorted_bins, bad, broken, generator)
    n_exchanged = n_bad - len(bad)
    for trials in (range(-INSIDE, 0), range(ONE + ALL)):
        before = len(bad)
        for number in trials:
            if not len(bad):
                break
            own = [one[bad] for one in bins]
            if number >= 0:
                _draw_bins(clauses, broken[bad], own, within, number)
            trial = _trial(clauses, broken[bad], drawn.rows(bad), own, inside)
            held = ~clauses.broken(trial.places, trial.absent).any(axis=1)
            drawn.take(bad[held], trial.rows(held))
            bad = bad[~held]
        changed.append(before - len(bad))
    if len(bad):
        drawn.take(bad, _moved(possible, drawn.rows(bad), broken[bad]))
    _put_back(clauses, drawn, values)
    return Repairs(
        n_records=len(broken), inside=changed[0] + n_exchanged, within=changed[1], moved=len(bad)
    )


def _exchanged(
    clauses: Clauses,
    drawn: Drawn,
    sorted_bins: Sequence[tuple[Whole, Whole]],
    bad: Whole,
    broken: Mask,
    generator: np.random.Generator,
) -> Whole:
    """Exchange values of one column between records of one bin, where both then keep the rules.

    That leaves the values of each bin as they are. By column come the bins of records, and the
    records in the order of these. Returns who breaks a rule still.
    """
    for column, (bins, in_order) in enumerate(sorted_bins):
        about = [n for n, clause in enumerate(clauses.clauses) if column in clause.columns]
        rows = bad[broken[bad][:, about].any(axis=1)]
        if not len(rows):
            continue
        ends = np.searchsorted(bins, [bins[rows], bins[rows] + 1], sorter=in_order)
        others = in_order[generator.integers(ends[0], ends[1])]
        # Each record once, and none with one that is to be changed itself.
        _, first = np.unique(others, return_index=True)
        first = first[~np.isin(others[first], bad)]
        pair = np.concatenate([rows[first], others[first]])
        trial = drawn.rows(pair)
        half = len(first)
        for cells in (trial.places, trial.absent):
            cells[:, column] = np.roll(cells[:, column], half)
        held = np.asarray(~clauses.broken(trial.places, trial.absent).any(axis=1))
        both = np.tile(np.logical_and(held[:half], held[half:]), 2)
        drawn.take(pair[both], trial.rows(both))
        bad = np.setdiff1d(bad, pair[both])
    return bad


def breaches(possible: Possible, values: Sequence[Values]) -> int:
    """Count the records that break a rule."""
    drawn = _drawn(possible.clauses, values)
    return int(possible.clauses.broken(drawn.places, drawn.absent).any(axis=1).sum())


def computed_values(clauses: Clauses, values: Sequence[Values]) -> Iterator[Values]:
    """Yield the columns that rules say how to compute; one lacks a value where a part does."""
    for own in clauses.computed:
        numbers = [clauses.involved[column] for column in own.columns]
        found = np.full(len(values[0][0]), own.constant, dtype=np.int64)
        lacks = [mask for number in numbers if (mask := values[number][1]) is not None]
        missing = np.logical_or.reduce(lacks) if lacks else None
        for column, number, times in zip(own.columns, numbers, own.times, strict=True):
            places = clauses.places[column]
            found += times * places.number(places.of_units(values[number][0]))
        yield (found if missing is None else np.where(missing, 0, found)), missing


def _drawn(clauses: Clauses, values: Sequence[Values]) -> Drawn:
    shape = len(values[0][0]), len(clauses.involved)
    found = Drawn(np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.bool_))
    for column, (number, own) in enumerate(zip(clauses.involved, clauses.places, strict=True)):
        units, missing = values[number]
        found.places[:, column] = own.of_units(units)
        if missing is not None:
            found.absent[:, column] = missing
    return found


def _put_back(clauses: Clauses, drawn: Drawn, values: list[Values]) -> None:
    for column, (number, own) in enumerate(zip(clauses.involved, clauses.places, strict=True)):
        has_missing = values[number][1] is not None
        missing = drawn.absent[:, column].copy() if has_missing else None
        values[number] = own.units(drawn.places[:, column]), missing


def _draw_bins(
    clauses: Clauses, broken: Mask, bins: list[Whole], within: Within, trial: int
) -> None:
    """Draw bins of the columns of broken clauses anew, clause after clause, in place.

    In the first trials of one column, another one in each record and each trial: so no column
    bears what the others lack.
    """
    for number, clause in enumerate(clauses.clauses):
        rows = np.flatnonzero(broken[:, number])
        scope = [clauses.involved[column] for column in clause.columns]
        turn = (np.arange(len(rows)) + trial) % len(scope)
        parts = [(rows, scope)]
        if trial < ONE:
            parts = [(rows[turn == nth], [one]) for nth, one in enumerate(scope)]
        for some, fresh in parts:
            drawn = within(fresh, scope, [one[some] for one in bins]) if len(some) else None
            for one, own in (drawn or {}).items():
                bins[one][some] = own


def _trial(
    clauses: Clauses, broken: Mask, trial: Drawn, bins: Sequence[Whole], inside: Inside
) -> Drawn:
    """Draw the columns of broken clauses anew inside bins."""
    for column, (number, places) in enumerate(zip(clauses.involved, clauses.places, strict=True)):
        about = [n for n, clause in enumerate(clauses.clauses) if column in clause.columns]
        rows = np.flatnonzero(broken[:, about].any(axis=1))
        if len(rows):
            units, missing = inside(number, bins[number][rows])
            trial.places[rows, column] = places.of_units(units)
            trial.absent[rows, column] = False if missing is None else missing
    return trial


def _moved(possible: Possible, drawn: Drawn, broken: Mask) -> Drawn:
    """Move records to the nearest values that hold the clauses, fewest columns first."""
    clauses = possible.clauses
    for component in clauses.components():
        own = [n for n, one in enumerate(clauses.clauses) if {*one.columns} & {*component}]
        rows = np.flatnonzero(broken[:, own].any(axis=1))
        if len(rows):
            about = {
                column for n in own if broken[:, n].any() for column in clauses.clauses[n].columns
            }
            found = _nearest(possible, component, about, drawn.rows(rows))
            drawn.take(rows, Drawn(found, drawn.absent[rows]))
    return drawn


def _nearest(
    possible: Possible, component: tuple[int, ...], about: set[int], drawn: Drawn
) -> Whole:
    """Find the nearest places by one column, by two, by three; then those of a known record."""
    found, distance = drawn.places.copy(), np.full(len(drawn.places), np.inf)
    for size in range(1, MOST_MOVED + 1):
        rows = np.flatnonzero(np.isinf(distance))
        for columns in combinations(component if size == 1 else sorted(about), size):
            for some, places, far in _trials(possible.clauses, columns, drawn, rows):
                nearer = far < distance[some]
                found[some[nearer]], distance[some[nearer]] = places[nearer], far[nearer]
    rows = np.flatnonzero(np.isinf(distance))
    for column in component:
        present = rows[~drawn.absent[rows, column]]
        found[present, column] = possible.point[column]
    return found


def _trials(
    clauses: Clauses, columns: Sequence[int], drawn: Drawn, rows: Whole
) -> Iterator[tuple[Whole, Whole, NDArray[np.float64]]]:
    """Yield records with the nearest places by some columns, and how far these are off."""
    rows = rows[~drawn.absent[rows][:, list(columns)].any(axis=1)]
    ways = 1
    for column in columns:
        ways *= 2 + 3 * sum(column in a.columns for one in clauses.clauses for a in one.atoms)
    step = max(1, TRIALS // ways)
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        places, owner = drawn.places[some], np.arange(len(some))
        for column in columns:
            near = _candidates(clauses, column, places)
            places, owner = (np.repeat(one, near.shape[1], axis=0) for one in (places, owner))
            places[:, column] = near.ravel()
        far = np.zeros(len(owner))
        for column in columns:
            own = clauses.places[column]
            off = np.abs(places[:, column] - drawn.places[some[owner], column])
            far += off / max(1, own.upper - own.lower) if own.is_ordered else off > 0
        far[clauses.broken(places, drawn.absent[some[owner]]).any(axis=1)] = np.inf
        first = np.lexsort((far, owner))[:: len(owner) // len(some)]
        yield some, places[first], far[first]


def _candidates(clauses: Clauses, column: int, places: Whole) -> Whole:
    """List the places where a clause begins to hold or to be broken, the others as they are.

    One of them, or an end of the domain, is nearest: what holds is made of stretches between.
    """
    own = clauses.places[column]
    found = [np.full(len(places), own.lower), np.full(len(places), own.upper)]
    for atom in (atom for clause in clauses.clauses for atom in clause.atoms):
        if column not in atom.columns:
            continue
        times = atom.times[atom.columns.index(column)]
        numbers = clauses.numbers(column, places[:, column], is_wide=atom.is_wide)
        rest = clauses.sums(atom, places) - times * numbers
        border = own.within(-rest // times, "last")
        found += [
            np.clip(border + off, own.lower, own.upper).astype(np.int64) for off in (-1, 0, 1)
        ]
    return np.column_stack(found)
