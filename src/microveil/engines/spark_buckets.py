"""Buckets of a column in Spark: which records are in each, in order, and what clusters hold.

Each function makes a task for `mapInArrow`, or is one; see `spark_tasks`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.engines.local import summarised
from microveil.engines.spark_cells import Batches, Task, as_written
from microveil.engines.spark_chunks import (
    CELL,
    CHUNK,
    bytes_of,
    bytes_of_places,
    chunks_and_places,
    each_row,
    packed,
    packed_cells,
    places_in,
    row_numbers,
    together,
    unpacked,
    unpacked_cells,
    whole_numbers,
)
from microveil.engines.spark_tasks import Rounding, ranked
from microveil.partition.ranking import RankingCuts, rank_order

__all__ = ["Bounds", "Buckets", "bucketed", "in_order", "pieces", "spread", "summaries"]

Whole = NDArray[np.int64]
# Bytes of a whole number in a cell.
WIDTH = 8


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bounds:
    """Where buckets of values begin, but the first: at a value, and at a record of those alike.

    Attributes
    ----------
    units, rows : int64 arrays (n_buckets - 1,)
        Ascending, by unit and then by the record's number.
    """

    units: Whole
    rows: Whole

    def cuts(self, units: Whole, rows: Whole) -> Whole:
        """Return where each bucket begins among records in this order: (n_buckets - 1,).

        >>> bounds = Bounds(units=np.array([4, 4]), rows=np.array([2, 7]))
        >>> bounds.cuts(np.array([3, 4, 4, 4, 5]), np.array([9, 1, 2, 8, 0])).tolist()
        [2, 3]
        """
        cuts = np.searchsorted(units, self.units)
        ends = np.searchsorted(units, self.units, side="right")
        for nth in np.flatnonzero(ends > cuts):
            alike = rows[cuts[nth] : ends[nth]]
            cuts[nth] += np.searchsorted(alike, self.rows[nth])
        return cuts


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Buckets:
    """Which ranks the buckets of an attribute hold, and how the ranks are cut into clusters.

    Attributes
    ----------
    starts : dict
        The first rank of each bucket that holds any, by its number, ascending.
    cuts : RankingCuts
    """

    starts: dict[int, int]
    cuts: RankingCuts

    def holding(self, rank: int) -> int:
        """Return the bucket of a rank.

        >>> Buckets(starts={0: 0, 2: 5}, cuts=RankingCuts(n_records=9, k=3)).holding(4)
        0
        """
        numbers, starts = [*self.starts], [*self.starts.values()]
        return numbers[int(np.searchsorted(starts, rank, side="right")) - 1]

    def first_begun(self, bucket: int) -> int:
        """Return the first cluster that begins in a bucket, or after it.

        >>> Buckets(starts={0: 0, 2: 5}, cuts=RankingCuts(n_records=9, k=3)).first_begun(2)
        2
        """
        cluster = self.cuts.holding(self.starts[bucket])
        return cluster + (self.cuts.start(cluster) < self.starts[bucket])

    def clusters(self) -> Iterator[tuple[int, int]]:
        """Give the first cluster that each bucket holds a record of, and the one after its last.

        >>> buckets = Buckets(starts={0: 0, 2: 5}, cuts=RankingCuts(n_records=9, k=3))
        >>> list(buckets.clusters())
        [(0, 2), (1, 3)]
        """
        starts = [*self.starts.values()]
        for start, end in zip(starts, [*starts[1:], self.cuts.n_records], strict=True):
            yield self.cuts.holding(start), self.cuts.holding(end - 1) + 1


def bucketed(rounding: Rounding, bounds: Bounds) -> Task:
    """Sort each run, and cut it by bucket."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            rows, units = ranked(row, rounding.on_grid(unpacked_cells(row[CELL]))[0])
            _, places = chunks_and_places(rows)
            edges = [0, *bounds.cuts(units, rows).tolist(), len(rows)]
            held = [nth for nth in range(len(edges) - 1) if edges[nth] < edges[nth + 1]]
            cut = [slice(edges[nth], edges[nth + 1]) for nth in held]
            yield pa.RecordBatch.from_pydict(
                {
                    "bucket": pa.array(held, pa.int64()),
                    CHUNK: pa.array([row[CHUNK].as_py()] * len(held), pa.int64()),
                    "units": bytes_of(units[part] for part in cut),
                    "places": bytes_of_places(places[part] for part in cut),
                }
            )

    return task


