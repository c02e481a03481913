"""A pandas, polars or pyarrow table as typed columns."""

import decimal
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import polars
from numpy.typing import NDArray

from microveil.schema import Kind
from microveil.table.cells import (
    are_whole_days,
    as_words,
    beginning,
    coded_words,
    counted_words,
    days_of,
    floats,
    is_empty,
    nested,
    not_numeric,
    not_text,
    numbered_alike,
    spread,
)
from microveil.table.decimals import decimals_of_objects, decimals_of_series
from microveil.table.empty_columns import (
    empty_column,
    is_of_few,
    numbers_of_category,
    says_nothing,
)
from microveil.table.labelled import Labels
from microveil.table.objects import hides_in_its_type, hold_only_what_they_show, objects_in
from microveil.table.protocol import Table
from microveil.table.restore import KEEP, RESTORE, Numbers

__all__ = ["FrameTable", "exact_decimals"]

# Cells of text made codes at a time.
BATCH = 1 << 18


class FrameTable:
    """A pandas, polars or pyarrow table."""

    def __init__(self, frame: "nw.DataFrame[Any]") -> None:
        self._frame = frame
        self.names = tuple(frame.columns)
        self.labels: Mapping[str, Labels] = {}
        self.of_few: frozenset[str] = frozenset()
        self.n_records = len(frame)
        index = getattr(frame.to_native(), "index", None)
        self.has_index = index is not None and (
            type(index).__name__ != "RangeIndex" or index.name is not None
        )
        self._decimals: dict[str, NDArray[np.float64] | None] = {}

    def state(self, kinds: Mapping[str, Kind], most: int) -> None:
        """Give columns without any value the types that were stated of them.

        Where no more than ``most`` cells have a value, and these make a column another type than
        that, they would show in it: such columns are `of_few`.

        >>> import polars
        >>> frame = polars.DataFrame({"AGE": [None, None]})
        >>> table = FrameTable(nw.from_native(frame, eager_only=True))
        >>> table.state({"AGE": Kind.WHOLE}, 1)
        >>> table.kind("AGE")
        <Kind.WHOLE: 'whole number'>
        """
        for name in (name for name in self.names if name in kinds):
            column = self._frame.get_column(name)
            n_present = len(column) - column.null_count()
            if n_present > most:
                continue
            if n_present and is_of_few(numbers_of_category(column), kinds[name]):
                self.of_few |= {name}
            elif not n_present and says_nothing(column):
                empty = empty_column(column, kinds[name])
                if column.dtype == nw.Categorical:
                    empty = empty.cast(nw.Categorical)
                self._frame = self._frame.with_columns(empty)

    def _as_given(self, name: str) -> "nw.Series[Any]":
        return self._frame.get_column(name)

    def _column(self, name: str) -> "nw.Series[Any]":
        """Return a column, a category of numbers as the numbers that it stands for."""
        return numbers_of_category(self._as_given(name))

    def _of_type(self, name: str) -> "nw.Series[Any]":
        """Return a column for who asks for its type."""
        return self._column(name)

    def kind(self, name: str) -> Kind:
        """Tell by the type, of moments and objects by the values."""
        column = self._of_type(name)
        dtype = column.dtype
        is_date = dtype == nw.Date
        if isinstance(dtype, nw.Datetime) and dtype.time_zone is None:
            is_date = are_whole_days(column.to_numpy())
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
        """Tell by its type."""
        return self._of_type(name).dtype == nw.Float32

    def is_plain(self, name: str) -> bool:
        """Tell by its type."""
        dtype = self._of_type(name).dtype
        return dtype.is_integer() or dtype.is_float() or dtype in (nw.Boolean, nw.Date)

    def is_text(self, name: str) -> bool:
        """Tell by its type."""
        return self._of_type(name).dtype == nw.String

    def floats_as_they_are(self, name: str) -> NDArray[np.float64] | None:
        """Tell by its type, and by how many are null."""
        column = self._column(name)
        if column.dtype != nw.Float64 or column.null_count():
            return None
        return np.asarray(column.to_numpy(), dtype=np.float64)

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        """Convert by the kind; cells that are null are missing."""
        kind = self.kind(name)
        if not kind.is_numeric:
            raise not_numeric(self, name)
        column = self._column(name)
        missing = column.is_null().to_numpy() if column.null_count() else None
        if kind is Kind.DATE:
            filled = column if missing is None else column.drop_nulls()
            days = days_of(filled.to_numpy()).values
            return Numbers(values=spread(days, missing), missing=missing)
        if kind is Kind.DECIMAL:
            exact = self._exact_decimals(name)
            if exact is not None:
                return floats(exact.copy())
            if missing is not None:
                column = column.fill_null(float("nan"))
            return floats(column.cast(nw.Float64).to_numpy())
        if kind is Kind.BOOLEAN:
            filled = column if missing is None else column.fill_null(value=False)
            return Numbers(values=filled.to_numpy().astype(np.int64), missing=missing)
        filled = column if missing is None else column.fill_null(0)
        whole = filled.to_numpy().astype(np.int64, copy=not shared)
        return Numbers(values=whole, missing=missing)

    def _exact_decimals(self, name: str) -> NDArray[np.float64] | None:
        """Return a column of exact decimals as floats, None of any other; read once."""
        if name not in self._decimals:
            self._decimals[name] = exact_decimals(self._of_type(name))
        return self._decimals[name]

    def check_kept(self, name: str) -> None:
        """Refuse nested types, and objects that hide something."""
        column = self._as_given(name)
        hides = column.dtype.is_nested() or hides_in_its_type(column)
        if hides or not hold_only_what_they_show(objects_in(column)):
            raise nested(name)

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        """Cast to an Enum of the list, some cells at a time."""
        column = self._column(name)
        pandas_object = column.dtype == nw.Object and self._frame.implementation.is_pandas()
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum) and not pandas_object:
            raise not_text(name)
        missing = column.is_null().to_numpy() if column.null_count() else None
        values = np.empty(len(column), dtype=np.int64)
        for start, codes in self._codes(column, categories):
            values[start : start + BATCH] = codes.fill_null(-1).to_numpy()
        return Numbers(values=values, missing=missing, categories=categories)

    def _codes(
        self, column: "nw.Series[Any]", categories: tuple[str, ...]
    ) -> Iterator[tuple[int, Any]]:
        """Cast text to an Enum of the list, some cells at a time; null where it is not in it."""
        listed = polars.Enum(categories)
        for start in range(0, len(column), BATCH):
            texts = column[start : start + BATCH].cast(nw.String).to_polars()
            yield start, texts.cast(listed, strict=False).to_physical().cast(polars.Int64)

    def listed(self, name: str) -> tuple[str, ...] | None:
        """Return the categories of an Enum of polars."""
        # The categories of a pandas or pyarrow column are those seen; an Enum's stand in its type.
        dtype = self._of_type(name).dtype
        if not self._frame.implementation.is_polars() or not isinstance(dtype, nw.Enum):
            return None
        return tuple(dtype.categories)

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        """Cast to text; cells that are null are empty."""
        column = self._column(name) if first is None else self._column(name).head(first)
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum, nw.Object, nw.Decimal):
            raise not_text(name)
        if column.dtype == nw.Object and not self._frame.implementation.is_pandas():
            return as_words(column.to_list())  # polars casts no such column
        return np.asarray(column.cast(nw.String).fill_null("").to_numpy()).astype(np.str_)

    def coded_words(self, name: str, most: int) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
        """Cast text to an Enum of what is different; look other words up."""
        column = self._column(name)
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum):
            return coded_words(self.words(name), most)
        different = column.unique().cast(nw.String).fill_null("").unique().to_list()
        if len(different) > most:
            return None
        categories = tuple(sorted(different))
        values = np.empty(len(column), dtype=np.int32)
        for start, codes in self._codes(column, categories):
            # What is in no list is missing, "" then: there is no other.
            values[start : start + BATCH] = codes.fill_null(0).to_numpy()
        return values, categories

    def counted_words(self, name: str) -> Counter[str]:
        """Count by polars."""
        column = self._column(name)
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum):
            return counted_words(self.words(name))
        # Categories of other libraries may be no text: as they write it, see `words`.
        is_own = self._frame.implementation.is_polars()
        cells = (column if is_own else column.cast(nw.String)).to_polars()
        counts = cells.drop_nulls().alias("word").value_counts(name="times")
        words = counts["word"].cast(polars.String).to_list()
        found = Counter(dict(zip(words, counts["times"].to_list(), strict=True)))
        found.pop("", None)
        return found

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        """Look at text and at objects."""
        column = self._column(name)
        if column.dtype == nw.Object:
            return beginning(column.to_list(), signs)
        if column.dtype not in (nw.String, nw.Categorical, nw.Enum):
            return set()
        texts = column.drop_nulls().unique().cast(nw.String)
        return set(texts.filter(texts.str.head(1).is_in(signs)).to_list())

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Tell cells apart by the first record that has the same."""
        column = self._column(name)
        if column.dtype.is_nested() or column.dtype == nw.Object:
            entries = column.to_list()
            return numbered_alike(entries, name), np.array([is_empty(entry) for entry in entries])
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
        """Take rows by position."""
        fewer = FrameTable(self._frame[rows])
        # Rows by position leave an index that shows which they are: it is not the table's own.
        fewer.has_index = self.has_index
        fewer.of_few = self.of_few
        return fewer

    def part(self, records: slice) -> "Table":
        """Share them where the library does."""
        return FrameTable(self._frame[records])

    def restored(self, name: str, numbers: Numbers) -> Any:
        """Make a column of the type that was there, by the library of the table."""
        implementation = self._frame.implementation
        namespace = implementation.to_native_namespace()
        return RESTORE[implementation](namespace, self._of_type(name).to_native(), numbers)

    def numbered(self, name: str, values: NDArray[np.int64]) -> Any:
        """Make whole numbers of the library."""
        backend = self._frame.implementation
        return nw.new_series(name, values, nw.Int64, backend=backend).to_native()

    def kept(self, name: str, order: NDArray[np.int64] | None) -> Any:
        """Take its cells anew, by the library of the table."""
        implementation = self._frame.implementation
        namespace = implementation.to_native_namespace()
        taken = np.arange(self.n_records) if order is None else order
        return KEEP[implementation](namespace, self._as_given(name).to_native(), taken)

    def assembled(self, columns: Mapping[str, Any]) -> Any:
        """Make a frame of the library."""
        namespace = self._frame.implementation.to_native_namespace()
        if self._frame.implementation is nw.Implementation.PYARROW:
            return namespace.table(dict(columns))
        return namespace.DataFrame(dict(columns))


def exact_decimals(column: "nw.Series[Any]") -> NDArray[np.float64] | None:
    """Return a column of exact decimals as floats, None of any other."""
    if column.dtype == nw.Decimal:
        return decimals_of_series(column.to_polars())
    if column.dtype == nw.Object and column.implementation.is_pandas():
        cells = column.to_list()
        return decimals_of_objects(cells) if any(map(_is_decimal, cells)) else None
    return None


def _is_decimal(cell: Any) -> bool:
    return isinstance(cell, decimal.Decimal)
