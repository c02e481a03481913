"""Any data frame, seen as typed columns, and back to the same kind of frame.

pandas, polars and pyarrow tables go through narwhals; a dict of numpy arrays is taken as it
is. What may hold identifiers beside the values (a pandas index, unused categories, metadata
of a frame, a schema or a file) does not come back.
"""

import decimal
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Protocol, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError
from microveil.schema import Cells, Kind
from microveil.table.decimals import MOST_DIGITS, decimals_of_objects, decimals_of_series
from microveil.table.keeping import IN_MEMORY, Keeper, pieces
from microveil.table.labelled import LabelledTable, Labels
from microveil.table.missing import MissingCodes, without_codes
from microveil.table.numeric_text import numeric_look_of
from microveil.table.objects import hides_in_its_type, hold_only_what_they_show, objects_in
from microveil.table.restore import KEEP, NOTHING, RESTORE, Numbers, restored_array

__all__ = [
    "Elsewhere",
    "Numbers",
    "Table",
    "check_columns",
    "check_names",
    "open_table",
    "part_of_table",
    "spread",
    "unknown_column",
]


# Cells of text made codes at a time.
BATCH = 1 << 18


class Table(Protocol):
    """What the product asks of a table, whatever library holds it."""

    names: tuple[str, ...]
    n_records: int
    has_index: bool  # that says more than where a row stands, and is in no release
    labels: Mapping[str, Labels]

    def kind(self, name: str) -> Kind:
        """Return how the column's values become numbers, if they do."""
        ...

    def has_single_precision(self, name: str) -> bool:
        """Whether the column's numbers are float32."""
        ...

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        """Return a numeric column as numbers.

        Shared whole numbers are those of the table itself where its library has them as an
        array: whoever asks for them must not write to them.
        """
        ...

    def check_kept(self, name: str) -> None:
        """Refuse a column whose cells may carry more than they show."""
        ...

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        """Return a text column as positions in a list of categories; -1 where not in it."""
        ...

    def listed(self, name: str) -> tuple[str, ...] | None:
        """Return the categories that the column's type declares; None where it declares none."""
        ...

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        """Return a column as text, "" where missing: of the first records, or of all."""
        ...

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        """Return the different cells of a column that are text and begin with a sign."""
        ...

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return a number for each record, the same where a column's cells are, and which lack one.

        Empty text, and not a number, count as missing.
        """
        ...

    def is_plain(self, name: str) -> bool:
        """Whether a column's type alone says that it holds numbers, yes and no, or dates."""
        ...

    def taken(self, rows: NDArray[np.int64]) -> "Table":
        """Return the table of some of the records, by position."""
        ...

    def part(self, records: slice) -> "Table":
        """Return the table of records that follow each other: nothing is copied."""
        ...

    def rebuild(
        self,
        columns: Mapping[str, Numbers],
        kept: Iterable[str],
        order: NDArray[np.int64] | None,
        numbered: Mapping[str, NDArray[np.int64]] = NOTHING,
        keeper: Keeper = IN_MEMORY,
    ) -> Any:
        """Make a frame of the same kind from new numbers and columns kept as they are.

        Columns come in the table's order, rows in ``order`` (positions) where one is given.
        ``numbered`` columns become whole numbers, whatever they were. ``keeper`` keeps each column
        as it is made.
        """
        ...


