"""Exact noise: discrete Laplace draws on a public grid, from words of a given source.

Floating-point noise leaks through its low bits (Mironov 2012; Haney et al. 2022; Casacuberta
et al. 2022). Here a cluster's sum is a whole number of grid units, the noise a whole number
of `NoiseGrid` steps, and both meet in integer arithmetic. What follows (division by the
public size, clamping, rounding) sees their total alone.
"""

import hashlib
import itertools
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy  # which loads its parts when they are used
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.kernels import laplace as kernel
from microveil.schema import Cells

KEY_BYTES = 32
# Draws made at a time: their words (some eight each) stay in the processor's cache.
BATCH = 1 << 15
WORDS_PER_DRAW = 8
# The noise on a sum of sensitivity one has a scale of 2**20 steps of the noise grid or more,
# so that rounding it up to whole steps adds less than a millionth; 2**12 where no bounds say
# how large sums get; less where wide bounds leave no room, or where epsilon is so small that
# scales are large in whole grid units already.
FINE, COARSE = 20, 12
# The total of a sum and its noise stays below 2**63 while sums span at most 2**60 steps.
ROOM = 60
LARGEST_SCALE = 1 << 62
# No rule's sensitivity of a sum exceeds this many widths of the domain.
SENSITIVITY_IN_WIDTHS = 3


