"""Multivariate partitions, to be read rather than run fast.

A record is its numbers, ordinal ranks among them and None where it has none, and its categories in
no order. This file fixes the arithmetic. Numbers are float64 and every sum is taken from left to
right: the terms of the numbers first, in their order, then those of the categories in theirs;
over records in their order. What the running sum of the unassigned records loses is subtracted
record by record, in the order in which records join their cluster: the one it is formed around,
then the others by nearness. What a category adds is made of whole numbers, counts, and rounded
once. Ties go to the lowest record position, among clusters to the one formed first.

Where numbers are missing, of a set of n records, of whom so many have a value, the sum of these
and the sum of their squares are kept. A category that a record lacks is one more category.
"""

import math
from collections import Counter


def mdav(rows, k, categories=None, units=None):
    """Cluster number of each record; with units clusters hold records of k of them."""
    clusters = _clusters(rows, categories, units)
    while clusters.n_units(clusters.unassigned) >= 2 * k:
        r = clusters.farthest_from_centroid(clusters.centroid_of_unassigned())
        clusters.form_around(r, k)
        s = clusters.farthest_from(r)
        clusters.form_around(s, k)
    while clusters.n_units(clusters.unassigned) >= k:  # once, but where units have more records
        centroid = clusters.centroid_of_unassigned()
        clusters.form_around(clusters.farthest_from_centroid(centroid), k)
    return clusters.with_leftovers()


def v_mdav(rows, k, gamma, categories=None, units=None):
    """Cluster number of each record; a cluster may take up to k - 1 units more than k."""
    clusters = _clusters(rows, categories, units)
    centroid_of_all = clusters.centroid_of_unassigned()
    while clusters.n_units(clusters.unassigned) >= k:
        clusters.form_around(clusters.farthest_from_centroid(centroid_of_all), k)
        cluster = clusters.members[-1]
        while clusters.n_units(cluster) < 2 * k - 1 and len(clusters.unassigned) > 1:
            to_cluster, nearest = min(
                (clusters.between(member, record), record)
                for member in cluster
                for record in clusters.unassigned
            )
            to_unassigned = min(
                clusters.between(nearest, record)
                for record in clusters.unassigned
                if record != nearest
            )
            if not to_cluster < gamma * gamma * to_unassigned:
                break
            clusters.assign(nearest)
    return clusters.with_leftovers()


def _clusters(rows, categories, units):
    lacks = any(value is None for row in rows for value in row)
    return (Incomplete if lacks else Clusters)(rows, categories or [[] for _ in rows], units)