def open_table(table: Any, missing: MissingCodes | None = None) -> Table:
    """See any supported table as typed columns.

    Parameters
    ----------
    table : pandas.DataFrame, polars.DataFrame, pyarrow.Table, LabelledTable or dict of numpy arrays
    missing : MissingCodes, optional
        What stands for a missing value: such cells are seen as missing.

    Raises
    ------
    RequestError
        If it is none of these.
    DataError
        If columns share a name, are unnamed or of different lengths, or there are fewer
        than two records.

    Examples
    --------
    >>> table = open_table({"AGE": np.array([31, 45]), "NAME": np.array(["a", "b"])})
    >>> table.kind("AGE"), table.kind("NAME")
    (<Kind.WHOLE: 'whole number'>, <Kind.OTHER: 'text'>)
    """
    labels: dict[str, Labels] = {}
    if isinstance(table, LabelledTable):
        labels = {name: column.labels for name, column in table.schema.items()}
        table = table.frame
    if isinstance(table, Elsewhere):
        opened = cast("Table", table)
    elif isinstance(table, Mapping):
        check_names(list(table))
        opened = _Arrays(table)
    else:
        # narwhals would word these errors with the frame's own message.
        library = type(table).__module__.partition(".")[0]
        if library == "pandas":
            check_names(list(getattr(table, "columns", ())))
        elif library == "pyarrow":
            check_names(list(getattr(table, "column_names", ())))
        opened = _Frame(_narwhals(table))
    if not isinstance(table, Elsewhere):
        opened.labels = labels
    if opened.n_records == 0:
        raise DataError("table", "it holds no records", "pass a table of at least two records")
    if opened.n_records == 1:
        raise DataError(
            "table", "one record cannot be hidden among others", "pass a table of at least two"
        )
    return without_codes(opened, missing) if missing else opened


def part_of_table(frame: Any) -> Table:
    """See some of a table's records as typed columns, however few they are.

    >>> import polars
    >>> part_of_table(polars.DataFrame({"AGE": [31]})).n_records
    1
    """
    return _Frame(_narwhals(frame))


def check_columns(table: Table, names: Iterable[str], side: str = "") -> None:
    """Refuse names that a table does not have.

    Parameters
    ----------
    table : Table
    names : iterable of str
    side : str
        Which table it is, in the error, where there are several: "original", "protected".

    Raises
    ------
    RequestError
        If a name is not among the table's columns.
    """
    for name in names:
        if name not in table.names:
            raise unknown_column(name, table.names, side)


def unknown_column(name: str, names: Sequence[str], side: str = "") -> RequestError:
    """Return the error about a name that is none of a table's columns; see `check_columns`."""
    which = f"{side} table" if side else "table"
    return RequestError(
        f"column '{name}'", f"the {which} has no such column", _spelling(name, names)
    )


def _spelling(name: str, names: Sequence[str]) -> str:
    """Say what to do about a name that is not there.

    The names that are there are not listed: where a file had no header they are a person's
    values. One that is the name asked for but for capitals and spaces shows nothing new.
    """
    alike = [other for other in names if _folded(other) == _folded(name)]
    if alike:
        return f"write '{alike[0]}'"
    return f"check the name against those of its {len(names)} columns"


def _folded(name: str) -> str:
    return "".join(name.split()).casefold()


def _narwhals(table: Any) -> "nw.DataFrame[Any]":
    try:
        frame: nw.DataFrame[Any] | None = nw.from_native(table, eager_only=True)
    except (TypeError, ValueError):
        frame = None
    if frame is None or frame.implementation not in RESTORE:
        raise RequestError(
            "table",
            "it must be a pandas or polars data frame, a pyarrow table or a dict of numpy arrays",
            "convert it, or collect a lazy frame first",
        )
    return frame


def check_names(names: list[Any]) -> None:
    """Refuse columns that are not named by text, or by the same.

    Raises
    ------
    DataError
        By the columns' numbers.
    """
    for name in names:
        if not isinstance(name, str) or not name:
            raise DataError("table", "column names must be text", "name every column")
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if name in first:
            # By number: the names are a person's values where a file had no header.
            raise DataError(
                f"columns {first[name]} and {number}",
                "two columns must not have one name",
                "rename one",
            )
        first[name] = number


def _not_numeric(table: Table, name: str) -> DataError:
    look = numeric_look_of(table, name)
    if look is not None:
        return DataError(
            f"attribute '{name}'",
            "it must hold numbers, true and false, or dates",
            f"{look}; or leave it out, or list its categories (categories=, --categories)",
        )
    return DataError(
        f"attribute '{name}'",
        "it must hold numbers, true and false, or dates; text, moments with a time of day, nested "
        f"values, codes with leading zeros and decimals of more than {MOST_DIGITS} digits are "
        "none of these",
        "leave it out or convert it: to numbers, moments to dates",
    )


