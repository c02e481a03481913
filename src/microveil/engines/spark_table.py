"""A Spark data frame as a table: what planning asks of it, and the way back to a frame."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from microveil.engines import spark_tasks as tasks
from microveil.engines.spark_by_id import by_id
from microveil.engines.spark_chunks import CELL, CHUNK
from microveil.engines.spark_scratch import SparkScratch
from microveil.engines.spark_synthesis import GeneratedCells, generated
from microveil.engines.spark_tasks import ID
from microveil.errors import DataError, EngineError, RequestError
from microveil.files.formulas import HARMLESS
from microveil.schema import Kind
from microveil.table import Labels, Numbers, Table
from microveil.table.decimals import MOST_DIGITS
from microveil.table.frames import Elsewhere
from microveil.table.keeping import IN_MEMORY, Keeper
from microveil.table.naming import check_names
from microveil.table.ordering import Order
from microveil.table.restore import NOTHING, arrow_array

__all__ = ["ReleasedCells", "SparkFiles", "SparkTable", "refused", "restored"]

KINDS: dict[str, tuple[Kind, Callable[[], pa.DataType]]] = {
    "ByteType": (Kind.WHOLE, pa.int8),
    "ShortType": (Kind.WHOLE, pa.int16),
    "IntegerType": (Kind.WHOLE, pa.int32),
    "LongType": (Kind.WHOLE, pa.int64),
    "FloatType": (Kind.DECIMAL, pa.float32),
    "DoubleType": (Kind.DECIMAL, pa.float64),
    "BooleanType": (Kind.BOOLEAN, pa.bool_),
    "DateType": (Kind.DATE, pa.date32),
    "StringType": (Kind.OTHER, pa.string),
}
# What a kept column may be beside these, and what a record id may be.
ALSO_KEPT = ("DecimalType", "TimestampType", "TimestampNTZType")
# Blocks of a new table that one task draws, at most.
BLOCKS_OF_A_TASK = 4
OF_IDS = ("ByteType", "ShortType", "IntegerType", "LongType", "DateType", "StringType")


class ReleasedCells(Protocol):
    """Stands for the array of a released column: one cell for each record that has a value."""

    def frame(self, numbers: Numbers, kind: pa.DataType) -> Any:
        """Return cells of a type by runs of records, as a frame of (chunk, places, cell).

        Places are whole numbers, and for each the cell there is one of those packed.
        """
        ...


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SparkFiles:
    """A frame as it was read from Parquet files, whose rows have a place in them.

    Attributes
    ----------
    frame : pyspark.sql.DataFrame
    files : tuple of str
        Their paths, in order.
    """

    frame: Any
    files: tuple[str, ...]


class SparkTable(Elsewhere):
    """A Spark frame that was written out once: the records stay what and where they are.

    They stand in the order of their ids, in runs that are packed: between records of equal values
    their number decides.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    scratch : SparkScratch
    record_id : str or None
        The column that decides between records of equal values; None where their file and their
        place in it do.
    named : collection of str
        The columns that are looked at.
    files : sequence of str
        The paths of the frame's files, in the order that their records have.

    Raises
    ------
    RequestError, DataError
        If columns share a name, or the record id is none.
    """

    has_index = False
    of_few: frozenset[str] = frozenset()

    def __init__(
        self,
        frame: Any,
        scratch: SparkScratch,
        record_id: str | None,
        named: Collection[str],
        files: Sequence[str],
    ) -> None:
        self.names: tuple[str, ...] = tuple(frame.columns)
        check_names([name.casefold() for name in self.names])  # as Spark sees them
        self.labels: Mapping[str, Labels] = {}
        self._types = {field.name: field.dataType for field in frame.schema.fields}
        self._scratch = scratch
        if record_id is not None:
            self._check_id(record_id)
        looked_at = [self.called(name) for name in self.names if name in named]
        given = self._with_id(frame, record_id, looked_at)
        found = by_id(scratch, given, looked_at, files)
        self._chunks, self.n_records, self.n_chunks = found.frame, found.n_records, found.n_runs
        if n_others := found.n_nameless + found.n_doubled:
            raise DataError(
                f"column '{record_id}', {n_others} records",
                "a record id must be there and be nobody else's: it decides between equal values",
                "name another column (record_id=), or mend it",
            )

    def _with_id(self, frame: Any, record_id: str | None, looked_at: Collection[str]) -> Any:
        """Return the columns that are looked at, called by their place, and what ids are of."""
        from pyspark.sql import functions as sql

        if record_id is None:
            of_record = {tasks.FILE: sql.col("_metadata.file_path"),
                         tasks.PLACE: sql.col("_metadata.row_index")}  # fmt: skip
        else:
            column = sql.col(f"`{record_id.replace('`', '``')}`")
            is_text = self._called_type(record_id) == "StringType"
            # In the order of its bytes, whatever order its text is compared in.
            of_record = {ID: column.cast("binary") if is_text else column}
        by_place = frame.select(*of_record.values(), "*").toDF(
            *of_record, *(_of_place(place) for place in range(len(self.names)))
        )
        return by_place.select(*(_bare(name, name) for name in (*of_record, *looked_at)))

    def called(self, name: str) -> str:
        """Return what a column is called between two steps."""
        return _of_place(self.names.index(name))

    def cells(self, name: str) -> Any:
        """Return the cells of a column as a frame of (chunk, count, cell), a row for each run."""
        return self._chunks.select(CHUNK, "count", _bare(self.called(name), CELL))

    def runs(self, names: Sequence[str]) -> Any:
        """Return cells of columns as a frame of (chunk, count, cell0, cell1, ...), likewise."""
        cells = (_bare(self.called(name), f"{CELL}{nth}") for nth, name in enumerate(names))
        return self._chunks.select(CHUNK, "count", *cells)

    def _called_type(self, name: str) -> str:
        return type(self._types[name]).__name__

    def _check_id(self, name: str) -> None:
        if name not in self.names:
            raise RequestError(
                "record_id", "the table has no such column", "check the name against its columns"
            )
        if self._called_type(name) not in OF_IDS:
            raise RequestError(
                "record_id",
                "it must hold whole numbers, text or dates: they decide between equal values",
                "name another column",
            )

    def kind(self, name: str) -> Kind:
        """Return a column's kind, by its type alone."""
        of_spark = self._types[name]
        if _is_decimal(of_spark):
            return Kind.DECIMAL if of_spark.precision <= MOST_DIGITS else Kind.OTHER
        found = KINDS.get(self._called_type(name))
        return Kind.OTHER if found is None else found[0]

    def arrow_type(self, name: str) -> pa.DataType:
        """Return the type that an attribute's cells are released in."""
        kind = self._types[name]
        if _is_decimal(kind):
            return pa.decimal128(kind.precision, kind.scale)
        return KINDS[self._called_type(name)][1]()

    def has_single_precision(self, name: str) -> bool:
        """Whether a column is of 32 bits."""
        return self._called_type(name) == "FloatType"

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        """Refuse: the records are not in this process."""
        del shared
        if self.kind(name).is_numeric:
            raise refused("does not bring a column into one process")
        raise DataError(
            f"attribute '{name}'",
            "it must hold numbers, true and false, or dates; text, moments, nested values and "
            f"decimals of more than {MOST_DIGITS} digits are none of these",
            "leave it out or convert it; text in an order takes a list: categories={"
            f"{name!r}: ordered('low', 'high')}}",
        )

    def check_kept(self, name: str) -> None:
        """Refuse types that may carry more than they show."""
        if self._called_type(name) not in (*KINDS, *ALSO_KEPT):
            raise DataError(
                f"column '{name}'",
                "only numbers, text, dates, moments and true or false can be kept",
                "leave it out, or write it as text first",
            )

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        """Refuse: the records are not in this process."""
        del categories
        return self.numbers(name)

    def listed(self, name: str) -> tuple[str, ...] | None:
        """No type of Spark's declares categories."""
        del name
        return None

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        """Refuse: the records are not in this process."""
        del first
        raise DataError(f"attribute '{name}'", "its text stays where it is", "list its categories")

    def coded_words(self, name: str, most: int) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
        """Refuse: the records are not in this process."""
        del most
        self.words(name)
        return None

    def counted_words(self, name: str) -> Counter[str]:
        """Refuse: the records are not in this process."""
        self.words(name)
        return Counter()

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        """Return no cell, but for each sign that some begin with a text that does so too."""
        if self._called_type(name) != "StringType":
            return set()
        begun = self._scratch.mapped(
            self.cells(name), tasks.beginning(signs, HARMLESS), "sign string"
        )
        return {f"{sign}A" for sign in self._scratch.fetched(begun)["sign"].to_pylist()}

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Refuse: units are not protected by Spark."""
        raise refused(f"does not see which records '{name}' has alike")

    def taken(self, rows: NDArray[np.int64]) -> Table:
        """Refuse: records have no positions."""
        del rows
        raise refused("does not take records by position")

    def is_plain(self, name: str) -> bool:
        """Whether a column's type alone says that it holds numbers, yes and no, or dates."""
        return self.kind(name).is_numeric

    def is_text(self, name: str) -> bool:
        """Whether a column's type alone says that it holds text, and lists none."""
        return not self.kind(name).is_numeric

    def floats_as_they_are(self, name: str) -> None:
        """Return None: a column is spread over the parts."""
        del name

    def part(self, records: slice) -> Table:
        """Refuse: records have no positions."""
        del records
        raise refused("does not take records by position")

    def rebuild(
        self,
        columns: Mapping[str, Numbers],
        kept: Iterable[str],
        order: Order | None,
        numbered: Mapping[str, NDArray[np.int64]] = NOTHING,
        keeper: Keeper = IN_MEMORY,
    ) -> Any:
        """Join new cells to their records, write them out, and see that none was lost."""
        if order is not None or numbered:
            raise refused("does not put records in a secret order")
        names = [name for name in self.names if name in columns or name in {*kept}]
        new = next(iter(columns.values())).values
        if isinstance(new, GeneratedCells):
            return keeper.kept(self._generated(new, names))
        pieces = self._pieces(names, columns)
        new_columns = [self._released(name, columns) for name in names]
        released = self._scratch.released(
            self._scratch.gathered(pieces, self.n_chunks, CHUNK, "nth"),
            lambda folder: tasks.assembled(new_columns, folder),
            self._schema(names),
            self.n_records,
        )
        return keeper.kept(released)

    def _generated(self, cells: GeneratedCells, names: Sequence[str]) -> Any:
        """Draw a new table by blocks, and write it out once."""
        n_blocks = cells.records.n_blocks
        numbers = self._scratch.spark.range(0, n_blocks, 1, -(-n_blocks // BLOCKS_OF_A_TASK))
        kinds = {name: self.arrow_type(name) for name in names}
        return self._scratch.released(
            numbers,
            lambda folder: generated(cells, kinds, folder),
            self._schema(names),
            cells.records.n_records,
        )

    def _pieces(self, names: Sequence[str], columns: Mapping[str, Numbers]) -> Any:
        """Return cells, new ones and kept ones, by run and by the place of their column."""
        from pyspark.sql import functions as sql

        nothing = sql.lit(None).cast("binary")
        pieces = self._chunks.select(
            CHUNK, "count", sql.lit(-1).alias("nth"), nothing.alias("places"), nothing.alias(CELL)
        )
        for nth, name in enumerate(names):
            if name in columns:
                cells = cast("ReleasedCells", columns[name].values)
                found = cells.frame(columns[name], self.arrow_type(name))
            else:
                found = self.cells(name).withColumn("places", nothing)
            pieces = pieces.union(
                found.select(
                    CHUNK,
                    sql.lit(None).cast("bigint").alias("count"),
                    sql.lit(nth).alias("nth"),
                    "places",
                    CELL,
                )
            )
        return pieces

    def _released(self, name: str, columns: Mapping[str, Numbers]) -> tasks.Released:
        kind = self.arrow_type(name) if name in columns else None
        whole = name in columns and columns[name].missing is None
        return tasks.Released(name=name, kind=kind, whole=whole)

    def _schema(self, names: Sequence[str]) -> Any:
        """Return names and types, without what the frame says of its columns beside these."""
        from pyspark.sql.types import StructField, StructType

        return StructType([StructField(name, self._types[name]) for name in names])


def restored(numbers: Numbers, values: NDArray[Any], kind: pa.DataType) -> pa.Array:
    """Return values, one a cluster for example, as cells of a released column."""
    return arrow_array(pa, replace(numbers, values=values, missing=None), kind)


def refused(what: str, instead: str = "pass a table of this process") -> EngineError:
    """Word what Spark's engine does not do."""
    return EngineError("engine", f"the one of Spark {what}", instead)


def _is_decimal(kind: Any) -> bool:
    return type(kind).__name__ == "DecimalType"


def _of_place(place: int) -> str:
    return f"c{place}"


def _bare(name: str, called: str) -> Any:
    """Return a column without what its frame says of it beside its name and type."""
    from pyspark.sql import functions as sql

    # A comment or a code list may name what it holds.
    return sql.col(name).alias(called, metadata={})
