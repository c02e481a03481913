"""The exponential mechanism in plain rational arithmetic, and its loss over neighbours.

Exponentials are Taylor sums between whole numbers, without any library's help.
"""

from fractions import Fraction
from itertools import combinations_with_replacement, pairwise

import numpy as np

PLACES = 400
ONE = 1 << PLACES


def exponential(exponent):
    """Whole bounds on 2**PLACES exp(-exponent), for a fraction from 0 to some hundreds."""
    # exp(+exponent) from below and above: all terms are positive, each cut off or rounded up.
    low = high = low_term = high_term = ONE
    index = 0
    while high_term > 1 or index < 2 * exponent:
        index += 1
        step = exponent / index
        low_term = low_term * step.numerator // step.denominator
        high_term = -(-high_term * step.numerator // step.denominator)
        low, high = low + low_term, high + high_term
    # From here on each term is less than half the one before: the rest is below the last.
    high += high_term
    return ONE * ONE // high, -(-ONE * ONE // low)


def falling(rate, count):
    """Whole weights of the losses 0, 1/2, ... by their recursion, until they are constant."""
    low, _ = exponential(rate / 2)
    ratio, found = -(-low >> (PLACES - 64)), [1 << 160]
    while len(found) <= count and (following := -((-found[-1] * ratio) >> 64)) != found[-1]:
        found.append(following)
    return found


def limbs(weights, n_limbs=6):
    """Whole weights in limbs of 32 bits, the least first."""
    rows = [[weight >> 32 * limb & 0xFFFFFFFF for limb in range(n_limbs)] for weight in weights]
    return np.array(rows, dtype=np.uint32).reshape(-1, n_limbs)


def thresholds(losses, multiplicities, rate):
    """The shares of the first 1, 2, ... runs, each to a few hundred bits."""
    least = min(loss for loss, many in zip(losses, multiplicities, strict=True) if many)
    weights = [
        many * exponential(rate * (loss - least))[0] if many else 0
        for loss, many in zip(losses, multiplicities, strict=True)
    ]
    return [Fraction(sum(weights[: run + 1]), sum(weights)) for run in range(len(weights))]


def runs(codes, candidates):
    """Runs of the candidates 1, ..., M with the same number of codes below them.

    Pairs (how many codes are below, how many candidates), of which some may have none.
    """
    ends = [0, *sorted(codes), candidates]
    return [(below, end - start) for below, (start, end) in enumerate(pairwise(ends))]


def neighbours(places, n_records):
    """All pairs of tables of records at given places that differ in one record."""
    for rest in combinations_with_replacement(places, n_records - 1):
        for one in places:
            for other in places:
                if one != other:
                    yield (*rest, one), (*rest, other)


def median_law(codes, candidates, cuts, weight):
    """Whole weights of the candidates `cuts` in the draw of a median, and the sum of all.

    ``weight(u)`` is that of the loss u/2; there are as many candidates as `candidates` says.
    """
    n_records = len(codes)

    def weighed(below):
        return weight(abs(2 * below - n_records))

    total = sum(many * weighed(below) for below, many in runs(codes, candidates))
    return [weighed(sum(code < cut for code in codes)) for cut in cuts], total


def worst_ratios(places, n_records, candidates, cuts, weight):
    """The largest ratio of probabilities over neighbours, and of two such ratios.

    The logarithm of the first is the pure loss, that of the second the range of the loss.
    """
    loss = spread = Fraction(0)
    for one, other in neighbours(places, n_records):
        before, total_before = median_law(one, candidates, cuts, weight)
        after, total_after = median_law(other, candidates, cuts, weight)
        ratios = [Fraction(p, q) for p, q in zip(before, after, strict=True)]
        loss = max(loss, max(ratios) * Fraction(total_after, total_before))
        spread = max(spread, max(ratios) / min(ratios))
    return loss, spread


def at_most_exponential(ratio, exponent):
    """Whether ratio <= exp(exponent), to a few hundred bits, for a ratio above 0."""
    return ratio * exponential(exponent)[1] <= ONE
