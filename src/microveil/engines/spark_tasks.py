"""What the workers of a Spark cluster compute: the house's own kernels over runs of records.

Each function makes a task for `mapInArrow`, over rows as `spark_chunks` packs them. Nothing in a
task is random: a task that is tried again must give what it gave before, or two draws of one
cell could be compared.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microveil.engines.local import summarised
from microveil.engines.spark_chunks import (
    CHUNK,
    Row,
    bytes_of,
    chunks_and_places,
    each_row,
    nth_chunk,
    packed,
    row_numbers,
    together,
    unpacked,
    whole_numbers,
)
from microveil.errors import DataError
from microveil.files.parts import path_of
from microveil.partition.ranking import RankingCuts, rank_order
from microveil.schema import Attribute
from microveil.table import GridColumn, numbers_of_attribute, on_grid
from microveil.table.frames import part_of_table

__all__ = [
    "CELL",
    "FILE",
    "ID",
    "PLACE",
    "Bounds",
    "Buckets",
    "Released",
    "Rounding",
    "assembled",
    "beginning",
    "bucketed",
    "checked",
    "chunked",
    "in_order",
    "merged",
    "parted",
    "pieces",
    "present",
    "spread",
    "summaries",
]

# The columns of an attribute's cells, as bytes, and of the record id.
CELL, ID = "cell", "id"
# Or, of a record in a file, the columns of where it is.
FILE, PLACE = "file", "place"
# Bits of a place in a file.
ROW_BITS = 40

Batches = Iterator[pa.RecordBatch]
Task = Callable[[Batches], Batches]
Whole = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """How cells of an attribute become whole units: what every worker is given of it.

    Attributes
    ----------
    attribute : Attribute
    clamp : bool
        Move values outside the bounds to the nearer bound.
    """

    attribute: Attribute
    clamp: bool

    def on_grid(self, cells: pa.Array) -> tuple[GridColumn, int]:
        """Return the cells of a run on the grid, and how many of them are missing.

        Values outside the bounds stay where they are, for who counts them.

        Raises
        ------
        DataError
            If they would not fit the grid.
        """
        attribute = self.attribute
        table = part_of_table(pa.table({attribute.name: cells}))
        numbers = numbers_of_attribute(table, attribute)
        clamped = self.clamp and attribute.categories is None
        column = on_grid(
            numbers,
            attribute if clamped else replace(attribute, domain=None),
            keep_missing=True,
            clamp=clamped,
            may_be_empty=True,
        )
        return column, 0 if numbers.missing is None else int(numbers.missing.sum())


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A column of a release, as workers put it together.

    Attributes
    ----------
    name : str
    kind : pyarrow.DataType or None
        None where cells are kept as they are.
    whole : bool
        Whether every record must have a cell.
    """

    name: str
    kind: pa.DataType | None
    whole: bool

    def cells(self, parts: Sequence[Row], count: int) -> pa.Array:
        """Put each cell of a run at its place; where there is none, nothing.

        Raises
        ------
        ValueError
            If a cell is lost, or there twice.
        """
        if self.kind is None:
            (part,) = parts
            return _cells(part[CELL])
        places = np.concatenate([[], *(whole_numbers(part["places"]) for part in parts)])
        which = np.full(count, -1)
        which[places.astype(np.int64)] = np.arange(len(places))
        n_found = np.count_nonzero(which >= 0)
        if n_found != len(places) or (self.whole and n_found < count):
            raise ValueError("a cell is lost, or there twice")
        cells = pa.concat_arrays([pa.array([], self.kind), *(_cells(part[CELL]) for part in parts)])
        return cells.take(pa.array(which, mask=which < 0))


