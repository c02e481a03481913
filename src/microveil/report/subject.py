"""What a page is about: a release, its original, their columns, and what is known of them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import DataError
from microveil.measures.assess import assess
from microveil.measures.assessment import Assessment
from microveil.measures.column_moves import worst_first
from microveil.measures.findings import SAMPLED
from microveil.measures.opening import codes_in_release
from microveil.measures.values import Floats, Whole
from microveil.protect.release import Release
from microveil.report.measured import (
    MISSING,
    ColumnMargins,
    MeasuredTables,
    known_of,
    margins_by_name,
    measured_tables,
    terms_as_learnt,
    words_of,
)
from microveil.schema import Kind
from microveil.table import Table, open_beside, open_table
from microveil.text import shortened

MOST_PAIR_TABLES = 6
REMEDY = "pass the table that was protected"
SAMPLES, MOST_CELLS = 400, 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberColumn:
    """An attribute of numbers, before and after."""

    name: str
    kind: Kind
    unit: str | None  # what the numbers count, where somebody said
    step: float | None  # of the grid that released values lie on
    original: Floats | None  # NaN where missing; None on a page to be published
    protected: Floats  # NaN where missing
    margins: ColumnMargins | None = None  # of a new table, where known

    @property
    def axis_title(self) -> str:
        """The attribute with its unit."""
        unit = "date" if self.kind is Kind.DATE else self.unit or "units as in the data"
        return f"{shortened(self.name, 26)} ({shortened(unit, 22)})"

    @property
    def sides(self) -> dict[str, Floats]:
        """The values present: the original's, where they may be shown, and the release's."""
        both = {"original": self.original, "release": self.protected}
        return {side: own[~np.isnan(own)] for side, own in both.items() if own is not None}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CategoryColumn:
    """An attribute of categories, before and after."""

    name: str
    categories: tuple[str, ...]  # in the order in which they are drawn
    original: Floats | None  # shares of all records; None on a page to be published
    protected: Floats
    codes: Whole  # the place among the categories of each released record's
    margins: ColumnMargins | None = None  # of a new table, where known

    @property
    def sides(self) -> dict[str, Floats]:
        """The shares: the original's, where they may be shown, and the release's."""
        both = {"original": self.original, "release": self.protected}
        return {side: own for side, own in both.items() if own is not None}


Column = NumberColumn | CategoryColumn


def columns_of(
    release: Release,
    protected: Table,
    original: Table | None = None,
    units: Mapping[str, str] | None = None,
) -> tuple[Column, ...]:
    """Return the protected attributes of a release; on a public page without an original."""
    margins = margins_by_name(known_of(release), declared_only=original is None)
    # A step that was read from the data is the custodian's.
    figures = {} if original is None else release.manifest.to_dict().get("attributes", {})
    found: list[Column] = []
    for terms in terms_as_learnt(release):
        name = terms.name
        if original is not None and name not in original.names:
            rule = "the original table has no such column"
            raise DataError(f"attribute '{name}'", rule, "pass the table protected")
        read = _numbers if terms.kind.is_numeric else words_of
        before, after = None if original is None else read(original, name), read(protected, name)
        if not terms.kind.is_numeric:
            found.append(_categories(name, before, after))
        elif terms.kind is Kind.BOOLEAN:
            found.append(_yes_no(name, before, after))
        else:
            step = terms.resolution or figures.get(name, {}).get("resolution")
            found.append(
                NumberColumn(
                    name=name,
                    kind=terms.kind,
                    unit=(units or {}).get(name),
                    step=None if step is None else float(step),
                    original=before,
                    protected=after,
                )
            )
    return tuple(replace(own, margins=margins.get(own.name)) for own in found)


def _numbers(table: Table, name: str) -> Floats:
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


def _yes_no(name: str, before: Floats | None, after: Floats) -> CategoryColumn:
    def shares(values: Floats) -> Floats:
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


def sampling_distance(column: Column, n_records: int, n_released: int) -> float | None:
    """Return how far apart samples of a column are at most, 95 % of the time: simulated, seeded."""
    if column.original is None:
        return None
    if isinstance(column, CategoryColumn):
        present = [name != MISSING for name in column.categories]
        counts: Floats = np.round(column.original[present] * n_records)
    else:
        values = column.original[~np.isnan(column.original)]
        each = np.unique(values, return_counts=True)[1]
        # Neighbours among many values share cells of about equal sizes.
        cells = each.cumsum() * MOST_CELLS // (len(values) + 1)
        counts = np.bincount(np.unique(cells, return_inverse=True)[1], each).astype(np.float64)
    total = int(counts.sum())
    if not total or not n_released:
        return None
    random = np.random.Generator(np.random.PCG64(0))
    sizes = total, n_released
    one, other = (random.multinomial(n, counts / total, SAMPLES) / n for n in sizes)
    apart = one - other
    distances = (
        np.abs(apart).sum(axis=1) / 2
        if isinstance(column, CategoryColumn)
        else np.abs(apart.cumsum(axis=1)).max(axis=1)
    )
    return float(np.quantile(distances, 0.95))


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A release, and all that its custodian's page is made of."""

    release: Release
    columns: tuple[Column, ...]  # the protected attributes, before and after
    assessment: Assessment
    n_released: int  # rows of the release; a new table may have more than the original
    not_released: tuple[str, ...] = ()  # columns of the original that are not in the release
    # What was measured of pairs of attributes; None where nothing was.
    pairs: MeasuredTables | None = None

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """How the release was made."""
        return self.release.manifest.to_dict()

    @cached_property
    def by_sampling(self) -> dict[str, float]:
        """How far apart samples of each column are, at most, 95 % of the time."""
        n_records = self.release.guarantee.n_records
        found = {
            column.name: sampling_distance(column, n_records, self.n_released)
            for column in self.columns
        }
        return {name: distance for name, distance in found.items() if distance is not None}

    @cached_property
    def worst_first(self) -> tuple[Column, ...]:
        """The columns, those first that moved most, and last those that cannot be compared."""
        order = worst_first(self.assessment.column_moves)
        place = {name: number for number, name in enumerate(order)}
        return tuple(sorted(self.columns, key=lambda own: place.get(own.name, len(order))))


