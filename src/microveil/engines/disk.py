"""The engine of one machine whose memory is smaller than the table: the local one, on the disk."""

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from microveil.engines.base import (
    Clusters,
    ClusterSummary,
    Column,
    GridRules,
    Grouped,
    NewRecords,
    Ranked,
    RecordLaw,
    ValueLaw,
    as_clusters,
)
from microveil.engines.disk_order import OrderOnDisk
from microveil.engines.handles import TableClusters, local_column
from microveil.engines.local import LocalEngine, summarised, unsummarised
from microveil.errors import EngineError
from microveil.noise.keyed import InParts
from microveil.noise.noise import RandomSource, permutation
from microveil.noise.within_clusters import drawn_within_in_parts
from microveil.partition import Partition, ranking_sizes
from microveil.partition.distribution_sort import rank_in_parts, sort_in_parts
from microveil.partition.interval_parts import delta_in_parts, intervals_in_parts
from microveil.partition.moving import broadcast_in_parts
from microveil.schema import Attribute, Cells, Kind
from microveil.table import GridColumn, Numbers, Table, keeping, numbers_of_attribute
from microveil.table.gridding import on_grid_in_pieces
from microveil.table.keeping import BYTES, Filling, Room, made_by_size, pieces
from microveil.table.memory import TOGETHER, allowed_memory, to_protect
from microveil.table.pages import PART, give_back_freed
from microveil.table.rounding import RoundedAnew, on_grid_anew
from microveil.table.scratch import Scratch
from microveil.table.threads import in_threads

if TYPE_CHECKING:
    import polars

__all__ = ["DiskEngine"]

# Bytes for a value of a column that is ranked or compared (measured: 17); for one that is at hand
# beside its clusters while these are summarised, or cells drawn of them, and for a cluster then
# (12, 72 to 88); for both while the noise is planned (4, up to 120).
LOOKED_AT, A_VALUE, A_CLUSTER, ITS_PLACE, A_PLAN = 19, 13, 95, 5, 125
# What the process takes before it holds any: 225 MB, 140 of them pages of the libraries.
LIBRARIES = 230_000_000
# What is beside a column that is at hand, whatever its length: pieces that are read, rounded and
# drawn, and memory that was given back to the allocator (measured: 30 to 95 MB). And what a column
# takes, beside its clusters, that is gone through in parts (measured: 60 to 140 MB).
BESIDE, IN_PARTS = 95_000_000, 150_000_000
# What each column takes while a table of more than so many is written, and what is beside them: how
# many row groups are at hand is chance (measured of 50, 100, 200 and 500 columns: 170 to 300, the
# most beside other work, 230, 290 to 350 and 480 MB in all).
NARROW, A_COLUMN, WRITING = 20, 800_000, 280_000_000
# What linking a sample takes for a number (measured: 59 to 80, the most with missing ones), and
# beside that for each letter of the longest cell of text (measured: 32).
LINKED, A_LETTER = 80, 32
# Of the room beside libraries and pages one of so many parts is what a column takes at a time that
# is put into another order, beside copies of it.
ARRANGED = 32
# And for a value while plans of many methods are weighed and what they share is remembered
# (measured: 150 to 670).
A_WEIGHED_VALUE = 900
Whole = NDArray[np.int64]
Item = TypeVar("Item")
Result = TypeVar("Result")


