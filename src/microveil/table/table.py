"""Any data frame, seen as typed columns, and back to the same kind of frame.

pandas, polars and pyarrow tables go through narwhals; a dict of numpy arrays is taken as it is,
and the columns of a lazy frame are read when they are asked for. What may hold identifiers beside
the values (a pandas index, unused categories, metadata) does not come back.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import polars
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.schema import Code, Kind
from microveil.table import cells
from microveil.table.column_files import ColumnFiles, side_by_side
from microveil.table.labelled import Labels
from microveil.table.numeric_text import not_numeric
from microveil.table.restore import KEEP, RESTORE, Numbers, Reasons, restored_array

if TYPE_CHECKING:
    from microveil.table.untyped import Spelling

# Types of polars whose cells decide what a column holds.
_BY_CELLS = (polars.UInt64, polars.Decimal, polars.Datetime)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Table:
    """A table of any library, seen as typed columns: arrays, Series, or a lazy frame for each."""

    columns: Mapping[str, Any]
    n_records: int
    has_index: bool = False  # that says more than where a row stands, and is in no release
    labels: Mapping[str, Labels] = field(default_factory=dict)
    of_few: frozenset[str] = frozenset()  # columns whose few values would show in their types
    # What stands for a missing value, as the column's values are: such cells are seen as missing.
    missing: Mapping[str, tuple[Code, ...]] = field(default_factory=dict)
    files: ColumnFiles | None = None  # where columns wait that are made of a lazy table
    kinds: dict[str, Kind] = field(default_factory=dict)  # those that are known
    # Columns of a file without types whose kind is learnt: text, and how numbers are written there.
    untyped: "Mapping[str, Spelling]" = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in order."""
        return (*self.columns,)

    def kind(self, name: str) -> Kind:
        """Return how the column's values become numbers, if they do."""
        if name not in self.kinds:
            self.kinds[name] = cells.kind_of(_typed(self, name))
        return self.kinds[name]

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        """Return a numeric column as numbers; shared ones may be the table's own array."""
        kind = self.kind(name)
        if not kind.is_numeric:
            raise not_numeric(self, name)
        numbers = cells.numbers_of_cells(_column(self, name), kind, shared=shared)
        own = self.missing.get(name, ())
        if not own:
            return numbers
        narrow = narrow_float(self, name)
        which = np.full(len(numbers.values), -1, dtype=np.int16)
        for place, code in enumerate(own):
            # The column holds the nearest number of its own type.
            held = code if narrow is None else np.float64(narrow(float(code)))
            which[numbers.values == held] = place
        return _marked(numbers, Reasons(codes=own, which=which))

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        """Return a text column as positions in a list of categories; -1 where not in it."""
        column = _column(self, name)
        values, missing = cells.positions(column, name, categories)
        numbers = Numbers(values=values, missing=missing, categories=categories)
        own = missing_words(self, name)
        if not own:
            return numbers
        which = cells.positions(column, name, own)[0].astype(np.int16)
        return _marked(numbers, Reasons(codes=own, which=which))

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        """Return a column as text, "" where missing: of the first records, or of all."""
        own = self.columns[name]
        if isinstance(own, np.ndarray) and own.dtype.kind == "U" and name not in self.missing:
            return own[:first]
        words = _words(self, name, first).fill_null("")
        return np.asarray(words.to_numpy()).astype(np.str_)

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        """Return the different cells of a column that are text and begin with a sign."""
        return cells.texts_beginning(_column(self, name), name, signs)


def _as_given(table: Table, name: str) -> Any:
    own = table.columns[name]
    if isinstance(own, polars.LazyFrame):
        return nw.from_native(own.select(name).collect().to_series(), series_only=True)
    return own


def native_column(table: Table, name: str) -> Any:
    """Return a column as its library has it, of a lazy table read at once."""
    return _as_given(table, name).to_native()


def _column(table: Table, name: str) -> Any:
    """Return a column, a category of numbers as the numbers that it stands for."""
    return cells.numbers_of_category(_as_given(table, name))


