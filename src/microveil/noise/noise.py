"""Exact noise: discrete Laplace draws on a public grid, from words of a given source.

Floating-point noise leaks through its low bits (Mironov 2012; Haney et al. 2022; Casacuberta
et al. 2022). Here a cluster's sum is a whole number of grid units, the noise a whole number
of `NoiseGrid` steps, and both meet in integer arithmetic. What follows (division by the
public size, clamping, rounding) sees their total alone.
"""

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from microveil.errors import RequestError
from microveil.kernels import grid as grid_kernel
from microveil.kernels import laplace as kernel
from microveil.schema import Cells

__all__ = [
    "LARGEST_SCALE",
    "REALS",
    "NoiseGrid",
    "RandomSource",
    "continuous_noise",
    "discrete_laplace",
    "noise_grid",
    "noise_of_reals",
    "noisy_means",
    "permutation",
    "perturbed_means",
    "uniform",
    "uniform_and_rest",
    "uniform_reals",
]

KEY_BYTES = 32
# Draws made at a time: their words (some eight each) stay in the processor's cache.
BATCH = 1 << 15
WORDS_PER_DRAW = 8
# Of how many uniform numbers noise is made, by its law.
REALS = {"uniform": 1, "laplace": 1, "gaussian": 2, "triangular": 2}
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
    """A stream of random 64-bit words: AES-256 in counter mode under one key.

    Parameters
    ----------
    key : bytes
        32 bytes. `RandomSource.system` takes them from the operating system, which is what
        a release needs; `RandomSource.seeded` derives them from a number, for experiments.
    of_system : bool
        Whether that key came from the operating system.

    Examples
    --------
    >>> RandomSource.seeded(1).words(2).dtype
    dtype('uint64')
    """

    def __init__(self, key: bytes, *, of_system: bool = False) -> None:
        self._of_system = of_system
        # A key serves one stream only, so its counter may start at 0.
        self._stream = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()

    @classmethod
    def system(cls) -> "RandomSource":
        """Return a stream keyed by the operating system's randomness."""
        return cls(os.urandom(KEY_BYTES), of_system=True)

    @classmethod
    def of(cls, seed: int | None, purpose: str = "") -> "RandomSource":
        """Return the operating system's randomness, or a seed's where there is one."""
        return cls.system() if seed is None else cls.seeded(seed, purpose)

    @classmethod
    def seeded(cls, seed: int, purpose: str = "") -> "RandomSource":
        """Return a repeatable stream, for experiments only: whoever knows the seed knows all.

        Of one seed there is a stream for each purpose.
        """
        return cls(hashlib.sha256(f"microveil experiment {seed}{purpose}".encode()).digest())

    def words(self, count: int, before: NDArray[np.uint64] | tuple[()] = ()) -> NDArray[np.uint64]:
        """Return the next words of the stream; none is ever given twice.

        Parameters
        ----------
        count : int
        before : uint64 array
            Words got earlier and not yet used, to stand in front.

        Returns
        -------
        uint64 array (len(before) + count,)
        """
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

        By rejection: of the next words as many bits as the bound needs, or those of the words
        that follow. Below a power of 2 nothing is rejected.

        >>> RandomSource.seeded(1).integer_below(1)
        0
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

    def key(self) -> bytes:
        """Return 32 bytes to key something else: of the operating system, or of a seed's stream.

        >>> RandomSource.seeded(1).key() == RandomSource.seeded(1).key()
        True
        """
        return os.urandom(KEY_BYTES) if self._of_system else self.words(KEY_BYTES // 8).tobytes()

    def spawn(self, count: int) -> list["RandomSource"]:
        """Return independent streams, keyed by this stream's next words: one per thread."""
        keys = (self.words(KEY_BYTES // 8).tobytes() for _ in range(count))
        return [RandomSource(key, of_system=self._of_system) for key in keys]


def discrete_laplace(scales: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Draw from discrete Laplace laws, exactly.

    A draw of scale t is the whole number z with probability proportional to exp(-|z|/t).

    Parameters
    ----------
    scales : int64 array (n_draws,)
        From 1 to 2**62, in steps of the noise grid; 0 gives 0.
    source : RandomSource

    Returns
    -------
    int64 array (n_draws,)
        Magnitudes beyond 2**62 appear as 2**62.

    Notes
    -----
    Canonne, Kamath and Steinke (2020), Algorithms 1 and 2, in integer arithmetic: every
    Bernoulli and uniform draw is exact by rejection, so the law is the stated one and not
    an approximation. About eight words and 70 ns a draw.

    Examples
    --------
    >>> discrete_laplace(np.array([0, 5, 5]), RandomSource.seeded(7)).shape
    (3,)
    """
    out = np.empty(len(scales), dtype=np.int64)
    words = np.empty(0, dtype=np.uint64)
    done = 0
    while done < len(out):
        wanted = min(BATCH, len(out) - done)
        # The words of a draw that was cut short come first: see the kernel.
        words = source.words(max(64, WORDS_PER_DRAW * wanted - len(words)), before=words)
        done, consumed = kernel.discrete_laplace(scales, words, out, done)
        words = words[consumed:]
    return out


def uniform(bounds: NDArray[np.int64], source: RandomSource) -> NDArray[np.int64]:
    """Draw uniform whole numbers from 0 to below each bound, exactly.

    >>> uniform(np.array([1, 1]), RandomSource.seeded(1))
    array([0, 0])
    """
    return uniform_and_rest(bounds, source, np.empty(0, dtype=np.uint64))[0]


def uniform_and_rest(
    bounds: NDArray[np.int64], source: RandomSource, words: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Draw as `uniform` does, by words that earlier draws left first; return what is left.

    >>> one, rest = uniform_and_rest(np.array([9]), RandomSource.seeded(1), np.empty(0, np.uint64))
    >>> other, _ = uniform_and_rest(np.array([7]), RandomSource.seeded(1), rest)
    """
    out = np.empty(len(bounds), dtype=np.int64)
    done = 0
    while done < len(out):
        words = source.words(min(len(out) - done, BATCH) + 64, before=words)
        done, consumed = kernel.uniform(bounds, words, out, done)
        words = words[consumed:]
    return out, words


def continuous_noise(
    law: str, delta: float, count: int, source: RandomSource
) -> NDArray[np.float64]:
    """Draw noise of variance delta**2 / 3, that of the uniform law on (-delta, delta).

    For methods that promise nothing of the noise's law: floating point will do.

    Parameters
    ----------
    law : {"uniform", "laplace", "gaussian", "triangular"}
    delta : float
    count : int
    source : RandomSource

    Returns
    -------
    float64 array (count,)

    Examples
    --------
    >>> bool(abs(continuous_noise("uniform", 2.5, 9, RandomSource.seeded(1))).max() < 2.5)
    True
    """
    units = [uniform_reals(count, source) for _ in range(REALS[law])]
    return noise_of_reals(law, delta, units)


def uniform_reals(count: int, source: RandomSource) -> NDArray[np.float64]:
    """Draw uniform numbers between 0 and 1: float64 (count,).

    The midpoints of 2**52 equal parts: never an end.

    >>> bool(uniform_reals(1, RandomSource.seeded(1))[0] < 1)
    True
    """
    return np.asarray((np.right_shift(source.words(count), np.uint64(12)) + 0.5) * 2.0**-52)


def noise_of_reals(
    law: str, delta: float, units: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Make the noise of `continuous_noise` of uniform numbers, as many for each as `REALS` says.

    >>> noise_of_reals("uniform", 3.0, [np.array([0.5, 0.75])])
    array([0. , 1.5])
    """
    if law == "uniform":
        shape, spread = 2 * units[0] - 1, 1.0
    elif law == "triangular":
        shape, spread = units[0] + units[1] - 1, math.sqrt(2)
    elif law == "gaussian":
        radius = np.sqrt(-2 * np.log(units[0]))
        shape, spread = radius * np.cos(2 * math.pi * units[1]), 1 / math.sqrt(3)
    else:
        from_middle = units[0] - 0.5
        magnitude = -np.log1p(-2 * np.abs(from_middle))
        shape, spread = np.copysign(magnitude, from_middle), 1 / math.sqrt(6)
    return np.asarray(delta * spread * shape)


def permutation(
    n_items: int, source: RandomSource, dtype: "np.dtype[Any] | type" = np.int64
) -> NDArray[Any]:
    """Draw a uniform permutation of 0 to n_items - 1 (Fisher and Yates), exactly.

    In integers of a type that holds them: what is drawn is the same for all.

    >>> sorted(permutation(4, RandomSource.seeded(1)).tolist())
    [0, 1, 2, 3]
    """
    items = np.arange(n_items, dtype=dtype)
    words = np.empty(0, dtype=np.uint64)
    done = 0
    while done < n_items:
        words = source.words(min(n_items - done, BATCH) + 64, before=words)
        done, consumed = kernel.shuffle(items, words, done)
        words = words[consumed:]
    return items


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseGrid:
    """The public grid on which an attribute's noise lives, the same for all its clusters.

    Attributes
    ----------
    bits : int
        A grid unit of the attribute is 2**bits steps of noise.
    unit : int
        Scale, in steps, of the noise on a sum of sensitivity one grid unit: 2**bits / share
        rounded up.
    lower, upper : int
        Means are clamped to this range, in grid units.
    """

    bits: int
    unit: int
    lower: int
    upper: int

    def scales(self, sensitivities: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scale of the noise on each sum, in steps: never below what is due."""
        return sensitivities * self.unit


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

    Parameters
    ----------
    name : str
        The attribute.
    share : Fraction
        Epsilon of the attribute.
    largest_cluster : int
        The most records a cluster can hold, given n and k.
    bounds : (int, int) or None
        The attribute's domain in grid units; None where the method needs none. Then the
        grid itself limits what can be represented.
    values : (int, int)
        The smallest and largest value, in grid units: held against what fits, no more.
    room : int
        How many times a sensitivity over the share a scale may be: 1 where each cluster's
        noise follows from its own sensitivity.

    Raises
    ------
    RequestError
        If sums or scales would not fit 64 bits.

    Examples
    --------
    >>> noise_grid("AGE", Fraction(1, 10), 19, (0, 120), (17, 90))
    NoiseGrid(bits=17, unit=1310720, lower=0, upper=120)
    """
    # The least number of bits with 2**bits / share of 2**fine or more.
    bits = max(0, _ceil((1 << (FINE if bounds else COARSE)) * share) - 1).bit_length()
    if bounds:
        lower, upper = bounds
        bits = next(
            (b for b in range(bits, -1, -1) if _fits(b, share, largest_cluster, bounds, room)),
            -1,
        )
    else:
        bits = min(bits, ROOM - 2 - largest_cluster.bit_length())
        upper = (1 << (ROOM - 2 - bits)) // largest_cluster
        lower = -upper
    unit = _ceil((1 << max(bits, 0)) / share)
    scale = room * SENSITIVITY_IN_WIDTHS * (values[1] - values[0]) * unit
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


def _fits(
    bits: int, share: Fraction, largest_cluster: int, bounds: tuple[int, int], room: int
) -> bool:
    width = bounds[1] - bounds[0]
    scale = room * SENSITIVITY_IN_WIDTHS * width * _ceil((1 << bits) / share)
    return (largest_cluster * width) << bits <= 1 << ROOM and scale <= LARGEST_SCALE


def _ceil(value: Fraction) -> int:
    return -((-value.numerator) // value.denominator)


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

    Parameters
    ----------
    sums, sizes : int64 arrays (n_clusters,)
        The sums in grid units.
    scales : int64 array (n_clusters,)
        Of the noise on the sums, in steps of the noise grid; 0 for none.
    grid : NoiseGrid
    source : RandomSource
    rounded : bool
        False leaves the rounding to a later step and gives float64.

    Returns
    -------
    int64 or float64 array (n_clusters,)
        In grid units, within grid.lower and grid.upper.
    """
    means: Cells = np.empty(len(sums), dtype=np.int64 if rounded else np.float64)
    for batch in _batches(len(sums)):
        noise = discrete_laplace(np.ascontiguousarray(scales[batch]), source)
        means[batch] = noisy_means(sums[batch], sizes[batch], noise, grid, rounded=rounded)
    return means


def noisy_means(
    sums: NDArray[np.int64],
    sizes: NDArray[np.int64],
    noise: NDArray[np.int64],
    grid: NoiseGrid,
    *,
    rounded: bool = True,
) -> Cells:
    """Return what `perturbed_means` gives, of noise that was drawn.

    >>> grid = NoiseGrid(bits=1, unit=2, lower=0, upper=9)
    >>> noisy_means(np.array([5, 5]), np.array([1, 1]), np.array([4, 40]), grid)
    array([7, 9])
    """
    whole, fraction = np.empty_like(noise), np.empty(len(noise))
    grid_kernel.noisy_means(
        np.ascontiguousarray(sums),
        np.ascontiguousarray(sizes),
        noise,
        grid.bits,
        grid.lower,
        grid.upper,
        whole,
        fraction,
    )
    if not rounded:
        return np.asarray(whole + fraction)
    upwards = (fraction > 0.5) | ((fraction == 0.5) & (whole % 2 == 1))
    return np.asarray(whole + upwards)


def _batches(length: int) -> Iterator[slice]:
    for start in range(0, length, BATCH):
        yield slice(start, min(start + BATCH, length))
