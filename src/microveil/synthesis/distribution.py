"""The distribution of a number as it was measured: quantiles, borders of known mass, their errors.

Three ways lead here: cuts alone; atoms, values that many records share and that have counts of
their own, beside cuts of the rest; and atoms beside counts of coarse cells.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.synthesis.cuts import TRIALS, Candidates, Cuts, cut_covariance, cut_errors

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# Standard scores beyond which nothing is drawn: one record in 1e12.
FARTHEST = 7.0
# No part of an attribute is taken to have less than this share.
LEAST = 1e-6
# Points between two cuts: between them values lie evenly, which the bent scale does not.
BETWEEN = 16
# Tails may reach so many times as far as an exponential one: those of incomes without a point mass
# do. Once was too short on Census, three times gained nothing there and lost on EU-SILC.
REACH_OF_TAILS = 2.0
# A tail is taken to be heavy by the index that its last cuts show: not up to the first, wholly from
# the second on, and no heavier than by that: a heavier one has no variance. On thirteen simulated
# attributes of 5,000 and 20,000 records distances of distributions fall by a tenth, and what is
# missing of the deviations by a quarter.
LIGHT, HEAVY = 0.1, 0.5
# And to end somewhere by an index below 0: that of a normal law seems -.3 a few halvings out, that
# of evenly spread values is -1. Of these (5,000 records, epsilon 3) the largest drawn is 1.01 times
# the real one, not 1.26, and distances are a third less; the other twelve attributes stay alike.
ENDING, ENDED = 0.35, 0.75
# No logarithm is taken of less mass than this.
TINY = 1e-300
# What the variance of cuts' errors is multiplied by: where many records are equal, and around
# wide gaps, cuts lie farther off than where records are dense. On nine simulated attributes of
# 2,000 to 40,000 records 1, 4 and 16 do alike: distances of distributions differ by 7 % at most.
TIES_AND_GAPS = 4.0
# Trial errors are drawn at so many borders at most.
MOST_BORDERS = 256
# Trial noise of counts comes from a stream of its own.
SEED_OF_COUNTS = 1


@dataclass(frozen=True, slots=True)
class QuantileFunction:
    """Values by their share below, piecewise linear between points, in grid units."""

    shares: Real
    values: Real
    lower: int
    upper: int

    def at(self, shares: Real) -> NDArray[np.int64]:
        """Return the grid values at shares: float64 array in (0, 1) to int64, the same shape."""
        found = np.floor(np.interp(shares, self.shares, self.values))
        return np.clip(found, self.lower, self.upper).astype(np.int64)

    def share_below(self, value: int) -> float:
        """Return the share of values below a grid value, between 0 and 1, ends excluded."""
        share = float(np.interp(value, self.values, self.shares))
        return min(max(share, LEAST), 1 - LEAST)

    def warped(self, before: Real, after: Real) -> "QuantileFunction":
        """Give ends of bins, at shares before, other shares; what lies inside follows evenly."""
        return replace(self, shares=np.interp(self.shares, before, after))


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Values or cells with noisy counts, of which each lies from ``starts`` to below ``ends``.

    ``masses`` are their records, taken to be 0 or more; ``deviations`` those of the noise on each.
    """

    starts: Whole
    ends: Whole
    masses: Real
    deviations: Real

    def below(self, positions: Real) -> Real:
        """Say how much of each count lies below positions: (n_counts, n_positions), 0 to 1."""
        width = np.maximum(self.ends - self.starts, 1)[:, None]
        return np.asarray(np.clip((positions - self.starts[:, None]) / width, 0.0, 1.0))

    def mass_below(self, positions: Real) -> Real:
        """Add up what lies below positions."""
        if not len(self.starts):
            return np.zeros(len(positions))
        sums = np.concatenate(([0.0], np.cumsum(self.masses)))
        ends = np.column_stack((self.starts, self.ends)).ravel().astype(np.float64)
        below = np.column_stack((sums[:-1], sums[1:])).ravel()
        return np.asarray(np.interp(positions, ends, below))


