"""The pictures of the page: inline SVG in the colours of the reader's light or dark scheme.

Written here rather than by a plotting library: a plain installation draws them, the words in
them stay words, and they follow the page into dark, print and large type. What is drawn is
told apart by shape as well as by colour.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from microveil.report.axes import LETTER_WIDTH, Axis, Tick, bent_axis, linear_axis, share_axis
from microveil.report.canvas import LEGEND_HEIGHT, WIDTH, Frame, legend, path, picture, stairs
from microveil.report.columns import CategoryColumn, NumberColumn
from microveil.report.distributions import Histogram, RankAgreement, bend, distribution_function
from microveil.report.markup import Markup, element, fragment
from microveil.report.wording import named, number, percent, shown

__all__ = [
    "MOST_CATEGORIES_DRAWN",
    "category_plot",
    "distribution_plot",
    "histogram_plot",
    "rank_plot",
]

Float = NDArray[np.float64]
LEFT, RIGHT = 48.0, 22.0
INNER = WIDTH - LEFT - RIGHT
HEIGHT = 282.0
INNER_HEIGHT = HEIGHT - LEGEND_HEIGHT - 58
OPEN_BIN, OPEN_GAP = 14.0, 8.0
MOST_CATEGORIES_DRAWN = 20
LARGEST_BUBBLE = 11.0
AREA = {"original": "area original", "protected": "outline protected"}
LINE = {"original": "line wide original", "protected": "line dashed protected"}
RANKS = ((0.0, "0"), (25.0, "25"), (50.0, "50"), (75.0, "75"), (100.0, "100"))


def histogram_plot(identifier: str, column: NumberColumn, bins: Histogram) -> Markup:
    """Draw the histogram of both sides: the original filled, the release as an outline.

    Parameters
    ----------
    identifier : str
        Its own on the page.
    column : NumberColumn
    bins : Histogram
    """
    below, above = bins.is_open_below, bins.is_open_above
    left = LEFT + (OPEN_BIN + OPEN_GAP) * below
    width = INNER - (OPEN_BIN + OPEN_GAP) * (below + above)
    lower, upper = float(bins.edges[0]), float(bins.edges[-1])
    frame = Frame(
        left=left,
        top=LEGEND_HEIGHT + 4,
        width=width,
        height=INNER_HEIGHT,
        across=_clear_of_ends(
            linear_axis(column.axis_title, lower, upper, column.kind, width), width, below, above
        ),
        upward=share_axis("records in a bin, %", bins.most),
    )
    ends = [("below", LEFT, "<")] if below else []
    ends += [("above", WIDTH - RIGHT - OPEN_BIN, ">")] if above else []
    sides = list(bins.shares)
    return picture(
        identifier,
        f"Histogram of {column.name}, {' and '.join(sides)}",
        _told_bins(column, bins),
        HEIGHT,
        legend([(AREA[side], side) for side in sides], LEFT),
        frame.axes(),
        fragment(_bars(frame, bins, side) for side in sides),
        fragment(
            _open_bin(frame, x, sign, {s: getattr(bins, end)[s] for s in sides})
            for end, x, sign in ends
        ),
    )


def _clear_of_ends(axis: Axis, width: float, below: bool, above: bool) -> Axis:
    """Leave out ticks whose labels would run into those of the open bins."""

    def clear(tick: Tick) -> bool:
        place, half = axis.place(tick[0], 0, width), LETTER_WIDTH * len(tick[1]) / 2
        return not (below and place - half < -OPEN_GAP) and not (
            above and place + half > width + OPEN_GAP
        )

    return replace(axis, ticks=tuple(filter(clear, axis.ticks)))


def _told_bins(column: NumberColumn, bins: Histogram) -> str:
    peaks = [
        f"In the {side} the fullest bin holds {percent(float(shares.max()))} % of the records, "
        f"from {shown(float(bins.edges[shares.argmax()]), column.kind)} "
        f"to {shown(float(bins.edges[shares.argmax() + 1]), column.kind)}."
        for side, shares in bins.shares.items()
    ]
    if len(peaks) > 1:
        peaks.append(
            f"The sides differ most in a bin by {percent(bins.largest_gap)} percentage points."
        )
    return " ".join(peaks)


def _bars(frame: Frame, bins: Histogram, side: str) -> Markup:
    """Draw all closed bins of a side as one shape."""
    tops = np.append(frame.ys(bins.shares[side]), frame.bottom)
    return stairs(frame.xs(bins.edges), tops, frame.bottom, AREA[side])


def _open_bin(frame: Frame, x: float, sign: str, shares: dict[str, float]) -> Markup:
    """Draw a bin without a far edge apart from the others."""
    right, bottom = x + OPEN_BIN, frame.bottom
    return fragment(
        (
            path([(x, bottom), (x, top), (right, top), (right, bottom)], AREA[side])
            for side, top in ((side, frame.y(share)) for side, share in shares.items())
        ),
        path([(x, bottom), (right, bottom)], "axis"),
        element("text", sign, x=x + OPEN_BIN / 2, y=bottom + 18, class_="middle"),
    )


def distribution_plot(identifier: str, column: NumberColumn) -> Markup:
    """Draw the empirical distribution functions of both sides.

    The scale is bent where the bulk of the values would else be one upright line; the axis
    then says so.
    """
    sides = {side: values for side, values in column.sides if len(values)}
    lower = float(min(values.min() for values in sides.values()))
    upper = float(max(values.max() for values in sides.values()))
    frame = Frame(
        left=LEFT,
        top=LEGEND_HEIGHT + 4,
        width=INNER,
        height=INNER_HEIGHT,
        across=_value_axis(column, lower, upper),
        upward=share_axis("records at or below, %", 1.0),
    )
    median = [
        f"Half of the records lie at or below {shown(_median(values), column.kind)} in the {side}."
        for side, values in sides.items()
    ]
    return picture(
        identifier,
        f"Distribution function of {column.name}, {' and '.join(sides)}",
        " ".join(median),
        HEIGHT,
        legend([(LINE[side], side) for side in sides], LEFT),
        frame.axes(),
        fragment(_steps(f"{identifier}-{side}", frame, sides[side], side) for side in sides),
    )


def _median(values: Float) -> float:
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


def _value_axis(column: NumberColumn, lower: float, upper: float) -> Axis:
    threshold = bend(column)
    if threshold is None or not lower < upper:
        return linear_axis(column.axis_title, lower, upper, column.kind, INNER)
    return bent_axis(column.axis_title, lower, upper, threshold, column.kind, INNER)


def _steps(identifier: str, frame: Frame, values: Float, side: str) -> Markup:
    """Draw a distribution function, in a casing so that it is seen on top of another."""
    points, shares = distribution_function(values)
    ends = np.append(frame.xs(points), frame.left + frame.width)
    heights = frame.ys(np.append(shares, shares[-1]))
    line = stairs(ends, heights, frame.bottom, None, identifier)
    drawn = [element("use", href=f"#{identifier}", class_=LINE[side])]
    if side == "protected":
        drawn.insert(0, element("use", href=f"#{identifier}", class_="casing"))
    return fragment(element("defs", line), drawn)


def rank_plot(
    identifier: str, column: NumberColumn, ranks: RankAgreement, most_points: int
) -> Markup:
    """Draw the rank of every record after against its rank before.

    Where few pairs of ranks occur, each is a disc with an area in proportion to its records;
    else ``most_points`` records are drawn, evenly spaced in the order of their ranks before.
    """
    side = INNER_HEIGHT
    frame = Frame(
        left=LEFT + (INNER - side) / 2,
        top=LEGEND_HEIGHT + 4,
        width=side,
        height=side,
        across=_rank_axis("rank in the original, %"),
        upward=_rank_axis("rank in the release, %"),
    )
    pairs, counts = np.unique(
        np.column_stack([ranks.before, ranks.after]), axis=0, return_counts=True
    )
    if len(pairs) <= min(most_points // 3, len(ranks.before) // 2):
        drawn = _bubbles(frame, pairs, counts)
        key = ("bubble protected", "area: number of records")
    else:
        drawn, key = _points(frame, ranks, most_points), ("dot protected", "a record")
    told = (
        "Neither side's order can be compared: one of them is constant."
        if math.isnan(ranks.correlation)
        else f"Spearman's rank correlation is {number(ranks.correlation)}; 1 is the same order."
    )
    return picture(
        identifier,
        f"Ranks of {column.name} in the release against those in the original",
        told,
        HEIGHT,
        legend([key, ("line thin", "unchanged")], LEFT),
        frame.axes(),
        path([(frame.x(0), frame.y(0)), (frame.x(100), frame.y(100))], "line thin"),
        drawn,
    )


def _rank_axis(title: str) -> Axis:
    return Axis(title=title, lower=0.0, upper=100.0, ticks=RANKS)


def _bubbles(frame: Frame, pairs: Float, counts: NDArray[np.int64]) -> Markup:
    radii = np.maximum(1.0, LARGEST_BUBBLE * np.sqrt(counts / counts.max()))
    xs, ys = frame.xs(pairs[:, 0]), frame.ys(pairs[:, 1])
    return element(
        "g",
        (
            element("circle", cx=float(x), cy=float(y), r=float(radius))
            for x, y, radius in zip(xs, ys, radii, strict=True)
        ),
        class_="bubble protected",
    )


def _points(frame: Frame, ranks: RankAgreement, most_points: int) -> Markup:
    """Draw points as strokes of no length: a few letters each."""
    order = np.argsort(ranks.before, kind="stable")
    if len(order) > most_points:
        order = order[np.linspace(0, len(order) - 1, most_points).round().astype(np.int64)]
    xs, ys = frame.xs(ranks.before[order]), frame.ys(ranks.after[order])
    strokes = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in zip(xs, ys, strict=True))
    return element("path", d=strokes, class_="dots protected")


def category_plot(identifier: str, column: CategoryColumn) -> Markup:
    """Draw the share of each category as bars from 0, at most 20 of them.

    The commonest of the original come first; what is not drawn stands in the table.
    """
    count = min(len(column.categories), MOST_CATEGORIES_DRAWN)
    sides = [("original", column.original), ("protected", column.protected)]
    drawn = [(side, shares[:count]) for side, shares in sides if shares is not None]
    most = max(float(shares.max()) for _, shares in drawn)
    left, row, bar = 118.0, 12.0 * len(drawn) + 8, 11.0
    frame = Frame(
        left=left,
        top=LEGEND_HEIGHT + 4,
        width=WIDTH - left - RIGHT,
        height=row * count,
        across=share_axis("records, %", most),
        upward=Axis(title="", lower=0.0, upper=1.0, ticks=()),
    )
    bars = [
        element(
            "rect", x=left, y=frame.top + row * k + 4 + 12 * place,
            width=max(0.0, frame.x(float(shares[k])) - left), height=bar, class_=AREA[side],
        )
        for place, (side, shares) in enumerate(drawn)
        for k in range(count)
    ]  # fmt: skip
    labels = [
        element(
            "text", named(name, 14), x=left - 6, y=frame.top + row * (k + 0.5) + 4, class_="end"
        )
        for k, name in enumerate(column.categories[:count])
    ]
    return picture(
        identifier,
        f"Shares of the categories of {column.name}, {' and '.join(side for side, _ in drawn)}",
        _told_categories(column),
        frame.bottom + 44,
        legend([(AREA[side], side) for side, _ in drawn], left),
        frame.axes(),
        fragment(bars, labels),
    )


def _told_categories(column: CategoryColumn) -> str:
    if column.original is None:
        return f"The commonest is {column.categories[0]} with {percent(column.protected[0])} %."
    gap = float(np.abs(column.original - column.protected).max())
    return (
        f"The commonest in the original is {column.categories[0]} with "
        f"{percent(column.original[0])} %, in the release {percent(column.protected[0])} %. "
        f"The shares differ most by {percent(gap)} percentage points."
    )
