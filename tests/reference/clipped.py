"""Noise of rational chances on counts, clipped to a few outcomes, answered one by one.

To clip a noisy count is post-processing: what clipped counts cost, whole ones cost at least.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise

import numpy as np

# Beyond this the chances of the Gaussian law are below the last of so many binary places.
FAR, PLACES = 30, 256


@dataclass(frozen=True)
class Clipped:
    """Noise whose chance is proportional to ratio**|z|, or ratio**(z**2) where it is Gaussian.

    A noisy count is clipped to the whole numbers from ``least`` to ``most``.
    """

    is_gaussian: bool
    ratio: Fraction
    least: int
    most: int
    variance: float = 1.0
    bits: int = 0

    @property
    def per_record(self):
        """The greatest ratio of chances where a count moves by 1; of Gaussian noise exp(1/2v)."""
        return 1 / self.ratio

    @cached_property
    def _tails(self):
        """P(Z >= 0), P(Z >= 1) and so on of the Gaussian law."""
        weights = [self.ratio ** (z * z) for z in range(FAR)]
        total = 2 * sum(weights) - 1
        return [Fraction(round((sum(weights[z:]) / total) * 2**PLACES), 2**PLACES)
                for z in range(FAR)]  # fmt: skip

    def tail(self, least):
        """P(Z >= least)."""
        if least < 1:
            return 1 - self.tail(1 - least)
        return self._tails[least] if self.is_gaussian else self.ratio**least / (1 + self.ratio)

    @cache  # noqa: B019 -- of a few counts, in a test
    def chances(self, count):
        """Of each clipped noisy count."""
        tails = [1, *(self.tail(y - count) for y in range(self.least + 1, self.most + 1)), 0]
        return [more - less for more, less in pairwise(tails)]

    def added(self, counts, source):
        """Answer with a clipped noisy count for each."""
        found = [self.least + source.draw(self.chances(count)) for count in counts.ravel().tolist()]
        return np.array(found, dtype=np.int64).reshape(counts.shape)


def passing(noise, least, source):
    """Answer which noises are at least so large; ``noise.least`` + 1 is a threshold of theirs."""
    where, drawn, n_shown = [], [], noise.most - noise.least
    for place, needed in enumerate(least.tolist()):
        tails = [1, *(noise.tail(needed + more) for more in range(n_shown)), 0]
        answer = source.draw([more - less for more, less in pairwise(tails)])
        if answer:
            where.append(place)
            drawn.append(needed + answer - 1)
    return np.array(where, dtype=np.int64), np.array(drawn, dtype=np.int64)


class Source:
    """Randomness that is answered, and jitter that is given, record by record."""

    def __init__(self, answers, words=()):
        self.draw, self.integer_below, self._words = answers.draw, answers.below, words

    def spawn(self, count):
        """Return itself so many times: every choice is asked for in turn."""
        return [self] * count

    def words(self, count):
        """Return the jitter of so many records."""
        return np.array(self._words[:count], dtype=np.uint64)