@dataclass(frozen=True, eq=False)
class Distribution:
    """How the values of an attribute lie.

    ``codes`` ascend strictly: borders between parts of known mass, as ``candidates`` has them, and
    ``positions`` where these lie in grid units; ``shares`` of the values are below each. The noise
    of ``counts`` moves what is below a border, by a share of them less ``of_rest`` of all, and
    ``of_cuts`` says how much of the error of each cut does, of a tree of such ``rates``.
    """

    candidates: Candidates
    codes: Whole
    positions: Real
    shares: Real
    quantiles: QuantileFunction
    counts: Counted
    of_rest: Real
    of_cuts: Real
    rates: tuple[float, ...]

    def _of_counts(self, inner: Whole) -> Real:
        """Return the covariance, at some borders, of what the noise of counts moves."""
        effects = self.counts.below(self.positions[inner]) - self.of_rest[inner]
        scaled = effects * self.counts.deviations[:, None]
        return np.asarray(scaled.T @ scaled)

    def covariance(self, borders: Whole) -> Real:
        """Return the covariance of the errors at borders, ties taken into account.

        Borders are numbered from 1; 0, and one more than there are, are the ends of all.
        """
        at = np.flatnonzero((borders > 0) & (borders <= len(self.codes)))
        inner = borders[at] - 1
        own = self._of_counts(inner)
        if self.rates:
            weights = self.of_cuts[:, inner]
            own = own + TIES_AND_GAPS * (weights.T @ cut_covariance(self.rates) @ weights)
        found = np.zeros((len(borders), len(borders)))
        found[np.ix_(at, at)] = own
        return found

    @cached_property
    def trial_errors(self) -> tuple[Real, Real]:
        """Errors drawn by their law, alike each time, and the shares below where they are.

        At all borders, or at so many of them evenly; 0 at both ends.
        """
        inner = np.arange(len(self.codes))
        if len(inner) > MOST_BORDERS:
            evenly = np.arange(1, MOST_BORDERS) / MOST_BORDERS
            inner = np.unique(np.minimum(np.searchsorted(self.shares, evenly), len(inner) - 1))
        random = np.random.Generator(np.random.PCG64(SEED_OF_COUNTS))
        found = np.zeros((TRIALS, len(inner)))
        if len(self.counts.starts) and len(inner):
            of_counts = self._of_counts(inner)
            # Of a matrix that may be singular: a grain more, and its root is one and the same.
            grain = 1e-9 * max(float(of_counts.diagonal().max()), 1.0)
            root = np.linalg.cholesky(of_counts + grain * np.eye(len(inner)))
            found = random.standard_normal(found.shape) @ root.T
        if self.rates:
            found = found + cut_errors(self.rates) @ self.of_cuts[:, inner]
        ends = np.concatenate(([0.0], self.shares[inner], [1.0]))
        return ends, np.pad(found, ((0, 0), (1, 1)))


def of_cuts(
    cuts: Cuts, rates: tuple[float, ...], scale: Candidates, atoms: Counted, n_rest: float
) -> Distribution:
    """Join cuts of the rest of the records, so many of them, with atoms.

    ``scale`` is that on which values between cuts lie evenly: the declared domain, or a learnt one.
    """
    positions = cuts.positions
    quantiles = _joined(scale, cuts, rates, atoms, n_rest)
    if not len(atoms.starts):
        weights = np.zeros(((1 << cuts.depth) + 1, len(cuts.codes)))
        weights[cuts.numbers, np.arange(len(cuts.codes))] = 1.0
        return Distribution(
            cuts.candidates, cuts.codes, positions, cuts.shares, quantiles, atoms,
            cuts.shares, weights, rates,
        )  # fmt: skip
    rest = _without(quantiles, cuts.shares, atoms)
    at = np.concatenate((positions, atoms.starts, atoms.ends)).astype(np.float64)
    codes = np.concatenate((cuts.codes, _codes(cuts.candidates, atoms.starts, atoms.ends)))
    codes, first = np.unique(codes, return_index=True)
    inside = (codes > 0) & (codes <= cuts.candidates.count)
    codes, at = codes[inside], at[first][inside]
    # The share of the rest below each border: a cut's is known, an atom's read off the function.
    of_rest = np.interp(at, _rising(rest.values), rest.shares)
    known = dict(zip(cuts.codes.tolist(), cuts.shares.tolist(), strict=True))
    of_rest = np.array(
        [known.get(code, own) for code, own in zip(codes.tolist(), of_rest, strict=True)]
    )
    of_rest = np.maximum.accumulate(of_rest)
    total = max(float(atoms.masses.sum()) + n_rest, 1.0)
    numbers = np.concatenate(([0], cuts.numbers, [1 << cuts.depth]))
    shares_of_cuts = numbers / (1 << cuts.depth)
    weights = np.zeros(((1 << cuts.depth) + 1, len(at)))
    for place, share in enumerate(of_rest.tolist()):
        after = min(max(int(np.searchsorted(shares_of_cuts, share)), 1), len(numbers) - 1)
        low, high = shares_of_cuts[after - 1 : after + 1]
        part = (share - low) / (high - low)
        weights[numbers[after - 1], place] += 1 - part
        weights[numbers[after], place] += part
    return Distribution(
        candidates=cuts.candidates,
        codes=codes,
        positions=at,
        shares=(atoms.mass_below(at) + n_rest * of_rest) / total,
        quantiles=_mixed(rest, atoms, n_rest),
        counts=atoms,
        of_rest=of_rest,
        of_cuts=weights,
        rates=rates,
    )


