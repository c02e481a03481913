"""One attribute before and after, as arrays to draw from."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.guarantee import AttributeTerms
from microveil.report.measured import MISSING, ColumnMargins, words_of
from microveil.schema import Kind
from microveil.table import Table
from microveil.text import shortened

Float = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberColumn:
    """An attribute of numbers, before and after."""

    name: str
    kind: Kind
    unit: str | None  # what the numbers count, where somebody said
    step: float | None  # of the grid that released values lie on
    original: Float | None  # NaN where missing; None on a page to be published
    protected: Float  # NaN where missing
    margins: ColumnMargins | None = None  # of a new table, where known

    @property
    def axis_title(self) -> str:
        """The attribute with its unit."""
        unit = "date" if self.kind is Kind.DATE else self.unit or "units as in the data"
        return f"{shortened(self.name, 26)} ({shortened(unit, 22)})"

    @property
    def sides(self) -> dict[str, Float]:
        """The values present: the original's, where they may be shown, and the release's."""
        both = {"original": self.original, "release": self.protected}
        return {side: own[~np.isnan(own)] for side, own in both.items() if own is not None}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoryColumn:
    """An attribute of categories, before and after."""

    name: str
    categories: tuple[str, ...]  # in the order in which they are drawn
    original: Float | None  # shares of all records; None on a page to be published
    protected: Float
    codes: NDArray[np.int64]  # the place among the categories of each released record's
    margins: ColumnMargins | None = None  # of a new table, where known

    @property
    def sides(self) -> dict[str, Float]:
        """The shares: the original's, where they may be shown, and the release's."""
        both = {"original": self.original, "release": self.protected}
        return {side: own for side, own in both.items() if own is not None}


Column = NumberColumn | CategoryColumn


def columns_of(
    terms: tuple[AttributeTerms, ...],
    protected: Table,
    original: Table | None,
    units: Mapping[str, str],
    steps: Mapping[str, float] | None = None,
    margins: Mapping[str, ColumnMargins] | None = None,
) -> tuple[Column, ...]:
    """Return the protected attributes of a release; on a public page without an original."""
    steps = steps or {}
    known = margins or {}
    return tuple(
        replace(_column(entry, protected, original, units, steps), margins=known.get(entry.name))
        for entry in terms
        if entry.name in protected.names  # a column of which nothing was learnt is left out
    )


def _column(
    terms: AttributeTerms,
    protected: Table,
    original: Table | None,
    units: Mapping[str, str],
    steps: Mapping[str, float],
) -> Column:
    name = terms.name
    if original is not None and name not in original.names:
        raise DataError(
            f"attribute '{name}'",
            "the original table has no such column",
            "pass the table protected",
        )
    if not terms.kind.is_numeric:
        after = words_of(protected, name)
        return _categories(name, None if original is None else words_of(original, name), after)
    before = None if original is None else _numbers(original, name)
    if terms.kind is Kind.BOOLEAN:
        return _yes_no(name, before, _numbers(protected, name))
    step = steps.get(name) if terms.resolution is None else float(terms.resolution)
    return NumberColumn(
        name=name,
        kind=terms.kind,
        unit=units.get(name),
        step=step,
        original=before,
        protected=_numbers(protected, name),
    )


def _numbers(table: Table, name: str) -> Float:
    numbers = table.numbers(name, shared=True)
    values = numbers.values.astype(np.float64, copy=False)
    gone = np.isinf(values)
    if numbers.missing is not None:
        gone |= numbers.missing
    # A large column is drawn from where it lies, if it can be.
    return np.where(gone, np.nan, values) if gone.any() else values


def _categories(name: str, before: NDArray[Any] | None, after: NDArray[Any]) -> CategoryColumn:
    """Count categories; the commonest come first."""
    words = after if before is None else np.concatenate([before, after])
    categories, codes = np.unique(words, return_inverse=True)
    split = len(words) - len(after)
    counts = [
        np.bincount(part, minlength=len(categories)) for part in (codes[:split], codes[split:])
    ]
    order = np.argsort(-counts[1 if before is None else 0], kind="stable")
    return CategoryColumn(
        name=name,
        categories=tuple(str(categories[k]) for k in order),
        original=None if before is None else counts[0][order] / max(1, split),
        protected=counts[1][order] / max(1, len(after)),
        codes=np.argsort(order)[codes[split:]],
    )


def _yes_no(name: str, before: Float | None, after: Float) -> CategoryColumn:
    def shares(values: Float) -> Float:
        counts = [np.sum(values == 1), np.sum(values == 0), np.sum(np.isnan(values))]
        return np.array(counts) / max(1, len(values))

    original, protected = None if before is None else shares(before), shares(after)
    missing = protected[2] > 0 or (original is not None and original[2] > 0)
    count = 3 if missing else 2
    return CategoryColumn(
        name=name,
        categories=("yes", "no", MISSING)[:count],
        original=None if original is None else original[:count],
        protected=protected[:count],
        codes=np.select([after == 1, after == 0], [0, 1], 2).astype(np.int64),
    )