def _not_text(name: str) -> DataError:
    return DataError(f"attribute '{name}'", "categories must be text", "convert the column to text")


def _nested(name: str) -> DataError:
    return DataError(
        f"column '{name}'",
        "lists and structures cannot be kept, nor can other objects than text, numbers, dates and "
        "true or false, as they may carry more than they show",
        "take them apart into plain columns or write them as text first, or leave the column out",
    )


def _is_missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float) and math.isnan(entry))


def _is_empty(entry: Any) -> bool:
    return _is_missing(entry) or (isinstance(entry, str) and not entry.strip())


def _alike(entries: Iterable[Any], name: str) -> NDArray[np.int64]:
    """Return numbers of values of any kind, by their first record."""
    first: dict[Any, int] = {}
    try:
        return np.array([first.setdefault(e, len(first)) for e in entries], dtype=np.int64)
    except TypeError:
        raise DataError(
            f"column '{name}'",
            "lists and structures do not say which records are one unit's",
            "name a column of numbers or text",
        ) from None


def _as_words(entries: Iterable[Any]) -> NDArray[np.str_]:
    return np.array(["" if _is_missing(e) else str(e) for e in entries], dtype=np.str_)


class Elsewhere:
    """A `Table` that an engine took in, whose records are not in this process."""


class _Arrays:
    """A dict of numpy arrays."""

    has_index = False

    def __init__(self, arrays: Mapping[str, Any]) -> None:
        self.labels: Mapping[str, Labels] = {}
        for name, array in arrays.items():
            # The type of a list would hang on its values, a mask would hide some.
            if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
                raise RequestError(
                    f"column '{name}'",
                    "the columns of a dict must be plain numpy arrays",
                    "pass np.array(...) of the type you mean; for a masked array, NaN in floats",
                )
        self._arrays = {name: np.asarray(array) for name, array in arrays.items()}
        lengths = {array.shape for array in self._arrays.values()}
        if len(lengths) > 1 or any(len(shape) != 1 for shape in lengths):
            raise DataError(
                "table", "its arrays must be one-dimensional and of one length", "mend the arrays"
            )
        self.names = tuple(self._arrays)
        self.n_records = next(iter(lengths))[0] if lengths else 0

    def kind(self, name: str) -> Kind:
        array = self._arrays[name]
        if array.dtype.kind == "M":
            return Kind.DATE if _whole_days(array) else Kind.OTHER
        if array.dtype == np.uint64 and len(array) and array.max() >= 1 << 63:
            return Kind.OTHER
        kinds = {"b": Kind.BOOLEAN, "i": Kind.WHOLE, "u": Kind.WHOLE, "f": Kind.DECIMAL}
        return kinds.get(array.dtype.kind, Kind.OTHER)

    def has_single_precision(self, name: str) -> bool:
        return self._arrays[name].dtype == np.float32

    def is_plain(self, name: str) -> bool:
        return self._arrays[name].dtype.kind in "biuf"

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        array = self._arrays[name]
        kind = self.kind(name)
        if not kind.is_numeric:
            raise _not_numeric(self, name)
        if kind is Kind.DATE:
            return _days(array)
        if kind is Kind.DECIMAL:
            return _floats(array)
        return Numbers(values=array.astype(np.int64, copy=not shared), missing=None)

    def check_kept(self, name: str) -> None:
        array = self._arrays[name]
        objects = array.tolist() if array.dtype == np.object_ else []
        if array.dtype.kind == "V" or not hold_only_what_they_show(objects):
            raise _nested(name)

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        array = self._arrays[name]
        if array.dtype.kind not in "UO":
            raise _not_text(name)
        absent = np.array([word is None for word in array.tolist()])
        return _coded(array.astype(np.str_), absent if absent.any() else None, categories)

    def listed(self, name: str) -> tuple[str, ...] | None:
        del name
        return None

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        column = self._arrays[name][:first]
        if column.dtype != np.object_:
            return column.astype(np.str_)
        return _as_words(column.tolist())

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        array = self._arrays[name]
        return _beginning(array.tolist(), signs) if array.dtype.kind in "UO" else set()

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        array = self._arrays[name]
        if array.dtype.kind in "biufM":
            absent = np.isnat(array) if array.dtype.kind == "M" else np.isnan(array)
            return np.unique(array, return_inverse=True)[1], absent
        entries = array.tolist()
        return _alike(entries, name), np.array([_is_empty(entry) for entry in entries])

    def taken(self, rows: NDArray[np.int64]) -> "Table":
        return _Arrays({name: array[rows] for name, array in self._arrays.items()})

    def part(self, records: slice) -> "Table":
        return _Arrays({name: array[records] for name, array in self._arrays.items()})

    def rebuild(
        self,
        columns: Mapping[str, Numbers],
        kept: Iterable[str],
        order: NDArray[np.int64] | None,
        numbered: Mapping[str, NDArray[np.int64]] = NOTHING,
        keeper: Keeper = IN_MEMORY,
    ) -> dict[str, NDArray[Any]]:
        made: dict[str, NDArray[Any]] = {}
        for name in self.names:
            if name in numbered:
                made[name] = keeper.kept(numbered[name])
            elif name in columns:
                made[name] = keeper.kept(restored_array(columns[name], self._arrays[name].dtype))
            elif name in kept:
                made[name] = keeper.kept(self._arrays[name].copy())
        return made if order is None else {name: array[order] for name, array in made.items()}


