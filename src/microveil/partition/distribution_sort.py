"""Distribution sort: a column in order, a part of it in memory.

Values go to at most 64 ranges of values, whose borders come from a sample (on these only speed
hangs), each range is sorted by itself, and all of them together are the column in order. What is as
long as the column is read and written piece by piece, each range from its start on, wherever it is
kept. Records may be put in order by a key instead, which ascends as values do: those of one key
then stay as they come.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import distribution as kernel
from microveil.partition.moving import Chunk, Records, slices
from microveil.partition.ranking import rank_order
from microveil.table.keeping import Room, pieces
from microveil.table.sorting import sort

__all__ = ["group_in_parts", "rank_in_parts", "sort_in_parts"]

Whole = NDArray[np.int64]
Mask = NDArray[np.bool_]
# Gives records from first to last, some at a time, as often as it is called.
Chunks = Callable[[], Iterator[Chunk]]
# What records are put in order by, made of their values; it ascends as these do.
Key = Callable[[NDArray[Any]], NDArray[Any]]
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

    def chunks() -> Iterator[Chunk]:
        start = 0
        for piece in pieces(n_records):
            positions = np.arange(piece.start, piece.stop, dtype=width)
            if missing is not None:
                positions = positions[~missing[piece]]
            own = slice(start, start + len(positions))
            yield Chunk(values[own], positions)
            start = own.stop
            room.relieve()

    return _ranked(chunks, len(values), width, room, _itself)


def group_in_parts(values: Whole, key: Key, room: Room) -> tuple[NDArray[np.integer], Whole]:
    """Return the records in ascending order of a key, of a column that memory does not hold.

    Parameters
    ----------
    values : int64 array (n_records,)
    key : callable
        Of some values an int64 array that ascends as they do.
    room : Room
        For what is as long as the column.

    Returns
    -------
    (integer array, int64 array), both (n_records,)
        Positions of the records, those of one key as they come; the values in that order.

    Notes
    -----
    O(n log n) time; in memory 48 bytes for each of `AT_ONCE` records. However many have one key,
    they are not sorted.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> group_in_parts(np.array([27, 15, 21, 12]), lambda ages: ages // 10, IN_MEMORY)
    (array([1, 3, 0, 2], dtype=int32), array([15, 12, 27, 21]))
    """
    width = np.int32 if len(values) < 1 << 31 else np.int64

    def chunks() -> Iterator[Chunk]:
        for piece in pieces(len(values)):
            yield Chunk(values[piece], np.arange(piece.start, piece.stop, dtype=width))
            room.relieve()

    return _ranked(chunks, len(values), width, room, key)


def _ranked(
    chunks: Chunks, n_values: int, width: "type[np.integer[Any]]", room: Room, key: Key
) -> tuple[NDArray[np.integer], Whole]:
    records = Records(
        values=room.filling(n_values, np.int64), positions=room.filling(n_values, width)
    )
    _order(chunks, records, slice(0, n_values), room, key)
    assert records.positions is not None  # noqa: S101 -- made above
    return records.positions.array(), records.values.array()


def _itself(values: NDArray[Any]) -> NDArray[Any]:
    return values


def sort_in_parts(
    made: Callable[[slice], NDArray[Any]],
    n_values: int,
    room: Room,
    dtype: "np.dtype[Any] | type" = np.float64,
) -> NDArray[Any]:
    """Return values in ascending order, of a column that memory does not hold.

    Parameters
    ----------
    made : callable
        Gives the finite numbers at some places, whenever it is asked for them.
    n_values : int
    room : Room
        For what is as long as the column.
    dtype : {numpy.float64, numpy.int64}
        Of the numbers.

    Notes
    -----
    O(n) time; in memory 16 bytes for each of `AT_ONCE` values.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> sort_in_parts(np.array([2.5, -0.5, 1.0]).__getitem__, 3, IN_MEMORY)
    array([-0.5,  1. ,  2.5])
    """

    def chunks() -> Iterator[Chunk]:
        for piece in pieces(n_values):
            yield Chunk(made(piece), None)
            room.relieve()

    in_order = Records(values=room.filling(n_values, dtype), positions=None)
    _order(chunks, in_order, slice(0, n_values), room, _itself)
    return in_order.values.array()


def _order(chunks: Chunks, target: Records, own: slice, room: Room, key: Key) -> None:
    """Write records to places of the target, in order of key: equal ones as they come."""
    n_values = own.stop - own.start
    if n_values <= AT_ONCE:
        target.write(own.start, _in_order(list(chunks()), key))
        return
    ranges = _Ranges.of(chunks, n_values, key)
    counts = ranges.counts(chunks, key)
    starts = own.start + np.cumsum(counts) - counts
    for chunk in chunks():
        target.distribute(chunk, starts, *ranges.places(key(chunk.values)))
    if len(counts) == 1:
        return  # all keys are equal
    for part in slices(counts):
        within = slice(own.start + part.start, own.start + part.stop)
        if part.stop - part.start <= AT_ONCE:
            target.write(within.start, _in_order([target.read(within)], key))
        else:
            _order_within(target, within, room, key)


def _order_within(target: Records, own: slice, room: Room, key: Key) -> None:
    """Put records in order that are at some places of the target, more than are sorted at once."""
    n_values = own.stop - own.start
    none = target.read(slice(0, 0))
    positions = none.positions
    apart = Records(
        values=room.filling(n_values, none.values.dtype),
        positions=None if positions is None else room.filling(n_values, positions.dtype),
    )
    for piece in pieces(n_values):
        within = slice(own.start + piece.start, own.start + piece.stop)
        apart.write(piece.start, target.read(within))
    _order(lambda: map(apart.read, pieces(n_values)), target, own, room, key)


def _in_order(chunks: list[Chunk], key: Key) -> Chunk:
    """Sort records in memory."""
    values = np.concatenate([chunk.values for chunk in chunks])
    if chunks[0].positions is None:
        sort(values)
        return Chunk(values, None)
    positions = np.concatenate([chunk.positions for chunk in chunks])
    if not len(values):
        return Chunk(values, positions)
    by_key, in_order = rank_order(key(values))
    return Chunk(in_order if key is _itself else values[by_key], positions[by_key])


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
    def of(cls, chunks: Chunks, n_values: int, key: Key) -> "_Ranges":
        """Take a sample: a value that is more than a range of it has one of its own.

        Of unequal values there are two ranges or more, of equal ones there is one.
        """
        least, greatest, sample = _sampled(chunks, n_values, key)
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

    def counts(self, chunks: Chunks, key: Key) -> Whole:
        """Count the records whose keys are in each range."""
        counts = np.zeros(len(self.starts) + 1, dtype=np.int64)
        for chunk in chunks():
            kernel.count_values(key(chunk.values), *self, counts)
        return counts

    def places(self, values: NDArray[Any]) -> tuple[Whole, Whole]:
        """Return where ranges of some values end, and where each value goes, range by range."""
        ends = np.empty(len(self.starts) + 1, dtype=np.int64)
        places = np.empty(len(values), dtype=np.int64)
        kernel.places_of(values, *self, ends, places)
        return ends, places


def _sampled(chunks: Chunks, n_values: int, key: Key) -> tuple[Any, Any, NDArray[Any]]:
    """Return the least and the greatest key, and some others in order."""
    places = np.sort((np.arange(1, SAMPLE + 1) * _STEP % 1 * n_values).astype(np.int64))
    least, greatest, found, start = [], [], [], 0
    for chunk in chunks():
        if not len(chunk.values):
            continue
        keys = key(chunk.values)
        least.append(keys.min())
        greatest.append(keys.max())
        own = slice(*np.searchsorted(places, [start, start + len(keys)]))
        found.append(keys[places[own] - start])
        start += len(keys)
    return min(least), max(greatest), np.sort(np.concatenate(found))
