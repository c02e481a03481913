"""Multivariate partitions of mixed records, to be read rather than run fast.

A record is a pair: its numbers (ordinal ranks among them) and its categories in no order. This
file fixes the arithmetic: float64, the terms of the numbers first, in their order, then those of
the categories in theirs, added from left to right. What a category adds is made of whole numbers,
counts, and rounded once. Without categories everything is that of `reference.mdav`.
"""

from collections import Counter

from reference.mdav import standardised, total


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
    differing = [
        0.0 if a == b else 2 * half for a, b, half in zip(one[1], other[1], weights, strict=True)
    ]
    return total(squares + differing)


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


def mdav(rows, categories, k, units=None):
    """Cluster number of each record; with units clusters hold records of k of them."""
    return formed(Clusters(rows, categories, units), k)


def formed(clusters, k):
    """Form them by MDAV."""
    while clusters.n_units(clusters.unassigned) >= 2 * k:
        r = clusters.farthest_from_centroid(clusters.centroid_of_unassigned())
        clusters.form_around(r, k)
        s = clusters.farthest_from(r)
        clusters.form_around(s, k)
    while clusters.n_units(clusters.unassigned) >= k:  # once, but where units have more records
        centroid = clusters.centroid_of_unassigned()
        clusters.form_around(clusters.farthest_from_centroid(centroid), k)
    return clusters.with_leftovers()


def v_mdav(rows, categories, k, gamma):
    """Cluster number of each record; a cluster may take up to k - 1 more than k."""
    return formed_variably(Clusters(rows, categories), k, gamma)


def formed_variably(clusters, k, gamma):
    """Form them by V-MDAV."""
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
