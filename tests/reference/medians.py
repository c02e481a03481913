"""Recursive medians by their definition: a tree of exact distributions.

Node (i, j) has the candidates strictly between i and j, and the records of codes i to j - 1. Its
cut is drawn in proportion to the weight of |records below it - half the records|. Cut number h of
2**depth parts has a share of h / 2**depth below it; a node without a candidate is not cut.
"""

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise


def node_weight(codes, i, j, cut, weight):
    """Whole weight of a candidate of a node; ``weight(u)`` is that of the loss u/2."""
    inside = [code for code in codes if i <= code < j]
    return weight(abs(2 * sum(code < cut for code in inside) - len(inside)))


def node_classes(codes, i, j, weight, also=()):
    """The candidates of a node in runs of equal weight: (the first of them, how many, weight).

    Runs end at every code in ``also`` too.
    """
    ends = sorted({i, j - 1, *(code for code in (*codes, *also) if i < code < j)})
    return [
        (start + 1, end - start, node_weight(codes, i, j, end, weight))
        for start, end in pairwise(ends)
    ]


def node_probability(codes, i, j, cut, weight):
    """Probability that a node is cut at a candidate of its."""
    total = sum(many * own for _, many, own in node_classes(codes, i, j, weight))
    return Fraction(node_weight(codes, i, j, cut, weight), total)


def path_probability(codes, n_candidates, weights, path):
    """Probability that the cuts are those of a path: by number of cut the candidate."""
    depth = len(weights)
    ends = {0: 0, 1 << depth: n_candidates + 1, **path}
    probability = Fraction(1)
    for level, weight in enumerate(weights):
        step = 1 << (depth - level)
        for left in range(0, 1 << depth, step):
            middle = left + step // 2
            if middle in path:
                i, j = ends[left], ends[left + step]
                probability *= node_probability(codes, i, j, path[middle], weight)
    return probability


def law(codes, n_candidates, weights):
    """Probability of every outcome, a tuple of pairs (number of the cut, candidate)."""
    depth = len(weights)
    found = {}

    def grow(ends, probability, waiting):
        if not waiting:
            cuts = {number: cut for number, cut in ends.items() if 0 < number < 1 << depth}
            found[tuple(sorted(cuts.items()))] = probability
            return
        (level, left), *rest = waiting
        step = 1 << (depth - level)
        i, j = ends.get(left), ends.get(left + step)
        if i is None or j is None or j - i < 2:
            grow(ends, probability, rest)
            return
        for cut in range(i + 1, j):
            own = node_probability(codes, i, j, cut, weights[level])
            grow({**ends, left + step // 2: cut}, probability * own, rest)

    nodes = [
        (level, left)
        for level in range(depth)
        for left in range(0, 1 << depth, 1 << (depth - level))
    ]
    grow({0: 0, 1 << depth: n_candidates + 1}, Fraction(1), nodes)
    return found


def place(position, lower, upper, bend=10, digits=60):
    """Place of a position on the scale of the candidates, in many digits: from 0 to 1."""
    with localcontext() as context:
        context.prec = digits
        zero = min(max(0, lower), upper)

        def bent(x):
            distance = abs(x - zero)
            height = (1 + Decimal(distance.numerator) / (bend * distance.denominator)).ln()
            return -height if x < zero else height

        low, high = bent(Fraction(lower)), bent(Fraction(upper + 1))
        even = (position - lower) / Fraction(upper + 1 - lower)
        here = Decimal(even.numerator) / Decimal(even.denominator)
        return (here + (bent(position) - low) / (high - low)) / 2


def code(position, lower, upper, n_candidates):
    """How many candidates lie at or below a position, and how near it is to the next border."""
    with localcontext() as context:
        context.prec = 60
        reached = place(position, lower, upper) * (n_candidates + 1)
        whole = math.floor(reached)
        return min(max(whole, 0), n_candidates), min(reached - whole, whole + 1 - reached)
