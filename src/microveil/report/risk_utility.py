"""The risk-utility map: what methods lose against what an intruder could still find.

Each scope of guarantee has a panel of its own: an epsilon that holds at cluster scope is not
comparable with one that holds at row scope, and no frontier joins them. All panels share
their axes, so that they can be compared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microveil.report.axes import Axis, bent_axis, linear_axis
from microveil.report.canvas import LEGEND_HEIGHT, WIDTH, Frame, path, picture, stairs
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section
from microveil.report.tables import table
from microveil.report.wording import number
from microveil.schema import Kind

__all__ = ["MapPoint", "Spread", "risk_utility_section"]

LEFT, RIGHT, INNER_HEIGHT = 48.0, 22.0, 220.0
INNER = WIDTH - LEFT - RIGHT
KEYS_IN_A_ROW = 2
RADIUS = 5.0
HEADROOM = 1.05
MOST_TIMES_MEDIAN = 10
# Shapes as outlines around (0, 0), one to a method; the ninth method gets the first again.
SHAPES: tuple[tuple[str, tuple[tuple[float, float], ...]], ...] = (
    ("circle", tuple((math.cos(a / 8 * math.pi), math.sin(a / 8 * math.pi)) for a in range(16))),
    ("square", ((-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9))),
    ("triangle", ((0.0, -1.2), (1.1, 0.8), (-1.1, 0.8))),
    ("diamond", ((0.0, -1.3), (1.3, 0.0), (0.0, 1.3), (-1.3, 0.0))),
    ("triangle pointing down", ((0.0, 1.2), (1.1, -0.8), (-1.1, -0.8))),
    ("bar", ((-0.5, -1.3), (0.5, -1.3), (0.5, 1.3), (-0.5, 1.3))),
    ("hourglass", ((-1.1, -1.1), (1.1, -1.1), (-1.1, 1.1), (1.1, 1.1))),
    ("flat bar", ((-1.3, -0.5), (1.3, -0.5), (1.3, 0.5), (-1.3, 0.5))),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """A mean over runs with its interval.

    Attributes
    ----------
    value, lower, upper : float
        lower <= value <= upper.
    """

    value: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """One way of protecting a table, on the map.

    Attributes
    ----------
    panel : str
        The scope at which it keeps its epsilon: points of one panel are comparable.
    method : str
        Decides shape and colour.
    label : str
        Everything else that sets it apart, as "k 10, epsilon 1".
    loss, risk : Spread
        In the units that the axes name.
    on_frontier : bool
        Whether no other point of the panel is better in both.
    """

    panel: str
    method: str
    label: str
    loss: Spread
    risk: Spread
    on_frontier: bool


def risk_utility_section(
    points: Sequence[MapPoint], *, loss_title: str, risk_title: str, prefix: str = ""
) -> Section:
    """Draw the map, a panel to each scope, and tabulate all of its points.

    Parameters
    ----------
    points : sequence of MapPoint
        One or more.
    loss_title, risk_title : str
        Names of the axes, with units.
    prefix : str
        Of identifiers.

    Examples
    --------
    >>> def at(value):
    ...     return Spread(value=value, lower=value - 1, upper=value + 1)
    >>> point = MapPoint(
    ...     panel="row scope",
    ...     method="laplace",
    ...     label="epsilon 1",
    ...     loss=at(60),
    ...     risk=at(2),
    ...     on_frontier=True,
    ... )
    >>> section = risk_utility_section([point], loss_title="loss, %", risk_title="linkage, %")
    >>> section.title
    'Risk-utility map'
    """
    methods = tuple(dict.fromkeys(point.method for point in points))
    panels = tuple(dict.fromkeys(point.panel for point in points))
    most = max(len({p.method for p in points if p.panel == panel}) for panel in panels)
    key_rows = math.ceil(most / KEYS_IN_A_ROW)
    axes = (
        _axis(loss_title, [point.loss for point in points], INNER),
        _axis(risk_title, [point.risk for point in points], INNER_HEIGHT),
    )
    drawn = [
        element(
            "figure",
            _panel(
                f"{prefix}map{place}",
                panel,
                [point for point in points if point.panel == panel],
                methods,
                axes,
                key_rows,
            ),
            element("figcaption", f"{panel}; the line is the least risk to be had at each loss"),
        )
        for place, panel in enumerate(panels)
    ]
    return Section(
        identifier=f"{prefix}map",
        title="Risk-utility map",
        body=fragment(
            element(
                "p",
                "Lower is better on both axes. Bars show intervals over runs. Points of different "
                "panels promise different things and are not comparable as safe or unsafe.",
            ),
            element("div", drawn, class_="pictures"),
            _points_table(points, loss_title, risk_title, f"{prefix}map-table"),
        ),
    )


def _axis(title: str, spreads: Sequence[Spread], length: float) -> Axis:
    """Return an axis from 0 that holds every interval, bent where one point dwarfs the others."""
    upper = HEADROOM * max([spread.upper for spread in spreads] + [1e-9])
    lower = min([spread.lower for spread in spreads] + [0.0])
    sizes = [spread.value for spread in spreads if spread.value > 0]
    if sizes and max(sizes) > MOST_TIMES_MEDIAN * float(np.median(sizes)):
        threshold = 10.0 ** math.floor(math.log10(max(min(sizes), max(sizes) * 1e-6)))
        return bent_axis(title, lower, upper, threshold, Kind.DECIMAL, length)
    return linear_axis(title, lower, upper, Kind.DECIMAL, length)


def _panel(
    identifier: str,
    panel: str,
    points: Sequence[MapPoint],
    methods: tuple[str, ...],
    axes: tuple[Axis, Axis],
    key_rows: int,
) -> Markup:
    present = [method for method in methods if any(point.method == method for point in points)]
    keys = [present[k : k + KEYS_IN_A_ROW] for k in range(0, len(present), KEYS_IN_A_ROW)]
    top = LEGEND_HEIGHT * key_rows + 4
    across, upward = axes
    frame = Frame(
        left=LEFT, top=top, width=INNER, height=INNER_HEIGHT, across=across, upward=upward
    )
    frontier = sorted((p for p in points if p.on_frontier), key=lambda p: p.loss.value)
    best = ", ".join(f"{point.method} {point.label}" for point in frontier)
    return picture(
        identifier,
        f"Risk against loss: {panel}",
        f"{len(points)} points. On the frontier: {best or 'none'}.",
        frame.bottom + 58,
        fragment(_keys(row, methods, place) for place, row in enumerate(keys)),
        frame.axes(),
        _frontier(frame, frontier) if frontier else fragment(),
        fragment(_point(frame, point, methods.index(point.method)) for point in points),
    )


def _frontier(frame: Frame, frontier: Sequence[MapPoint]) -> Markup:
    """Draw the least risk to be had at each loss: no mixture of two points is offered."""
    xs = frame.xs(np.array([point.loss.value for point in frontier]))
    ys = frame.ys(np.array([point.risk.value for point in frontier]))
    return stairs(
        np.append(xs, frame.left + frame.width), np.append(ys, ys[-1]), frame.top, "line thin"
    )


def _keys(row: Sequence[str], methods: tuple[str, ...], place: int) -> Markup:
    drawn = []
    for column, method in enumerate(row):
        x, y = LEFT + 8 + column * INNER / KEYS_IN_A_ROW, 10.0 + LEGEND_HEIGHT * place
        drawn += [
            _mark(x, y, methods.index(method), full=True),
            element("text", method, x=x + 11, y=y + 4),
        ]
    return fragment(drawn)


def _point(frame: Frame, point: MapPoint, index: int) -> Markup:
    x, y = frame.x(point.loss.value), frame.y(point.risk.value)
    left, right = frame.x(point.loss.lower), frame.x(point.loss.upper)
    low, high = frame.y(point.risk.lower), frame.y(point.risk.upper)
    colour = f"series{index % len(SHAPES)}"
    return fragment(
        path([(left, y), (right, y)], f"bar {colour}"),
        path([(x, low), (x, high)], f"bar {colour}"),
        _mark(x, y, index, full=point.on_frontier),
    )


def _mark(x: float, y: float, index: int, *, full: bool) -> Markup:
    """Draw a method's shape, filled where it is on the frontier."""
    _, outline = SHAPES[index % len(SHAPES)]
    placed = [(x + RADIUS * dx, y + RADIUS * dy) for dx, dy in outline]
    state = "full" if full else "hollow"
    return path(placed, f"mark {state} series{index % len(SHAPES)}", closed=True)


def _points_table(
    points: Sequence[MapPoint], loss_title: str, risk_title: str, identifier: str
) -> Markup:
    return table(
        "All points of the map, with intervals over runs",
        ("method", "guarantee", "with", loss_title, risk_title, "on the frontier"),
        (
            [
                point.method,
                point.panel,
                point.label,
                *(_written(spread) for spread in (point.loss, point.risk)),
                "yes" if point.on_frontier else "no",
            ]
            for point in points
        ),
        identifier=identifier,
        words=True,
    )


def _written(spread: Spread) -> str:
    return f"{number(spread.value)} ({number(spread.lower)} to {number(spread.upper)})"
