"""Exact noise on counts: discrete Laplace in pure DP, discrete Gaussian in zero-concentrated DP."""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.noise.gaussian import LARGEST_VARIANCE, discrete_gaussian
from microveil.noise.noise import LARGEST_SCALE, RandomSource, discrete_laplace

__all__ = ["CountNoise", "gaussian_noise", "laplace_noise"]

Whole = NDArray[np.int64]
# A record is so many steps that a scale of 1 or more has 2**20 of them: to round it up to whole
# steps adds less than a millionth.
FINE = 21
# Noisy counts end here, in steps, of which counts themselves have far fewer: draws beyond 2**62
# appear as 2**62, and what is added to that would show.
FARTHEST = 1 << 61


@dataclass(frozen=True, slots=True, kw_only=True)
class CountNoise:
    """The law of the noise on a table of counts of which one record changes two, by 1 each.

    ``scale`` is that of a Laplace law, in steps of which a record is 2**bits, a whole number; of a
    Gaussian one the variance.
    """

    is_gaussian: bool
    scale: Fraction
    bits: int

    @property
    def variance(self) -> float:
        """Of the noise on one count, in squared records (of Laplace noise, just above)."""
        if self.is_gaussian:
            return float(self.scale)
        return 2.0 * float(self.scale / (1 << self.bits)) ** 2

    @property
    def magnitude(self) -> float:
        """The mean distance of a count to the noisy one, in records."""
        return math.sqrt(self.variance) * (
            math.sqrt(2 / math.pi) if self.is_gaussian else math.sqrt(0.5)
        )

    def added(self, counts: Whole, source: RandomSource) -> Whole:
        """Add noise to every count: whole numbers of steps, of the same shape."""
        if self.is_gaussian:
            noise = discrete_gaussian(self.scale, counts.size, source)
        else:
            scales = np.full(counts.size, int(self.scale), dtype=np.int64)
            noise = discrete_laplace(scales, source)
        noisy = (counts << self.bits) + noise.reshape(counts.shape)
        return np.asarray(np.clip(noisy, -FARTHEST, FARTHEST))


def laplace_noise(share: Fraction) -> CountNoise:
    """Return noise that spends a share of epsilon on a table: scale 2 / share, rounded up.

    >>> laplace_noise(Fraction(1)).variance
    8.0
    """
    scale = 2 / share
    _check(scale, LARGEST_SCALE)
    bits = max(0, FINE - int(scale).bit_length())
    return CountNoise(is_gaussian=False, scale=Fraction(math.ceil(scale * (1 << bits))), bits=bits)


def gaussian_noise(share: Fraction) -> CountNoise:
    """Return noise that spends a share of rho on a table: variance 1 / share.

    >>> gaussian_noise(Fraction(1, 100)).variance
    100.0
    """
    _check(1 / share, LARGEST_VARIANCE)
    return CountNoise(is_gaussian=True, scale=1 / share, bits=0)


def _check(scale: Fraction, largest: int) -> None:
    if scale > largest:
        raise RequestError(
            "epsilon",
            "a part of it is so small that the noise on a count would not fit 64 bits",
            "pass a larger epsilon, or less uneven weights in the budget",
        )