class _Frame:
    """A pandas, polars or pyarrow table."""

    def __init__(self, frame: "nw.DataFrame[Any]") -> None:
        self._frame = frame
        self.names = tuple(frame.columns)
        self.labels: Mapping[str, Labels] = {}
        self.n_records = len(frame)
        index = getattr(frame.to_native(), "index", None)
        self.has_index = index is not None and (
            type(index).__name__ != "RangeIndex" or index.name is not None
        )
        self._decimals: dict[str, NDArray[np.float64] | None] = {}

    def kind(self, name: str) -> Kind:
        column = self._frame.get_column(name)
        dtype = column.dtype
        is_date = dtype == nw.Date
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is None:
            is_date = _whole_days(column.to_numpy())
        too_wide = dtype in (nw.Int128, nw.UInt128) or (
            dtype == nw.UInt64 and (column.max() or 0) >= 1 << 63
        )
        kinds = (
            (too_wide, Kind.OTHER),
            (dtype.is_integer(), Kind.WHOLE),
            (dtype.is_float() or self._exact_decimals(name) is not None, Kind.DECIMAL),
            (dtype == nw.Boolean, Kind.BOOLEAN),
            (is_date, Kind.DATE),
        )
        return next((kind for holds, kind in kinds if holds), Kind.OTHER)

    def has_single_precision(self, name: str) -> bool:
        return self._frame.get_column(name).dtype == nw.Float32

    def is_plain(self, name: str) -> bool:
        dtype = self._frame.get_column(name).dtype
        return dtype.is_integer() or dtype.is_float() or dtype in (nw.Boolean, nw.Date)

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        kind = self.kind(name)
        if not kind.is_numeric:
            raise _not_numeric(self, name)
        column = self._frame.get_column(name)
        missing = column.is_null().to_numpy() if column.null_count() else None
        if kind is Kind.DATE:
            filled = column if missing is None else column.drop_nulls()
            days = _days(filled.to_numpy()).values
            return Numbers(values=spread(days, missing), missing=missing)
        if kind is Kind.DECIMAL:
            exact = self._exact_decimals(name)
            if exact is not None:
                return _floats(exact.copy())
            if missing is not None:
                column = column.fill_null(float("nan"))
            return _floats(column.cast(nw.Float64).to_numpy())
        if kind is Kind.BOOLEAN:
            filled = column if missing is None else column.fill_null(value=False)
            return Numbers(values=filled.to_numpy().astype(np.int64), missing=missing)
        filled = column if missing is None else column.fill_null(0)
        whole = filled.to_numpy().astype(np.int64, copy=not shared)
        return Numbers(values=whole, missing=missing)

    def _exact_decimals(self, name: str) -> NDArray[np.float64] | None:
        """Return a column of exact decimals as floats, None of any other; read once."""
        if name not in self._decimals:
            self._decimals[name] = _exact_decimals(self._frame.get_column(name))
        return self._decimals[name]

    def check_kept(self, name: str) -> None:
        column = self._frame.get_column(name)
        nested = column.dtype.is_nested() or hides_in_its_type(column)
        if nested or not hold_only_what_they_show(objects_in(column)):
            raise _nested(name)

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        column = self._frame.get_column(name)
        pandas_object = column.dtype == nw.Object and self._frame.implementation.is_pandas()
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum) and not pandas_object:
            raise _not_text(name)
        missing = column.is_null().to_numpy() if column.null_count() else None
        import polars

        listed, values = polars.Enum(categories), np.empty(len(column), dtype=np.int64)
        for start in range(0, len(column), BATCH):
            texts = column[start : start + BATCH].cast(nw.String).to_polars()
            codes = texts.cast(listed, strict=False).to_physical().cast(polars.Int64)
            values[start : start + BATCH] = codes.fill_null(-1).to_numpy()
        return Numbers(values=values, missing=missing, categories=categories)

    def listed(self, name: str) -> tuple[str, ...] | None:
        # The categories of a pandas or pyarrow column are those seen; an Enum's stand in its type.
        dtype = self._frame.get_column(name).dtype
        if not self._frame.implementation.is_polars() or not isinstance(dtype, nw.Enum):
            return None
        return tuple(dtype.categories)

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        column = self._frame.get_column(name) if first is None else self._frame[name].head(first)
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum, nw.Object, nw.Decimal):
            raise _not_text(name)
        if column.dtype == nw.Object and not self._frame.implementation.is_pandas():
            return _as_words(column.to_list())  # polars casts no such column
        return np.asarray(column.cast(nw.String).fill_null("").to_numpy()).astype(np.str_)

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        column = self._frame.get_column(name)
        if column.dtype == nw.Object:
            return _beginning(column.to_list(), signs)
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum):
            return set()
        found: set[str] = set()
        for piece in pieces(len(column)):
            texts = column[piece].cast(nw.String).drop_nulls()
            found.update(texts.filter(texts.str.head(1).is_in(signs)).to_list())
        return found

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        column = self._frame.get_column(name)
        if column.dtype.is_nested() or column.dtype == nw.Object:
            entries = column.to_list()
            return _alike(entries, name), np.array([_is_empty(entry) for entry in entries])
        import polars

        cells = column.to_polars()
        absent = cells.is_null()
        if cells.dtype.is_float():
            absent |= cells.is_nan().fill_null(value=False)
        if column.dtype in (nw.String, nw.Categorical, nw.Enum):
            cells = cells.cast(polars.String)
            absent |= (cells.str.strip_chars() == "").fill_null(value=False)
        # The position of the first record that has the same.
        numbered = cells.alias("cell").to_frame().with_row_index("record")
        first = numbered.select(polars.col("record").first().over("cell")).to_series()
        return first.to_numpy().astype(np.int64), absent.to_numpy()

    def taken(self, rows: NDArray[np.int64]) -> "Table":
        fewer = _Frame(self._frame[rows])
        # Rows by position leave an index that shows which they are: it is not the table's own.
        fewer.has_index = self.has_index
        return fewer

    def part(self, records: slice) -> "Table":
        return _Frame(self._frame[records])

    def rebuild(
        self,
        columns: Mapping[str, Numbers],
        kept: Iterable[str],
        order: NDArray[np.int64] | None,
        numbered: Mapping[str, NDArray[np.int64]] = NOTHING,
        keeper: Keeper = IN_MEMORY,
    ) -> Any:
        implementation = self._frame.implementation
        namespace = implementation.to_native_namespace()
        joined = keeper.joined if implementation.is_polars() else IN_MEMORY.joined
        made: dict[str, Any] = {}
        for name in self.names:
            native = self._frame.get_column(name).to_native()
            if name in numbered:
                whole = numbered[name] if order is None else numbered[name][order]
                fresh = nw.new_series(name, whole, nw.Int64, backend=implementation)
                made[name] = keeper.kept(fresh.to_native())
            elif name in columns:
                numbers = _in_order(columns[name], order)
                made[name] = joined(
                    len(numbers.values), partial(_restored, implementation, native, numbers)
                )
            elif name in kept and (order is not None or _has_list(native)):
                taken = np.arange(self.n_records) if order is None else order
                made[name] = keeper.kept(KEEP[implementation](namespace, native, taken))
            elif name in kept:
                made[name] = joined(self.n_records, partial(_kept, implementation, native))
        if implementation is nw.Implementation.PYARROW:
            return namespace.table(made)
        return namespace.DataFrame(made)


