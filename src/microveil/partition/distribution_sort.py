"""Distribution sort: a column in order, and cells back to records, a part of them in memory.

Values go to at most 64 ranges of values, whose borders come from a sample (on these only speed
hangs), each range is sorted by itself, and all of them together are the column in order. Cells go
back the same way: first to ranges of records, then to their places. What is as long as the column
is read and written piece by piece, each range from its start on, wherever it is kept.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import distribution as kernel
from microveil.partition.clusters import Partition
from microveil.partition.ranking import rank_order
from microveil.schema import Cells
from microveil.table import keeping
from microveil.table.keeping import Filling, Room, pieces
from microveil.table.sorting import sort

__all__ = ["broadcast_in_parts", "rank_in_parts", "sort_in_parts"]

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
# Gives records from first to last, some at a time, as often as it is called.
Chunks = Callable[[], Iterator["_Chunk"]]
# Records that are sorted at once.
AT_ONCE = 1 << 20
# Ranges that values are distributed to at once, and values of the sample that says where they end.
RANGES, SAMPLE = 64, 1 << 13
# Equal parts of all values, by which a value's range is looked up.
CELLS = 1 << 12
# Fractions of its multiples are evenly spread, and in step with no period of the table's.
_STEP = (5**0.5 - 1) / 2


def rank_in_parts(
    values: Whole, room: Room, missing: Mask | None = None
) -> tuple[NDArray[np.integer], Whole]:
    """Return what `rank_order` does, of a column that memory does not hold.

    Parameters
    ----------
    values : int64 array (n_present,)
    room : Room
        For what is as long as the column.
    missing : bool array (n_records,), optional
        Which records have no value: the others are then counted among all.

    Returns
    -------
    (integer array, int64 array), both (n_present,)
        Positions of the records in ascending order of value, equal ones by position; the values
        in that order.

    Notes
    -----
    O(n log n) time; in memory 40 bytes for each of `AT_ONCE` records.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> rank_in_parts(np.array([7, -2, 7]), IN_MEMORY)
    (array([1, 0, 2], dtype=int32), array([-2,  7,  7]))
    """
    n_records = len(values) if missing is None else len(missing)
    width = np.int32 if n_records < 1 << 31 else np.int64

    def chunks() -> Iterator[_Chunk]:
        start = 0
        for piece in pieces(n_records):
            positions = np.arange(piece.start, piece.stop, dtype=width)
            if missing is not None:
                positions = positions[~missing[piece]]
            own = slice(start, start + len(positions))
            yield _Chunk(values[own], positions)
            start = own.stop
            room.relieve()

    records = _Records(
        values=room.filling(len(values), np.int64), positions=room.filling(len(values), width)
    )
    _order(chunks, records, slice(0, len(values)), room)
    assert records.positions is not None  # noqa: S101 -- made above
    return records.positions.array(), records.values.array()


def sort_in_parts(filling: Filling, n_values: int, room: Room) -> NDArray[np.float64]:
    """Return values in ascending order, of a column that memory does not hold.

    Parameters
    ----------
    filling : Filling
        Finite numbers, float64.
    n_values : int
        How many of them are to be sorted, the first ones.
    room : Room
        For what is as long as the column.

    Notes
    -----
    O(n) time; in memory 16 bytes for each of `AT_ONCE` values.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> filling = IN_MEMORY.filling(3, np.float64)
    >>> filling.write(0, np.array([2.5, -0.5, 1.0]))
    >>> sort_in_parts(filling, 3, IN_MEMORY)
    array([-0.5,  1. ,  2.5])
    """

    def chunks() -> Iterator[_Chunk]:
        for piece in pieces(n_values):
            yield _Chunk(filling.read(piece), None)

    in_order = _Records(values=room.filling(n_values, np.float64), positions=None)
    _order(chunks, in_order, slice(0, n_values), room)
    return in_order.values.array()


def broadcast_in_parts(partition: Partition, cells: Cells, room: Room) -> Cells:
    """Give each record of a table the cell of its cluster; 0 outside all clusters.

    Parameters
    ----------
    partition : Partition
    cells : int64 or float64 array (n_clusters,)
    room : Room
        For what is as long as the column.

    Returns
    -------
    int64 or float64 array (n_records,)

    Notes
    -----
    O(n) time; in memory 8 bytes for each cluster and 40 for each of `keeping.PIECE` records.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> order, sizes = np.array([2, 0, 3]), np.array([1, 2])
    >>> clusters = Partition(order=order, sizes=sizes, n_records=4)
    >>> broadcast_in_parts(clusters, np.array([5, 7]), IN_MEMORY)
    array([7, 0, 5, 7])
    """
    order, ends, cells = partition.order, np.cumsum(partition.sizes), np.asarray(cells)
    counts = np.zeros(-(-partition.n_records // keeping.PIECE), dtype=np.int64)
    for piece in pieces(len(order)):
        counts += np.bincount(order[piece] // keeping.PIECE, minlength=len(counts))
        room.relieve()
    records = _Records(
        values=room.filling(len(order), cells.dtype),
        positions=room.filling(len(order), order.dtype),
    )
    starts, of_piece = np.cumsum(counts) - counts, np.empty_like(counts)
    for piece in pieces(len(order)):
        positions = np.ascontiguousarray(order[piece])
        own = np.empty(len(positions), dtype=cells.dtype)
        first = int(np.searchsorted(ends, piece.start, side="right"))
        kernel.cells_of_ranks(ends, cells, piece.start, first, own)
        places = np.empty(len(positions), dtype=np.int64)
        kernel.places_of_records(positions, keeping.PIECE, of_piece, places)
        records.distribute(_Chunk(own, positions), starts, of_piece, places)
        room.relieve()
    out = room.filling(partition.n_records, cells.dtype)
    for piece, held in zip(pieces(partition.n_records), _slices(counts), strict=True):
        own = np.zeros(piece.stop - piece.start, dtype=cells.dtype)
        found = records.read(held)
        kernel.scatter(found.positions, found.values, piece.start, own)
        out.write(piece.start, own)
    return out.array()


class _Chunk(NamedTuple):
    """Some values, and the positions of their records unless these do not matter."""

    values: NDArray[Any]
    positions: NDArray[Any] | None

    def part(self, places: slice) -> "_Chunk":
        positions = None if self.positions is None else self.positions[places]
        return _Chunk(self.values[places], positions)

    def put(self, places: Whole) -> "_Chunk":
        """Return each of them at its place."""
        positions = None if self.positions is None else _put(self.positions, places)
        return _Chunk(_put(self.values, places), positions)


class _Records(NamedTuple):
    """Values, and the positions of their records unless these do not matter, to be written."""

    values: Filling
    positions: Filling | None

    def read(self, places: slice) -> _Chunk:
        positions = None if self.positions is None else self.positions.read(places)
        return _Chunk(self.values.read(places), positions)

    def write(self, start: int, chunk: _Chunk) -> None:
        self.values.write(start, chunk.values)
        if self.positions is not None and chunk.positions is not None:
            self.positions.write(start, chunk.positions)

    def distribute(self, chunk: _Chunk, starts: Whole, ends: Whole, places: Whole) -> None:
        """Write records to where their ranges go on, and move these on.

        ``ends`` and ``places`` are of the chunk, ``starts`` of all.
        """
        put = chunk.put(places)
        begin = 0
        for number, end in enumerate(ends.tolist()):
            if begin < end:
                self.write(int(starts[number]), put.part(slice(begin, end)))
                starts[number] += end - begin
            begin = end


def _put(values: NDArray[Any], places: Whole) -> NDArray[Any]:
    out = np.empty_like(values)
    kernel.put(values, places, out)
    return out


def _order(chunks: Chunks, target: _Records, own: slice, room: Room) -> None:
    """Write records to places of the target, in order of value: equal ones as they come."""
    n_values = own.stop - own.start
    if n_values <= AT_ONCE:
        target.write(own.start, _in_order(list(chunks())))
        return
    ranges = _Ranges.of(chunks, n_values)
    counts = ranges.counts(chunks)
    starts = own.start + np.cumsum(counts) - counts
    for chunk in chunks():
        target.distribute(chunk, starts, *ranges.places(chunk.values))
    if len(counts) == 1:
        return  # all values are equal
    for part in _slices(counts):
        within = slice(own.start + part.start, own.start + part.stop)
        if part.stop - part.start <= AT_ONCE:
            target.write(within.start, _in_order([target.read(within)]))
        else:
            _order_within(target, within, room)


def _order_within(target: _Records, own: slice, room: Room) -> None:
    """Put records in order that are at some places of the target, more than are sorted at once."""
    n_values = own.stop - own.start
    none = target.read(slice(0, 0))
    positions = none.positions
    apart = _Records(
        values=room.filling(n_values, none.values.dtype),
        positions=None if positions is None else room.filling(n_values, positions.dtype),
    )
    for piece in pieces(n_values):
        within = slice(own.start + piece.start, own.start + piece.stop)
        apart.write(piece.start, target.read(within))
    _order(lambda: map(apart.read, pieces(n_values)), target, own, room)


def _in_order(chunks: list[_Chunk]) -> _Chunk:
    """Sort records in memory."""
    values = np.concatenate([chunk.values for chunk in chunks])
    if chunks[0].positions is None:
        sort(values)
        return _Chunk(values, None)
    positions = np.concatenate([chunk.positions for chunk in chunks])
    if not len(values):
        return _Chunk(values, positions)
    by_value, in_order = rank_order(values)
    return _Chunk(in_order, positions[by_value])


class _Ranges(NamedTuple):
    """Ranges of like numbers of values.

    Attributes
    ----------
    starts : array (n_ranges - 1,)
        Where they start, but for the first.
    firsts : int64 array (CELLS + 1,)
        Of equal parts of the values the first range each may be in.
    least, scale : float
        Where the first part starts, and how many there are to a value of 1.
    """

    starts: NDArray[Any]
    firsts: Whole
    least: float
    scale: float

    @classmethod
    def of(cls, chunks: Chunks, n_values: int) -> "_Ranges":
        """Take a sample: a value that is more than a range of it has one of its own.

        Of unequal values there are two ranges or more, of equal ones there is one.
        """
        least, greatest, sample = _sampled(chunks, n_values)
        n_ranges = min(RANGES // 2, 1 + 2 * n_values // AT_ONCE)
        borders = sample[np.arange(1, n_ranges) * len(sample) // n_ranges]
        borders, times = np.unique(borders, return_counts=True)
        often = borders[(times > 1) & (borders < greatest)]
        behind = often + 1 if sample.dtype == np.int64 else np.nextafter(often, np.inf)
        starts = np.union1d(borders, behind)
        starts = starts[(starts > least) & (starts <= greatest)]
        if not len(starts) and least < greatest:
            starts = np.array([greatest])
        # Values too close for such parts are all in the first.
        width = float(greatest) - float(least)
        scale = CELLS / width if width > CELLS / np.finfo(np.float64).max else 0.0
        firsts = np.empty(CELLS + 1, dtype=np.int64)
        kernel.first_ranges(starts, float(least), scale, firsts)
        return cls(starts, firsts, float(least), scale)

    def counts(self, chunks: Chunks) -> Whole:
        """Count the values of each range."""
        counts = np.zeros(len(self.starts) + 1, dtype=np.int64)
        for chunk in chunks():
            kernel.count_values(chunk.values, *self, counts)
        return counts

    def places(self, values: NDArray[Any]) -> tuple[Whole, Whole]:
        """Return where ranges of some values end, and where each value goes, range by range."""
        ends = np.empty(len(self.starts) + 1, dtype=np.int64)
        places = np.empty(len(values), dtype=np.int64)
        kernel.places_of(values, *self, ends, places)
        return ends, places


def _sampled(chunks: Chunks, n_values: int) -> tuple[Any, Any, NDArray[Any]]:
    """Return the least and the greatest value, and some others in order."""
    places = np.sort((np.arange(1, SAMPLE + 1) * _STEP % 1 * n_values).astype(np.int64))
    least, greatest, found, start = [], [], [], 0
    for chunk in chunks():
        if not len(chunk.values):
            continue
        least.append(chunk.values.min())
        greatest.append(chunk.values.max())
        own = slice(*np.searchsorted(places, [start, start + len(chunk.values)]))
        found.append(chunk.values[places[own] - start])
        start += len(chunk.values)
    return min(least), max(greatest), np.sort(np.concatenate(found))


def _slices(counts: Whole) -> Iterator[slice]:
    """Return where each range is."""
    ends = np.cumsum(counts)
    for start, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        yield slice(start, end)
