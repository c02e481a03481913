"""The charts of an attribute: both sides of its values, or the release by itself."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from microveil.report.axes import LETTER_WIDTH, Axis, Tick, bent_axis, linear_axis, share_axis
from microveil.report.chart import (
    OPEN_GAP,
    Bars,
    Bins,
    Chart,
    Discs,
    Dots,
    Line,
    Ranges,
    Rows,
    Side,
    Spread,
    Steps,
    room_across,
)
from microveil.report.columns import CategoryColumn, NumberColumn
from microveil.report.distributions import Histogram, RankAgreement, bend, distribution_function
from microveil.report.wording import number, percent, shown

__all__ = [
    "LEFT_OF_CATEGORIES",
    "MOST_CATEGORIES_DRAWN",
    "category_chart",
    "distribution_chart",
    "histogram_chart",
    "rank_chart",
]

Float = NDArray[np.float64]
# Beside each other: all have room for the note of a bent axis.
HEIGHT, BELOW = 202.0, 54.0
LEFT_OF_CATEGORIES = 118.0
MOST_CATEGORIES_DRAWN = 20
RANKS = ((0.0, "0"), (25.0, "25"), (50.0, "50"), (75.0, "75"), (100.0, "100"))
SIDES: tuple[Side, ...] = ("original", "protected")


def histogram_chart(column: NumberColumn, bins: Histogram) -> Chart:
    """Chart the histogram of both sides: the original filled, the release as an outline.

    Parameters
    ----------
    column : NumberColumn
    bins : Histogram
    """
    below, above = bins.is_open_below, bins.is_open_above
    measured = _counted_margin(column, bins)
    width = room_across(open_ends=below + above)
    lower, upper = float(bins.edges[0]), float(bins.edges[-1])
    sides = [side for side in SIDES if side in bins.shares]
    return Chart(
        title=f"Histogram of {column.name}, {' and '.join(sides)}",
        description=_bin_words(column, bins),
        across=_clear_of_ends(
            linear_axis(column.axis_title, lower, upper, column.kind, width), width, below, above
        ),
        upward=share_axis(
            "records in a bin, %", max(bins.most, *(float(one.ys.max()) for one in measured), 0.0)
        ),
        series=(
            *(
                Bins(
                    name=side,
                    look=side,
                    edges=bins.edges,
                    shares=bins.shares[side],
                    below=bins.below[side] if below else None,
                    above=bins.above[side] if above else None,
                )
                for side in sides
            ),
            *measured,
        ),
        height=HEIGHT,
        below=BELOW,
    )


def _counted_margin(column: NumberColumn, bins: Histogram) -> tuple[Steps, ...]:
    """Return the margin of noise of counted values, where each has a bin of its own."""
    margins, step = column.margins, bins.step
    # Shares of a histogram are those of the present values.
    if margins is None or not margins.values or margins.categories or step is None:
        return ()
    if bins.is_open_below or bins.is_open_above or not np.allclose(np.diff(bins.edges), step):
        return ()
    known = dict(margins.values)
    values = bins.edges[:-1] + step / 2
    found = [known.get(float(round(value / step) * step)) for value in values]
    if any(interval is None for interval in found):
        return ()
    ends = [
        np.array([getattr(interval, end) for interval in found], dtype=np.float64)
        for end in ("lower", "upper")
    ]
    return tuple(
        Steps(name=name, look=None, xs=bins.edges[:-1], ys=ys, start=0.0)
        for name, ys in zip((margin_name(margins.confidence), None), ends, strict=True)
    )


def margin_name(confidence: float) -> str:
    """Name the margin of noise in a key.

    >>> margin_name(0.95)
    '95 % margin'
    """
    return f"{percent(confidence)} % margin"


def _clear_of_ends(axis: Axis, width: float, below: bool, above: bool) -> Axis:
    """Leave out ticks whose labels would run into those of the open bins."""

    def clear(tick: Tick) -> bool:
        place, half = axis.place(tick[0], 0, width), LETTER_WIDTH * len(tick[1]) / 2
        return not (below and place - half < -OPEN_GAP) and not (
            above and place + half > width + OPEN_GAP
        )

    return replace(axis, ticks=tuple(filter(clear, axis.ticks)))


def _bin_words(column: NumberColumn, bins: Histogram) -> str:
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


def distribution_chart(column: NumberColumn) -> Chart:
    """Chart the empirical distribution functions of both sides.

    The scale is bent where the bulk of the values would else be one upright line; the axis
    then says so.
    """
    sides = {side: values for side, values in column.sides if len(values)}
    lower = float(min(values.min() for values in sides.values()))
    upper = float(max(values.max() for values in sides.values()))
    median = [
        f"Half of the records lie at or below {shown(_median(values), column.kind)} in the {side}."
        for side, values in sides.items()
    ]
    return Chart(
        title=f"Distribution function of {column.name}, {' and '.join(sides)}",
        description=" ".join(median),
        across=_value_axis(column, lower, upper),
        upward=share_axis("records at or below, %", 1.0),
        series=(
            *(_steps(side, sides[side]) for side in SIDES if side in sides),
            *_quantile_margin(column),
        ),
        height=HEIGHT,
        below=BELOW,
    )


def _quantile_margin(column: NumberColumn) -> tuple[Line, ...]:
    """Return the margin of noise of the measured quantiles, as two lines that hold them."""
    if column.margins is None or not column.margins.quantiles:
        return ()
    shares = [share for share, _ in column.margins.quantiles]
    ends = [
        np.maximum.accumulate([getattr(one, end) for _, one in column.margins.quantiles])
        for end in ("lower", "upper")
    ]
    return tuple(
        Line(name=name, points=tuple(zip(map(float, values), shares, strict=True)))
        for name, values in zip((margin_name(column.margins.confidence), None), ends, strict=True)
    )


def _median(values: Float) -> float:
    return float(np.quantile(values, 0.5, method="inverted_cdf"))


def _value_axis(column: NumberColumn, lower: float, upper: float) -> Axis:
    threshold, room = bend(column), room_across()
    if threshold is None or not lower < upper:
        return linear_axis(column.axis_title, lower, upper, column.kind, room)
    return bent_axis(column.axis_title, lower, upper, threshold, column.kind, room)


def _steps(side: Side, values: Float) -> Steps:
    points, shares = distribution_function(values)
    return Steps(name=side, look=side, xs=points, ys=shares, start=0.0)


def rank_chart(column: NumberColumn, ranks: RankAgreement, most_points: int) -> Chart:
    """Chart the rank of every record after against its rank before.

    Where few pairs of ranks occur, each is a disc with an area in proportion to its records;
    else ``most_points`` records are drawn, evenly spaced in the order of their ranks before.
    """
    words = (
        "Neither side's order can be compared: one of them is constant."
        if math.isnan(ranks.correlation)
        else f"Spearman's rank correlation is {number(ranks.correlation)}; 1 is the same order."
    )
    return Chart(
        title=f"Ranks of {column.name} in the release against those in the original",
        description=words,
        across=_rank_axis("rank in the original, %"),
        upward=_rank_axis("rank in the release, %"),
        series=(
            Line(name="unchanged", points=((0, 0), (100, 100))),
            _records(ranks, most_points),
        ),
        height=HEIGHT,
        below=BELOW,
        square=True,
    )


def _rank_axis(title: str) -> Axis:
    return Axis(title=title, lower=0.0, upper=100.0, ticks=RANKS)


def _records(ranks: RankAgreement, most_points: int) -> Discs | Dots:
    few = _discs(ranks, min(most_points // 3, len(ranks.before) // 2))
    if few is not None:
        return few
    order = np.argsort(ranks.before, kind="stable")
    if len(order) > most_points:
        order = order[np.linspace(0, len(order) - 1, most_points).round().astype(np.int64)]
    return Dots(name="a record", look="protected", xs=ranks.before[order], ys=ranks.after[order])


def _discs(ranks: RankAgreement, most: int) -> Discs | None:
    """Count the pairs of ranks; None where there are more than so many."""
    before, after = np.unique(ranks.before), np.unique(ranks.after)
    if max(len(before), len(after)) > most:  # pairs are as many at least
        return None
    codes = np.searchsorted(before, ranks.before) * len(after)
    pairs, counts = np.unique(codes + np.searchsorted(after, ranks.after), return_counts=True)
    if len(pairs) > most:
        return None
    return Discs(
        name="area: number of records",
        look="protected",
        xs=before[pairs // len(after)],
        ys=after[pairs % len(after)],
        sizes=counts.astype(np.float64),
    )


def category_chart(column: CategoryColumn) -> Chart:
    """Chart the share of each category as bars from 0, at most 20 of them.

    The commonest of the original come first; what is not drawn stands in the table.
    """
    count = min(len(column.categories), MOST_CATEGORIES_DRAWN)
    shares = dict(zip(SIDES, (column.original, column.protected), strict=True))
    bars = tuple(
        Bars(name=side, look=side, values=tuple(map(float, own[:count])))
        for side, own in shares.items()
        if own is not None
    )
    measured = _category_margin(column, count)
    most = [max(one.values) for one in bars] + [
        spread.upper for one in measured for spread in one.spreads
    ]
    return Chart(
        title=(f"Shares of the categories of {column.name}, {' and '.join(b.name for b in bars)}"),
        description=_category_words(column),
        across=share_axis("records, %", max(most)),
        upward=Rows(labels=tuple(column.categories[:count]), height=12.0 * len(bars) + 8),
        series=(*bars, *measured),
        left=LEFT_OF_CATEGORIES,
    )


def _category_margin(column: CategoryColumn, count: int) -> tuple[Ranges, ...]:
    """Return the measured share of each category drawn, with its margin of noise."""
    margins = column.margins
    if margins is None or not set(column.categories[:count]) <= set(margins.categories):
        return ()
    found = [margins.categories[category] for category in column.categories[:count]]
    spreads = tuple(Spread(value=one.estimate, lower=one.lower, upper=one.upper) for one in found)
    return (Ranges(name=margin_name(margins.confidence), look="protected", spreads=spreads),)


def _category_words(column: CategoryColumn) -> str:
    if column.original is None:
        return f"The commonest is {column.categories[0]} with {percent(column.protected[0])} %."
    gap = float(np.abs(column.original - column.protected).max())
    return (
        f"The commonest in the original is {column.categories[0]} with "
        f"{percent(column.original[0])} %, in the release {percent(column.protected[0])} %. "
        f"The shares differ most by {percent(gap)} percentage points."
    )