def _typed(table: Table, name: str) -> Any:
    """Return a column for its type: of a lazy one without cells, where these decide nothing."""
    own = table.columns[name]
    if isinstance(own, polars.LazyFrame):
        dtype = own.collect_schema()[name]
        if dtype not in _BY_CELLS:
            return nw.from_native(polars.Series(name, [], dtype=dtype), series_only=True)
    return _column(table, name)


def missing_words(table: Table, name: str) -> tuple[str, ...]:
    """Return what stands for a missing value in a column of text."""
    return tuple(map(str, table.missing.get(name, ())))


def _words(table: Table, name: str, first: int | None = None) -> polars.Series:
    """Return a column as text of polars, null where missing or where a code says so."""
    column = _column(table, name)
    words = cells.texts(column if first is None else column[:first], name, others=True)
    own = missing_words(table, name) if table.kind(name) is Kind.OTHER else ()
    return words.set(words.is_in(own), None) if own else words


def _marked(numbers: Numbers, reasons: Reasons) -> Numbers:
    """Make the cells that hold a code missing ones."""
    which, missing = reasons.which, numbers.missing
    if missing is not None:
        which = np.where(missing, np.int16(-1), which)
    is_code = which >= 0
    if not is_code.any():
        return numbers
    values = numbers.values.copy()
    values[is_code] = np.nan if values.dtype.kind == "f" else 0
    return replace(
        numbers,
        values=values,
        missing=is_code if missing is None else missing | is_code,
        reasons=replace(reasons, which=which),
    )


def whole_limits(table: Table, name: str) -> tuple[int, int] | None:
    """Return the least and the largest whole number that a column's type holds; None of others."""
    kind = cells.type_name(_typed(table, name))
    if not kind.removeprefix("u").startswith("int") or kind.endswith("128"):
        return None
    limits = np.iinfo(kind)
    return int(limits.min), int(limits.max)


def narrow_float(table: Table, name: str) -> type[np.floating[Any]] | None:
    """Return the type of a column's numbers where they are floats of less than 64 bits."""
    narrow: dict[str, type[np.floating[Any]]] = {"float16": np.float16, "float32": np.float32}
    return narrow.get(cells.type_name(_typed(table, name)))


def is_text(table: Table, name: str) -> bool:
    """Whether a column's type alone says that it holds text, and lists none."""
    column = _typed(table, name)
    is_array = isinstance(column, np.ndarray)
    return column.dtype.kind == "U" if is_array else bool(column.dtype == nw.String)


def listed_categories(table: Table, name: str) -> tuple[str, ...] | None:
    """Return the categories that the type of a polars column declares; None where it declares none.

    Those of a pandas or pyarrow column are the ones that were seen.
    """
    column = _typed(table, name)
    if isinstance(column, np.ndarray) or not column.implementation.is_polars():
        return None
    if not isinstance(column.dtype, nw.Enum):
        return None
    return tuple(
        word for word in column.dtype.categories if word not in table.missing.get(name, ())
    )


def coded_words(
    table: Table, name: str, most: int
) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
    """Return a column of text as positions in the list of its different words, in order."""
    return words_coded(_words(table, name), most)


def words_coded(
    words: polars.Series, most: int
) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
    """Return words as positions in the list of different ones, see `coded_words`."""
    words = words.fill_null("")
    different = words.unique()
    if len(different) > most:
        return None
    categories = sorted(different.to_list())
    places = words.cast(polars.Enum(categories)).to_physical().cast(polars.Int32)
    return places.to_numpy(), (*categories,)


def counted_words(table: Table, name: str) -> Counter[str]:
    """Count how often each word of a column of text occurs; what is missing, "", is not."""
    counts = _words(table, name).drop_nulls().alias("word").value_counts(name="times")
    found = Counter(dict(zip(*(counts[part].to_list() for part in ("word", "times")), strict=True)))
    found.pop("", None)
    return found