def chunked(names: Sequence[str], files: Mapping[str, int], longest: int, step: int) -> Task:
    """Pack records into runs of so many as they come, each in the order of its record ids.

    Of files, by their paths and numbers, a record's id is its file's number and its row there.
    One id of so many goes along, so that buckets of like sizes can be made.
    """

    def task(batches: Batches) -> Batches:
        for run in _in_runs(batches, longest):
            ids = run.column(ID) if ID in run.schema.names else _places_in(run, files)
            order = pc.sort_indices(ids)[: len(ids) - ids.null_count]
            in_order = ids.take(order)
            some = in_order[min(step, len(order)) // 2 :: step]
            yield pa.RecordBatch.from_pylist(
                [
                    {
                        "count": run.num_rows,
                        "nameless": ids.null_count,
                        "some": _packed(some),
                        ID: _packed(in_order),
                        **{name: _packed(run.column(name).take(order)) for name in names},
                    }
                ]
            )

    return task


def _places_in(run: pa.RecordBatch, files: Mapping[str, int]) -> pa.Array:
    """Return whole numbers for places in files, which stand in the order of these and of rows."""
    paths = run.column(FILE).dictionary_encode()
    numbers = [files[path_of(found)] for found in paths.dictionary.to_pylist()]
    of_records = np.array(numbers, dtype=np.int64)[paths.indices.to_numpy()]
    return pa.array((of_records << ROW_BITS) + run.column(PLACE).to_numpy())


def parted(names: Sequence[str], bounds: Sequence[Any]) -> Task:
    """Cut each run by bucket of record ids: those that the buckets but the first begin with."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            columns = {name: _cells(row[name]) for name in (ID, *names)}
            ids = columns[ID]
            cuts = (bisect_left(range(len(ids)), at, key=lambda n: ids[n].as_py()) for at in bounds)
            edges = [0, *cuts, len(ids)]
            for bucket, (start, end) in enumerate(pairwise(edges)):
                if start < end:
                    cells = {name: _packed(all_[start:end]) for name, all_ in columns.items()}
                    yield pa.RecordBatch.from_pylist([{"bucket": bucket, **cells}])

    return task


def merged(names: Sequence[str], longest: int) -> Task:
    """Put each bucket's records in the order of their ids, in runs; count ids that come again."""

    def task(batches: Batches) -> Batches:
        for bucket, parts in together(batches, "bucket"):
            ids = pa.concat_arrays([_cells(part[ID]) for part in parts])
            order = pc.sort_indices(ids)
            ids = ids.take(order)
            doubled = pc.sum(pc.equal(ids[1:], ids[:-1])).as_py() or 0
            columns = {
                name: pa.concat_arrays([_cells(part[name]) for part in parts]).take(order)
                for name in names
            }
            for nth, start in enumerate(range(0, len(ids), longest)):
                cells = {name: _packed(all_[start : start + longest]) for name, all_ in
                         columns.items()}  # fmt: skip
                count = min(longest, len(ids) - start)
                doubled_here = doubled if start == 0 else 0
                chunk = {CHUNK: nth_chunk(bucket, nth), "count": count, "doubled": doubled_here}
                yield pa.RecordBatch.from_pylist([{**chunk, **cells}])

    return task


def _in_runs(batches: Batches, longest: int) -> Iterator[pa.RecordBatch]:
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            room = longest - sum(part.num_rows for part in waiting)
            waiting.append(batch.slice(start, room))
            start += room
            if waiting[-1].num_rows == room:
                yield _as_one(waiting)
                waiting = []
    if waiting:
        yield _as_one(waiting)


def _as_one(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def checked(rounding: Rounding, step: int) -> Task:
    """Count what each run of a column holds, and what of it breaks a rule.

    One of so many records, in order, goes along, so that buckets can be made of like sizes.
    """

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            yield pa.RecordBatch.from_pylist([_counted(row, rounding, step)])

    return task


def _counted(row: Row, rounding: Rounding, step: int) -> dict[str, Any]:
    try:
        column, n_missing = rounding.on_grid(_cells(row[CELL]))
    except DataError as error:
        nothing = dict.fromkeys(("present", "missing", "infinite", "outside"), 0)
        return {**nothing, "least": None, "greatest": None, "rule": error.rule,
                "remedy": error.remedy, "some": None}  # fmt: skip
    values, bounds = column.values, rounding.attribute.grid_bounds
    outside = 0
    if bounds is not None:
        outside = int(np.count_nonzero((values < bounds[0]) | (values > bounds[1])))
    rows, units = _ranked(row, column)
    some = slice(min(step, len(rows)) // 2, None, step)
    return {
        "present": len(values),
        "missing": n_missing,
        "infinite": column.n_missing - n_missing,
        "outside": outside,
        "least": int(units[0]) if len(values) else None,
        "greatest": int(units[-1]) if len(values) else None,
        "rule": None,
        "remedy": None,
        "some": np.stack([units[some], rows[some]]).tobytes(),
    }


def _cells(cell: pa.Scalar) -> pa.Array:
    return unpacked(cell.as_buffer()).column(0)


def _packed(cells: pa.Array) -> bytes:
    return packed(pa.RecordBatch.from_arrays([cells], [CELL]))


def present(row: Row, column: GridColumn) -> Whole:
    """Return the numbers of a run's records that have a value."""
    count = row["count"].as_py()
    there = np.arange(count) if column.missing is None else np.flatnonzero(~column.missing)
    return row_numbers(row[CHUNK].as_py(), there)


def _ranked(row: Row, column: GridColumn) -> tuple[Whole, Whole]:
    """Return a run's records in order, and their values."""
    rows = present(row, column)
    if not len(rows):
        return rows, rows
    order, units = rank_order(column.values)
    return rows[order], units


def bucketed(rounding: Rounding, bounds: Bounds) -> Task:
    """Sort each run, and cut it by bucket."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            rows, units = _ranked(row, rounding.on_grid(_cells(row[CELL]))[0])
            edges = [0, *bounds.cuts(units, rows).tolist(), len(rows)]
            held = [nth for nth in range(len(edges) - 1) if edges[nth] < edges[nth + 1]]
            cut = [slice(edges[nth], edges[nth + 1]) for nth in held]
            yield pa.RecordBatch.from_pydict(
                {
                    "bucket": pa.array(held, pa.int64()),
                    CHUNK: pa.array([row[CHUNK].as_py()] * len(held), pa.int64()),
                    "units": bytes_of(units[part] for part in cut),
                    "rows": bytes_of(rows[part] for part in cut),
                }
            )

    return task


def in_order(batches: Batches) -> Batches:
    """Sort each bucket, whose runs come one after another: ties go by the record's number."""
    for bucket, runs in together(batches, "bucket"):
        units, rows = (
            np.concatenate([whole_numbers(run[name]) for run in runs]) for name in ("units", "rows")
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
    """Give the values of each bucket to that in which their clusters begin."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            bucket, units = row["bucket"].as_py(), whole_numbers(row["units"])
            start, cuts = buckets.starts[bucket], buckets.cuts
            first = buckets.first_begun(bucket)
            head = min(cuts.start(first) - start, len(units))
            owners = [buckets.holding(cuts.start(first - 1))] if head else []
            parts = [units[:head]] if head else []
            if head < len(units):
                owners, parts = [*owners, bucket], [*parts, units[head:]]
            yield pa.RecordBatch.from_pydict(
                {
                    "owner": pa.array(owners, pa.int64()),
                    "bucket": pa.array([bucket] * len(owners), pa.int64()),
                    "units": bytes_of(parts),
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
            "places": bytes_of(places[part] for part in cut),
            CELL: pa.array(
                [_packed(cells[part]) for part in cut],
                pa.binary(),
            ),
        }
    )


def assembled(columns: Sequence[Released]) -> Task:
    """Put together the cells of each run, for a release of such columns, in order."""

    def task(batches: Batches) -> Batches:
        for _, rows in together(batches, CHUNK):
            (count,) = (row["count"].as_py() for row in rows if row["nth"].as_py() < 0)
            cells = [
                column.cells([row for row in rows if row["nth"].as_py() == nth], count)
                for nth, column in enumerate(columns)
            ]
            yield pa.RecordBatch.from_arrays(cells, [column.name for column in columns])

    return task


def beginning(signs: Sequence[str], harmless: str) -> Task:
    """Find the signs that some text of a column begins with, but text of a harmless form."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            texts = _cells(row[CELL]).drop_null()
            first = pc.utf8_slice_codeunits(texts, 0, 1)
            begun = texts.filter(pc.is_in(first, pa.array(signs))).to_pylist()
            found = {text[0] for text in begun if not re.fullmatch(harmless, text)}
            yield pa.RecordBatch.from_pydict({"sign": pa.array(sorted(found), pa.string())})

    return task
