"""The bins that an attribute has in tables, made of its own measurement."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.schema import Kind
from microveil.synthesis.cut_errors import cut_covariance
from microveil.synthesis.measurements import (
    AttributeMeasured,
    CountsMeasured,
    CutsMeasured,
    NoisyCounts,
)
from microveil.synthesis.quantile_function import quantile_function

__all__ = ["Axis", "axis_of", "bin_masses", "two_parts"]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
Scope = tuple[int, ...]
# A count is told from nothing where it is so many standard deviations of its noise.
STANDS_OUT = 3.0
# Records that a bin is taken to have at least: no distribution has a mass of 0 or less.
LEAST = 0.5
# What the variance of cuts' errors is multiplied by: where many records are equal, and around
# wide gaps, cuts lie farther off than where records are dense. On nine simulated attributes of
# 2,000 to 40,000 records 1, 4 and 16 do alike: distances of distributions differ by 7 % at most.
TIES_AND_GAPS = 4.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Axis:
    """The bins of an attribute.

    Attributes
    ----------
    edges : int64 array or None
        Codes at which bins of an attribute with cuts begin, but the first; None for one whose
        values were counted.
    ends : float64 array
        The shares of values below the ends of such bins, from 0 to 1.
    groups : int64 array or None
        The bin of each value that was counted.
    n_bins : int
        With the last for records without a value, where ``has_missing``.
    has_missing : bool
        Whether the last bin is that of records without a value; of a counted attribute they
        are a value like another.
    is_ordered : bool
        Whether bins lie in an order.
    is_known : bool
        Whether the masses of bins are known from the cuts; else tables alone say them.
    tail : int or None
        The bin of a counted number's last values, where these together do not stand out.
    """

    edges: Whole | None
    ends: Real
    groups: Whole | None
    n_bins: int
    has_missing: bool
    is_ordered: bool
    is_known: bool = True
    tail: int | None = None


def axis_of(measured: AttributeMeasured, parts: int) -> Axis:
    """Make the bins of an attribute: parts of equal mass, or values whose counts stand out."""
    if isinstance(measured, CutsMeasured):
        return _of_cuts(measured, parts)
    groups, tail = _groups(measured)
    return Axis(
        edges=None,
        ends=np.array([0.0, 1.0]),
        groups=groups,
        n_bins=int(groups.max()) + 1,
        has_missing=False,
        is_ordered=measured.attribute.kind is not Kind.NOMINAL and not measured.has_missing,
        tail=tail,
    )


def two_parts(measured: AttributeMeasured, at: int | None) -> Axis:
    """Make two bins of a numeric attribute: below its median, or a grid value, and from it on.

    Parameters
    ----------
    measured : CutsMeasured or CountsMeasured
    at : int or None
        The grid value; None takes the private median, and keeps counted values as they are.
    """
    if isinstance(measured, CountsMeasured):
        return axis_of(measured, 2) if at is None else _split_values(measured, at)
    cuts, candidates = measured.cuts, measured.candidates
    if at is None:
        return _of_cuts(measured, 2)
    at_start = np.zeros(1, dtype=np.uint64)
    code = int(candidates.codes(np.array([at], dtype=np.int64), at_start)[0])
    share = quantile_function(cuts, candidates).share_below(at)
    return Axis(
        edges=np.array([code], dtype=np.int64),
        ends=np.array([0.0, share, 1.0]),
        groups=None,
        n_bins=2 + (measured.present is not None),
        has_missing=measured.present is not None,
        is_ordered=True,
        is_known=False,
    )


def _split_values(measured: CountsMeasured, at: int) -> Axis:
    lower, _ = measured.attribute.grid_bounds or (0, 0)
    groups = (lower + np.arange(len(measured.levels.counts)) >= at).astype(np.int64)
    if measured.has_missing:
        groups[-1] = 2
    return Axis(
        edges=None,
        ends=np.array([0.0, 1.0]),
        groups=groups,
        n_bins=int(groups.max()) + 1,
        has_missing=False,
        is_ordered=not measured.has_missing,
    )


def _of_cuts(measured: CutsMeasured, parts: int) -> Axis:
    """Join the stretches between cuts until there are few, those that hold least together first.

    Of cuts in one grid value the lower stays, and none in the lowest value of the domain: so a
    value that many records share has a bin, however few there are.
    """
    cuts, candidates = measured.cuts, measured.candidates
    values = np.floor(candidates.positions(cuts.codes))
    kept = np.diff(values, prepend=float(candidates.lower)) > 0
    edges, ends = cuts.codes[kept].tolist(), [0.0, *cuts.shares[kept].tolist(), 1.0]
    while len(edges) + 1 > parts:
        joined = [above - below for below, above in zip(ends, ends[2:], strict=False)]
        place = joined.index(min(joined))
        del edges[place], ends[place + 1]
    return Axis(
        edges=np.array(edges, dtype=np.int64),
        ends=np.array(ends),
        groups=None,
        n_bins=len(edges) + 1 + (measured.present is not None),
        has_missing=measured.present is not None,
        is_ordered=True,
    )


def _groups(measured: CountsMeasured) -> tuple[Whole, int | None]:
    """Give values whose counts do not stand out of the noise a bin with others; name the tail's."""
    counts, deviation = measured.levels.counts, np.sqrt(measured.levels.variance)
    n_values = len(counts) - measured.has_missing
    if measured.attribute.kind is not Kind.NOMINAL:
        return _neighbours(counts, float(deviation), n_values)
    weak = counts < STANDS_OUT * deviation
    groups = np.zeros(len(counts), dtype=np.int64)
    groups[~weak] = np.arange(np.count_nonzero(~weak))
    groups[weak] = np.count_nonzero(~weak)
    return groups, None


