"""The order of a release whose columns are on the disk: each is put into it range by range.

Cells that are fetched from all over a column bring its pages into memory, and those around them,
faster than they are given back. So each piece of the table is read once, sorted by where its
cells go and written; then each piece of the release is made of what all of those hold for it: one
run of each.
"""

import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from microveil.partition.moving import put_in_parts
from microveil.table.keeping import made_by_size, pieces
from microveil.table.scratch import Scratch

if TYPE_CHECKING:
    import polars

__all__ = ["OrderOnDisk"]

Value = TypeVar("Value")
Positions = NDArray[np.integer[Any]]
# What a cell takes beside its letters while it is put elsewhere: a view of them, and positions.
A_CELL = 40


class OrderOnDisk:
    """An order that columns are put into in parts, from the disk to the disk.

    Parameters
    ----------
    positions : integer array (n_records,)
        Of each record in this order its place in the table, each once.
    scratch : Scratch
    at_once : int
        How many bytes of a column are in memory at a time, some copies of them.
    holds_numbers : bool
        Whether memory holds a column of numbers: its cells are then fetched at once.

    Examples
    --------
    >>> order = OrderOnDisk(np.array([2, 0, 1]), Scratch(), 1 << 22, holds_numbers=False)
    >>> order.arranged(np.array([5, 6, 7]))
    array([7, 5, 6])
    """

    def __init__(
        self, positions: Positions, scratch: Scratch, at_once: int, *, holds_numbers: bool
    ) -> None:
        self.positions = positions
        self._scratch, self._at_once, self._holds_numbers = scratch, at_once, holds_numbers
        self._targets: Positions | None = None

    def arranged(self, column: Value) -> Value:
        """Return an array, or a column of polars, with its cells in this order.

        O(n log n) time; a column is read and written twice.
        """
        if isinstance(column, np.ndarray):
            return cast("Value", self._array(column))
        return cast("Value", self._column(cast("polars.Series", column)))

    def _array(self, values: NDArray[Any]) -> NDArray[Any]:
        if self._holds_numbers:
            return values[self.positions]
        return put_in_parts(values.__getitem__, self.targets, values.dtype, self._scratch)

    def _column(self, column: "polars.Series") -> "polars.Series":
        n_records = len(self.positions)
        if self._holds_numbers and not _is_long(column):
            return self._scratch.joined(
                n_records,
                made_by_size(n_records, lambda records: column.gather(self.positions[records])),
            )
        parts, cuts = self._by_target(column)
        made = (_piece(parts, nth, self._scratch) for nth in range(len(cuts) - 1))
        return self._scratch.joined(n_records, made)

    @property
    def targets(self) -> Positions:
        """Where each record of the table goes: (n_records,)."""
        if self._targets is None:
            kind = self.positions.dtype
            self._targets = put_in_parts(
                lambda places: np.arange(places.start, places.stop, dtype=kind),
                self.positions,
                kind,
                self._scratch,
            )
        return self._targets

    def _by_target(self, column: "polars.Series") -> "tuple[list[_Part], list[int]]":
        """Write down pieces of the table, sorted by where their cells go.

        Returns
        -------
        (list of _Part, list of int)
            And where the pieces of the release begin and end.
        """
        sizes = _sizes_of(column)
        in_order = put_in_parts(sizes, self.targets, np.dtype(np.int64), self._scratch)
        cuts = _cuts((in_order[some] for some in pieces(len(column))), self._at_once)
        parts = []
        of_table = _cuts((sizes(some) for some in pieces(len(column))), self._at_once)
        for start, stop in itertools.pairwise(of_table):
            own = self.targets[start:stop]
            by_target = np.argsort(own)
            targets = own[by_target]
            cells = self._scratch.column(column[start:stop].gather(by_target))
            places = self._scratch.array(targets)
            parts.append(_Part(cells, places, np.searchsorted(targets, cuts)))
            self._scratch.relieve()
        return parts, cuts


class _Part(NamedTuple):
    """Cells of a piece of the table by where they go, and where those of each piece end."""

    cells: "polars.Series"
    targets: Positions
    bounds: NDArray[np.int64]


def _piece(parts: "list[_Part]", nth: int, scratch: Scratch) -> "polars.Series":
    """Put a piece of the release together."""
    import polars

    cells, targets = [], []
    for part in parts:
        own = slice(int(part.bounds[nth]), int(part.bounds[nth + 1]))
        cells.append(_in_memory(part.cells[own]))
        targets.append(part.targets[own].copy())
        scratch.relieve()
    return polars.concat(cells, rechunk=False).gather(np.argsort(np.concatenate(targets)))


def _in_memory(cells: "polars.Series") -> "polars.Series":
    """Return a copy, no page of which is of a file: text shares its letters else."""
    import polars

    if not _is_long(cells):
        return cells.gather(np.arange(len(cells)))
    copied = cells.to_arrow(compat_level=polars.CompatLevel.oldest())
    return cast("polars.Series", polars.from_arrow(copied)).alias(cells.name).cast(cells.dtype)


def _is_long(column: "polars.Series") -> bool:
    """Whether cells may be of any length."""
    import polars

    return column.dtype in (polars.String, polars.Binary)


def _sizes_of(column: "polars.Series") -> Callable[[slice], NDArray[np.int64]]:
    """Return what tells how many bytes the cells of some records take: no letter is looked at."""
    import polars

    def sizes(records: slice) -> NDArray[np.int64]:
        some = column[records]
        if not _is_long(some):
            return np.full(len(some), A_CELL)
        lengths = some.str.len_bytes() if some.dtype == polars.String else some.bin.size()
        return lengths.fill_null(0).cast(polars.Int64).to_numpy() + A_CELL

    return sizes


def _cuts(sizes: Iterable[NDArray[np.int64]], most: int) -> list[int]:
    """Cut records into runs of so many bytes at most, or of one that takes more.

    >>> _cuts([np.array([3, 3, 3]), np.array([9, 1])], 6)
    [0, 2, 3, 4, 5]
    """
    cuts, done, held = [0], 0, 0
    for some in sizes:
        ends, start = np.cumsum(some), 0
        while True:
            before = int(ends[start - 1]) if start else 0
            stop = int(np.searchsorted(ends, before + most - held, side="right"))
            if stop >= len(some):
                held += int(ends[-1]) - before if len(some) else 0
                break
            stop = stop if held else max(stop, start + 1)
            cuts.append(done + stop)
            start, held = stop, 0
        done += len(some)
    return [*cuts, done] if done > cuts[-1] or not done else cuts
