"""Names and figures as a terminal has room for them."""

import math

from microveil.text import one_line

__all__ = ["INDENT", "TEXT_WIDTH", "label", "share", "shown"]

TEXT_WIDTH = 100
INDENT = "  "


def shown(value: float | None, digits: int = 6) -> str:
    """Write a number in so many significant digits, or that there is none.

    >>> shown(0.25), shown(math.nan)
    ('0.25', '-')
    """
    return "-" if value is None or not math.isfinite(value) else f"{value:.{digits}g}"


def share(value: float) -> str:
    """Write a number between 0 and 1, or that there is none.

    >>> share(0.25)
    '0.2500'
    """
    return "-" if not math.isfinite(value) else f"{value:.4f}"


def label(name: str, width: int) -> str:
    """Shorten a name to a width.

    >>> label("AGE OF THE PERSON", 8)
    'AGE OF …'
    """
    words = one_line(name)
    return words if len(words) <= width else words[: width - 1] + "…"
