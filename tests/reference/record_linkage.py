"""Record linkage by comparing every protected record with every original."""

import math


def squared_distance(x, y, weights):
    """Add the weighted squared differences in attribute order."""
    total = 0.0
    for a, b, weight in zip(x, y, weights, strict=True):
        total += (a - b) * (a - b) * weight
    return total


def candidate_counts(original, protected, weights, sample=None):
    """Return the size of the set G of nearest originals if the true one is in it, else 0.

    Of a sample of the protected records, each against all originals; by default of every one.
    """
    counts = []
    for position in range(len(protected)) if sample is None else sample:
        y = protected[position]
        distances = [squared_distance(x, y, weights) for x in original]
        least = min(distances)
        nearest = [i for i, distance in enumerate(distances) if distance == least]
        counts.append(len(nearest) if position in nearest else 0)
    return counts


def linked_percent(counts):
    """Return the expected percentage of right links."""
    return 100 * math.fsum(1 / count for count in counts if count) / len(counts)


def reciprocal_variances(original):
    """Return one over the sample variance of each attribute, 0 for a constant one."""
    n = len(original)
    weights = []
    for values in zip(*original, strict=True):
        if n < 2 or min(values) == max(values):
            weights.append(0.0)
            continue
        mean = math.fsum(values) / n
        weights.append((n - 1) / math.fsum((value - mean) ** 2 for value in values))
    return weights


def average_ranks(rows):
    """Replace each value by its rank in its attribute, counted from 1, ties by the average."""
    columns = []
    for values in zip(*rows, strict=True):
        ordered = sorted(values)
        columns.append([ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values])
    return [list(row) for row in zip(*columns, strict=True)]
