"""Joining clusters until none holds equal values only, to be read rather than run fast."""

from fractions import Fraction
from itertools import accumulate, combinations, pairwise


def loss(in_order, sizes):
    """Squared distances to the means of runs of these sizes, exactly."""
    total = Fraction(0)
    for start, end in pairwise(accumulate(sizes, initial=0)):
        run = [int(number) for number in in_order[start:end]]
        total += sum(number**2 for number in run) - Fraction(sum(run) ** 2, len(run))
    return total


def constant(in_order, sizes):
    """Whether some run of these sizes holds equal values only."""
    ends = accumulate(sizes, initial=0)
    return any(in_order[start] == in_order[end - 1] for start, end in pairwise(ends))


def joinings(sizes):
    """Every way to join consecutive clusters, as sizes."""
    n = len(sizes)
    for n_cuts in range(n):
        for cuts in combinations(range(1, n), n_cuts):
            yield [sum(sizes[start:end]) for start, end in pairwise([0, *cuts, n])]


def least_by_search(in_order, sizes):
    """The least loss of all joinings that leave no run of equal values."""
    return min(loss(in_order, others) for others in joinings(sizes)
               if not constant(in_order, others))  # fmt: skip


def least(in_order, sizes):
    """The same by a quadratic dynamic programme over the clusters' ends."""
    numbers = [int(number) for number in in_order]
    sums = list(accumulate(numbers, initial=0))
    squares = list(accumulate((number**2 for number in numbers), initial=0))
    ends = list(accumulate(sizes))
    best = {0: Fraction(0)}
    for end in ends:
        options = [
            best[start] + squares[end] - squares[start]
            - Fraction((sums[end] - sums[start]) ** 2, end - start)
            for start in best
            if numbers[start] < numbers[end - 1]
        ]  # fmt: skip
        if options:
            best[end] = min(options)
    return best[ends[-1]]
