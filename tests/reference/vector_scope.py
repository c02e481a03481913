"""The loss at vector scope by brute force over neighbours, in rational arithmetic.

Every record is replaced by every value of a list, the clusters are formed anew by the same
sizes, the scales are those the release would draw with.
"""

from fractions import Fraction

from reference.ranking import winsorised


def by_sizes(values, sizes):
    """The values of each cluster by rank, ascending."""
    ordered = sorted(values)
    ends = [sum(sizes[: cluster + 1]) for cluster in range(len(sizes))]
    return [ordered[end - size : end] for end, size in zip(ends, sizes, strict=True)]


def largest_loss(values, sizes, scales, represent, candidates):
    """The largest sum of |change of the sum| / scale over neighbours; scales as Fractions.

    The scales are of the sums, in grid units; a sum whose scale is 0 must not change.
    """
    before = [represent(cluster) for cluster in by_sizes(values, sizes)]
    worst = Fraction(0)
    for record in range(len(values)):
        for value in candidates:
            neighbour = [*values[:record], value, *values[record + 1 :]]
            after = [represent(cluster) for cluster in by_sizes(neighbour, sizes)]
            loss = Fraction(0)
            for old, new, scale in zip(before, after, scales, strict=True):
                if old != new:
                    loss += abs(old - new) / scale
            worst = max(worst, loss)
    return worst


def plain(cluster):
    """The sum of a cluster."""
    return sum(cluster)


def representative(method):
    """What the method takes the noise on, of a cluster's values."""
    return winsorised if method in ("idp-cbls", "idp-vector") else plain


def real_scales(part):
    """The scales a plan draws with, on the sums, in grid units."""
    return [Fraction(scale, 2**part.grid.bits) for scale in part.scales.tolist()]
