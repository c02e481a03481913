"""What a page is about: a release, its original, and what is known of both."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from microveil.audit.empirical import EmpiricalAudit
from microveil.errors import DataError
from microveil.measures.assess import assess
from microveil.measures.assessment import Assessment
from microveil.measures.attacks.outcome import AttackReport
from microveil.measures.opening import codes_in_release
from microveil.protect.release import Release
from microveil.report.columns import Column, NumberColumn, columns_of
from microveil.report.measured import (
    ColumnMargins,
    MeasuredTables,
    known_of,
    margins_by_name,
    measured_tables,
)
from microveil.report.overlays import sampling_distance
from microveil.table import Table, open_beside, open_table

MOST_PAIR_TABLES = 6
REMEDY = "pass the table that was protected"


@dataclass(frozen=True, kw_only=True, eq=False)
class Subject:
    """A release, and all that its custodian's page is made of."""

    release: Release
    columns: tuple[Column, ...]  # the protected attributes, before and after
    assessment: Assessment
    n_released: int  # rows of the release; a new table may have more than the original
    attacks: AttackReport | None = None
    empirical: tuple[EmpiricalAudit, ...] = ()
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
        """The columns, those first that moved most."""
        moves = self.assessment.column_moves
        return tuple(
            sorted(self.columns, key=lambda own: -moves[own.name].score if own.name in moves else 1)
        )


def subject_of(
    release: Release,
    original: Any,
    assessment: Assessment | None = None,
    *,
    attacks: AttackReport | None = None,
    empirical: tuple[EmpiricalAudit, ...] = (),
    units: Mapping[str, str] | None = None,
) -> Subject:
    """Read both tables, and refuse an original that cannot be the one protected."""
    codes = release.codes_of_original()
    after = open_table(release.data, codes_in_release(codes, release.guarantee))
    before = open_beside(original, after, codes)
    terms, known = release.guarantee.attributes, known_of(release)
    columns = _columns_of_both(release, before, after, units or {}, margins_by_name(known))
    # A column of which nothing was learnt is promised, and left out.
    names = [attribute.name for attribute in terms if attribute.name in after.names]
    found = assessment or assess(original, release, names)
    return Subject(
        release=release,
        columns=columns,
        assessment=replace(found, guarantee=release.guarantee),
        n_released=after.n_records,
        attacks=attacks,
        empirical=empirical,
        not_released=tuple(name for name in before.names if name not in after.names),
        pairs=measured_tables(known, after, before, MOST_PAIR_TABLES),
    )


def _columns_of_both(
    release: Release,
    before: Table,
    after: Table,
    units: Mapping[str, str],
    margins: Mapping[str, ColumnMargins],
) -> tuple[Column, ...]:
    if before.n_records != release.guarantee.n_records:
        raise DataError("original table", "it must have as many records as were protected", REMEDY)
    figures = release.manifest.to_dict().get("attributes", {})
    steps = {name: entry["resolution"] for name, entry in figures.items()}
    columns = columns_of(release.guarantee.attributes, after, before, units, steps, margins)
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
