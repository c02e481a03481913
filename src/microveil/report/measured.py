"""What was measured of a new table: margins of noise by attribute, and tables of pairs."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.guarantee import AttributeTerms
from microveil.measures.values import Floats, Whole
from microveil.protect.release import Release
from microveil.report.wording import number, shown
from microveil.schema import Attribute, Kind, written
from microveil.synthesis.fitting import measured_pairs
from microveil.synthesis.measurements import AttributeMargins, Interval, Margins, Measurements
from microveil.synthesis.one_way import AttributeMeasured
from microveil.synthesis.tables import Axis, axes_of
from microveil.table import Table, numbers_of

# What categories are called that are none.
MISSING = "(missing)"
# Before the value at which a bin of cuts begins.
FROM = "≥ "


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMargins:
    """Figures of an attribute as they were measured, each with where it lies but for the noise."""

    confidence: float  # of each interval by itself
    # Shares, by category as a page names it; of numbers that may be missing that share alone.
    categories: Mapping[str, Interval] = field(default_factory=dict)
    # Shares of the values of a number that was counted.
    values: tuple[tuple[float, Interval], ...] = ()
    quantiles: tuple[tuple[float, Interval], ...] = ()  # by the share of the values below
    mean: Interval | None = None


# What a page may say of the measurements that a new table was drawn from.
Known = tuple[Measurements, Margins]


def known_of(release: Release) -> Known | None:
    """Return what a new table was drawn from, None where nothing: of a seed noise comes off."""
    if release.measurements is None or release.guarantee.randomness == "seeded":
        return None
    return release.measurements, release.margins()


def terms_as_learnt(release: Release) -> tuple[AttributeTerms, ...]:
    """Return the terms of the attributes released, with kinds and grids as they were learnt."""
    measured = () if release.measurements is None else release.measurements.attributes
    known = {own.attribute.name: own for own in measured}
    return tuple(
        AttributeTerms.of(known[terms.name].attribute, terms.share, terms.method)
        if terms.name in known
        else terms
        for terms in release.guarantee.attributes
        # A column of which nothing was learnt is promised, and left out.
        if terms.name not in known or not known[terms.name].is_unknown
    )


def is_declared(attribute: Attribute) -> bool:
    """Whether domain and grid were declared: measurements on others show what was read."""
    return not attribute.from_data


def margins_by_name(
    known: Known | None, *, declared_only: bool = False
) -> dict[str, ColumnMargins]:
    """Return the margins of each attribute, by name; on a public page of declared ones alone."""
    if known is None:
        return {}
    measurements, margins = known
    own, confidence = margins.attributes, margins.confidence
    return {
        measured.attribute.name: _of(measured, own[measured.attribute.name], confidence)
        for measured in measurements.attributes
        if is_declared(measured.attribute) or not declared_only
    }


def _of(measured: AttributeMeasured, own: AttributeMargins, confidence: float) -> ColumnMargins:
    if measured.distribution is not None:
        shares = [float(one.label) for one in own.quantiles]
        # Last of the values that were counted, those of atoms among them.
        of_both = ("(present)", MISSING) if measured.atoms is None else (MISSING,)
        last = of_both if measured.has_missing else ()
        return ColumnMargins(
            confidence=confidence,
            categories=dict(zip(last, own.shares[len(own.shares) - len(last) :], strict=True)),
            quantiles=tuple(zip(shares, own.quantiles, strict=True)),
            mean=own.mean,
        )
    attribute = measured.attribute
    n_values = len(own.shares) - measured.has_missing
    present, missing = own.shares[:n_values], own.shares[n_values:]
    absent = dict(zip((MISSING,), missing, strict=False))
    if attribute.categories is None and attribute.kind is not Kind.BOOLEAN:
        (lower, _), step = attribute.grid_bounds or (0, 0), float(attribute.resolution)
        return ColumnMargins(
            confidence=confidence,
            categories=absent,
            values=tuple(((lower + place) * step, one) for place, one in enumerate(present)),
            mean=own.mean,
        )
    named = dict(zip(_value_names(attribute), present, strict=False))
    return ColumnMargins(confidence=confidence, categories=named | absent)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AttributeBins:
    """The bins of one attribute, in the order of its tables."""

    attribute: Attribute
    labels: tuple[str, ...]
    has_missing: bool  # whether missing values have a bin
    # Of cuts: where bins begin, but the first, half a step of the grid below their least value.
    starts: Floats | None = None
    # Of counted values: the bin of each, and last that of missing values where it has one.
    groups: Whole | None = None
    places: Mapping[str, int] | None = None  # of counted categories: the bin of each, by its name

    def codes(self, table: Table) -> Whole:
        """Return the bin of each record of a table; -1 where it has none."""
        name = self.attribute.name
        if self.places is not None:
            found, inverse = np.unique(words_of(table, name), return_inverse=True)
            known = [self.places.get(str(word), -1) for word in found]
            return np.array(known, dtype=np.int64)[inverse]
        values = numbers_of(table, name)
        missing = np.isnan(values)
        known_values = np.where(missing, 0.0, values)
        last = len(self.labels) - 1 if self.has_missing else -1
        if self.starts is not None:
            codes = np.searchsorted(self.starts, known_values, side="right")
        else:
            assert self.groups is not None  # noqa: S101 -- one of the two is there
            lower, upper = self.attribute.grid_bounds or (0, 0)
            units = np.rint(known_values / float(self.attribute.resolution)).astype(np.int64)
            codes = self.groups[np.clip(units, lower, upper) - lower]
        return np.where(missing, last, codes).astype(np.int64)


def bins_of(measured: AttributeMeasured, axis: Axis) -> AttributeBins:
    """Name an attribute's bins; a cut inside a grid value is taken to lie at its beginning."""
    attribute = measured.attribute
    if measured.distribution is not None:
        assert axis.edges is not None  # noqa: S101 -- made of cuts
        step = float(attribute.resolution)
        starts = np.floor(measured.distribution.candidates.positions(axis.edges)) * step
        return AttributeBins(
            attribute=attribute,
            labels=(*_stretches(starts, attribute.kind), *([MISSING] if axis.has_missing else [])),
            has_missing=axis.has_missing,
            starts=starts - step / 2,
        )
    assert axis.groups is not None  # noqa: S101 -- made of counts
    names = _value_names(attribute) + [MISSING] * measured.has_missing
    members: list[list[str]] = [[] for _ in range(axis.n_bins)]
    for name, group in zip(names, axis.groups.tolist(), strict=True):
        members[group].append(name)
    is_text = attribute.categories is not None
    has_order = attribute.kind is not Kind.NOMINAL
    places = dict(zip(names, axis.groups.tolist(), strict=True)) if is_text else None
    return AttributeBins(
        attribute=attribute,
        labels=tuple(
            f"{own[0]} to {own[-1]}" if has_order and len(own) > 1 else ", ".join(own)
            for own in members
        ),
        has_missing=measured.has_missing,
        groups=axis.groups,
        places=places,
    )


