"""Private cuts: a tree of cuts of known mass, each a median drawn at random.

Source: Kaplan, Schnapp and Stemmer, "Differentially Private Approximate Quantiles" (2022):
recursive medians by the exponential mechanism. Departures: budgets grow by level, the candidates
are a public list that is dense both everywhere and around 0, and a secret jitter, drawn once for
each record, spreads equal values over the candidates between two grid values, so that ties and
point masses need no case of their own.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from microveil.noise.exponential import Limbs

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Where the logarithmic half of the candidates turns linear, in grid units from 0.
BEND = 10.0
# A jitter reaches over so many candidates at least, where they are further apart than the grid.
REACH = 16
# Values put on codes at a time: their temporaries stay in the processor's cache.
BATCH = 1 << 15
# Knots of an even spacing of candidates, and how many steps lie between two of them: all together
# are as many candidates as the list has.
KNOTS, STEPS = 1 << 12, 1 << 10
# What is known reaches so far beyond its ends at least, in grid units, and in the first levels as
# far as it lies from 0.
LEAST_WIDTH, FIRST_LEVELS = 10.0, 2
# In later levels candidates are by 2**NEAR_BITS times denser so many widths around what is known:
# where they lay alike as far as 2**53, an outermost node of few records was cut out there at times.
NEAR_BITS, NEAR_WIDTHS = 16, 4.0
# And in the first levels so many times denser as far from 0 as most numbers of people lie, in grid
# units: of few records a first cut was some 2**50 at times. Before anything is known they lie
# evenly where ages, years and codes do, as years are a short stretch of the list.
FIRST_BITS, USUAL, EVENLY = 10, 2.0**24, 2.0**12
# Trial trees of cuts: so many that a bound at 95 % moves by about one part in fifty.
TRIALS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidates:
    """The public list of places where an attribute may be cut: candidates 1 to ``count``.

    Candidate i lies at i / (count + 1) of a scale of which one half runs evenly over the domain
    and the other by the logarithm of the distance from 0. Positions run from ``lower`` to
    ``upper`` + 1, the domain in grid units.
    """

    lower: int
    upper: int
    count: int

    def _distance(self, positions: Real) -> Real:
        """How far positions lie from where the logarithmic half is densest: 0 or the end next."""
        return positions - min(max(0, self.lower), self.upper)

    def _bent(self, positions: Real) -> Real:
        distance = self._distance(positions)
        return np.asarray(np.copysign(np.log1p(np.abs(distance) / BEND), distance))

    def _widths(self) -> tuple[float, float, float]:
        """Return where the bent scale begins, how wide it is, and how wide the domain."""
        low, high = self._bent(np.array([self.lower, self.upper + 1.0]))
        return float(low), float(high - low), float(self.upper + 1 - self.lower)

    def scale(self, positions: Real) -> Real:
        """Put positions on the scale from 0 to 1 on which candidates lie evenly."""
        low, bent_width, width = self._widths()
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
        _, bent_width, width = self._widths()
        for start in range(0, len(values), BATCH):
            of_batch = slice(start, start + BATCH)
            units = values[of_batch].astype(np.float64)
            distance = np.abs(self._distance(units)) + BEND
            density = (0.5 / width + 0.5 / (distance * bent_width)) * (self.count + 1)
            jitter = (words[of_batch] >> np.uint64(11)) * 2.0**-53
            places = self.scale(units + jitter * np.maximum(1.0, REACH / density))
            np.clip(places * (self.count + 1), 0, self.count, out=places)
            out[of_batch] = places.astype(np.int64)
        return out


@dataclass(frozen=True, slots=True)
class Spacing:
    """How densely candidates lie at a level, as a count of them at or below each code.

    Every code is a candidate, as by the list itself; between ``knots``, codes that ascend strictly,
    there are as many more from each to the next: 2**``step_bits`` a step. From one of the two
    codes ``near`` to the other all are 2**``near_bits`` times as many. Without knots there are none
    but the list's.
    """

    knots: Whole
    step_bits: int = 0
    near: tuple[int, int] = (0, 0)
    near_bits: int = 0

    @classmethod
    def around(cls, candidates: Candidates, known: Real, level: int) -> "Spacing":
        """Space candidates evenly around positions that are known, released cuts and atoms.

        METHODS section 11, C: from the outermost known as far again as these lie apart. Departure:
        few candidates lie far from what is known, and in the first levels from 0.
        """

        def codes(positions: Real) -> Whole:
            inside = np.clip(positions, float(candidates.lower), candidates.upper + 1.0)
            places = candidates.scale(inside) * (candidates.count + 1)
            return np.clip(places, 0, candidates.count).astype(np.int64)

        is_first = level < FIRST_LEVELS
        usual = USUAL if is_first else 0.0
        first, last = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
        farthest = max(abs(first), abs(last)) if is_first else 0.0
        width = max(last - first, farthest, LEAST_WIDTH if level else EVENLY)
        wide = NEAR_WIDTHS * width
        low, high = codes(np.array([min(first - wide, -usual), max(last + wide, usual)])).tolist()
        ends = max(first - width, candidates.lower), min(last + width, candidates.upper + 1.0)
        knots = np.linspace(*ends, KNOTS + 1)
        if is_first and len(known):  # of one cut nobody knows how wide the records lie around it
            beside = np.geomspace(1.0, width, KNOTS // 4 + 1)
            knots = np.concatenate((knots[::2], first - beside, last + beside))
        return cls(
            knots=np.unique(codes(knots)),
            step_bits=max(0, (candidates.count // (KNOTS * STEPS)).bit_length() - 1),
            near=(low, high),
            near_bits=FIRST_BITS if is_first else NEAR_BITS,
        )

    def below(self, codes: Whole) -> Whole:
        """Count the candidates at or below codes: whole numbers that rise with them."""
        if len(self.knots) < 2:
            return codes
        inside = np.clip(codes, self.knots[0], self.knots[-1])
        at = np.minimum(np.searchsorted(self.knots, inside, side="right"), len(self.knots) - 1) - 1
        gaps = self.knots[at + 1] - self.knots[at]
        steps = at * STEPS + (inside - self.knots[at]) * STEPS // gaps
        near = np.clip(codes, *self.near) - self.near[0]
        denser = near + (steps << self.step_bits) << self.near_bits
        return np.asarray(codes - near + denser)

    def code(self, number: int, first: int, last: int) -> int:
        """Return the least code, first or above, with so many candidates at or below it."""
        if len(self.knots) < 2:
            return number
        return first + bisect_left(
            range(first, last + 1), number, key=lambda one: int(self.below(np.array([one]))[0])
        )


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

    A stretch without a candidate is not cut. The candidates at which cuts lie, their ``codes``,
    ascend strictly.
    """

    candidates: Candidates
    depth: int
    numbers: Whole
    codes: Whole

    @property
    def shares(self) -> Real:
        """The share of records below each cut."""
        return np.asarray(self.numbers / (1 << self.depth))

    @property
    def positions(self) -> Real:
        """Where cuts lie, in grid units."""
        return self.candidates.positions(self.codes)


