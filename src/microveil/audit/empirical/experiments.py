"""Runs of a mechanism on a table and on a neighbour, and what an attacker makes of each.

The attacker knows both tables and the mechanism with its scales, sees one release and weighs how
likely it is from the one and from the other: the logarithm of that ratio is the score. No other
score tells two tables apart better (Neyman and Pearson), and any would do for a lower bound.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microveil.audit.empirical.neighbours import Clustered
from microveil.methods.centroids import CentroidPlan
from microveil.noise.noise import RandomSource, in_order, perturbed_means, uniform

Whole = NDArray[np.int64]
Real = NDArray[np.float64]

# Centroids drawn at a time.
BATCH = 1 << 18
# A score that leaves no doubt.
CERTAIN = 1e6
# Scores that differ by rounding alone are made equal.
DECIMALS = 9
# Stands for a scale of 0: what has no noise reveals all.
SMALLEST_SCALE = 2.0**-40


# A mechanism on a table and on a neighbour, which is run so often, from a source of randomness, on
# either of them; it scores each outcome, the higher the more it speaks for the table.
Experiment = Callable[[int, RandomSource, bool], Real]


@dataclass(frozen=True, slots=True, kw_only=True)
class CentroidExperiment:
    """Noisy centroids of clusters, as a release shows them.

    They are seen by cluster; by row, and so which records share a value; or in ascending order,
    without knowing whose they are.
    """

    table: Clustered
    neighbour: Clustered
    part: CentroidPlan
    seen: Literal["clusters", "rows", "order"] = "clusters"

    @classmethod
    def of(cls, table: Clustered, neighbour: Clustered, part: CentroidPlan, **seen: Any) -> Self:
        """Leave out of two tables what does not show, or put their clusters in order."""
        made = cls(table=table, neighbour=neighbour, part=part, **seen)
        if made.seen == "order":
            table, neighbour = _ascending(table), _ascending(neighbour)
        elif not part.isotonic:
            table, neighbour = _concerned(table, neighbour)
        return replace(made, table=table, neighbour=neighbour)

    def scores(self, runs: int, source: RandomSource, of_neighbour: bool) -> Real:
        """Release the centroids, once a run, and weigh them: an `Experiment`."""
        truth, other = self.table, self.neighbour
        if of_neighbour:
            truth, other = other, truth
        nothing = np.empty(0, dtype=np.int64)
        forced, stand_ins = (nothing, nothing), np.arange(len(truth.sums))
        if self.seen == "rows":
            forced, stand_ins = _forced(truth, other)
        scores = np.empty(runs)
        for batch in _batches(runs, max(len(truth.sums), len(forced[0]))):
            seen = self._released(truth, batch.stop - batch.start, source)
            as_other = seen[:, stand_ins]
            of_table, of_other = (as_other, seen) if of_neighbour else (seen, as_other)
            weight = self._log_likelihood_ratio(of_table, of_other)
            possible = (seen[:, forced[0]] == seen[:, forced[1]]).all(axis=1)
            scores[batch] = np.where(possible, weight, -CERTAIN if of_neighbour else CERTAIN)
        return scores

    def _released(self, truth: Clustered, runs: int, source: RandomSource) -> Whole:
        """Draw what a release shows: (runs, n_clusters), in grid units."""
        means = perturbed_means(
            np.tile(truth.sums, runs),
            np.tile(truth.sizes, runs),
            np.tile(truth.scales, runs),
            self.part.grid,
            source,
            rounded=not self.part.isotonic,
        ).reshape(runs, -1)
        if self.part.isotonic:
            scales = truth.scales / truth.sizes
            means = np.rint([in_order(one.astype(np.float64), scales) for one in means])
        released: Whole = means.astype(np.int64)
        if self.seen == "order":
            released.sort(axis=1)
        return released

    def _log_likelihood_ratio(self, of_table: Whole, of_neighbour: Whole) -> Real:
        far, scale = self._distance(self.table, of_table)
        far_other, scale_other = self._distance(self.neighbour, of_neighbour)
        return weighed((far_other - far + np.log(scale_other / scale)).sum(axis=1))

    def _distance(self, clusters: Clustered, seen: Whole) -> tuple[Real, Real]:
        """Distances to the true centroids over the scales of their noise, and these scales."""
        scales = np.ldexp(clusters.scales / clusters.sizes, -self.part.grid.bits)
        scales = np.maximum(scales, SMALLEST_SCALE)
        # By whole part and rest: centroids may be large and their differences small.
        whole = clusters.sums // clusters.sizes
        rest = (clusters.sums - whole * clusters.sizes) / clusters.sizes
        return np.abs((seen - whole) - rest) / scales, scales


def _ascending(clusters: Clustered) -> Clustered:
    order = np.argsort(clusters.sums / clusters.sizes, kind="stable")
    return replace(
        clusters,
        sums=clusters.sums[order],
        sizes=clusters.sizes[order],
        scales=clusters.scales[order],
    )


def _concerned(table: Clustered, neighbour: Clustered) -> tuple[Clustered, Clustered]:
    """Leave out the clusters that are the same in both: they show nothing, and cost draws."""
    moved = table.labels != neighbour.labels
    differ = (table.sums != neighbour.sums) | (table.sizes != neighbour.sizes)
    kept = np.unique(
        np.concatenate([table.labels[moved], neighbour.labels[moved], np.flatnonzero(differ)])
    )
    records = np.isin(table.labels, kept)

    def only(clusters: Clustered) -> Clustered:
        return Clustered(
            sums=clusters.sums[kept],
            sizes=clusters.sizes[kept],
            scales=clusters.scales[kept],
            labels=np.searchsorted(kept, clusters.labels[records]),
        )

    return only(table), only(neighbour)


def _forced(truth: Clustered, other: Clustered) -> tuple[tuple[Whole, Whole], Whole]:
    """Return pairs of true clusters that the other table needs to come out equal.

    Two records of one cluster there must show one value. Also, for each cluster there, the true
    cluster of its first record, whose value stands for it.
    """
    _, first = np.unique(other.labels, return_index=True)
    stand_ins = truth.labels[first]
    pairs = np.stack([truth.labels, stand_ins[other.labels]])
    pairs = np.unique(pairs[:, pairs[0] != pairs[1]], axis=1)
    return (pairs[0], pairs[1]), stand_ins


def _batches(runs: int, width: int) -> Iterator[slice]:
    size = max(1, BATCH // max(width, 1))
    for start in range(0, runs, size):
        yield slice(start, min(start + size, runs))


def cells_experiment(rows: Iterable[tuple[Whole, Whole]]) -> Experiment:
    """Draw values each by a row of weights, that of its category in either table, and weigh all."""
    known = list(rows)

    def scores(runs: int, source: RandomSource, of_neighbour: bool) -> Real:
        total = np.zeros(runs)
        for table, neighbour in known:
            edges = np.cumsum(neighbour if of_neighbour else table)
            tickets = uniform(np.full(runs, edges[-1]), source)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio = np.log(table / table.sum()) - np.log(neighbour / neighbour.sum())
            drawn = np.searchsorted(edges, tickets, side="right")
            total += np.clip(ratio, -CERTAIN, CERTAIN)[drawn]
        return weighed(total)

    return scores


def weighed(scores: ArrayLike) -> Real:
    """Make scores equal that differ by rounding alone, and none surer than certain."""
    rounded = np.round(np.asarray(scores, dtype=np.float64), DECIMALS)
    clipped: Real = np.clip(rounded, -CERTAIN, CERTAIN)
    return clipped