def _restored(
    implementation: nw.Implementation, native: Any, numbers: Numbers, records: slice
) -> Any:
    """Make cells of some records of a column to be released."""
    namespace = implementation.to_native_namespace()
    return RESTORE[implementation](namespace, native, numbers.part(records))


def _kept(implementation: nw.Implementation, native: Any, records: slice) -> Any:
    """Keep some records of a column as it is."""
    taken = np.arange(records.start, records.stop)
    return KEEP[implementation](implementation.to_native_namespace(), native, taken)


def _has_list(native: Any) -> bool:
    """Whether the type of a column of polars lists the categories that the column may hold."""
    return str(getattr(native, "dtype", "")).startswith(("Enum", "Categorical"))


def _exact_decimals(column: "nw.Series[Any]") -> NDArray[np.float64] | None:
    if column.dtype == nw.Decimal:
        return decimals_of_series(column.to_polars())
    if column.dtype == nw.Object and column.implementation.is_pandas():
        cells = column.to_list()
        return decimals_of_objects(cells) if any(map(_is_decimal, cells)) else None
    return None


def _is_decimal(cell: Any) -> bool:
    return isinstance(cell, decimal.Decimal)


def _beginning(cells: Iterable[Any], signs: tuple[str, ...]) -> set[str]:
    return {cell for cell in cells if isinstance(cell, str) and cell.startswith(signs)}


