"""The distribution of a numeric attribute, from its released cuts, and how far these may be off."""

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.synthesis.cuts import Candidates, Cuts

__all__ = ["QuantileFunction", "cut_covariance", "cut_errors", "quantile_function"]

Real = NDArray[np.float64]
# Standard scores beyond which nothing is drawn: one record in 1e12.
FARTHEST = 7.0
# No part of an attribute is taken to have less than this share.
LEAST = 1e-6
# Points between two cuts: between them values lie evenly, which the bent scale does not.
BETWEEN = 16
# Trial trees of cuts: so many that a bound at 95 % moves by about one part in fifty.
TRIALS = 4000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileFunction:
    """Values by their share below, piecewise linear between points, which ascend.

    Shares run from 0 to 1, values are positions in grid units; so are the ends of the domain.
    """

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


def quantile_function(
    cuts: Cuts, candidates: Candidates, shares: Real | None = None
) -> QuantileFunction:
    """Join the cuts on the scale of candidates over standard scores, and extrapolate both tails.

    A uniform last interval would put the tail's records all over the domain: on the scale of
    standard scores the slope of the last two cuts goes on instead, clamped to the domain. Shares
    below each cut are by default those that the cuts have.

    >>> ages = Candidates(lower=0, upper=99, count=1 << 20)
    >>> cuts = Cuts(depth=2, numbers=np.array([1, 2, 3]), codes=np.array([1, 2, 3]) << 18)
    >>> quantile_function(cuts, ages).at(np.array([0.1, 0.5, 0.9]))
    array([ 1, 36, 96])
    """
    places = cuts.codes / (candidates.count + 1)
    below = cuts.shares if shares is None else shares
    if len(places) < 2:
        shares, places = np.r_[0.0, below, 1.0], np.r_[0.0, places, 1.0]
    else:
        below, places = _with_masses(below, places, cuts, candidates)
        shares, places = _extrapolated(scipy.special.ndtri(below), places)
    return QuantileFunction(
        shares=shares,
        values=candidates.unscaled(np.clip(places, 0.0, 1.0)),
        lower=candidates.lower,
        upper=candidates.upper,
    )


def _with_masses(
    shares: Real, places: Real, cuts: Cuts, candidates: Candidates
) -> tuple[Real, Real]:
    """Let values that hold several cuts begin and end half way to the cuts beside them.

    Many records share such a value. All that is known of where it ends is that it does between
    two cuts: joined by a line, all records behind its last cut would have other values.
    """
    values = np.floor(candidates.positions(cuts.codes))
    found: list[tuple[float, float]] = []
    for place, (share, position, value) in enumerate(zip(shares, places, values, strict=True)):
        found.append((float(share), float(position)))
        if place + 1 == len(values) or value == values[place + 1]:
            continue
        half = 0.5 * float(share + shares[place + 1])
        if place and values[place - 1] == value:
            found.append((half, float(candidates.scale(np.array(value + 1.0)))))
        elif place + 2 < len(values) and values[place + 1] == values[place + 2]:
            found.append((half, float(candidates.scale(np.array(values[place + 1])))))
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


@lru_cache(maxsize=8)
def cut_covariance(rates: tuple[float, ...]) -> Real:
    """Return the covariance of the errors of all cuts, in squared records; 0 at both ends.

    A cut is off by its own error, whose density is taken to be proportional to exp(-rate |error|)
    as where candidates are dense, and by half of the errors of the two cuts around its node.

    >>> cut_covariance((0.1, 0.2)).diagonal()
    array([  0., 100., 200., 100.,   0.])
    """
    inherited = _inherited(len(rates))
    own = np.concatenate([np.full(1 << level, 2 / rate**2) for level, rate in enumerate(rates)])
    found = np.asarray((inherited * own) @ inherited.T)
    found.setflags(write=False)
    return found


@lru_cache(maxsize=2)
def cut_errors(rates: tuple[float, ...]) -> Real:
    """Draw trial errors of all cuts, in records: (TRIALS, 2**depth + 1), 0 at both ends.

    Drawn alike each time, by the law of `cut_covariance`.

    >>> cut_errors((0.1, 0.2)).std(axis=0).round()
    array([ 0., 10., 14., 10.,  0.])
    """
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