def in_order(batches: Batches) -> Batches:
    """Sort each bucket, whose runs come one after another: ties go by the record's number."""
    for bucket, runs in together(batches, "bucket"):
        units = np.concatenate([whole_numbers(run["units"]) for run in runs])
        rows = np.concatenate(
            [row_numbers(run[CHUNK].as_py(), places_in(run["places"])) for run in runs]
        )
        order, sorted_units = rank_order(units)
        yield pa.RecordBatch.from_pydict(
            {
                "bucket": [bucket],
                "count": [len(rows)],
                "units": bytes_of([sorted_units]),
                "rows": bytes_of([rows[order]]),
            }
        )


def pieces(buckets: Buckets) -> Task:
    """Give the values of each bucket, which stay in its file, to that where clusters begin."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            bucket, units = row["bucket"].as_py(), row["units"]
            start, cuts, size = buckets.starts[bucket], buckets.cuts, units.size // WIDTH
            first = buckets.first_begun(bucket)
            head = min(cuts.start(first) - start, size)
            owners = [buckets.holding(cuts.start(first - 1))] if head else []
            edges = [0, head] if head else [0]
            if head < size:
                owners, edges = [*owners, bucket], [*edges, size]
            yield as_written(
                {
                    "owner": pa.array(owners, pa.int64()),
                    "bucket": pa.array([bucket] * len(owners), pa.int64()),
                    "units": [
                        units.part(begun * WIDTH, end * WIDTH) for begun, end in pairwise(edges)
                    ],
                }
            )

    return task


def summaries(buckets: Buckets) -> Task:
    """Summarise the clusters that begin in each bucket, of their whole values in order."""

    def task(batches: Batches) -> Batches:
        for owner, parts in together(batches, "owner"):
            units = np.concatenate([whole_numbers(part["units"]) for part in parts])
            first, cuts = buckets.first_begun(owner), buckets.cuts
            end = cuts.holding(cuts.start(first) + len(units) - 1) + 1
            found = summarised(units, cuts.sizes(first, end))
            ends = {f"smallest_{nth}": found.smallest[nth] for nth in range(3)}
            ends |= {f"largest_{nth}": found.largest[nth] for nth in range(3)}
            columns = {"size": found.sizes, "sum": found.sums, "squares": found.squares, **ends}
            summary = packed(pa.RecordBatch.from_pydict(columns))
            yield pa.RecordBatch.from_pylist([{"owner": owner, "summary": summary}])

    return task


def spread(buckets: Buckets, cells: Path) -> Task:
    """Give the cells of a bucket's clusters to their records, by the runs that these are in.

    A worker takes those of a bucket, one for each cluster, from its file in a folder.
    """

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            bucket, rows = row["bucket"].as_py(), whole_numbers(row["rows"])
            ranks = buckets.starts[bucket] + np.arange(len(rows))
            clusters = buckets.cuts.clusters(ranks)
            of_clusters = unpacked((cells / f"{bucket}").read_bytes()).column(0)
            order, rows = rank_order(rows)
            yield _by_chunk(rows, of_clusters.take(pa.array(clusters[order] - clusters[0])))

    return task


def _by_chunk(rows: Whole, cells: pa.Array) -> pa.RecordBatch:
    """Cut cells of records, which come by number, into those of each run."""
    chunks, places = chunks_and_places(rows)
    edges = [0, *(np.flatnonzero(np.diff(chunks)) + 1).tolist(), len(rows)]
    cut = [slice(*pair) for pair in pairwise(edges)]
    return pa.RecordBatch.from_pydict(
        {
            CHUNK: chunks[edges[:-1]],
            "places": bytes_of_places(places[part] for part in cut),
            CELL: pa.array(
                [packed_cells(cells[part]) for part in cut],
                pa.binary(),
            ),
        }
    )
