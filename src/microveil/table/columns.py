"""Columns as whole numbers on a public grid, and what can be read off a column."""

import datetime
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil._kernels import grid as kernel
from microveil.errors import DataError, RequestError, stands_alone
from microveil.schema import EPOCH, Attribute, Cells, Kind
from microveil.table.frames import Numbers, Table, open_table
from microveil.table.missing import MissingCodes
from microveil.table.restore import Reasons

__all__ = [
    "BoundsFromData",
    "CategoriesFromData",
    "GridColumn",
    "ResolutionFromData",
    "bounds_from_data",
    "categories_from_data",
    "categories_seen",
    "decimals_seen",
    "likely_identifier",
    "likely_units",
    "likely_weights",
    "missing_error",
    "numbers_of_attribute",
    "on_grid",
    "outside_error",
    "resolution_from_data",
]

# A float64 tells whole numbers apart up to here, hence decimals of a value times their power.
EXACT = 2**53
MOST_DECIMALS = 15
HEAD = 1000
# Text of more different values than this is hardly one of categories.
MOST_CATEGORIES = 1000
# What repeats like the numbers of households: this share of the records or more are not the first
# of theirs, and none has more.
REPEATED, LARGEST_UNIT = 0.2, 30
# Words in the name of a survey's weights (WEIGHT, fnlwgt, PWGTP1, W_POND), and in that of a mass.
OF_WEIGHTS = re.compile("[a-z]*(weights?|wgts?|wght|wgtp)|wts?|pond[a-z]*|poids")
OF_MASS = re.compile("(over|under|birth|body)(weight)?|kgs?|g|grams?|lbs?")
# What can be done about missing cells.
KEEP = 'complete it, or pass missing="keep" (--missing keep) to release such cells as missing'
HIDE = (
    'complete it, or pass missing="protect" (--missing protect): being without a value is then a '
    "value like another"
)


class BoundsFromData(tuple[Any, Any]):
    """Bounds (lower, upper) that were read from the data: a guarantee says so."""

    __slots__ = ()


class CategoriesFromData(tuple[str, ...]):
    """Categories that were read from the data: a guarantee says so."""

    __slots__ = ()


class ResolutionFromData(float):
    """A resolution that was read from the data: a guarantee says so."""

    __slots__ = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GridColumn:
    """An attribute's values in whole grid units.

    Attributes
    ----------
    attribute : Attribute
    values : int64 array (n_present,)
        Without the missing ones. Of an attribute of a new table, which is only ever counted, any
        signed whole numbers, and the table's own where they can be.
    missing : bool array (n_records,) or None
        None where no value is missing.
    reasons : Reasons or None
        Of missing cells, where the attribute keeps them apart and some cell has a code.
    """

    attribute: Attribute
    values: NDArray[np.signedinteger[Any]]
    missing: NDArray[np.bool_] | None
    reasons: Reasons | None = None

    @property
    def n_present(self) -> int:
        """How many records have a value."""
        return len(self.values)

    @property
    def n_missing(self) -> int:
        """How many records have no value."""
        return 0 if self.missing is None else int(self.missing.sum())

    def in_order(self, order: NDArray[np.int64]) -> "GridColumn":
        """Return the column with other records in the place of each: (n_records,).

        >>> from fractions import Fraction
        >>> from microveil.schema import Source
        >>> age = Attribute(
        ...     name="AGE",
        ...     kind=Kind.WHOLE,
        ...     resolution=Fraction(1),
        ...     resolution_source=Source.TYPE,
        ... )
        >>> column = GridColumn(
        ...     attribute=age, values=np.array([30, 40]), missing=np.array([False, True, False])
        ... )
        >>> column.in_order(np.array([2, 1, 2])).values
        array([40, 40])
        """
        if self.missing is None:
            return replace(self, values=self.values[order])
        missing = self.missing[order]
        # The place of each present record among the values that there are.
        place = np.cumsum(~self.missing) - 1
        values = self.values[place[order[~missing]]]
        reasons = self.reasons
        if reasons is not None:
            reasons = replace(reasons, which=reasons.which[order])
        return replace(
            self, values=values, missing=missing if missing.any() else None, reasons=reasons
        )

    def narrowed(self) -> "GridColumn":
        """Keep the values in as few bytes as their domain, which is public, needs.

        Those that are the table's own stay: they take no memory beside it.
        """
        if not self.values.flags.owndata:
            return self
        kind = self.attribute.grid_type
        return replace(self, values=self.values.astype(kind, copy=False))