def subject_of(
    release: Release,
    original: Any,
    assessment: Assessment | None = None,
    units: Mapping[str, str] | None = None,
) -> Subject:
    """Read both tables, and refuse an original that cannot be the one protected."""
    codes = release.codes_of_original()
    after = open_table(release.data, codes_in_release(codes, release.guarantee))
    before = open_beside(original, after, codes)
    columns = _columns_of_both(release, before, after, units)
    # The same records are looked for as in the findings, so that both say the same.
    names = [column.name for column in columns]
    found = assessment or assess(original, release, names, sample=SAMPLED)
    return Subject(
        release=release,
        columns=columns,
        assessment=replace(found, guarantee=release.guarantee),
        n_released=after.n_records,
        not_released=tuple(name for name in before.names if name not in after.names),
        pairs=measured_tables(known_of(release), after, before, MOST_PAIR_TABLES),
    )


def _columns_of_both(
    release: Release, before: Table, after: Table, units: Mapping[str, str] | None
) -> tuple[Column, ...]:
    if before.n_records != release.guarantee.n_records:
        raise DataError("original table", "it must have as many records as were protected", REMEDY)
    columns = columns_of(release, after, before, units)
    if not set(after.names) <= set(before.names):
        raise DataError("original table", "it must have every column of the release", REMEDY)
    handled = _missing_by_name(release)
    for column in columns:
        missing = handled[column.name]
        if missing == "protect" or not isinstance(column, NumberColumn) or column.original is None:
            continue
        lacking, released = (np.isnan(x).sum() for x in (column.original, column.protected))
        # A method over records leaves the cells of one that lacks a value of its block empty.
        if lacking > released or (lacking < released and missing != "keep"):
            rule = "the original must have no more missing cells than the release"
            raise DataError(f"attribute '{column.name}'", rule, REMEDY)
    return columns


def _missing_by_name(release: Release) -> dict[str, str | None]:
    """Return what was asked of the missing cells of each attribute; all are a new table's own."""
    names = [terms.name for terms in release.guarantee.attributes]
    if release.guarantee.is_synthetic:
        return dict.fromkeys(names, "protect")
    parameters = release.manifest.to_dict().get("parameters", {})
    asked = parameters.get("parts") or [{"attributes": names, "missing": parameters.get("missing")}]
    return {name: part.get("missing") for part in asked for name in part["attributes"]}
