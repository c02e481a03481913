"""Figures that may be undefined, as JSON knows them."""

import math

__all__ = ["none_if_undefined"]


def none_if_undefined(value: float) -> float | None:
    """Return a figure, or None where it is NaN or infinite, which JSON does not know.

    Parameters
    ----------
    value : float

    Returns
    -------
    float or None

    Examples
    --------
    >>> none_if_undefined(0.5), none_if_undefined(math.nan)
    (0.5, None)
    """
    return value if math.isfinite(value) else None