def _coded(
    words: NDArray[np.str_], missing: NDArray[np.bool_] | None, categories: tuple[str, ...]
) -> Numbers:
    seen, where = np.unique(words, return_inverse=True)
    position = {category: place for place, category in enumerate(categories)}
    codes = np.array([position.get(word, -1) for word in seen.tolist()], dtype=np.int64)
    return Numbers(values=codes[where], missing=missing, categories=categories)


def _floats(array: NDArray[Any]) -> Numbers:
    values = np.ascontiguousarray(array, dtype=np.float64)
    missing = np.isnan(values)
    return Numbers(values=values, missing=missing if missing.any() else None)


def _whole_days(array: NDArray[Any]) -> bool:
    """Whether moments are all at midnight: then they are dates."""
    if array.dtype.kind != "M":
        return False
    days = array.astype("datetime64[D]")
    return bool(np.all((days == array) | np.isnat(array)))


def _days(array: NDArray[Any]) -> Numbers:
    days = array.astype("datetime64[D]")
    missing = np.isnat(days)
    values = np.where(missing, 0, days.astype(np.int64))
    return Numbers(values=values, missing=missing if missing.any() else None)


def spread(present: Cells, missing: NDArray[np.bool_] | None) -> Cells:
    """Put values back among missing ones, which get 0."""
    if missing is None:
        return present
    values = np.zeros(len(missing), dtype=present.dtype)
    values[~missing] = present
    return values


def _in_order(numbers: Numbers, order: NDArray[np.int64] | None) -> Numbers:
    return numbers if order is None else numbers.in_order(order)
