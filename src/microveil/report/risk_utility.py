"""The risk-utility map: what methods lose against what an intruder could still find.

Each guarantee has a panel of its own, since an epsilon that holds at cluster scope is not
comparable with one that holds at row scope, and no line joins points of two panels. All
panels share their axes, so that they can be compared.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from microveil.report.axes import Axis, bent_axis, linear_axis, log_axis
from microveil.report.chart import Chart, Level, Mark, Marks, Panel, Spread, Steps, room_across
from microveil.report.markup import Markup, element, fragment
from microveil.report.sections import Section
from microveil.report.svg import in_rows
from microveil.report.tables import table
from microveil.report.wording import number
from microveil.schema import Kind

__all__ = ["MapPoint", "loss_axis", "map_panels", "risk_utility_section"]

HEIGHT = 220.0
HEADROOM = 1.05
MOST_TIMES_MEDIAN = 10
# Beyond this ratio of the largest to the least the axis of losses is logarithmic.
WIDE = 20.0
MOST_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class MapPoint:
    """One way of protecting a table, on the map.

    Attributes
    ----------
    panel : str
        What it guarantees, scope and epsilon: points of one panel are comparable.
    method : str
        Decides shape and colour.
    label : str
        Everything else that sets it apart, as "k 10, epsilon 1".
    loss, risk : Spread
        In the units that the axes name.
    on_frontier : bool
        Whether nothing that guarantees as much is better in both.
    row : str
        Panels of one row, of one scope for example, are drawn beside each other.
    """

    panel: str
    method: str
    label: str
    loss: Spread
    risk: Spread
    on_frontier: bool
    row: str = ""


def risk_utility_section(
    points: Sequence[MapPoint],
    *,
    loss_title: str,
    risk_title: str,
    chance: float | None = None,
    prefix: str = "",
) -> Section:
    """Draw the map, a panel to each guarantee, and tabulate all of its points.

    Parameters
    ----------
    points : sequence of MapPoint
        One or more.
    loss_title, risk_title : str
        Names of the axes, with units.
    chance : float, optional
        The risk of blind guessing, drawn as a line.
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
    return Section(
        identifier=f"{prefix}map",
        title="Risk-utility map",
        body=fragment(
            element(
                "p",
                "Lower is better on both axes. Bars show intervals over runs. Points of different "
                "panels promise different things and are not comparable as safe or unsafe.",
            ),
            in_rows(
                map_panels(points, loss_title=loss_title, risk_title=risk_title, chance=chance),
                f"{prefix}map",
            ),
            _points_table(points, loss_title, risk_title, f"{prefix}map-table"),
        ),
    )


def map_panels(
    points: Sequence[MapPoint],
    *,
    loss_title: str,
    risk_title: str,
    chance: float | None = None,
    methods: Sequence[str] = (),
) -> tuple[Panel, ...]:
    """Chart the map, a panel to each guarantee, all with the same axes.

    Parameters
    ----------
    points, loss_title, risk_title, chance
        As for `risk_utility_section`.
    methods : sequence of str
        All that have a mark of their own on the page, in its order; by default those of the
        points.
    """
    methods = tuple(methods) or tuple(dict.fromkeys(point.method for point in points))
    panels: dict[tuple[str, str], list[MapPoint]] = {}
    for point in points:
        panels.setdefault((point.row, point.panel), []).append(point)
    across = loss_axis(loss_title, [point.loss for point in points], room_across())
    upward = _risk_axis(risk_title, [point.risk for point in points], chance)
    return tuple(
        Panel(row=row, caption=panel, chart=_chart(panel, own, methods, (across, upward), chance))
        for (row, panel), own in panels.items()
    )


def loss_axis(
    title: str, spreads: Sequence[Spread], length: float, *, upright: bool = False
) -> Axis:
    """Return an axis of losses that holds every interval: logarithmic where they span much.

    An interval that reaches 0 ends where a logarithmic axis ends.
    """
    sizes = [spread.value for spread in spreads]
    upper = max(spread.upper for spread in spreads)
    if min(sizes) > 0 and max(sizes) > WIDE * min(sizes):
        named = f"{title}, log scale"
        return log_axis(named, min(sizes), upper, length, upright=upright)
    return linear_axis(title, 0.0, HEADROOM * max(upper, 1e-9), Kind.DECIMAL, length)


def _risk_axis(title: str, spreads: Sequence[Spread], chance: float | None) -> Axis:
    """Return an axis from 0, logarithmic beyond guessing: what sets releases apart is small."""
    largest = max([spread.upper for spread in spreads] + [chance or 0.0])
    upper = HEADROOM * largest or 1.0  # where all of it is 0
    sizes = [spread.value for spread in spreads if spread.value > 0]
    if sizes and max(sizes) > MOST_TIMES_MEDIAN * min(chance or math.inf, float(np.median(sizes))):
        least = chance or max(min(sizes), max(sizes) * 1e-6)
        threshold = 10.0 ** round(math.log10(least))
        upper = 1.1 * 10.0 ** math.ceil(math.log10(upper / HEADROOM))
        return bent_axis(title, 0.0, upper, threshold, Kind.DECIMAL, HEIGHT, upright=True)
    return linear_axis(title, 0.0, upper, Kind.DECIMAL, HEIGHT)


def _chart(
    panel: str,
    points: Sequence[MapPoint],
    methods: Sequence[str],
    axes: tuple[Axis, Axis],
    chance: float | None,
) -> Chart:
    across, upward = axes
    frontier = sorted((p for p in points if p.on_frontier), key=lambda p: p.loss.value)
    best = ", ".join(f"{point.method} {point.label}".strip() for point in frontier[:MOST_SHOWN])
    more = f", and {len(frontier) - MOST_SHOWN} more" if len(frontier) > MOST_SHOWN else ""
    own = {point.method for point in points}
    level = [] if chance is None else [chance]
    return Chart(
        title=f"Risk against loss: {panel}",
        description=f"{len(points)} points. Pareto-optimal by means: {best or 'none'}{more}.",
        across=across,
        upward=upward,
        series=(
            *(Level(name="by chance", value=c, dashed=True, beside=True) for c in level),
            _least_risk(points, upward),
            *(
                _marks(points, method, place)
                for place, method in enumerate(methods)
                if method in own
            ),
        ),
        height=HEIGHT,
    )


def _least_risk(points: Sequence[MapPoint], upward: Axis) -> Steps:
    """Return the least risk to be had at each loss: no mixture of two points is offered."""
    ordered = sorted(points, key=lambda point: point.loss.value)
    least = np.minimum.accumulate([point.risk.value for point in ordered])
    turns = np.flatnonzero(np.diff(least, prepend=np.inf))
    losses = np.array([point.loss.value for point in ordered])
    return Steps(name=None, look=None, xs=losses[turns], ys=least[turns], start=upward.upper)


def _marks(points: Sequence[MapPoint], method: str, look: int) -> Marks:
    own = (point for point in points if point.method == method)
    return Marks(
        name=method,
        look=look,
        marks=tuple(Mark(x=p.loss, y=p.risk, full=p.on_frontier) for p in own),
    )


def _points_table(
    points: Sequence[MapPoint], loss_title: str, risk_title: str, identifier: str
) -> Markup:
    return table(
        "All points of the map, with intervals over runs",
        ("method", "guarantee", "with", loss_title, risk_title, "Pareto-optimal by means"),
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
