"""Private cuts: a tree of cuts of known mass, each a median drawn at random.

Source: Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles" (2022):
recursive medians by the exponential mechanism. Departures: budgets grow by level, the candidates
are a public list that is dense both everywhere and around 0, and a secret jitter, drawn once for
each record, spreads equal values over the candidates between two grid values, so that ties and
point masses need no case of their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import whole_weights as kernel
from microveil.noise.exponential import MedianWeights

__all__ = ["Candidates", "Codes", "Cuts", "RunWeights", "recursive_medians"]

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Where the logarithmic half of the candidates turns linear, in grid units from 0.
BEND = 10.0
# A jitter reaches over so many candidates at least, where they are further apart than the grid.
REACH = 16
# Values put on codes at a time: their temporaries stay in the processor's cache.
BATCH = 1 << 15


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The public list of places where an attribute may be cut: candidates 1 to ``count``.

    Candidate i lies at i / (count + 1) of a scale of which one half runs evenly over the domain
    and the other by the logarithm of the distance from 0. ``lower`` and ``upper`` are the domain
    in grid units; positions run from lower to upper + 1.

    >>> ages = Candidates(lower=0, upper=120, count=1 << 40)
    >>> codes = ages.codes(np.array([0, 50, 120]), np.array([0, 0, 0], dtype=np.uint64))
    >>> np.round(ages.positions(codes), 6)
    array([  0.,  50., 120.])
    """

    lower: int
    upper: int
    count: int

    @property
    def zero(self) -> int:
        """Where the logarithmic half is densest: 0, or the end of the domain next to it."""
        return min(max(0, self.lower), self.upper)

    def _bent(self, positions: Real) -> Real:
        distance = positions - self.zero
        return np.asarray(np.copysign(np.log1p(np.abs(distance) / BEND), distance))

    def _ends(self) -> tuple[float, float, float]:
        low, high = self._bent(np.array([self.lower, self.upper + 1.0]))
        return float(low), float(high - low), float(self.upper + 1 - self.lower)

    def scale(self, positions: Real) -> Real:
        """Put positions on the scale from 0 to 1 on which candidates lie evenly."""
        low, bent_width, width = self._ends()
        even = (positions - self.lower) / width
        return np.asarray(0.5 * even + 0.5 * (self._bent(positions) - low) / bent_width)

    def unscaled(self, places: Real) -> Real:
        """Find the positions of places on the scale, by bisection."""
        low = np.full(np.shape(places), float(self.lower))
        high = np.full(np.shape(places), self.upper + 1.0)
        # 2**-80 of the domain is below what float64 distinguishes.
        for step in range(80):
            middle = 0.5 * (low + high)
            below = self.scale(middle) <= places
            was = low, high
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            # Checked now and then, as a check takes as long as a step.
            if step % 8 == 7 and np.array_equal(low, was[0]) and np.array_equal(high, was[1]):
                break  # so would every further step leave them
        return low

    def positions(self, codes: Whole) -> Real:
        """Return where candidates lie, in grid units: those at which a code begins."""
        return self.unscaled(np.asarray(codes) / (self.count + 1))

    def codes(self, values: Whole, words: NDArray[np.uint64]) -> Whole:
        """Count the candidates at or below each value's jittered position: 0 to ``count``.

        A word of a secret source is a record's jitter, in [0, 1) grid steps, or over ``REACH``
        candidates where these are further apart. A record's code depends on its own value and
        its own word alone.
        """
        out = np.empty(len(values), dtype=np.int64)
        _, bent_width, width = self._ends()
        for start in range(0, len(values), BATCH):
            of_batch = slice(start, start + BATCH)
            units = values[of_batch].astype(np.float64)
            distance = np.abs(units - self.zero) + BEND
            density = (0.5 / width + 0.5 / (distance * bent_width)) * (self.count + 1)
            jitter = (words[of_batch] >> np.uint64(11)) * 2.0**-53
            places = self.scale(units + jitter * np.maximum(1.0, REACH / density))
            np.clip(places * (self.count + 1), 0, self.count, out=places)
            out[of_batch] = places.astype(np.int64)
        return out