def of_cells(candidates: Candidates, scale: Candidates, cells: Counted) -> Distribution:
    """Join cells, which lie one behind the other, on the scale."""
    codes, first = np.unique(_codes(candidates, cells.starts[1:]), return_index=True)
    inside = (codes > 0) & (codes <= candidates.count)
    codes, at = codes[inside], cells.starts[1:].astype(np.float64)[first][inside]
    total = max(float(cells.masses.sum()), 1.0)
    shares = cells.mass_below(at) / total
    return Distribution(
        candidates=candidates,
        codes=codes,
        positions=at,
        shares=shares,
        quantiles=_inside_cells(scale, cells, total),
        counts=cells,
        of_rest=shares,
        of_cuts=np.zeros((0, len(codes))),
        rates=(),
    )


def _inside_cells(scale: Candidates, cells: Counted, total: float) -> QuantileFunction:
    """Spread the records of a cell evenly over the scale."""
    parts = (np.arange(BETWEEN) / BETWEEN)[:, None]
    ends = np.concatenate(([0.0], np.cumsum(cells.masses) / total))
    shares = ends[:-1] + parts * np.diff(ends)
    first, last = (scale.scale(side.astype(np.float64)) for side in (cells.starts, cells.ends))
    values = np.maximum(scale.unscaled(first + parts * (last - first)), cells.starts)
    return QuantileFunction(
        np.append(shares.T.ravel(), 1.0),
        np.append(values.T.ravel(), float(cells.ends[-1])),
        scale.lower,
        scale.upper,
    )


def _codes(candidates: Candidates, *positions: Whole) -> Whole:
    """Return the codes of grid values without any jitter."""
    whole = np.concatenate(positions)
    return candidates.codes(whole, np.zeros(len(whole), dtype=np.uint64))


def _rising(values: Real) -> Real:
    return np.maximum.accumulate(values)


def _without(rest: QuantileFunction, cuts: Real, atoms: Counted) -> QuantileFunction:
    """Take the values of atoms out of the distribution of the rest, between each two cuts.

    Between two cuts the mass is known; none of it lies at an atom, unless all there is are atoms.
    """
    values = _rising(rest.values)
    at = np.unique(np.concatenate((values, atoms.starts, atoms.ends)).astype(np.float64))
    at = at[(at >= values[0]) & (at <= values[-1])]
    found_shares, found_values = [rest.shares[0]], [values[0]]
    for low, high in pairwise([rest.shares[0], *cuts.tolist(), rest.shares[-1]]):
        first, last = np.interp([low, high], rest.shares, values)
        inner = at[(at > first) & (at < last)]
        points = np.concatenate(([first], inner, [last]))
        masses = np.diff(np.concatenate(([low], np.interp(inner, values, rest.shares), [high])))
        middle = 0.5 * (points[1:] + points[:-1])
        place = np.searchsorted(atoms.starts, middle, side="right") - 1
        is_atom = (place >= 0) & (middle < atoms.ends[np.maximum(place, 0)])
        masses = np.maximum(masses, 0.0)
        kept = np.where(is_atom, 0.0, masses)
        if kept.sum() > 0:
            masses = kept / kept.sum() * (high - low)
        found_shares += (low + np.cumsum(masses)).tolist()
        found_values += points[1:].tolist()
    return replace(rest, shares=np.array(found_shares), values=np.array(found_values))


