"""Joint clusters formed anew for every neighbour, by brute force: to be read, not to run fast.

Records are tuples of whole numbers, a domain is a list of pairs of bounds, one for each
attribute. Everything is found by trying it.
"""

from functools import lru_cache
from itertools import accumulate, pairwise, product
from math import fsum


@lru_cache(maxsize=2**18)
def key(record, bounds):
    """Squared distance from the corner of lower bounds, in float64 and in attribute order."""
    total = 0.0
    for value, (lower, upper) in zip(record, bounds, strict=True):
        distance = float(value - lower) / float(max(upper - lower, 1))
        total += distance * distance
    return total


def in_order(records, bounds):
    """The records by distance, ties by their values."""
    bounds = tuple(bounds)
    return sorted(records, key=lambda record: (key(record, bounds), record))


def sums(records, sizes, bounds, attribute):
    """Sums of an attribute over consecutive runs of the ordered records."""
    ordered = [record[attribute] for record in in_order(records, bounds)]
    return [sum(ordered[i:j]) for i, j in pairwise(accumulate(sizes, initial=0))]


def grid(bounds):
    """Every record of the domain."""
    return product(*(range(lower, upper + 1) for lower, upper in bounds))


def loss(records, other, sizes, bounds, attribute, scales):
    """What telling one table from the other can cost: sum of |change| / scale."""
    before = sums(records, sizes, bounds, attribute)
    after = sums(other, sizes, bounds, attribute)
    changed = zip(before, after, scales, strict=True)
    return fsum(abs(old - new) / scale for old, new, scale in changed if old != new)


def worst_loss(records, sizes, bounds, attribute, scales):
    """The loss of the worst of all tables that differ in one record."""
    return max(
        loss(records, [*records[:i], new, *records[i + 1 :]], sizes, bounds, attribute, scales)
        for i in range(len(records))
        for new in grid(bounds)
    )


def extremes(first, last, bounds, attribute):
    """The least and the greatest value of an attribute among records from first to last."""
    bounds = tuple(bounds)
    lowest, highest = (key(first, bounds), first), (key(last, bounds), last)
    between = [
        record[attribute]
        for record in grid(bounds)
        if lowest <= (key(record, bounds), record) <= highest
    ]
    return min(between), max(between)


def paths(roles_upwards, roles_downwards, staying):
    """Every path as its costs by cluster: staying, from p up to q, from p down to q.

    Roles are the leaving, passing and arriving costs of the clusters.
    """
    n_clusters = len(staying)
    for p, q in product(range(n_clusters), repeat=2):
        costs = [0.0] * n_clusters
        if p == q:
            costs[p] = staying[p]
        else:
            leaving, passing, arriving = roles_upwards if p < q else roles_downwards
            costs[p], costs[q] = leaving[p], arriving[q]
            for between in range(min(p, q) + 1, max(p, q)):
                costs[between] = passing[between]
        yield costs


def expected_noise(scales, sizes):
    """Expected squared noise over the records: 2 t^2 / s for each cluster."""
    return fsum(2 * scale**2 / size for scale, size in zip(scales, sizes, strict=True))
