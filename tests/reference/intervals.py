"""Equal-width intervals in exact arithmetic: every number of intervals is tried."""

from fractions import Fraction
from math import floor


def labels(values, n_intervals):
    """The interval of each value: half-open intervals of one width, the last closed."""
    values = [Fraction(value) for value in values]
    lowest, width = min(values), (max(values) - min(values)) / n_intervals
    return [min(floor((value - lowest) / width), n_intervals - 1) for value in values]


def sizes(values, n_intervals):
    """How many values each interval holds."""
    found = labels(values, n_intervals)
    return [found.count(interval) for interval in range(n_intervals)]


def most_intervals(values, k):
    """The largest number of intervals that all hold k values."""
    numbers = range(1, len(values) // k + 1)
    return max(number for number in numbers if min(sizes(values, number)) >= k)