def _neighbours(counts: Real, deviation: float, n_values: int) -> tuple[Whole, int | None]:
    """Join each value to those before it until the sum of their counts stands out.

    Those left at the end are a bin of their own: with others they would bring their noise, all of
    it far from most records.
    """
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
    """Estimate the share of records in each bin, from all that was measured of it.

    Parts between cuts are known from these, and corrected by the tables; other counts are the mean
    of all measurements of them, each weighted by the inverse of its variance, and less what of it
    is expected to be noise.

    Returns
    -------
    float64 array (n_bins,)
        Above 0; they sum to 1.
    """
    if axis.groups is not None:
        assert isinstance(measured, CountsMeasured)  # noqa: S101 -- its groups were made of it
        sizes = np.bincount(axis.groups, minlength=axis.n_bins)
        weight = 1 / (measured.levels.variance * sizes)
        total = np.bincount(axis.groups, weights=measured.levels.counts) * weight
        return _positive(*_with_tables(number, tables, total, weight))
    parts = np.diff(axis.ends)
    if not axis.is_known and any(number in scope for scope in tables):
        nothing = np.zeros(axis.n_bins)
        return _positive(*_with_tables(number, tables, nothing, nothing))
    assert isinstance(measured, CutsMeasured)  # noqa: S101 -- its ends were made of it
    present = np.array([1.0, 0.0])
    if measured.present is not None:
        counts, weight = measured.present.counts, np.full(2, 1 / measured.present.variance)
        present = _positive(counts * weight, weight)
    if any(number in scope for scope in tables) and axis.is_known and len(parts) > 1:
        nothing = np.zeros(axis.n_bins)
        total, weight = _with_tables(number, tables, nothing, nothing)
        inner = slice(0, len(parts))
        parts = _corrected(axis, measured, n_records * present[0], total[inner], weight[inner])
    return np.append(parts * present[0], present[1:] if axis.has_missing else [])


def _corrected(
    axis: Axis, measured: CutsMeasured, n_present: float, total: Real, weight: Real
) -> Real:
    """Correct the shares between cuts by what tables count there: the best linear estimate.

    The cuts' errors are known but for what ties and gaps add; tables' are independent of them.
    """
    numbers = np.rint(axis.ends * (1 << measured.cuts.depth)).astype(np.int64)
    of_cuts = cut_covariance(measured.rates)[np.ix_(numbers, numbers)]
    own = TIES_AND_GAPS * np.diff(np.diff(of_cuts, axis=0), axis=1)
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


def _positive(total: Real, weight: Real) -> Real:
    """Shrink counts, sums of measurements over their weights, towards 0, and make them shares."""
    # James and Stein's rule for one number: of a count that is noise nearly nothing is left.
    noise = np.sqrt(weight) / np.maximum(total, np.sqrt(weight))
    counts = np.maximum(total / weight * (1 - noise**2), LEAST)
    return np.asarray(counts / counts.sum())
