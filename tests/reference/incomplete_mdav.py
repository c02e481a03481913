"""MDAV and V-MDAV where being without a value is a value, to be read rather than run fast.

A number that a record lacks is None; a category that it lacks is one more category, so that
`reference.mixed_mdav` has nothing new to say of it. This file fixes the arithmetic of the numbers:
float64, terms added in their order. Of a set of n records, of whom so many have a value, it keeps
the sum of these and the sum of their squares, from which each record is taken off as it leaves.
"""

from reference import mixed_mdav
from reference.mdav import standardised, total


def among_present(column):
    """Z-scores of the values that there are; None where there is none."""
    present = [value for value in column if value is not None]
    scores = iter([row[0] for row in standardised([[value] for value in present])])
    return [None if value is None else next(scores) for value in column]


def gap_of(column):
    """How far a missing value is from any other: the mean squared difference of those there are.

    Over all ordered pairs, each with itself too; z-scores with n - 1 make it 2 (n - 1) / n.
    """
    n = sum(value is not None for value in column)
    return 2 * ((n - 1) / n) if n else 0.0


def of_numbers(one, other, gaps):
    """Squared distances of two records, number by number."""
    for a, b, gap in zip(one, other, gaps, strict=True):
        if a is None or b is None:
            yield 0.0 if a is b else gap
        else:
            yield (a - b) * (a - b)


def distance(one, other, gaps, weights):
    """Squared distance of two records, each its numbers and its categories."""
    differing = [
        0.0 if a == b else 2 * half for a, b, half in zip(one[1], other[1], weights, strict=True)
    ]
    return total([*of_numbers(one[0], other[0], gaps), *differing])


def summed(column, n):
    """What is kept of an attribute of a set: the records, those with a value, sum and squares."""
    present = [value for value in column if value is not None]
    return n, len(present), total(present), total([value * value for value in present])


def to_centroid(value, of_set, gap):
    """Squared distance of a value to a set's centroid.

    The mean of its distances to the values of the set, less half the mean of these among
    themselves. With p the share of the set that has a value and q = 1 - p, the mean and the
    variance of these: p (value - mean)^2 + p q variance + q^2 gap, and p^2 (gap - variance) for
    one that is missing.
    """
    n, n_present, of_values, of_squares = of_set
    if not n_present:
        return 0.0 if value is None else gap
    share, absent = n_present / n, (n - n_present) / n
    mean = of_values / n_present
    variance = of_squares / n_present - mean * mean
    if value is None:
        return share * share * (gap - variance)
    among = share * absent * variance + absent * absent * gap
    return share * ((value - mean) * (value - mean)) + among


def mdav(rows, categories, k, units=None):
    """Cluster number of each record; with units clusters hold records of k of them."""
    return mixed_mdav.formed(_Clusters(rows, categories, units), k)


def v_mdav(rows, categories, k, gamma, units=None):
    """Cluster number of each record; a cluster may take up to k - 1 units more than k."""
    return mixed_mdav.formed_variably(_Clusters(rows, categories, units), k, gamma)


class _Clusters(mixed_mdav.Clusters):
    """Clusters being formed of records that may lack numbers."""

    def __init__(self, rows, categories, units):
        columns = [list(column) for column in zip(*rows, strict=True)]
        self.gaps = [gap_of(column) for column in columns]
        scores = [among_present(column) for column in columns]
        numbers = [list(row) for row in zip(*scores, strict=True)] or [[] for _ in categories]
        self.records = list(zip(numbers, categories, strict=True))
        self.weights = mixed_mdav.halves(categories)
        self.unassigned = list(range(len(categories)))
        self.sums = [summed(column, len(column)) for column in scores]
        self.members = []
        self.units = list(range(len(categories))) if units is None else units

    def between(self, one, other):
        return distance(self.records[one], self.records[other], self.gaps, self.weights)

    def centroid_of_unassigned(self):
        return list(self.sums), self.counts(self.unassigned)

    def apart(self, record, centroid):
        numbers, categories = self.records[record]
        squares = [
            to_centroid(value, of_set, gap)
            for value, of_set, gap in zip(numbers, centroid[0], self.gaps, strict=True)
        ]
        return total([*squares, *mixed_mdav.apart(categories, centroid[1], self.weights)])

    def take_off(self, record):
        left = []
        numbers = self.records[record][0]
        for value, (n, n_present, of_values, squares) in zip(numbers, self.sums, strict=True):
            if value is None:
                left.append((n - 1, n_present, of_values, squares))
            else:
                left.append((n - 1, n_present - 1, of_values - value, squares - value * value))
        self.sums = left

    def centroid_of(self, members):
        places = sorted(members)
        columns = [[self.records[i][0][a] for i in places] for a in range(len(self.gaps))]
        return [summed(column, len(places)) for column in columns], self.counts(members)
