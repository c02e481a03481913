"""Means, variances, covariances and correlations, Pearson's and Spearman's, before and after.

Over the cells that are present, of pairs over the records in which both are; undefined is NaN.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from operator import attrgetter
from typing import Any

import numpy as np

from microveil.kernels import ranking as kernel
from microveil.measures.base import NUMBERS, Better, By, Figure, Group, Measure
from microveil.measures.values import Floats, as_json, day, days, plain
from microveil.table.blocks import (
    SMALLEST_VARIANCE,
    Matrix,
    average_ranks,
    lacks_some,
    means_and_variances,
    over_blocks,
    summed,
    varying,
)
from microveil.table.sorting import numbers_in_order
from microveil.table.threads import in_threads

# The mean of a pair's records is centred anew where it leaves less than this of their squares:
# further digits of what is left would be lost.
LEAST_LEFT = 1e-3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Correlations:
    """Correlations of two tables, (n_attributes, n_attributes), and how they moved."""

    original: Floats
    protected: Floats

    @property
    def changes(self) -> Floats:
        """How far each pair moved, of those that are correlated in both tables."""
        pairs = np.triu_indices(len(self.original), k=1)
        changes = np.abs(self.protected - self.original)[pairs]
        return np.asarray(changes[~np.isnan(changes)])

    @property
    def mean_absolute_change(self) -> float:
        """The mean over pairs of attributes; NaN where there is none."""
        return float(self.changes.mean()) if len(self.changes) else math.nan

    @property
    def largest_absolute_change(self) -> float:
        """The largest of any pair of attributes; NaN where there is none."""
        return float(self.changes.max()) if len(self.changes) else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return matrices and changes as JSON knows them; what is undefined is None."""
        return as_json(self, "mean_absolute_change", "largest_absolute_change")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moments:
    """Of one table; variances and covariances are those of samples (n - 1)."""

    means: Floats
    variances: Floats
    covariances: Floats
    correlations: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MomentComparison:
    """Moments before and after."""

    original: Moments
    protected: Moments

    @property
    def correlations(self) -> Correlations:
        """Pearson's correlations of both."""
        return Correlations(
            original=self.original.correlations, protected=self.protected.correlations
        )


def moments(matrix: Matrix) -> Moments:
    """Compute means, variances, covariances and correlations; NaN is a missing cell."""
    means, variances = (figures.copy() for figures in means_and_variances(matrix))
    counts, squares, products = _sums_of_pairs(matrix, means)
    covariances = np.full(counts.shape, np.nan)
    np.divide(products, counts - 1, out=covariances, where=counts > 1)
    correlations = correlations_of(counts, squares, products)
    np.fill_diagonal(covariances, variances)
    np.fill_diagonal(correlations, np.where(varying(matrix), 1.0, np.nan))
    return Moments(
        means=means, variances=variances, covariances=covariances, correlations=correlations
    )


def _sums_of_pairs(matrix: Matrix, means: Floats) -> Floats:
    """Return what `correlations_of` takes: sums over the records that have both values."""

    def of_block(rows: slice) -> Floats:
        deviations = matrix[rows] - means
        present = ~np.isnan(deviations)
        deviations[~present] = 0.0
        there = present.astype(np.float64)
        sums = (there.T @ there, deviations.T @ there, (deviations**2).T @ there)
        return np.array([*sums, deviations.T @ deviations])

    counts, sums, squares, products = summed(over_blocks(of_block, len(matrix)))
    shifts = np.divide(sums, counts, out=np.zeros_like(sums), where=counts > 0)
    left = squares - shifts * sums
    far = (left <= LEAST_LEFT * squares) & (counts > 0) & (counts < len(matrix))
    found = np.array([counts, left, products - shifts * sums.T])
    for a, b in np.argwhere(np.triu(far | far.T, k=1)):
        pair = np.column_stack([matrix[:, a], matrix[:, b]])
        pair = pair[~np.isnan(pair).any(axis=1)]
        anew = _sums_of_pairs(pair, means_and_variances(pair)[0])
        found[:, [a, b], [b, a]] = anew[:, [0, 1], [1, 0]]
    return found


def correlations_of(counts: Floats, squares: Floats, products: Floats) -> Floats:
    """Return correlations from counts, squared deviations of a (row) with b, and products."""
    degrees = np.where(counts > 1, counts - 1, np.nan)
    variances = squares / degrees
    scales = np.sqrt(np.where(variances >= SMALLEST_VARIANCE, variances, np.nan))
    upper = np.triu(np.clip(products / degrees / scales / scales.T, -1.0, 1.0))
    # The same on both sides: rounding may tell the two apart.
    return np.asarray(np.where(np.tri(len(upper), k=-1, dtype=np.bool_), upper.T, upper))


