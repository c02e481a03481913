"""Canonne, Kamath and Steinke's exact discrete Gaussian, from a stream of 64-bit words."""

from fractions import Fraction
from math import exp, isqrt

WORD = 1 << 64


def bernoulli(probability, words):
    """True where a uniform real number, known word by word, is below the probability."""
    low, width = Fraction(0), Fraction(1)
    while True:
        width /= WORD
        low += next(words) * width
        if low >= probability:
            return False
        if low + width <= probability:
            return True


def exponential(exponent, words):
    """Bernoulli(exp(-exponent)), for a fraction of at least 0 (Algorithm 1)."""
    while exponent >= 1:
        if not alternating(Fraction(1), words):
            return False
        exponent -= 1
    return alternating(exponent, words)


def alternating(exponent, words):
    """The same for a fraction of at most 1: 1 - exponent + exponent^2/2! - ..."""
    trial = 1
    while bernoulli(exponent / trial, words):
        trial += 1
    return trial % 2 == 1


def scale(variance):
    """The scale of the proposals: floor(sigma) + 1."""
    return isqrt(variance.numerator // variance.denominator) + 1


def refusal(proposal, variance):
    """The exponent by which a proposal is refused: (|y| - variance/t)^2 / (2 variance)."""
    return (abs(proposal) - variance / scale(variance)) ** 2 / (2 * variance)


def discrete_gaussian(variance, proposals, words):
    """The proposals, discrete Laplace draws of that scale, that are kept (Algorithm 3)."""
    return [proposal for proposal in proposals if exponential(refusal(proposal, variance), words)]


def law(variance, edge):
    """The probabilities of -edge, ..., edge and, at both ends, of what lies beyond."""
    far = edge + 40 + int(40 * float(variance) ** 0.5)
    weights = {z: exp(-z * z / (2 * float(variance))) for z in range(-far, far + 1)}
    total = sum(weights.values())
    inside = [weights[z] / total for z in range(-edge, edge + 1)]
    tail = sum(weights[z] for z in range(edge + 1, far + 1)) / total
    return [tail, *inside, tail]
