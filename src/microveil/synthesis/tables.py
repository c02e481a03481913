"""The bins that attributes have in tables, and noisy counts made such that none is negative."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import scipy  # which loads its parts when they are used

from microveil.noise.counts import NoisyCounts
from microveil.schema import Kind
from microveil.synthesis.distribution import Distribution
from microveil.synthesis.measurements import Measurements, Real, Scope, Whole
from microveil.synthesis.nearest import LEAST, positive_shares
from microveil.synthesis.one_way import AttributeMeasured

# A count stands out where it is so many standard deviations of its noise.
STANDS_OUT = 3.0
# How much of independence may be mixed in where a margin cannot be reached, and how near it must
# be: all of independence would drown a table of which most cells are 0.
GRAINS = (0.0, 1e-9, 1e-6, 1e-4, 1e-2, 1.0)
REACHED, CLOSE = 1e-5, 1e-9
# No dependence is taken to be closer than this correlation.
CLOSEST = 0.985
NODES, WEIGHTS = np.polynomial.legendre.leggauss(32)
# Angles, of which the correlation is the sine, that are tried for a table; an odd number.
ANGLES = np.linspace(-np.arcsin(CLOSEST), np.arcsin(CLOSEST), 65)
TINY = np.finfo(float).tiny


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Axis:
    """The bins of an attribute: between edges of an attribute with cuts, or of counted values.

    ``edges`` are codes at which bins begin, but the first, ``ends`` the shares of values below
    the ends of such bins, from 0 to 1; ``groups`` is the bin of each counted value. The last bin
    is that of records without a value where ``has_missing``; of a counted attribute they are a
    value like another. ``is_known`` says whether the masses of bins are known from the cuts, else
    tables alone say them; ``tail`` is the bin of a counted number's last values, where these
    together do not stand out. ``borders`` are the places of the ends among the distribution's
    borders, both ends of all included.
    """

    edges: Whole | None
    ends: Real
    groups: Whole | None
    n_bins: int
    has_missing: bool
    is_known: bool = True
    tail: int | None = None
    borders: Whole | None = None


def axes_of(measurements: Measurements) -> list[Axis]:
    """Make the bins that all attributes have in tables."""
    return [
        axis_at(number, measured, measurements.parts, measurements.halves)
        for number, measured in enumerate(measurements.attributes)
    ]


def axis_at(
    number: int, measured: AttributeMeasured, parts: int, halves: Mapping[int, int | None]
) -> Axis:
    """Make the bins that the attribute of a position has in tables: see `Measurements`."""
    at = halves.get(number)
    if at is None:
        return axis_of(measured, 2 if number in halves else parts)
    distribution = measured.distribution
    if distribution is not None:
        candidates = distribution.candidates
        edges = candidates.codes(np.array([at], dtype=np.int64), np.zeros(1, dtype=np.uint64))
        share = distribution.quantiles.share_below(at)
        ends = np.array([0.0, share, 1.0])
        return _between(edges, ends, has_missing=measured.has_missing, is_known=False)
    lower, _ = measured.attribute.grid_bounds or (0, 0)
    groups = (lower + np.arange(len(measured.levels.counts)) >= at).astype(np.int64)
    if measured.has_missing:
        groups[-1] = 2
    return _of_groups(groups)


def axis_of(measured: AttributeMeasured, parts: int) -> Axis:
    """Make parts of equal mass, so many at most, or bins of values whose counts stand out."""
    if measured.distribution is not None:
        return _of_borders(measured.distribution, parts, has_missing=measured.has_missing)
    if measured.attribute.kind is Kind.NOMINAL:
        return _of_groups(_strong(measured))
    return _of_groups(*_neighbours(measured))


def _of_groups(groups: Whole, tail: int | None = None) -> Axis:
    ends, n_bins = np.array([0.0, 1.0]), int(groups.max()) + 1
    return Axis(edges=None, ends=ends, groups=groups, n_bins=n_bins, has_missing=False, tail=tail)


def _of_borders(distribution: Distribution, parts: int, *, has_missing: bool) -> Axis:
    """Join the stretches between borders until there are few, those that hold least first.

    Of borders in one grid value the lower stays, and none in the lowest value of the domain: so a
    value that many records share has a bin, however few there are.
    """
    lower = float(distribution.quantiles.lower)
    kept = np.diff(np.floor(distribution.positions), prepend=lower) > 0
    edges, ends = distribution.codes[kept].tolist(), [0.0, *distribution.shares[kept].tolist(), 1.0]
    borders = [0, *(np.flatnonzero(kept) + 1).tolist(), len(kept) + 1]
    while len(edges) + 1 > parts:
        joined = [above - below for below, above in zip(ends, ends[2:], strict=False)]
        place = joined.index(min(joined))
        del edges[place], ends[place + 1], borders[place + 1]
    axis = _between(np.array(edges, dtype=np.int64), np.array(ends), has_missing=has_missing)
    return replace(axis, borders=np.array(borders))


def _between(edges: Whole, ends: Real, *, has_missing: bool, is_known: bool = True) -> Axis:
    return Axis(
        edges=edges,
        ends=ends,
        groups=None,
        n_bins=len(ends) - 1 + has_missing,
        has_missing=has_missing,
        is_known=is_known,
    )


def _strong(measured: AttributeMeasured) -> Whole:
    """Give values whose counts do not stand out of the noise a bin together."""
    counts, deviation = measured.levels.counts, np.sqrt(measured.levels.variance)
    weak = counts < STANDS_OUT * deviation
    groups = np.zeros(len(counts), dtype=np.int64)
    groups[~weak] = np.arange(np.count_nonzero(~weak))
    groups[weak] = np.count_nonzero(~weak)
    return groups


def _neighbours(measured: AttributeMeasured) -> tuple[Whole, int | None]:
    """Join each value to those before it until the sum of their counts stands out.

    Those left at the end, the tail, are a bin of their own: with others they would bring their
    noise, all of it far from most records.
    """
    counts, deviation = measured.levels.counts, float(np.sqrt(measured.levels.variance))
    n_values = len(counts) - measured.has_missing
    groups = np.zeros(len(counts), dtype=np.int64)
    group, total, members = 0, 0.0, 0
    for value in range(n_values):
        groups[value] = group
        total, members = total + counts[value], members + 1
        if total >= STANDS_OUT * deviation * np.sqrt(members):
            group, total, members = group + 1, 0.0, 0
    groups[n_values:] = group + (members > 0)
    return groups, group if members and group else None


def bin_masses(
    number: int,
    axis: Axis,
    measured: AttributeMeasured,
    tables: Mapping[Scope, NoisyCounts],
    n_records: int,
) -> Real:
    """Estimate the share of records in each bin, above 0, from all that was measured of it.

    Parts between cuts are known from these, and corrected by the tables; other counts are the mean
    of all measurements of them, each weighted by the inverse of its variance, and less what of it
    is expected to be noise.
    """
    nothing = np.zeros(axis.n_bins)
    if axis.groups is not None:
        sizes = np.bincount(axis.groups, minlength=axis.n_bins)
        weight = 1 / (measured.levels.variance * sizes)
        total = np.bincount(axis.groups, weights=measured.levels.counts) * weight
        return positive_shares(*_with_tables(number, tables, total, weight))
    parts, in_tables = np.diff(axis.ends), any(number in scope for scope in tables)
    if not axis.is_known and in_tables:
        return positive_shares(*_with_tables(number, tables, nothing, nothing))
    present = measured.present(n_records)
    if in_tables and len(parts) > 1:
        total, weight = _with_tables(number, tables, nothing, nothing)
        inner = slice(0, len(parts))
        n_present = n_records * present[0]
        parts = _corrected(axis, measured, n_present, total[inner], weight[inner])
    return np.append(parts * present[0], present[1:] if axis.has_missing else [])


def _corrected(
    axis: Axis, measured: AttributeMeasured, n_present: float, total: Real, weight: Real
) -> Real:
    """Correct the shares between borders by what tables count there: the best linear estimate.

    The borders' errors are known but for what ties and gaps add; tables' are independent of them.
    """
    assert measured.distribution is not None  # noqa: S101 -- it has borders
    assert axis.borders is not None  # noqa: S101 -- and so have its bins
    of_borders = measured.distribution.covariance(axis.borders)
    own = np.diff(np.diff(of_borders, axis=0), axis=1)
    counts = np.diff(axis.ends) * n_present
    off = np.linalg.solve(own + np.diag(1 / weight), total / weight - counts)
    corrected = np.maximum(counts + own @ off, LEAST)
    return np.asarray(corrected / corrected.sum())


def _with_tables(
    number: int, tables: Mapping[Scope, NoisyCounts], total: Real, weight: Real
) -> tuple[Real, Real]:
    for scope, table in tables.items():
        if number in scope:
            away = tuple(axis for axis, one in enumerate(scope) if one != number)
            cells = table.steps.size / table.steps.shape[scope.index(number)]
            own = 1 / (table.variance * cells)
            total = total + table.counts.sum(axis=away) * own
            weight = weight + own
    return total, weight


def shrunk(noisy: Real, towards: Real, variance: float) -> Real:
    """Draw a noisy table towards another, the more the less it stands out of the noise.

    James and Stein's rule, its factor never negative: what of the distance is expected to be
    noise, of the same variance on each cell, is taken off.
    """
    apart = noisy - towards
    distance = float((apart**2).sum())
    if distance == 0.0:
        return towards
    return np.asarray(towards + max(0.0, 1.0 - noisy.size * variance / distance) * apart)


def nearest_table(table: Real, rows: Real, columns: Real, steps: int = 400) -> Real:
    """Find the nearest table that is nowhere negative and has margins that sum to 1.

    Dykstra's alternating projections; what they leave of the margins is mended by iterative
    proportional fitting.
    """
    n_rows, n_columns = table.shape
    current, owed = table.copy(), np.zeros_like(table)
    for _ in range(steps):
        short_rows = (rows - current.sum(axis=1)) / n_columns
        short_columns = (columns - current.sum(axis=0)) / n_rows
        total = (1.0 - current.sum()) / (n_rows * n_columns)
        on_margins = current + short_rows[:, None] + short_columns[None, :] - total
        clipped = np.maximum(on_margins + owed, 0.0)
        owed = on_margins + owed - clipped
        moved = np.abs(clipped - current).max()
        current = clipped
        if moved < 1e-9:
            break
    return proportionally_fitted(current, rows, columns)


def proportionally_fitted(
    table: Real,
    rows: Real,
    columns: Real,
    steps: int = 50,
    grains: Sequence[float] = GRAINS,
) -> Real:
    """Scale rows and columns in turn until the margins are right (Deming and Stephan 1940).

    Where cells that are 0 keep a margin out of reach, a grain of independence is added, no more
    than is needed: with all of it any margins are reached.
    """
    alike = np.outer(rows, columns)
    for grain in grains:
        current = table + grain * alike
        for _ in range(steps):
            current *= (rows / np.maximum(current.sum(axis=1), 1e-300))[:, None]
            sums = current.sum(axis=0)
            current *= columns / np.maximum(sums, 1e-300)
            off = float(np.abs(sums - columns).max())
            if off < CLOSE:
                break
        if off < REACHED:
            break
    return current


def copula_table(rows: Real, columns: Real, correlation: float) -> Real:
    """Return the cell probabilities of a Gaussian copula with these margins.

    P(X < h, Y < k) is the product of the margins plus the integral of the bivariate density at
    (h, k) over the correlation from 0 (Plackett 1954), by Gauss and Legendre's rule.
    """
    turn = np.arcsin(correlation)
    density = _density(rows, columns, 0.5 * turn * (NODES + 1))
    return _cells(rows, columns, 0.5 * turn * np.tensordot(WEIGHTS, density, axes=1))


def fitted_correlation(table: Real, rows: Real, columns: Real) -> float:
    """Find the correlation whose copula is nearest to a table, by least squares.

    Of the correlations of all angles tried, whose integrals are parts of each other, the nearest
    one, moved to where the parabola through it and its neighbours is least.
    """
    step = ANGLES[1] - ANGLES[0]
    middle, off = 0.5 * (ANGLES[1:] + ANGLES[:-1]), 0.5 * step / np.sqrt(3)
    # By two points of Gauss and Legendre between each angle and the next.
    both = _density(rows, columns, middle - off) + _density(rows, columns, middle + off)
    parts = 0.5 * step * both
    sums = np.concatenate([np.zeros_like(parts[:1]), np.cumsum(parts, axis=0)])
    tables = _cells(rows, columns, sums - sums[len(ANGLES) // 2])
    distances = ((tables - table) ** 2).sum(axis=(1, 2))
    nearest = int(distances.argmin())
    if nearest in (0, len(ANGLES) - 1):
        return float(np.sin(ANGLES[nearest]))
    before, at, after = distances[nearest - 1 : nearest + 2]
    bend = before - 2 * at + after
    moved = 0.5 * (before - after) / bend if bend > 0 else 0.0
    return float(np.sin(ANGLES[nearest] + moved * step))


def _density(rows: Real, columns: Real, angles: Real) -> Real:
    """Return the bivariate density at all ends of bins, times the cosine of each angle."""
    h, k = (
        scipy.special.ndtri(np.clip(np.cumsum(masses)[:-1], TINY, 1 - 1e-16))
        for masses in (rows, columns)
    )
    turned = angles[:, None, None]
    squares = h[:, None] ** 2 + k**2 - 2 * (h[:, None] * k) * np.sin(turned)
    return np.asarray(np.exp(-squares / (2 * np.cos(turned) ** 2)) / (2 * np.pi))


def _cells(rows: Real, columns: Real, excess: Real) -> Real:
    """Make cells of what more records than in independence lie below each two ends of bins."""
    above, across = np.cumsum(rows), np.cumsum(columns)
    joint = np.zeros((*excess.shape[:-2], len(rows) + 1, len(columns) + 1))
    joint[..., 1:, -1] = above
    joint[..., -1, 1:] = across
    joint[..., 1:-1, 1:-1] = above[:-1, None] * across[:-1] + excess
    return np.maximum(np.diff(np.diff(joint, axis=-2), axis=-1), 0.0)
