"""What can be read off a column."""

import datetime
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError, RequestError, stands_alone
from microveil.schema import EPOCH, WHOLE_IN_FLOATS, Kind
from microveil.table.frames import open_table
from microveil.table.likely import present
from microveil.table.missing import MissingCodes
from microveil.table.restore import MOST_DIGITS, Numbers
from microveil.table.table import Table

# Text of more different values than this is hardly one of categories.
MOST_CATEGORIES = 1000

Column = NDArray[Any]


class BoundsFromData(tuple[Any, Any]):
    """Bounds (lower, upper) that were read from the data: a guarantee says so."""

    __slots__ = ()


class CategoriesFromData(tuple[str, ...]):
    """Categories that were read from the data: a guarantee says so."""

    __slots__ = ()


class ResolutionFromData(float):
    """A resolution that was read from the data: a guarantee says so."""

    __slots__ = ()


@stands_alone
def bounds_from_data(
    table: Any,
    alpha: float = 1.5,
    *,
    missing_codes: Mapping[str, Any] | None = None,
    missing_values: Iterable[str] | None = None,
) -> dict[str, BoundsFromData]:
    """Read bounds off the numeric attributes of a table: convenient, and a leak.

    As in IDP-2025's experiments, in general form: lower is min(0, alpha * minimum), upper is
    max(0, alpha * maximum). The largest clamped cell of the release then shows
    alpha * maximum, so no claim holds for the person who has it; a guarantee says so.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    alpha : float
        1 or more.
    missing_codes, missing_values : optional
        What stands for a missing value, as for `protect`: no bound is read off it.

    Returns
    -------
    dict of (lower, upper)
        For `protect`'s argument ``bounds``; attributes whose values are all 0 or missing,
        and yes/no attributes, need or get none.

    Examples
    --------
    >>> bounds_from_data({"TAX": np.array([10, 40]), "NAME": np.array(["a", "b"])})
    {'TAX': (0, 60.0)}
    """
    if isinstance(alpha, bool) or not isinstance(alpha, int | float) or not 1 <= alpha < np.inf:
        raise RequestError("alpha", "alpha must be a number of 1 or more", "pass alpha=1.5")
    opened = open_table(table, MissingCodes.of(missing_codes, missing_values))
    found = {}
    for name in opened.names:
        kind = opened.kind(name)
        is_bounded = kind.is_numeric and kind is not Kind.BOOLEAN
        values = present(opened.numbers(name)) if is_bounded else np.zeros(0)
        lower = min(0, alpha * values.min(initial=0).item())
        upper = max(0, alpha * values.max(initial=0).item())
        if lower < upper:
            is_date = kind is Kind.DATE
            found[name] = BoundsFromData(map(_date, (lower, upper)) if is_date else (lower, upper))
    return found


def _date(days: float) -> datetime.date:
    try:
        return EPOCH + datetime.timedelta(days=round(days))
    except OverflowError:
        raise RequestError(
            "alpha", "a bound read from the data is no date any more", "declare the bounds"
        ) from None


@stands_alone
def resolution_from_data(
    table: Any,
    *,
    missing_codes: Mapping[str, Any] | None = None,
    missing_values: Iterable[str] | None = None,
) -> dict[str, ResolutionFromData]:
    """Read the decimals in use off the float attributes of a table; a guarantee says so.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    missing_codes, missing_values : optional
        What stands for a missing value, as for `protect`: it has no decimals.

    Returns
    -------
    dict of float
        For `protect`'s argument ``resolution``: 0.01 where every value has two decimals or
        fewer, 1 where all are whole. Whole numbers, dates and yes/no need none.

    Examples
    --------
    >>> resolution_from_data({"TAX": np.array([10.25, 40.5])})
    {'TAX': 0.01}
    """
    opened = open_table(table, MissingCodes.of(missing_codes, missing_values))
    found = {}
    for name in opened.names:
        if opened.kind(name) is Kind.DECIMAL:
            found[name] = ResolutionFromData(10.0 ** -decimals_seen(opened.numbers(name)))
    return found


@stands_alone
def categories_from_data(
    table: Any,
    *,
    missing_codes: Mapping[str, Any] | None = None,
    missing_values: Iterable[str] | None = None,
) -> dict[str, CategoriesFromData]:
    """Read the categories in use off the text attributes of a table: convenient, and a leak.

    A category that one person alone has is in the list, and a release shows the list: no claim
    holds for that person, and a guarantee says so.

    Parameters
    ----------
    table : data frame or dict of numpy arrays
    missing_codes, missing_values : optional
        What stands for a missing value, as for `protect`: it is no category.

    Returns
    -------
    dict of tuple of str
        For `protect`'s argument ``categories``, in alphabetical order, which means nothing; text
        of fewer than two different values, or more than 1000, is left out. To declare an order,
        or the list itself, write it out.

    Examples
    --------
    >>> categories_from_data({"REGION": np.array(["South", "North", "South"])})
    {'REGION': ('North', 'South')}
    """
    opened = open_table(table, MissingCodes.of(missing_codes, missing_values))
    found = {}
    for name in opened.names:
        seen = categories_seen(opened, name)
        if seen is not None and 2 <= len(seen) <= MOST_CATEGORIES:
            found[name] = CategoriesFromData(seen)
    return found


def categories_seen(table: Table, name: str) -> list[str] | None:
    """Return the different values of a column of text, in alphabetical order; None of others."""
    if table.kind(name).is_numeric:
        return None
    try:
        missing, words = table.codes(name, ()).missing, table.words(name)
    except DataError:
        return None  # moments or nested values are no text
    held = words if missing is None else words[~missing]
    return [str(word) for word in np.unique(held)]


def decimals_seen(numbers: Numbers) -> int:
    """Return how many decimals write every float exactly, at most 15, as far as can be known."""
    values = present(numbers)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0
    # Values of a float32 column are the nearest float32 of their decimals, not float64.
    with np.errstate(over="ignore"):  # what float32 cannot hold is no float32
        single = values.astype(np.float32)
    exact = single if np.array_equal(single.astype(np.float64), values) else values
    largest = float(np.abs(values).max())
    decimals = 0
    while decimals < MOST_DIGITS and largest * 10 ** (decimals + 1) < WHOLE_IN_FLOATS:
        power = 10.0**decimals
        if np.array_equal((np.rint(values * power) / power).astype(exact.dtype), exact):
            return decimals
        decimals += 1
    return decimals


def column_of(table: Table, name: str) -> Column:
    """Return a column as numbers, NaN where missing, or as text, empty where missing."""
    return numbers_of(table, name) if table.kind(name).is_numeric else table.words(name)


def numbers_of(table: Table, name: str) -> NDArray[np.float64]:
    """Return a numeric column as float64, NaN where missing."""
    numbers = table.numbers(name)
    values = numbers.values.astype(np.float64)
    if numbers.missing is not None:
        values[numbers.missing] = np.nan
    return values
