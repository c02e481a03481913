"""New numbers in the column types of the original, and kept columns without what hangs on.

One function for each library and task; the library's own module comes as an argument, so
that none is imported that the user does not have.
"""

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from microveil.schema import Cells, Code

# 64 bits of nanoseconds reach this many days to either side of 1970.
NANOSECOND_DAYS = 106_750
# Digits that the widest decimals hold which every library knows.
MOST_PRECISION = 38
# Two decimals of so many digits never have the same nearest float64.
MOST_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Reasons:
    """Why cells are missing: codes, as the column's values are, and which of them each cell has.

    ``which`` is an int16 array (n_records,), -1 where a cell has no code.
    """

    codes: tuple[Code, ...]
    which: NDArray[np.int16]

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many cells have each code."""
        return np.bincount(self.which[self.which >= 0], minlength=len(self.codes))

    def of_first(self, n_codes: int) -> "Reasons":
        """Return the reasons that the first codes give: the others' cells have none."""
        which = np.where(self.which < n_codes, self.which, np.int16(-1))
        return Reasons(codes=self.codes[:n_codes], which=which)


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """A column as int64 or float64 (n_records,): dates as days since 1970-01-01, yes/no as 1 and 0.

    Nullable are whole numbers whose type is one that takes a missing value, also where the
    original's took none, or was one of decimals for want of such a type.
    """

    values: Cells  # anything where missing
    missing: NDArray[np.bool_] | None  # (n_records,), None where no value is missing
    categories: tuple[str, ...] | None = None  # where the values are positions in this list
    nullable: bool = False
    reasons: Reasons | None = None  # of a column to be released the codes to write in such cells

    def in_order(self, order: NDArray[np.int64] | slice) -> "Numbers":
        """Return the cells of other records, in their order; nothing is copied of a slice."""
        reasons = self.reasons
        return replace(
            self,
            values=self.values[order],
            missing=None if self.missing is None else self.missing[order],
            reasons=None if reasons is None else replace(reasons, which=reasons.which[order]),
        )

    def with_codes_written(self, dtype: "np.dtype[Any] | None" = None) -> "Numbers":
        """Return the column with its codes as values, where whole numbers of a type hold them."""
        if self.reasons is None or self.missing is None:
            return self
        codes, which = self.reasons.codes, self.reasons.which
        values, missing, categories = self.values.copy(), self.missing.copy(), self.categories
        if categories is not None:
            categories = (*categories, *(str(code) for code in codes))
        elif any(isinstance(code, float) for code in codes):
            values = values.astype(np.float64)
        for place, code in enumerate(codes):
            if categories is None and not _held(code, dtype):
                continue
            cells = which == place
            written: Any = code if self.categories is None else len(self.categories) + place
            values[cells] = written
            missing[cells] = False
        left = missing if missing.any() else None
        return Numbers(values=values, missing=left, categories=categories)


def _held(code: Any, dtype: "np.dtype[Any] | None") -> bool:
    """Whether a type has a place for a code: one that is clipped would be a value."""
    if dtype is None or dtype.kind not in "iu":
        return True
    limits = np.iinfo(dtype)
    return isinstance(code, int) and int(limits.min) <= code <= int(limits.max)


