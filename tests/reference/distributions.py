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
