"""Private quantiles: a tree of cuts of known mass, each a median drawn at random.

Source: Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles" (2022):
recursive medians by the exponential mechanism. Departures: budgets grow by level, the
candidates are a public list that is dense both everywhere and around 0, and a secret jitter,
drawn once for each record, spreads equal values over the candidates between two grid values,
so that ties and point masses need no case of their own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import whole_weights as kernel

__all__ = ["Candidates", "Codes", "Cuts", "LevelWeights", "RunWeights", "recursive_medians"]

Limbs = NDArray[np.uint32]
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
    """The public list of places where an attribute may be cut.

    Candidate i of 1 to ``count`` is the position at i / (count + 1) on a scale of which one half
    runs evenly over the domain and the other by the logarithm of the distance from 0.

    Attributes
    ----------
    lower, upper : int
        The domain in grid units; positions run from lower to upper + 1.
    count : int

    Examples
    --------
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
        return self._scaled(positions, self._ends())

    def _scaled(self, positions: Real, ends: tuple[float, float, float]) -> Real:
        low, bent_width, width = ends
        even = (positions - self.lower) / width
        return np.asarray(0.5 * even + 0.5 * (self._bent(positions) - low) / bent_width)

    def unscaled(self, places: Real) -> Real:
        """Find the positions of places on the scale, by bisection."""
        low = np.full(np.shape(places), float(self.lower))
        high = np.full(np.shape(places), self.upper + 1.0)
        ends = self._ends()
        # 2**-80 of the domain is below what float64 tells apart.
        for step in range(80):
            middle = 0.5 * (low + high)
            below = self._scaled(middle, ends) <= places
            was = low, high
            low, high = np.where(below, middle, low), np.where(below, high, middle)
            # Looked at now and then, as a look takes as long as a step.
            if step % 8 == 7 and np.array_equal(low, was[0]) and np.array_equal(high, was[1]):
                break  # so would every further step leave them
        return low

    def positions(self, codes: Whole) -> Real:
        """Return where candidates lie, in grid units: those at which a code begins."""
        return self.unscaled(np.asarray(codes) / (self.count + 1))

    def codes(self, values: Whole, words: NDArray[np.uint64]) -> Whole:
        """Count the candidates at or below each value's jittered position.

        Parameters
        ----------
        values : int64 array (n_present,)
            In grid units, within the domain.
        words : uint64 array (n_present,)
            Of a secret random source: each record's jitter, in [0, 1) grid steps, or over
            ``REACH`` candidates where these are further apart.

        Returns
        -------
        int64 array (n_present,)
            From 0 to ``count``. A record's code hangs on its value and its jitter alone.
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
    """The codes of an attribute's records, as an engine keeps them: counts and ranks of them."""

    def below(self, code: int) -> int:
        """Count the records whose code is less."""
        ...

    def ranked(self, start: int, stop: int) -> Whole:
        """Return the codes of ranks start to stop - 1, ascending: (stop - start,)."""
        ...


