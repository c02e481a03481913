"""Exact noise on counts: discrete Laplace in pure DP, discrete Gaussian in zero-concentrated DP."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.noise.noise import LARGEST_SCALE, RandomSource, discrete_laplace

Whole = NDArray[np.int64]
Real = NDArray[np.float64]
# What measurements.json calls the law of discrete Gaussian noise.
GAUSSIAN = "discrete Gaussian"
# A record is so many steps that a scale of 1 or more has 2**20 of them: to round it up to whole
# steps adds less than a millionth.
FINE = 21
# Noisy counts end here, in steps, of which counts themselves have far fewer: draws beyond 2**62
# appear as 2**62, and what is added to that would show.
FARTHEST = 1 << 61
# Up to here a proposal beyond 2**62, which discrete Laplace noise cannot show, is 2**22 scales
# away.
LARGEST_VARIANCE = 1 << 80
# Proposals and words made at a time.
PROPOSALS, WORDS = 1 << 15, 1 << 10


@dataclass(frozen=True, slots=True, kw_only=True)
class CountNoise:
    """The law of the noise on a table of counts of which one record changes two, by 1 each.

    ``scale`` is that of a Laplace law, a whole number of steps of which a record is 2**bits; of a
    Gaussian law it is the variance.
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

    def spending(self, times: Fraction) -> "CountNoise":
        """Return the law that spends so many times what this one does, or a little less."""
        if self.is_gaussian:
            return gaussian_noise(times / self.scale)
        return laplace_noise(times * (2 << self.bits) / self.scale)

    def added(self, counts: Whole, source: RandomSource) -> Whole:
        """Add noise to every count: whole numbers of steps, of the same shape."""
        if self.is_gaussian:
            noise = discrete_gaussian(self.scale, counts.size, source)
        else:
            scales = np.full(counts.size, int(self.scale), dtype=np.int64)
            noise = discrete_laplace(scales, source)
        noisy = (counts << self.bits) + noise.reshape(counts.shape)
        return np.asarray(np.clip(noisy, -FARTHEST, FARTHEST))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NoisyCounts:
    """Counts with noise, as whole numbers of the steps of its law."""

    steps: Whole
    noise: CountNoise

    @classmethod
    def of(cls, counts: Whole, noise: CountNoise, source: RandomSource) -> "NoisyCounts":
        """Add noise to counts; what comes back may be published."""
        return cls(steps=noise.added(counts, source), noise=noise)

    @property
    def counts(self) -> Real:
        """The counts in records."""
        return np.asarray(self.steps / (1 << self.noise.bits))

    @property
    def variance(self) -> float:
        """Of the noise on one count, in squared records."""
        return self.noise.variance

    @classmethod
    def from_dict(cls, contents: Mapping[str, Any]) -> "NoisyCounts":
        """Make counts of their plain values, and the law of their noise as far as these say it."""
        deviation, is_gaussian = float(contents["standard_deviation"]), contents["law"] == GAUSSIAN
        bits = int(contents["steps_per_record"]).bit_length() - 1
        scale = deviation**2 if is_gaussian else round(deviation / math.sqrt(2) * (1 << bits))
        noise = CountNoise(is_gaussian=is_gaussian, scale=Fraction(scale), bits=bits)
        return cls(steps=np.array(contents["steps"], dtype=np.int64), noise=noise)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "steps": self.steps.tolist(),
            "steps_per_record": 1 << self.noise.bits,
            "law": GAUSSIAN if self.noise.is_gaussian else "discrete Laplace",
            "standard_deviation": float(np.sqrt(self.variance)),
        }


def laplace_noise(share: Fraction) -> CountNoise:
    """Return noise that spends a share of epsilon on a table: scale 2 / share, rounded up."""
    scale = 2 / share
    _check(scale, LARGEST_SCALE)
    bits = max(0, FINE - int(scale).bit_length())
    return CountNoise(is_gaussian=False, scale=Fraction(math.ceil(scale * (1 << bits))), bits=bits)


def gaussian_noise(share: Fraction) -> CountNoise:
    """Return noise that spends a share of rho on a table: variance 1 / share."""
    _check(1 / share, LARGEST_VARIANCE)
    return CountNoise(is_gaussian=True, scale=1 / share, bits=0)


def _check(scale: Fraction, largest: int) -> None:
    if scale > largest:
        raise RequestError(
            "epsilon",
            "a part of it is so small that the noise on a count would not fit 64 bits",
            "pass a larger epsilon, or less uneven weights in the budget",
        )


def discrete_gaussian(variance: Fraction, count: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw from the discrete Gaussian law of a variance above 0 and at most 2**80, exactly.

    A draw is the whole number z with probability proportional to exp(-z**2 / (2 variance));
    magnitudes beyond 2**62 appear as 2**62. Canonne, Kamath and Steinke (2020), Algorithm 3:
    discrete Laplace draws y of scale t = floor(sigma) + 1, each kept with probability
    exp(-(|y| - variance/t)**2 / (2 variance)), which is drawn by Algorithm 1 in whole numbers.
    """
    if not 0 < variance <= LARGEST_VARIANCE:
        raise ValueError("the variance must be above 0 and at most 2**80")
    top, bottom = variance.as_integer_ratio()
    scale = math.isqrt(top // bottom) + 1
    # (|y| - variance/t)**2 / (2 variance) = (|y| t bottom - top)**2 / (2 top bottom t**2)
    step, denominator = scale * bottom, 2 * top * bottom * scale**2
    words = _words(source)
    kept: list[int] = []
    while len(kept) < count:
        # Three of four proposals are kept where the variance is large, fewer where it is small.
        n_proposals = min((count - len(kept)) * 3 // 2 + 16, PROPOSALS)
        kept.extend(
            proposal
            for proposal in discrete_laplace(np.full(n_proposals, scale), source).tolist()
            if _exponential((abs(proposal) * step - top) ** 2, denominator, words)
        )
    # Proposals are looked at one by one and kept or not by themselves: those kept beyond the
    # count are as good as never made.
    return np.array(kept[:count], dtype=np.int64)


def _words(source: RandomSource) -> Iterator[int]:
    while True:
        yield from source.words(WORDS).tolist()


def _exponential(numerator: int, denominator: int, words: Iterator[int]) -> bool:
    """Draw a Bernoulli of probability exp(-numerator/denominator), at least 0 (Algorithm 1)."""
    whole, numerator = divmod(numerator, denominator)
    for _ in range(whole):
        if not _exponential_of_fraction(1, 1, words):
            return False
    return _exponential_of_fraction(numerator, denominator, words)


def _exponential_of_fraction(numerator: int, denominator: int, words: Iterator[int]) -> bool:
    trial = 1
    while _bernoulli(numerator, denominator * trial, words):
        trial += 1
    return trial % 2 == 1


def _bernoulli(numerator: int, denominator: int, words: Iterator[int]) -> bool:
    """Draw a Bernoulli of probability numerator/denominator, exactly.

    A uniform real number, each word a digit to the base 2**64, is held against the fraction:
    the first digit in which they differ decides, nearly always the first of all.
    """
    while True:
        digit, numerator = divmod(numerator << 64, denominator)
        word = next(words)
        if word != digit:
            return word < digit
