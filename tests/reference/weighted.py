"""Weighted moments and shares in rationals, to be read rather than run fast."""

from fractions import Fraction


def moments(values, weights):
    """Mean, variance and total of the values present, None where one is not defined."""
    pairs = [
        (Fraction(value), Fraction(weight))
        for value, weight in zip(values, weights, strict=True)
        if value is not None and weight > 0
    ]
    if not pairs:
        return None, None, None
    size = sum(weight for _, weight in pairs)
    total = sum(weight * value for value, weight in pairs)
    mean = total / size
    if len(pairs) == 1:
        return mean, None, total
    squares = sum(weight * (value - mean) ** 2 for value, weight in pairs)
    return mean, squares / size * Fraction(len(pairs), len(pairs) - 1), total


def shares(categories, values, weights):
    """The part of all weights that each category has."""
    own = dict.fromkeys(categories, Fraction(0))
    for value, weight in zip(values, weights, strict=True):
        own[value] += Fraction(weight)
    return [own[category] / sum(own.values()) for category in categories]


def total_variation(before, after):
    """Half the sum of the differences."""
    return sum(abs(p - q) for p, q in zip(before, after, strict=True)) / 2
