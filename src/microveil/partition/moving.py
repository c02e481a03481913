"""Values to other places of a column, a part of it in memory: cells to records, and draws.

What goes to places all over the column is first written down by ranges of them, in one pass, and
then put to its place range by range: two passes, each of which reads and writes from some places on
and never here and there. What comes from places all over the column is fetched the same way.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import distribution as kernel
from microveil.partition.clusters import Partition
from microveil.schema import Cells
from microveil.table import keeping
from microveil.table.keeping import Filling, Room, pieces

__all__ = ["Chunk", "Records", "broadcast_in_parts", "moved_in_parts", "put_in_parts", "slices"]

Whole = NDArray[np.int64]
Types = tuple["np.dtype[Any]", "np.dtype[Any]"]


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

    def chunks() -> Iterator[Chunk]:
        for piece in pieces(len(order)):
            positions = np.ascontiguousarray(order[piece])
            own = np.empty(len(positions), dtype=cells.dtype)
            first = int(np.searchsorted(ends, piece.start, side="right"))
            kernel.cells_of_ranks(ends, cells, piece.start, first, own)
            yield Chunk(own, positions)
            room.relieve()

    counts = _counts_by_range((order[piece] for piece in pieces(len(order))), partition.n_records)
    room.relieve()
    records = _by_ranges(chunks(), counts, (cells.dtype, order.dtype), room)
    return _scattered(records, counts, partition.n_records, cells.dtype, room)


def moved_in_parts(
    values: Whole, sources: Filling, targets: NDArray[np.integer], room: Room
) -> Whole:
    """Return ``out`` of ``out[targets] = values[sources]``, of what memory does not hold.

    Parameters
    ----------
    values : int64 array (n_values,)
    sources : Filling
        Of each move the place that it takes a value from, (n_values,); any of them, some of them
        often.
    targets : integer array (n_values,)
        And the place that it puts it to, of the type of the sources: each once.
    room : Room
        For what is as long as the column.

    Notes
    -----
    O(n) time; in memory 40 bytes for each of `keeping.PIECE` values.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> sources = IN_MEMORY.filling(3, np.int64)
    >>> sources.write(0, np.array([2, 2, 0]))
    >>> moved_in_parts(np.array([5, 6, 7]), sources, np.array([1, 0, 2]), IN_MEMORY)
    array([7, 7, 5])
    """
    n_values, width = len(values), targets.dtype
    asked = _counts_by_range((sources.read(some) for some in pieces(n_values)), n_values)
    moves = (Chunk(targets[some].copy(), sources.read(some)) for some in pieces(n_values))
    by_source = _by_ranges(moves, asked, (width, width), room)

    def fetched() -> Iterator[Chunk]:
        for piece, held in zip(pieces(n_values), slices(asked), strict=True):
            own = values[piece]
            # However many ask for the values of one range.
            for some in pieces(held.stop - held.start):
                found = by_source.read(slice(held.start + some.start, held.start + some.stop))
                yield Chunk(own[found.positions - piece.start], found.values)
            room.relieve()

    given = _counts_by_range((targets[some] for some in pieces(n_values)), n_values)
    by_target = _by_ranges(fetched(), given, (values.dtype, width), room)
    return _scattered(by_target, given, n_values, values.dtype, room)


def put_in_parts(
    read: Callable[[slice], NDArray[Any]],
    targets: NDArray[np.integer[Any]],
    dtype: "np.dtype[Any]",
    room: Room,
) -> NDArray[Any]:
    """Return ``out`` of ``out[targets] = values``, of what memory does not hold.

    Parameters
    ----------
    read : callable
        Returns the values of some records.
    targets : integer array (n_values,)
        The place that each is put to: each once.
    dtype : dtype
        Of the values.
    room : Room
        For what is as long as the column.

    Notes
    -----
    O(n) time; in memory 40 bytes for each of `keeping.PIECE` values.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> values = np.array([5, 6, 7])
    >>> put_in_parts(values.__getitem__, np.array([1, 2, 0]), values.dtype, IN_MEMORY)
    array([7, 5, 6])
    """
    n_values = len(targets)

    def chunks() -> Iterator[Chunk]:
        for piece in pieces(n_values):
            yield Chunk(np.ascontiguousarray(read(piece)), np.ascontiguousarray(targets[piece]))

    counts = _counts_by_range((targets[piece] for piece in pieces(n_values)), n_values)
    room.relieve()
    records = _by_ranges(chunks(), counts, (dtype, targets.dtype), room)
    return _scattered(records, counts, n_values, dtype, room)


def _counts_by_range(positions: Iterable[NDArray[Any]], n_records: int) -> Whole:
    """Count positions by ranges of `keeping.PIECE` records.

    >>> _counts_by_range([np.array([0, keeping.PIECE]), np.array([1])], keeping.PIECE + 2)
    array([2, 1])
    """
    counts = np.zeros(max(1, -(-n_records // keeping.PIECE)), dtype=np.int64)
    for some in positions:
        counts += np.bincount(some // keeping.PIECE, minlength=len(counts))
    return counts


def _by_ranges(chunks: Iterable["Chunk"], counts: Whole, dtypes: Types, room: Room) -> "Records":
    """Write values and positions down by ranges of `keeping.PIECE` records, as they come in each.

    Parameters
    ----------
    chunks : iterable of Chunk
    counts : int64 array (n_ranges,)
        Of `counts_by_range`.
    dtypes : (dtype, dtype)
        Of the values, and of the positions.
    room : Room
    """
    n_values = int(counts.sum())
    records = Records(
        values=room.filling(n_values, dtypes[0]), positions=room.filling(n_values, dtypes[1])
    )
    starts, of_chunk = np.cumsum(counts) - counts, np.empty_like(counts)
    for chunk in chunks:
        places = np.empty(len(chunk.values), dtype=np.int64)
        kernel.places_of_records(chunk.positions, keeping.PIECE, of_chunk, places)
        records.distribute(chunk, starts, of_chunk, places)
        room.relieve()
    return records


def _scattered(
    records: "Records", counts: Whole, n_records: int, dtype: "np.dtype[Any]", room: Room
) -> NDArray[Any]:
    """Put values, by ranges of records, to their positions; 0 where none goes."""
    out = room.filling(n_records, dtype)
    for piece, held in zip(pieces(n_records), slices(counts), strict=True):
        own = np.zeros(piece.stop - piece.start, dtype=dtype)
        found = records.read(held)
        kernel.scatter(found.positions, found.values, piece.start, own)
        out.write(piece.start, own)
        room.relieve()
    return out.array()


class Chunk(NamedTuple):
    """Some values, and the positions of their records unless these do not matter."""

    values: NDArray[Any]
    positions: NDArray[Any] | None

    def part(self, places: slice) -> "Chunk":
        """Return those at some places."""
        positions = None if self.positions is None else self.positions[places]
        return Chunk(self.values[places], positions)

    def put(self, places: Whole) -> "Chunk":
        """Return each of them at its place."""
        positions = None if self.positions is None else _put(self.positions, places)
        return Chunk(_put(self.values, places), positions)


class Records(NamedTuple):
    """Values, and the positions of their records unless these do not matter, to be written."""

    values: Filling
    positions: Filling | None

    def read(self, places: slice) -> Chunk:
        """Return a copy of those at some places."""
        positions = None if self.positions is None else self.positions.read(places)
        return Chunk(self.values.read(places), positions)

    def write(self, start: int, chunk: Chunk) -> None:
        """Write some from a place on."""
        self.values.write(start, chunk.values)
        if self.positions is not None and chunk.positions is not None:
            self.positions.write(start, chunk.positions)

    def distribute(self, chunk: Chunk, starts: Whole, ends: Whole, places: Whole) -> None:
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


def slices(counts: Whole) -> Iterator[slice]:
    """Return where each range is."""
    ends = np.cumsum(counts)
    for start, end in zip((ends - counts).tolist(), ends.tolist(), strict=True):
        yield slice(start, end)
