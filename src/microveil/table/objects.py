"""Cells that are Python objects, and whether these hold more than they show."""

import datetime
import decimal
import fractions
from collections.abc import Iterable
from typing import Any

import narwhals as nw
import numpy as np

__all__ = ["hides_in_its_type", "hold_only_what_they_show", "objects_in"]

PLAIN = frozenset(
    [
        *(type(None), bool, int, float, complex, str),
        *(decimal.Decimal, fractions.Fraction),
        *(datetime.date, datetime.datetime, datetime.time, datetime.timedelta),
    ]
)
# Known by name, as pandas is imported for nobody who does not use it.
PLAIN_OF_PANDAS = frozenset(["Timestamp", "Timedelta", "Period", "NaTType", "NAType"])
# Kinds of numpy's own scalars: yes/no, numbers, text, moments and spans of time.
PLAIN_OF_NUMPY = frozenset("biufcUMm")


def hold_only_what_they_show(cells: Iterable[Any]) -> bool:
    """Whether cells are text, numbers, dates, yes/no or missing, by their types alone.

    Whatever else an object is, printing it does not show all that it holds: a list or a dict,
    but also text of a class of somebody's own, which may have attributes.

    >>> hold_only_what_they_show(["north", 3, None, float("nan")])
    True
    >>> hold_only_what_they_show(["north", ["a list"]])
    False
    """
    return all(map(_is_plain, set(map(type, cells))))


def objects_in(column: "nw.Series[Any]") -> list[Any]:
    """Return the Python objects in a column of a frame; none where its type says all.

    Known by the library's own type: narwhals reads that of objects off the first ones.
    """
    native: Any = column.to_native()
    if not column.implementation.is_pandas():
        return column.to_list() if column.dtype == nw.Object else []
    if hasattr(native, "cat"):
        native = native.cat.categories
    return list(native) if native.dtype == np.object_ else []


def hides_in_its_type(column: "nw.Series[Any]") -> bool:
    """Whether an Arrow column's type holds more than plain cells: an extension, or a nested one.

    Known by the library's own type: of an extension, or of a dictionary of structures, narwhals
    sees neither what it stores nor what somebody's class makes of it.
    """
    native: Any = column.to_native()
    kind = getattr(getattr(native, "dtype", None), "pyarrow_dtype", getattr(native, "type", None))
    while kind is not None:
        if hasattr(kind, "storage_type") or getattr(kind, "num_fields", None):
            return True
        kind = getattr(kind, "value_type", None)
    return False


def _is_plain(kind: type) -> bool:
    if kind in PLAIN:
        return True
    library = kind.__module__.partition(".")[0]
    if library == "pandas":
        return kind.__name__ in PLAIN_OF_PANDAS
    is_scalar = library == "numpy" and issubclass(kind, np.generic)
    return is_scalar and np.dtype(kind).kind in PLAIN_OF_NUMPY
