"""Multivariate partitions, to be read rather than run fast.

This file fixes the arithmetic. Numbers are float64 and every sum is taken from left to
right: over attributes in their order, over records in theirs. What the running sum of the
unassigned records loses is subtracted record by record, in the order in which records join
their cluster: the one it is formed around, then the others by nearness. Ties go to the
lowest record position, among clusters to the one formed first.
"""

import math


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


def distance(x, y):
    """Squared Euclidean distance."""
    return total([(a - b) * (a - b) for a, b in zip(x, y, strict=True)])


def mdav(rows, k):
    """Cluster number of each record."""
    clusters = _Clusters(rows)
    while len(clusters.unassigned) >= 2 * k:
        r = clusters.farthest_from(clusters.centroid_of_unassigned())
        clusters.form_around(r, k)
        s = clusters.farthest_from(clusters.points[r])
        clusters.form_around(s, k)
    if len(clusters.unassigned) >= k:
        clusters.form_around(clusters.farthest_from(clusters.centroid_of_unassigned()), k)
    return clusters.with_leftovers()


def v_mdav(rows, k, gamma):
    """Cluster number of each record; a cluster may take up to k - 1 more than k."""
    clusters = _Clusters(rows)
    centroid_of_all = clusters.centroid_of_unassigned()
    while len(clusters.unassigned) >= k:
        clusters.form_around(clusters.farthest_from(centroid_of_all), k)
        cluster = clusters.members[-1]
        while len(cluster) < 2 * k - 1 and len(clusters.unassigned) > 1:
            to_cluster, nearest = min(
                (distance(clusters.points[member], clusters.points[record]), record)
                for member in cluster
                for record in clusters.unassigned
            )
            to_unassigned = min(
                distance(clusters.points[nearest], clusters.points[record])
                for record in clusters.unassigned
                if record != nearest
            )
            if not to_cluster < gamma * gamma * to_unassigned:
                break
            clusters.assign(nearest)
    return clusters.with_leftovers()


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


class _Clusters:
    """Clusters being formed: their members, and the records still unassigned."""

    def __init__(self, rows):
        self.points = standardised(rows)
        self.unassigned = list(range(len(rows)))
        self.sums = [total(column) for column in zip(*self.points, strict=True)]
        self.members = []

    def centroid_of_unassigned(self):
        return [value / len(self.unassigned) for value in self.sums]

    def farthest_from(self, place):
        return min(self.unassigned, key=lambda i: (-distance(self.points[i], place), i))

    def form_around(self, record, k):
        """Form a cluster of the record and its k - 1 nearest."""
        self.members.append([])
        self.assign(record)
        place = self.points[record]
        by_nearness = sorted(self.unassigned, key=lambda i: (distance(self.points[i], place), i))
        for neighbour in by_nearness[: k - 1]:
            self.assign(neighbour)

    def assign(self, record):
        """Let the record join the last cluster."""
        self.members[-1].append(record)
        self.unassigned.remove(record)
        self.sums = [s - value for s, value in zip(self.sums, self.points[record], strict=True)]

    def with_leftovers(self):
        """Labels, once the records left over have joined the cluster of the nearest centroid."""
        labels = [-1] * len(self.points)
        centroids = []
        for cluster, members in enumerate(self.members):
            columns = zip(*[self.points[i] for i in sorted(members)], strict=True)
            centroids.append([total(column) / len(members) for column in columns])
            for record in members:
                labels[record] = cluster
        for record in self.unassigned:
            labels[record] = min(
                range(len(centroids)),
                key=lambda c: (distance(self.points[record], centroids[c]), c),
            )
        return labels
