"""Clusters of one attribute by rank: a summary on the driver, and where each of them begins.

Records are in the order of their values, and of their numbers where these are equal. Tasks share
them out by ranges of that order, which the driver chooses by a sample. The counts of the ranges
make ranks, and what a range has of a cluster is summarised in one task. A record is then found in
its cluster by value and number: nothing is joined.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.errors import EngineError
from microveil.kernels import ranking as kernel
from microveil.partition.ranking import Clusters, ranking_sizes, summarised
from microveil.protect.spark.scratch import Scratch, lost_records
from microveil.protect.spark.table import NUMBER, Batches, SparkColumn, n_parts

Whole = NDArray[np.int64]
UNITS, RANGE, COUNT, RANK = "units", "range", "count", "rank"
# Summaries and plans of so many clusters of one attribute take 1 to 2 GB of the driver.
MOST_CLUSTERS = 10_000_000
# Records of the sample for each range: ranges are then within a third of each other or so.
SAMPLED = 100
# Records of one range, as bytes: Spark moves few rows, whatever their length.
SHARE = f"{RANGE} bigint, {COUNT} bigint, {UNITS} binary, {NUMBER} binary"
ENDS = [f"{end}{nth}" for end in ("smallest", "largest") for nth in range(3)]
FIGURES = [RANK, NUMBER, "size", "sum", *ENDS]
SUMMARY = "squares double, " + ", ".join(f"{name} bigint" for name in FIGURES)


class Starts(NamedTuple):
    """The value and the number of the first record of each stretch of an order, ascending."""

    units: Whole
    numbers: Whole

    def places(self, units: Whole, numbers: Whole) -> Whole:
        """Return the stretch of each record; -1 before the first one."""
        places = np.empty(len(units), dtype=np.int64)
        kernel.place(units, numbers, *self, places)
        return places


def by_rank(column: SparkColumn, k: int, scratch: Scratch) -> tuple[Clusters, Starts]:
    """Cluster by individual ranking as in memory: a summary, and the first record of each."""
    from pyspark.sql import functions as sql

    n_records, n_clusters = column.n_present, column.n_present // k
    if n_clusters > MOST_CLUSTERS:
        raise EngineError(
            "k",
            f"Spark takes summaries of at most {MOST_CLUSTERS} clusters to the driver, and these "
            f"are {n_clusters}",
            f"choose a k of {-(-n_records // MOST_CLUSTERS)} or more",
        )
    n_ranges = n_parts(n_records)
    present = column.frame.select(NUMBER, sql.col(column.units).alias(UNITS)).dropna()
    sample = scratch.fetched(present.sample(min(1.0, SAMPLED * n_ranges / n_records)))
    in_order = sample.sort_by([(UNITS, "ascending"), (NUMBER, "ascending")])
    own = in_order.take(np.arange(1, n_ranges) * len(sample) // n_ranges)
    splits = Starts(own[UNITS].to_numpy(), own[NUMBER].to_numpy())  # of all but the first one
    shares = scratch.written(present.mapInArrow(shared(splits), SHARE))
    counted = scratch.fetched(shares.select(RANGE, COUNT))
    counts = np.zeros(n_ranges, dtype=np.int64)
    np.add.at(counts, counted[RANGE].to_numpy(), counted[COUNT].to_numpy())
    sizes = ranking_sizes(n_records, k)
    of_ranges = shares.repartition(n_ranges, RANGE)
    found = of_ranges.mapInArrow(summaries(np.cumsum(counts) - counts, n_records, k), SUMMARY)
    return joined(scratch.fetched(found), sizes)


def shared(splits: Starts) -> Callable[[Batches], Batches]:
    """Make the task that shares its records out by ranges, a row for each."""

    def task(batches: Batches) -> Batches:
        if every := [*batches]:
            table = pa.Table.from_batches(every)
            units, numbers = table[UNITS].to_numpy(), table[NUMBER].to_numpy()
            places = splits.places(units, numbers) + 1
            order = np.argsort(places, kind="stable")
            ranges, counts = np.unique(places, return_counts=True)
            ends = np.cumsum(counts)[:-1]
            rows = [[own.tobytes() for own in np.split(cells[order], ends)]
                    for cells in (units, numbers)]  # fmt: skip
            own = [pa.array(cells, pa.binary()) for cells in rows]
            names = [RANGE, COUNT, UNITS, NUMBER]
            yield pa.RecordBatch.from_arrays([pa.array(ranges), pa.array(counts), *own], names)

    return task


def summaries(firsts: Whole, n_records: int, k: int) -> Callable[[Batches], Batches]:
    """Make the task that summarises what its ranges have of each cluster, by the kernel of memory.

    ``firsts`` are the ranks at which the ranges begin.
    """

    def task(batches: Batches) -> Batches:
        rows = [row for batch in batches for row in batch.to_pylist()]
        ends = np.cumsum(ranking_sizes(n_records, k))
        for one in {row[RANGE] for row in rows}:
            units, numbers = (
                np.frombuffer(b"".join(row[name] for row in rows if row[RANGE] == one), np.int64)
                for name in (UNITS, NUMBER)
            )
            order, first = np.lexsort((numbers, units)), firsts[one]
            stop = first + len(order)
            inner = ends[np.searchsorted(ends, first, "right") : np.searchsorted(ends, stop)]
            ranks = np.concatenate([[first], inner])
            found = summarised(units[order], np.diff(ranks, append=stop))
            sizes, own = found.sizes, numbers[order[ranks - first]]
            columns = [ranks, own, sizes, found.sums, *found.smallest, *found.largest]
            arrays = [pa.array(column) for column in (found.squares, *columns)]
            yield pa.RecordBatch.from_arrays(arrays, ["squares", *FIGURES])

    return task


def joined(found: pa.Table, sizes: Whole) -> tuple[Clusters, Starts]:
    """Put together what ranges have of clusters; refuse what is not all of them, in their order."""
    in_order = found.sort_by(RANK)
    of = {name: in_order[name].to_numpy() for name in found.column_names}
    own, firsts = of["size"], np.cumsum(sizes) - sizes
    is_whole = np.array_equal(of[RANK], np.cumsum(own) - own) and own.sum() == sizes.sum()
    if not is_whole or not np.isin(firsts, of[RANK]).all():
        raise lost_records()
    begins = np.searchsorted(of[RANK], firsts)
    n_own = np.diff(begins, append=len(own))
    sums = np.add.reduceat(of["sum"], begins)
    apart = of["sum"] / own - np.repeat(sums / sizes, n_own)
    squares = np.add.reduceat(of["squares"] + own * apart**2, begins)
    low, high = (np.stack([of[name] for name in some]) for some in (ENDS[:3], ENDS[3:]))
    smallest, largest = low[:, begins], high[:, begins + n_own - 1]
    for one in np.flatnonzero(n_own > 1):
        pieces = np.arange(begins[one], begins[one] + n_own[one])
        smallest[:, one] = _three(low, own, pieces)
        largest[:, one] = _three(high, own, pieces[::-1])
    if (largest[0, :-1] > smallest[0, 1:]).any():
        raise lost_records()
    clusters = Clusters(sizes=sizes, sums=sums, squares=squares, smallest=smallest, largest=largest)
    return clusters, Starts(smallest[0], of[NUMBER][begins])


def _three(ends: Whole, sizes: Whole, pieces: Whole) -> Whole:
    """Return the first three values of pieces in a row; of fewer, the last one again."""
    values = np.concatenate([ends[: sizes[piece], piece] for piece in pieces])
    return values[np.minimum(np.arange(3), len(values) - 1)]
