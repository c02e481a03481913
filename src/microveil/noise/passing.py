"""Which of many noisy counts reach a threshold, exactly, without a draw of noise for each.

A table has millions of values that hardly anybody has, and a declared grid as many that nobody
has: nearly all of their noisy counts stay below the threshold at which a value is shown. A count
passes if its noise is at least ``least``. Its noise is the inverse of the tail function at a
uniform real number, of which 64 bits are drawn at first: these nearly always say that it is less.
Of the few that they leave open more bits are drawn, and the tails bounded more closely, until the
noise is known. No floating-point number decides: in floats 1 - cdf would be 0 where the truth is
3e-20, an infinite loss.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from microveil.noise.counts import CountNoise
from microveil.noise.exponential import SLACK, exponential
from microveil.noise.noise import RandomSource

Whole = NDArray[np.int64]
# Bits of a uniform number drawn at once, and binary places of the first bounds on tails.
WORD, PLACES = 64, 128
# Of a wider law the terms of its tail are too many to be summed.
LARGEST_DEVIATION = 1 << 15
# Counts looked at together: 8 MB of words.
BATCH = 1 << 20


def passing(noise: CountNoise, least: Whole, source: RandomSource) -> tuple[Whole, Whole]:
    """Draw the noise of counts, and return where it is at least what is asked for, and there what.

    ``least`` is in steps of the law, each above 0. The counts that pass have the law of all noise
    given that it is so large, each independently.
    """
    if len(least) and int(least.min()) < 1:
        raise ValueError("what noise must reach is above 0")
    if noise.is_gaussian and noise.scale > LARGEST_DEVIATION**2:
        raise ValueError("the law is too wide for its tails to be summed")
    where, drawn = [], []
    for start in range(0, len(least), BATCH):
        of_batch = least[start : start + BATCH]
        words = source.words(len(of_batch))
        # Of nearly all counts the least that is asked of any says that they do not pass.
        left = np.flatnonzero(words <= _limits(noise, of_batch.min(keepdims=True)))
        left = left[words[left] <= _limits(noise, of_batch[left])]
        for place in left.tolist():
            number = _Uniform(int(words[place]), WORD, source)
            found = _inverse(noise, int(of_batch[place]), number)
            if found is not None:
                where.append(start + place)
                drawn.append(found)
    return np.array(where, dtype=np.int64), np.array(drawn, dtype=np.int64)


def _limits(noise: CountNoise, least: Whole) -> NDArray[np.uint64]:
    """Return what the first word of a uniform number below each tail is at most."""
    asked, which = np.unique(least, return_inverse=True)
    tails = (tail_bounds(noise, at, PLACES)[1] >> (PLACES - WORD) for at in asked.tolist())
    return np.array([*tails], dtype=np.uint64)[which]


@dataclass(slots=True)
class _Uniform:
    """A uniform number in [drawn, drawn + 1) / 2**bits, of which more is drawn as it is asked."""

    drawn: int
    bits: int
    source: RandomSource

    def is_below_tail(self, noise: CountNoise, least: int) -> bool:
        """Whether it is below P(Z >= least)."""
        places = max(PLACES, 2 * self.bits)
        while True:
            lower, upper = tail_bounds(noise, least, places)
            if (self.drawn + 1) << (places - self.bits) <= lower:
                return True
            if self.drawn << (places - self.bits) >= upper:
                return False
            self.drawn = self.drawn << WORD | self.source.integer_below(1 << WORD)
            self.bits += WORD
            places = max(places, 2 * self.bits)


def _inverse(noise: CountNoise, least: int, number: _Uniform) -> int | None:
    """Return the largest z with P(Z >= z) above a number, None where it is below least."""
    if not number.is_below_tail(noise, least):
        return None
    low, step = least, 1
    while number.is_below_tail(noise, low + step):
        low, step = low + step, 2 * step
    beyond = range(low + 1, low + step)
    return low + bisect_left(beyond, 1, key=lambda z: int(not number.is_below_tail(noise, z)))


def tail_bounds(noise: CountNoise, least: int, places: int) -> tuple[int, int]:
    """Bound 2**places P(Z >= least) from below and above by whole numbers, least above 0."""
    if not noise.is_gaussian:
        # P(Z >= z) = exp(-z / scale) / (1 + exp(-1 / scale)), of whole scales.
        scale = int(noise.scale)
        top, ratio = (exponential(part, scale, places) for part in (least, 1))
        one = 1 << places
        lower = (max(top - SLACK, 0) << places) // (one + ratio + SLACK)
        upper = -((-(top + SLACK) << places) // (one + max(ratio - SLACK, 0)))
        return lower, min(upper, one)
    lower_sums, upper_sums = _gaussian_sums(noise, places)
    one = 1 << places
    # The sum over all whole numbers is 1 + 2 the sum from 1 on.
    of_all = one + 2 * lower_sums[1], one + 2 * upper_sums[1]
    if least >= len(lower_sums):
        return 0, 1
    lower = (lower_sums[least] << places) // of_all[1]
    return lower, -((-upper_sums[least] << places) // of_all[0])


@lru_cache(maxsize=16)
def _gaussian_sums(noise: CountNoise, places: int) -> tuple[Sequence[int], Sequence[int]]:
    """Bound the sums from z on of 2**places exp(-z**2 / (2 variance)), z = 0, 1, ... to the last.

    In units of 2**-(places + 64) the first term of none is below exp(-places - 64), and all that
    follow, of a deviation up to `LARGEST_DEVIATION`, together below one unit.
    """
    top, bottom = noise.scale.as_integer_ratio()
    terms = list[int]()
    while True:
        found = exponential(len(terms) ** 2 * bottom, 2 * top, places + WORD)
        terms.append(found)
        if not found:
            break
    lower, upper = [0], [1 << WORD]
    for term in reversed(terms):
        lower.append(lower[-1] + max(term - SLACK, 0))
        upper.append(upper[-1] + term + SLACK)
    return [one >> WORD for one in reversed(lower)], [-(-one >> WORD) for one in reversed(upper)]
