"""Optimal partitions of sorted numbers, in exact arithmetic, to be read rather than run fast."""

from fractions import Fraction
from itertools import accumulate, pairwise
from math import lcm


def exact(number):
    """Python's own whole number or fraction of the same value."""
    fraction = Fraction(number)
    return fraction.numerator if fraction.denominator == 1 else fraction


def cost(run, penalty=0):
    """Squared distances of a run's numbers to their mean, and penalty / size."""
    numbers = [exact(number) for number in run]
    squares = sum(number**2 for number in numbers)
    return squares - Fraction(sum(numbers) ** 2 - exact(penalty)) / len(numbers)


def cost_of_sizes(in_order, sizes, penalty=0):
    """Sum of the costs of the runs of these sizes."""
    ends = accumulate(sizes, initial=0)
    return sum(cost(in_order[start:end], penalty) for start, end in pairwise(ends))


def all_sizes(n, k, longest):
    """Every way to cut n numbers into runs of k to ``longest``."""
    if n == 0:
        yield []
    for size in range(k, min(longest, n) + 1):
        for others in all_sizes(n - size, k, longest):
            yield [size, *others]


def least_by_search(in_order, k, longest, penalty=0):
    """The least cost over all partitions into runs of k to ``longest``."""
    return min(
        cost_of_sizes(in_order, sizes, penalty) for sizes in all_sizes(len(in_order), k, longest)
    )


def least(in_order, k, longest, penalty=0):
    """The same by dynamic programming: least[j] is the least cost of the first j numbers.

    Costs are multiplied by a common multiple of all sizes: whole numbers stay whole.
    """
    numbers, penalty = [exact(number) for number in in_order], exact(penalty)
    sums = list(accumulate(numbers, initial=0))
    squares = list(accumulate((number**2 for number in numbers), initial=0))
    multiple = lcm(*range(k, longest + 1))
    least = {0: 0}
    for end in range(k, len(numbers) + 1):
        least[end] = min(
            least[cut]
            + (squares[end] - squares[cut]) * multiple
            - ((sums[end] - sums[cut]) ** 2 - penalty) * (multiple // (end - cut))
            for cut in range(max(0, end - longest), end - k + 1)
            if cut in least
        )
    return Fraction(least[len(numbers)]) / multiple
