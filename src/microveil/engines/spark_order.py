"""Records of a column in the order of rank, in Spark: their clusters, and cells for them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from microveil.engines import spark_buckets as sorting
from microveil.engines.base import ClusterSummary
from microveil.engines.spark_cells import Cell
from microveil.engines.spark_chunks import CELL, CHUNK, unpacked
from microveil.engines.spark_columns import SparkValues
from microveil.engines.spark_scratch import SparkScratch, lost_records
from microveil.engines.spark_table import restored
from microveil.partition.ranking import RankingCuts
from microveil.schema import Cells
from microveil.table import Numbers

__all__ = ["SparkCells", "SparkOrder", "ordered", "summarised"]


@dataclass(frozen=True, kw_only=True, eq=False)
class SparkOrder:
    """Stands for the records of a partition, cluster by cluster.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
        Of (bucket, count, units, rows): values and numbers of records, in the order of rank.
    buckets : Buckets
    """

    frame: Any
    buckets: sorting.Buckets

    def __len__(self) -> int:
        return self.buckets.cuts.n_records


@dataclass(frozen=True, kw_only=True, eq=False)
class SparkCells:
    """Stands for the array of a released column: one value for each cluster's records."""

    order: SparkOrder
    values: Cells
    scratch: SparkScratch

    def frame(self, numbers: Numbers, kind: pa.DataType) -> Any:
        """Bring the clusters' values to the buckets, and from there to the records."""
        buckets = self.order.buckets
        cells = restored(numbers, self.values, kind)
        place = self.scratch.handed_over(
            {
                bucket: pa.record_batch({CELL: cells[first:end]})
                for bucket, (first, end) in zip(buckets.starts, buckets.clusters(), strict=True)
            }
        )
        return self.scratch.mapped(
            self.order.frame.select("bucket", "rows"),
            sorting.spread(buckets, place),
            f"{CHUNK} bigint, places binary, {CELL} binary",
        )


def ordered(values: SparkValues, cuts: RankingCuts, scratch: SparkScratch) -> SparkOrder:
    """Sort in buckets, write these out, count, and return where each begins."""
    bounds = values.bounds()
    cut = scratch.mapped(
        values.frame,
        sorting.bucketed(values.rounding, bounds),
        f"bucket bigint, {CHUNK} bigint, units binary, places binary",
    )
    frame, place = scratch.placed(
        scratch.mapped(
            scratch.gathered(cut, len(bounds.units) + 1, "bucket", CHUNK),
            sorting.in_order,
            "bucket bigint, count bigint, units binary, rows binary",
        )
    )
    counts = scratch.read(place, ["bucket", "count"]).sort_by("bucket").to_pydict()
    ends = np.cumsum([0, *counts["count"]]).tolist()
    if ends[-1] != cuts.n_records:
        raise lost_records()
    starts = dict(zip(counts["bucket"], ends, strict=False))
    return SparkOrder(frame=frame, buckets=sorting.Buckets(starts=starts, cuts=cuts))


def summarised(order: SparkOrder, scratch: SparkScratch) -> ClusterSummary:
    """Take the summaries of all clusters to the driver, each made of the whole cluster."""
    buckets = order.buckets
    owned = scratch.mapped(
        order.frame.select("bucket", "units"),
        sorting.pieces(buckets),
        "owner bigint, bucket bigint, units binary",
    )
    fetched = scratch.fetched(
        scratch.mapped(
            scratch.gathered(owned, len(buckets.starts), "owner", "bucket"),
            sorting.summaries(buckets),
            "owner bigint, summary binary",
        )
    )
    by_owner = fetched.sort_by("owner").column("summary")
    found = pa.Table.from_batches(
        [unpacked(Cell(each.as_buffer()).as_buffer()) for each in by_owner]
    )
    read = {name: found[name].to_numpy() for name in found.column_names}
    if not np.array_equal(read["size"], buckets.cuts.sizes(0, buckets.cuts.n_clusters)):
        raise lost_records()
    return ClusterSummary(
        sizes=read["size"],
        sums=read["sum"],
        squares=read["squares"],
        smallest=np.stack([read[f"smallest_{nth}"] for nth in range(3)]),
        largest=np.stack([read[f"largest_{nth}"] for nth in range(3)]),
    )
