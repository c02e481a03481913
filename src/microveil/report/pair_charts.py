"""The chart of a table of two attributes: a disc to each cell."""

import math
from collections.abc import Sequence

import numpy as np

from microveil.report.attribute_charts import LEFT_OF_CATEGORIES
from microveil.report.axes import LABEL_GAP, LETTER_WIDTH, Axis, Tick
from microveil.report.bins import FROM, AttributeBins
from microveil.report.chart import LARGEST_DISC, Chart, Discs, Rows, Side, room_across
from microveil.report.pair_tables import PairTable
from microveil.report.wording import named, percent

__all__ = ["across_and_upward", "numbered", "pair_chart"]

LEAST_ROW, MOST_ROW = 15.0, 26.0
MOST_NUMBERED = 12


def across_and_upward(table: PairTable) -> tuple[int, int]:
    """Return the places of the attribute drawn across and of that drawn in rows.

    Rows have room for names: they go to the attribute whose names need it most.
    """
    first, second = (numbered(bins) for bins in table.bins)
    if first != second:
        return (1, 0) if first else (0, 1)
    return (0, 1) if len(table.bins[0].labels) <= len(table.bins[1].labels) else (1, 0)


def numbered(bins: AttributeBins) -> bool:
    """Whether bins drawn across have numbers in place of their names, for want of room.

    Of bins in an order some names are enough.
    """
    if bins.is_ordered and bins.places is None:
        return False
    room = room_across(LEFT_OF_CATEGORIES) / len(bins.labels)
    return any(len(label) * LETTER_WIDTH + LABEL_GAP > room for label in bins.labels)


def pair_chart(table: PairTable, side: Side, most: float) -> Chart:
    """Chart one side's shares of records in the cells of a table.

    Parameters
    ----------
    table : PairTable
    side : Side
    most : float
        The share of the largest disc that there may be: the same for both sides.
    """
    place, row = across_and_upward(table)
    across, upward = table.bins[place], table.bins[row]
    shares = table.shares[side] if row == 0 else table.shares[side].T
    order = _from_the_top(upward)
    n_rows, n_columns = shares.shape
    height = min(MOST_ROW, max(LEAST_ROW, room_across(LEFT_OF_CATEGORIES) / n_columns))
    room = min(height, room_across(LEFT_OF_CATEGORIES) / n_columns)
    rows, columns = np.nonzero(shares[order] > 0)
    sizes = shares[order][rows, columns]
    first, second = (named(bins.attribute.name, 26) for bins in (across, upward))
    return Chart(
        title=f"Records by {upward.attribute.name} and {across.attribute.name}, {side}",
        description=_words(table, side),
        across=Axis(title=first, lower=0.0, upper=float(n_columns), ticks=_ticks(across)),
        upward=Rows(labels=tuple(upward.labels[one] for one in order), height=height),
        series=(
            Discs(
                name=f"{side}; rows: {named(second, 18)}",
                look=side,
                xs=columns.astype(np.float64) + 0.5,
                ys=1 - (rows + 0.5) / n_rows,
                sizes=sizes,
                most=most,
                radius=min(LARGEST_DISC, room / 2),
            ),
        ),
        left=LEFT_OF_CATEGORIES,
    )


def _from_the_top(bins: AttributeBins) -> Sequence[int]:
    """Return the order of rows: the largest values on top, categories as they are listed."""
    count = len(bins.labels)
    if not bins.is_ordered:
        return range(count)
    rest = [count - 1] if bins.has_missing else []
    return [*reversed(range(count - len(rest))), *rest]


def _ticks(bins: AttributeBins) -> tuple[Tick, ...]:
    count = len(bins.labels)
    if numbered(bins):
        step = 1 if count <= MOST_NUMBERED else 2
        return tuple((place + 0.5, str(place + 1)) for place in range(0, count, step))
    if bins.starts is None:
        return _with_room([(place + 0.5, label) for place, label in enumerate(bins.labels)], count)
    # Bins begin at their ticks, but for that of missing values.
    starts = [(float(place), label) for place, label in enumerate(bins.labels)][1:]
    last = [(count - 0.5, bins.labels[-1])] if bins.has_missing else []
    begun = starts[: len(starts) - len(last)]
    return _with_room([(at, label.removeprefix(FROM)) for at, label in begun] + last, count)


def _with_room(ticks: Sequence[Tick], count: int) -> tuple[Tick, ...]:
    """Leave out ticks whose labels would run into those after them: the last one stays."""
    room = room_across(LEFT_OF_CATEGORIES) / count
    chosen: list[Tick] = []
    end = math.inf
    for place, label in reversed(ticks):
        half = len(label) * LETTER_WIDTH / 2
        if place * room + half <= end:
            chosen.insert(0, (place, label))
            end = place * room - half - LABEL_GAP
    return tuple(chosen)


def _words(table: PairTable, side: Side) -> str:
    shares = table.shares[side]
    first, second = np.unravel_index(int(np.argmax(shares)), shares.shape)
    cell = f"{table.bins[0].labels[first]} and {table.bins[1].labels[second]}"
    words = f"The fullest cell is {named(cell, 60)} with {percent(float(shares.max()))} %."
    if len(table.shares) == 2:
        gap = float(np.abs(table.shares["original"] - table.shares["protected"]).sum() / 2)
        words += f" The total variation between the sides is {percent(gap)} %."
    return words
