"""Figures as people read them: the one form that every command, report and page uses."""

import math
from numbers import Integral

NOTHING = "-"
LARGEST_WRITTEN_OUT = 1e6
SMALLEST_WRITTEN_OUT = 1e-4


def figure(value: float | None) -> str:
    """Write a figure in three significant digits, a count (whole by its type) in all."""
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
    """Write an interval."""
    return NOTHING if ends is None else " to ".join(map(figure, ends))


def signed_percent(share: float) -> str:
    """Write a change in percent, with its sign."""
    written = figure(100 * share)
    return written if written == NOTHING else f"{'+' if share > 0 else ''}{written} %"
