"""Open any data frame as a table of typed columns; names that no column may have."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import narwhals as nw
import numpy as np
import polars
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError, one_error
from microveil.schema import Kind
from microveil.table.cells import TEXT, numbers_of_category
from microveil.table.column_files import ColumnFiles, columns_of, files_of, height_of
from microveil.table.labelled import LabelledTable, fitting
from microveil.table.missing import MissingCodes, codes_of_table
from microveil.table.restore import RESTORE
from microveil.table.table import Table, is_text

# polars takes such a name for a pattern, and gives other columns, or none, in the place of its own.
PATTERN_RULE = (
    "no name may be an asterisk, or begin with ^ and end with $: it would be taken for a pattern"
)
# The types that libraries give a column of a kind, and those that they give one by its values,
# where nobody asks for one.
TYPES: Mapping[Kind, Any] = {
    Kind.WHOLE: nw.Int64,
    Kind.DECIMAL: nw.Float64,
    Kind.BOOLEAN: nw.Boolean,
    Kind.DATE: nw.Date,
    Kind.OTHER: nw.String,
}
MADE_OF_VALUES = (
    *(nw.Int64, nw.Float64, nw.Boolean, nw.String, nw.Object, nw.Unknown, nw.Decimal),
    *(nw.Date, nw.Datetime, nw.Time, nw.Duration),
)


def open_table(
    table: Any,
    missing: MissingCodes | None = None,
    stated: Mapping[str, Kind] = MappingProxyType({}),
    most: int = 1,
) -> Table:
    """See any supported table, or what is open already, as typed columns.

    Cells that hold a code are seen as missing. Columns without any value are taken for what is
    stated of them; in one of no more values than one unit may have, these must not show by its
    type. Refused is what has no two records, or whose columns cannot be told apart.
    """
    if isinstance(table, LabelledTable):
        opened = replace(_seen(table.frame), untyped=table.untyped)
        labels = {
            name: fitting(own.labels, opened.kind(name), is_text=is_text(opened, name))
            for name, own in table.schema.items()
        }
        opened = replace(opened, labels=labels)
    else:
        opened = table if isinstance(table, Table) else _seen(table)
    if opened.n_records == 0:
        raise DataError("table", "it holds no records", "pass a table of at least two records")
    if opened.n_records == 1:
        raise DataError(
            "table", "one record cannot be hidden among others", "pass a table of at least two"
        )
    for name in opened.names:
        if name in stated and name not in opened.untyped:
            opened = _stated(opened, name, stated[name], most)
    return replace(opened, missing=codes_of_table(opened, missing)) if missing else opened


def open_beside(original: Any, release: Table, missing: MissingCodes | None = None) -> Table:
    """Open the original of a release, whose columns say what those without any value hold."""
    return open_table(original, missing, {name: release.kind(name) for name in release.names})


def _seen(table: Any) -> Table:
    # narwhals would word errors about names with the frame's own message.
    named = {"pandas": "columns", "pyarrow": "column_names"}
    own = named.get(type(table).__module__.partition(".")[0], "")
    check_names(list(table if isinstance(table, Mapping) else getattr(table, own, ())))
    if isinstance(table, polars.LazyFrame):
        return _of_lazy(columns_of(table), files_of(table))
    if isinstance(table, Mapping):
        is_lazy = {*map(type, table.values())} == {polars.LazyFrame}
        return _of_lazy(dict(table), None) if is_lazy else _of_arrays(table)
    opened = table_of_frame(table)
    check_names([*opened.names])
    return opened


def _of_lazy(columns: dict[str, polars.LazyFrame], files: ColumnFiles | None) -> Table:
    n_records = next((height_of(own.select(name)) for name, own in columns.items()), 0)
    return Table(columns=columns, n_records=n_records, files=files or ColumnFiles())


def _of_arrays(arrays: Mapping[str, Any]) -> Table:
    columns, lengths = dict[str, NDArray[Any]](), set[int]()
    for name, array in arrays.items():
        # The type of a list would hang on its values, a mask would hide some.
        if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
            raise RequestError(
                f"column '{name}'",
                "the columns of a dict must be plain numpy arrays",
                "pass np.array(...) of the type you mean; for a masked array, NaN in floats",
            )
        columns[name] = np.asarray(array)
        lengths.add(len(array) if array.ndim == 1 else -1)
    if len(lengths) > 1 or -1 in lengths:
        raise DataError(
            "table", "its arrays must be one-dimensional and of one length", "mend the arrays"
        )
    return Table(columns=columns, n_records=max(lengths, default=0))


def table_of_frame(given: Any) -> Table:
    """See the records of a frame as typed columns, however few they are."""
    try:
        frame: nw.DataFrame[Any] | None = nw.from_native(given, eager_only=True)
    except (TypeError, ValueError):
        frame = None
    if frame is None or frame.implementation not in RESTORE:
        raise RequestError(
            "table",
            "it must be a pandas or polars data frame, a pyarrow table or a dict of numpy arrays",
            "convert it, or collect a lazy frame first",
        )
    index = getattr(frame.to_native(), "index", None)
    has_index = index is not None and (
        type(index).__name__ != "RangeIndex" or index.name is not None
    )
    columns = {name: frame.get_column(name) for name in frame.columns}
    return Table(columns=columns, n_records=len(frame), has_index=has_index)


def is_of_spark(table: Any) -> bool:
    """Whether a table is a Spark frame: by its module, so that nothing heavy is imported."""
    return type(table).__module__.startswith("pyspark.sql.")


def _stated(table: Table, name: str, kind: Kind, most: int) -> Table:
    """Give a column without any value the type of the kind that was stated of it.

    Where no more than ``most`` cells have a value, and these make the column another type than
    that, they would show in it: such a column is one `of_few`.
    """
    own = table.columns[name]
    if isinstance(own, np.ndarray):
        return table
    if isinstance(own, polars.LazyFrame):
        dtype = own.collect_schema()[name]
        if dtype not in (polars.String, polars.Null) and table.kind(name) == kind:
            return table
        own = nw.from_native(own.select(name).collect().to_series(), series_only=True)
    n_present = len(own) - own.null_count()
    if not len(own) or n_present > most:
        return table
    if n_present and _is_of_few(numbers_of_category(own), kind):
        return replace(table, of_few=table.of_few | {name})
    if n_present or not _says_nothing(own):
        return table
    empty = _empty(own, kind)
    if own.dtype == nw.Categorical:
        empty = empty.cast(nw.Categorical)
    column = empty if table.files is None else empty.to_native().to_frame().lazy()
    return replace(table, columns={**table.columns, name: column}, kinds={})


def _empty(column: "nw.Series[Any]", kind: Kind) -> "nw.Series[Any]":
    """Return a column without any value, of the type that its library gives values of a kind."""
    dtype, implementation = TYPES[kind], column.implementation
    if implementation.is_pandas():
        import pandas

        moments = pandas.to_datetime(["2000-01-01"]).unit
        # Beside a cell without a value pandas has whole numbers as floats, and dates as moments.
        of_pandas = {Kind.WHOLE: nw.Float64, Kind.DATE: nw.Datetime(moments)}
        dtype = of_pandas.get(kind, dtype)
    nothing: list[None] = [None] * len(column)
    return nw.new_series(column.name, nothing, dtype, backend=implementation)


def _says_nothing(column: "nw.Series[Any]") -> bool:
    """Whether the type of a column without any value may be there for want of one."""
    if column.implementation.is_pandas():
        categories = getattr(column.to_native().dtype, "categories", None)
        if categories is not None or column.dtype == nw.Datetime("s"):
            return categories is None or not len(categories)
    return column.dtype in (nw.String, nw.Unknown)


def _is_of_few(column: "nw.Series[Any]", kind: Kind) -> bool:
    """Whether a column's few values give it another type than it would have without them."""
    if kind is Kind.OTHER and column.dtype in TEXT and not column.implementation.is_pandas():
        return False
    if column.dtype == nw.Categorical:
        return kind is not Kind.OTHER
    if column.dtype not in MADE_OF_VALUES:
        return False  # somebody asked for such a type, as a fact about the column
    given, empty = column.to_native(), _empty(column[:0], kind).to_native()
    own = "type" if column.implementation.is_pyarrow() else "dtype"
    return bool(getattr(given, own) != getattr(empty, own))