def compare_moments(original: Matrix, protected: Matrix) -> MomentComparison:
    """Compare the moments of two tables with the same attributes, in any order of records."""
    return MomentComparison(original=moments(original), protected=moments(protected))


def rank_correlations(matrix: Matrix) -> Floats:
    """Compute Spearman's correlations: values are numbered once, where scipy sorts every pair."""
    if not lacks_some(matrix):
        return moments(average_ranks(matrix)).correlations
    n_attributes = matrix.shape[1]
    numbered = in_threads(
        lambda a: numbers_in_order(matrix[:, a]), range(n_attributes), matrix.size
    )
    pairs = list(combinations(range(n_attributes), 2))

    def correlate(pair: tuple[int, int]) -> Any:
        (one, n_one), (other, n_other) = (numbered[a] for a in pair)
        return kernel.correlate_ranks(one, other, n_one, n_other)

    counts, squares, products = np.zeros((3, n_attributes, n_attributes))
    for (a, b), sums in zip(pairs, in_threads(correlate, pairs, matrix.size), strict=True):
        counts[a, b] = counts[b, a] = sums[0]
        squares[a, b], squares[b, a] = sums[1], sums[2]
        products[a, b] = products[b, a] = sums[3]
    found = correlations_of(counts, squares, products)
    np.fill_diagonal(found, np.where(varying(matrix), 1.0, np.nan))
    return found


def compare_rank_correlations(original: Matrix, protected: Matrix) -> Correlations:
    """Compare Spearman's correlations of two tables, in any order of records."""
    return Correlations(
        original=rank_correlations(original), protected=rank_correlations(protected)
    )


def before_and_after(moment: str, found: Any) -> list[Figure]:
    """Return a moment of each attribute of the release, beside the original's."""
    before, after = (getattr(side, moment).tolist() for side in (found.original, found.protected))
    return [Figure(value=y, beside=x) for x, y in zip(before, after, strict=True)]


def by_name(found: Any, names: Sequence[str], *moments: str) -> dict[str, dict[str, Any]]:
    """Write moments of each attribute, before and after."""
    sides = {"original": found.original, "protected": found.protected}
    return {
        name: {
            moment: {
                side: plain(getattr(own, f"{moment}s").tolist()[a]) for side, own in sides.items()
            }
            for moment in moments
        }
        for a, name in enumerate(names)
    }


MOMENTS = Group(title="Means and variances")
CORRELATIONS = Group(title="Correlations")
_measure = partial(Measure, takes=NUMBERS, in_blocks=True, needs_pairs=False)
_closer = partial(_measure, better=Better.UNCHANGED, explanation="closer is better")
_moment = partial(
    _closer,
    function=compare_moments,
    by=By.ATTRIBUTE,
    group=MOMENTS,
    entry="moments",
    write=lambda found, names: by_name(found, names, "mean", "variance"),
)
# Of every pair, in the two matrices that an assessment writes: no table has a figure of them.
_matrix = partial(_closer, by=By.PAIR, group=CORRELATIONS, tabulated=False)


def _correlations(whose: str, prefix: str, of: str, path: str, **given: Any) -> Iterator[Measure]:
    """Declare the correlations of one law, and how far they moved."""
    name = f"{prefix}correlations"
    yield _matrix(id=name, label=f"{whose} correlations", lowest=-1.0, highest=1.0, **given)
    for what in ("mean", "largest"):
        yield _measure(
            id=f"{prefix}{what}_absolute_change",
            label=f"{what} absolute change of {of}correlations",
            short=f"{what} absolute change" + (", Spearman" if of else ""),
            explanation="0 = unchanged, 2 = reversed",
            highest=2.0,
            figure=attrgetter(f"{path}{what}_absolute_change"),
            group=CORRELATIONS,
            **given,
        )


MEAN = {"figure": partial(before_and_after, "means"), "of_dates": day, "lowest": -math.inf}
VARIANCE = {
    "figure": partial(before_and_after, "variances"),
    "of_dates": partial(days, unit="days²"),
}
OF_ATTRIBUTES = (
    _moment(id="mean", label="mean", **MEAN),
    _moment(id="variance", label="variance", **VARIANCE),
)
OF_PAIRS = (
    _matrix(
        id="covariances",
        label="covariances",
        function=compare_moments,
        lowest=-math.inf,
        entry="covariances",
        write=lambda found, _: {
            "original": plain(found.original.covariances),
            "protected": plain(found.protected.covariances),
        },
    ),
    *_correlations(
        "Pearson's",
        "",
        "",
        "correlations.",
        function=compare_moments,
        entry="correlations",
        write=lambda found, _: found.correlations.to_dict(),
    ),
    *_correlations(
        "Spearman's",
        "rank_",
        "Spearman's ",
        "",
        function=compare_rank_correlations,
        entry="rank_correlations",
    ),
)
