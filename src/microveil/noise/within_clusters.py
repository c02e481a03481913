"""Values drawn among those of a record's own cluster, with replacement or by a permutation.

In parts: draws are made for places cluster by cluster, by the words that a draw for all of them at
once would take, and say for each place which other one it takes its value from. That place may be
anywhere in the cluster, and a cluster as large as the column: values are fetched, and brought to
their records, range by range, see `partition.moving`.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from microveil.noise.keyed import InParts
from microveil.noise.noise import RandomSource, uniform
from microveil.partition import Partition
from microveil.partition.clusters import runs_of_clusters
from microveil.partition.distribution_sort import rank_in_parts
from microveil.partition.moving import moved_in_parts
from microveil.table import keeping
from microveil.table.keeping import Room, pieces

__all__ = ["drawn_within", "drawn_within_in_parts"]

Whole = NDArray[np.int64]
# The bit by which whole numbers with a sign and those without are ordered alike.
SIGN = np.uint64(1 << 63)


def drawn_within(
    in_order: Whole, partition: Partition, source: RandomSource, *, permute: bool
) -> Whole:
    """Give every record a value of its cluster.

    Parameters
    ----------
    in_order : int64 array (n_records,)
        The values, cluster after cluster.
    partition : Partition
        Of all records.
    source : RandomSource
        For nothing else.
    permute : bool
        Permute the values of each cluster instead of drawing with replacement.

    Returns
    -------
    int64 array (n_records,)
        O(n) time, of a permutation O(n log n); some columns of memory.

    Examples
    --------
    >>> pairs = Partition(order=np.array([2, 0, 1, 3]), sizes=np.array([2, 2]), n_records=4)
    >>> values, source = np.array([5, 5, 9, 9]), RandomSource.seeded(1)
    >>> drawn_within(values, pairs, source, permute=False)
    array([5, 9, 5, 9])
    """
    sizes, order = partition.sizes, partition.order
    if permute:
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        chosen = np.lexsort((source.words(len(order)), cluster))
    else:
        starts = np.cumsum(sizes) - sizes
        chosen = np.repeat(starts, sizes) + uniform(np.repeat(sizes, sizes), source)
    drawn = np.empty_like(in_order)
    drawn[order] = in_order[chosen]
    return drawn


def drawn_within_in_parts(
    in_order: Whole, partition: Partition, source: RandomSource, room: Room, *, permute: bool
) -> Whole:
    """Return what `drawn_within` does, of a column that memory does not hold.

    Parameters
    ----------
    in_order, partition, source, permute
        See `drawn_within`.
    room : Room
        For what is as long as the column.

    Notes
    -----
    O(n) time, of a permutation O(n log n); in memory 64 bytes for each of `keeping.PIECE` records.

    Examples
    --------
    >>> from microveil.table.keeping import IN_MEMORY
    >>> pairs = Partition(order=np.array([2, 0, 1, 3]), sizes=np.array([2, 2]), n_records=4)
    >>> values, source = np.array([5, 5, 9, 9]), RandomSource.seeded(1)
    >>> drawn_within_in_parts(values, pairs, source, IN_MEMORY, permute=True)
    array([5, 9, 5, 9])
    """
    n_records, targets = len(in_order), partition.order
    made = _permuted if permute else _replaced
    chosen = room.filling(n_records, targets.dtype)
    for start, places in made(partition.sizes, source, n_records, room):
        chosen.write(start, places)
        room.relieve()
    return moved_in_parts(in_order, chosen, targets, room)


def _replaced(
    sizes: Whole, source: RandomSource, n_records: int, room: Room
) -> Iterator[tuple[int, Whole]]:
    """Draw a place of its cluster for each place, some after others."""
    draws = InParts(source, n_records, room)
    for run, members in runs_of_clusters(sizes):
        own = sizes[run]
        if members.stop - members.start <= keeping.PIECE:
            starts = np.repeat(members.start + np.cumsum(own) - own, own)
            yield members.start, starts + draws.uniform(np.repeat(own, own))
            continue
        for some in pieces(int(own[0])):
            bounds = np.full(some.stop - some.start, own[0])
            yield members.start + some.start, members.start + draws.uniform(bounds)


def _permuted(
    sizes: Whole, source: RandomSource, _n_records: int, room: Room
) -> Iterator[tuple[int, Whole]]:
    """Put the places of each cluster in the order of random words."""
    for run, members in runs_of_clusters(sizes):
        own = sizes[run]
        if members.stop - members.start <= keeping.PIECE:
            cluster = np.repeat(np.arange(len(own)), own)
            words = source.words(members.stop - members.start)
            yield members.start, members.start + np.lexsort((words, cluster))
            continue
        keys = room.filling(int(own[0]), np.int64)
        for some in pieces(int(own[0])):
            words = source.words(some.stop - some.start)
            keys.write(some.start, (words ^ SIGN).view(np.int64))
        order, _ = rank_in_parts(keys.array(), room)
        for some in pieces(len(order)):
            yield members.start + some.start, members.start + order[some].astype(np.int64)