def numbers_of_attribute(table: Table, attribute: Attribute, *, shared: bool = False) -> Numbers:
    """Read a column as an attribute has it: numbers, or the positions of its categories.

    Shared numbers may be the table's own, see `Table.numbers`.

    >>> from fractions import Fraction
    >>> from microveil.schema import Categories, Source
    >>> size = Attribute(
    ...     name="SIZE",
    ...     kind=Kind.ORDINAL,
    ...     resolution=Fraction(1),
    ...     resolution_source=Source.TYPE,
    ...     domain=Categories(values=("S", "M"), ordered=True, source=Source.DECLARED),
    ... )
    >>> numbers_of_attribute(open_table({"SIZE": np.array(["M", "S", "XL"])}), size).values
    array([ 1,  0, -1])
    """
    categories = attribute.categories
    if categories is None:
        return table.numbers(attribute.name, shared=shared)
    if categories.words is not None:
        return table.codes(attribute.name, categories.words)
    numbers = table.numbers(attribute.name, shared=shared)
    return replace(numbers, values=categories.positions(numbers.values))


def on_grid(
    numbers: Numbers,
    attribute: Attribute,
    *,
    keep_missing: bool,
    clamp: bool,
    may_be_empty: bool = False,
    may_be_hidden: bool = False,
) -> GridColumn:
    """Round a column to its grid and hold it against its declared bounds.

    Parameters
    ----------
    numbers : Numbers
    attribute : Attribute
    keep_missing : bool
        Leave missing and infinite values out instead of refusing them.
    clamp : bool
        Move values outside the bounds to the nearer bound instead of refusing them.
    may_be_empty : bool
        Take a column without any value instead of refusing it.
    may_be_hidden : bool
        Whether which cells are missing could be hidden: then that is what a refusal proposes.

    Raises
    ------
    DataError
        On missing or infinite values, values outside the bounds, or values too large.

    Notes
    -----
    Each record is rounded by itself, to the nearest grid point, so that a neighbouring table
    changes one grid value only.
    """
    values, missing, infinite = _rounded(numbers, attribute, clamp=clamp)
    if not keep_missing:
        for where, is_infinite in ((missing, False), (infinite, True)):
            if where is not None:
                raise missing_error(
                    attribute, _counted(where), infinite=is_infinite, may_be_hidden=may_be_hidden
                )
    absent = _either(missing, infinite)
    if absent is not None:
        values = values[~absent]
    if not len(values) and not may_be_empty:
        raise DataError(attribute.place, "every value is missing", "leave the attribute out")
    bounds = attribute.grid_bounds
    if bounds is not None and len(values):
        lower, upper = bounds
        if int(values.min()) < lower or int(values.max()) > upper:
            if not clamp or attribute.categories is not None:
                _refuse_outside(values, absent, attribute, bounds)
            values = np.clip(values, lower, upper)
    reasons = None
    if attribute.reasons and numbers.reasons is not None:
        reasons = numbers.reasons.of_first(len(attribute.reasons))
    return GridColumn(attribute=attribute, values=values, missing=absent, reasons=reasons)


def _rounded(
    numbers: Numbers, attribute: Attribute, *, clamp: bool
) -> tuple[NDArray[np.int64], NDArray[np.bool_] | None, NDArray[np.bool_] | None]:
    """Round to grid units; also which records are missing and which infinite."""
    values, resolution = numbers.values, attribute.resolution
    if values.dtype == np.int64:
        if resolution == 1:
            return values.astype(np.int64, copy=False), numbers.missing, None
        values = values.astype(np.float64)
    grid = np.empty(len(values), dtype=np.int64)
    step = float(resolution.numerator), float(resolution.denominator)
    n_missing, n_infinite, n_huge = kernel.to_grid(values, *step, grid)
    if n_huge and clamp and attribute.bounds is not None:
        # What no 64 bits hold is moved to the bound like any other: to refuse would show it.
        inside = np.clip(values, float(attribute.bounds.lower), float(attribute.bounds.upper))
        n_missing, n_infinite, n_huge = kernel.to_grid(
            np.where(np.isinf(values), values, inside), *step, grid
        )
    if n_huge:
        raise DataError(
            attribute.place,
            "values would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {attribute.name}=...)",
        )
    missing = _either(numbers.missing, np.isnan(values) if n_missing else None)
    return grid, missing, np.isinf(values) if n_infinite else None


def _either(
    one: NDArray[np.bool_] | None, other: NDArray[np.bool_] | None
) -> NDArray[np.bool_] | None:
    if one is None or other is None:
        return other if one is None else one
    return one | other


def missing_error(
    attribute: Attribute, counted: str, *, infinite: bool, may_be_hidden: bool
) -> DataError:
    """Return the error about missing or infinite values of an attribute, in so many records."""
    what = "a value is infinite" if infinite else "a value is missing"
    return DataError(f"{attribute.place}, {counted}", what, HIDE if may_be_hidden else KEEP)


def outside_error(attribute: Attribute, counted: str) -> DataError:
    """Return the error about values outside an attribute's domain, in so many records."""
    if attribute.categories is None:
        what = "values lie outside the declared bounds"
        remedy = (
            'widen the bounds, or pass outside="clamp" (--outside clamp) to move them to the bound'
        )
    else:
        what = "values are none of the declared categories"
        remedy = "add what is missing to the list of categories"
    return DataError(f"{attribute.place}, {counted}", what, remedy)


