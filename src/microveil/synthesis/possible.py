"""Which cells of bins some record that holds all rules can be in: the others are zeros."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.schema import Attribute
from microveil.synthesis.boxes import obeyable
from microveil.synthesis.clauses import Clauses, Places, clauses_of
from microveil.synthesis.cuts import REACH
from microveil.synthesis.measurements import Scope
from microveil.synthesis.model import junction_tree, widened
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.tables import Axis
from microveil.table.record_rules import RecordRule

Mask = NDArray[np.bool_]
Whole = NDArray[np.int64]
# A stretch of places, ends included; None for no value.
Stretch = tuple[int, int] | None
# Tables of more cells than this are looked at by their pairs.
MOST_CELLS = 1 << 16


def some_record(clauses: Clauses) -> Whole | None:
    """Find a record with all values that holds all clauses, in places; None if there is none."""
    low = np.array([[own.lower for own in clauses.places]], dtype=np.int64)
    high = np.array([[own.upper for own in clauses.places]], dtype=np.int64)
    found, points = obeyable(clauses, low, high, low > high, np.zeros(1, dtype=np.int64), 1)
    return points[0] if found[0] else None


@dataclass(slots=True, kw_only=True, eq=False)
class Possible:
    """Clauses over bins: the cells that records which hold them can be in.

    ``stretches`` has by column of the clauses, and by bin, the places that a bin holds.
    """

    clauses: Clauses
    sizes: tuple[int, ...]
    stretches: tuple[list[list[Stretch]], ...]
    may_lack: tuple[bool, ...]
    point: Whole  # a record with all values that holds all clauses
    _known: dict[Scope, Mask] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        rules: Sequence[RecordRule],
        measured: Sequence[AttributeMeasured],
        axes: Sequence[Axis],
        computed: Sequence[Attribute],
    ) -> "Possible | None":
        """Find the bins' places of what was measured; None where there are no rules."""
        if not rules:
            return None
        clauses = clauses_of(rules, [own.attribute for own in measured], computed)
        point = some_record(clauses)
        if point is None:
            raise RequestError(
                "rules",
                "no record of the released domains can hold all of them together",
                "declare the domains of their columns, or leave a rule out",
            )
        stretches = [
            _stretches(measured[number], axes[number], places)
            for number, places in zip(clauses.involved, clauses.places, strict=True)
        ]
        return cls(
            clauses=clauses,
            sizes=tuple(axis.n_bins for axis in axes),
            stretches=tuple(stretches),
            may_lack=tuple(measured[number].has_missing for number in clauses.involved),
            point=point,
        )

    def scopes(self) -> list[Scope]:
        """List the attributes that each clause ties together; of many cells by pairs."""
        found: dict[Scope, None] = {}
        for clause in self.clauses.clauses:
            own = tuple(sorted(self.clauses.involved[column] for column in clause.columns))
            is_small = math.prod(self.sizes[one] for one in own) <= MOST_CELLS
            found |= dict.fromkeys([own] if is_small else combinations(own, 2))
        return [scope for scope in found if len(scope) > 1]

    def zeros(self, scopes: Iterable[Scope], most_cells: int) -> dict[Scope, Mask]:
        """Find the possible cells of tables, and of what rules tie together, where not all are.

        Those of rules alone are left out where the model would have more cells than that.
        """
        found = {scope: self.cells(scope) for scope in scopes}
        tied = list(found)
        for scope in self.scopes():
            if scope not in found:
                tree = junction_tree(self.sizes, [*tied, scope])
                if sum(tree.cells) <= most_cells:
                    tied.append(scope)
                    found[scope] = self.cells(scope)
        return {scope: mask for scope, mask in found.items() if not mask.all()}

    def cells(self, scope: Scope) -> Mask:
        """Say which cells of a table some record that holds all rules can be in.

        Other columns are free. Exact for up to 2**16 cells of columns that rules tie together;
        of more a cell counts as possible where all its pairs are.
        """
        found = np.ones([self.sizes[one] for one in scope], dtype=np.bool_)
        for component in self.clauses.components():
            tied = {self.clauses.involved[column] for column in component}
            own = tuple(sorted(one for one in scope if one in tied))
            is_small = math.prod(self.sizes[one] for one in own) <= MOST_CELLS
            for part in [own] if is_small or len(own) < 3 else combinations(own, 2):
                if part:
                    found &= widened(self._cells(part), part, scope)
        return found

    def _cells(self, scope: Scope) -> Mask:
        """Find the possible cells of columns that rules tie together."""
        if scope not in self._known:
            n_cells = math.prod(self.sizes[one] for one in scope)
            low, high, absent, owner = self._boxes(scope)
            found, _ = obeyable(self.clauses, low, high, absent, owner, n_cells)
            self._known[scope] = found.reshape([self.sizes[one] for one in scope])
        return self._known[scope]

    def _boxes(self, scope: Scope) -> tuple[Whole, Whole, Mask, Whole]:
        """Make the boxes of all cells of a table; what is not in it is free."""
        low = np.array([[own.lower for own in self.clauses.places]], dtype=np.int64)
        high = np.array([[own.upper for own in self.clauses.places]], dtype=np.int64)
        # Nothing is easier to hold than a rule about a column without a value.
        absent = np.array([self.may_lack], dtype=np.bool_)
        owner = np.zeros(1, dtype=np.int64)
        for number in scope:
            column = self.clauses.involved.index(number)
            parts = [(b, own) for b, every in enumerate(self.stretches[column]) for own in every]
            bins = np.array([b for b, _ in parts], dtype=np.int64)
            ends = np.array([own or (0, 0) for _, own in parts], dtype=np.int64)
            has_none = np.array([own is None for _, own in parts], dtype=np.bool_)
            n_boxes = len(owner)
            low, high = np.repeat(low, len(parts), axis=0), np.repeat(high, len(parts), axis=0)
            absent = np.repeat(absent, len(parts), axis=0)
            owner = np.repeat(owner, len(parts)) * self.sizes[number] + np.tile(bins, n_boxes)
            low[:, column] = np.tile(ends[:, 0], n_boxes)
            high[:, column] = np.tile(ends[:, 1], n_boxes)
            absent[:, column] = np.tile(has_none, n_boxes)
        return low, high, absent, owner


