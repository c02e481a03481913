"""The exponential mechanism, exactly: draws with probability proportional to exp(-rate * loss).

No floating-point number decides an outcome (Mironov 2012; Ilvento 2020). Two ways: `draw_run`
is exact for every rate and every loss, by bounds on the weights that are made finer until
they decide; `median_weights` are whole numbers whose ratios are bounded by construction,
which `draw_weighted` draws by. Proofs: docs/noise.md.
"""

import itertools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from operator import mul

import numpy as np
from numpy.typing import NDArray

from microveil.kernels import synthesis as kernel
from microveil.noise.noise import RandomSource

# Whole weights of any size, the least of their limbs of 32 bits first: uint32 (n_weights, 6).
Limbs = NDArray[np.uint32]

# Random bits of the first attempt at a draw. Of a thousand runs it leaves fewer than one in
# 2**100 undecided.
BITS = 128
# The weight of loss 0, and of what a step multiplies by, as powers of 2.
TOP_BITS, RATIO_BITS = 160, 64
# Places of the exponential that the ratio is made of: so many that it is rounded up no further
# than due.
RATIO_PLACES = 128
# Limbs of 32 bits that a weight takes.
LIMBS = TOP_BITS // 32 + 1
# Weights whose sum is found at once: those of the one stretch drawn are gone through.
STRETCH = 1 << 10
# By how many units an exponential may be off: see `exponential`.
SLACK = 2


def draw_run(
    losses: Sequence[Fraction],
    multiplicities: Sequence[int],
    rate: Fraction,
    source: RandomSource,
) -> int:
    """Draw a run of candidates by the exponential mechanism, exactly.

    A run is all candidates that share a utility loss, of which only differences matter; run r is
    drawn with probability proportional to multiplicities[r] * exp(-rate * losses[r]).

    METHODS section 7, "Exactness". A uniform real number U, of which at first 128 bits are
    drawn, is held against bounds on the cumulative weights; where these do not decide, as
    many bits again are appended and the bounds computed with twice as many. What is returned
    is the run that all of U would give.
    """
    if rate < 0 or min(multiplicities) < 0:
        raise ValueError("rate and multiplicities must be at least 0")
    runs = [run for run, multiplicity in enumerate(multiplicities) if multiplicity]
    if not runs:
        raise ValueError("a multiplicity must be above 0")
    counts = [multiplicities[run] for run in runs]
    # The exponents rate * (loss - least) as whole numbers over one denominator.
    unit = math.lcm(*(losses[run].denominator for run in runs))
    wholes = [losses[run].numerator * (unit // losses[run].denominator) for run in runs]
    least = min(wholes)
    numerators = [rate.numerator * (whole - least) for whole in wholes]
    denominator = rate.denominator * unit
    bits, drawn = BITS, source.integer_below(1 << BITS)
    while True:
        lower, upper = _cumulative_weights(numerators, denominator, counts, bits)
        # U lies in [drawn, drawn + 1) / 2**bits. The run r is decided if even the whole of
        # it, times the total weight, lies between the weights below r and those up to r.
        end = -((-(drawn + 1) * upper[-1]) >> bits)
        at = bisect_left(lower, end) - 1
        if at < len(runs) and drawn * lower[-1] >= upper[at] << bits:
            return runs[at]
        drawn = drawn << bits | source.integer_below(1 << bits)
        bits *= 2


def median_weights(rate: Fraction, count: int) -> Limbs:
    """Return whole weights of the losses 0, 1/2, 1, ..., count/2 that fall as the rate allows.

    f(0) = 2**160 and f(u + 1/2) = ceil(f(u) a / 2**64) with a = ceil(2**64 exp(-rate/2)). They
    end where they become constant: every greater loss has the weight of the last.

    1 <= f(u) / f(u + 1/2) <= exp(rate/2) at every rate, as a and each weight are rounded up: a draw
    by these weights costs no more than the exponential mechanism of that rate. They become constant
    some 220/rate steps from the top where the rate is about 1 and earlier where it is small; at
    once where rate/2 is below 2**-64 and a is 2**64, so that the draw looks at no loss.
    """
    if rate < 0:
        raise ValueError("rate must be at least 0")
    found = exponential(rate.numerator, 2 * rate.denominator, RATIO_PLACES)
    # 2**64 exp(-rate/2), rounded up, but at most 1, as the exponential is: weights must not rise.
    ratio = min(-(-(found + SLACK) >> (RATIO_PLACES - RATIO_BITS)), 1 << RATIO_BITS)
    weight, limbs = 1 << TOP_BITS, bytearray()
    for _ in range(count + 1):
        limbs += weight.to_bytes(4 * LIMBS, "little")
        lighter = -(-weight * ratio >> RATIO_BITS)
        if lighter == weight:
            break
        weight = lighter
    return np.frombuffer(limbs, dtype="<u4").astype(np.uint32).reshape(-1, LIMBS)


def draw_weighted(sizes: NDArray[np.int64], weights: Limbs, source: RandomSource) -> int:
    """Draw an index with probability proportional to its size times its weight, exactly."""
    n_limbs = weights.shape[1]
    limbs = np.empty((-(-len(sizes) // STRETCH), n_limbs + 2), dtype=np.uint32)
    kernel.stretch_sums(sizes, weights, STRETCH, limbs)
    sums = kernel.whole_numbers(limbs)
    drawn, number = source.integer_below(sum(sums)), 0
    while drawn >= sums[number]:
        drawn, number = drawn - sums[number], number + 1
    own = slice(number * STRETCH, (number + 1) * STRETCH)
    products = map(mul, sizes[own].tolist(), kernel.whole_numbers(weights[own]))
    return own.start + bisect_right([*itertools.accumulate(products)], drawn)


def _cumulative_weights(
    numerators: Sequence[int], denominator: int, counts: Sequence[int], bits: int
) -> tuple[list[int], list[int]]:
    """Bound 2**bits times the sums of the first 0, 1, ... weights, from below and from above.

    The weight of a run is count * exp(-numerator / denominator).
    """
    # As many places as count << bits has bits at most: each bound is then some units wide.
    places = bits + sum(counts).bit_length()
    lower, upper = [0], [0]
    for numerator, count in zip(numerators, counts, strict=True):
        found = exponential(numerator, denominator, places)
        lower.append(lower[-1] + ((count << bits) * max(found - SLACK, 0) >> places))
        upper.append(upper[-1] - (-(count << bits) * (found + SLACK) >> places))
    return lower, upper


def exponential(numerator: int, denominator: int, places: int) -> int:
    """Return 2**places exp(-numerator/denominator), to less than SLACK, for a fraction from 0 on.

    By Taylor's series of the exponent over 2**halvings, squared as often, in whole units of
    2**-work. A term is cut off by less than 2 units, and there are fewer than work/8 + 3, as
    the exponent in the series is below 2**-8; a squaring doubles the error and adds 1. In all
    that is less than 2**halvings (work/2 + 9) units, less than half a unit of 2**-places,
    and what is cut off at last less than one.
    """
    if numerator >= places * denominator:
        return 0  # exp(-places) is less than one unit
    halvings = 8 + places.bit_length()
    work = places + 2 * halvings
    exponent = (numerator << (work - halvings)) // denominator
    power = term = 1 << work
    index = 0
    while term:
        index += 1
        term = (term * -exponent >> work) // index
        power += term
    for _ in range(halvings):
        power = power * power >> work
    return power >> 2 * halvings