def insensitive_mdav(rows, k, bounds):
    """Cluster number of each record: runs of k in order of distance from the lower corner."""

    def from_corner(row):
        return total(
            [
                ((value - lower) / (upper - lower)) * ((value - lower) / (upper - lower))
                for value, (lower, upper) in zip(row, bounds, strict=True)
                if lower < upper
            ]
        )

    order = sorted(range(len(rows)), key=lambda i: (from_corner(rows[i]), list(rows[i]), i))
    n_clusters = len(rows) // k
    labels = [-1] * len(rows)
    rank = 0
    for cluster in range(n_clusters):
        size = k + (len(rows) % k if cluster == n_clusters // 2 else 0)
        for record in order[rank : rank + size]:
            labels[record] = cluster
        rank += size
    return labels


def standardised(rows):
    """Z-scores per attribute; a constant attribute counts as 0.

    A power of two, which changes no digit, first brings every attribute below 1: squares
    of huge numbers would not fit.
    """
    columns = [_z_scores(list(column)) for column in zip(*rows, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def _z_scores(column):
    if min(column) == max(column):
        return [0.0] * len(column)
    exponent = math.frexp(max(abs(value) for value in column))[1]
    column = [math.ldexp(value, -exponent) for value in column]
    mean = total(column) / len(column)
    column = [value - mean for value in column]
    sd = math.sqrt(total([value * value for value in column]) / (len(column) - 1))
    return [value / sd for value in column]


def total(values):
    """The sum, from left to right: the built-in one compensates for rounding."""
    result = 0.0
    for value in values:
        result += value
    return result


def halves(categories):
    """For each nominal attribute, half of what two different categories add to a distance.

    The squared difference of two records, 0 or 1, over its mean over all n^2 ordered pairs,
    1 - sum of squared shares, times (n - 1) / n.
    """
    found = []
    for column in zip(*categories, strict=True):
        n = len(column)
        pairs_alike = sum(count * count for count in Counter(column).values())
        differing = n * n - pairs_alike
        found.append((n * (n - 1)) / differing if differing else 0.0)
    return found


def distance(one, other, weights):
    """Squared distance of two records."""
    squares = [(a - b) * (a - b) for a, b in zip(one[0], other[0], strict=True)]
    return total([*squares, *of_categories(one[1], other[1], weights)])


def of_categories(one, other, weights):
    """What two different categories add, attribute by attribute."""
    return [0.0 if a == b else 2 * half for a, b, half in zip(one, other, weights, strict=True)]


def distance_to_centroid(record, centroid, weights):
    """Squared distance of a record to the centroid of a set, given as means and as counts.

    For categories: the mean of its distances to the set's, minus half the mean of these among
    themselves; 2 half ((1 - p_x) - (1 - sum of p^2) / 2), p the shares in the set.
    """
    squares = [(a - b) * (a - b) for a, b in zip(record[0], centroid[0], strict=True)]
    return total(squares + apart(record[1], centroid[1], weights))


def apart(categories, centroid, weights):
    """What each category adds to that distance."""
    found = []
    for category, counts, half in zip(categories, centroid, weights, strict=True):
        n = sum(counts.values())
        pairs_alike = sum(count * count for count in counts.values())
        found.append(half * ((n * n - 2 * n * counts[category] + pairs_alike) / (n * n)))
    return found


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


def medians(values, order):
    """The median of ordinal values; of an even number of them the two in the middle."""
    ranked = sorted(values, key=order.index)
    return {ranked[(len(ranked) - 1) // 2], ranked[len(ranked) // 2]}


def commonest(values):
    """The commonest of values; all of them where several are."""
    counts = Counter(values)
    return {value for value in counts if counts[value] == max(counts.values())}


def settled(candidates, clusters):
    """One value for each cluster of those that it may have.

    Clusters that may have one alone come first, then the others in their order: each gets the
    value that the release lacks most records of, of several the first by its text (None last).
    """
    lacking = Counter(value for cluster in clusters for value in cluster)
    chosen = {}
    for place in sorted(range(len(clusters)), key=lambda place: len(candidates[place]) > 1):
        one = min(candidates[place], key=lambda value: (-lacking[value], value is None, str(value)))
        lacking[one] -= len(clusters[place])
        chosen[place] = one
    return [chosen[place] for place in range(len(clusters))]


class Clusters:
    """Clusters being formed: their members, and the records still unassigned."""

    def __init__(self, rows, categories, units=None):
        numbers = standardised(rows) if rows[0] else [[] for _ in rows]
        self.records = list(zip(numbers, categories, strict=True))
        self.weights = halves(categories)
        self.unassigned = list(range(len(rows)))
        self.sums = [total(column) for column in zip(*numbers, strict=True)]
        self.members = []
        # Without units each record is one.
        self.units = list(range(len(rows))) if units is None else units

    def n_units(self, records):
        return len({self.units[i] for i in records})

    def between(self, one, other):
        return distance(self.records[one], self.records[other], self.weights)

    def centroid_of_unassigned(self):
        means = [value / len(self.unassigned) for value in self.sums]
        return means, self.counts(self.unassigned)

    def counts(self, members):
        return [Counter(self.records[i][1][a] for i in members) for a in range(len(self.weights))]

    def apart(self, record, centroid):
        return distance_to_centroid(self.records[record], centroid, self.weights)

    def farthest_from_centroid(self, centroid):
        return min(self.unassigned, key=lambda i: (-self.apart(i, centroid), i))

    def farthest_from(self, record):
        return min(self.unassigned, key=lambda i: (-self.between(i, record), i))

    def form_around(self, record, k):
        """Form a cluster of the record and its nearest, until it holds records of k units."""
        self.members.append([])
        self.assign(record)
        by_nearness = sorted(self.unassigned, key=lambda i: (self.between(i, record), i))
        for neighbour in by_nearness:
            if self.n_units(self.members[-1]) == k:
                break
            self.assign(neighbour)

    def assign(self, record):
        """Let the record join the last cluster."""
        self.members[-1].append(record)
        self.unassigned.remove(record)
        self.take_off(record)

    def take_off(self, record):
        numbers = self.records[record][0]
        self.sums = [s - value for s, value in zip(self.sums, numbers, strict=True)]

    def centroid_of(self, members):
        columns = zip(*[self.records[i][0] for i in sorted(members)], strict=True)
        return [total(column) / len(members) for column in columns], self.counts(members)

    def with_leftovers(self):
        """Labels, once the records left over have joined the cluster of the nearest centroid."""
        labels = [-1] * len(self.records)
        centroids = []
        for cluster, members in enumerate(self.members):
            centroids.append(self.centroid_of(members))
            for record in members:
                labels[record] = cluster
        for record in self.unassigned:
            labels[record] = min(
                range(len(centroids)),
                key=lambda c: (self.apart(record, centroids[c]), c),
            )
        return labels


class Incomplete(Clusters):
    """Clusters being formed of records that may lack numbers."""

    def __init__(self, rows, categories, units):
        columns = [list(column) for column in zip(*rows, strict=True)]
        self.gaps = [gap_of(column) for column in columns]
        scores = [among_present(column) for column in columns]
        numbers = [list(row) for row in zip(*scores, strict=True)] or [[] for _ in categories]
        self.records = list(zip(numbers, categories, strict=True))
        self.weights = halves(categories)
        self.unassigned = list(range(len(categories)))
        self.sums = [summed(column, len(column)) for column in scores]
        self.members = []
        self.units = list(range(len(categories))) if units is None else units

    def between(self, one, other):
        (numbers, categories), (others, other_categories) = self.records[one], self.records[other]
        squares = of_numbers(numbers, others, self.gaps)
        return total([*squares, *of_categories(categories, other_categories, self.weights)])

    def centroid_of_unassigned(self):
        return list(self.sums), self.counts(self.unassigned)

    def apart(self, record, centroid):
        numbers, categories = self.records[record]
        squares = [
            to_centroid(value, of_set, gap)
            for value, of_set, gap in zip(numbers, centroid[0], self.gaps, strict=True)
        ]
        return total([*squares, *apart(categories, centroid[1], self.weights)])

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
