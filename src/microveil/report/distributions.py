"""What the pictures of one attribute show: bins, distribution functions, quantiles, ranks.

All is computed from all records. Where there is an original it alone decides which part of
the range is drawn finely; where there is none, the release does.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microveil.report.columns import NumberColumn
from microveil.schema import Kind
from microveil.table.sorting import ranks_of

__all__ = [
    "QUANTILES",
    "Histogram",
    "RankAgreement",
    "bend",
    "distribution_function",
    "histogram",
    "quantiles",
    "rank_agreement",
]

Float = NDArray[np.float64]
QUANTILES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
FEWEST_BINS, MOST_BINS = 6, 36
BULK = (0.01, 0.99)
# Where all values take no more than this many times the room of the bulk, all are binned.
ROOM_FOR_TAILS = 1.6
# Where they take more than this, the distribution function is drawn on a bent scale.
ROOM_BEFORE_BENDING = 5.0
FINEST_BEND = 1e-6
MOST_STEPS = 160
FIFTHS = 5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Histogram:
    """Shares of records in bins of one width, and in the open bins at either end.

    Attributes
    ----------
    edges : float64 array (n_bins + 1,)
    step : float or None
        Of the grid of values, which no edge lies on.
    shares : dict of float64 array (n_bins,)
        By side.
    below, above : dict of float
        By side; 0 throughout where the bins hold all values.
    """

    edges: Float
    step: float | None
    shares: dict[str, Float]
    below: dict[str, float]
    above: dict[str, float]

    @property
    def is_open_below(self) -> bool:
        """Whether values lie below the bins."""
        return any(share > 0 for share in self.below.values())

    @property
    def is_open_above(self) -> bool:
        """Whether values lie above the bins."""
        return any(share > 0 for share in self.above.values())

    @property
    def most(self) -> float:
        """The largest share there is."""
        ends = [*self.below.values(), *self.above.values()]
        return max(*ends, *(float(shares.max()) for shares in self.shares.values()))

    @property
    def largest_gap(self) -> float:
        """The largest difference between the sides in any bin; 0 where there is one side."""
        if len(self.shares) < 2:
            return 0.0
        before, after = (
            np.array([self.below[side], *self.shares[side], self.above[side]])
            for side in ("original", "protected")
        )
        return float(np.abs(before - after).max())


def histogram(column: NumberColumn) -> Histogram | None:
    """Count records in bins; None where no value is present.

    The number of bins is by the Rice rule, 2 n^(1/3), between 6 and 36. Their width is 1, 2
    or 5 times a power of ten, a multiple of the grid's step, with edges between grid points, so
    that every bin holds equally many of them; up to 36 grid points have a bin each. Else, where
    the middle 98 % of the values take little
    of the range, they alone are binned, and an open bin at either end holds the rest.
    """
    sides = {side: values for side, values in column.sides if len(values)}
    if not sides:
        return None
    reference = next(iter(sides.values()))
    lower = float(min(values.min() for values in sides.values()))
    upper = float(max(values.max() for values in sides.values()))
    low, high = quantiles(reference, BULK)
    step = 1.0 if column.kind in {Kind.WHOLE, Kind.DATE} else column.step
    few = step is not None and upper - lower < MOST_BINS * step
    wide = upper / 2 - lower / 2 > ROOM_FOR_TAILS * (high / 2 - low / 2)
    if high > low and wide and not few:
        lower, upper = max(lower, low), min(upper, high)
    edges = _edges(lower, upper, step, _rice(len(reference)))
    counts = {side: np.histogram(values, edges)[0] for side, values in sides.items()}
    return Histogram(
        edges=edges,
        step=step,
        shares={side: counted / len(sides[side]) for side, counted in counts.items()},
        below={side: float(np.mean(values < edges[0])) for side, values in sides.items()},
        above={side: float(np.mean(values > edges[-1])) for side, values in sides.items()},
    )


def _rice(n_values: int) -> int:
    return int(min(MOST_BINS, max(FEWEST_BINS, math.ceil(2 * n_values ** (1 / 3)))))


def _edges(lower: float, upper: float, step: float | None, most: int) -> Float:
    """Return bin edges around a range."""
    size = max(abs(lower), abs(upper))
    edges: Float
    if step is not None and upper - lower < MOST_BINS * step:
        ends = math.floor(lower / step + 0.5), math.floor(upper / step + 0.5)
        edges = step * (np.arange(ends[0], ends[1] + 2, dtype=np.float64) - 0.5)
        return edges
    if upper - lower <= 8 * np.spacing(size):
        margin = max(0.5 * (step or 1.0), 1e-6 * size)
        return np.array([lower - margin, lower + margin])
    width = max(upper / most - lower / most, step or 0.0)
    power = 10.0 ** math.floor(math.log10(width))
    width = next((m * power for m in (1, 2, 5) if m * power >= width * (1 - 1e-9)), 10 * power)
    shift = 0.0
    if step is not None:
        width, shift = step * max(1, round(width / step)), step / 2
    first, last = math.floor((lower + shift) / width), math.floor((upper + shift) / width)
    edges = width * np.arange(first, last + 2, dtype=np.float64) - shift
    return edges


def quantiles(values: Float, levels: tuple[float, ...] = QUANTILES) -> tuple[float, ...]:
    """Return quantiles that are values of the data: the least with that share at or below it.

    >>> quantiles(np.array([4.0, 1.0, 3.0, 2.0]), (0, 0.5, 1))
    (1.0, 2.0, 4.0)
    """
    if not len(values):
        return (math.nan,) * len(levels)
    found = np.quantile(values, np.array(levels), method="inverted_cdf")
    return tuple(float(value) for value in found)


def bend(column: NumberColumn) -> float | None:
    """Return the threshold of a bent scale, where a straight one would hide the values.

    A power of ten: at most the size of all but a tenth of the values that are not 0.
    """
    present = [values for _, values in column.sides if len(values)]
    if not present or column.kind is Kind.DATE:
        return None
    reference = present[0]
    low, high = quantiles(reference, BULK)
    lower = min(float(values.min()) for values in present)
    upper = max(float(values.max()) for values in present)
    if upper / 2 - lower / 2 <= ROOM_BEFORE_BENDING * (high / 2 - low / 2):
        return None
    sizes = np.abs(reference[reference != 0])
    if not len(sizes):
        return None
    largest = max(abs(lower), abs(upper))
    threshold = max(quantiles(sizes, (0.1,))[0], largest * FINEST_BEND)
    return float(10.0 ** math.floor(math.log10(threshold)))


def distribution_function(values: Float) -> tuple[Float, Float]:
    """Return points (value, share at or below it) of an empirical distribution function.

    All of its steps where there are at most 160, else its steps at as many values evenly
    spaced in rank, which the function passes exactly.

    >>> distribution_function(np.array([2.0, 1.0, 2.0, 5.0]))
    (array([1., 2., 5.]), array([0.25, 0.75, 1.  ]))
    """
    ordered = np.sort(values)
    last = np.append(np.flatnonzero(np.diff(ordered) > 0), len(ordered) - 1)
    if len(last) > MOST_STEPS:
        ranks = np.linspace(0, len(ordered) - 1, MOST_STEPS).round().astype(np.int64)
        last = np.unique(last[np.searchsorted(last, ranks)])
    return ordered[last], (last + 1) / len(ordered)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankAgreement:
    """How the order of records before agrees with that after.

    Attributes
    ----------
    before, after : float64 arrays (n_records,)
        Ranks in percent, 0 for the least and 100 for the largest value; equal values share
        their average rank. Of the records present on both sides.
    correlation : float
        Spearman's; NaN where a side is constant.
    fifths : float64 array (5, 5)
        Of the records in each fifth of the original, the share in each fifth of the release;
        NaN for a fifth that holds no record.
    """

    before: Float
    after: Float
    correlation: float
    fifths: Float


def rank_agreement(column: NumberColumn) -> RankAgreement | None:
    """Compare ranks, record by record; None where fewer than two are present on both sides.

    O(n log n) time.
    """
    if column.original is None:
        return None
    both = ~(np.isnan(column.original) | np.isnan(column.protected))
    if both.sum() < 2:
        return None
    before, after = _ranks(column.original[both]), _ranks(column.protected[both])
    groups = [
        np.minimum(ranks * (FIFTHS / 100), FIFTHS - 1).astype(np.int64) for ranks in (before, after)
    ]
    counts = np.bincount(groups[0] * FIFTHS + groups[1], minlength=FIFTHS**2)
    counts = counts.reshape(FIFTHS, FIFTHS)
    totals = counts.sum(axis=1, keepdims=True)
    fifths: Float = np.full((FIFTHS, FIFTHS), math.nan)
    np.divide(counts, totals, out=fifths, where=totals > 0)
    varied = np.ptp(before) > 0 and np.ptp(after) > 0
    return RankAgreement(
        before=before,
        after=after,
        correlation=float(np.corrcoef(before, after)[0, 1]) if varied else math.nan,
        fifths=fifths,
    )


def _ranks(values: Float) -> Float:
    ranks: Float = (2 * ranks_of(values) - 2) * (50.0 / (len(values) - 1))
    return ranks
