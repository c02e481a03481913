"""Columns without a value, whose types say nothing, and categories of pandas that are numbers."""

from typing import Any

import narwhals as nw
import numpy as np

from microveil.schema import Kind

__all__ = ["as_category", "empty_column", "is_of_few", "numbers_of_category", "says_nothing"]

_TYPES: dict[Kind, Any] = {
    Kind.WHOLE: nw.Int64,
    Kind.DECIMAL: nw.Float64,
    Kind.BOOLEAN: nw.Boolean,
    Kind.DATE: nw.Date,
    Kind.OTHER: nw.String,
}
_TEXT = (nw.String, nw.Categorical, nw.Enum)
# The types that libraries give a column by its values, where nobody asks for one.
_MADE_OF_VALUES = (
    *(nw.Int64, nw.Float64, nw.Boolean, nw.String, nw.Object, nw.Unknown, nw.Decimal),
    *(nw.Date, nw.Datetime, nw.Time, nw.Duration),
)


def empty_column(column: "nw.Series[Any]", kind: Kind) -> "nw.Series[Any]":
    """Return a column without any value, of the type that its library gives values of a kind."""
    dtype, implementation = _TYPES[kind], column.implementation
    if implementation.is_pandas():
        import pandas

        moments = pandas.to_datetime(["2000-01-01"]).unit
        # Beside a cell without a value pandas has whole numbers as floats, and dates as moments.
        of_pandas = {Kind.WHOLE: nw.Float64, Kind.DATE: nw.Datetime(moments)}
        dtype = of_pandas.get(kind, dtype)
    nothing: list[None] = [None] * len(column)
    return nw.new_series(column.name, nothing, dtype, backend=implementation)


def says_nothing(column: "nw.Series[Any]") -> bool:
    """Whether the type of a column without any value may be there for want of one."""
    if column.implementation.is_pandas():
        categories = getattr(column.to_native().dtype, "categories", None)
        if categories is not None or column.dtype == nw.Datetime("s"):
            return categories is None or not len(categories)
    return column.dtype in (nw.String, nw.Unknown)


def is_of_few(column: "nw.Series[Any]", kind: Kind) -> bool:
    """Whether a column's few values give it another type than it would have without them."""
    empty = empty_column(column[:0], kind)
    if kind is Kind.OTHER and column.dtype in _TEXT and not column.implementation.is_pandas():
        return False
    if column.dtype == nw.Categorical:
        return kind is not Kind.OTHER
    if column.dtype not in _MADE_OF_VALUES:
        return False  # somebody asked for such a type, as a fact about the column
    return bool(_type(column) != _type(empty))


def _type(column: "nw.Series[Any]") -> Any:
    native = column.to_native()
    return native.type if column.implementation.is_pyarrow() else native.dtype


def numbers_of_category(column: "nw.Series[Any]") -> "nw.Series[Any]":
    """Return a category of pandas whose categories are numbers as these; any other as it is.

    >>> import pandas
    >>> sizes = nw.from_native(pandas.Series([2, 1, 2], dtype="category"), series_only=True)
    >>> numbers_of_category(sizes).dtype
    Int64
    """
    native: Any = column.to_native()
    categories = None
    if column.implementation.is_pandas():
        categories = getattr(native.dtype, "categories", None)
    if categories is None or categories.dtype.kind not in "iufbM":
        return column
    dtype = categories.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and native.isna().any():
        dtype = _NULLABLE.get(dtype.name, dtype.name.replace("i", "I").replace("u", "U"))
    return nw.from_native(native.astype(dtype), series_only=True)


_NULLABLE = {"bool": "boolean"}


def as_category(pandas: Any, values: Any, given: Any) -> Any:
    """Return new numbers as a category, like the one that was there.

    Parameters
    ----------
    pandas : module
    values : pandas.Series
    given : pandas.CategoricalDtype
        Its categories are numbers.
    """
    present = values.dropna().unique()
    listed = pandas.Index(present).astype(given.categories.dtype).sort_values()
    return values.astype(pandas.CategoricalDtype(listed, ordered=given.ordered))