def _mixed(rest: QuantileFunction, atoms: Counted, n_rest: float) -> QuantileFunction:
    """Add atoms to the rest: jumps of the distribution function at their values."""
    total = max(float(atoms.masses.sum()) + n_rest, 1.0)
    at = np.concatenate((rest.values, atoms.starts, atoms.ends)).astype(np.float64)
    of_rest = np.concatenate(
        (
            rest.shares,
            np.interp(np.concatenate((atoms.starts, atoms.ends)), rest.values, rest.shares),
        )
    )
    order = np.lexsort((of_rest, at))
    at, of_rest = at[order], np.maximum.accumulate(of_rest[order])
    shares = (atoms.mass_below(at) + n_rest * of_rest) / total
    return replace(rest, shares=shares, values=at)


def _joined(
    scale: Candidates, cuts: Cuts, rates: tuple[float, ...], atoms: Counted, n_rest: float
) -> QuantileFunction:
    """Join the cuts on the scale of candidates over standard scores, and extrapolate both tails.

    A uniform last interval would put the tail's records all over the domain: on the scale of
    standard scores the slope of the last two cuts goes on instead, clamped to the domain, but
    nowhere farther than twice an exponential tail through them, unless they show a heavy one.
    """
    below, positions = cuts.shares, cuts.positions
    places = scale.scale(positions)
    if len(places) < 2:
        shares, places = np.r_[0.0, below, 1.0], np.r_[0.0, places, 1.0]
        return QuantileFunction(shares, scale.unscaled(places), scale.lower, scale.upper)
    with_masses, places = _with_masses(below, places, positions, scale)
    shares, places = _extrapolated(scipy.special.ndtri(with_masses), places)
    values = scale.unscaled(np.clip(places, 0.0, 1.0))
    doubt = _doubt(cuts.depth, rates, n_rest)
    for sign in (1, -1):
        upwards = slice(None, None, sign)
        above, masses = (1.0 - below, 1.0 - shares) if sign > 0 else (below[::-1], shares)
        outermost = float((sign * atoms.starts).max(initial=-(1 << 62)))
        values = sign * _with_tail(
            sign * values, sign * positions[upwards], above, masses, doubt, outermost
        )
    return QuantileFunction(shares, values, scale.lower, scale.upper)


def _doubt(depth: int, rates: tuple[float, ...], n_rest: float) -> Real:
    """Return the standard errors of indices of tails by two and three halvings of the mass."""
    of_last = max(n_rest, 1.0) / (1 << depth)
    found = []
    for effects in ([1, -2, 1], [0.5, -0.5, -0.5, 0.5]):
        halvings = 2 ** np.arange(len(effects))
        if halvings[-1] >= 1 << depth:
            found.append(np.inf)
            continue
        of_mass = np.array(effects) / (halvings * of_last) / math.log(2) ** 2
        covariance = cut_covariance(rates)[np.ix_(halvings, halvings)]
        found.append(float(np.sqrt(of_mass @ covariance @ of_mass)))
    return np.array(found)