def recursive_medians(
    codes: Codes,
    candidates: Candidates,
    weights: Sequence[Limbs],
    draw: Callable[[Whole, Limbs], int],
    below: Callable[[int], int],
    known: Real | None = None,
) -> Cuts:
    """Cut an attribute's records in halves, quarters and so on, at random.

    Node (i, j) has the candidates strictly between i and j, and the N records of codes from i
    to j - 1. Its cut is a candidate c drawn with probability proportional to w(|L(c) - N/2|),
    L(c) the node's records below c. The root has all candidates.

    ``weights`` are those of each level; ``draw`` draws an index in proportion to sizes times whole
    weights, ``below`` a whole number from 0 to below another, both exactly. Where a domain is not
    declared, ``known`` are the positions of values released before: at each level candidates lie
    densely around these and the cuts of the levels above, else as the list has them.

    One record replaced moves |L - N/2| by at most 1 in one node, or by at most 1/2 in each of
    two nodes of a level: where w falls by at most exp(beta / 2) from one to the next, a level
    costs 2 beta of epsilon at most, and beta**2 / 2 in rho. A record that comes or goes, to an
    atom, moves it by 1/2 in one node.
    """
    depth = len(weights)
    ends = {0: 0, 1 << depth: candidates.count + 1}
    for level, of_level in enumerate(weights):
        spacing = Spacing(np.zeros(0, dtype=np.int64))
        if known is not None:
            cut = np.array([*ends.values()][2:], dtype=np.int64)
            spacing = Spacing.around(candidates, np.append(known, candidates.positions(cut)), level)
        step = 1 << (depth - level)
        for left in range(0, 1 << depth, step):
            if left not in ends or left + step not in ends:
                continue
            i, j = ends[left], ends[left + step]
            if j - i > 1:
                borders, limbs = _runs(codes, i, j, of_level)
                counted = spacing.below(borders)
                run = draw(np.diff(counted), limbs)
                first, last = counted[run : run + 2].tolist()
                number = first + 1 + below(last - first)
                ends[left + step // 2] = spacing.code(number, i + 1, j - 1)
    numbers = sorted(set(ends) - {0, 1 << depth})
    return Cuts(
        candidates=candidates,
        depth=depth,
        numbers=np.array(numbers, dtype=np.int64),
        codes=np.array([ends[number] for number in numbers], dtype=np.int64),
    )


def _runs(codes: Codes, i: int, j: int, weights: Limbs) -> tuple[Whole, Limbs]:
    """Put the candidates of node (i, j) in runs of one weight: the borders of runs, and weights.

    Run r has the candidates above border r up to border r + 1.
    """
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
    places = np.abs(2 * np.arange(start, stop + 1) - n_records)
    limbs = weights[np.concatenate(([far], places, [far]))]
    assert len(borders) == len(limbs) + 1  # noqa: S101 -- the kernel looks at as many of both
    return borders, limbs


@lru_cache(maxsize=8)
def cut_covariance(rates: tuple[float, ...]) -> Real:
    """Return the covariance of the errors of all cuts, in squared records; 0 at both ends.

    A cut is off by its own error, whose density is taken to be proportional to exp(-rate |error|)
    as where candidates are dense, and by half of the errors of the two cuts around its node.
    """
    inherited = _inherited(len(rates))
    own = np.concatenate([np.full(1 << level, 2 / rate**2) for level, rate in enumerate(rates)])
    found = np.asarray((inherited * own) @ inherited.T)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=2)
def cut_errors(rates: tuple[float, ...]) -> Real:
    """Draw trial errors of all cuts by that law, alike each time: (TRIALS, 2**depth + 1)."""
    random = np.random.Generator(np.random.PCG64(0))
    own = [
        random.laplace(scale=1 / rate, size=(TRIALS, 1 << level))
        for level, rate in enumerate(rates)
    ]
    errors = np.asarray(np.concatenate(own, axis=1) @ _inherited(len(rates)).T)
    errors.setflags(write=False)
    return errors


def _inherited(depth: int) -> Real:
    """Find how much every cut has of each cut's own error, those in the order of their levels."""
    found = np.zeros(((1 << depth) + 1, (1 << depth) - 1))
    for level in range(depth):
        step = 1 << (depth - level)
        left = np.arange(0, 1 << depth, step)
        middle = left + step // 2
        found[middle] = 0.5 * (found[left] + found[left + step])
        found[middle, (1 << level) - 1 + np.arange(len(left))] = 1.0
    return found
