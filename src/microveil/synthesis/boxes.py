"""Whether some record of a box of values holds clauses: branch, and prune by bounds.

A box has for each column a lowest and a highest place, or no value at all. Many boxes are worked
on side by side: bounds of sums leave of each box what may hold the clauses, its lowest and its
highest record are tried, and what is still open is cut in half. Exact, in whole numbers.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.synthesis.clauses import Atom, Clause, Clauses

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
# Boxes that are open at a time: what is still undecided then counts as one that a record obeys.
MOST_BOXES = 1 << 18
# Rounds of tightening before a box is cut in half.
ROUNDS = 8


def obeyable(
    clauses: Clauses, low: Whole, high: Whole, absent: Mask, owner: Whole, n_owners: int
) -> tuple[Mask, Whole]:
    """Find for each owner of boxes whether a record in one of them holds all clauses, and which.

    Boxes are (n_boxes, n_involved), ends included; records found (n_owners, n_involved), of
    places.
    """
    found = np.zeros(n_owners, dtype=np.bool_)
    points = np.zeros((n_owners, low.shape[1]), dtype=np.int64)
    about = np.zeros((len(clauses.clauses), low.shape[1]), dtype=np.bool_)
    for number, clause in enumerate(clauses.clauses):
        about[number, list(clause.columns)] = True
    domain = np.array([float(max(1, own.upper - own.lower)) for own in clauses.places])
    better = _low_is_better(clauses)
    while len(owner):
        low, high, alive = _tightened(clauses, low, high, absent)
        low, high, absent, owner = low[alive], high[alive], absent[alive], owner[alive]
        is_open = ~_surely(clauses, low, high, absent)
        for point in (low, high, np.where(better, low, high)):
            held = np.flatnonzero(~clauses.broken(point, absent).any(axis=1))
            found[owner[held]], points[owner[held]] = True, point[held]
        # Of columns without an open clause any value will do.
        widths = np.where(absent | ~(is_open @ about), 0, (high - low) / domain)
        rest = ~found[owner] & (widths > 0).any(axis=1)
        low, high, absent, owner = low[rest], high[rest], absent[rest], owner[rest]
        if len(owner) > MOST_BOXES:
            found[owner] = True
            break
        low, high, absent, owner = _halved(low, high, widths[rest].argmax(axis=1), absent, owner)
    return found, points


def _low_is_better(clauses: Clauses) -> Mask:
    """Say of which columns low values hold more clauses than high ones."""
    votes = np.zeros(len(clauses.involved))
    for atom in (atom for clause in clauses.clauses for atom in clause.atoms):
        if atom.sign == "<=":
            votes[list(atom.columns)] += np.sign(atom.times)
    return votes > 0


def _surely(clauses: Clauses, low: Whole, high: Whole, absent: Mask) -> Mask:
    """Say which clauses every record of a box holds: (n_boxes, n_clauses)."""
    found = np.zeros((len(low), len(clauses.clauses)), dtype=np.bool_)
    for number, clause in enumerate(clauses.clauses):
        found[:, number] = absent[:, list(clause.columns)].any(axis=1)
        for atom in clause.atoms:
            least, most = _ends(clauses, atom, low, high)
            if atom.sign == "<=":
                found[:, number] |= np.asarray(most <= 0, dtype=np.bool_)
            elif atom.sign == "!=":
                found[:, number] |= np.asarray((least > 0) | (most < 0), dtype=np.bool_)
    return found


def _halved(
    low: Whole, high: Whole, widest: Whole, absent: Mask, owner: Whole
) -> tuple[Whole, Whole, Mask, Whole]:
    """Cut each box in two where it is widest."""
    rows = np.arange(len(low))
    middle = low[rows, widest] + (high[rows, widest] - low[rows, widest]) // 2
    below, above = high.copy(), low.copy()
    below[rows, widest], above[rows, widest] = middle, middle + 1
    return (
        np.concatenate([low, above]),
        np.concatenate([below, high]),
        np.concatenate([absent, absent]),
        np.concatenate([owner, owner]),
    )


def _tightened(
    clauses: Clauses, low: Whole, high: Whole, absent: Mask
) -> tuple[Whole, Whole, Mask]:
    """Leave of boxes what may hold all clauses, and say which have anything left."""
    low, high = low.copy(), high.copy()
    alive = np.ones(len(low), dtype=np.bool_)
    for _ in range(ROUNDS):
        before = low.copy(), high.copy()
        for clause in clauses.clauses:
            alive &= _of_clause(clauses, clause, low, high, absent, alive)
        if np.array_equal(before[0], low) and np.array_equal(before[1], high):
            break
    return low, high, alive


def _of_clause(
    clauses: Clauses, clause: Clause, low: Whole, high: Whole, absent: Mask, alive: Mask
) -> Mask:
    """Tighten boxes by a clause of which one atom alone can hold; say where one can."""
    is_active = ~absent[:, list(clause.columns)].any(axis=1)
    able = [_may_hold(clauses, atom, low, high) for atom in clause.atoms]
    n_able = np.sum(able, axis=0)
    for atom, own in zip(clause.atoms, able, strict=True):
        rows = np.flatnonzero(is_active & alive & own & (n_able == 1))
        if len(rows):
            low[rows], high[rows] = _of_atom(clauses, atom, low[rows], high[rows])
    is_left = (~is_active | (n_able > 0)) & (absent | (low <= high)).all(axis=1)
    return np.asarray(is_left, dtype=np.bool_)


def _bounds(clauses: Clauses, atom: Atom, low: Whole, high: Whole) -> list[tuple[Any, Any]]:
    """Return by column of an atom the least and the most that it adds to its sum."""
    found = []
    for column, times in zip(atom.columns, atom.times, strict=True):
        ends = [
            times * clauses.numbers(column, end[:, column], is_wide=atom.is_wide)
            for end in (low, high)
        ]
        found.append((np.minimum(*ends), np.maximum(*ends)))
    return found


def _ends(clauses: Clauses, atom: Atom, low: Whole, high: Whole) -> tuple[Any, Any]:
    """Return the least and the most that the sum of an atom can be in boxes."""
    bounds = _bounds(clauses, atom, low, high)
    constant = np.full(len(low), atom.constant, object if atom.is_wide else np.int64)
    least = sum((own for own, _ in bounds), constant)
    return least, sum((own for _, own in bounds), constant)


def _may_hold(clauses: Clauses, atom: Atom, low: Whole, high: Whole) -> Mask:
    """Say in which boxes bounds leave it open that a record holds an atom."""
    least, most = _ends(clauses, atom, low, high)
    if atom.sign == "<=":
        return np.asarray(least <= 0, dtype=np.bool_)
    spans = (least <= 0) & (most >= 0) if atom.sign == "=" else (least != 0) | (most != 0)
    return np.asarray(spans, dtype=np.bool_)


def _of_atom(clauses: Clauses, atom: Atom, low: Whole, high: Whole) -> tuple[Whole, Whole]:
    """Leave of boxes what may hold an atom."""
    if atom.sign == "!=":
        return _but_one(clauses, atom, low, high)
    low, high = low.copy(), high.copy()
    for turn in (1, -1) if atom.sign == "=" else (1,):
        for nth, (column, times) in enumerate(zip(atom.columns, atom.times, strict=True)):
            bounds = _bounds(clauses, atom, low, high)
            rest: Any = turn * atom.constant
            for other, (least, most) in enumerate(bounds):
                if other != nth:
                    rest = rest + (least if turn > 0 else -most)
            own, places = turn * times, clauses.places[column]
            # own x <= -rest
            limit = np.zeros(len(low), object if atom.is_wide else np.int64) - rest
            if own > 0:
                last = places.within(limit // own, "last")
                high[:, column] = np.minimum(high[:, column], last).astype(np.int64)
            else:
                first = places.within(-(limit // -own), "first")
                low[:, column] = np.maximum(low[:, column], first).astype(np.int64)
            _keep_in_list(places.upper, low[:, column], high[:, column], places.numbers)
    return low, high


def _keep_in_list(upper: int, low: Whole, high: Whole, numbers: Whole | None) -> None:
    """Mark boxes beyond a list as empty, with ends that the list has."""
    if numbers is not None:
        beyond = (low > upper) | (high < 0)
        low[beyond], high[beyond] = upper, 0
        if upper == 0:
            low[beyond], high[beyond] = 0, -1


def _but_one(clauses: Clauses, atom: Atom, low: Whole, high: Whole) -> tuple[Whole, Whole]:
    """Take off a box's end where an atom of one column leaves it out."""
    low, high = low.copy(), high.copy()
    if len(atom.columns) == 1:
        column = atom.columns[0]
        for end, step in ((low, 1), (high, -1)):
            is_out = ~atom.compared(clauses.sums(atom, end))
            end[:, column] += step * (is_out & (low[:, column] < high[:, column]))
    return low, high
