"""Cells of any library as numbers, words and codes: a column is a numpy array or a Series."""

import datetime
import decimal
import fractions
import math
from typing import Any

import narwhals as nw
import numpy as np
import polars
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.schema import Kind
from microveil.table.restore import MOST_DIGITS, Numbers, nullable

# Cells of text made codes at a time.
BATCH = 1 << 18
TEXT = (nw.String, nw.Categorical, nw.Enum)
_TOLD_APART = 10**MOST_DIGITS
KINDS = {"b": Kind.BOOLEAN, "i": Kind.WHOLE, "u": Kind.WHOLE, "f": Kind.DECIMAL}
# Classes whose objects show all that they hold; those of pandas by name, as it is imported for
# nobody who does not use it; and kinds of numpy's own scalars.
PLAIN = frozenset(
    [
        *(type(None), bool, int, float, complex, str),
        *(decimal.Decimal, fractions.Fraction),
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta),
    ]
)
PLAIN_OF_PANDAS = frozenset(["Timestamp", "Timedelta", "Period", "NaTType", "NAType"])
PLAIN_OF_NUMPY = frozenset("biufcUMm")

Series = nw.Series[Any]
Column = NDArray[Any] | Series


def type_name(column: Column) -> str:
    """Name a type as numpy does, whatever library has it: narwhals writes float64 Float64."""
    return str(column.dtype).casefold()


def kind_of(column: Column) -> Kind:
    """Return how a column becomes numbers: told of moments, large numbers and objects by them."""
    dtype: Any = column.dtype
    if type_name(column) == "uint64":
        return Kind.OTHER if len(column) and (column.max() or 0) >= 1 << 63 else Kind.WHOLE
    if isinstance(column, np.ndarray):
        kind = KINDS.get(dtype.kind, Kind.OTHER)
        return Kind.DATE if dtype.kind == "M" and _are_whole_days(column) else kind
    is_date = dtype == nw.Date
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is None:
        is_date = _are_whole_days(column.to_numpy())
    kinds = (
        (dtype in (nw.Int128, nw.UInt128), Kind.OTHER),
        (dtype.is_integer(), Kind.WHOLE),
        (dtype.is_float() or _exact_decimals(column) is not None, Kind.DECIMAL),
        (dtype == nw.Boolean, Kind.BOOLEAN),
        (is_date, Kind.DATE),
    )
    return next((kind for holds, kind in kinds if holds), Kind.OTHER)


def _are_whole_days(array: NDArray[Any]) -> bool:
    """Whether moments are all at midnight: then they are dates."""
    if array.dtype.kind != "M":
        return False
    days = array.astype("datetime64[D]")
    return bool(np.all((days == array) | np.isnat(array)))


def _exact_decimals(column: Series) -> NDArray[np.float64] | None:
    """Return a column of exact decimals as floats, None of any other."""
    if column.dtype == nw.Decimal:
        return _decimals_of_series(column.to_polars())
    if column.dtype == nw.Object and column.implementation.is_pandas():
        found = column.to_list()
        is_one = any(isinstance(cell, decimal.Decimal) for cell in found)
        return _decimals_of_objects(found) if is_one else None
    return None


def _decimals_of_objects(cells: list[Any]) -> NDArray[np.float64] | None:
    """Return Python's decimals as floats, NaN where missing.

    None where a cell is something else, or where the column as a whole has more than 15 digits,
    from its largest number's first to the last decimal in use.
    """
    exact = [cell for cell in cells if isinstance(cell, decimal.Decimal)]
    present = [cell for cell in exact if not cell.is_nan()]
    others = (cell for cell in cells if not isinstance(cell, decimal.Decimal))
    if not all(map(_is_no_value, others)) or any(cell.is_infinite() for cell in present):
        return None
    shown = (format(cell, "f").partition(".")[2].rstrip("0") for cell in present)
    places = max(map(len, shown), default=0)
    largest = max((cell.copy_abs() for cell in present), default=decimal.Decimal(0))
    if places > MOST_DIGITS or largest.scaleb(places) > _TOLD_APART:
        return None
    is_one = (isinstance(cell, decimal.Decimal) and not cell.is_nan() for cell in cells)
    floats = [float(cell) if one else math.nan for cell, one in zip(cells, is_one, strict=True)]
    return np.array(floats, dtype=np.float64)


