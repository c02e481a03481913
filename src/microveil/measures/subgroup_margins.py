"""What noise alone does to the subgroups of a new table, by trials on its measurements."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.guarantee import Guarantee
from microveil.measures.subgroups import MISSING, SubgroupMargins, Subgroups, figures_in
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Kind, written
from microveil.synthesis.generation import Drawing
from microveil.synthesis.keeping import Values
from microveil.synthesis.measurements import Measurements
from microveil.synthesis.plan import remeasured
from microveil.synthesis.tables import axis_at
from microveil.table.threads import in_threads

Figures = tuple[NDArray[np.float64], NDArray[np.float64]]
# As in `release.margins`, for each margin by itself.
CONFIDENCE = 0.95
# A margin of so many trials is off by about 16 %, which Student's t allows for.
TRIALS = 20
# A mean of a subgroup that so small a share of the trials lack has a margin all the same.
FEW_LACK_IT = 0.05
# Cells of a table that is drawn anew so often in a minute or a few.
MOST_CELLS = 3_000_000


def subgroup_margins(
    found: Subgroups,
    names: Sequence[str],
    measurements: Measurements | None,
    guarantee: Guarantee | None,
) -> Subgroups:
    """Add margins of noise to what was found of subgroups, or why there are none.

    They are a function of the measurements that the release was drawn from, of public figures and
    of the subgroups asked for: alike each time. ``names`` are those that means were taken of.

    A released figure is no measurement: tables were shrunk, made consistent and fitted by a
    model, and records drawn of it, so that no formula carries the known law of the noise over to
    it. A parametric bootstrap does. A model of the measurements is taken for the truth; as many
    records as the original has are drawn of it, measured with the same laws of noise, fitted and
    drawn from anew, and each subgroup of these is held against that of the records that were
    measured. What comes out is noise, shrinkage and the chance of the draw: all that there is
    where the model is right. The tables that were chosen are held. It spends no budget, as
    nothing but measurements is looked at.

    That truth is fitted without shrinkage: what shrinking has taken off already it cannot take
    off once more, so that trials on the release's own model would leave out what it does. With
    the noise left in, the truth has as much for it to take off as the original, or more.

    Where a subgroup's own count was measured (one table has the columns, and each level a bin of
    its own) the model has little to be wrong about. Elsewhere the dependence that no table holds
    comes on top of the margin, and nothing public bounds it.
    """
    if measurements is None:
        return replace(found, without_margins=_reason(guarantee))
    known = {measured.attribute.name for measured in measurements.attributes}
    if not known.issuperset(found.by):
        return replace(found, without_margins="it was not drawn with these columns")
    n_cells = len(known) * max(measurements.n_records, int(found.counts[1].sum()))
    if n_cells > MOST_CELLS:
        return replace(
            found,
            without_margins=f"a table of more than {MOST_CELLS:,} cells is not drawn anew so often",
        )
    margins = _Trials.of(measurements, found, names).margins()
    return replace(found, margins=margins)


def _reason(guarantee: Guarantee | None) -> str:
    """Say why noise of subgroups is not known of a release without measurements."""
    if guarantee is None:
        return "no guarantee lies beside the release, so its noise is not known"
    if guarantee.is_synthetic:
        return "its measurements do not lie beside it (protect with --with-measurements)"
    return (
        f"an assessment is not given the scales by which {guarantee.method} changed records, nor "
        "which of them it changed alike"
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Trials:
    """What all trials have in common."""

    measurements: Measurements
    found: Subgroups
    by: tuple[int, ...]  # positions of the columns of the subgroups among the attributes
    numbers: tuple[int, ...]  # of those that means are taken of; -1 for one that was not drawn

    @classmethod
    def of(cls, measurements: Measurements, found: Subgroups, names: Sequence[str]) -> "_Trials":
        """Find the columns among the attributes."""
        place = {one.attribute.name: n for n, one in enumerate(measurements.attributes)}
        return cls(
            measurements=measurements,
            found=found,
            by=tuple(place[name] for name in found.by),
            numbers=tuple(place.get(name, -1) for name in names),
        )

    def margins(self) -> SubgroupMargins:
        """Make the trials."""
        drawing = Drawing.of(self.measurements, shrinks=False)
        n_before, n_after = self.measurements.n_records, int(self.found.counts[1].sum())

        def trial(number: int) -> Figures:
            seeds = np.random.Generator(np.random.PCG64(number)).spawn(2)
            records, _ = drawing.drawn(n_before, seeds[0])
            before = self._figures(records)
            again = remeasured(self.measurements, records, RandomSource.seeded(number))
            after = self._figures(Drawing.of(again).drawn(n_after, seeds[1])[0])
            return after[0] - before[0], after[1] - before[1]

        shares, means = zip(*in_threads(trial, range(TRIALS)), strict=True)
        return margins_of_trials(np.stack(shares), np.stack(means), self._measured(), CONFIDENCE)

    def _figures(self, records: Sequence[Values]) -> Figures:
        """Take shares and means of the subgroups in records."""
        groups = self._groups([records[one] for one in self.by])
        columns = [
            np.full(len(groups), np.nan)
            if one < 0
            else _numbers(self.measurements.attributes[one].attribute, records[one])
            for one in self.numbers
        ]
        values = np.column_stack(columns) if columns else np.empty((len(groups), 0))
        return figures_in(groups, values, len(self.found.levels))

    def _groups(self, columns: Sequence[Values]) -> NDArray[np.int64]:
        """Return each record's subgroup, -1 of one that neither table has."""
        combined = np.zeros(len(columns[0][0]), dtype=np.int64)
        wanted = np.zeros(len(self.found.levels), dtype=np.int64)
        for axis, (one, column) in enumerate(zip(self.by, columns, strict=True)):
            levels = sorted({group[axis] for group in self.found.levels})
            place = {level: number for number, level in enumerate(levels)}
            attribute = self.measurements.attributes[one].attribute
            own = _levels(attribute, column, place)
            size = len(levels) + 1
            combined = combined * size + np.where(own < 0, len(levels), own)
            wanted = wanted * size + np.array([place[group[axis]] for group in self.found.levels])
        order = np.argsort(wanted)
        nearest = np.minimum(np.searchsorted(wanted[order], combined), len(order) - 1)
        return np.where(wanted[order][nearest] == combined, order[nearest], -1)

    def _measured(self) -> NDArray[np.bool_]:
        """Find the subgroups whose own count was measured: one bin of one table, or histogram."""
        tables = self.measurements.tables
        together = len(self.by) == 1 or any(set(self.by) <= set(scope) for scope in tables)
        alone = [self._levels_alone(one) for one in self.by]
        return np.array(
            [
                together and all(level in own for level, own in zip(levels, alone, strict=True))
                for levels in self.found.levels
            ]
        )

    def _levels_alone(self, number: int) -> set[str]:
        """Name the levels of an attribute that were counted, and have a bin of their own."""
        measured = self.measurements.attributes[number]
        if measured.distribution is not None:
            return set()
        lower, _ = measured.attribute.grid_bounds or (0, 0)
        n_levels = len(measured.levels.counts)
        names = _named(measured.attribute, lower + np.arange(n_levels - measured.has_missing))
        names += [MISSING] if measured.has_missing else []
        if len(self.by) == 1:
            return set(names)
        axis = axis_at(number, measured, self.measurements.parts, self.measurements.halves)
        assert axis.groups is not None  # noqa: S101 -- its values were counted
        members = np.bincount(axis.groups)[axis.groups]
        return {name for name, count in zip(names, members, strict=True) if count == 1}