def _refuse_outside(
    values: NDArray[np.int64],
    absent: NDArray[np.bool_] | None,
    attribute: Attribute,
    bounds: tuple[int, int],
) -> None:
    outside = (values < bounds[0]) | (values > bounds[1])
    if absent is not None:
        everywhere = np.zeros(len(absent), dtype=np.bool_)
        everywhere[~absent] = outside
        outside = everywhere
    raise outside_error(attribute, _counted(outside))


def _counted(where: NDArray[np.bool_]) -> str:
    count = int(where.sum())
    first = int(np.argmax(where)) + 1
    return f"record {first}" if count == 1 else f"{count} records, the first record {first}"


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
        if not kind.is_numeric or kind is Kind.BOOLEAN:
            continue
        values = _present(opened.numbers(name))
        if not len(values):
            continue
        lower = min(0, alpha * values.min().item())
        upper = max(0, alpha * values.max().item())
        if lower < upper:
            pair = (_date(lower), _date(upper)) if kind is Kind.DATE else (lower, upper)
            found[name] = BoundsFromData(pair)
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
    """Return the different values of a column of text, in alphabetical order; None of others.

    >>> categories_seen(open_table({"REGION": np.array(["South", None, "North"])}), "REGION")
    ['North', 'South']
    """
    if table.kind(name).is_numeric:
        return None
    try:
        missing, words = table.codes(name, ()).missing, table.words(name)
    except DataError:
        return None  # moments or nested values are no text
    present = words if missing is None else words[~missing]
    return [str(word) for word in np.unique(present)]


def decimals_seen(numbers: Numbers) -> int:
    """Return the least number of decimals that writes every value exactly of a float column.

    Values of more than 15 decimals, or too large to hold that many, count as far as can be
    known.

    >>> decimals_seen(Numbers(values=np.array([1.25, 3.0]), missing=None))
    2
    """
    values = _present(numbers)
    values = values[np.isfinite(values)]
    if not len(values):
        return 0
    # Values of a float32 column are the nearest float32 of their decimals, not float64.
    single = values.astype(np.float32)
    exact = single if np.array_equal(single.astype(np.float64), values) else values
    largest = float(np.abs(values).max())
    decimals = 0
    while decimals < MOST_DECIMALS and largest * 10 ** (decimals + 1) < EXACT:
        power = 10.0**decimals
        if np.array_equal((np.rint(values * power) / power).astype(exact.dtype), exact):
            return decimals
        decimals += 1
    return decimals


def _present(numbers: Numbers) -> Cells:
    values = numbers.values if numbers.missing is None else numbers.values[~numbers.missing]
    return values[np.isfinite(values)] if values.dtype.kind == "f" else values


def likely_identifier(table: Table, name: str) -> bool:
    """Whether a numeric column holds whole numbers that are all different.

    >>> likely_identifier(open_table({"ID": np.array([7, 9]), "AGE": np.array([1, 1])}), "ID")
    True
    """
    if table.kind(name) not in (Kind.WHOLE, Kind.DECIMAL):
        return False
    values = _present(table.numbers(name))
    head = values[:HEAD]
    if len(np.unique(head)) < len(head) or not np.array_equal(np.rint(head), head):
        return False
    whole = values.dtype.kind == "i" or bool(np.array_equal(np.rint(values), values))
    return whole and len(values) > 1 and len(np.unique(values)) == len(values)


def likely_units(table: Table, name: str) -> bool:
    """Whether whole numbers or text repeat as the numbers of households do.

    Equal ones all stand together, a few each.

    Examples
    --------
    >>> of_people = {"HOUSEHOLD": np.array([3, 3, 8, 8, 8, 5]), "AGE": np.array([9, 7, 9, 8, 7, 6])}
    >>> [likely_units(open_table(of_people), name) for name in of_people]
    [True, False]
    """
    kind = table.kind(name)
    if kind not in (Kind.WHOLE, Kind.OTHER):
        return False
    try:
        alike, absent = table.alike(name)
    except DataError:
        return False
    sizes = np.unique(alike, return_counts=True)[1]
    begin = 1 + np.count_nonzero(np.diff(alike))
    repeated = len(alike) - len(sizes) >= REPEATED * len(alike)
    return bool(
        not absent.any() and begin == len(sizes) > 2 and repeated and sizes.max() <= LARGEST_UNIT
    )


def likely_weights(table: Table, name: str) -> bool:
    """Whether a column is called as a survey's weights are, and holds numbers of 0 or more.

    Examples
    --------
    >>> of_people = {"WEIGHT": np.array([812.4, 1403.0]), "WEIGHT_KG": np.array([61.5, 80.0])}
    >>> [likely_weights(open_table(of_people), name) for name in of_people]
    [True, False]
    """
    words = re.findall("[a-z]+", name.casefold())
    called = any(map(OF_WEIGHTS.fullmatch, words)) and not any(map(OF_MASS.fullmatch, words))
    if not called or table.kind(name) not in (Kind.WHOLE, Kind.DECIMAL):
        return False
    values = _present(table.numbers(name))
    return bool(values.any() and not (values < 0).any())