def _decimals_of_series(series: Any) -> NDArray[np.float64] | None:
    """Return a polars series of decimals as floats; see `_decimals_of_objects`."""
    if not len(series) - series.null_count():
        return np.full(len(series), np.nan)
    places = series.dtype.scale
    # Both are exact in what they divide, so the quotient is the nearest float.
    units = series.to_physical()
    largest = max(abs(int(units.min())), abs(int(units.max())))
    if places <= MOST_DIGITS and largest <= _TOLD_APART:
        whole: NDArray[np.float64] = units.cast(polars.Float64).to_numpy()
        scaled: NDArray[np.float64] = whole / 10.0**places
        return scaled
    texts = series.cast(polars.String)
    values: NDArray[np.float64] = texts.cast(polars.Float64).to_numpy()
    shown = texts.str.extract(r"\.(.*[1-9])").str.len_bytes().max()
    exact = decimal.Decimal(float(np.nanmax(np.abs(values)))).scaleb(shown or 0) <= _TOLD_APART
    return values if exact and (shown or 0) <= MOST_DIGITS else None


def _is_no_value(cell: Any) -> bool:
    return cell is None or cell != cell or type(cell).__name__ in ("NAType", "NaTType")  # noqa: PLR0124


def numbers_of_cells(column: Column, kind: Kind, *, shared: bool) -> Numbers:
    """Return the cells of a column of a numeric kind as numbers."""
    if kind is Kind.DECIMAL:
        values = np.ascontiguousarray(_floats(column), dtype=np.float64)
        # The least is no number where one is none: found in a third of the time of a look at each.
        lacks_some = len(values) and np.isnan(values.min())
        return Numbers(values=values, missing=np.isnan(values) if lacks_some else None)
    if isinstance(column, np.ndarray):
        absent = np.isnat(column) if kind is Kind.DATE else None
        missing = None if absent is None or not absent.any() else absent
        present = column if missing is None else column[~missing]
    else:
        missing = column.is_null().to_numpy() if column.null_count() else None
        present = (column if missing is None else column.drop_nulls()).to_numpy()
    if kind is Kind.DATE:
        present = present.astype("datetime64[D]")
    return Numbers(
        values=spread(present.astype(np.int64, copy=not shared), missing), missing=missing
    )


def _floats(column: Column) -> NDArray[Any]:
    if isinstance(column, np.ndarray):
        return column
    exact = _exact_decimals(column)
    if exact is not None:
        return exact
    filled = column.fill_null(float("nan")) if column.null_count() else column
    return np.asarray(filled.cast(nw.Float64).to_numpy())


def spread(present: NDArray[Any], missing: NDArray[np.bool_] | None) -> NDArray[Any]:
    """Put values back among missing ones, which get 0."""
    if missing is None:
        return present
    values = np.zeros(len(missing), dtype=present.dtype)
    values[~missing] = present
    return values


def texts(column: Column, name: str, *, others: bool = False) -> polars.Series:
    """Return a column of text as polars has it, null where missing; others as they are written."""
    if isinstance(column, np.ndarray):
        is_object, is_text = column.dtype.kind == "O", column.dtype.kind in "UO"
        may_be_read = is_text or others
    else:
        is_object = column.dtype == nw.Object and not column.implementation.is_pandas()
        is_text = column.dtype in TEXT or (column.dtype == nw.Object and not is_object)
        may_be_read = is_text or (others and column.dtype in (nw.Object, nw.Decimal))
    if not may_be_read:
        raise DataError(
            f"attribute '{name}'", "categories must be text", "convert the column to text"
        )
    if is_object:  # polars casts no such column
        words = [None if _is_missing(cell) else str(cell) for cell in _listed(column)]
        return polars.Series(name, words, dtype=polars.String)
    if isinstance(column, np.ndarray):
        return polars.Series(name, column.astype(np.str_), dtype=polars.String)
    return column.cast(nw.String).to_polars()


def _listed(column: Column) -> list[Any]:
    return column.tolist() if isinstance(column, np.ndarray) else column.to_list()


def _is_missing(entry: Any) -> bool:
    return entry is None or (isinstance(entry, float) and math.isnan(entry))


def positions(
    column: Column, name: str, categories: tuple[str, ...]
) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None]:
    """Return text as positions in a list, -1 where not in it, and which cells are missing."""
    listed = polars.Enum(categories)
    values = np.empty(len(column), dtype=np.int64)
    missing = np.zeros(len(column), dtype=np.bool_)
    for start in range(0, max(len(column), 1), BATCH):
        words = texts(column[start : start + BATCH], name)
        codes = words.cast(listed, strict=False).to_physical().cast(polars.Int64)
        values[start : start + BATCH] = codes.fill_null(-1).to_numpy()
        missing[start : start + BATCH] = words.is_null().to_numpy()
    return values, missing if missing.any() else None