def _within(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Clip whole numbers to what their type can hold: its limits are public."""
    if dtype.kind not in "iu" or values.dtype.kind == "f":
        return values
    limits = np.iinfo(dtype)
    low, high = int(limits.min), min(int(limits.max), np.iinfo(np.int64).max)
    return values if low == np.iinfo(np.int64).min else np.clip(values, low, high)


def _representable(days: NDArray[Any], unit: str) -> NDArray[Any]:
    """Make dates of days, clipped to what moments counted in nanoseconds can hold."""
    if unit == "ns":
        days = np.clip(days, -NANOSECOND_DAYS, NANOSECOND_DAYS)
    return days.astype("datetime64[D]")


def _written_decimals(
    values: Cells, precision: int, places: int
) -> tuple[NDArray[np.float64], int]:
    """Clip floats to what a type of so many digits and decimals holds, as they are to be written.

    They are 0 where not finite, and to be rounded to so many decimals before they get those of the
    type: more than these were given to none of them.
    """
    limit = min((10**precision - 1) / 10**places, math.nextafter(10.0 ** (precision - places), 0))
    held = np.clip(np.where(np.isfinite(values), values, 0.0), -limit, limit)
    # Up to a power of ten itself, the numbers below it say how many digits there are.
    below = max(0, math.ceil(np.abs(held).max(initial=0.0)) - 1)
    return held, max(0, min(places, MOST_DIGITS - len(str(below))))


def restored_array(numbers: Numbers, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Return numbers as an array of a type, clamped to what it can hold."""
    numbers = numbers.with_codes_written(dtype)
    values, missing = numbers.values, numbers.missing
    if numbers.categories is not None:
        words = _words(numbers)
        if dtype.kind == "O":
            return np.array(words, dtype=object)
        # As wide as the declared categories: the width of the original shows what it held.
        widest = max(map(len, numbers.categories))
        return np.array([word or "" for word in words], dtype=f"U{widest}")
    if dtype.kind == "M":
        dates = _representable(values, np.datetime_data(dtype)[0]).astype(dtype)
        if missing is not None:
            dates[missing] = np.datetime64("NaT", "D")
        return dates
    restored = _within(values, dtype).astype(dtype, copy=False)
    if missing is None:
        return restored
    # Whole numbers and yes/no values of numpy have no place for a missing one: floats do.
    restored = restored.astype(dtype if dtype.kind == "f" else np.float64)
    restored[missing] = np.nan
    return restored


def _words(numbers: Numbers) -> list[str | None]:
    """Return the categories that the codes of a text column stand for."""
    categories = numbers.categories or ()
    listed = np.array([*categories, None], dtype=object)
    places = numbers.values
    if numbers.missing is not None:
        places = np.where(numbers.missing, len(categories), places)
    words: list[str | None] = listed[places].tolist()
    return words


def _restore_polars(polars: Any, native: Any, numbers: Numbers) -> Any:
    dtype = native.dtype
    whole = (
        np.dtype(polars.Series([], dtype=dtype).to_numpy().dtype) if dtype.is_integer() else None
    )
    numbers = numbers.with_codes_written(whole)
    if numbers.categories is not None:
        if isinstance(dtype, polars.Enum):
            dtype = polars.Enum(numbers.categories)
        listed = polars.Series(native.name, numbers.categories, dtype=polars.String)
        words = listed.gather(polars.Series(numbers.values))
        if numbers.missing is not None:
            words = _without(polars, words, numbers.missing)
        return words.cast(dtype)
    values = numbers.values
    if whole is not None:
        values = _within(values, whole)
    series = polars.Series(native.name, values)
    if dtype == polars.Boolean:
        series = series.cast(polars.Boolean)
    elif dtype == polars.Date:
        series = series.cast(polars.Int32).cast(dtype)
    elif dtype.is_temporal():
        series = polars.Series(native.name, _representable(values, dtype.time_unit)).cast(dtype)
    elif dtype.is_decimal():
        precision = dtype.precision or MOST_PRECISION
        held, places = _written_decimals(values, precision, dtype.scale)
        rounded = polars.Series(native.name, held).cast(polars.Decimal(MOST_PRECISION, places))
        series = rounded.cast(dtype)
    else:
        series = series.cast(dtype)
    if numbers.missing is None:
        return series
    return _without(polars, series, numbers.missing)


def _without(polars: Any, series: Any, missing: NDArray[np.bool_]) -> Any:
    nothing = series.clear().extend_constant(None, 1).new_from_index(0, len(series))
    return series.zip_with(polars.Series(~missing), nothing)


def arrow_array(arrow: Any, numbers: Numbers, kind: Any) -> Any:
    """Build a pyarrow array of a type from numbers."""
    is_whole = arrow.types.is_integer(kind)
    numbers = numbers.with_codes_written(np.dtype(kind.to_pandas_dtype()) if is_whole else None)
    if numbers.categories is not None:
        return arrow.array(_words(numbers), arrow.string()).cast(kind)
    values = numbers.values
    if is_whole:
        values = _within(values, np.dtype(kind.to_pandas_dtype()))
    if arrow.types.is_date(kind) or arrow.types.is_timestamp(kind):
        values = _representable(values, getattr(kind, "unit", "D"))
    elif arrow.types.is_boolean(kind):
        values = values.astype(np.bool_)
    elif arrow.types.is_decimal(kind):
        values, places = _written_decimals(values, kind.precision, kind.scale)
        rounded = arrow.decimal128(MOST_PRECISION, places)
        return arrow.array(values, mask=numbers.missing).cast(rounded).cast(kind)
    return arrow.array(values, mask=numbers.missing).cast(kind)


def _keep_arrow(arrow: Any, native: Any, order: NDArray[np.integer[Any]]) -> Any:
    kind = native.type
    taken = native.take(arrow.array(order)).combine_chunks()
    if arrow.types.is_dictionary(kind):
        plain = taken.cast(kind.value_type)
        return plain.dictionary_encode().cast(kind)
    return taken


def _restore_pandas(pandas: Any, native: Any, numbers: Numbers) -> Any:
    dtype = native.dtype
    if not hasattr(dtype, "pyarrow_dtype"):
        plain = getattr(dtype, "numpy_dtype", dtype)
        numbers = numbers.with_codes_written(plain if isinstance(plain, np.dtype) else None)
    values, missing = numbers.values, numbers.missing
    if isinstance(dtype, pandas.CategoricalDtype):
        dtype = pandas.CategoricalDtype(numbers.categories, ordered=dtype.ordered)
    if numbers.categories is not None:
        return pandas.Series(_words(numbers), dtype=object).astype(dtype)
    if hasattr(dtype, "pyarrow_dtype"):
        import pyarrow

        array = arrow_array(pyarrow, numbers, dtype.pyarrow_dtype)
        return pandas.Series(pandas.array(array, dtype=dtype))
    if dtype == np.dtype(object):
        # As Python's decimals, written as short as they are told apart.
        exact = [Decimal(repr(value)) for value in values.tolist()]
        gone = np.zeros(len(exact), np.bool_) if missing is None else missing
        cells = [None if is_gone else cell for cell, is_gone in zip(exact, gone, strict=True)]
        return pandas.Series(cells, dtype=object)
    if isinstance(dtype, np.dtype):
        if numbers.nullable and dtype.kind in "iuf":
            dtype = pandas.Int64Dtype()
        elif missing is not None and dtype.kind in "biu":
            dtype = pandas.api.types.pandas_dtype(nullable(dtype))
        else:
            return pandas.Series(restored_array(numbers, dtype))
    plain = np.dtype(dtype.numpy_dtype)
    array = pandas.array(_within(values, plain).astype(plain), dtype=dtype)
    if missing is not None:
        array[missing] = pandas.NA
    return pandas.Series(array)


def nullable(dtype: "np.dtype[Any]") -> str:
    """Name the type of pandas that takes missing values besides those of a numpy type."""
    return "boolean" if dtype.kind == "b" else dtype.name.replace("i", "I").replace("u", "U")


def _keep_pandas(pandas: Any, native: Any, order: NDArray[np.integer[Any]]) -> Any:
    taken = native.take(order).reset_index(drop=True)
    if isinstance(taken.dtype, pandas.CategoricalDtype):
        taken = taken.cat.remove_unused_categories()
    elif hasattr(taken.dtype, "numpy_dtype"):
        # What lies under the mask of a missing cell would come along.
        taken = pandas.Series(pandas.array(taken.tolist(), dtype=taken.dtype))
    taken.attrs = {}
    return taken


def _keep_polars(polars: Any, native: Any, order: NDArray[np.integer[Any]]) -> Any:
    """Take cells, without what is under missing ones or categories that no record has."""
    taken = native.gather(order)
    if not str(native.dtype).startswith(("Enum", "Categorical")):
        return taken
    # In the order of words: that in which they come would say something of the table's order.
    words = native.unique().drop_nulls().cast(polars.String).sort()
    if isinstance(native.dtype, polars.Enum):
        return taken.cast(polars.String).cast(polars.Enum(words))
    listed = polars.Series(native.name, words, dtype=polars.Categorical)
    place = {word: number for number, word in enumerate(words)}
    places = taken.cast(polars.String).replace_strict(place, return_dtype=polars.UInt32)
    return listed.gather(places) if len(words) else listed.clear().extend_constant(None, len(taken))


RESTORE = {
    nw.Implementation.POLARS: _restore_polars,
    nw.Implementation.PYARROW: lambda arrow, native, numbers: arrow_array(
        arrow, numbers, native.type
    ),
    nw.Implementation.PANDAS: _restore_pandas,
}
KEEP = {
    nw.Implementation.POLARS: _keep_polars,
    nw.Implementation.PYARROW: _keep_arrow,
    nw.Implementation.PANDAS: _keep_pandas,
}
