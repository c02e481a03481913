"""Neighbourhood counts by looking at every pair of records."""

import math


def weight(distance):
    """The probability that uniform noise in (-1, 1) brings 0 within 2 of a distance."""
    if distance <= 1:
        return 1.0
    if distance < 3:
        return (3 - distance) / 2
    return 0.0


def expected(values, delta):
    """T_i: the sum over all records of the weight of their distance in deltas."""
    return [math.fsum(weight(abs(other - x) / delta) for other in values) for x in values]


def original(values, delta):
    """How many values, itself included, lie less than 2 delta from each."""
    return [sum(abs(other - x) < 2 * delta for other in values) for x in values]


def observed(values, protected, delta):
    """How many protected values lie within 2 delta of each original one."""
    return [sum(abs(y - x) <= 2 * delta for y in protected) for x in values]