class DiskEngine(LocalEngine):
    """Works on few columns at a time, and keeps what is needed later on the disk.

    A column that memory does not hold is ranked, compared and given its cells in parts; what needs
    all of it is refused.

    What it computes, and by which code, is what the engine in memory computes: between two steps
    arrays are in files that have no name, mapped into memory where they are looked at.

    Parameters
    ----------
    scratch : str or Path, optional
        The folder of these files; by default the one for temporary files.
    memory : int, optional
        How many bytes the process may take; by default what is free.
    """

    def __init__(self, *, scratch: str | Path | None = None, memory: int | None = None) -> None:
        self.memory: int | None = allowed_memory(memory)
        self.scratch = Scratch(scratch, self.memory)

    def column_memory(
        self, n_records: int, n_clusters: int, in_parts: int | None = None
    ) -> int | None:
        """Add up the column, its plan, the libraries, and pages that are not given back yet."""
        needed = BESIDE + _taken(n_records, n_clusters)
        if in_parts is not None and n_records > keeping.PIECE:
            needed = min(needed, _taken_in_parts(in_parts))
        return LIBRARIES + self._pages + needed

    def width_memory(self, n_columns: int) -> int | None:
        """Add up what each column takes while many are written, libraries and pages.

        None of so few that a column at hand takes more.
        """
        if n_columns <= NARROW:
            return None
        return LIBRARIES + self._pages + WRITING + A_COLUMN * n_columns

    def linkage_memory(self, n_records: int, n_attributes: int, letters: Sequence[int] = ()) -> int:
        """Add up all attributes of both tables, which a linkage has at hand, and what is beside.

        Of those that are text `letters` says how long the longest cell is.
        """
        for_a_record = LINKED * n_attributes + A_LETTER * sum(letters)
        return LIBRARIES + self._pages + n_records * for_a_record

    def holds_records(self, column: Column) -> bool:
        """Forecast what a plan of each record by itself takes."""
        return self._holds(column.n_present)

    def _holds(self, n_values: int) -> bool:
        return not self._goes_in_parts(n_values, as_clusters(n_values))

    def holds_plans(self, n_values: int) -> bool:
        """Forecast whether memory holds so many values, and many plans of them, all at once."""
        if self.memory is None:
            return False
        return LIBRARIES + self._pages + A_WEIGHED_VALUE * n_values <= self.memory

    @property
    def _pages(self) -> int:
        return 0 if self.memory is None else self.memory // PART

    def _goes_in_parts(self, n_values: int, n_clusters: int = 0) -> bool:
        """Whether memory does not hold a column of so many values and clusters."""
        if self.memory is None or n_values <= keeping.PIECE:
            return False
        return LIBRARIES + self._pages + BESIDE + _taken(n_values, n_clusters) > self.memory

    def order_memory(self, n_records: int) -> int:
        """Add up the order of a column that goes in parts, libraries and pages."""
        return LIBRARIES + self._pages + n_records * _position(n_records).itemsize

    def random_order(self, n_records: int, source: RandomSource) -> OrderOnDisk:
        """Draw it in memory, in few bytes where a column goes in parts, and keep it on the disk."""
        holds = not self._goes_in_parts(n_records)
        kind = np.dtype(np.int64) if holds else _position(n_records)
        positions = self.scratch.kept(permutation(n_records, source, kind))
        room = BYTES * ARRANGED if self.memory is None else self.memory - self._pages - LIBRARIES
        at_once = max(BYTES, room // ARRANGED)
        return OrderOnDisk(positions, self.scratch, at_once, holds_numbers=holds)

    def side_by_side(
        self,
        work: Callable[[Item], Result],
        items: Sequence[Item],
        n_values: int,
        n_clusters: int = 0,
    ) -> list[Result]:
        """Work on one after another, or on as many at a time as the memory holds work on."""
        at_once = None
        if self.memory is not None and items:
            room = self.memory - self._pages - LIBRARIES
            of_each = n_values // len(items), n_clusters // len(items)
            in_parts = self._goes_in_parts(*of_each)
            of_one = _taken_in_parts(of_each[1]) if in_parts else _taken(*of_each)
            at_once = max(1, room // max(1, of_one))
        return in_threads(work, items, n_values, n_clusters, at_once=at_once)

    def kept(self, value: Result) -> Result:
        """Write large arrays and columns to the disk, and map them."""
        return self.scratch.kept(value)

    def joined(self, n_records: int, made: Callable[[slice], Result]) -> Result:
        """Make a column of polars piece by piece, and write each to the disk."""
        some = cast("Callable[[slice], polars.Series]", made)
        return cast("Result", self.scratch.joined(n_records, made_by_size(n_records, some)))

    def seen_as(self, column: Result, values: NDArray[Any]) -> Result | None:
        """See values that are on the disk as a column: they are written once."""
        seen = self.scratch.seen_as(cast("polars.Series", column), values)
        return cast("Result | None", seen)

    def sorted_values(
        self, n_records: int, made: Callable[[slice], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Make them piece by piece, and sort in parts, where memory does not hold them."""
        if not self._goes_in_parts(n_records):
            return super().sorted_values(n_records, made)
        values, done = self.scratch.filling(n_records, np.float64), 0
        for piece in pieces(n_records):
            own = made(piece)
            values.write(done, own)
            done += len(own)
            self.scratch.relieve()
        return sort_in_parts(values.read, done, self.scratch)

    def empty(self, n_records: int, dtype: "np.dtype[Any] | type") -> NDArray[Any]:
        """Take it of the disk, where there is room for all of it."""
        return self.scratch.empty(n_records, dtype)

    def gridded(self, table: Table, attribute: Attribute, rules: GridRules) -> GridColumn:
        """Read, round and check piece by piece; what is on the disk is not written there again.

        It is rounded anew where it is looked at, unless memory holds many plans of it: whole
        numbers are their own grid then.
        """
        n_records, on_disk = table.n_records, self._types(table, attribute)
        if on_disk and not rules.shared and not self.holds_plans(n_records):
            column = on_grid_anew(
                table,
                attribute,
                clamp=rules.clamp,
                may_be_hidden=rules.may_be_hidden,
                room=self.scratch,
            )
            if column is not None:
                return column
        is_grid = on_disk == {"int64"} and attribute.resolution == 1
        if is_grid and not self._goes_in_parts(n_records):
            return super().gridded(table, attribute, replace(rules, shared=True))
        return on_grid_in_pieces(
            (
                numbers_of_attribute(table.part(piece), attribute, shared=True)
                for piece in pieces(table.n_records)
            ),
            table.n_records,
            attribute,
            keep_missing=rules.keep_missing,
            clamp=rules.clamp,
            may_be_empty=rules.may_be_empty,
            may_be_hidden=rules.may_be_hidden,
            room=self.scratch,
        )

    def _types(self, table: Table, attribute: Attribute) -> set[str]:
        """Name the types of a column's numbers where all are on the disk; else no type.

        Of decimals the first are looked at: which are no number is found when they are rounded.
        """
        if attribute.categories or not table.is_plain(attribute.name):
            return set()
        n_seen = table.n_records
        if table.kind(attribute.name) is Kind.DECIMAL:
            n_seen = min(n_seen, keeping.PIECE)
        parts = (table.part(piece) for piece in pieces(n_seen))
        some = [part.numbers(attribute.name, shared=True) for part in parts]
        if any(each.missing is not None or not self.scratch.has(each.values) for each in some):
            return set()
        return {each.values.dtype.name for each in some}

    def cluster_by_rank(self, column: Column, k: int, *, widen: bool = False) -> Ranked:
        """Rank in parts where memory does not hold the column; clusters are the same."""
        grid = local_column(column).grid
        if widen or not self._goes_in_parts(grid.n_present, grid.n_present // k):
            return super().cluster_by_rank(column, k, widen=widen)
        order, in_order = rank_in_parts(grid.values, self.scratch, grid.missing)
        sizes = ranking_sizes(grid.n_present, k)
        n_records = grid.n_present if grid.missing is None else len(grid.missing)
        return Ranked(
            partition=TableClusters(
                of_table=Partition(order=order, sizes=sizes, n_records=n_records)
            ),
            clusters=self._summarised(in_order, sizes),
        )

    def _summarised(self, in_order: Whole, sizes: Whole) -> ClusterSummary:
        """Summarise clusters of some ranks after others."""
        found = unsummarised(sizes)
        ends = np.cumsum(sizes)
        firsts = np.searchsorted(ends, np.arange(0, len(in_order), keeping.PIECE), side="right")
        bounds = np.unique([*firsts.tolist(), len(sizes)]).tolist()
        for first, end in itertools.pairwise(bounds):
            own = slice(int(ends[first] - sizes[first]), int(ends[end - 1]))
            part = summarised(in_order[own], sizes[first:end])
            for name in ("sums", "squares", "smallest", "largest"):
                getattr(found, name)[..., first:end] = getattr(part, name)
            self.scratch.relieve()
        return found

    def extremes(self, column: Column) -> tuple[int, int]:
        """Look once through the column, some records after others, unless they are known."""
        held = local_column(column)
        if isinstance(held.grid.values, RoundedAnew):
            return held.extremes
        found = []
        for values in self._parts(held.grid.values):
            found += [int(values.min()), int(values.max())]
        return min(found), max(found)

    def counts(self, column: Column) -> Whole:
        """Count some records after others."""
        lower, upper = column.attribute.grid_bounds or self.extremes(column)
        counts = np.zeros(upper - lower + 1, dtype=np.int64)
        for values in self._parts(local_column(column).grid.values):
            counts += np.bincount(values - lower, minlength=len(counts))
        return counts

    def summed(
        self, column: Column, figures: Callable[[Whole], NDArray[np.float64]]
    ) -> NDArray[np.float64]:
        """Add up what is made of some records after others."""
        values = local_column(column).grid.values
        found = [figures(some) for some in self._parts(values)]
        return np.asarray(np.sum(found, axis=0), dtype=np.float64)

    def _parts(self, values: Whole) -> Iterator[Whole]:
        """Yield some values after others, and give the pages of those before back."""
        for piece in pieces(len(values)):
            yield values[piece]
            self.scratch.relieve()

    def filled(
        self, n_values: int, dtype: "np.dtype[Any]", parts: Iterable[tuple[int, NDArray[Any]]]
    ) -> NDArray[Any]:
        """Write them to the disk as they come, where memory does not hold the column."""
        if self._holds(n_values):
            return super().filled(n_values, dtype, parts)
        filling = self.scratch.filling(n_values, dtype)
        for start, values in parts:
            filling.write(start, values)
            self.scratch.relieve()
        return filling.array()

    def codes_in_order(self, codes: Whole) -> Whole:
        """Sort in parts where memory does not hold them."""
        if self._holds(len(codes)):
            return super().codes_in_order(codes)
        in_order: Whole = sort_in_parts(codes.__getitem__, len(codes), self.scratch, np.int64)
        return in_order

    def generated(self, records: NewRecords, seed: bytes) -> Mapping[str, Numbers]:
        """Draw blocks side by side onto the disk, and give back what their threads took."""
        drawn = super().generated(records, seed)
        give_back_freed()
        return drawn

    def whole(self, n_records: int, made: Callable[[slice], Numbers]) -> Numbers:
        """Make it piece by piece where memory does not hold it."""
        if self._holds(n_records):
            return super().whole(n_records, made)
        return _joined(map(made, pieces(n_records)), n_records, self.scratch)

    def randomised(self, column: GridColumn, law: RecordLaw, source: RandomSource) -> Numbers:
        """Draw some records after others, by the words that a draw for all would take."""
        return self._drawn(column, law, source)

    def perturbed(self, column: GridColumn, law: ValueLaw, source: RandomSource) -> Numbers:
        """Draw some values after others, by the words that a draw for all would take."""
        return self._drawn(column, law, source)

    def _drawn(
        self, column: GridColumn, law: RecordLaw | ValueLaw, source: RandomSource
    ) -> Numbers:
        draws = InParts(source, column.n_present, self.scratch)
        n_records = len(column.values if column.missing is None else column.missing)
        drawn = (law.drawn(part, draws) for part in _records_in_parts(column, n_records))
        return _joined(drawn, n_records, self.scratch)

    def interval_delta(
        self, column: Column, *, k: int | None, width: float | None, every: str
    ) -> float:
        """Sort in parts where memory does not hold what intervals of a whole column take."""
        if self.holds_records(column):
            return super().interval_delta(column, k=k, width=width, every=every)
        values = local_column(column).grid.values
        return delta_in_parts(values, self.scratch, k=k, width=width, every=every)

    def cluster_by_interval(
        self, column: Column, *, k: int | None, width: float | None, every: str
    ) -> Grouped:
        """Sort by interval in parts where memory does not hold the column; they are the same."""
        if self.holds_records(column):
            return super().cluster_by_interval(column, k=k, width=width, every=every)
        values = local_column(column).grid.values
        partition, in_order = intervals_in_parts(
            values, self.scratch, k=k, width=width, every=every
        )
        return Grouped(partition=partition, in_order=in_order)

    def drawn_within(self, grouped: Grouped, source: RandomSource, *, permute: bool) -> Whole:
        """Fetch values range by range, where memory does not hold the column, by the same words."""
        in_order, partition = grouped.in_order, grouped.partition
        if self._holds(len(in_order)):
            return super().drawn_within(grouped, source, permute=permute)
        return drawn_within_in_parts(in_order, partition, source, self.scratch, permute=permute)

    def in_table(self, column: Column, clusters: Clusters) -> Partition:
        """Renumber the records where some have no value, unless that was done."""
        if isinstance(clusters, TableClusters):
            return clusters.of_table
        return super().in_table(column, clusters)

    def broadcast(self, partition: Partition, values: Cells) -> Cells:
        """Give cells to ranges of records first, where memory does not hold the column."""
        if self._goes_in_parts(partition.n_records, partition.n_clusters):
            return broadcast_in_parts(partition, values, self.scratch)
        return super().broadcast(partition, values)

    def cluster_jointly(
        self,
        name: str,
        columns: Sequence[Column],
        k: int,
        *,
        with_missing: bool = False,
        units: Whole | None = None,
    ) -> Partition:
        """Partition the columns together, where memory holds what that takes."""
        n_records = max(column.n_present for column in columns)
        needed = to_protect(n_records, len(columns), TOGETHER)
        if self.memory is not None and needed > self.memory:
            raise EngineError(
                "engine",
                f"{name} looks at all columns of a block together, which takes about "
                f"{needed / 1e6:.0f} MB of memory, and {self.memory / 1e6:.0f} MB are allowed",
                "choose a method that takes attributes one by one (dp-um, idp-vector, laplace), "
                "smaller blocks (--block), or allow more (--memory)",
            )
        return super().cluster_jointly(name, columns, k, with_missing=with_missing, units=units)


def _records_in_parts(column: GridColumn, n_records: int) -> Iterator[GridColumn]:
    """Yield some records of a column after others: nothing is copied."""
    done = 0
    for records in pieces(n_records):
        missing, reasons = column.missing, column.reasons
        end = done + records.stop - records.start
        if missing is not None:
            missing = missing[records]
            end -= int(missing.sum())
        if reasons is not None:
            reasons = replace(reasons, which=reasons.which[records])
        values = column.values[done:end]
        yield replace(column, values=values, missing=missing, reasons=reasons)
        done = end


def _joined(parts: Iterable[Numbers], n_records: int, room: Room) -> Numbers:
    """Put some records of a column after others, on the disk."""
    values: Filling | None = None
    missing: Filling | None = None
    which: Filling | None = None
    done = 0
    for part in parts:
        values = values or room.filling(n_records, part.values.dtype)
        values.write(done, part.values)
        if part.missing is not None:
            missing = missing or room.filling(n_records, np.bool_)
            missing.write(done, part.missing)
        if part.reasons is not None:
            which = which or room.filling(n_records, np.int16)
            which.write(done, part.reasons.which)
        done += len(part.values)
        room.relieve()
    assert values is not None  # noqa: S101 -- there is a part, if an empty one
    reasons = part.reasons
    if reasons is not None and which is not None:
        reasons = replace(reasons, which=which.array())
    absent = None if missing is None else missing.array()
    return replace(part, values=values.array(), missing=absent, reasons=reasons)


def _taken(n_values: int, n_clusters: int) -> int:
    """Forecast what work on values and clusters takes."""
    return max(
        LOOKED_AT * n_values,
        A_VALUE * n_values + A_CLUSTER * n_clusters,
        ITS_PLACE * n_values + A_PLAN * n_clusters,
    )


def _position(n_records: int) -> "np.dtype[Any]":
    """Return the type of a place in a column, of which only parts are in memory.

    >>> _position(1 << 31), _position((1 << 31) + 1)
    (dtype('int32'), dtype('int64'))
    """
    return np.dtype(np.int32 if n_records <= 1 << 31 else np.int64)


def _taken_in_parts(n_clusters: int) -> int:
    """Forecast what work on a column takes of which only parts are in memory."""
    return max(IN_PARTS + A_CLUSTER * n_clusters, BESIDE + A_PLAN * n_clusters)
