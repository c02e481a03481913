"""What the workers of a Spark cluster compute: the house's own kernels over runs of records.

Each function makes a task for `mapInArrow`, over rows as `spark_chunks` packs them. Nothing in a
task is random: a task that is tried again must give what it gave before, or two draws of one
cell could be compared.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from microveil.engines.spark_cells import Batches, Task
from microveil.engines.spark_chunks import (
    CELL,
    CHUNK,
    Row,
    each_row,
    places_in,
    row_numbers,
    together,
    unpacked_cells,
)
from microveil.engines.spark_parts import write_part
from microveil.errors import DataError
from microveil.partition.ranking import rank_order
from microveil.schema import Attribute
from microveil.table import GridColumn, numbers_of_attribute, on_grid
from microveil.table.frames import part_of_table

__all__ = [
    "CHECKED",
    "FILE",
    "ID",
    "PLACE",
    "Released",
    "Rounding",
    "assembled",
    "beginning",
    "checked",
    "present",
    "ranked",
]

# What is found of each run of a column.
_COUNTS = ("present", "missing", "infinite", "outside", "least", "greatest")
_COUNTED = pa.schema(
    [
        *((name, pa.int64()) for name in _COUNTS),
        *((name, pa.string()) for name in ("rule", "remedy")),
        ("some", pa.binary()),
    ]
)
# The same, as Spark has it.
_OF_SPARK = {pa.int64(): "bigint", pa.string(): "string", pa.binary(): "binary"}
CHECKED = ", ".join(f"{field.name} {_OF_SPARK[field.type]}" for field in _COUNTED)
# The column of the record id.
ID = "id"
# Or, of a record in a file, the columns of where it is.
FILE, PLACE = "file", "place"

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
            return unpacked_cells(part[CELL])
        nowhere = np.empty(0, dtype=np.int64)
        places = np.concatenate([nowhere, *(places_in(part["places"]) for part in parts)])
        which = np.full(count, -1)
        which[places] = np.arange(len(places))
        n_found = np.count_nonzero(which >= 0)
        if n_found != len(places) or (self.whole and n_found < count):
            raise ValueError("a cell is lost, or there twice")
        cells = pa.concat_arrays(
            [pa.array([], self.kind), *(unpacked_cells(part[CELL]) for part in parts)]
        )
        return cells.take(pa.array(which, mask=which < 0))


def checked(rounding: Rounding, step: int) -> Task:
    """Count what each run of a column holds, and what of it breaks a rule.

    One of so many records, in order, goes along, so that buckets can be made of like sizes.
    """

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            # Of a run without a value, or that breaks a rule, the types are those of any other.
            yield pa.RecordBatch.from_pylist([_counted(row, rounding, step)], schema=_COUNTED)

    return task


def _counted(row: Row, rounding: Rounding, step: int) -> dict[str, Any]:
    try:
        column, n_missing = rounding.on_grid(unpacked_cells(row[CELL]))
    except DataError as error:
        nothing = dict.fromkeys(("present", "missing", "infinite", "outside"), 0)
        return {**nothing, "least": None, "greatest": None, "rule": error.rule,
                "remedy": error.remedy, "some": None}  # fmt: skip
    values, bounds = column.values, rounding.attribute.grid_bounds
    outside = 0
    if bounds is not None:
        outside = int(np.count_nonzero((values < bounds[0]) | (values > bounds[1])))
    rows, units = ranked(row, column)
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


def present(row: Row, column: GridColumn) -> Whole:
    """Return the numbers of a run's records that have a value."""
    count = row["count"].as_py()
    there = np.arange(count) if column.missing is None else np.flatnonzero(~column.missing)
    return row_numbers(row[CHUNK].as_py(), there)


def ranked(row: Row, column: GridColumn) -> tuple[Whole, Whole]:
    """Return a run's records in order, and their values."""
    rows = present(row, column)
    if not len(rows):
        return rows, rows
    order, units = rank_order(column.values)
    return rows[order], units


def assembled(columns: Sequence[Released], folder: Path) -> Task:
    """Put together the cells of each run, for a release of such columns, and write it out."""

    def task(batches: Batches) -> Batches:
        for chunk, rows in together(batches, CHUNK):
            (count,) = (row["count"].as_py() for row in rows if row["nth"].as_py() < 0)
            cells = [
                column.cells([row for row in rows if row["nth"].as_py() == nth], count)
                for nth, column in enumerate(columns)
            ]
            run = pa.RecordBatch.from_arrays(cells, [column.name for column in columns])
            yield write_part(folder, chunk, [run])

    return task


def beginning(signs: Sequence[str], harmless: str) -> Task:
    """Find the signs that some text of a column begins with, but text of a harmless form."""

    def task(batches: Batches) -> Batches:
        for row in each_row(batches):
            texts = unpacked_cells(row[CELL]).drop_null()
            first = pc.utf8_slice_codeunits(texts, 0, 1)
            begun = texts.filter(pc.is_in(first, pa.array(signs))).to_pylist()
            found = {text[0] for text in begun if not re.fullmatch(harmless, text)}
            yield pa.RecordBatch.from_pydict({"sign": pa.array(sorted(found), pa.string())})

    return task
