"""Sums over columns, exact until they are rounded once; None where a cell is missing."""

import math


def sums(values):
    """Return how many values there are, their sum, the lowest and the highest."""
    present = [value for value in values if value is not None]
    ends = (min(present), max(present)) if present else (math.inf, -math.inf)
    return len(present), math.fsum(present), *ends


def squares(values, mean):
    """Return the sum of the squared deviations from a mean."""
    return math.fsum((value - mean) ** 2 for value in values if value is not None)


def errors(before, after, mean):
    """Return the number of cells that both have, and sums over these.

    Of the errors, of their squares, and of the squared deviations before from a mean.
    """
    both = [(x, y) for x, y in zip(before, after, strict=True) if None not in (x, y)]
    return (
        len(both),
        math.fsum(y - x for x, y in both),
        math.fsum((y - x) ** 2 for x, y in both),
        math.fsum((x - mean) ** 2 for x, _ in both),
    )
