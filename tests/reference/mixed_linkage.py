"""Record linkage of mixed records, comparing every protected record with every original.

A record is a list of values, None where it lacks one; `kinds` says of each attribute whether it is
of categories. Distances are those of METHODS' clusters of mixed records, standardised by the
original: see `reference.mdav`.
"""

from collections import Counter

from reference import record_linkage


def scales(original, kinds):
    """For each attribute what two values weigh, and how far a missing one is from another."""
    found = []
    for values, is_category in zip(zip(*original, strict=True), kinds, strict=True):
        n = len(values)
        if is_category:
            differing = n * n - sum(count * count for count in Counter(values).values())
            weight = 2 * (n * (n - 1) / differing) if differing else 0.0
            found.append((weight, weight))
            continue
        present = [[value] for value in values if value is not None]
        n = len(present)
        weight = record_linkage.reciprocal_variances(present)[0] if n else 0.0
        found.append((weight, 2 * ((n - 1) / n) if n else 0.0))
    return found


def squared_distance(x, y, kinds, weighed):
    """Add what each attribute adds, in their order."""
    total = 0.0
    for a, b, is_category, (weight, gap) in zip(x, y, kinds, weighed, strict=True):
        if a is None or b is None:
            total += 0.0 if a is b else gap
        elif is_category:
            total += weight if a != b else 0.0
        else:
            total += (a - b) * (a - b) * weight
    return total


def candidate_counts(original, protected, kinds, weighed, sample=None):
    """Return the size of the set G of nearest originals if the true one is in it, else 0."""
    counts = []
    for position in range(len(protected)) if sample is None else sample:
        distances = [squared_distance(x, protected[position], kinds, weighed) for x in original]
        nearest = [i for i, apart in enumerate(distances) if apart == min(distances)]
        counts.append(len(nearest) if position in nearest else 0)
    return counts
