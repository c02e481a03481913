"""The engine of a Spark cluster: the table stays there, cluster summaries come to the driver.

What the driver decides and draws is decided and drawn by the code of every engine, on summaries
that equal those in memory. Nothing is random in a task, which Spark may carry out twice: what is
drawn for each record is a function of a key and of the record's number.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn, TypeVar, cast

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from microveil.engines import spark_chunks as chunks
from microveil.engines import spark_synthesis as synthesis
from microveil.engines import spark_tasks as tasks
from microveil.engines.base import (
    Binned,
    Clusters,
    Column,
    GridRules,
    NewRecords,
    Ranked,
    RecordLaw,
)
from microveil.engines.registry import is_of_spark
from microveil.engines.spark_columns import SparkColumn, SparkMissing, SparkValues
from microveil.engines.spark_order import SparkCells, SparkOrder, ordered, summarised
from microveil.engines.spark_records import DrawnCells, counted, summed
from microveil.engines.spark_scratch import SparkScratch, lost_records
from microveil.engines.spark_table import SparkFiles, SparkTable, refused
from microveil.errors import DataError, EngineError, RequestError
from microveil.noise.noise import RandomSource
from microveil.partition import Partition
from microveil.partition.quantiles import Candidates, Codes
from microveil.partition.ranking import RankingCuts
from microveil.schema import Attribute, Cells
from microveil.synthesis.axes import Axis
from microveil.table import GridColumn, Numbers, Table
from microveil.table.gridding import missing_error, outside_error
from microveil.table.threads import in_threads

__all__ = ["MOST_CLUSTERS", "SparkEngine"]

Item = TypeVar("Item")
Value = TypeVar("Value")
Whole = NDArray[np.int64]

# Summaries and plans of so many clusters of one attribute take 1 to 2 GB, by their arrays.
MOST_CLUSTERS = 10_000_000
# Columns that are worked on at a time, and the most clusters of each.
TOGETHER, MOST_TOGETHER = 2, 2_000_000
# Arguments that this engine has no way for, with what would do.
WITHOUT: Mapping[str, tuple[str, str]] = {
    "parts": ("makes releases of one part", "make a release for each part's attributes"),
    "unit": ("does not protect units", "leave it out, and a record is what is protected"),
    "shuffle": ("does not put rows in a secret order", "leave it out, or shuffle the release"),
    "isotonic": ("does not measure the linkage that it invites", "leave it out"),
    "missing_codes": ("takes no codes for missing values", "make such cells null first"),
    "missing_values": ("takes no text for missing values", "make such cells null first"),
}


class SparkEngine:
    """Ranks, summarises and joins in Spark; see `Engine` for what each step promises.

    Parameters
    ----------
    scratch : str or Path, optional
        A folder that the driver and all executors see; where the session is a local one by
        default among temporary files.
    record_id : str, optional
        The column that decides between records of equal values; of files it is by default the
        place of a row in them.
    """

    memory: int | None = None
    in_process = False
    n_candidates = synthesis.N_CANDIDATES

    def __init__(self, *, scratch: str | Path | None = None, record_id: str | None = None) -> None:
        self._folder, self._record_id = scratch, record_id
        self._scratch: SparkScratch | None = None
        self._taken_in: SparkTable | None = None

    @property
    def _files(self) -> SparkScratch:
        assert self._scratch is not None  # noqa: S101 -- a table was taken in before any step
        return self._scratch

    def table(self, given: Any, asked: Mapping[str, Any]) -> SparkTable:
        """Write the columns that are looked at to the scratch folder, with the record id."""
        of_files = isinstance(given, SparkFiles)
        if not of_files and not is_of_spark(given):
            raise RequestError(
                "table", "the engine of Spark takes a Spark data frame", "leave out the engine"
            )
        for name, (what, instead) in WITHOUT.items():
            if asked.get(name):
                raise refused(what, instead)
        if "auto" in (asked.get("k"), asked.get("method")):
            raise refused("weighs no requests", "choose k and method, by a sample for example")
        if self._record_id is None and not of_files:
            raise EngineError(
                "record_id",
                "rows of a Spark frame are in no order, and something public must decide between "
                "records of equal values",
                "name a column that is different in each record: record_id='ID'",
            )
        if asked.get("attributes") is None:
            raise EngineError(
                "attributes",
                "columns are not looked through in Spark to see which are numbers of people",
                "name those to protect (attributes=)",
            )
        frame = given.frame if of_files else given
        self._scratch = SparkScratch(frame.sparkSession, self._folder)
        named = {*_listed(asked["attributes"]), *_listed(asked.get("keep") or ())}
        files = given.files if of_files else ()
        self._taken_in = SparkTable(frame, self._scratch, self._record_id, named, files)
        return self._taken_in

    def end(self) -> None:
        """Remove what was written between steps."""
        if self._scratch is not None:
            self._scratch.end()

    def side_by_side(
        self,
        work: Callable[[Item], Value],
        items: Sequence[Item],
        n_values: int,
        n_clusters: int = 0,
    ) -> list[Value]:
        """Work on two at a time: what the driver does of one need not wait for tasks of another.

        Of many clusters one after another: the driver takes some 150 bytes for each of a column,
        and as many are counted for every column as records without a missing value would have.
        """
        from pyspark import inheritable_thread_target

        if n_clusters > MOST_TOGETHER * len(items):
            return [work(item) for item in items]
        # Jobs of a thread are of the caller's group, pool and tags: each has a copy of its own,
        # in which Spark notes what the thread is at.
        session = self._files.spark
        begun = [inheritable_thread_target(session)(partial(work, item)) for item in items]
        return in_threads(lambda go_on: go_on(), begun, n_values, n_clusters, at_once=TOGETHER)

    def holds_records(self, column: Column) -> bool:
        """Return False: no process holds them."""
        del column
        return False

    def empty(self, n_records: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        """Refuse: nothing is filled here but what Spark fills."""
        del n_records, dtype
        raise _other_methods()

    def kept(self, value: Value) -> Value:
        """Leave it where it is."""
        return value

    def joined(self, n_records: int, made: Callable[[slice], Value]) -> Value:
        """Make all of it at once: what is made here stands for what Spark has."""
        return made(slice(0, n_records))

    def seen_as(self, column: Value, values: NDArray[Any]) -> Value | None:
        """Return None: Spark has columns."""
        del column, values
        return None

    def gridded(self, table: Table, attribute: Attribute, rules: GridRules) -> GridColumn:
        """Check a column in one pass; it is rounded anew, and alike, where it is needed."""
        if not isinstance(table, SparkTable):
            raise refused("reads Spark frames, for protect alone")
        cells = table.cells(attribute.name)
        rounding = tasks.Rounding(attribute=attribute, clamp=rules.clamp)
        found = self._checked(cells, rounding)
        n_missing, n_infinite = found["missing"], found["infinite"]
        if not rules.keep_missing:
            for count, infinite in ((n_missing, False), (n_infinite, True)):
                if count:
                    raise missing_error(
                        attribute,
                        _counted(count),
                        infinite=infinite,
                        may_be_hidden=rules.may_be_hidden,
                    )
        if found["outside"]:
            raise outside_error(attribute, _counted(found["outside"]))
        if not found["present"] and not rules.may_be_empty:
            raise DataError(attribute.place, "every value is missing", "leave the attribute out")
        values = SparkValues(
            frame=cells,
            rounding=rounding,
            count=found["present"],
            least=found["least"],
            greatest=found["greatest"],
            some=np.concatenate([each.reshape(2, -1) for each in found["some"]], 1),
        )
        absent = n_missing + n_infinite
        return GridColumn(
            attribute=attribute,
            values=cast("Whole", values),
            missing=cast("NDArray[np.bool_]", SparkMissing(count=absent)) if absent else None,
        )

    def _checked(self, cells: Any, rounding: tasks.Rounding) -> dict[str, Any]:
        each = self._files.mapped(cells, tasks.checked(rounding, chunks.STEP), tasks.CHECKED)
        fetched = self._files.fetched(each)
        rules = fetched.select(["rule", "remedy"]).drop_null().to_pylist()
        if rules:
            raise DataError(rounding.attribute.place, **max(rules, key=lambda one: one["rule"]))
        counts = ("present", "missing", "infinite", "outside")
        found: dict[str, Any] = {name: int(fetched[name].to_numpy().sum()) for name in counts}
        found["least"], found["greatest"] = (
            pc.min(fetched["least"]).as_py(), pc.max(fetched["greatest"]).as_py()
        )  # fmt: skip
        found["some"] = [
            chunks.whole_numbers(row["some"]) for row in chunks.each_row(fetched.to_batches())
        ]
        return found

    def column(self, column: GridColumn) -> SparkColumn:
        """Hold a column: nothing is computed."""
        return SparkColumn(grid=column)

    def extremes(self, column: Column) -> tuple[int, int]:
        """Return what was found as the column was checked."""
        values = _of(column).values
        return values.least, values.greatest

    def held(self, column: Column) -> GridColumn:
        """Return the column, whose values stay where they are."""
        return _of(column).grid

    def counts(self, column: Column) -> Whole:
        """Count in one pass; of a domain, which is public, so many counts come to the driver."""
        from pyspark.sql import functions as sql

        values = _of(column).values
        lower, upper = column.attribute.grid_bounds or self.extremes(column)
        each = self._files.mapped(
            values.frame, counted(values.rounding, lower, upper), "value bigint, count bigint"
        )
        found = self._files.fetched(each.groupBy("value").agg(sql.sum("count").alias("count")))
        counts = np.zeros(upper - lower + 1, dtype=np.int64)
        counts[found["value"].to_numpy()] = found["count"].to_numpy()
        return counts

    def summed(
        self, column: Column, figures: Callable[[Whole], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Add up in one pass, batch by batch; each partition's sums come to the driver."""
        values = _of(column).values
        each = self._files.mapped(
            values.frame, summed(values.rounding, figures), "figure bigint, total double"
        )
        found = self._files.fetched(each)
        figure, total = (found[name].to_numpy() for name in ("figure", "total"))
        return np.bincount(figure, weights=total).astype(np.float64, copy=False)

    def randomised(self, column: GridColumn, law: RecordLaw, source: RandomSource) -> Numbers:
        """Write a key, and return what stands for cells that tasks will draw by it."""
        values = cast("SparkValues", column.values)
        attribute, categories = column.attribute, column.attribute.categories
        drawn = DrawnCells(
            cells=values.frame,
            rounding=values.rounding,
            law=law,
            attribute=attribute,
            key=self._files.keys.written(source.key()),
            scratch=self._files,
        )
        return Numbers(
            values=cast("Whole", drawn),
            missing=None if law.draws_missing else column.missing,
            categories=None if categories is None else categories.words,
        )

    def coded(self, column: Column, candidates: Candidates, source: RandomSource) -> Codes:
        """Count codes in one pass: of each candidate, which is public, a count comes here."""
        values = _of(column).values
        coding = synthesis.Coding(
            candidates=candidates,
            name=column.attribute.name,
            key=self._files.keys.written(source.key()),
        )
        counts = self._counted(
            values.frame, synthesis.histogram(values.rounding, coding), candidates.count + 1
        )
        if counts.sum() != column.n_present:
            raise lost_records()
        return synthesis.HistogramOfCodes(coding=coding, ends=np.cumsum(counts))

    def binned(self, column: Column, axis: Axis, codes: Codes | None) -> Binned:
        """Say how a record's bin is found; it is where records are counted."""
        coding = codes.coding if isinstance(codes, synthesis.HistogramOfCodes) else None
        return synthesis.SparkBins(rounding=_of(column).values.rounding, axis=axis, coding=coding)

    def cross_counts(
        self, binned: Sequence[Binned], scopes: Sequence[tuple[int, ...]]
    ) -> list[Whole]:
        """Count all tables in one pass, or in a few where they have many cells."""
        bins = cast("Sequence[synthesis.SparkBins]", binned)
        table = self._taken_in
        assert table is not None  # noqa: S101 -- a table was taken in before any step
        frame = table.runs([one.rounding.attribute.name for one in bins])
        sizes = [one.n_bins for one in bins]
        found: list[Whole] = []
        for group in synthesis.groups_of_scopes(sizes, scopes):
            shapes = [[sizes[one] for one in scope] for scope in group]
            ends = np.cumsum([math.prod(shape) for shape in shapes])
            counts = self._counted(frame, synthesis.pair_tables(bins, group), int(ends[-1]))
            tables = np.split(counts, ends[:-1])
            if any(one.sum() != table.n_records for one in tables):
                raise lost_records()
            found += [one.reshape(shape) for one, shape in zip(tables, shapes, strict=True)]
        return found

    def _counted(self, frame: Any, begun: Callable[[], synthesis.Counting], n_counts: int) -> Whole:
        """Count runs of records in their tasks, add up in Spark, and take the sums."""
        each = self._files.mapped(frame, synthesis.tallied(begun, n_counts), synthesis.COUNTS)
        n_blocks = -(-n_counts // synthesis.BLOCK)
        fetched = self._files.fetched(
            self._files.mapped(
                self._files.gathered(each, n_blocks, "block"),
                synthesis.added_up,
                synthesis.COUNTS,
            )
        )
        counts = np.zeros(n_counts, dtype=np.int64)
        for row in chunks.each_row(fetched.to_batches()):
            start = row["block"].as_py() * synthesis.BLOCK
            counts[start + chunks.whole_numbers(row["cells"])] = chunks.whole_numbers(row["counts"])
        return counts

    def generated(self, records: NewRecords, seed: bytes) -> Mapping[str, Numbers]:
        """Write the seed, and return what stands for records that tasks will draw by it."""
        cells = synthesis.GeneratedCells(records=records, seed=self._files.keys.written(seed))
        stands = Numbers(values=cast("Whole", cells), missing=None)
        return dict.fromkeys(records.names, stands)

    def cluster_by_rank(self, column: Column, k: int, *, widen: bool = False) -> Ranked:
        """Sort in buckets, write these out, count, and summarise runs of ranks."""
        if widen:
            raise refused(
                "does not merge clusters of equal values",
                "choose a larger k, or dp-um, which draws noise for every cluster",
            )
        cuts = RankingCuts(n_records=column.n_present, k=k)
        if cuts.n_clusters > MOST_CLUSTERS:
            raise refused(
                f"takes summaries of at most {MOST_CLUSTERS} clusters to the driver, and these "
                f"are {cuts.n_clusters}",
                f"choose a k of {-(-cuts.n_records // MOST_CLUSTERS)} or more",
            )
        order = ordered(_of(column).values, cuts, self._files)
        clusters = summarised(order, self._files)
        partition = Partition(
            order=cast("Whole", order), sizes=clusters.sizes, n_records=cuts.n_records
        )
        return Ranked(partition=partition, clusters=clusters)

    def missing(self, column: Column) -> NDArray[np.bool_] | None:
        """Return what stands for the mask."""
        return _of(column).grid.missing

    def in_table(self, column: Column, clusters: Clusters) -> Partition:
        """Return the clusters: records are joined by their number, not by position."""
        del column
        return cast("Partition", clusters)

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """Return what stands for the column; Spark joins it when the release is written."""
        order = cast("SparkOrder", partition.order)
        return cast("Cells", SparkCells(order=order, values=values, scratch=self._files))

    def __getattr__(self, step: str) -> Callable[..., NoReturn]:
        """Refuse every other step."""
        if step.startswith("_"):
            raise AttributeError(step)

        def refuse(*_given: Any, **_more: Any) -> NoReturn:
            raise _other_methods()

        return refuse


def _of(column: Column) -> SparkColumn:
    assert isinstance(column, SparkColumn)  # noqa: S101 -- handles stay with their engine
    return column


def _listed(names: Any) -> Iterable[str]:
    return names.split(",") if isinstance(names, str) else tuple(names)


def _counted(count: int) -> str:
    return f"{count} record" + ("s" if count > 1 else "")


def _other_methods() -> EngineError:
    return refused(
        "has the ranked methods, laplace, pram and dp-synthetic alone",
        "choose dp-um, idp-ls, idp-cbls, idp-vector, ranking, laplace, pram or dp-synthetic",
    )
