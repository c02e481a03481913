"""What noise alone does to the subgroups of a new table, by trials on its measurements."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import scipy  # which loads its parts when they are used

from microveil.guarantee import Guarantee
from microveil.measures.analyses import value_name
from microveil.measures.subgroups import MISSING, SubgroupMargins, Subgroups, figures_in
from microveil.measures.values import Flags, Floats, Whole
from microveil.noise.noise import RandomSource
from microveil.schema import Attribute, Kind
from microveil.synthesis.generation import Drawing
from microveil.synthesis.keeping import Values
from microveil.synthesis.measurements import Measurements
from microveil.synthesis.plan import remeasured
from microveil.synthesis.tables import axis_at
from microveil.table.threads import in_threads

Figures = tuple[Floats, Floats]
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

    They are a function of the measurements that the release was drawn from and of the subgroups
    asked for, alike each time; no budget is spent. No formula carries the law of the noise over to
    a released figure: a parametric bootstrap does. A model of the measurements is taken for the
    truth, as many records as the original has are drawn of it, measured with the same noise, fitted
    and drawn from anew, and held against the records that were measured. The truth is fitted
    without shrinkage, as what is taken off already cannot be taken off once more.

    Where a subgroup's own count was measured the model has little to be wrong about. Elsewhere the
    dependence that no table holds comes on top of the margin, and nothing public bounds it.
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
    return replace(found, margins=_margins(measurements, found, names))


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


def _margins(measurements: Measurements, found: Subgroups, names: Sequence[str]) -> SubgroupMargins:
    """Draw, measure and draw again, and hold each trial against the records that were measured."""
    drawing = Drawing.of(measurements, shrinks=False)
    n_before, n_after = measurements.n_records, int(found.counts[1].sum())
    figures_of = partial(_figures, measurements, found, names)

    def trial(number: int) -> Figures:
        seeds = np.random.Generator(np.random.PCG64(number)).spawn(2)
        records, _ = drawing.drawn(n_before, seeds[0])
        before = figures_of(records)
        again = remeasured(measurements, records, RandomSource.seeded(number))
        after = figures_of(Drawing.of(again).drawn(n_after, seeds[1])[0])
        return after[0] - before[0], after[1] - before[1]

    shares, means = zip(*in_threads(trial, range(TRIALS)), strict=True)
    measured = _measured(measurements, found)
    return margins_of_trials(np.stack(shares), np.stack(means), measured, CONFIDENCE)


def _places(measurements: Measurements) -> dict[str, int]:
    return {one.attribute.name: place for place, one in enumerate(measurements.attributes)}


def _figures(
    measurements: Measurements, found: Subgroups, names: Sequence[str], records: Sequence[Values]
) -> Figures:
    """Take shares and means of the subgroups in records; NaN of what was not drawn."""
    places = _places(measurements)
    groups = _groups(measurements, found, records)
    values = np.full((len(groups), len(names)), np.nan)
    for column, name in zip(values.T, names, strict=True):
        if name in places:
            units, missing = records[places[name]]
            column[:] = measurements.attributes[places[name]].attribute.from_grid(units)
            if missing is not None:
                column[missing] = np.nan
    return figures_in(groups, values, len(found.levels))


def _groups(measurements: Measurements, found: Subgroups, records: Sequence[Values]) -> Whole:
    """Return each record's subgroup, -1 of one that neither table has."""
    places = _places(measurements)
    combined: Whole = np.zeros(len(records[0][0]), dtype=np.int64)
    wanted: Whole = np.zeros(len(found.levels), dtype=np.int64)
    for name, own in zip(found.by, zip(*found.levels, strict=True), strict=True):
        place = {level: number for number, level in enumerate(sorted(set(own)))}
        attribute = measurements.attributes[places[name]].attribute
        levels = _levels(attribute, records[places[name]], place)
        combined = combined * (len(place) + 1) + np.where(levels < 0, len(place), levels)
        wanted = wanted * (len(place) + 1) + np.array([place[level] for level in own])
    order = np.argsort(wanted)
    nearest = np.minimum(np.searchsorted(wanted[order], combined), len(order) - 1)
    return np.where(wanted[order][nearest] == combined, order[nearest], -1)


def _measured(measurements: Measurements, found: Subgroups) -> Flags:
    """Find the subgroups whose own count was measured: one bin of one table, or histogram."""
    places = _places(measurements)
    by = [places[name] for name in found.by]
    together = len(by) == 1 or any(set(by) <= set(scope) for scope in measurements.tables)
    alone = [_levels_alone(measurements, one, is_table=len(by) > 1) for one in by]
    return np.array(
        [
            together and all(level in own for level, own in zip(levels, alone, strict=True))
            for levels in found.levels
        ]
    )


def _levels_alone(measurements: Measurements, number: int, *, is_table: bool) -> set[str]:
    """Name the levels of an attribute that were counted, and have a bin of their own."""
    measured = measurements.attributes[number]
    if measured.distribution is not None:
        return set()
    lower, _ = measured.attribute.grid_bounds or (0, 0)
    n_levels = len(measured.levels.counts)
    names = _named(measured.attribute, lower + np.arange(n_levels - measured.has_missing))
    names += [MISSING] if measured.has_missing else []
    if not is_table:
        return set(names)
    axis = axis_at(number, measured, measurements.parts, measurements.halves)
    assert axis.groups is not None  # noqa: S101 -- its values were counted
    members = np.bincount(axis.groups)[axis.groups]
    return {name for name, count in zip(names, members, strict=True) if count == 1}


def margins_of_trials(
    shares: Floats, means: Floats, is_measured: Flags, confidence: float
) -> SubgroupMargins:
    """Find margins by trials in which nothing but noise and chance is at work.

    The root mean square of the deviations times Student's t of as many degrees: a new deviation,
    normal about 0, is within it with that probability, however few trials there are.
    """
    return SubgroupMargins(
        confidence=confidence,
        n_trials=len(shares),
        shares=_half_widths(shares, confidence),
        means=_half_widths(means, confidence),
        is_measured=is_measured,
    )


def _half_widths(deviations: Floats, confidence: float) -> Floats:
    """Return half widths of deviations about 0, trials first; NaN where many trials lack one."""
    count = np.isfinite(deviations).sum(axis=0)
    known = np.maximum(count, 1)
    spread = np.sqrt(np.nansum(deviations**2, axis=0) / known)
    is_lacking = len(deviations) - count > FEW_LACK_IT * len(deviations)
    return np.where(is_lacking, np.nan, scipy.special.stdtrit(known, (1 + confidence) / 2) * spread)


def _levels(attribute: Attribute, column: Values, place: dict[str, int]) -> Whole:
    """Find each record's level among those that the tables have, -1 where it is none."""
    units, missing = column
    different, codes = np.unique(units, return_inverse=True)
    known = np.array([place.get(name, -1) for name in _named(attribute, different)])
    levels = known[codes]
    return levels if missing is None else np.where(missing, place.get(MISSING, -1), levels)


def _named(attribute: Attribute, units: Whole) -> list[str]:
    """Name values as the levels of subgroups are named."""
    values, categories = attribute.from_grid(units).tolist(), attribute.categories
    if categories is not None and categories.words is not None:
        return [categories.words[position] for position in values]
    is_boolean = categories is not None and isinstance(categories.values[0], bool)
    kind = Kind.BOOLEAN if is_boolean else attribute.kind
    return [value_name(value, kind) or f"{float(value):.15g}" for value in values]
