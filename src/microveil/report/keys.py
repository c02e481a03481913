"""The key of a chart: what its series are called, above its frame."""

import math
from collections.abc import Sequence

from microveil.report.axes import LETTER_WIDTH
from microveil.report.chart import (
    WIDTH,
    Bars,
    Bins,
    Chart,
    Discs,
    Dots,
    Level,
    Marks,
    Ranges,
    Series,
    Side,
    Steps,
    Ticks,
    room_across,
)
from microveil.report.marks import marks
from microveil.report.markup import Markup, element, fragment
from microveil.report.shapes import path, text
from microveil.report.wording import named

__all__ = ["AREA", "LINE", "key", "key_height", "level_class"]

LINE_OF_KEY = 22.0
SWATCH, GAP, AFTER_MARK = 22.0, 20.0, 11.0
AREA: dict[Side, str] = {"original": "area original", "protected": "outline protected"}
LINE: dict[Side, str] = {"original": "line wide original", "protected": "line dashed protected"}


def key_height(chart: Chart) -> float:
    """Return how high the key of a chart is, with a little room below."""
    names = [series.name for series in chart.series if isinstance(series, Marks)]
    lines = math.ceil(len(names) / _columns(names, room_across(chart.left))) if names else 1
    if names and _levels(chart):
        lines += 1
    return LINE_OF_KEY * lines + 4


def key(chart: Chart, top: float) -> Markup:
    """Draw the key: the marks of methods in columns, or swatches one after the other.

    Parameters
    ----------
    chart : Chart
    top : float
        Where the frame begins.
    """
    methods = [series for series in chart.series if isinstance(series, Marks)]
    if not methods:
        return _swatches(chart.series, chart.left)
    return fragment(
        _methods(methods, chart.left, room_across(chart.left)),
        _level_keys(_levels(chart), chart.left, top - LINE_OF_KEY),
    )


def level_class(level: Level) -> str:
    """Return the class of a level's line."""
    return "line thin dashed" if level.dashed else "line thin"


def _levels(chart: Chart) -> list[Level]:
    return [series for series in chart.series if isinstance(series, Level) and not series.beside]


def _swatches(series: Sequence[Series], left: float) -> Markup:
    entries = [(one, one.name) for one in series if one.name is not None]
    widths = [SWATCH + 5 + LETTER_WIDTH * len(name) + 16 for _, name in entries]
    # From where the frame begins, or as far left of it as their length asks for.
    drawn, x = [], max(0.0, min(left, WIDTH + 16 - sum(widths)))
    for (one, name), width in zip(entries, widths, strict=True):
        drawn += [_swatch(one, x), text(name, x + SWATCH + 5, 14.0)]
        x += width
    return fragment(drawn)


def _swatch(series: Series, x: float) -> Markup:
    match series:
        case Bins() | Bars():
            return element("rect", x=x, y=4.0, width=SWATCH, height=11.0, class_=AREA[series.look])
        case Dots() | Ranges():
            return element("circle", cx=x + SWATCH / 2, cy=10.0, r=3.0, class_=f"dot {series.look}")
        case Discs():
            return element(
                "circle", cx=x + SWATCH / 2, cy=10.0, r=5.0, class_=f"bubble {series.look}"
            )
        case Steps(look=side) | Ticks(look=side) if side is not None:
            return path([(x, 10), (x + SWATCH, 10)], LINE[side])
    class_ = level_class(series) if isinstance(series, Level) else "line thin"
    return path([(x, 10), (x + SWATCH, 10)], class_)


def _methods(methods: Sequence[Marks], left: float, width: float) -> Markup:
    """Draw the mark of each method, and its name beside it."""
    columns = _columns([series.name for series in methods], width)
    letters = int((width / columns - AFTER_MARK - GAP / 2) / LETTER_WIDTH)
    drawn: list[Markup | None] = []
    for place, series in enumerate(methods):
        x = left + 8 + (place % columns) * width / columns
        y = 10.0 + LINE_OF_KEY * (place // columns)
        drawn += [
            marks([(x, y)], series.look, full=True),
            text(named(series.name, letters), x + AFTER_MARK, y + 4),
        ]
    return fragment(drawn)


def _level_keys(levels: Sequence[Level], left: float, top: float) -> Markup:
    drawn = []
    for place, level in enumerate(levels):
        x, y = left + 2 + place * room_across(left) / 2, top + 8
        drawn += [
            path([(x, y), (x + SWATCH, y)], level_class(level)),
            text(level.name, x + SWATCH + 5, y + 4),
        ]
    return fragment(drawn)


def _columns(names: Sequence[str], width: float) -> int:
    """Return how many names have room beside each other: two, or one where one is long."""
    longest = max(map(len, names), default=0)
    return 2 if AFTER_MARK + GAP / 2 + LETTER_WIDTH * longest <= width / 2 else 1
