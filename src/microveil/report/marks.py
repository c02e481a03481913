"""Marks that tell methods apart, by shape as well as by colour.

All marks of a method in a picture are one path: a map of a thousand configurations stays small.
"""

import math
from collections.abc import Iterable

from microveil.report.markup import Markup, element
from microveil.report.shapes import shortened

__all__ = ["colour_of", "dash_of", "marks", "whiskers"]

Place = tuple[float, float]
# From a mark's middle to where its outline begins, and the outline from there.
SHAPES = (
    ((-5.0, 0.0), "a5 5 0 1 0 10 0a5 5 0 1 0-10 0z"),  # circle
    ((-4.5, -4.5), "h9v9h-9z"),  # square
    ((0.0, -6.0), "l5.5 10h-11z"),  # triangle
    ((0.0, -6.5), "l6.5 6.5l-6.5 6.5l-6.5-6.5z"),  # diamond
    ((0.0, 6.0), "l5.5-10h-11z"),  # triangle pointing down
    ((-2.5, -6.5), "h5v13h-5z"),  # bar
    ((-5.5, -5.5), "h11l-11 11h11z"),  # hourglass
    ((-6.5, -2.5), "h13v5h-13z"),  # flat bar
)
# No divisor of the number of colours: what shares a dash has another colour.
N_DASHES = 5


def colour_of(index: int) -> str:
    """Return the class of a method's colour."""
    return f"series{index % len(SHAPES)}"


def dash_of(index: int) -> str:
    """Return the class of a method's lines: whole, or one of four dashes.

    >>> dash_of(0), dash_of(6)
    ('dash0', 'dash1')
    """
    return f"dash{index % N_DASHES}"


def marks(places: Iterable[Place], index: int, *, full: bool) -> Markup | None:
    """Draw the marks of one method.

    Parameters
    ----------
    places : iterable of (float, float)
    index : int
        Of the method, from 0. After eight the colours come again with other shapes.
    full : bool
        Filled, or an outline.

    Examples
    --------
    >>> marks([(10, 20)], 1, full=True)
    '<path d="M5.5 15.5h9v9h-9z" class="mark full series1"/>'
    """
    (across, down), outline = SHAPES[(index + index // len(SHAPES)) % len(SHAPES)]
    drawn = "".join(f"M{shortened(x + across)} {shortened(y + down)}{outline}" for x, y in places)
    if not drawn:
        return None
    return element(
        "path", d=drawn, class_=f"mark {'full' if full else 'hollow'} {colour_of(index)}"
    )


def whiskers(ends: Iterable[tuple[Place, Place]], index: int) -> Markup | None:
    """Draw intervals as lines from end to end; those without length are left out."""
    drawn = "".join(
        f"M{shortened(x)} {shortened(y)}"
        + (f"H{shortened(to_x)}" if y == to_y else f"V{shortened(to_y)}")
        for (x, y), (to_x, to_y) in ends
        if math.hypot(to_x - x, to_y - y) >= 0.1
    )
    return element("path", d=drawn, class_=f"bar {colour_of(index)}") if drawn else None
