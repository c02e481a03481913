"""Exact discrete Laplace draws and exact permutations from 64-bit random words.

Sampling follows Canonne, Kamath and Steinke, "The Discrete Gaussian for Differential
Privacy" (2020), Algorithms 1 and 2, in integer arithmetic throughout: no rounding, no
floating point, hence no law but the stated one.

A kernel that finds too few words for the next draw stops before it and says how many
draws it finished and how many words those draws consumed; the caller comes again with
the unconsumed words followed by fresh ones. (Throwing the unconsumed words away would
favour draws that need few words, and so bend the law.) Each word thus serves one draw.
"""

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# 20! is the largest factorial below 2**64; 7 * 20! is its largest multiple below 2**64.
FACTORIAL_20 = np.uint64(2432902008176640000)
SEVEN_FACTORIAL_20 = np.uint64(7 * 2432902008176640000)
# The number of permutations of 20 things that leave none in place: 20!/e, rounded.
DERANGEMENTS_20 = np.uint64(895014631192902121)
SATURATION = 1 << 62

_ZERO = np.uint64(0)
_ONE = np.uint64(1)


@intrinsic
def _multiply_high(_context, _a, _b):
    """Upper 64 bits of the 128-bit product of two 64-bit words: one machine instruction."""

    def generate(_context, builder, _signature, arguments):
        wide = ir.IntType(128)
        a, b = (builder.zext(argument, wide) for argument in arguments)
        high = builder.lshr(builder.mul(a, b), ir.Constant(wide, 64))
        return builder.trunc(high, ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


@numba.njit(cache=True, error_model="numpy")
def _uniform_below(bound, words, at):
    """Uniform integer in [0, bound), and the position behind the last word used.

    Lemire, "Fast Random Integer Generation in an Interval" (2019). The position is
    beyond the end of ``words`` where they did not suffice.
    """
    n_words = words.shape[0]
    while at < n_words:
        word = words[at]
        at += 1
        low = word * bound
        if low >= bound or low >= (_ZERO - bound) % bound:
            return _multiply_high(word, bound), at
    return _ZERO, n_words + 1


@numba.njit(cache=True, error_model="numpy")
def _one_over_e_tail(words, at):
    """Decide the one undecided case of `_one_over_e`, of probability 1/20!.

    The wanted probability is 1 - (1/21)(1 - (1/22)(1 - ...)).
    """
    n_words = words.shape[0]
    success = True
    divisor = np.uint64(21)
    while True:
        draw, at = _uniform_below(divisor, words, at)
        if at > n_words or draw != _ZERO:
            return success, at
        success = not success
        divisor += _ONE


@numba.njit(cache=True, error_model="numpy")
def _one_over_e(words, at):
    """Bernoulli(1/e) from one uniform word below 20!, exactly.

    With D the derangements of 20, 1/e = (D - d)/20! where
    d = 1/21 - 1/(21*22) + ... lies strictly between 0 and 1. So below D - 1 it is a
    success, from D on a failure, and at D - 1 a success with probability 1 - d.
    """
    n_words = words.shape[0]
    while at < n_words:
        word = words[at]
        at += 1
        if word >= SEVEN_FACTORIAL_20:
            continue
        draw = word % FACTORIAL_20
        if draw == DERANGEMENTS_20 - _ONE:
            return _one_over_e_tail(words, at)
        return draw < DERANGEMENTS_20, at
    return False, n_words + 1


@numba.njit(cache=True, error_model="numpy")
def _exponential_of_fraction(numerator, denominator, words, at):
    """Bernoulli(exp(-numerator/denominator)) for a fraction of at most 1 (Algorithm 1)."""
    n_words = words.shape[0]
    trial = _ONE
    while True:
        if trial > _ONE:
            draw, at = _uniform_below(trial, words, at)
            if at > n_words or draw != _ZERO:
                break
        draw, at = _uniform_below(denominator, words, at)
        if at > n_words or draw >= numerator:
            break
        trial += _ONE
    return (trial & _ONE) == _ONE, at


@numba.njit(cache=True, error_model="numpy")
def _discrete_laplace(scale, words, at):
    """One draw of the discrete Laplace law of an integer scale (Algorithm 2, s = 1).

    Magnitudes beyond 2**62 are reported as 2**62.
    """
    n_words = words.shape[0]
    scale = np.uint64(scale)
    while at < n_words:
        remainder, at = _uniform_below(scale, words, at)
        if at > n_words:
            break
        accepted, at = _exponential_of_fraction(remainder, scale, words, at)
        if at > n_words:
            break
        if not accepted:
            continue
        multiple = 0
        while True:
            again, at = _one_over_e(words, at)
            if at > n_words or not again:
                break
            multiple += 1
        if at >= n_words:
            break
        negative = (words[at] & _ONE) == _ONE
        at += 1
        if multiple > (SATURATION - np.int64(remainder)) // np.int64(scale):
            magnitude = SATURATION
        else:
            magnitude = np.int64(remainder) + np.int64(scale) * multiple
        if negative and magnitude == 0:
            continue
        return (-magnitude if negative else magnitude), at
    return 0, n_words + 1


@numba.njit(cache=True, error_model="numpy", nogil=True)
def discrete_laplace(scales, words, out, done):
    """Fill ``out[done:]`` with draws; return the draws done in all and the words consumed.

    Scales are from 1 to 2**62; 0 gives the draw 0. ``done`` draws were finished by earlier calls.
    """
    consumed = 0
    for draw in range(done, scales.shape[0]):
        if scales[draw] == 0:
            out[draw] = 0
            continue
        value, at = _discrete_laplace(scales[draw], words, consumed)
        if at > words.shape[0]:
            return draw, consumed
        out[draw] = value
        consumed = at
    return scales.shape[0], consumed


@numba.njit(cache=True, error_model="numpy", nogil=True)
def uniform(bounds, words, out, done):
    """Fill ``out[done:]`` with uniform whole numbers below each bound, as above."""
    consumed = 0
    for draw in range(done, bounds.shape[0]):
        value, at = _uniform_below(np.uint64(bounds[draw]), words, consumed)
        if at > words.shape[0]:
            return draw, consumed
        out[draw] = np.int64(value)
        consumed = at
    return bounds.shape[0], consumed


@numba.njit(cache=True, error_model="numpy", nogil=True)
def shuffle(items, words, done):
    """Fisher-Yates: exchange ``items[i]`` with a uniform one of ``items[i:]``, from i = done.

    Returns the places done in all and the words consumed.
    """
    consumed = 0
    n_items = items.shape[0]
    for place in range(done, n_items):
        offset, at = _uniform_below(np.uint64(n_items - place), words, consumed)
        if at > words.shape[0]:
            return place, consumed
        other = place + np.int64(offset)
        items[place], items[other] = items[other], items[place]
        consumed = at
    return n_items, consumed