def _stretches(starts: Floats, kind: Kind) -> list[str]:
    """Name stretches between cuts by where they begin; the first by where it ends."""
    names = [shown(x, kind) if kind is Kind.DATE else number(x, 5) for x in starts.tolist()]
    return [f"< {names[0]}", *(f"{FROM}{name}" for name in names)] if names else ["all values"]


def _value_names(attribute: Attribute) -> list[str]:
    if attribute.categories is not None:
        return [str(value) or MISSING for value in attribute.categories.values]
    lower, upper = attribute.grid_bounds or (0, 0)
    if attribute.kind is Kind.BOOLEAN:
        return ["no", "yes"][lower : upper + 1]
    return [
        str(written(unit * attribute.resolution, attribute.kind))
        for unit in range(lower, upper + 1)
    ]


def words_of(table: Table, name: str) -> NDArray[Any]:
    """Return categories as a page names them."""
    if not table.kind(name).is_numeric:
        words = table.words(name)
        return np.where(words == "", MISSING, words)
    numbers = numbers_of(table, name)
    missing = np.isnan(numbers)
    words = np.where(missing, 0.0, numbers).astype(np.int64).astype(np.str_)
    return np.where(missing, MISSING, words)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairTable:
    """The table of two attributes whose dependence was measured."""

    bins: tuple[AttributeBins, AttributeBins]
    strength: float  # from 0, independent, to 1
    half_width: float  # of the interval of the share of records in one cell
    measured: Floats  # shares as they were measured, with their noise
    # Of the records of each side: "original", where it may be shown, and "release". Of the
    # strongest pairs alone.
    shares: Mapping[str, Floats]

    @property
    def names(self) -> tuple[str, str]:
        """The two attributes."""
        first, second = self.bins
        return first.attribute.name, second.attribute.name


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MeasuredTables:
    """The graph of the pairs that were measured."""

    confidence: float  # of intervals
    pairs: tuple[PairTable, ...]  # the strongest first


def measured_tables(
    known: Known | None, protected: Table, original: Table | None, most: int
) -> MeasuredTables | None:
    """Return the measured pairs of a new table, None of none; without original of declared ones."""
    if known is None:
        return None
    measurements, margins = known
    axes = axes_of(measurements)
    bins = [bins_of(*both) for both in zip(measurements.attributes, axes, strict=True)]
    sides = ({} if original is None else {"original": original}) | {"release": protected}
    found: list[PairTable] = []
    for pair in measured_pairs(measurements):
        both = [measurements.attributes[one] for one in pair.positions]
        if any(own.is_unknown for own in both):  # left out, though it was measured
            continue
        if original is None and not all(is_declared(own.attribute) for own in both):
            continue
        scope = tuple(measurements.attributes[one].attribute.name for one in pair.scope)
        first, second = (bins[one] for one in pair.positions)
        drawn = sides if len(found) < most else {}
        found.append(
            PairTable(
                bins=(first, second),
                strength=pair.strength,
                half_width=margins.pairs[scope] * math.sqrt(pair.n_summed),
                measured=pair.noisy,
                shares={side: _counted(first, second, table) for side, table in drawn.items()},
            )
        )
    return MeasuredTables(confidence=margins.confidence, pairs=tuple(found)) if found else None


def _counted(first: AttributeBins, second: AttributeBins, table: Table) -> Floats:
    """Return the shares of a table's records in the bins of two attributes."""
    counts = np.zeros((len(first.labels), len(second.labels)))
    rows, columns = first.codes(table), second.codes(table)
    inside = (rows >= 0) & (columns >= 0)
    np.add.at(counts, (rows[inside], columns[inside]), 1)
    return np.asarray(counts / max(1, table.n_records))
