"""The distribution of a numeric attribute, from its released cuts."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import scipy  # which loads its parts when they are used
from numpy.typing import NDArray

from microveil.partition.quantiles import Candidates, Cuts

__all__ = ["QuantileFunction", "quantile_function"]

Real = NDArray[np.float64]
# Standard scores beyond which nothing is drawn: one record in 1e12.
FARTHEST = 7.0
# No part of an attribute is taken to have less than this share.
LEAST = 1e-6
# Points between two cuts: between them values lie evenly, which the bent scale does not.
BETWEEN = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileFunction:
    """Values by their share below, piecewise linear between points.

    Attributes
    ----------
    shares : float64 array (n_points,)
        Ascending, from 0 to 1.
    values : float64 array (n_points,)
        Positions in grid units, ascending.
    lower, upper : int
        The domain in grid units.
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
    standard scores the slope of the last two cuts goes on instead, clamped to the domain.

    Parameters
    ----------
    cuts : Cuts
    candidates : Candidates
    shares : float64 array (n_cuts,), optional
        Of the records below each cut, strictly ascending; by default those that the cuts have.

    Examples
    --------
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
    at_ends = np.array(
        [
            places[0] - low * (scores[0] + FARTHEST),
            *places,
            places[-1] + high * (FARTHEST - scores[-1]),
        ]
    )
    last = len(ends) - 2
    parts = [
        np.linspace(start, stop, 8 * BETWEEN if number in (0, last) else BETWEEN, endpoint=False)
        for number, (start, stop) in enumerate(pairwise(ends))
    ]
    fine = np.concatenate([*parts, ends[-1:]])
    return scipy.special.ndtr(fine), np.interp(fine, ends, at_ends)