def numbered_alike(table: Table, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return a number for each record, the same where a column's cells are, and which lack one."""
    alike, absent = cells.numbered_alike(_column(table, name), name)
    if name in table.missing:
        is_number = table.kind(name).is_numeric
        reasons = (table.numbers(name) if is_number else table.codes(name, ())).reasons
        absent = absent if reasons is None else absent | (reasons.which >= 0)
    return alike, absent


def check_kept(table: Table, name: str) -> None:
    """Refuse a column whose cells may carry more than they show."""
    if cells.may_hide(_as_given(table, name)):
        raise DataError(
            f"column '{name}'",
            "lists and structures cannot be kept, nor can other objects than text, numbers, dates "
            "and true or false, as they may carry more than they show",
            "take them apart into plain columns or write them as text first, or leave the column "
            "out",
        )


def part_of_column(table: Table, name: str, records: slice) -> Table:
    """Return the table of a column's records that follow each other: nothing is copied."""
    own, n_records = table.columns[name], records.stop - records.start
    is_lazy = isinstance(own, polars.LazyFrame)
    part = own.slice(records.start, n_records) if is_lazy else own[records]
    return replace(table, columns={name: part}, n_records=n_records, of_few=frozenset(), kinds={})


def records_taken(table: Table, rows: NDArray[np.int64]) -> Table:
    """Return the table of some of the records, by position; of a lazy one they wait too."""

    def taken(name: str) -> Any:
        own = _as_given(table, name)[rows]
        return own if table.files is None else table.files.put(own.to_native())

    columns = {name: taken(name) for name in table.names}
    return replace(table, columns=columns, n_records=len(rows), kinds={})


def restored(table: Table, name: str, numbers: Numbers) -> Any:
    """Make a column of the type that a column has, from new numbers of so many records."""
    if table.files is not None:
        empty = polars.Series(name, [], dtype=table.columns[name].collect_schema()[name])
        return table.files.put(RESTORE[nw.Implementation.POLARS](polars, empty, numbers))
    column = _column(table, name)
    if isinstance(column, np.ndarray):
        return restored_array(numbers, column.dtype)
    library = column.implementation
    return RESTORE[library](library.to_native_namespace(), column.to_native(), numbers)


def numbered(table: Table, name: str, values: NDArray[np.int64]) -> Any:
    """Make a column of whole numbers in the place of one, whatever that held."""
    if table.files is not None:
        return table.files.put(polars.Series(name, values))
    own = table.columns[name]
    if isinstance(own, np.ndarray):
        return values
    return nw.new_series(name, values, nw.Int64, backend=own.implementation).to_native()


def kept(table: Table, name: str, order: NDArray[np.int64] | None) -> Any:
    """Return a column as it is, in an order where one is given, without what hangs on it."""
    own = _as_given(table, name)
    if isinstance(own, np.ndarray):
        return own.copy() if order is None else own[order]
    rows = np.arange(table.n_records) if order is None else order
    library = own.implementation
    column = KEEP[library](library.to_native_namespace(), own.to_native(), rows)
    return column if table.files is None else table.files.put(column)


def assembled(table: Table, columns: Mapping[str, Any]) -> Any:
    """Make a frame of the same kind of columns that were restored, numbered or kept."""
    if table.files is not None:
        return side_by_side(columns, table.files)
    own = next(iter(table.columns.values()))
    if isinstance(own, np.ndarray):
        return dict(columns)
    namespace = own.implementation.to_native_namespace()
    make = namespace.table if own.implementation.is_pyarrow() else namespace.DataFrame
    return make(dict(columns))


def rebuilt(
    table: Table, columns: Mapping[str, Any], stay: Iterable[str], order: Any = None
) -> Any:
    """Make a frame of new columns and of columns kept as they are, in the order of a table.

    The new ones are in their order already; ``order`` is that of the rows that are kept.
    """
    released = {*columns, *stay}
    made = {
        name: columns[name] if name in columns else kept(table, name, order)
        for name in table.names
        if name in released
    }
    return assembled(table, made)
