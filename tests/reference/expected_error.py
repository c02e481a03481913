"""Expected squared errors by summing over every released value, and over every record."""

import math
from decimal import Decimal, localcontext


def laplace_tail(distance, scale):
    """P(Z >= distance) of Laplace noise."""
    if scale == 0:
        return float(distance <= 0)
    tail = 0.5 * math.exp(-abs(distance) / scale)
    return tail if distance >= 0 else 1 - tail


def uniform_tail(distance, delta):
    """P(noise >= distance) of the uniform law on (-delta, delta)."""
    return min(1.0, max(0.0, (delta - distance) / (2 * delta)))


def gaussian_tail(distance, delta):
    """P(noise >= distance) of the Gaussian law of variance delta^2/3."""
    return 0.5 * math.erfc(distance / (delta * math.sqrt(2 / 3)))


def triangular_tail(distance, delta):
    """P(noise >= distance) of the symmetric triangular law of variance delta^2/3."""
    reach = delta * math.sqrt(2)
    beyond = max(0.0, 1 - abs(distance) / reach) ** 2 / 2
    return beyond if distance >= 0 else 1 - beyond


def scaled_laplace_tail(distance, delta):
    """P(noise >= distance) of the Laplace law of variance delta^2/3."""
    return laplace_tail(distance, delta / math.sqrt(6))


TAILS = {
    "uniform": uniform_tail,
    "gaussian": gaussian_tail,
    "triangular": triangular_tail,
    "laplace": scaled_laplace_tail,
}


def law_of_rounded(middle, tail, spread, lower, upper):
    """Probability of each whole number from lower to upper: middle plus noise, rounded."""
    released = range(lower, upper + 1)
    reached = [1.0, *(tail(y - 0.5 - middle, spread) for y in released[1:]), 0.0]
    return {
        y: above - beyond
        for y, above, beyond in zip(released, reached[:-1], reached[1:], strict=True)
    }


def centroid_error(members, centroid, scale, lower, upper):
    """Expected error of a cluster released as its centroid with noise, clamped, rounded."""
    if scale == 0:
        return math.fsum((x - round(centroid)) ** 2 for x in members)
    law = law_of_rounded(centroid, laplace_tail, scale, lower, upper)
    return math.fsum(p * (x - y) ** 2 for y, p in law.items() for x in members)


def noise_error(law, delta, values, bounds):
    """Expected error of whole values with rounded noise of their own, clamped."""
    total = []
    for x in values:
        probabilities = law_of_rounded(0, TAILS[law], delta, bounds[0] - x, bounds[1] - x)
        total += [p * moved**2 for moved, p in probabilities.items()]
    return math.fsum(total)


def interval_error(intervals):
    """Expected error where every record gets any value of its interval, all equally likely."""
    return math.fsum(
        (x - y) ** 2 / len(interval) for interval in intervals for x in interval for y in interval
    )


def transition_error(weights, values):
    """Expected error where value k becomes l in proportion to weights[k][l]."""
    return math.fsum(
        weight / sum(weights[k]) * (k - code) ** 2
        for k in values
        for code, weight in enumerate(weights[k])
    )


def tail_sums(scale, nearest, count):
    """The geometric sums of Laplace tails by their textbook formulas, with 300 digits."""
    if scale == 0 or count == 0:
        return 0.0, 0.0
    with localcontext() as context:
        context.prec = 300
        scale, nearest, count = Decimal(scale), Decimal(nearest), Decimal(count)
        ratio, power = (-1 / scale).exp(), (-count / scale).exp()
        first = (-nearest / scale).exp() / 2
        plain = (1 - power) / (1 - ratio)
        odd = ((1 + ratio) * plain - 2 * count * power) / (1 - ratio)
        return float(first * plain), float(first * odd)