def _stretches(measured: AttributeMeasured, axis: Axis, places: Places) -> list[list[Stretch]]:
    """Find by bin the places of the values that a record in it can have.

    A grid value that the end of a bin cuts, as a record's jitter reaches over it, counts to the
    bin that has more of it: to both where many records share it, and so several cuts.
    """
    distribution = measured.distribution
    if distribution is None:
        return _of_groups(measured, axis, places)
    assert axis.edges is not None  # noqa: S101 -- an axis has edges or groups
    candidates, cuts = distribution.candidates, np.floor(distribution.positions)
    at = candidates.positions(axis.edges)
    reach = np.maximum(1.0, REACH * (candidates.positions(axis.edges + 1) - at))
    first = np.floor(at - reach / 2) + 1
    is_shared = (cuts == np.floor(at)[:, None]).sum(axis=1) > 1
    lower = np.array([places.lower, *np.where(is_shared, np.floor(at), first)])
    upper = np.array([*np.where(is_shared, np.floor(at), first - 1), places.upper])
    # Where no value has its greater part in a bin: all that it touches.
    has_none = lower > upper
    lower = np.where(has_none, [places.lower, *np.floor(at)], lower)
    upper = np.where(has_none, [*(np.ceil(at) - 1), places.upper], upper)
    ends = (np.clip(one, places.lower, places.upper).astype(int).tolist() for one in (lower, upper))
    found: list[list[Stretch]] = [[own] for own in zip(*ends, strict=True)]
    return [*found, [None]] if axis.has_missing else found


def _of_groups(measured: AttributeMeasured, axis: Axis, places: Places) -> list[list[Stretch]]:
    assert axis.groups is not None  # noqa: S101 -- an axis has edges or groups
    found: list[list[Stretch]] = [[] for _ in range(axis.n_bins)]
    n_values = len(axis.groups) - measured.has_missing
    lower, _ = measured.attribute.grid_bounds or (0, 0)
    own = places.of_units(lower + np.arange(n_values))
    in_order = np.argsort(own)
    for place, group in zip(own[in_order].tolist(), axis.groups[in_order].tolist(), strict=True):
        last = found[group][-1] if found[group] else None
        if last is not None and last[1] == place - 1:
            found[group][-1] = last[0], place
        else:
            found[group].append((place, place))
    if measured.has_missing:
        found[int(axis.groups[-1])].append(None)
    return found
