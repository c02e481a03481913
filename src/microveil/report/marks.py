"""Marks that tell methods apart, by shape as well as by colour.

All marks of a method in a picture are one path: a comparison of a thousand cells stays small.
"""

import math
from collections.abc import Iterable, Sequence

from microveil.report.axes import LETTER_WIDTH
from microveil.report.canvas import LEGEND_HEIGHT
from microveil.report.markup import Markup, element, fragment
from microveil.report.wording import named

__all__ = ["colour_of", "dash_of", "key_height", "keys", "marks", "whiskers"]

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
GAP = 20.0
AFTER_MARK = 11.0


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
    drawn = "".join(f"M{_short(x + across)} {_short(y + down)}{outline}" for x, y in places)
    if not drawn:
        return None
    return element(
        "path", d=drawn, class_=f"mark {'full' if full else 'hollow'} {colour_of(index)}"
    )


def whiskers(ends: Iterable[tuple[Place, Place]], index: int) -> Markup | None:
    """Draw intervals as lines from end to end; those without length are left out."""
    drawn = "".join(
        f"M{_short(x)} {_short(y)}" + (f"H{_short(to_x)}" if y == to_y else f"V{_short(to_y)}")
        for (x, y), (to_x, to_y) in ends
        if math.hypot(to_x - x, to_y - y) >= 0.1
    )
    return element("path", d=drawn, class_=f"bar {colour_of(index)}") if drawn else None


def keys(names: Sequence[tuple[str, int]], left: float, width: float) -> Markup:
    """Draw a key above the frame: the mark of each method, and its name beside it.

    Parameters
    ----------
    names : sequence of (str, int)
        Methods, and their place among all.
    left, width : float
        The room across.
    """
    columns = _columns([name for name, _ in names], width)
    letters = int((width / columns - AFTER_MARK - GAP / 2) / LETTER_WIDTH)
    drawn = []
    for place, (name, index) in enumerate(names):
        x = left + 8 + (place % columns) * width / columns
        y = 10.0 + LEGEND_HEIGHT * (place // columns)
        drawn += [
            marks([(x, y)], index, full=True),
            element("text", named(name, letters), x=x + AFTER_MARK, y=y + 4),
        ]
    return fragment(drawn)


def key_height(names: Sequence[str], width: float) -> float:
    """Return how high the key of some methods is."""
    return LEGEND_HEIGHT * math.ceil(len(names) / _columns(names, width)) + 4


def _columns(names: Sequence[str], width: float) -> int:
    """Return how many names have room beside each other: two, or one where one is long."""
    longest = max(map(len, names), default=0)
    return 2 if AFTER_MARK + GAP / 2 + LETTER_WIDTH * longest <= width / 2 else 1


def _short(length: float) -> str:
    return f"{length:.1f}".removesuffix(".0")