def texts_beginning(column: Column, name: str, signs: tuple[str, ...]) -> set[str]:
    """Return the different cells that are text and begin with one of some signs."""
    if type_name(column) == "object":
        found = (cell for cell in _listed(column) if isinstance(cell, str))
        return {cell for cell in found if cell.startswith(signs)}
    if column.dtype.kind != "U" if isinstance(column, np.ndarray) else column.dtype not in TEXT:
        return set()
    words = texts(column, name).drop_nulls().unique()
    return set(words.filter(words.str.head(1).is_in(signs)).to_list())


def numbered_alike(column: Any, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return a number for each cell, the same where cells are, and which cells lack a value."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "biufM":
        absent = np.isnat(column) if column.dtype.kind == "M" else np.isnan(column)
        return np.unique(column, return_inverse=True)[1], absent
    is_array = isinstance(column, np.ndarray)
    is_text = column.dtype.kind == "U" if is_array else column.dtype in TEXT
    if is_text:
        cells = texts(column, name)
    elif is_array or column.dtype.is_nested() or column.dtype == nw.Object:
        return _numbered_objects(_listed(column), name)
    else:
        cells = column.to_polars()
    lacking = cells.is_null()
    if is_text:
        lacking |= (cells.str.strip_chars() == "").fill_null(value=False)
    elif cells.dtype.is_float():
        lacking |= cells.is_nan().fill_null(value=False)
    # The position of the first record that has the same.
    numbered = cells.alias("cell").to_frame().with_row_index("record")
    first = numbered.select(polars.col("record").first().over("cell")).to_series()
    return first.to_numpy().astype(np.int64), lacking.to_numpy()


def _numbered_objects(entries: list[Any], name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    first: dict[Any, int] = {}
    try:
        numbers = np.array([first.setdefault(e, len(first)) for e in entries], dtype=np.int64)
    except TypeError:
        raise DataError(
            f"column '{name}'",
            "lists and structures do not say which records are one unit's",
            "name a column of numbers or text",
        ) from None
    is_blank = (isinstance(entry, str) and not entry.strip() for entry in entries)
    absent = [_is_missing(e) or blank for e, blank in zip(entries, is_blank, strict=True)]
    return numbers, np.array(absent, dtype=np.bool_)


def numbers_of_category(column: Any) -> Any:
    """Return a category of pandas whose categories are numbers as these; any other as it is."""
    if isinstance(column, np.ndarray) or not column.implementation.is_pandas():
        return column
    native: Any = column.to_native()
    dtype = getattr(getattr(native.dtype, "categories", None), "dtype", None)
    if dtype is None or dtype.kind not in "iufbM":
        return column
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and native.isna().any():
        dtype = nullable(dtype)
    return nw.from_native(native.astype(dtype), series_only=True)


def may_hide(column: Column) -> bool:
    """Whether cells may hold more than they show: all but text, numbers, dates, yes/no and none.

    Whatever else an object is, printing it does not show all that it holds: a list or a dict,
    but also text of a class of somebody's own, which may have attributes. Known by the library's
    own types: narwhals reads that of objects off the first ones, and of an extension of Arrow, or
    a dictionary of structures, it sees neither what is stored nor what somebody's class makes of
    it.
    """
    objects: list[Any] = []
    if isinstance(column, np.ndarray):
        if column.dtype.kind == "V":
            return True
        objects = column.tolist() if column.dtype == np.object_ else []
    else:
        native: Any = column.to_native()
        kind = getattr(
            getattr(native, "dtype", None), "pyarrow_dtype", getattr(native, "type", None)
        )
        while kind is not None:
            if hasattr(kind, "storage_type") or getattr(kind, "num_fields", None):
                return True
            kind = getattr(kind, "value_type", None)
        if column.dtype.is_nested():
            return True
        if column.implementation.is_pandas():
            native = native.cat.categories if hasattr(native, "cat") else native
            objects = list(native) if native.dtype == np.object_ else []
        elif column.dtype == nw.Object:
            objects = column.to_list()
    return not all(map(_is_plain, set(map(type, objects))))


def _is_plain(kind: type) -> bool:
    if kind in PLAIN:
        return True
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return kind.__name__ in PLAIN_OF_PANDAS
    is_scalar = library == "numpy" and issubclass(kind, np.generic)
    return is_scalar and np.dtype(kind).kind in PLAIN_OF_NUMPY