def margins_of_trials(
    shares: NDArray[np.float64],
    means: NDArray[np.float64],
    is_measured: NDArray[np.bool_],
    confidence: float,
) -> SubgroupMargins:
    """Find margins of figures by trials in which nothing but noise and chance is at work.

    The root of the mean square of the trials' deviations, times the quantile of Student's t with as
    many degrees of freedom as there are trials: a new deviation, normal about 0, is within it with
    that probability, however few trials there are.
    """
    of_shares, of_means = (_half_widths(found, confidence) for found in (shares, means))
    return SubgroupMargins(
        confidence=confidence,
        n_trials=len(shares),
        shares=of_shares,
        means=of_means,
        is_measured=is_measured,
    )


def _half_widths(deviations: NDArray[np.float64], confidence: float) -> NDArray[np.float64]:
    """Return half widths of deviations about 0, trials first; NaN where many trials lack one."""
    count = np.isfinite(deviations).sum(axis=0)
    known = np.maximum(count, 1)
    spread = np.sqrt(np.nansum(deviations**2, axis=0) / known)
    is_lacking = len(deviations) - count > FEW_LACK_IT * len(deviations)
    return np.where(is_lacking, np.nan, scipy.special.stdtrit(known, (1 + confidence) / 2) * spread)


def _numbers(attribute: Attribute, column: Values) -> NDArray[np.float64]:
    units, missing = column
    values = attribute.from_grid(units).astype(np.float64)
    return values if missing is None else np.where(missing, np.nan, values)


def _levels(attribute: Attribute, column: Values, place: dict[str, int]) -> NDArray[np.int64]:
    """Find each record's level among those that the tables have, -1 where it is none."""
    units, missing = column
    different, codes = np.unique(units, return_inverse=True)
    known = np.array([place.get(name, -1) for name in _named(attribute, different)])
    levels = known[codes]
    return levels if missing is None else np.where(missing, place.get(MISSING, -1), levels)


def _named(attribute: Attribute, units: NDArray[np.int64]) -> list[str]:
    """Name values as the levels of subgroups are named."""
    values = attribute.from_grid(units)
    categories = attribute.categories
    if categories is not None and categories.words is not None:
        return [categories.words[position] for position in values.tolist()]
    is_boolean = categories is not None and isinstance(categories.values[0], bool)
    if attribute.kind is Kind.BOOLEAN or is_boolean:
        return ["true" if value else "false" for value in values.tolist()]
    if attribute.kind is Kind.DATE:
        return [str(written(Fraction(day), Kind.DATE)) for day in values.tolist()]
    return [f"{value:.15g}" for value in values.astype(np.float64).tolist()]
