"""Canonne, Kamath and Steinke's exact discrete Laplace, from a stream of 64-bit words.

The order in which words are used is that of the kernel, so that the two agree word for word.
"""

from math import factorial

WORD = 1 << 64
DERANGEMENTS_20 = sum((-1) ** i * factorial(20) // factorial(i) for i in range(21))


def uniform_below(bound, words):
    """Lemire's uniform integer in [0, bound): the upper half of a product, or try again."""
    while True:
        product = next(words) * bound
        if product % WORD >= WORD % bound:
            return product // WORD


def integer_below(bound, words):
    """A uniform integer in [0, bound) of any size: enough bits, or try again."""
    n_bits = (bound - 1).bit_length()
    n_words = -(-n_bits // 64)
    while True:
        drawn = sum(next(words) << (64 * place) for place in range(n_words))
        drawn >>= 64 * n_words - n_bits
        if drawn < bound:
            return drawn


def exponential_of_fraction(numerator, denominator, words):
    """Bernoulli(exp(-numerator/denominator)), for a fraction in [0, 1] (Algorithm 1)."""
    trial = 1
    while True:
        if trial > 1 and uniform_below(trial, words) != 0:
            break
        if uniform_below(denominator, words) >= numerator:
            break
        trial += 1
    return trial % 2 == 1


def one_over_e(words):
    """Bernoulli(1/e): a uniform number below 20! against the derangements of 20."""
    while True:
        word = next(words)
        if word < 7 * factorial(20):
            break
    draw = word % factorial(20)
    if draw != DERANGEMENTS_20 - 1:
        return draw < DERANGEMENTS_20
    divisor, success = 21, True
    while uniform_below(divisor, words) == 0:
        success, divisor = not success, divisor + 1
    return success


def discrete_laplace(scale, words):
    """One draw: the whole number z with probability proportional to exp(-|z|/scale)."""
    while True:
        remainder = uniform_below(scale, words)
        if not exponential_of_fraction(remainder, scale, words):
            continue
        multiple = 0
        while one_over_e(words):
            multiple += 1
        negative = next(words) % 2 == 1
        magnitude = remainder + scale * multiple
        if negative and magnitude == 0:
            continue
        return -magnitude if negative else magnitude


def shuffled(n_items, words):
    """A uniform permutation (Fisher and Yates)."""
    items = list(range(n_items))
    for place in range(n_items):
        other = place + uniform_below(n_items - place, words)
        items[place], items[other] = items[other], items[place]
    return items
