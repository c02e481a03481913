"""The engine of one machine: numpy arrays and compiled kernels."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import (
    Binned,
    Clusters,
    ClusterSummary,
    Column,
    GridRules,
    Grouped,
    NewRecords,
    Ranked,
    RecordLaw,
    ValueLaw,
    Widening,
)
from microveil.engines.handles import (
    LocalBins,
    LocalCodes,
    LocalColumn,
    are_ranked,
    domains_of,
    listed,
    local_bins,
    local_column,
)
from microveil.kernels import counts as counting
from microveil.kernels import ranking as kernel
from microveil.noise.joint_shifts import JointShifts, joint_shifts
from microveil.noise.keyed import InOneStream
from microveil.noise.noise import RandomSource, permutation
from microveil.noise.within_clusters import drawn_within
from microveil.partition import (
    Intervals,
    Partition,
    intervals,
    noise_aware_sizes,
    optimal_sizes,
    rank_order,
    ranking_sizes,
    singletons,
    vector_aware_sizes,
    widened_sizes,
)
from microveil.partition.mdav import joint_partition
from microveil.partition.quantiles import Candidates, Codes
from microveil.schema import Attribute, Cells
from microveil.synthesis.axes import Axis
from microveil.table import GridColumn, Numbers, Table, numbers_of_attribute, on_grid, spread
from microveil.table.keeping import pieces
from microveil.table.ordering import Order, OrderInMemory
from microveil.table.sorting import sort, sorted_values
from microveil.table.threads import in_threads

__all__ = ["LocalEngine", "summarised", "unsummarised"]

Item = TypeVar("Item")
Result = TypeVar("Result")
Whole = NDArray[np.int64]

# Records put into bins at a time.
BATCH = 1 << 18


class LocalEngine:
    """Columns in memory; see `Engine` for what each step promises."""

    memory: int | None = None
    in_process = True
    # Codes are sorted: of any number of candidates only the runs between two codes matter.
    n_candidates = 1 << 40

    def table(self, given: Any, asked: Mapping[str, Any]) -> Any:
        """Return it as it is."""
        del asked
        return given

    def end(self) -> None:
        """Leave it to Python: nothing is held outside this process."""

    def column_memory(
        self, n_records: int, n_clusters: int, in_parts: int | None = None
    ) -> int | None:
        """Return None: all columns are in memory."""
        del n_records, n_clusters, in_parts
        return None

    def order_memory(self, n_records: int) -> int | None:
        """Return None: all columns are in memory."""
        del n_records
        return None

    def random_order(self, n_records: int, source: RandomSource) -> Order:
        """Draw it at once: 8 bytes for a record."""
        return OrderInMemory(positions=permutation(n_records, source))

    def holds_records(self, column: Column) -> bool:
        """Return True: all columns are in memory."""
        del column
        return True

    def side_by_side(
        self,
        work: Callable[[Item], Result],
        items: Sequence[Item],
        n_values: int,
        n_clusters: int = 0,
    ) -> list[Result]:
        """Work on all of them in threads: sorting and the kernels let go of the interpreter."""
        return in_threads(work, items, n_values, n_clusters)

    def kept(self, value: Result) -> Result:
        """Leave it where it is."""
        return value

    def joined(self, n_records: int, made: Callable[[slice], Result]) -> Result:
        """Make all of it at once."""
        return made(slice(0, n_records))

    def seen_as(self, column: Result, values: NDArray[Any]) -> Result | None:
        """Return None: a column has memory of its own."""
        del column, values
        return None

    def sorted_values(
        self, n_records: int, made: Callable[[slice], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Make some after others, and sort: O(n), the memory that those made take."""
        # Of what is made only a part may be taken: no copy holds on to the rest.
        parts = deque(made(piece).copy() for piece in pieces(n_records))
        values, done = np.empty(sum(map(len, parts))), 0
        while parts:  # each goes as soon as it stands among the others
            own = parts.popleft()
            values[done : done + len(own)] = own
            done += len(own)
        sort(values)
        return values

    def empty(self, n_records: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        """Take it of the memory."""
        return np.empty(n_records, dtype)

    def gridded(self, table: Table, attribute: Attribute, rules: GridRules) -> GridColumn:
        """Read, round and check: O(n)."""
        numbers = numbers_of_attribute(table, attribute, shared=rules.shared)
        return on_grid(
            numbers,
            attribute,
            keep_missing=rules.keep_missing,
            clamp=rules.clamp,
            may_be_empty=rules.may_be_empty,
            may_be_hidden=rules.may_be_hidden,
        )

    def column(self, column: GridColumn) -> LocalColumn:
        """Hold a column: nothing is copied."""
        return LocalColumn(grid=column)

    def complete(self, columns: Sequence[Column]) -> Sequence[LocalColumn]:
        """Gather where a value is missing, else the columns as they are: O(n) for each."""
        held = [local_column(column) for column in columns]
        masks = [one.grid.missing for one in held if one.grid.missing is not None]
        if not masks:
            return held
        missing = np.logical_or.reduce(masks)
        return [
            LocalColumn(
                grid=replace(
                    one.grid,
                    values=np.asarray(
                        spread(one.values, one.grid.missing)[~missing], dtype=np.int64
                    ),
                    missing=missing,
                )
            )
            for one in held
        ]

    def extremes(self, column: Column) -> tuple[int, int]:
        """Look once through the column."""
        return local_column(column).extremes

    def counts(self, column: Column) -> Whole:
        """Count: O(n + width of the domain)."""
        lower, upper = column.attribute.grid_bounds or self.extremes(column)
        units = np.subtract(local_column(column).values, lower, dtype=np.int64)
        return np.bincount(units, minlength=upper - lower + 1)

    def summed(
        self, column: Column, figures: Callable[[Whole], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Make them of all values at once."""
        return figures(local_column(column).values)

    def rank(self, column: Column) -> tuple[NDArray[np.integer], Whole]:
        """Rank one column: O(n log n), about two columns of memory."""
        return rank_order(local_column(column).grid.values)

    def cluster_by_rank(self, column: Column, k: int, *, widen: bool = False) -> Ranked:
        """Rank, cut into runs, summarise: O(n log n), about two columns of memory."""
        order, in_order = self.rank(column)
        sizes = ranking_sizes(column.n_present, k)
        joined = widened_sizes(in_order, sizes) if widen else sizes
        if len(joined) == len(sizes):
            return _cut(order, in_order, sizes)
        # Summaries of both are not at hand together: they take as much as the column.
        before = Widening(
            clusters_before=len(sizes),
            squares_before=float(summarised(in_order, sizes).squares.sum()),
        )
        return replace(_cut(order, in_order, joined), widening=before)

    def singletons(self, column: Column) -> Ranked:
        """Every record its own cluster: no memory but the order."""
        values = local_column(column).values
        partition = singletons(len(values))
        thrice = np.broadcast_to(values, (3, len(values)))
        clusters = ClusterSummary(
            sizes=partition.sizes,
            sums=values,
            squares=np.broadcast_to(0.0, len(values)),
            smallest=thrice,
            largest=thrice,
        )
        return Ranked(partition=partition, clusters=clusters)

    def cluster_optimally(self, column: Column, k: int) -> Ranked:
        """Sort, then the recurrence: O(n log n)."""
        order, in_order = self.rank(column)
        return _cut(order, in_order, optimal_sizes(in_order, k))

    def cluster_noise_aware(self, column: Column, k: int, penalty: float) -> Ranked:
        """Sort, then the recurrence: O(n log^2 n) at worst."""
        order, in_order = self.rank(column)
        return _cut(order, in_order, noise_aware_sizes(in_order, k, penalty))

    def cluster_vector_aware(
        self, column: Column, k: int, share: float, *, exact_allowed: bool
    ) -> Ranked:
        """Sort, then search among partitions; see `vector_aware_sizes`."""
        order, in_order = self.rank(column)
        sizes = vector_aware_sizes(in_order, k, share, exact_allowed=exact_allowed)
        return _cut(order, in_order, sizes)

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[Column],
        k: int,
        *,
        with_missing: bool = False,
        units: Whole | None = None,
    ) -> Partition:
        """Partition the matrix of the columns; see the partitions for their cost."""
        held = [local_column(column) for column in columns]
        values, masks = [column.values for column in held], None
        if with_missing:
            masks = [column.grid.missing for column in held]
            values = [
                np.asarray(spread(own, missing)) for own, missing in zip(values, masks, strict=True)
            ]
        return joint_partition(
            name, values, k, domains_of(columns), are_ranked(columns), masks, units
        )

    def having(self, column: Column, clusters: Clusters) -> Partition:
        """Renumber the records that have a value: O(n)."""
        missing, partition = local_column(column).grid.missing, listed(clusters)
        return partition if missing is None else partition.within(~missing)

    def interval_delta(
        self, column: Column, *, k: int | None, width: float | None, every: str
    ) -> float:
        """Sort and cut: O(n log n)."""
        return _intervals(column, k, width, every).delta

    def cluster_by_interval(
        self, column: Column, *, k: int | None, width: float | None, every: str
    ) -> Grouped:
        """Sort and cut, then sort by interval: O(n log n)."""
        found = _intervals(column, k, width, every)
        order = np.argsort(found.labels, kind="stable")
        sizes = found.sizes[found.sizes > 0]
        return Grouped(
            partition=Partition(order=order, sizes=sizes, n_records=len(order)),
            in_order=local_column(column).values[order],
        )

    def moments(self, column: Column, clusters: Clusters) -> tuple[Whole, NDArray[np.float64]]:
        """Gather and add: O(n)."""
        partition = listed(clusters)
        sums, squares = np.empty_like(partition.sizes), np.empty(partition.n_clusters)
        in_clusters = local_column(column).values[partition.order]
        kernel.moments(in_clusters, partition.sizes, sums, squares)
        return sums, squares

    def cluster_extremes(self, column: Column, clusters: Clusters) -> tuple[Whole, Whole]:
        """Gather and compare: O(n)."""
        partition = listed(clusters)
        in_clusters = local_column(column).values[partition.order]
        starts = np.cumsum(partition.sizes) - partition.sizes
        return np.minimum.reduceat(in_clusters, starts), np.maximum.reduceat(in_clusters, starts)

    def category_counts(self, column: Column, clusters: Clusters) -> Whole:
        """Count: O(n + n_clusters n_categories)."""
        partition = listed(clusters)
        lower, upper = column.attribute.grid_bounds or self.extremes(column)
        n_categories = upper - lower + 1
        cells = partition.labels * n_categories + (local_column(column).values - lower)
        counts = np.bincount(cells, minlength=partition.n_clusters * n_categories)
        return counts.reshape(partition.n_clusters, n_categories)

    def joint_shifts(
        self, columns: Sequence[Column], clusters: Clusters
    ) -> Callable[[], JointShifts]:
        """See `joint_shifts.joint_shifts` for its cost; none before it is called."""
        partition = listed(clusters)
        values = [local_column(column).values for column in columns]
        return partial(joint_shifts, values, partition.order, partition.sizes, domains_of(columns))

    def coded(self, column: Column, candidates: Candidates, source: RandomSource) -> "LocalCodes":
        """Sort the codes: O(n log n), two columns of memory."""
        grid = local_column(column).grid

        def parts() -> Iterator[tuple[int, Whole]]:
            for records, present, missing in _present_in_batches(grid):
                # A word for each record of the table: that one has no value moves no other's
                # jitter.
                words = source.words(records.stop - records.start)
                if missing is not None:
                    words = words[~missing]
                yield present.start, candidates.codes(grid.values[present], words)

        codes = self.filled(grid.n_present, np.dtype(np.int64), parts())
        return LocalCodes(codes=codes, in_order=self.codes_in_order(codes))

    def filled(
        self, n_values: int, dtype: "np.dtype[Any]", parts: Iterable[tuple[int, NDArray[Any]]]
    ) -> NDArray[Any]:
        """Make an array of parts, each with its first place: together they are all of it."""
        array = np.empty(n_values, dtype)
        for start, values in parts:
            array[start : start + len(values)] = values
        return array

    def codes_in_order(self, codes: Whole) -> Whole:
        """Return codes in ascending order."""
        return sorted_values(codes)

    def binned(self, column: Column, axis: Axis, codes: Codes | None) -> "LocalBins":
        """Look each record up: O(n), a byte or two for each."""
        grid = local_column(column).grid
        lower, _ = grid.attribute.grid_bounds or (0, 0)

        def found(batch: slice) -> NDArray[np.integer]:
            if axis.groups is None:
                assert isinstance(codes, LocalCodes)  # noqa: S101 -- handles stay with their engine
                assert axis.edges is not None  # noqa: S101 -- an axis has edges or groups
                return np.searchsorted(axis.edges, codes.codes[batch], side="right")
            units = np.subtract(grid.values[batch], lower, dtype=np.int64)
            return np.asarray(axis.groups[units])

        def parts() -> Iterator[tuple[int, NDArray[np.integer]]]:
            absent = axis.n_bins - 1 if axis.groups is None else int(axis.groups[-1])
            for records, present, missing in _present_in_batches(grid):
                own = found(present)
                if missing is not None:
                    all_own = np.full(len(missing), absent, dtype=own.dtype)
                    all_own[~missing] = own
                    own = all_own
                yield records.start, own

        n_records = grid.n_present if grid.missing is None else len(grid.missing)
        bins = self.filled(n_records, np.min_scalar_type(axis.n_bins - 1), parts())
        return LocalBins(bins=bins, n_bins=axis.n_bins)

    def cross_counts(
        self, binned: Sequence[Binned], scopes: Sequence[tuple[int, ...]]
    ) -> list[Whole]:
        """Count in one pass for each table, side by side: O(n + cells) each."""
        return in_threads(lambda scope: self._crossed([binned[one] for one in scope]), scopes)

    def _crossed(self, binned: Sequence[Binned]) -> Whole:
        *first, last = [local_bins(handle) for handle in binned]
        sizes = [handle.n_bins for handle in (*first, last)]
        counts = np.zeros((math.prod(sizes[:-1]), sizes[-1]), dtype=np.int64)
        for records in pieces(len(last.bins)):
            joint: NDArray[np.integer] = first[0].bins[records]
            for handle in first[1:]:
                joint = joint.astype(np.uint32) * np.uint32(handle.n_bins) + handle.bins[records]
            counting.cross_counts(joint, last.bins[records], counts)
        return counts.reshape(sizes)

    def generated(self, records: NewRecords, seed: bytes) -> Mapping[str, Numbers]:
        """Draw blocks side by side, into arrays of this process or of the disk."""
        return records.drawn(seed, self.empty, self.whole)

    def whole(self, n_records: int, made: Callable[[slice], Numbers]) -> Numbers:
        """Make all of a column at once."""
        return made(slice(0, n_records))

    def held(self, column: Column) -> GridColumn:
        """Return the column itself."""
        return local_column(column).grid

    def missing(self, column: Column) -> NDArray[np.bool_] | None:
        """Return the column's own mask."""
        return local_column(column).grid.missing

    def in_table(self, column: Column, clusters: Clusters) -> Partition:
        """Renumber the records where some have no value: O(n)."""
        missing, partition = local_column(column).grid.missing, listed(clusters)
        return partition if missing is None else partition.among(~missing)

    def everybody(self, clusters: Clusters) -> Partition:
        """Return the clusters themselves."""
        return listed(clusters)

    def randomised(self, column: GridColumn, law: RecordLaw, source: RandomSource) -> Numbers:
        """Draw them all from one stream."""
        return law.drawn(column, InOneStream(source))

    def perturbed(self, column: GridColumn, law: ValueLaw, source: RandomSource) -> Numbers:
        """Draw them all at once."""
        return law.drawn(column, InOneStream(source))

    def drawn_within(self, grouped: Grouped, source: RandomSource, *, permute: bool) -> Whole:
        """Draw them all from one stream."""
        return drawn_within(grouped.in_order, grouped.partition, source, permute=permute)

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """Scatter: O(n), one column of memory."""
        members = len(partition.order)
        make = np.empty if members == partition.n_records else np.zeros
        out = make(partition.n_records, dtype=values.dtype)
        kernel.broadcast(partition.order, partition.sizes, values, out)
        return out


def _present_in_batches(
    grid: GridColumn,
) -> Iterator[tuple[slice, slice, NDArray[np.bool_] | None]]:
    """Yield some records after others, the places of their values, and which of them have none.

    So few that temporaries stay far below a column.
    """
    done, count = 0, grid.n_present if grid.missing is None else len(grid.missing)
    for start in range(0, count, BATCH):
        records, missing = slice(start, min(start + BATCH, count)), None
        end = done + records.stop - start
        if grid.missing is not None:
            missing = grid.missing[records]
            end -= int(missing.sum())
        yield records, slice(done, end), missing
        done = end


def _intervals(column: Column, k: int | None, width: float | None, every: str) -> Intervals:
    return intervals(local_column(column).values.astype(np.float64), k=k, width=width, every=every)


def _cut(order: NDArray[np.integer], in_order: Whole, sizes: Whole) -> Ranked:
    """Cut ranked records, and their values in order, into clusters of so many each."""
    return Ranked(
        partition=Partition(order=order, sizes=sizes, n_records=len(order)),
        clusters=summarised(in_order, sizes),
    )


def summarised(in_order: Whole, sizes: Whole) -> ClusterSummary:
    """Summarise clusters of so many values each, which follow each other in ascending order.

    >>> summarised(np.array([1, 2, 6]), np.array([2, 1])).sums
    array([3, 6])
    """
    clusters = unsummarised(sizes)
    kernel.summarise(
        in_order, sizes, clusters.sums, clusters.squares, clusters.smallest, clusters.largest
    )
    return clusters


def unsummarised(sizes: Whole) -> ClusterSummary:
    """Make the summaries of clusters of so many values, to be filled."""
    return ClusterSummary(
        sizes=sizes,
        sums=np.empty_like(sizes),
        squares=np.empty(len(sizes)),
        smallest=np.empty((3, len(sizes)), dtype=np.int64),
        largest=np.empty((3, len(sizes)), dtype=np.int64),
    )
