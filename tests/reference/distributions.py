"""Distances of empirical distribution functions by counting, value by value."""

from fractions import Fraction


def kolmogorov_smirnov_distance(original, protected):
    """Return the largest difference of the shares at or below any value, exactly."""
    return max(
        abs(
            Fraction(sum(x <= value for x in original), len(original))
            - Fraction(sum(y <= value for y in protected), len(protected))
        )
        for value in {*original, *protected}
    )


def quantile_distances(original, protected):
    """Return the integrals of |x - y| and of (x - y)^2 over quantiles of one probability, exactly.

    Between multiples of 1/(n m) both quantile functions are constant: the values at each rank,
    each repeated as often as the other table has records.
    """
    n, m = len(original), len(protected)
    before = [Fraction(x) for x in sorted(original) for _ in range(m)]
    after = [Fraction(y) for y in sorted(protected) for _ in range(n)]
    apart = [y - x for x, y in zip(before, after, strict=True)]
    return sum(map(abs, apart)) / (n * m), sum(d * d for d in apart) / (n * m)


def decile_levels(original, values):
    """Return of each value how many of the original's different deciles lie below it."""
    present = sorted(x for x in original if x is not None)
    deciles = set()
    for d in range(1, 10):
        reached = [x for x in present if 10 * sum(y <= x for y in present) >= d * len(present)]
        deciles.update(reached[:1])
    return [None if v is None else sum(end < v for end in deciles) for v in values]


def total_variation(before, after):
    """Return half the sum of the differences of shares over all levels, exactly."""

    def share(levels, level):
        return Fraction(levels.count(level), len(levels))

    return sum(abs(share(before, v) - share(after, v)) for v in {*before, *after}) / 2
