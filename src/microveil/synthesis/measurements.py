"""What was asked of the data, as it came out of the noise, and how far off it can be for that.

Everything here may be published: it is what differential privacy bounds, and every release by
`dp-synthetic` is a function of it and of fresh randomness.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.noise.counts import NoisyCounts
from microveil.schema import Attribute, written
from microveil.synthesis.distribution import Distribution
from microveil.synthesis.one_way import AttributeMeasured
from microveil.table.record_rules import RecordRule, kind_in_rules, parse_rule

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# The positions of a table's attributes.
Scope = tuple[int, ...]
# Beside atoms quantiles have margins at so many even shares.
EVENLY = 32
# Shares at which a numeric attribute's mean is summed up.
POINTS = 512


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Measurements:
    """All that is known of a table once the budget is spent.

    ``tables`` are in the order in which they were measured; `tables.axis_at` makes the bins of each
    of an attribute's own measurement: ``parts`` of equal mass at most, or two of those in
    ``halves``, of which the second begins at a grid value, or the private median. ``rules`` are
    those that drawn records keep, by which the columns ``computed`` are made of the others.
    """

    n_records: int
    attributes: tuple[AttributeMeasured, ...]
    tables: Mapping[Scope, NoisyCounts]
    parts: int
    halves: Mapping[int, int | None] = field(default_factory=dict)
    rules: tuple[RecordRule, ...] = ()
    computed: tuple[Attribute, ...] = ()

    @classmethod
    def from_dict(
        cls, contents: Mapping[str, Any], attributes: Sequence[Attribute]
    ) -> "Measurements":
        """Make measurements of their plain values, as measurements.json has them.

        Attributes come with their domains and grids, in any order. KeyError, TypeError or
        ValueError if these are not measurements of them.
        """
        known = {attribute.name: attribute for attribute in attributes}
        entries: Mapping[str, Any] = contents["attributes"]
        place = {name: number for number, name in enumerate(entries)}
        kinds = {name: kind_in_rules(attribute) for name, attribute in known.items()}
        rules = tuple(parse_rule(text, kinds) for text in contents.get("rules", ()))
        computed = contents.get("computed", ())
        if known.keys() != {*place, *computed} or len(known) != len(place) + len(computed):
            raise ValueError("attributes")
        return cls(
            n_records=int(contents["n_records"]),
            attributes=tuple(
                AttributeMeasured.from_dict(known[name], entry, int(contents["n_records"]))
                for name, entry in entries.items()
            ),
            tables={
                tuple(place[name] for name in table["attributes"]): NoisyCounts.from_dict(table)
                for table in contents["tables"]
            },
            parts=int(contents["parts"]),
            halves={place[name]: at for name, at in contents["halves"].items()},
            rules=rules,
            computed=tuple(known[name] for name in computed),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the measurements as plain values."""
        names = [measured.attribute.name for measured in self.attributes]
        own = (measured.to_dict() for measured in self.attributes)
        return {
            "n_records": self.n_records,
            "attributes": dict(zip(names, own, strict=True)),
            "tables": [
                {"attributes": [names[one] for one in scope], **table.to_dict()}
                for scope, table in self.tables.items()
            ],
            "parts": self.parts,
            "halves": {names[one]: at for one, at in self.halves.items()},
            **({"rules": [*map(str, self.rules)]} if self.rules else {}),
            **({"computed": [own.name for own in self.computed]} if self.computed else {}),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A figure of the original as it was measured, and where it lies but for so much chance."""

    label: str
    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeMargins:
    """The margins of one attribute, in its units (dates: days since 1970-01-01).

    Shares are of the records with each value of a counted attribute; of one with cuts, of those
    with a value at all, where missing is protected. Quantiles are at the shares of cuts.
    Categories have no mean. That of an attribute with cuts, labelled "mean by the model", goes by
    the noise of their shares alone: how values lie between two cuts, and beyond the outermost, no
    measurement says, and the true mean lies outside far more often than ``confidence`` says.
    """

    shares: tuple[Interval, ...] = ()
    quantiles: tuple[Interval, ...] = ()
    mean: Interval | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the margins as plain values."""
        found = asdict(self)
        return found | {name: list(found[name]) for name in ("shares", "quantiles")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Margins:
    """How far figures of a new table can be off for the noise of its measurements alone.

    ``confidence`` is of each interval by itself; a share times ``n_records`` is a count. ``pairs``
    has by the names of a measured table's attributes half the width of the interval of the share
    of records in one of its cells.
    """

    confidence: float
    n_records: int
    attributes: Mapping[str, AttributeMargins]
    pairs: Mapping[tuple[str, ...], float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the margins as plain values."""
        return {
            "confidence": self.confidence,
            "n_records": self.n_records,
            "attributes": {name: entry.to_dict() for name, entry in self.attributes.items()},
            "pairs": [
                {"attributes": list(names), "half_width": width}
                for names, width in self.pairs.items()
            ],
        }


def margins_of(measurements: Measurements, confidence: float = 0.95) -> Margins:
    """Find the margins of measurements: a function of these and of public scales.

    Only what was measured has a margin: what the model adds (values inside bins, tails beyond the
    outermost cuts, dependence that no table has) has none. Noise on counts has a known law; trial
    trees give the quantiles of the errors of cuts. They take the candidates as dense where the
    records are; by how much a distribution with all its records in few places is off more they do
    not know.
    """
    n_records = measurements.n_records
    names = [measured.attribute.name for measured in measurements.attributes]
    own = (
        _of_counts(measured, n_records, confidence)
        if measured.distribution is None
        else _of_numbers(measured, measured.distribution, n_records, confidence)
        for measured in measurements.attributes
    )
    pairs = {
        tuple(names[one] for one in scope): _half_width(table, confidence) / n_records
        for scope, table in measurements.tables.items()
    }
    attributes = dict(zip(names, own, strict=True))
    return Margins(confidence=confidence, n_records=n_records, attributes=attributes, pairs=pairs)


def _half_width(counts: NoisyCounts, confidence: float) -> float:
    """Return how far a count is off at most, but for so much chance, in records."""
    deviation = math.sqrt(counts.variance)
    if counts.noise.is_gaussian:
        return float(scipy.special.ndtri((1 + confidence) / 2)) * deviation
    return -math.log(1 - confidence) * deviation / math.sqrt(2)


def _within(low: float, high: float, label: str, *figures: float) -> Interval:
    """Make an interval of an estimate and two ends, none beyond what the figure can be."""
    estimate, lower, upper = (min(max(figure, low), high) for figure in figures)
    return Interval(label=label, estimate=estimate, lower=lower, upper=upper)


def _shares(
    labels: Sequence[str], noisy: NoisyCounts, n_records: int, confidence: float
) -> tuple[Interval, ...]:
    half = _half_width(noisy, confidence)
    figures = (noisy.counts / n_records, (noisy.counts - half) / n_records)
    every = zip(labels, *figures, (noisy.counts + half) / n_records, strict=True)
    return tuple(_within(0.0, 1.0, label, *map(float, own)) for label, *own in every)


def _of_counts(measured: AttributeMeasured, n_records: int, confidence: float) -> AttributeMargins:
    attribute = measured.attribute
    labels = [*_values(attribute), *(["missing"] if measured.has_missing else [])]
    shares = _shares(labels, measured.levels, n_records, confidence)
    if attribute.categories is not None:
        return AttributeMargins(shares=shares)
    lower, upper = attribute.grid_bounds or (0, 0)
    values = np.arange(lower, upper + 1, dtype=np.float64) * float(attribute.resolution)
    own = measured.levels.counts[: len(values)]
    # The noise of counts is carried over to their mean to first order.
    total = max(float(own.sum()), 1.0)
    mean = float(own @ values / total)
    half = _half_width(measured.levels, confidence)
    spread = half * float(np.sqrt(((values - mean) ** 2).sum())) / total
    low, high = float(values.min()), float(values.max())
    around = _within(low, high, "mean", mean, mean - spread, mean + spread)
    return AttributeMargins(shares=shares, mean=around)


def _values(attribute: Attribute) -> list[str]:
    if attribute.categories is not None:
        return [*map(str, attribute.categories.values)]
    lower, upper = attribute.grid_bounds or (0, 0)
    units = range(lower, upper + 1)
    return [str(written(unit * attribute.resolution, attribute.kind)) for unit in units]


def _of_numbers(
    measured: AttributeMeasured, distribution: Distribution, n_records: int, confidence: float
) -> AttributeMargins:
    shares: tuple[Interval, ...] = ()
    n_present, tail = float(n_records), (1 - confidence) / 2
    counts = measured.counts
    if counts is not None and measured.atoms is None:
        shares = _shares(("with a value", "missing"), counts, n_records, confidence)
        n_present = max(shares[0].estimate * n_records, 1.0)
    elif counts is not None and measured.atoms is not None:
        unit_of, kind = measured.attribute.resolution, measured.attribute.kind
        labels = [str(written(unit * unit_of, kind)) for unit in measured.atoms.tolist()]
        labels += ["missing"] if measured.has_missing else []
        shares = _shares(labels, counts, n_records, confidence)
        n_present = max(float(measured.present(n_records)[0]) * n_records, 1.0)
    (ends, errors), at = distribution.trial_errors, _levels_of(measured, distribution)
    errors = errors / n_present
    own = np.array([np.interp(at, ends, trial) for trial in errors])
    low, high = np.quantile(own, [tail, 1 - tail], axis=0)
    quantiles, step = distribution.quantiles, float(measured.attribute.resolution)

    def value(at: Real) -> Real:
        return np.asarray(quantiles.at(np.clip(at, 1e-9, 1 - 1e-9)) * step, dtype=np.float64)

    # A border with more records below it than its share lies too high by as much.
    figures = value(at), value(at - high), value(at - low)
    intervals = tuple(
        Interval(label=f"{share:.6g}", estimate=float(e), lower=float(a), upper=float(b))
        for share, e, a, b in zip(at, *figures, strict=True)
    )
    # The shares of the borders are moved as trial errors do, and the values between averaged.
    points = (np.arange(POINTS) + 0.5) / POINTS
    mean, means = value(points).mean(), _trial_means(value(points), points, ends, errors)
    lower, upper = np.quantile(means, [tail, 1 - tail])
    around = float(mean), float(min(lower, mean)), float(max(upper, mean))
    by_model = _within(-math.inf, math.inf, "mean by the model", *around)
    return AttributeMargins(shares=shares, quantiles=intervals, mean=by_model)


def _levels_of(measured: AttributeMeasured, distribution: Distribution) -> Real:
    """Return the shares at which quantiles have margins: those of cuts; evenly beside atoms."""
    if measured.atoms is None:
        return distribution.shares
    return np.asarray(np.arange(1, EVENLY) / EVENLY)


def _trial_means(values: Real, points: Real, shares: Real, errors: Real) -> Real:
    """Average the values at even points, the shares between borders moved as in each trial."""
    part, n_parts = np.searchsorted(shares, points, side="right") - 1, len(shares) - 1
    sums = np.bincount(part, weights=values, minlength=n_parts)
    inside = sums / np.maximum(np.bincount(part, minlength=n_parts), 1)
    masses = np.maximum(np.diff(shares + errors, axis=1), 0.0)
    return np.asarray((masses @ inside) / masses.sum(axis=1))