class RandomSource:
    """A stream of random 64-bit words: AES-256 in counter mode under one key of 32 bytes.

    `RandomSource.system` takes the key from the operating system, which is what a release needs;
    `RandomSource.seeded` derives it from a number, for experiments.
    """

    def __init__(self, key: bytes) -> None:
        # A key serves one stream only, so its counter may start at 0.
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    @classmethod
    def system(cls) -> "RandomSource":
        """Return a stream keyed by the operating system's randomness."""
        return cls(os.urandom(KEY_BYTES))

    @classmethod
    def of(cls, seed: int | None, purpose: str = "") -> "RandomSource":
        """Return the operating system's randomness, or a seed's where there is one."""
        return cls.system() if seed is None else cls.seeded(seed, purpose)

    @classmethod
    def seeded(cls, seed: int, purpose: str = "") -> "RandomSource":
        """Return a repeatable stream, one a purpose: for experiments, as the seed tells all."""
        return cls(hashlib.sha256(f"microveil experiment {seed}{purpose}".encode()).digest())

    def words(self, count: int, before: NDArray[np.uint64] | tuple[()] = ()) -> NDArray[np.uint64]:
        """Return so many next words of the stream, behind some got earlier and not yet used."""
        words = np.empty(len(before) + count, dtype=np.uint64)
        words[: len(before)] = before
        # In place: the keystream is what encrypting zeros gives. They are written: pages that the
        # system takes for zeros cost more, when they are read and then written.
        words[len(before) :] = 0
        fresh = words[len(before) :].view(np.uint8).data
        self._stream.update_into(fresh, fresh)
        return words

    def integer_below(self, bound: int) -> int:
        """Return a uniform whole number from 0 to below a bound of any size, exactly.

        By rejection, of as many bits as the bound needs: below a power of 2 nothing is rejected.
        """
        if bound < 1:
            raise ValueError("the bound must be at least 1")
        n_bits = (bound - 1).bit_length()
        n_words = -(-n_bits // 64)
        while True:
            # A word's bytes in the order of the keystream, on machines of either byte order.
            drawn = int.from_bytes(self.words(n_words).tobytes(), "little")
            drawn >>= 64 * n_words - n_bits
            if drawn < bound:
                return drawn

    def spawn(self, count: int) -> list["RandomSource"]:
        """Return independent streams, keyed by this stream's next words: one per thread."""
        return [RandomSource(self.words(KEY_BYTES // 8).tobytes()) for _ in range(count)]


def discrete_laplace(scales: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Draw from discrete Laplace laws, exactly.

    A draw of scale t, from 1 to 2**62 steps of the noise grid, is the whole number z with
    probability proportional to exp(-|z|/t); of scale 0 it is 0. Magnitudes beyond 2**62 appear as
    2**62. Canonne, Kamath and Steinke (2020), Algorithms 1 and 2, in integer arithmetic: every
    Bernoulli and uniform draw is exact by rejection, so the law is the stated one and not an
    approximation.
    """
    out = np.empty(len(scales), dtype=np.int64)
    _drawn(
        len(out),
        source,
        lambda words, done: kernel.discrete_laplace(scales, words, out, done),
        # The words of a draw that was cut short come first: see the kernel.
        lambda wanted, held: max(64, WORDS_PER_DRAW * wanted - held),
    )
    return out


def uniform(bounds: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Draw uniform whole numbers from 0 to below each bound, exactly."""
    out = np.empty(len(bounds), dtype=np.int64)
    _drawn(len(out), source, lambda words, done: kernel.uniform(bounds, words, out, done))
    return out


def continuous_noise(
    law: str, delta: float, count: int, source: RandomSource
) -> NDArray[np.float64]:
    """Draw noise of variance delta**2 / 3, that of the uniform law on (-delta, delta).

    For methods that promise nothing of the noise's law: floating point will do.
    """
    units = _between_0_and_1(count, source)
    if law == "uniform":
        shape, spread = 2 * units - 1, 1.0
    elif law == "triangular":
        shape, spread = units + _between_0_and_1(count, source) - 1, math.sqrt(2)
    elif law == "gaussian":
        radius, turn = np.sqrt(-2 * np.log(units)), _between_0_and_1(count, source)
        shape, spread = radius * np.cos(2 * math.pi * turn), 1 / math.sqrt(3)
    else:
        from_middle = units - 0.5
        magnitude = -np.log1p(-2 * np.abs(from_middle))
        shape, spread = np.copysign(magnitude, from_middle), 1 / math.sqrt(6)
    return np.asarray(delta * spread * shape)


def _between_0_and_1(count: int, source: RandomSource) -> NDArray[np.float64]:
    """Draw uniform midpoints of 2**52 equal parts of the line from 0 to 1: never an end."""
    return np.asarray((np.right_shift(source.words(count), np.uint64(12)) + 0.5) * 2.0**-52)


def permutation(n_items: int, source: RandomSource) -> NDArray[np.int64]:
    """Draw a uniform permutation of 0 to n_items - 1 (Fisher and Yates), exactly."""
    items = np.arange(n_items)
    _drawn(n_items, source, lambda words, done: kernel.shuffle(items, words, done))
    return items


def _drawn(
    count: int,
    source: RandomSource,
    draw: Callable[[NDArray[np.uint64], int], tuple[int, int]],
    fresh: Callable[[int, int], int] = lambda wanted, _held: wanted + 64,
) -> None:
    """Draw until all is done, fetching so many fresh words for draws wanted and words held."""
    words, done = np.empty(0, dtype=np.uint64), 0
    while done < count:
        words = source.words(fresh(min(count - done, BATCH), len(words)), before=words)
        done, consumed = draw(words, done)
        words = words[consumed:]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseGrid:
    """The public grid on which an attribute's noise lives, the same for all its clusters.

    A grid unit of the attribute is 2**bits steps of noise. ``unit`` is the scale, in steps, of the
    noise on a sum of sensitivity one grid unit: 2**bits / share rounded up. Means are clamped to
    lower and upper, in grid units.
    """

    bits: int
    unit: int
    lower: int
    upper: int


def noise_grid(
    name: str,
    share: Fraction,
    largest_cluster: int,
    bounds: tuple[int, int] | None,
    values: tuple[int, int],
    *,
    room: int = 1,
) -> NoiseGrid:
    """Choose the grid for an attribute's noise, from public figures, and see that sums fit.

    ``share`` is the attribute's epsilon, ``largest_cluster`` the most records that a cluster can
    hold, ``bounds`` the domain in grid units. Without bounds the grid itself limits what can be
    represented. The least and greatest of ``values`` are held against what fits, no more.
    ``room`` is how many times a sensitivity over the share a scale may be: 1 where each cluster's
    noise follows from its own sensitivity.

    >>> noise_grid("AGE", Fraction(1, 10), 19, (0, 120), (17, 90))
    NoiseGrid(bits=17, unit=1310720, lower=0, upper=120)
    """
    # The least number of bits with 2**bits / share of 2**fine or more.
    bits = max(0, math.ceil((1 << (FINE if bounds else COARSE)) * share) - 1).bit_length()
    times = room * SENSITIVITY_IN_WIDTHS
    if bounds:
        lower, upper = bounds
        width = upper - lower
        # As many bits as leave room for the largest sums and the widest noise.
        while bits >= 0 and (
            (largest_cluster * width) << bits > 1 << ROOM
            or times * width * math.ceil((1 << bits) / share) > LARGEST_SCALE
        ):
            bits -= 1
    else:
        bits = min(bits, ROOM - 2 - largest_cluster.bit_length())
        upper = (1 << (ROOM - 2 - bits)) // largest_cluster
        lower = -upper
    unit = math.ceil((1 << max(bits, 0)) / share)
    scale = times * (values[1] - values[0]) * unit
    largest_sum = largest_cluster * max(abs(lower), abs(upper))
    inside = lower <= values[0] and values[1] <= upper
    if bits < 0 or not inside or max(scale, unit, largest_sum) > LARGEST_SCALE:
        raise RequestError(
            f"attribute '{name}'",
            "its sums and their noise would not fit 64 bits at this resolution",
            f"declare a coarser resolution (--resolution {name}=...), tighter bounds or "
            "a larger epsilon",
        )
    return NoiseGrid(bits=bits, unit=unit, lower=lower, upper=upper)


def perturbed_means(
    sums: NDArray[np.int64],
    sizes: NDArray[np.int64],
    scales: NDArray[np.int64],
    grid: NoiseGrid,
    source: RandomSource,
    *,
    rounded: bool = True,
) -> Cells:
    """Add noise to each cluster's sum, divide by its size, clamp, round to the grid.

    Sums are in grid units, scales of their noise in steps of the noise grid, 0 for none. Not
    ``rounded``, which leaves that to a later step, means are float64.
    """
    means: Cells = np.empty(len(sums), dtype=np.int64 if rounded else np.float64)
    for start in range(0, len(sums), BATCH):
        batch = slice(start, start + BATCH)
        noise = discrete_laplace(np.ascontiguousarray(scales[batch]), source)
        whole, fraction = noisy_means(sums[batch], sizes[batch], noise, grid)
        if rounded:
            upwards = (fraction > 0.5) | ((fraction == 0.5) & (whole % 2 == 1))
            means[batch] = whole + upwards
        else:
            means[batch] = whole + fraction
    return means


def noisy_means(
    sums: NDArray[np.int64], sizes: NDArray[np.int64], noise: NDArray[np.int64], grid: NoiseGrid
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Divide sum * 2**bits + noise by size * 2**bits into whole and fraction, clamped.

    The sum enters by its quotient and remainder, so that nothing overflows; the result is the
    floor and the rest of the noisy sum alone, whatever quotient it came from.
    """
    quotient, remainder = np.divmod(sums, sizes)
    divisor = sizes << grid.bits
    carry, rest = np.divmod((remainder << grid.bits) + noise, divisor)
    mean = quotient + carry
    whole = np.clip(mean, grid.lower, grid.upper)
    inside = (grid.lower <= mean) & (mean < grid.upper)
    return whole, np.where(inside, rest / divisor, 0.0)


def in_order(means: NDArray[np.float64], scales: NDArray[np.float64]) -> NDArray[np.float64]:
    """Replace noisy centroids by the nearest non-decreasing sequence.

    The true centroids of a ranked partition do not fall, so the noisy ones may be moved to the
    nearest sequence that does not, with weights 1/scale**2 (Hay, Rastogi, Miklau and Suciu 2010).
    Post-processing: it costs no privacy at cluster and vector scope. A centroid whose noise has a
    scale of 0 stays as it is; each stretch between such ones is fitted alone and clipped to them.
    """
    fitted = means.copy()
    fixed = np.flatnonzero(scales == 0)
    ends = np.concatenate([[-1], fixed, [len(means)]])
    for before, after in itertools.pairwise(ends):
        stretch = slice(before + 1, after)
        if after - before <= 1:
            continue
        weights = (scales[stretch].min() / scales[stretch]) ** 2
        fit = scipy.optimize.isotonic_regression(means[stretch], weights=weights).x
        lowest = means[before] if before >= 0 else -np.inf
        highest = means[after] if after < len(means) else np.inf
        fitted[stretch] = np.clip(fit, lowest, highest)
    return fitted
