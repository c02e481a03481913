"""The renderer of charts: SVG that a page holds, in the colours of its light or dark scheme.

Written here rather than by a plotting library: a plain installation draws them, the words in
them stay words, and they follow the page into dark, print and large type. What is drawn is
told apart by shape as well as by colour.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from microveil.report.chart import (
    OPEN_BIN,
    WIDTH,
    Bars,
    Bins,
    Chart,
    Discs,
    Dots,
    Level,
    Line,
    Marks,
    Panel,
    Ranges,
    Rows,
    Series,
    Spread,
    Steps,
    Ticks,
)
from microveil.report.frame import LINE_HEIGHT, Frame, is_open
from microveil.report.keys import AREA, LINE, key, key_height, level_class
from microveil.report.marks import colour_of, dash_of, marks, whiskers
from microveil.report.markup import Markup, element, fragment
from microveil.report.shapes import path, shortened, text
from microveil.report.wording import named

__all__ = ["height_of", "in_rows", "picture", "with_room_for_keys"]

Float = NDArray[np.float64]
LABEL_ROOM = 44.0
LETTERS_OF_A_ROW = 14


def picture(identifier: str, chart: Chart, **attributes: float) -> Markup:
    """Draw a chart, 360 wide, with the words that say what it shows.

    Parameters
    ----------
    identifier : str
        Its own on the page, without spaces.
    chart : Chart
    **attributes : float
        Where it stands in another picture.

    Examples
    --------
    >>> from microveil.report.axes import share_axis
    >>> axis = share_axis("records, %", 0.5)
    >>> diagonal = Line(name="unchanged", points=((0, 0), (0.5, 0.5)))
    >>> chart = Chart(
    ...     title="A line",
    ...     description="It rises.",
    ...     across=axis,
    ...     upward=axis,
    ...     series=(diagonal,),
    ...     height=100,
    ... )
    >>> picture("p", chart)[:94]
    '<svg role="img" viewBox="0 0 360 170" aria-labelledby="p-t p-d"><title id="p-t">A line</title>'
    """
    frame = Frame.of(chart)
    return element(
        "svg",
        element("title", chart.title, id=f"{identifier}-t"),
        element("desc", chart.description, id=f"{identifier}-d"),
        key(chart, frame.top),
        frame.axes(),
        (_drawn(frame, series, identifier) for series in chart.series),
        _open_ends(frame, chart),
        _labels(frame, chart.upward) if isinstance(chart.upward, Rows) else None,
        role="img",
        viewBox=f"0 0 {WIDTH:g} {height_of(chart):g}",
        aria_labelledby=f"{identifier}-t {identifier}-d",
        **attributes,
    )


def height_of(chart: Chart) -> float:
    """Return how high the picture of a chart is."""
    below = chart.below
    if below is None:
        upward = None if isinstance(chart.upward, Rows) else chart.upward.note
        notes = sum(note is not None for note in (chart.across.note, upward))
        below = LABEL_ROOM + LINE_HEIGHT * notes
    return Frame.of(chart).bottom + below


def with_room_for_keys(panels: Sequence[Panel]) -> tuple[Panel, ...]:
    """Give the charts of each row the room that the largest key among them needs."""
    tops: dict[str, float] = {}
    for panel in panels:
        tops[panel.row] = max(tops.get(panel.row, 0.0), key_height(panel.chart))
    return tuple(
        replace(panel, chart=replace(panel.chart, top=tops[panel.row])) for panel in panels
    )


def in_rows(panels: Sequence[Panel], prefix: str) -> Markup:
    """Draw panels, those of one row beside each other, with their captions above.

    Parameters
    ----------
    panels : sequence of Panel
    prefix : str
        Of identifiers.
    """
    drawn = [
        (
            panel.row,
            element(
                "figure",
                element("figcaption", panel.caption, class_="above"),
                picture(f"{prefix}{place}", panel.chart),
            ),
        )
        for place, panel in enumerate(with_room_for_keys(panels))
    ]
    return fragment(
        element("div", (figure for _, figure in row), class_="pictures")
        for _, row in itertools.groupby(drawn, key=lambda entry: entry[0])
    )


def _labels(frame: Frame, rows: Rows) -> Markup:
    middles = frame.middles(len(rows.labels))
    return fragment(
        text(named(label, LETTERS_OF_A_ROW), frame.left - 6, y + 4, "end")
        for label, y in zip(rows.labels, middles, strict=True)
    )


def _drawn(  # noqa: C901, PLR0911 -- a case to each kind of series, and mypy sees that all are there
    frame: Frame, series: Series, identifier: str
) -> Markup:
    """Draw one series."""
    match series:
        case Bins():
            return _bins(frame, series)
        case Steps():
            return _steps(frame, series, identifier)
        case Line():
            xs, ys = np.array(series.points, dtype=np.float64).T
            return path(zip(frame.xs(xs), frame.ys(ys), strict=True), "line thin")
        case Level():
            return _level(frame, series)
        case Dots():
            return _dots(frame, series)
        case Discs():
            return _discs(frame, series)
        case Marks():
            return _marks(frame, series)
        case Bars():
            return _bars(frame, series)
        case Ranges():
            return _ranges(frame, series)
        case Ticks():
            return _ticks(frame, series)


def _bins(frame: Frame, series: Bins) -> Markup:
    """Draw all closed bins as one shape, and those without a far edge apart from them."""
    tops = np.append(frame.ys(series.shares), frame.bottom)
    class_ = AREA[series.look]
    return fragment(
        _stairs(frame.xs(series.edges), tops, frame.bottom, class_),
        (
            path([(x, bottom), (x, top), (x + OPEN_BIN, top), (x + OPEN_BIN, bottom)], class_)
            for share, x in ((series.below, frame.below), (series.above, frame.above))
            if share is not None
            for top, bottom in ((frame.y(share), frame.bottom),)
        ),
    )


def _open_ends(frame: Frame, chart: Chart) -> Markup:
    """Draw the axis under bins without a far edge, with a sign that says so."""
    ends = zip(is_open(chart), (frame.below, frame.above), "<>", strict=True)
    return fragment(
        (
            path([(x, frame.bottom), (x + OPEN_BIN, frame.bottom)], "axis"),
            text(sign, x + OPEN_BIN / 2, frame.bottom + 18, "middle"),
        )
        for present, x, sign in ends
        if present
    )


def _steps(frame: Frame, series: Steps, identifier: str) -> Markup:
    """Draw a function that changes in steps; that of a release in a casing, to be seen on top."""
    xs = np.append(frame.xs(series.xs), frame.right)
    ys = frame.ys(np.append(series.ys, series.ys[-1]))
    start = frame.y(series.start)
    if series.look is None:
        return _stairs(xs, ys, start, "line thin")
    name = f"{identifier}-{series.look}"
    drawn = [element("use", href=f"#{name}", class_=LINE[series.look])]
    if series.look == "protected":
        drawn.insert(0, element("use", href=f"#{name}", class_="casing"))
    return fragment(element("defs", _stairs(xs, ys, start, None, name)), drawn)


def _stairs(
    xs: Float, ys: Float, start: float, class_: str | None, identifier: str | None = None
) -> Markup:
    """Draw a line that goes up or down to each height at its place, and level to the next."""
    turns = "".join(f"V{shortened(y)}H{shortened(x)}" for y, x in zip(ys[:-1], xs[1:], strict=True))
    line = f"M{shortened(xs[0])} {shortened(start)}{turns}V{shortened(ys[-1])}"
    return element("path", d=line, class_=class_, id=identifier)


def _level(frame: Frame, series: Level) -> Markup:
    y = frame.y(series.value)
    # Few configurations lose little and are linked little: on the left there is room for words.
    return fragment(
        path([(frame.left, y), (frame.right, y)], level_class(series)),
        element("text", series.name, x=frame.left + 4, y=y - 4) if series.beside else None,
    )


def _dots(frame: Frame, series: Dots) -> Markup:
    """Draw points as strokes of no length: a few letters each."""
    places = zip(frame.xs(series.xs), frame.ys(series.ys), strict=True)
    strokes = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in places)
    return element("path", d=strokes, class_=f"dots {series.look}")


def _discs(frame: Frame, series: Discs) -> Markup:
    most = float(series.sizes.max()) if series.most is None else series.most
    radii = np.maximum(1.0, series.radius * np.sqrt(series.sizes / most))
    xs, ys = frame.xs(series.xs), frame.ys(series.ys)
    return element(
        "g",
        (
            element("circle", cx=float(x), cy=float(y), r=float(radius))
            for x, y, radius in zip(xs, ys, radii, strict=True)
        ),
        class_=f"bubble {series.look}",
    )


def _marks(frame: Frame, series: Marks) -> Markup:
    """Draw a method: its marks with their intervals, and lines that lead the eye."""
    placed = [(_place(frame, mark.x), frame.y(mark.y.value), mark) for mark in series.marks]
    line = [(x, y) for x, y, _ in placed]
    if len(placed) == 1 and series.marks[0].x is None:
        line = [(frame.left, line[0][1]), (frame.right, line[0][1])]
    across = [
        ((frame.x(mark.x.lower), y), (frame.x(mark.x.upper), y))
        for _, y, mark in placed
        if isinstance(mark.x, Spread)
    ]
    upward = [((x, frame.y(m.y.lower)), (x, frame.y(m.y.upper))) for x, _, m in placed]
    guide = f"guide {colour_of(series.look)} {dash_of(series.look)}"
    return fragment(
        path(line, guide) if series.joined and len(line) > 1 else None,
        whiskers(across + upward, series.look),
        (
            marks([(x, y) for x, y, m in placed if m.full is full], series.look, full=full)
            for full in (False, True)
        ),
    )


def _place(frame: Frame, x: Spread | float | None) -> float:
    if x is None:
        return frame.left + frame.width / 2
    return frame.x(x.value if isinstance(x, Spread) else x)


def _bars(frame: Frame, series: Bars) -> Markup:
    """Draw bars; those of the original stand above those of the release."""
    among = 0.0 if series.look == "original" else 12.0 * (frame.n_bars - 1)
    return fragment(
        element(
            "rect",
            x=frame.left,
            y=frame.top + frame.row * place + 4 + among,
            width=max(0.0, frame.x(value) - frame.left),
            height=11.0,
            class_=AREA[series.look],
        )
        for place, value in enumerate(series.values)
    )


def _ranges(frame: Frame, series: Ranges) -> Markup:
    drawn: list[Markup] = []
    middles = frame.middles(len(series.spreads))
    for spread, y in zip(series.spreads, middles, strict=True):
        low, high = frame.x(spread.lower), frame.x(spread.upper)
        drawn += [
            path([(low, y), (high, y)], f"line {series.look}"),
            *[path([(end, y - 4), (end, y + 4)], f"outline {series.look}") for end in (low, high)],
            element("circle", cx=frame.x(spread.value), cy=y, r=3.0, class_=f"dot {series.look}"),
        ]
    return fragment(drawn)


def _ticks(frame: Frame, series: Ticks) -> Markup:
    middles = frame.middles(len(series.values))
    return fragment(
        path([(x, y - 11), (x, y + 11)], LINE[series.look])
        for x, y in zip(map(frame.x, series.values), middles, strict=True)
    )