def _with_tail(
    values: Real, positions: Real, above: Real, masses: Real, doubt: Real, outermost: float
) -> Real:
    """Bound the values beyond the last cut, given the share of records above each; see `_joined`.

    A departure from METHODS section 11, D: where cuts that leave half the mass each lie ever
    farther apart, by more than is in doubt, or ever closer, a generalised Pareto tail through them
    takes part, of Pickands's (1975) index. A heavy one adds nothing beyond an atom behind the last
    cut, as top codes are.
    """
    values = np.minimum(values, _farthest(positions, above, masses))
    n_halves = 3 if above[0] >= 8 * above[-1] else 2
    halves = np.interp(-above[-1] * 2.0 ** np.arange(n_halves + 1), -above, positions)
    steps = -np.diff(halves)
    if above[0] < 4 * above[-1] or steps.min() < 1:
        return values
    beyond = masses < above[-1]
    shown, in_doubt = np.log2(steps[:-1] / steps[1:]), float(doubt[n_halves - 2])
    index = max(float(shown.mean()) - in_doubt, 0.0) + min(float(shown.max()) + in_doubt, 0.0)
    index = min(index, HEAVY)
    least, most = (LIGHT, HEAVY) if index > 0 else (ENDING, ENDED)
    part = np.clip((abs(index) - least) / (most - least), 0.0, 1.0)
    if part == 0:
        return values
    growth = np.expm1(index * np.log(above[-1] / np.maximum(masses[beyond], TINY)))
    pareto = halves[0] + (halves[0] - halves[2]) / (1 - 4**-index) * growth
    if index < 0:
        values[beyond] -= part * np.maximum(values[beyond] - pareto, 0.0)
        return values
    if outermost > halves[0]:
        pareto = np.minimum(pareto, outermost)
    values[beyond] += part * np.maximum(pareto - values[beyond], 0.0)
    return values


def _farthest(positions: Real, above: Real, masses: Real) -> Real:
    """Return the largest values allowed, given the share of records above each.

    Infinity up to the last cut. Beyond it twice as far as an exponential tail through the last two
    cuts in different grid values (METHODS section 11, D, has it once). On a scale that is half
    logarithmic, a line through two cuts close to each other with few records behind them reaches
    a hundred times too far.
    """
    last = float(positions[-1])
    apart = np.flatnonzero(np.floor(positions) != np.floor(last))
    found = np.full(masses.shape, np.inf)
    if not len(apart) or not 0.0 < above[-1] < above[apart[-1]]:
        return found
    steps = last - float(positions[apart[-1]])
    scale = max(1.0, steps / math.log(float(above[apart[-1]] / above[-1])))
    beyond = masses < above[-1]
    farther = REACH_OF_TAILS * scale * np.log(above[-1] / np.maximum(masses[beyond], TINY))
    found[beyond] = last + farther
    return found


def _with_masses(
    shares: Real, places: Real, positions: Real, scale: Candidates
) -> tuple[Real, Real]:
    """Let values that hold several cuts begin and end half way to the cuts beside them.

    Many records share such a value. All that is known of where it ends is that it does between
    two cuts: joined by a line, all records behind its last cut would have other values.
    """
    values = np.floor(positions)
    found: list[tuple[float, float]] = []
    for place, (share, position, value) in enumerate(zip(shares, places, values, strict=True)):
        found.append((float(share), float(position)))
        if place + 1 == len(values) or value == values[place + 1]:
            continue
        half = 0.5 * float(share + shares[place + 1])
        if place and values[place - 1] == value:
            found.append((half, float(scale.scale(np.array(value + 1.0)))))
        elif place + 2 < len(values) and values[place + 1] == values[place + 2]:
            found.append((half, float(scale.scale(np.array(values[place + 1])))))
    below, at = zip(*found, strict=True)
    return np.array(below), np.array(at)


def _extrapolated(scores: Real, places: Real) -> tuple[Real, Real]:
    low = (places[1] - places[0]) / (scores[1] - scores[0])
    high = (places[-1] - places[-2]) / (scores[-1] - scores[-2])
    ends = np.array([-FARTHEST, *scores, FARTHEST])
    first = places[0] - low * (scores[0] + FARTHEST)
    at_ends = np.array([first, *places, places[-1] + high * (FARTHEST - scores[-1])])
    last = len(ends) - 2
    parts = [
        np.linspace(start, stop, 8 * BETWEEN if number in (0, last) else BETWEEN, endpoint=False)
        for number, (start, stop) in enumerate(pairwise(ends))
    ]
    fine = np.concatenate([*parts, ends[-1:]])
    return scipy.special.ndtr(fine), np.interp(fine, ends, at_ends)
