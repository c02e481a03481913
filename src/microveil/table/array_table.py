"""A dict of numpy arrays as typed columns."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError
from microveil.schema import Kind
from microveil.table.cells import (
    are_whole_days,
    as_words,
    beginning,
    coded,
    coded_words,
    counted_words,
    days_of,
    floats,
    is_empty,
    nested,
    not_numeric,
    not_text,
    numbered_alike,
)
from microveil.table.labelled import Labels
from microveil.table.objects import hold_only_what_they_show
from microveil.table.protocol import Table
from microveil.table.restore import Numbers, restored_array

__all__ = ["ArrayTable"]


class ArrayTable:
    """A dict of numpy arrays."""

    has_index = False
    of_few: frozenset[str] = frozenset()

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
        """Tell by the type of the array."""
        array = self._arrays[name]
        if array.dtype.kind == "M":
            return Kind.DATE if are_whole_days(array) else Kind.OTHER
        if array.dtype == np.uint64 and len(array) and array.max() >= 1 << 63:
            return Kind.OTHER
        kinds = {"b": Kind.BOOLEAN, "i": Kind.WHOLE, "u": Kind.WHOLE, "f": Kind.DECIMAL}
        return kinds.get(array.dtype.kind, Kind.OTHER)

    def has_single_precision(self, name: str) -> bool:
        """Tell by its type."""
        return self._arrays[name].dtype == np.float32

    def is_plain(self, name: str) -> bool:
        """Tell by its type."""
        return self._arrays[name].dtype.kind in "biuf"

    def is_text(self, name: str) -> bool:
        """Tell by its type."""
        return self._arrays[name].dtype.kind == "U"

    def floats_as_they_are(self, name: str) -> NDArray[np.float64] | None:
        """Tell by the type of the array."""
        array = self._arrays[name]
        return array if array.dtype == np.float64 else None

    def numbers(self, name: str, *, shared: bool = False) -> Numbers:
        """Convert where the type is another."""
        array = self._arrays[name]
        kind = self.kind(name)
        if not kind.is_numeric:
            raise not_numeric(self, name)
        if kind is Kind.DATE:
            return days_of(array)
        if kind is Kind.DECIMAL:
            return floats(array)
        return Numbers(values=array.astype(np.int64, copy=not shared), missing=None)

    def check_kept(self, name: str) -> None:
        """Refuse records and objects that hide something."""
        array = self._arrays[name]
        objects = array.tolist() if array.dtype == np.object_ else []
        if array.dtype.kind == "V" or not hold_only_what_they_show(objects):
            raise nested(name)

    def codes(self, name: str, categories: tuple[str, ...]) -> Numbers:
        """Look each different word up."""
        array = self._arrays[name]
        if array.dtype.kind not in "UO":
            raise not_text(name)
        absent = np.array([word is None for word in array.tolist()])
        return coded(array.astype(np.str_), absent if absent.any() else None, categories)

    def listed(self, name: str) -> tuple[str, ...] | None:
        """Return None: an array lists none."""
        del name
        return None

    def words(self, name: str, *, first: int | None = None) -> NDArray[np.str_]:
        """Convert where they are no text."""
        column = self._arrays[name][:first]
        if column.dtype != np.object_:
            return column.astype(np.str_)
        return as_words(column.tolist())

    def coded_words(self, name: str, most: int) -> tuple[NDArray[np.int32], tuple[str, ...]] | None:
        """Look each word up."""
        return coded_words(self.words(name), most)

    def counted_words(self, name: str) -> Counter[str]:
        """Count them."""
        return counted_words(self.words(name))

    def texts_beginning(self, name: str, signs: tuple[str, ...]) -> set[str]:
        """Look at text and objects."""
        array = self._arrays[name]
        return beginning(array.tolist(), signs) if array.dtype.kind in "UO" else set()

    def alike(self, name: str) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Count the different values through."""
        array = self._arrays[name]
        if array.dtype.kind in "biufM":
            absent = np.isnat(array) if array.dtype.kind == "M" else np.isnan(array)
            return np.unique(array, return_inverse=True)[1], absent
        entries = array.tolist()
        return numbered_alike(entries, name), np.array([is_empty(entry) for entry in entries])

    def taken(self, rows: NDArray[np.int64]) -> "Table":
        """Take them of every array."""
        return ArrayTable({name: array[rows] for name, array in self._arrays.items()})

    def part(self, records: slice) -> "Table":
        """Share them: nothing is copied."""
        return ArrayTable({name: array[records] for name, array in self._arrays.items()})

    def restored(self, name: str, numbers: Numbers) -> NDArray[Any]:
        """Make an array of the type that was there."""
        return restored_array(numbers, self._arrays[name].dtype)

    def numbered(self, name: str, values: NDArray[np.int64]) -> NDArray[Any]:
        """Return them."""
        del name
        return values

    def kept(self, name: str, order: NDArray[np.int64] | None) -> NDArray[Any]:
        """Copy it."""
        array = self._arrays[name]
        return array.copy() if order is None else array[order]

    def assembled(self, columns: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
        """Return a dict of arrays."""
        return dict(columns)
