"""Figures as people read them: the one form that every command, report and page uses."""

import math
from numbers import Integral

NOTHING = "-"
LARGEST_WRITTEN_OUT = 1e6
SMALLEST_WRITTEN_OUT = 1e-4


def figure(value: float | None) -> str:
    """Write a figure in three significant digits, and all of those before the decimal mark.

    Counts, which are whole numbers by their type, have all their digits.

    Examples
    --------
    >>> figure(0.123456), figure(40068.6), figure(3.83e10), figure(12_345_678), figure(math.nan)
    ('0.123', '40,069', '3.83e10', '12,345,678', '-')
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    size = abs(value)
    if isinstance(value, Integral) or 100 <= size < LARGEST_WRITTEN_OUT:
        return f"{value:,.0f}"
    written = f"{value:.3g}"
    if size and (size < SMALLEST_WRITTEN_OUT or "e" in written):
        mantissa, exponent = f"{value:.2e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    return written


def figures_to(ends: tuple[float, float] | None) -> str:
    """Write an interval.

    >>> figures_to((0.25, 12.3456)), figures_to(None)
    ('0.25 to 12.3', '-')
    """
    return NOTHING if ends is None else " to ".join(map(figure, ends))


def signed_percent(share: float) -> str:
    """Write a change in percent, with its sign.

    >>> signed_percent(-0.0123), signed_percent(math.nan)
    ('-1.23 %', '-')
    """
    written = figure(100 * share)
    return written if written == NOTHING else f"{'+' if share > 0 else ''}{written} %"
