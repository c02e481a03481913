"""Coarse cells of a number of which too few records are left for cuts: which of them hold anybody.

Most cells have nobody, and noise all the same. Those that stand out are kept, and behind the last
of them a tail that falls exponentially, where the cells there show one together.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.noise.counts import NoisyCounts
from microveil.synthesis.distribution import Counted
from microveil.synthesis.nearest import nearest_counts

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Cells, a run of them together, by so many; by more where numbers hardly ever are. And every outer
# part of a run, and a cell next to what stands out, by so many: the noise of cells behind the last
# person's would else go along.
FAR_OUT, FARTHER_OUT, USUAL = 4.3, 5.5, (-64, 1 << 24)
OUTER = 2.5
# Of Laplace noise, whose tails are longer, so many times as many.
LAPLACE = 1.5
# Records are missing where what atoms, or cells that stand out, leave of them does by so many.
# Where none are a run of cells needs more: all values being atoms, or if it lies so many times as
# far from 0 as what is clear.
MISSING, NEARBY, LEAST_WIDTH = 2.0, 4, 32.0
# A tail stands out by so many, and by more where all values may be atoms; its cells alone by so
# many at least, before the records that are missing elsewhere are taken to be in it.
TAIL, TAIL_OF_ATOMS, TAIL_BY_CELLS = 3.0, 4.0, 2.0
# Scales of tails that are tried, each so many times the one before, and how many of them a tail
# takes up.
SCALES, WIDE = math.sqrt(2), 3


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Cells:
    """Coarse cells of numbers, from each border up to the next, and how many records each has."""

    borders: Whole
    counts: NoisyCounts

    @property
    def is_blank(self) -> bool:
        """Whether no cell stands out."""
        least = self._longer * FAR_OUT * math.sqrt(self.counts.variance)
        return bool((self.counts.counts <= least).all())

    @property
    def _longer(self) -> float:
        return 1.0 if self.counts.noise.is_gaussian else LAPLACE

    def held(self, atoms: Counted, n_present: float) -> Counted:
        """Return the cells that hold somebody and all between them, of so many records together."""
        joined = self._joined(atoms)
        rest, of_atoms = n_present - float(atoms.masses.sum()), float((atoms.deviations**2).sum())
        all_atoms = rest < MISSING * math.sqrt(of_atoms)
        longer = self._longer
        least = longer * (TAIL_OF_ATOMS if all_atoms else TAIL)
        for is_missing in (False, True):
            kept = _reach(joined, longer, all_atoms, is_missing)
            counts, variances = joined.masses[kept], joined.deviations[kept] ** 2
            standing = _standing(counts, variances, longer * OUTER)
            left = n_present - float(counts[standing].sum())
            in_doubt = float(variances[standing].sum())
            below, above = _tails(joined, kept, left, in_doubt, least)
            if below.sum() + above.sum() > n_present / 2:  # noise of more than all that stands out
                below = above = np.zeros(0)
            n_beyond = float(below.sum() + above.sum())
            if left - n_beyond < MISSING * math.sqrt(in_doubt):
                break
        masses = np.zeros(len(counts))
        masses[standing] = nearest_counts(counts[standing], n_present - n_beyond)
        kept = slice(kept.start - len(below), kept.stop + len(above))
        return Counted(
            joined.starts[kept],
            joined.ends[kept],
            np.concatenate((below, masses, above)),
            joined.deviations[kept],
        )

    def _joined(self, atoms: Counted) -> Counted:
        """Join both counts of atoms by the inverse of their variances."""
        starts, counts = self.borders[:-1], self.counts.counts
        variances = np.full(len(starts), self.counts.variance)
        place, of_atoms = np.searchsorted(starts, atoms.starts), atoms.deviations**2
        total = counts[place] / variances[place] + atoms.masses / of_atoms
        variances[place] = 1 / (1 / variances[place] + 1 / of_atoms)
        counts[place] = total * variances[place]
        return Counted(starts, self.borders[1:], counts, np.sqrt(variances))

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "Cells":
        """Make cells of their plain values."""
        borders = np.array(contents["borders"], dtype=np.int64)
        return cls(borders=borders, counts=NoisyCounts.from_dict(contents))

    def to_dict(self) -> dict[str, Any]:
        """Return the cells as plain values."""
        return {"borders": self.borders.tolist(), **self.counts.to_dict()}


def _reach(cells: Counted, longer: float, all_atoms: bool, is_missing: bool) -> slice:
    """Return the cells up to the outermost that stand out, by themselves or with others beside.

    There are a hundred cells far away that nobody is in: one that noise alone made stand out
    would put records a million times too far. Most numbers lie in the others; where no record is
    missing only those near to what is clear are not far away, and else it is more for these, too,
    by how many times farther they lie: an error would be as large.
    """
    starts, counts, variances = cells.starts, cells.masses, cells.deviations**2
    scores, unusual = counts / cells.deviations, longer * FARTHER_OUT
    clear = scores > unusual
    ends = np.concatenate((-starts[clear], cells.ends[clear]))
    nearby = NEARBY * float(ends.max(initial=LEAST_WIDTH))
    is_usual = (starts >= USUAL[0]) & (starts < (USUAL[1] if is_missing else nearby))
    farther = np.maximum(starts / nearby, 1.0) if clear.any() else np.ones(len(starts))
    usual = longer * np.minimum(np.sqrt(FAR_OUT**2 + np.log(farther)), FARTHER_OUT)
    far = np.where(is_usual & ~all_atoms, usual, unusual)
    outer = np.flatnonzero(scores > far)
    if not len(outer):  # nobody has a value, as far as is known: those drawn are about 0
        place = max(int(np.searchsorted(starts, 0, side="right")) - 1, 0)
        return slice(place, place + 1)
    first, last = int(outer[0]), int(outer[-1])
    above = slice(last + 1, None)
    last += _outermost(counts[above], variances[above], far[above], longer * OUTER)
    below = slice(first - 1, None, -1) if first else slice(0, 0)
    first -= _outermost(counts[below], variances[below], far[below], longer * OUTER)
    return slice(first, last + 1)


def _outermost(counts: Real, variances: Real, far: Real, beside: float) -> int:
    """Return how many cells, from a side on, go up to the end of what stands out together.

    Of all runs of cells that which stands out most, to where all its outer parts stand out, too;
    then the same of those beyond it.
    """
    if not len(counts):
        return 0
    scores = _of_runs(counts, variances)
    least = np.maximum.accumulate(np.concatenate(([0.0], far)))
    beyond = scores - least
    beyond[0, 1] = scores[0, 1] - beside
    start, end = divmod(int(beyond.argmax()), len(scores))
    if beyond.max() < 0:
        return 0
    while (weak := np.flatnonzero(scores[start:end, end] < OUTER)).size:
        end = start + int(weak[-1])
    if not end:
        return 0
    return end + _outermost(counts[end:], variances[end:], far[end:], beside)


def _standing(counts: Real, variances: Real, least: float) -> Whole:
    """Say which cells stand out by themselves, or in a run between such cells; all if none does.

    Noise alone would put one record in twenty into the single values beside a spike.
    """
    found = counts >= least * np.sqrt(variances)
    ends = [-1, *np.flatnonzero(found).tolist(), len(counts)]
    runs = [(before + 1, after) for before, after in pairwise(ends) if before + 1 < after]
    while runs:
        first, last = runs.pop()
        scores = _of_runs(counts[first:last], variances[first:last])
        start, end = (first + own for own in divmod(int(scores.argmax()), len(scores)))
        if scores.max() >= least:
            found[start:end] = True
            runs += [run for run in ((first, start), (end, last)) if run[0] < run[1]]
    return np.flatnonzero(found if found.any() else ~found)


def _of_runs(counts: Real, variances: Real) -> Real:
    """Return by how many deviations the runs of cells from each to each other stand out."""
    sums, squares = (np.concatenate(([0.0], np.cumsum(own))) for own in (counts, variances))
    deviations = np.sqrt(np.maximum(squares[None, :] - squares[:, None], variances.min()))
    scores = (sums[None, :] - sums[:, None]) / deviations
    return np.where(np.tri(len(sums), dtype=np.bool_), -np.inf, scores)


def _tails(
    cells: Counted, held: slice, left: float, variance: float, least: float
) -> tuple[Real, Real]:
    """Return the records of a tail in the cells below those that are held, and in those above.

    So many records are ``left``, of such a variance, and taken to be in the tail of which the
    cells show more.
    """
    n_cells = len(cells.starts)
    sides = [(_mirrored(cells), slice(n_cells - held.stop, n_cells - held.start)), (cells, held)]
    (below, less), (above, more) = [_tail(*side, least) for side in sides]
    if less > more:
        below, _ = _tail(*sides[0], least, (left - above.sum(), variance))
    else:
        above, _ = _tail(*sides[1], least, (left - below.sum(), variance))
    return below[::-1], above


def _mirrored(cells: Counted) -> Counted:
    """Return the cells with each value as its negative."""
    return Counted(
        1 - cells.ends[::-1], 1 - cells.starts[::-1], cells.masses[::-1], cells.deviations[::-1]
    )


def _tail(
    cells: Counted, held: slice, least: float, left: tuple[float, float] | None = None
) -> tuple[Real, float]:
    """Fit an exponential tail, by least squares, to the cells above those that are held.

    Of those scales which are no wider than what is held that whose tail stands out most, up to
    where less than a record is left; by more where it is wide. Also return by how many deviations
    the cells alone show a tail. What has one sign keeps it.
    """
    end = cells.ends[held.stop - 1]
    last = int(np.searchsorted(cells.ends, 1, side="right")) if end <= 1 else None
    beyond = slice(held.stop, last)
    near, far = (side[beyond] - float(end) for side in (cells.starts, cells.ends))
    weights, width = cells.deviations[beyond] ** -2.0, float(end - cells.starts[held.start])
    found, by_cells, best = np.zeros(0), 0.0, 0.0
    for scale in SCALES ** np.arange(2 * math.log2(width) + 1 if len(near) else 0):
        shape = np.exp(-near / scale) - np.exp(-far / scale)
        total, known = float(shape @ (weights * cells.masses[beyond])), float(shape**2 @ weights)
        by_cells = max(by_cells, total / math.sqrt(known))
        if left is not None and total >= TAIL_BY_CELLS * math.sqrt(known):
            total += shape.sum() * left[0] / left[1]
            known += shape.sum() ** 2 / left[1]
        n_records, wide = total / known, 2 * math.log1p(WIDE * scale / width)
        score = total / math.sqrt(known) - math.sqrt(least**2 + wide)
        if n_records > 1 and score > best:
            best, reach = score, scale * math.log(n_records)
            found = n_records * shape[: int(np.searchsorted(near, reach))]
    return found, by_cells
