"""Clusters of one attribute by rank: a summary on the driver, and who is in them in Spark."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.errors import EngineError
from microveil.partition.ranking import ranking_sizes
from microveil.partition.runs import Clusters, summarised
from microveil.protect.spark.scratch import Scratch, lost_records
from microveil.protect.spark.table import KEY, SparkColumn, n_parts

__all__ = ["CLUSTER", "by_rank"]

CLUSTER, UNITS, PLACE = "cluster", "units", "place"
# Summaries and plans of so many clusters of one attribute take 1 to 2 GB of the driver.
MOST_CLUSTERS = 10_000_000
# Of a place so many bits count the records of one range of a sorted frame; above them is the range.
BITS = 33
ENDS = [f"{end}{nth}" for end in ("smallest", "largest") for nth in range(3)]
SUMMARY = f"{CLUSTER} bigint, size bigint, sum bigint, squares double, " + ", ".join(
    f"{name} bigint" for name in ENDS
)


def by_rank(column: SparkColumn, k: int, scratch: Scratch) -> tuple[Any, Clusters]:
    """Cluster by individual ranking as in memory, keys between ties: (key, cluster), a summary.

    Spark sorts the records in ranges, and writes which of its range each is. The counts of the
    ranges, which come to the driver, make ranks of that, and ranks say the cluster.
    """
    from pyspark.sql import functions as sql

    n_records, n_clusters = column.n_present, column.n_present // k
    if n_clusters > MOST_CLUSTERS:
        raise EngineError(
            "k",
            f"Spark takes summaries of at most {MOST_CLUSTERS} clusters to the driver, and these "
            f"are {n_clusters}",
            f"choose a k of {-(-n_records // MOST_CLUSTERS)} or more",
        )
    parts = n_parts(n_records)
    present = column.frame.select(KEY, sql.col(column.units).alias(UNITS)).dropna()
    in_order = scratch.written(
        present.repartitionByRange(parts, UNITS, KEY)
        .sortWithinPartitions(UNITS, KEY)
        .withColumn(PLACE, sql.monotonically_increasing_id())
    )
    rank = sql.col(PLACE) - _shifts(in_order, n_records, scratch)
    clustered = in_order.select(KEY, UNITS, rank.alias("rank")).select(
        KEY, UNITS, sql.expr(_cluster_of_rank(n_records, k)).alias(CLUSTER)
    )
    of_clusters = clustered.select(CLUSTER, UNITS).repartition(parts, CLUSTER)
    found = scratch.fetched(of_clusters.mapInArrow(summaries, SUMMARY)).sort_by(CLUSTER)
    return clustered.select(KEY, CLUSTER), _checked(found, ranking_sizes(n_records, k))


def _shifts(in_order: Any, n_records: int, scratch: Scratch) -> Any:
    """Return what is to be taken off the places of each range for ranks, by the ranges' counts."""
    from pyspark.sql import functions as sql

    part, place = sql.shiftright(PLACE, BITS), sql.col(PLACE).bitwiseAND((1 << BITS) - 1)
    counted = sql.count(UNITS).alias("count"), sql.max(place).alias("last")
    counts = scratch.fetched(in_order.groupBy(part.alias("part")).agg(*counted)).sort_by("part")
    parts, sizes, last = (counts[name].to_numpy() for name in ("part", "count", "last"))
    if sizes.sum() != n_records or not np.array_equal(last, sizes - 1):
        raise lost_records()
    shifts = np.zeros(int(parts[-1]) + 1, dtype=np.int64)
    shifts[parts] = (parts << BITS) - (np.cumsum(sizes) - sizes)
    of_part = sql.array(*(sql.lit(shift).cast("bigint") for shift in shifts.tolist()))
    return sql.element_at(of_part, part.cast("int") + 1)


def _cluster_of_rank(n_records: int, k: int) -> str:
    """Return the cluster of a rank as Spark works it out, see `ranking_sizes`.

    >>> _cluster_of_rank(11, 3)
    'if(rank >= 8, (rank - 2) div 3, least(rank div 3, 1))'
    """
    middle, rest = n_records // k // 2, n_records % k
    behind, before = f"(rank - {rest}) div {k}", f"least(rank div {k}, {middle})"
    return f"if(rank >= {(middle + 1) * k + rest}, {behind}, {before})"


def summaries(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Summarise the clusters that a task has, each of them whole, by the kernel of memory."""
    if every := [*batches]:
        table = pa.Table.from_batches(every)
        cluster, units = table[CLUSTER].to_numpy(), table[UNITS].to_numpy()
        numbers, sizes = np.unique(cluster, return_counts=True)
        found = summarised(units[np.lexsort((units, cluster))], sizes)
        columns = (numbers, sizes, found.sums, found.squares, *found.smallest, *found.largest)
        names = [CLUSTER, "size", "sum", "squares", *ENDS]
        yield pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names)


def _checked(found: pa.Table, sizes: NDArray[np.int64]) -> Clusters:
    """Return the summary of all clusters; refuse one that is not theirs, in their order."""
    columns = {name: found[name].to_numpy() for name in found.column_names}
    smallest, largest = (np.stack([columns[name] for name in own]) for own in (ENDS[:3], ENDS[3:]))
    is_whole = np.array_equal(columns[CLUSTER], np.arange(len(sizes)))
    is_whole &= np.array_equal(columns["size"], sizes)
    if not is_whole or (largest[0, :-1] > smallest[0, 1:]).any():
        raise lost_records()
    sums, squares = columns["sum"], columns["squares"]
    return Clusters(sizes=sizes, sums=sums, squares=squares, smallest=smallest, largest=largest)
