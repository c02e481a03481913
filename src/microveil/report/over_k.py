"""A measure against k: a line to each method, a panel to each guarantee."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from microveil.report.axes import Axis, linear_axis, log_axis
from microveil.report.canvas import LEGEND_HEIGHT, WIDTH, Frame, path, picture
from microveil.report.marks import colour_of, dash_of, key_height, keys, marks, whiskers
from microveil.report.markup import Markup, element, fragment
from microveil.report.risk_utility import Spread, in_rows
from microveil.report.wording import number
from microveil.schema import Kind

__all__ = ["Curve", "Panel", "pictures_over_k"]

LEFT, RIGHT, INNER_HEIGHT = 54.0, 22.0, 200.0
INNER = WIDTH - LEFT - RIGHT
# Beyond this ratio of the largest to the least k the axis is logarithmic.
WIDE = 5.0
SWATCH = 22.0

Scale = Callable[[Sequence[Spread], float], Axis]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A method over k.

    Attributes
    ----------
    method : str
    points : tuple of (int or None, Spread)
        By k, ascending; None where the method has no use for k: it is then drawn across.
    """

    method: str
    points: tuple[tuple[int | None, Spread], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """What guarantees the same.

    Attributes
    ----------
    title : str
    curves : tuple of Curve
        One or more.
    levels : tuple of (str, float)
        What the measure is held against, drawn across: a name and a value each, at most two.
    row : str
        Panels of one row are drawn beside each other.
    """

    title: str
    curves: tuple[Curve, ...]
    levels: tuple[tuple[str, float], ...] = ()
    row: str = ""


def pictures_over_k(
    panels: Sequence[Panel], *, title: str, scale: Scale, methods: Sequence[str], prefix: str
) -> Markup:
    """Draw a measure against k in every panel, all with the same axes.

    Parameters
    ----------
    panels : sequence of Panel
        One or more.
    title : str
        Of the measure.
    scale : callable
        Makes the axis upward of all that is drawn and of its length.
    methods : sequence of str
        All that have a mark of their own on the page, in its order.
    prefix : str
        Of identifiers.
    """
    drawn = [point for panel in panels for curve in panel.curves for point in curve.points]
    levels = [
        Spread(value=level, lower=level, upper=level)
        for panel in panels
        for _, level in panel.levels
    ]
    upward = scale([spread for _, spread in drawn] + levels, INNER_HEIGHT)
    across = _axis_of_k(sorted({k for k, _ in drawn if k is not None}))
    tops: dict[str, float] = {}
    for panel in panels:
        height = key_height([curve.method for curve in panel.curves], INNER)
        height += LEGEND_HEIGHT * bool(panel.levels)
        tops[panel.row] = max(tops.get(panel.row, 0.0), height)
    return in_rows(
        [
            (
                panel.row,
                panel.title,
                _panel(
                    f"{prefix}{place}", panel, title, methods, (across, upward), tops[panel.row]
                ),
            )
            for place, panel in enumerate(panels)
        ]
    )


def _axis_of_k(sizes: Sequence[int]) -> Axis:
    """Return an axis with ticks at each k that there is."""
    if not sizes:
        return Axis(title="k: none of these methods has one", lower=0.0, upper=1.0, ticks=())
    if sizes[-1] > WIDE * sizes[0]:
        return log_axis("k, log scale", sizes[0], sizes[-1], INNER, stops=sizes)
    return linear_axis("k", sizes[0] - 0.5, sizes[-1] + 0.5, Kind.WHOLE, INNER)


def _panel(
    identifier: str,
    panel: Panel,
    title: str,
    methods: Sequence[str],
    axes: tuple[Axis, Axis],
    top: float,
) -> Markup:
    across, upward = axes
    frame = Frame(
        left=LEFT, top=top, width=INNER, height=INNER_HEIGHT, across=across, upward=upward
    )
    named = [(curve.method, methods.index(curve.method)) for curve in panel.curves]
    notes = (across.note, upward.note)
    return picture(
        identifier,
        f"{title} against k: {panel.title}",
        " ".join(map(_told, panel.curves)),
        frame.bottom + 44 + 15 * sum(note is not None for note in notes),
        keys(named, LEFT, INNER),
        _level_keys(panel, top - LEGEND_HEIGHT),
        frame.axes(),
        (
            path([(LEFT, frame.y(level)), (LEFT + INNER, frame.y(level))], _level_class(place))
            for place, (_, level) in enumerate(panel.levels)
        ),
        (_drawn(frame, curve, methods.index(curve.method)) for curve in panel.curves),
    )


def _told(curve: Curve) -> str:
    """Say in words where a curve is lowest and highest."""
    ordered = sorted(curve.points, key=lambda point: point[1].value)
    (best, least), (worst, most) = ordered[0], ordered[-1]
    if len(ordered) == 1:
        return f"{curve.method}: {number(least.value, 3)}{_at(best)}."
    return (
        f"{curve.method}: between {number(least.value, 3)}{_at(best)} and "
        f"{number(most.value, 3)}{_at(worst)}."
    )


def _at(k: int | None) -> str:
    return "" if k is None else f" at k {k}"


def _level_class(place: int) -> str:
    return "line thin" if place else "line thin dashed"


def _level_keys(panel: Panel, top: float) -> Markup:
    drawn = []
    for place, (name, _) in enumerate(panel.levels):
        x, y = LEFT + 2 + place * INNER / 2, top + 8
        drawn += [
            path([(x, y), (x + SWATCH, y)], _level_class(place)),
            element("text", name, x=x + SWATCH + 5, y=y + 4),
        ]
    return fragment(drawn)


def _drawn(frame: Frame, curve: Curve, index: int) -> Markup:
    """Draw a method: marks at each k with their intervals, and lines that guide the eye."""
    placed = []
    for k, spread in curve.points:
        x = frame.left + frame.width / 2 if k is None else frame.x(k)
        placed.append((x, frame.y(spread.value), spread))
    line = [(x, y) for x, y, _ in placed]
    if len(curve.points) == 1 and curve.points[0][0] is None:
        line = [(frame.left, line[0][1]), (frame.left + frame.width, line[0][1])]
    ends = [((x, frame.y(s.lower)), (x, frame.y(s.upper))) for x, _, s in placed]
    return fragment(
        path(line, f"guide {colour_of(index)} {dash_of(index)}") if len(line) > 1 else None,
        whiskers(ends, index),
        marks([(x, y) for x, y, _ in placed], index, full=True),
    )