class Codes(Protocol):
    """The codes of an attribute's records, as a counter keeps them."""

    def below(self, code: int) -> int:
        """Count the records whose code is less."""
        ...

    def ranked(self, start: int, stop: int) -> Whole:
        """Return the codes of ranks start to stop - 1, ascending: (stop - start,)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Released cuts: number h of 1 to 2**depth - 1 has a share of h / 2**depth below it.

    ``numbers`` says which there are, ascending: a stretch without a candidate is not cut.
    ``codes`` has the candidate at which each lies, strictly ascending.
    """

    depth: int
    numbers: Whole
    codes: Whole

    @property
    def shares(self) -> Real:
        """The share of records below each cut."""
        return np.asarray(self.numbers / (1 << self.depth))


def recursive_medians(
    codes: Codes,
    candidates: Candidates,
    weights: Sequence[MedianWeights],
    draw: Callable[["RunWeights"], int],
    below: Callable[[int], int],
) -> Cuts:
    """Cut an attribute's records in halves, quarters and so on, at random.

    Node (i, j) has the candidates strictly between i and j, and the N records of codes from i
    to j - 1. Its cut is a candidate c drawn with probability proportional to w(|L(c) - N/2|),
    L(c) the node's records below c. The root has all candidates.

    ``weights`` are those of each level; ``draw`` draws an index in proportion to whole weights,
    ``below`` a whole number from 0 to below another, both exactly.

    One record replaced moves |L - N/2| by at most 1 in one node, or by at most 1/2 in each of
    two nodes of a level: where w falls by at most exp(beta / 2) from one to the next, a level
    costs 2 beta of epsilon at most, and beta**2 / 2 in rho.
    """
    depth = len(weights)
    ends = {0: 0, 1 << depth: candidates.count + 1}
    for level, of_level in enumerate(weights):
        step = 1 << (depth - level)
        for left in range(0, 1 << depth, step):
            if left not in ends or left + step not in ends:
                continue
            runs = _runs(codes, ends[left], ends[left + step], of_level)
            if runs is not None:
                run = draw(runs)
                first, last = runs.borders[run : run + 2].tolist()
                ends[left + step // 2] = first + 1 + below(last - first)
    numbers = sorted(set(ends) - {0, 1 << depth})
    return Cuts(
        depth=depth,
        numbers=np.array(numbers, dtype=np.int64),
        codes=np.array([ends[number] for number in numbers], dtype=np.int64),
    )


@dataclass(frozen=True, slots=True, eq=False)
class RunWeights:
    """The candidates of a node in runs of one weight: their number by the weight of each.

    Run r has the candidates above border r up to border r + 1; ``limbs`` has the weight of each
    of its candidates, in limbs of 32 bits.
    """

    borders: Whole
    limbs: NDArray[np.uint32]

    def sums(self, length: int) -> list[int]:
        """Return the sums over each so many runs, the last ones perhaps fewer."""
        n_runs, n_limbs = self.limbs.shape
        sums = np.empty((-(-n_runs // length), n_limbs + 2), dtype=np.uint32)
        kernel.stretch_sums(np.diff(self.borders), self.limbs, length, sums)
        return kernel.whole_numbers(sums)

    def between(self, start: int, stop: int) -> list[int]:
        """Return the weights of some runs."""
        sizes = np.diff(self.borders[start : stop + 1]).tolist()
        return [*map(mul, sizes, kernel.whole_numbers(self.limbs[start:stop]))]


def _runs(codes: Codes, i: int, j: int, weights: MedianWeights) -> RunWeights | None:
    """Weigh the candidates of node (i, j); None where there is none."""
    if j - i < 2:
        return None
    first = codes.below(i)
    n_records = codes.below(j) - first
    far = len(weights) - 1
    # Between two records all candidates have the same records below them; runs whose number of
    # records is farther from the middle than the weights go are taken together, on either side.
    start, stop = max(0, -((far - n_records) // 2)), min(n_records, (n_records + far) // 2)
    inner = codes.ranked(first + max(start - 1, 0), first + min(stop + 1, n_records))
    before, after = [i] * (1 + (start == 0)), [j - 1] * (1 + (stop == n_records))
    borders = np.concatenate((before, inner, after), dtype=np.int64)
    # The weight of a run with r records below is at place |2 r - n_records|.
    middle, places, farthest = min(stop, n_records // 2), range(far + 1), range(far, far + 1)
    falling = places[n_records - 2 * middle : n_records - 2 * start + 1 : 2][::-1]
    rising = places[2 * max(start, middle + 1) - n_records : 2 * stop - n_records + 1 : 2]
    limbs = np.concatenate([weights.limbs(own) for own in (farthest, falling, rising, farthest)])
    assert len(borders) == len(limbs) + 1  # noqa: S101 -- the kernel looks at as many of both
    return RunWeights(borders, limbs)
