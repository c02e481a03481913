"""Attacks on a release by comparing everybody with every row and drawing every draw."""

from fractions import Fraction
from itertools import combinations

EQUAL, AT_LEAST, AT_MOST = 1, 2, 3


def squared_distance(one, other, weights, is_category):
    """Weighted squared distance; a category that differs counts as its weight."""
    total = 0.0
    for x, y, weight, category in zip(one, other, weights, is_category, strict=True):
        if category:
            total += weight if x != y else 0.0
        else:
            total += (x - y) * (x - y) * weight
    return total


def distances(person, rows, weights, is_category):
    """Squared distances of a person to all rows."""
    return [squared_distance(person, row, weights, is_category) for row in rows]


def nearest_rows(person, rows, weights, is_category):
    """Positions of the rows at the least distance."""
    to_rows = distances(person, rows, weights, is_category)
    return [i for i, distance in enumerate(to_rows) if distance == min(to_rows)]


def link_successes(people, rows, weights, is_category):
    """Sum of 1/|G| over the people whose own row is in G."""
    total = Fraction(0)
    for i, person in enumerate(people):
        near = nearest_rows(person, rows, weights, is_category)
        total += Fraction(i in near, len(near))
    return total


def inferred_share(person, secret, rows, secrets, weights, is_category, reach):
    """Share of the nearest rows with a secret within reach of the person's."""
    near = nearest_rows(person, rows, weights, is_category)
    right = [secret - reach <= secrets[i] <= secret + reach for i in near]
    return Fraction(sum(right), len(near))


def nearest_sets(person, rows, weights, is_category, neighbours):
    """All sets of so many nearest rows, each equally likely: ties drawn at random."""
    to_rows = distances(person, rows, weights, is_category)
    radius = sorted(to_rows)[neighbours - 1]
    inside = {i for i, distance in enumerate(to_rows) if distance < radius}
    tied = [i for i, distance in enumerate(to_rows) if distance == radius]
    return [inside | set(drawn) for drawn in combinations(tied, neighbours - len(inside))]


def sharing_chance(sets, other_sets):
    """Chance that two sets drawn independently have a row in common."""
    shared = [bool(one & other) for one in sets for other in other_sets]
    return Fraction(sum(shared), len(shared))


def satisfies(x, comparison, value):
    """Whether a value satisfies a comparison."""
    return {0: True, EQUAL: x == value, AT_LEAST: x >= value, AT_MOST: x <= value}[comparison]


def count_selected(rows, comparisons, values):
    """How many rows satisfy all comparisons."""
    return sum(
        all(satisfies(*three) for three in zip(row, comparisons, values, strict=True))
        for row in rows
    )


def chance_of_one(count, n_records, n_drawn):
    """Share of the subsets that hold exactly one of the records selected."""
    subsets = list(combinations(range(n_records), n_drawn))
    return Fraction(sum(sum(i < count for i in subset) == 1 for subset in subsets), len(subsets))


def deviation_intervals(released, reach):
    """Ends of the intervals around released values."""
    return [(y - reach, y + reach) for y in released]


def rank_intervals(released, tolerance):
    """Ends of the intervals so many ranks below and above all values equal to one."""
    in_order = sorted(released)
    ends = []
    for value in released:
        equal = [rank for rank, other in enumerate(in_order) if other == value]
        within = [
            other
            for rank, other in enumerate(in_order)
            if min(abs(rank - own) for own in equal) <= tolerance * len(released)
        ]
        ends.append((min(within), max(within)))
    return ends


def disclosed_share(values, intervals):
    """Share of the people whose value lies in their own interval."""
    inside = [low <= x <= high for x, (low, high) in zip(values, intervals, strict=True)]
    return Fraction(sum(inside), len(values))


def disclosed_share_at_random(values, intervals):
    """The same for an interval of anybody, over all pairs."""
    inside = [low <= x <= high for x in values for low, high in intervals]
    return Fraction(sum(inside), len(inside))


def area_under_curve(members, others):
    """Share of the pairs in which the member is nearer, ties counting half."""
    points = [(m < o) + (m == o) * Fraction(1, 2) for m in members for o in others]
    return sum(points) / len(points)