class LevelWeights(Protocol):
    """Whole weights of a level by the distance from the middle, in halves, as limbs."""

    def __len__(self) -> int:
        """How many there are: what is farther has the last one."""
        ...

    def limbs(self, places: range) -> Limbs:
        """Return some of them, in limbs of 32 bits, the least first: (n_places, n_limbs)."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Cuts:
    """Released cuts of an attribute.

    Attributes
    ----------
    depth : int
        Cut number h of 1 to 2**depth - 1 has a share of h / 2**depth below it.
    numbers : int64 array (n_cuts,)
        Which of them there are, ascending: a stretch without a candidate is not cut.
    codes : int64 array (n_cuts,)
        The candidates at which they lie, strictly ascending.
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
    weights: Sequence[LevelWeights],
    draw: Callable[["RunWeights"], int],
    below: Callable[[int], int],
) -> Cuts:
    """Cut an attribute's records in halves, quarters and so on, at random.

    Node (i, j) has the candidates strictly between i and j, and the N records of codes from i
    to j - 1. Its cut is a candidate c drawn with probability proportional to w(|L(c) - N/2|),
    L(c) the node's records below c. The root has all candidates.

    Parameters
    ----------
    codes : Codes
    candidates : Candidates
    weights : sequence of LevelWeights
        For each level w(0), w(1/2), w(1) and so on, as `mechanism.exponential.median_weights`
        makes them; what lies beyond has the last one.
    draw : callable
        Draws an index in proportion to whole weights, which it may ask for as often as it
        likes, exactly.
    below : callable
        Draws a whole number from 0 to below another, exactly.

    Returns
    -------
    Cuts

    Notes
    -----
    One record replaced moves |L - N/2| by at most 1 in one node, or by at most 1/2 in each of
    two nodes of a level: where w falls by at most exp(beta / 2) from one to the next, a level
    costs 2 beta of epsilon at most, and beta**2 / 2 in rho.
    """
    depth = len(weights)
    ends = {0: 0, 1 << depth: candidates.count + 1}
    for level, of_level in enumerate(weights):
        step = 1 << (depth - level)
        for left in range(0, 1 << depth, step):
            if left in ends and left + step in ends:
                runs = _runs(codes, ends[left], ends[left + step], of_level)
                cut = None if runs is None else runs.drawn(draw, below)
                if cut is not None:
                    ends[left + step // 2] = cut
    numbers = sorted(set(ends) - {0, 1 << depth})
    return Cuts(
        depth=depth,
        numbers=np.array(numbers, dtype=np.int64),
        codes=np.array([ends[number] for number in numbers], dtype=np.int64),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runs:
    """The candidates of a node, those of one weight together.

    Attributes
    ----------
    borders : _Borders
        Run r has the candidates above border r up to border r + 1.
    weights : RunWeights (n_runs,)
        Of each run, all its candidates together; as often as they are asked for.
    """

    borders: "_Borders"
    weights: "RunWeights"

    def drawn(self, draw: Callable[["RunWeights"], int], below: Callable[[int], int]) -> int:
        """Draw a candidate in proportion to its weight."""
        run = draw(self.weights)
        first, last = self.borders[run : run + 2].tolist()
        return int(first) + 1 + below(int(last) - int(first))


@dataclass(frozen=True, slots=True)
class _Borders:
    """Codes between two others, or each twice: where memory does not hold them, nor are they."""

    before: list[int]
    inner: Whole
    after: list[int]

    def __len__(self) -> int:
        return len(self.before) + len(self.inner) + len(self.after)

    def __getitem__(self, places: slice) -> Whole:
        found, start = [], 0
        for codes in (self.before, self.inner, self.after):
            own = slice(max(places.start - start, 0), max(places.stop - start, 0))
            found.append(np.asarray(codes[own], dtype=np.int64))
            start += len(codes)
        return np.concatenate(found)


@dataclass(frozen=True, slots=True)
class RunWeights:
    """Weights of runs: the number of their candidates by the weight of each, which falls and rises.

    They are made as they are asked for, of some runs at a time.

    Attributes
    ----------
    borders : _Borders
        See `_Runs`.
    of_level : LevelWeights
    places : tuple of range
        Which of these each run has, in one stretch of runs after another.
    """

    borders: _Borders
    of_level: LevelWeights
    places: tuple[range, ...]

    def sums(self, length: int) -> list[int]:
        """Return the sums over each so many runs, the last ones perhaps fewer."""
        found: list[int] = []
        at_once = max(1, BATCH // length) * length
        for start in range(0, len(self), at_once):
            sizes, limbs = self._of_runs(start, start + at_once)
            sums = np.empty((-(-len(sizes) // length), limbs.shape[1] + 2), dtype=np.uint32)
            kernel.stretch_sums(sizes, limbs, length, sums)
            found += kernel.whole_numbers(sums)
        return found

    def between(self, start: int, stop: int) -> list[int]:
        """Return the weights of some runs."""
        sizes, limbs = self._of_runs(start, stop)
        return [*map(mul, sizes.tolist(), kernel.whole_numbers(limbs))]

    def __len__(self) -> int:
        return len(self.borders) - 1

    def _of_runs(self, start: int, stop: int) -> tuple[Whole, Limbs]:
        """Return how many candidates some runs have, and the limbs of the weight of each."""
        before, limbs = 0, []
        for own in self.places:
            some = own[max(start - before, 0) : max(stop - before, 0)]
            limbs.append(self.of_level.limbs(some))
            before += len(own)
        sizes, found = np.diff(self.borders[start : stop + 1]), np.concatenate(limbs)
        assert len(sizes) == len(found)  # noqa: S101 -- the kernel looks at as many of both
        return sizes, found


def _runs(codes: Codes, i: int, j: int, weights: LevelWeights) -> _Runs | None:
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
    borders = _Borders(
        [i] * (2 if start == 0 else 1), inner, [j - 1] * (2 if stop == n_records else 1)
    )
    falling, rising = _by_rank(len(weights), start, stop, n_records)
    farthest = range(far, far + 1)
    places = farthest, falling[::-1], rising, farthest
    return _Runs(borders=borders, weights=RunWeights(borders, weights, places))


def _by_rank(n_weights: int, start: int, stop: int, n_records: int) -> tuple[range, range]:
    """Return the places of the weights of runs with start to stop of the node's records below them.

    Those of the lower half from its end on, and of the upper half.
    """
    middle, places = min(stop, n_records // 2), range(n_weights)
    lower = places[n_records - 2 * middle : n_records - 2 * start + 1 : 2]
    upper = places[2 * (max(start, middle + 1)) - n_records : 2 * stop - n_records + 1 : 2]
    return lower, upper