def check_columns(table: Table, names: Iterable[str], side: str = "") -> None:
    """Refuse names that a table does not have; side is "original" or "protected" of several."""
    unknown = [name for name in dict.fromkeys(names) if name not in table.columns]
    if unknown:
        raise one_error([unknown_column(name, table.names, side) for name in unknown])


def unknown_column(name: str, names: Sequence[str], side: str = "") -> RequestError:
    """Return the error about a name that is none of a table's columns; see `check_columns`.

    The names that are there are not listed: where a file had no header they are a person's
    values. One that is the name asked for but for capitals and spaces shows nothing new.
    """
    which = f"{side} table" if side else "table"
    alike = [other for other in names if _folded(other) == _folded(name)]
    return RequestError(
        f"column '{name}'",
        f"the {which} has no such column",
        f"write '{alike[0]}'"
        if alike
        else f"check the name against those of its {len(names)} columns",
    )


def _folded(name: str) -> str:
    return "".join(name.split()).casefold()


def check_names(names: list[Any]) -> None:
    """Refuse columns that are not named by text, by the same, or by a pattern: by their numbers."""
    first: dict[str, int] = {}
    for number, name in enumerate(names, start=1):
        if not isinstance(name, str) or not name:
            raise DataError("table", "column names must be text", "name every column")
        if first.setdefault(name, number) != number:
            # By number: the names are a person's values where a file had no header.
            raise DataError(
                f"columns {first[name]} and {number}",
                "two columns must not have one name",
                "rename one",
            )
    if number_of_one := pattern_among(names):
        raise DataError(f"column {number_of_one}", PATTERN_RULE, "rename it")


def pattern_among(names: Iterable[str]) -> int | None:
    """Return the number of the first name that a library would take for a pattern, from 1."""
    for number, name in enumerate(names, start=1):
        if name == "*" or (name.startswith("^") and name.endswith("$")):
            return number
    return None
