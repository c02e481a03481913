"""How far a released figure can be off for the noise alone, from public scales.

Only what was measured has a margin: shares and counts of values and of pairs of bins, quantiles,
means. What the model adds (values inside bins, tails beyond the outermost cuts, dependence that
no table has) has none: a deviation beyond the margin is what the model cannot show.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import scipy  # which loads its parts when they are used

from microveil.schema import Attribute, written
from microveil.synthesis.cuts import cut_errors, quantile_function
from microveil.synthesis.measurements import (
    CountsMeasured,
    CutsMeasured,
    Measurements,
    NoisyCounts,
    Real,
)

__all__ = ["AttributeMargins", "Interval", "Margins", "margins_of"]

# Shares at which a numeric attribute's mean is summed up.
POINTS = 512


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

    Noise on counts has a known law; trial trees give the quantiles of the errors of cuts. They
    take the candidates as dense where the records are; by how much a distribution with all its
    records in few places is off more they do not know.
    """
    names = [measured.attribute.name for measured in measurements.attributes]
    found = {
        measured.attribute.name: _of_cuts(measured, measurements.n_records, confidence)
        if isinstance(measured, CutsMeasured)
        else _of_counts(measured, measurements.n_records, confidence)
        for measured in measurements.attributes
    }
    pairs = {
        tuple(names[one] for one in scope): _half_width(table, confidence) / measurements.n_records
        for scope, table in measurements.tables.items()
    }
    return Margins(
        confidence=confidence, n_records=measurements.n_records, attributes=found, pairs=pairs
    )


def _half_width(counts: NoisyCounts, confidence: float) -> float:
    """Return how far a count is off at most, but for so much chance, in records."""
    deviation = math.sqrt(counts.variance)
    if counts.noise.is_gaussian:
        return float(scipy.special.ndtri((1 + confidence) / 2)) * deviation
    return -math.log(1 - confidence) * deviation / math.sqrt(2)


def _share(label: str, count: float, half: float, n_records: int) -> Interval:
    return Interval(
        label=label,
        estimate=min(max(count / n_records, 0.0), 1.0),
        lower=min(max((count - half) / n_records, 0.0), 1.0),
        upper=min(max((count + half) / n_records, 0.0), 1.0),
    )


def _of_counts(measured: CountsMeasured, n_records: int, confidence: float) -> AttributeMargins:
    counts, half = measured.levels.counts, _half_width(measured.levels, confidence)
    labels = [*_values(measured.attribute), *(["missing"] if measured.has_missing else [])]
    shares = tuple(
        _share(label, float(count), half, n_records)
        for label, count in zip(labels, counts, strict=True)
    )
    attribute = measured.attribute
    if attribute.categories is not None:
        return AttributeMargins(shares=shares)
    lower, _ = attribute.grid_bounds or (0, 0)
    n_values = len(counts) - measured.has_missing
    values = (lower + np.arange(n_values, dtype=np.float64)) * float(attribute.resolution)
    return AttributeMargins(shares=shares, mean=_mean_of(values, counts[:n_values], half))


def _mean_of(values: Real, counts: Real, half: float) -> Interval:
    """Carry the noise of counts over to their mean, to first order."""
    total = max(float(counts.sum()), 1.0)
    mean = float(counts @ values / total)
    spread = half * float(np.sqrt(((values - mean) ** 2).sum())) / total
    low, high = float(values.min()), float(values.max())
    return Interval(
        label="mean",
        estimate=min(max(mean, low), high),
        lower=max(mean - spread, low),
        upper=min(mean + spread, high),
    )


def _values(attribute: Attribute) -> Iterator[str]:
    if attribute.categories is not None:
        yield from map(str, attribute.categories.values)
        return
    lower, upper = attribute.grid_bounds or (0, 0)
    for unit in range(lower, upper + 1):
        yield str(written(unit * attribute.resolution, attribute.kind))


def _of_cuts(measured: CutsMeasured, n_records: int, confidence: float) -> AttributeMargins:
    shares: tuple[Interval, ...] = ()
    n_present = float(n_records)
    if measured.present is not None:
        half = _half_width(measured.present, confidence)
        with_value, without = measured.present.counts
        shares = (
            _share("with a value", float(with_value), half, n_records),
            _share("missing", float(without), half, n_records),
        )
        n_present = max(shares[0].estimate * n_records, 1.0)
    errors = cut_errors(measured.rates) / n_present
    numbers = measured.cuts.numbers
    tail = (1 - confidence) / 2
    low, high = np.quantile(errors[:, numbers], [tail, 1 - tail], axis=0)
    quantiles = quantile_function(measured.cuts)
    step = float(measured.attribute.resolution)

    def value(at: Real) -> Real:
        return np.asarray(quantiles.at(np.clip(at, 1e-9, 1 - 1e-9)) * step, dtype=np.float64)

    # A cut with more records below it than its share lies too high by as much.
    estimates = value(measured.cuts.shares)
    lowest, highest = value(measured.cuts.shares - high), value(measured.cuts.shares - low)
    intervals = tuple(
        Interval(label=f"{share:.6g}", estimate=float(e), lower=float(a), upper=float(b))
        for share, e, a, b in zip(measured.cuts.shares, estimates, lowest, highest, strict=True)
    )
    return AttributeMargins(
        shares=shares, quantiles=intervals, mean=_mean_of_cuts(value, measured, errors, confidence)
    )


def _mean_of_cuts(value: Any, measured: CutsMeasured, errors: Real, confidence: float) -> Interval:
    """Move the shares of the cuts as trial errors do, and take the mean of the values between."""
    numbers = np.concatenate(([0], measured.cuts.numbers, [1 << measured.cuts.depth]))
    shares = numbers / (1 << measured.cuts.depth)
    points = (np.arange(POINTS) + 0.5) / POINTS
    values = value(points)
    part, n_parts = np.searchsorted(shares, points, side="right") - 1, len(shares) - 1
    sums = np.bincount(part, weights=values, minlength=n_parts)
    inside = sums / np.maximum(np.bincount(part, minlength=n_parts), 1)
    masses = np.maximum(np.diff(shares + errors[:, numbers], axis=1), 0.0)
    means = (masses @ inside) / masses.sum(axis=1)
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(means, [tail, 1 - tail])
    return Interval(
        label="mean by the model",
        estimate=float(values.mean()),
        lower=min(float(lower), float(values.mean())),
        upper=max(float(upper), float(values.mean())),
    )
