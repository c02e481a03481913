"""A measure against k: a line to each method, a panel to each guarantee."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from microveil.report.axes import Axis, linear_axis, log_axis
from microveil.report.chart import Chart, Level, Mark, Marks, Panel, Spread, room_across
from microveil.report.wording import number
from microveil.schema import Kind

__all__ = ["Curve", "Curves", "panels_over_k"]

LEFT, HEIGHT = 54.0, 200.0
# Beyond this ratio of the largest to the least k the axis is logarithmic.
WIDE = 5.0

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
class Curves:
    """What guarantees the same.

    Attributes
    ----------
    title : str
    curves : tuple of Curve
        One or more.
    levels : tuple of (str, float)
        What the measure is held against, drawn across: a name and a value each, at most two.
    row : str
        Those of one row are drawn beside each other.
    """

    title: str
    curves: tuple[Curve, ...]
    levels: tuple[tuple[str, float], ...] = ()
    row: str = ""


def panels_over_k(
    groups: Sequence[Curves], *, title: str, scale: Scale, methods: Sequence[str]
) -> tuple[Panel, ...]:
    """Chart a measure against k, a panel to each guarantee, all with the same axes.

    Parameters
    ----------
    groups : sequence of Curves
        One or more.
    title : str
        Of the measure.
    scale : callable
        Makes the axis upward of all that is drawn and of its length.
    methods : sequence of str
        All that have a mark of their own on the page, in its order.
    """
    drawn = [point for group in groups for curve in group.curves for point in curve.points]
    levels = [
        Spread(value=level, lower=level, upper=level)
        for group in groups
        for _, level in group.levels
    ]
    upward = scale([spread for _, spread in drawn] + levels, HEIGHT)
    across = _axis_of_k(sorted({k for k, _ in drawn if k is not None}))
    return tuple(
        Panel(
            row=group.row,
            caption=group.title,
            chart=Chart(
                title=f"{title} against k: {group.title}",
                description=" ".join(map(_curve_words, group.curves)),
                across=across,
                upward=upward,
                series=(
                    *(
                        Level(name=name, value=level, dashed=not place)
                        for place, (name, level) in enumerate(group.levels)
                    ),
                    *(_marks(curve, methods.index(curve.method)) for curve in group.curves),
                ),
                height=HEIGHT,
                left=LEFT,
            ),
        )
        for group in groups
    )


def _axis_of_k(sizes: Sequence[int]) -> Axis:
    """Return an axis with ticks at each k that there is."""
    if not sizes:
        return Axis(title="k: none of these methods has one", lower=0.0, upper=1.0, ticks=())
    if sizes[-1] > WIDE * sizes[0]:
        return log_axis("k, log scale", sizes[0], sizes[-1], room_across(LEFT), stops=sizes)
    return linear_axis("k", sizes[0] - 0.5, sizes[-1] + 0.5, Kind.WHOLE, room_across(LEFT))


def _curve_words(curve: Curve) -> str:
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


def _marks(curve: Curve, look: int) -> Marks:
    return Marks(
        name=curve.method,
        look=look,
        marks=tuple(
            Mark(x=None if k is None else float(k), y=spread) for k, spread in curve.points
        ),
        joined=True,
    )
